"""Warnings that experience asks for: what compiles and is probably not meant. Only `runner check` gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from runner.errors import Diagnostic
from runner.model import Chunk, Kind, Place, Relations, Source

GUARDS = ("onlyif", "unless", "creates", "stateful")
REACTIONS = (Kind.ONCHANGES, Kind.ONCHANGES_ANY, Kind.PREREQ, Kind.ONFAIL, Kind.ONFAIL_ANY, Kind.ONFAIL_ALL)
_SECRET = re.compile(r"(?i)(\.pem|\.key|_rsa|_ed25519|password|passwd|secret|credentials|\.htpasswd|\.pgpass|\.netrc)$")


def warnings(chunks: Sequence[Chunk], relations: Relations, reacts: frozenset[int]) -> list[Diagnostic]:
    """All of them. reacts: the chunks whose module has a mod_watch."""
    found: list[Diagnostic] = []
    for number, chunk in enumerate(chunks):
        found += _watch(number, chunk, relations, reacts)
        found += _order(number, chunk, chunks, relations)
        found += _own(number, chunk, relations)
    return list(dict.fromkeys(found))


def _warning(message: str, place: Place, hint: str, code: str) -> Diagnostic:
    return Diagnostic(message, place.source, hint, code, "warning")


def _watch(number: int, chunk: Chunk, relations: Relations, reacts: frozenset[int]) -> Iterator[Diagnostic]:
    for edge in relations.of(number):
        if edge.kind in (Kind.WATCH, Kind.WATCH_ANY, Kind.LISTEN) and number not in reacts and edge.place.line:
            message = f"{chunk.function} cannot react: its {edge.kind} is no more than a require"
            yield _warning(
                message, edge.place, "write require, or onchanges if it is to run only then", "watch-no-reaction"
            )


def _order(number: int, chunk: Chunk, chunks: Sequence[Chunk], relations: Relations) -> Iterator[Diagnostic]:
    if "order" not in chunk.arg_places or chunk.order >= 10000:
        return
    for edge in relations.of(number):
        target = chunks[edge.target]
        if edge.kind in (Kind.REQUIRE, Kind.WATCH) and "order" in target.arg_places and target.order > chunk.order:
            message = (
                f"order {chunk.order:g} gives way: {target.state}: {target.id} (order {target.order:g}) runs before"
            )
            yield _warning(message, chunk.arg_places["order"], "drop one of the two", "order-overridden")


def _own(number: int, chunk: Chunk, relations: Relations) -> Iterator[Diagnostic]:
    guarded = any(key in chunk.args for key in GUARDS) or any(e.kind in REACTIONS for e in relations.of(number))
    if chunk.function in ("cmd.run", "cmd.script") and not guarded:
        hint = "say when: onlyif, unless, creates, onchanges, or cmd.wait with watch"
        yield _warning(f"{chunk.function} runs, and reports changes, in every run", chunk.place, hint, "cmd-unguarded")
    if chunk.function == "file.managed" and _SECRET.search(chunk.name) and "mode" not in chunk.args:
        message = f"{chunk.name} looks like a secret and has no mode"
        yield _warning(message, chunk.place, "mode: '0600'", "secret-mode")


def unreached(
    files: Callable[[str, str], str | None], rendered: Iterable[tuple[str, str]], reached: Container[tuple[str, str]]
) -> list[Diagnostic]:
    """SLS files that no line of the top file and no include brings into any run. files: (SLS, environment) -> file."""
    found = []
    for env, sls in dict.fromkeys(rendered):
        file = files(sls, env)
        if (env, sls) not in reached and file:
            message = f"nothing reaches the SLS {sls}: no line of the top file, no include"
            hint = "name it in the top file or include it, or remove it"
            found.append(Diagnostic(message, Source(file, 1), hint, "unreached", "warning"))
    return found


_IGNORE = re.compile(r"#\s*runner:\s*ignore\[([\w, -]+)\]")


def kept(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The problems without the warnings that a comment on their line ignores (`# runner: ignore[code]`)."""
    return [each for each in problems if each.severity == "error" or not _ignored(each)]


def _ignored(problem: Diagnostic) -> bool:
    if problem.source is None or not problem.source.line:
        return False
    try:
        with open(problem.source.file, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return False
    match = _IGNORE.search(lines[problem.source.line - 1]) if problem.source.line <= len(lines) else None
    return bool(match) and problem.code in [part.strip() for part in match[1].split(",")]  # type: ignore[index]
