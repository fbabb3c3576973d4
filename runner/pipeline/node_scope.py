# SPDX-License-Identifier: Apache-2.0
"""The node scope of this machine: SLS files, variables and defaults, by the top file, `master_tops`
and the configuration.

Puppet calls it top scope (for all) and node scope (below a
target of the top file).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from runner.language.targeting import top, top_includes
from runner.model import said_in
from runner.model.chunk import Request
from runner.model.errors import CompileError, Diagnostic, RunnerError
from runner.model.places import Place, Source, Untyped, key_place
from runner.model.records import Record
from runner.model.stdlib import pattern
from runner.sources.config.file import setting_place
from runner.support.files.text import text_to_show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from runner.pipeline.session import Session

_SCOPED = pattern(r"(?m)^\s*-\s+(vars|defaults):")
EXAMPLE = (
    "print a list of SLS names, {environment: [names]}, or {classes: [names], parameters: {name:"
    " value}}"
)


class Node(Record):
    """The node scope (Puppet): what the top file says of this machine beside its SLS files."""

    vars: Mapping[str, Any] = {}
    defaults: Mapping[str, Mapping[str, Any]] = {}
    parameters: Mapping[str, Any] = {}  # what master_tops says: top scope
    warnings: tuple[Diagnostic, ...] = ()


# what templates have, whatever variables are called: `{{ vars.x }}` reaches those
GIVEN = frozenset(
    tuple("salt grains pillar opts saltenv sls slspath tplpath tplfile tpldir tpldot".split())
    + ("slsdotpath", "slscolonpath", "sls_path", "vars", "top", "show_full_context", "env", "data")
)


class Given(Record):
    """The answer of the command `master_tops` for this machine."""

    lines: tuple[top.TopLine, ...] = ()
    parameters: Mapping[str, Any] = {}


def top_file(
    session: Session, classified: Given | None = None, matches: top.Matches | None = None
) -> top.Top:
    """The contents of the top file for this machine, and master_tops after it (or before, with
    master_tops_first).

    matches: which targets are meant; without it those that mean this machine.
    """
    options = session.options
    contents = top.names(
        top_includes.including(
            session.read_top,
            session.tree.sls_names,
            session.read,
            session.asked_once.setdefault("tops", set()).add,
        ),
        list(options.file_roots),
        matches or session.matches,
        options.saltenv,
        strategy=options.top_file_merging_strategy,
        env_order=options.env_order,
        state_top_saltenv=options.state_top_saltenv,
        default_top=options.default_top,
        file_of=lambda env: session.tree.find(options.topfn or options.state_top, env),
        mistake=session.mistake,
    )
    more = (classified or asked(session)).lines
    first = bool(options.raw.get("master_tops_first"))
    return (
        contents._replace(lines=(*more, *contents.lines) if first else (*contents.lines, *more))
        if more
        else contents
    )


def entered(session: Session, whole: bool = True) -> top.Top | None:
    """Enter this machine's scope. whole: the top file is wanted, and not only if it gives more than
    SLS files.
    """
    session.require_tree()
    classified = asked(session)
    session.node = Node(parameters=classified.parameters)
    if not (whole or _has_node_scope(session)):
        return None
    contents = top_file(session, classified)
    node = Node(contents.vars, contents.defaults, classified.parameters)
    session.unread += contents.warnings
    session.node = node._replace(warnings=tuple(_warnings(session, node)))
    return contents


def requested(contents: top.Top) -> list[Request]:
    """The SLS files that a top file asks for."""
    return [Request(sls, env, place) for env, sls, place in contents.requests()]


def top_requests(session: Session) -> list[Request]:
    """The SLS files that the top file gives to this machine. Raises CompileError when there are
    none.
    """
    contents = entered(session)
    wanted = requested(contents) if contents else []
    if not wanted:
        hint = _without_top(session) or "`runner show top` shows what matches"
        none = Diagnostic(
            "No Top file or master_tops data matches found.", hint=hint, code="no-top"
        )
        raise CompileError([none, *session.unread])
    return wanted


def _without_top(session: Session) -> str | None:
    """Why nobody could find a top file."""
    options, tree = session.options, session.tree
    env = options.saltenv or options.state_top_saltenv
    if env and not tree.folders_of(env):
        return f"there is no environment {env!r} in file_roots; there is: {', '.join(tree.roots)}"
    others = [other for other in tree.roots if tree.find(options.state_top, other)]
    if others and env and env not in others:
        key = "saltenv" if options.saltenv else "state_top_saltenv"
        return (
            f"{env} has no {options.state_top}, and where `{key}` names an environment, that of"
            f" {', '.join(others)} does not count"
        )
    if others:
        return None
    for odd in filter(None, (tree.no_file(options.state_top, env) for env in tree.roots)):
        return odd
    folders = [folder for of_env in tree.roots.values() for folder in of_env]
    missing = [folder for folder in folders if not os.path.isdir(folder)]
    more = f" ({', '.join(missing)}: there is no such folder)" if missing else ""
    looked = f"looked for {options.state_top} in {', '.join(folders)}{more}"
    return f"{looked}; `--config FILE` names another tree, and `runner init DIR` begins one"


def requests(session: Session, names: Iterable[str]) -> list[Request]:
    """SLS files that are named."""
    entered(session, whole=False)
    return [Request(name, session.options.saltenv or "base") for name in names]


def _has_node_scope(session: Session) -> bool:
    """Return whether a top file gives machines more than SLS files: then it counts for single SLS
    files, too.
    """
    for env in session.options.file_roots:
        path = session.tree.find(session.options.topfn or session.options.state_top, env)
        if path and _SCOPED.search(text_to_show(path)):
            return True
    return False


# ---------------------------------------------------------------- set twice


def _warnings(session: Session, node: Node) -> Iterator[Diagnostic]:
    """Warn of what a target of the top file sets although the configuration or something outside of
    the tree has set it.
    """
    for name in node.vars:
        place = key_place(node.vars, name, _TOP)
        if name in GIVEN:
            message = f"templates have something else called {name}"
            yield Diagnostic(
                message, place.source, f"the variable is {{{{ vars.{name} }}}}", "scope", "warning"
            )
        others = " and ".join(
            f"{what} ({source})" for what, source in _set_elsewhere(session, node, name)
        )
        if others:
            message = f"the variable {name} is set below a target of the top file, and by {others}"
            yield Diagnostic(
                message, place.source, "the target's wins; remove one of them", "scope", "warning"
            )
    for key, arguments in node.defaults.items():
        configured: Any = session.options.defaults.get(key)
        for name in arguments if isinstance(configured, Mapping) else ():
            if name not in configured:
                continue
            source = setting_place(session.options.raw, "defaults", key, name)
            by = f"by the configuration ({source})"
            message = (
                f"the default of {key}: {name} is set below a target of the top file, and {by}"
            )
            place = key_place(arguments, name, _TOP)
            yield Diagnostic(message, place.source, "the target's wins", "scope", "warning")


_TOP = Place(Untyped("the top file"))


def _set_elsewhere(session: Session, node: Node, name: str) -> Iterator[tuple[str, Source]]:
    raw = session.options.raw
    if name in node.parameters:
        yield "master_tops", setting_place(raw, "master_tops")
    plain: dict[str, Any] = {
        "vars": session.options.vars,
        "pillar": session.options.pillar_of_file or {},
    }
    for key, settings in plain.items():
        if name in settings:
            yield f"`{key}` of the configuration", setting_place(raw, key, name)
    if name in session.external_keys:
        external = session.external_keys[name]
        yield f"the external pillar {external}", setting_place(raw, "ext_pillar")


# ---------------------------------------------------------------- master_tops


def asked(session: Session) -> Given:
    """The answer of the command, which is asked once."""
    setting = session.options.raw.get("master_tops")
    if not setting:
        return Given()
    if "given" not in session.asked_once:
        command = _command(session, setting)
        shown = shlex.join(command)
        session.asked_once["given"] = _read(session, _run(session, command, shown), shown)
    answer: Given = session.asked_once["given"]
    return answer


def _problem(session: Session, message: str, hint: str | None = None) -> RunnerError:
    return RunnerError(
        message, setting_place(session.options.raw, "master_tops"), hint, "master-tops"
    )


def _command(session: Session, setting: Any) -> list[str]:
    if isinstance(setting, Mapping):
        unknown = [name for name in setting if name != "ext_nodes"]
        if unknown:
            raise _problem(
                session, f"runner has no master_tops {unknown[0]!r}", "master_tops: COMMAND"
            )
        setting = setting["ext_nodes"]
    words = (
        [str(word) for word in setting] if isinstance(setting, list) else shlex.split(str(setting))
    )
    return [*words, session.options.id]


def _run(session: Session, command: list[str], shown: str) -> str:
    try:
        folder = said_in.key_folder(session.options.raw, "master_tops")
        done = session.run.call("cmd.run_all", command, cwd=folder, python_shell=False)
    except RunnerError as error:
        raise _problem(session, f"master_tops: {error.message}") from None
    if done["retcode"]:
        output = (done["stderr"] or done["stdout"]).strip()
        hint = "it gets the ID of the machine and has to end with 0"
        raise _problem(
            session, f"master_tops: `{shown}` ended with {done['retcode']}: {output}", hint
        )
    return str(done["stdout"])


def _read(session: Session, text: str, command: str) -> Given:
    """A list of names, names by environment, or what a node classifier of Puppet prints."""
    data = session.renderer.parsed(text, f"master_tops: {command}")
    place = Place(Untyped(f"master_tops: {command}"))
    usual = session.options.saltenv or "base"
    parameters: Any = {}
    if isinstance(data, Mapping) and ("classes" in data or "parameters" in data):
        parameters = data.get("parameters") or {}
        data = {str(data.get("environment") or usual): data.get("classes") or []}
    elif not isinstance(data, Mapping):
        data = {usual: data or []}
    sound = isinstance(parameters, Mapping) and all(
        isinstance(value, list | Mapping) for value in data.values()
    )
    if not sound or not all(isinstance(name, str) for names in data.values() for name in names):
        raise _problem(session, f"master_tops: what `{command}` prints cannot be read", EXAMPLE)
    wanted = session.options.saltenv
    lines = [
        top.TopLine(str(env), name, "master_tops", place)
        for env, names in data.items()
        for name in names
    ]
    return Given(tuple(line for line in lines if wanted in (None, "", line.env)), parameters)
