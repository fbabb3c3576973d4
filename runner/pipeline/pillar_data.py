# SPDX-License-Identifier: Apache-2.0
"""The pillar of this machine: its SLS files, the external pillars, decryption, what the command
line says.
"""

from __future__ import annotations

from runner.api import StateFailed
from runner.language.pillar import decrypt as pillar_decrypt
from runner.language.pillar import external, sls
from runner.language.pillar import merge as pillar_merge
from runner.language.pillar import undecrypted as encrypted_values
from runner.language.render import steps
from runner.language.targeting import top, top_includes
from runner.model import handed_over_pillar, nested, plain_values, said_in
from runner.model.errors import Diagnostic, RunnerError
from runner.pipeline import git_pillar, undecrypted
from runner.pipeline.session import Session
from runner.sources.config.file import is_store, setting_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any


def read_pillar(session: Session) -> None:
    """Compile the pillar and give it to the run.

    Templates and targets see the pillar as a first reading without it makes it (what a Salt minion
    does at its start); there is a second reading only if one of them looked.
    """
    session.require_formulas()
    _resolve_stored_values(session)
    options = session.options
    if options.whole_pillar is not None:
        _take(session, options.whole_pillar)
    else:
        _read(session)
    session.has_pillar = True


def _read(session: Session) -> None:
    options = session.options
    looked = AccessTrackingDict(session.options.pillar_of_file)
    session.run.facts.pillar = looked
    pillar = _compiled(session, options.pillar_of_file)
    if looked.asked:
        session.run.facts.pillar = pillar
        again = options.pillar_source_merging_strategy != "list"  # which would say everything twice
        pillar = _compiled(session, pillar if again else {})
    pillar = _merged(session, pillar, options.pillar) if options.pillar else pillar
    if options.raw.get("decrypt_pillar"):
        place = setting_place(options.raw, "decrypt_pillar")
        decryptor = session.pillar_renderer.decryptor()
        pillar = pillar_decrypt.decrypt(pillar, options.raw, steps.CIPHERS, decryptor, place)
    if pillar and encrypted_values.is_encrypted(pillar):
        undecrypted.refuse(session, pillar)
    if options.raw.get("pillar_opts"):
        pillar["master"] = {key: value for key, value in options.raw.items() if key != "grains"}
    session.run.facts.pillar = pillar
    session.run.secrets.collect(pillar, options.secret_keys)


def _take(session: Session, whole: Mapping[str, Any]) -> None:
    """Give the run a pillar that was compiled elsewhere; what that found secret is below
    `SECRETS`.
    """
    options = session.options
    pillar = {
        key: value
        for key, value in whole.items()
        if key not in (handed_over_pillar.SECRETS, handed_over_pillar.GRAINS)
    }
    pillar = _merged(session, pillar, options.pillar) if options.pillar else pillar
    session.run.facts.pillar = pillar
    session.run.secrets.collect(pillar, options.secret_keys)
    for value in whole.get(handed_over_pillar.SECRETS) or ():
        session.run.secrets.add(str(value))


def _resolve_stored_values(session: Session) -> None:
    """Replace addresses `sdb://PROFILE/KEY` in the configuration by what is there. Raises
    RunnerError where the store cannot be read.
    """
    raw: dict[str, Any] = session.options.raw  # type: ignore[assignment]  # of this run alone
    if not any(is_store(value) for value in raw.values()):
        return

    def resolved(value: Any) -> Any:
        is_address = isinstance(value, str) and value.startswith("sdb://")
        return session.run.call("sdb.get", value) if is_address else value

    for key, value in raw.items():
        if not is_store(value) and key != "grains":
            try:
                raw[key] = nested.mapped(value, resolved)
            except RunnerError as error:
                place = setting_place(raw, key)
                raise RunnerError(error.message, place, error.hint) from None


def _compiled(session: Session, pillar: Mapping[str, Any]) -> dict[str, Any]:
    """The known pillar, and over it that of the SLS files and the external ones, which see those
    before them.
    """
    raw = session.options.raw
    if raw.get("ext_pillar") and raw.get("ext_pillar_first"):
        pillar = session.run.facts.pillar = _external(session, pillar)
    pillar = _merged(session, pillar, _of_sls(session))
    if raw.get("ext_pillar") and not raw.get("ext_pillar_first"):
        return _external(session, pillar)
    return pillar


def _merged(session: Session, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    options = session.options
    if not (old or new):  # each run asks, and most have none
        return {}
    return pillar_merge.merge(old, new, _strategy(session), options.pillar_merge_lists)


def _strategy(session: Session) -> str:
    """`smart` adds up what is marked so where yamlex is the renderer."""
    strategy = session.options.pillar_source_merging_strategy
    yamlex = str(session.options.renderer).split("|")[-1].strip() == "yamlex"
    return "aggregate" if strategy == "smart" and yamlex else strategy


def _odd_top_files(session: Session, envs: Sequence[str]) -> Iterator[Diagnostic]:
    """Warnings of what is no file where the pillar has its top file: as with Salt, it has none."""
    tree, name = session.pillar_tree, session.options.state_top
    for env in envs:
        odd = "" if tree.find(name, env) else tree.no_file(name, env)
        if odd:
            message = f"the pillar has no top file: {odd}"
            yield Diagnostic(message, None, None, "no-top", "warning")


def _of_sls(
    session: Session, chosen: Callable[[top.Top], top.Top] = lambda contents: contents
) -> dict[str, Any]:
    """The pillar of SLS files. chosen: what counts of their top file."""
    options = session.options
    envs = list(options.pillar_roots)
    alone = (options.saltenv or "base") if _strategy(session) == "none" else None
    asked = filter(None, (*envs, options.pillarenv, alone))
    if not any(session.pillar_tree.find(options.state_top, env) for env in asked):
        session.unread += tuple(_odd_top_files(session, envs))
        return {}
    contents = top.names(
        top_includes.including(
            session.read_pillar_top, session.pillar_tree.sls_names, session.read_pillar
        ),
        envs,
        session.matches,
        options.pillarenv,
        pillar=True,
        state_top_saltenv=alone,
        file_of=lambda env: session.pillar_tree.find(options.state_top, env),
        mistake=session.mistake,
    )
    contents = chosen(contents)
    session.unread += (*contents.warnings, *_odd_top_files(session, envs))
    stage = sls.Pillar(
        session.read_pillar,
        _strategy(session),
        options.pillar_merge_lists,
        read_with=session.read_pillar,
        names=session.pillar_tree.sls_names,
        optional=contents.optional,
        includes_win=options.pillar_includes_override_sls,
    )
    return stage.compile(contents.requests(options.env_order), {})


def _external(session: Session, pillar: Mapping[str, Any]) -> dict[str, Any]:
    options, renderer = session.options, session.pillar_renderer
    tools = external.Tools(
        id=options.id,
        env=options.pillarenv or options.saltenv or "base",
        opts=options.raw,
        grains=session.grains,
        shell=lambda command: _shell(session, command),
        names=renderer.dunders(),
        template=renderer.lax,
        data=renderer.data,
        parsed=renderer.parsed,
        content=renderer.content,
        matches=session.matches,
        seen=session.watch.read,
        place=lambda: setting_place(options.raw, "ext_pillar"),
        folder=said_in.key_folder(options.raw, "ext_pillar"),
        hide=lambda value: _hide(session, value),
        vault=lambda path: _secret(session, path),
        of_git=lambda items: git_pillar.gathered(session, items, _of_sls, _merged),
    )

    def note(name: str, data: Mapping[str, Any]) -> None:
        session.external_keys.update(dict.fromkeys(map(str, data), name))

    return external.gather(
        options.raw["ext_pillar"], pillar, tools, lambda old, new: _merged(session, old, new), note
    )


def _shell(session: Session, command: str) -> Mapping[str, Any]:
    raw = session.options.raw
    try:
        done: Mapping[str, Any] = session.run.call(
            "cmd.run_all", command, cwd=said_in.key_folder(raw, "ext_pillar"), python_shell=True
        )
    except RunnerError as error:
        place = setting_place(raw, "ext_pillar")
        raise RunnerError(error.message, place) from None
    return done


def _secret(session: Session, path: str) -> Mapping[str, Any]:
    """The secret of Vault at a path, hidden; empty where there is none. Raises RunnerError."""
    try:
        secret: Mapping[str, Any] = session.run.call("vault.read_secret", path, default={})
    except StateFailed as failure:
        place = setting_place(session.options.raw, "vault")
        raise RunnerError(failure.message, place, code="ext_pillar") from None
    return secret


def _hide(session: Session, value: Any) -> None:
    for text in plain_values.texts_in(value):
        session.run.secrets.add(text)


def _noting(name: str) -> Any:
    """A method of dict that notes that it was called."""
    real = getattr(dict, name)

    def method(self: AccessTrackingDict, *args: Any) -> Any:
        self.asked = True
        return real(self, *args)

    return method


class AccessTrackingDict(dict[str, "Any"]):
    """A mapping that notes whether somebody looked into it."""

    asked = False
    __getitem__, __contains__, __iter__, __len__ = map(
        _noting, ("__getitem__", "__contains__", "__iter__", "__len__")
    )
    get, keys, items, values = map(_noting, ("get", "keys", "items", "values"))
    copy, __eq__, __repr__ = map(_noting, ("copy", "__eq__", "__repr__"))
