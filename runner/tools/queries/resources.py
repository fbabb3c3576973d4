# SPDX-License-Identifier: Apache-2.0
"""What is on this machine, as resources: of one kind of state, or of the whole machine."""

from __future__ import annotations

import graphlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from runner.api import Resource, StateFailed
from runner.engine.loader.registry import Registry
from runner.model.errors import RunnerError
from runner.model.nested import strings
from runner.model.records import Record
from runner.pipeline.gathering import learn_secrets
from runner.pipeline.session import Session
from runner.sources.config.options import Options
from runner.support.redaction import HIDDEN
from runner.support.redaction.likely import likely_key_file, likely_secret

# the SLS files of a whole machine, in the order in which a new one needs them; then all others
ROLES = tuple(
    """
    system repositories packages users storage network files schedule databases services firewall
    """.split()
)
CONTENTS = (
    "contents",
    "contents_newline",
    "replace",
)  # arguments that a `source` takes the place of
READABLE = ("/etc/sudoers",)  # not for everybody, and yet no secret
CLOSED = "not everybody may read it"
SECRET = "it seems to hold a secret"
PILLAR = "it holds a secret of the pillar"


class Described(Record):
    """Resources about one thing, which belong in one SLS file."""

    role: str
    resources: tuple[Resource, ...]


def of_state(
    options: Options, state: str, names: Sequence[str] = (), secrets: bool = False
) -> list[Resource]:
    """The resources of a kind of state: all, or those named. Raises RunnerError for a kind that
    cannot be listed and for an unknown name. secrets: show those of the pillar, too.
    """
    session = Session(options)
    registry = session.registry
    with session.opened():
        hook = registry.resources(state)
        if hook is None:
            able = [module for module in registry.state_modules() if registry.resources(module)]
            known = (
                "cannot list what exists" if registry.has_state(state) else "is not a state module"
            )
            raise RunnerError(f"{state} {known}", hint=f"these do: {', '.join(able)}")
        try:
            by_name = [(name, list(hook(name))) for name in names or (None,)]
        except StateFailed as failure:
            raise RunnerError(failure.message) from None
    every = [item for _, listed in by_name for item in listed]
    _refuse_others(state, every)
    missing = [name for name, listed in by_name if name is not None and not listed]
    if missing:
        raise RunnerError(
            f"there is no {state} {missing[0]}", hint=f"`runner resource {state}` lists all"
        )
    return every if secrets else _masked(session, options, every, names)


def _refuse_others(state: str, resources: Iterable[Any]) -> None:
    if not all(isinstance(item, Resource) for item in resources):
        raise RunnerError(f"what {state}.resources gives are no Resource values")


def _masked(
    session: Session, options: Options, resources: Sequence[Resource], names: Iterable[str] = ()
) -> list[Resource]:
    """The resources with the secrets of the pillar, and of former runs, hidden."""
    learn_secrets(session)
    known = session.run.secrets
    known.names.learn(things=[*names, *(item.name for item in resources)])
    known.recall(options.state_dir)

    def mask(value: Any) -> Any:
        return known.mask(value, former=True)

    masked = []
    for item in resources:
        shown = item._replace(
            name=mask(item.name), arguments=mask(item.arguments), note=mask(item.note)
        )
        text = (item.source or b"").decode("utf-8", "replace")
        masked.append(shown._replace(source=None) if text and mask(text) != text else shown)
    return masked


# ---------------------------------------------------------------- the whole machine


def of_machine(options: Options, secrets: bool = False, own: Iterable[str] = ()) -> list[Described]:
    """Return what this machine has that its distribution did not bring, by role.

    secrets: show them. own: paths that are of no interest, with what is below: those that are being
    written.
    """
    session = Session(options)
    registry = session.registry
    by_module: dict[str, list[Resource]] = {}
    with session.opened():
        able = [module for module in registry.state_modules() if registry.resources(module)]
        failures: set[str] = set()
        for module in able:
            by_module[module] = list(_listed(registry, module, failures))
    places = [*map(os.path.realpath, own), *_of_runner(options, session)]
    held = {path for items in by_module.values() for item in items for path in item.files}
    chosen = [
        (registry.resource_role(module), item)
        for module in _in_order(registry, able)
        for item in by_module[module]
        if not item.shipped and not _lies(item, held, places)
    ]
    items = [item for _, item in chosen]
    if not secrets:
        items = [_without_secret(item) for item in _sealed(session, options, items)]
    roles: dict[str, list[Resource]] = {}
    for (role, _), item in zip(chosen, items, strict=True):
        roles.setdefault(role, []).append(_representable(item))
    ranked = [role for role in ROLES if role in roles] + sorted(roles.keys() - {*ROLES})
    return [Described(role, tuple(roles[role])) for role in ranked]


def _in_order(registry: Registry, modules: Iterable[str]) -> list[str]:
    """The modules, those first whose resources others need."""
    modules = list(modules)
    sorter = graphlib.TopologicalSorter(
        {module: sorted({*registry.resource_needs(module)} & {*modules}) for module in modules}
    )
    return list(sorter.static_order())


def _listed(registry: Registry, module: str, failures: set[str]) -> Iterator[Resource]:
    """The resources of a module; as a remark, why there are no more of them, where no module before
    it failed for the same reason.
    """
    hook = registry.resources(module)
    try:
        for item in hook(None) if hook else ():
            _refuse_others(module, [item])
            yield item
    except StateFailed as failure:
        reason = next(iter(failure.message.splitlines()), "")
        installed = not {kind for kind, _ in failure.missing} & {"command", "pkg"}
        if installed and reason not in failures:
            failures.add(reason)
            yield Resource("", module, note=f"{module}: {reason}")
    except OSError as error:
        yield Resource("", module, note=f"{module}: {error.filename or ''}: {error.strerror}")


def _of_runner(options: Options, session: Session) -> Iterator[str]:
    """The tree that is used, and what else is runner's own."""
    yield from ("/etc/runner", "/srv/runner", "/srv/salt", "/srv/pillar", "/etc/salt/pki")
    for roots in (session.roots, options.pillar_roots):
        yield from (os.path.realpath(root) for folders in roots.values() for root in folders)


def _lies(item: Resource, held: set[str], places: Sequence[str]) -> bool:
    """Return whether a file is none to list: another resource holds it, or a directory that it is
    in, or it is runner's own.
    """
    if not item.function.startswith("file.") or item.name in item.files:
        return False
    above = {item.name}
    while (path := os.path.dirname(min(above, key=len))) not in above:
        above.add(path)
    return not above.isdisjoint(held) or not above.isdisjoint(places)


def _sealed(
    session: Session, options: Options, resources: Sequence[Resource]
) -> Iterator[Resource]:
    """The resources; in place of those that hold a secret of the pillar, a remark."""
    for item, shown in zip(resources, _masked(session, options, resources), strict=True):
        hides = HIDDEN in str((shown.name, shown.arguments)) and shown != item
        yield _without_contents(shown, PILLAR) if hides or shown.source != item.source else shown


def _without_secret(item: Resource) -> Resource:
    """The resource; without what looks like a secret."""
    if _is_closed(item):
        return _without_contents(item, CLOSED)
    if likely_key_file(item.name, item.source or b""):
        return _without_contents(item, SECRET) if item.function == "file.managed" else item
    texts = [item.name, *strings(item.arguments), (item.source or b"").decode("utf-8", "replace")]
    keyed = (f"{key}={value}" for key, value in item.arguments.items() if isinstance(value, str))
    if any(map(likely_secret, texts)) or any(
        likely_secret(text) for text in (*keyed, f"{item.name}={item.arguments.get('value', '')}")
    ):
        return _without_contents(item, SECRET)
    return item


def _is_closed(item: Resource) -> bool:
    """Return whether others may not read a file."""
    mode = item.arguments.get("mode")
    return (
        item.function == "file.managed"
        and isinstance(mode, str)
        and not int(mode, 8) & 0o4
        and not item.name.startswith(READABLE)
        and (item.source is not None or "contents" in item.arguments)
    )


def _without_contents(item: Resource, why: str) -> Resource:
    """A file without its contents; of anything else a remark is left, which does not show it."""
    rest = {key: value for key, value in item.arguments.items() if key not in CONTENTS}
    text = " ".join([item.name, *strings(rest)])
    if item.function == "file.managed" and HIDDEN not in text and not likely_secret(text):
        note = f"{item.name}: {why}: its contents are not shown, and stay as they are"
        return item._replace(arguments={**rest, "replace": False}, note=note, source=None)
    where = [
        str(item.arguments[key]) for key in ("user", "file", "target") if key in item.arguments
    ]
    shown = " ".join(["a state", item.function or "or remark", *(where and ["of", *where])])
    return Resource("", "", note=f"{shown} is left out: {why}")


def _representable(item: Resource) -> Resource:
    """The resource; a remark where its names are no text that a YAML file can have."""
    try:
        "".join([item.name, *strings(item.arguments)]).encode()
    except UnicodeEncodeError:
        shown = item.name.encode("utf-8", "backslashreplace").decode()
        return Resource("", "", note=f"{item.function} {shown} is left out: it is no UTF-8")
    return item
