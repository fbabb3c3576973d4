# SPDX-License-Identifier: Apache-2.0
"""Warnings that experience asks for: what compiles and is probably not meant. Only `runner check`
gives them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from runner.model.chunk import GUARDS, LAST, Chunk, Edges, Relations
from runner.model.diagnostics import Diagnostic
from runner.model.places import Place, Source, Value, item_place
from runner.model.requisite_kinds import CARRIED, RequisiteKind
from runner.support.files.text import text_to_show

CONDITIONS = (*GUARDS, "stateful")  # what keeps a command from running each time


def warnings(
    chunks: Sequence[Chunk], relations: Relations, reacts: frozenset[int]
) -> list[Diagnostic]:
    """All of them. reacts: the chunks whose module has a mod_watch."""
    problems: list[Diagnostic] = []
    for number, chunk in enumerate(chunks):
        problems += _watch(number, chunk, relations, reacts)
        if number in reacts:
            problems += _limited(chunk, chunks, relations.of(number))
        problems += _order(number, chunk, chunks, relations)
        problems += _own(number, chunk, relations)
        problems += _inverted(chunk)
    problems += _links_to_nothing(chunks)
    return list(dict.fromkeys(problems))


def _warning(message: str, place: Place, hint: str, code: str) -> Diagnostic:
    return Diagnostic(message, place.source, hint, code, "warning")


def _watch(
    number: int, chunk: Chunk, relations: Relations, reacts: frozenset[int]
) -> Iterator[Diagnostic]:
    groups = () if number in reacts else relations.of(number).groups
    for edge in Edges(group for group in groups if group.kind.needs_mod_watch):
        if edge.place.line:
            message = f"{chunk.function} cannot react: its {edge.kind} is no more than a require"
            yield _warning(
                message,
                edge.place,
                "write require, or onchanges if it is to run only then",
                "watch-no-reaction",
            )


def _limited(chunk: Chunk, chunks: Sequence[Chunk], edges: Edges) -> Iterator[Diagnostic]:
    """Yield what a state watches, and has no onchanges on, though it has some: it reacts to a
    change of both, not of either.
    """
    groups = (group for group in edges.groups if group.kind.reaction == "onchanges")
    asked = {target for group in groups for target in group.targets}
    if not asked:
        return
    titles = dict.fromkeys(f"{chunks[other].state}: {chunks[other].id}" for other in asked)
    for edge in edges:
        is_watch = edge.kind.reaction == "watch" and not edge.automatic
        if is_watch and edge.target not in asked:
            target = chunks[edge.target]
            message = (
                f"{chunk.function} reacts to {target.state}: {target.id} only when"
                f" {' or '.join(titles)} changed, too"
            )
            hint = "if either is enough, list all of them under both, or under watch alone"
            yield _warning(message, edge.place, hint, "watch-limited")


def _order(
    number: int, chunk: Chunk, chunks: Sequence[Chunk], relations: Relations
) -> Iterator[Diagnostic]:
    if "order" not in chunk.arg_places or chunk.order >= 10000:
        return
    needed = (
        chunks[target]
        for group in relations.of(number).groups
        if group.kind.must_succeed == "all" and not group.kind.prepares
        for target in group.targets
    )
    for target in needed:
        if target.order > chunk.order and "order" in target.arg_places:
            other = f"{target.state}: {target.id} (order {_order_of(target)})"
            message = f"order {_order_of(chunk)} is overridden: {other} runs before"
            hint = "drop the order, which the requisite overrides, or the requisite"
            yield _warning(message, chunk.arg_places["order"], hint, "order-overridden")


def _order_of(chunk: Chunk) -> str:
    return "last" if chunk.order >= LAST else f"{chunk.order:g}"


def _own(number: int, chunk: Chunk, relations: Relations) -> Iterator[Diagnostic]:
    guarded = any(key in chunk.args for key in CONDITIONS) or any(
        group.kind.conditional for group in relations.of(number).groups
    )
    if chunk.function in ("cmd.run", "cmd.script") and not guarded:
        hint = "say when it should run: onlyif, unless, creates, onchanges, or cmd.wait with watch"
        yield _warning(
            f"{chunk.function} runs, and reports changes, in every run",
            chunk.place,
            hint,
            "cmd-unguarded",
        )
    for key, value in chunk.args.items():
        if isinstance(value, str) and _UNCALLED.search(value):
            place = chunk.arg_places.get(key, chunk.place)
            message = f"{key} holds a function, not what it returns: {value}"
            yield _warning(
                message, place, "write ( ) after its name, with its arguments", "not-called"
            )


_UNCALLED = re.compile(
    r"<(function|bound method|built-in function) .* at 0x[0-9a-f]+>|<runner\.\S+ object at 0x"
)


def _inverted(chunk: Chunk) -> Iterator[Diagnostic]:
    """Warnings of each `onchanges_in` of a command: what it names runs when the command changed
    something, which it always does.
    """
    for key, kind in CARRIED.items():
        listed = chunk.low.get(key)
        if kind.reaction == "onchanges" and isinstance(listed, list) and chunk.state in _COMMANDS:
            yield from _inverted_one(chunk, kind, listed)


_COMMANDS = ("cmd", "module", "service")


def _inverted_one(chunk: Chunk, kind: RequisiteKind, listed: list[Value]) -> Iterator[Diagnostic]:
    place = chunk.arg_places.get(kind.in_key, chunk.place)
    for index, entry in enumerate(listed):
        state, target = (
            next(iter(entry.items())) if isinstance(entry, dict) and entry else ("", entry)
        )
        if state not in _COMMANDS:
            message = (
                f"{kind.in_key} makes {state}: {target} run only when {chunk.state}: {chunk.id}"
                " changed something"
            )
            hint = f"is it the other way round? write `- {kind}:` with `- {state}: {target}` here"
            yield _warning(message, item_place(listed, index, place), hint, "onchanges-inverted")


# where packages, too, bring what links point to
_OF_PACKAGES = tuple("/bin/ /dev/ /etc/ /lib /opt/ /proc/ /run/ /sbin/ /sys/ /usr/ /var/".split())


def _links_to_nothing(chunks: Sequence[Chunk]) -> Iterator[Diagnostic]:
    """Links that take the place of files, and point to what is not there and no state makes."""
    for chunk in chunks:
        target = chunk.args.get("target")
        if chunk.function != "file.symlink" or not chunk.args.get("force"):
            continue
        if not isinstance(target, str) or not target.startswith("/"):
            continue
        if target.startswith(_OF_PACKAGES) or os.path.lexists(target):
            continue
        if not any(other is not chunk and other.is_to_make(target) for other in chunks):
            yield _warning(
                f"force replaces what is at {chunk.name} by a link to {target}, which is not there",
                chunk.arg_places.get("target", chunk.place),
                "no state makes it: correct the path, or say what makes it (a command: `creates`)",
                "link-to-nothing",
            )


def unreached(
    files: Callable[[str, str], str | None],
    rendered: Iterable[tuple[str, str]],
    reached: Iterable[tuple[str, str]],
) -> list[Diagnostic]:
    """SLS files that no line of the top file and no include brings into any run; those of one
    formula together. files: (SLS, environment) -> file.
    """
    met = {files(sls, env) for env, sls in reached}  # several environments may share a file
    formulas: dict[tuple[str, str], dict[str, Source]] = {}
    for env, sls in dict.fromkeys(rendered):
        file = files(sls, env)
        if not file or file in met or ignores(Source(file, 1), _UNREACHED):
            continue
        formula, dot, _ = sls.replace("/", ".").partition(".")
        alone = not dot and not file.endswith("/init.sls")
        formulas.setdefault((env, sls if alone else formula), {})[sls] = Source(file, 1)
    return [_unreached(formula, files) for (_, formula), files in formulas.items()]


_UNREACHED = "unreached"


def _unreached(formula: str, files: Mapping[str, Source]) -> Diagnostic:
    first = next(iter(files.values()))
    hint = "name it in the top file or include it, or remove it"
    what = f"the SLS {next(iter(files))}"
    if len(files) > 1:
        more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
        what = f"{len(files)} SLS files of {formula}: {', '.join([*files][:NAMED])}{more}"
        hint = "name them in the top file or include them; what a tree need not use may stay"
    message = f"nothing uses {what}: no line of the top file, no include"
    return Diagnostic(message, first, hint, _UNREACHED, "warning")


NAMED = 5  # of the SLS files of a formula


_IGNORE = re.compile(r"#\s*runner:\s*ignore\[([\w, -]+)\]")


def without_ignored(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The problems without the warnings that a comment on their line ignores (`# runner:
    ignore[code]`).
    """
    return [
        problem
        for problem in problems
        if problem.severity == "error" or not ignores(problem.source, problem.code)
    ]


def ignores(source: Source | None, code: str) -> bool:
    """Return whether a comment on a line ignores such warnings."""
    rows = _rows(source.file) if source is not None and source.line else ()
    typed = source is not None and 0 < source.line <= len(rows) and rows[source.line - 1]
    match = _IGNORE.search(typed) if typed else None
    return match is not None and code in [part.strip() for part in match[1].split(",")]


def row(source: Source) -> str:
    """The line of a place as YAML read it."""
    rows = _rows(source.file)
    return source.rendered or (rows[source.line - 1] if 0 < source.line <= len(rows) else "")


@lru_cache(maxsize=64)
def _rows(file: str) -> Sequence[str]:
    return text_to_show(file).splitlines()
