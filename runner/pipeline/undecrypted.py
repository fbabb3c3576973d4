# SPDX-License-Identifier: Apache-2.0
"""No secret that nothing has decrypted gets out of the pillar: mistakes with their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runner.language.pillar.undecrypted import (
    LEFT,
    Found,
    form_of,
    hidden,
    left_encrypted,
    place_at,
    place_in,
    search,
)
from runner.language.render import renderers
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RenderError
from runner.model.places import Place, Source, Untyped
from runner.model.requisite_kinds import REQUISITE_KEYS
from runner.sources.config.file import setting_place
from runner.support.redaction.keys import matcher

if TYPE_CHECKING:
    from runner.pipeline.session import Session

CODE = "undecrypted"


def refuse(session: Session, pillar: Mapping[str, Any]) -> None:
    """Raise CompileError for what the pillar should not hold any more; note what it may hold, and
    no file.
    """
    left = left_encrypted(session.options.raw.get("decrypt_pillar"), _delimiter(session))
    found = list(search(pillar, left))
    stays = [each for each in found if _may_stay(session, each)]
    problems = [_of_pillar(session, each) for each in found if each not in stays]
    if problems:
        raise CompileError(problems)
    session.undecrypted = tuple(stays)
    session.left_encrypted = frozenset(each.text for each in search(pillar)) if left else left


def _may_stay(session: Session, found: Found) -> bool:
    """Return whether the pillar may hold it: what reads it there can still resolve it, or fail."""
    lenient = session.options.raw.get("gpg_decrypt_must_succeed") is False
    return found.form.later or (lenient and found.form.renderer == "gpg")


def _delimiter(session: Session) -> str:
    return str(session.options.raw.get("decrypt_pillar_delimiter") or ":")


def of_file(session: Session, value: Any, path: str) -> Iterator[Diagnostic]:
    """The mistakes in one SLS file of the pillar, whoever gets it."""
    decrypted = session.options.raw.get("decrypt_pillar")
    for each in search(value):
        if not decrypted and not _may_stay(session, each):
            place = place_at(value, each, Place(Untyped(path), 1, 1))
            yield _problem(session, each, place.source if place else Source(path))


def _of_pillar(session: Session, found: Found) -> Diagnostic:
    """The mistake, with the place of the value: in an SLS file, where an external pillar is named,
    or none for the command line.
    """
    for (sls, env), defaults in session.pillar_read.items():
        value, path, _ = session.read_pillar(sls, env, defaults)
        start = Place(Untyped(path), 1, 1)
        place = place_at(value, found, start) or place_in(value, found.text, start)
        if place is not None:
            return _problem(session, found, place.source)
    external = session.external_keys.get(found.path[0])
    key = "ext_pillar" if external else "pillar"
    raw = session.options.raw
    return _problem(session, found, setting_place(raw, key) if raw.get("conf_file") else None)


def _problem(session: Session, found: Found, source: Source | None) -> Diagnostic:
    message = f"{found.name}: {found.form.what}"
    cure = found.form.cure or _first_line(session, found, source)
    path = _delimiter(session).join(found.path)
    hint = f"{cure}; what is to stay encrypted: `decrypt_pillar: [{{'{path}': {LEFT}}}]`"
    source = hidden(found.form, source) if source else None
    return Diagnostic(message, source, hint, CODE, rendering="pillar")


def _first_line(session: Session, found: Found, source: Source | None) -> str:
    """The first line that a file needs for a renderer."""
    wanted, opts = found.form.renderer, session.options.raw
    if not renderers.cipher(wanted, opts).message.search(found.text):
        return "the message is not whole: copy all of it"
    path = source.file if source and source.line else ""
    if not path or path in session.options.files:
        keys = _delimiter(session).join(found.path)
        return f"`decrypt_pillar: [{{'{keys}': {wanted}}}]` decrypts it"
    with open(path, encoding="utf-8", errors="replace") as file:
        steps, _ = session.pillar_renderer.pipe(file.read(), path)
    names = [" ".join((step.name, *step.arguments)) for step in steps]
    way = "|".join([*names, wanted])
    return f"write `#!{way}` as the first line of the file, or `renderer: {way}` for all"


# ---------------------------------------------------------------- where it would be used


def in_arguments(session: Session, chunks: Iterable[Chunk]) -> Iterator[Diagnostic]:
    """Mistakes of states that are given what was not decrypted."""
    for chunk in chunks:
        name = {} if chunk.name == chunk.id else {"name": chunk.name}
        for key, value in {**name, **chunk.args}.items():
            for each in _in_argument(session, key, value):
                source = hidden(each.form, chunk.arg_places.get(key, chunk.place).source)
                message = f"{chunk.function}: {key}: {each.form.what}"
                cure = each.form.cure or (
                    f"keep it in the pillar, in a file with `{each.form.renderer}` in its first"
                    " line"
                )
                hint = f"{cure}; a file that is to hold it has it from the tree: `source: salt://`"
                yield Diagnostic(message, source, hint, CODE)


def _in_argument(session: Session, key: str, value: Any) -> Iterator[Found]:
    if type(value) is str:
        form = form_of(value)
        if form is not None and value not in session.left_encrypted:
            yield Found((key,), value, form)
    elif type(value) not in _SIMPLE and key not in REQUISITE_KEYS:
        means_secret = matcher(tuple(session.options.secret_keys))
        for each in search(value, path=(key,)):
            named = not each.form.later or means_secret(each.path[-1])
            if named and each.text not in session.left_encrypted:
                yield each
    if session.undecrypted and key.endswith("_pillar"):  # contents_pillar: a:b
        for path in value if isinstance(value, list) else [value]:
            at = tuple(str(path).split(":"))
            yield from (each for each in session.undecrypted if each.path[: len(at)] == at)


_SIMPLE = frozenset([int, float, bool, type(None)])


def refuse_printed(session: Session, text: object, file: str) -> None:
    """Raise RenderError for the text of a template that has what was not decrypted."""
    for each in session.undecrypted:
        if max(each.text.split("\n"), key=len).strip() in str(text):
            what = f"the template prints {each.name} of the pillar: {each.form.what}"
            raise RenderError(what, Source(file), each.form.cure or None)
