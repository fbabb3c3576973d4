"""Earlier runs, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.output.text import change_lines, named, safe, seconds


def text(found: Any, kind: str) -> str:
    """What `runner history` prints. kind: list, show or diff."""
    lines = _runs(found) if kind == "list" else _run(found) if kind == "show" else _difference(found)
    return "".join(f"{safe(line)}\n" for line in lines)


_WORDS = {True: "changed", False: "failed", None: "undecided"}
_KINDS = {"run": "", "test": "dry run, ", "undo": "undo, "}


def _runs(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not found:
        yield "There are no runs in the history yet."
    outcomes = [_KINDS[run["kind"]] + run["outcome"] for run in found]
    width = max(map(len, outcomes), default=0)
    for run, outcome in zip(found, outcomes, strict=True):
        changed = "would change" if run["kind"] == "test" else "changed"
        counts = f"{run['total']} states, {run['changed'] or 0} {changed}, {run['failed'] or 0} failed"
        when = run["started"][:19].replace("T", " ")
        yield f"{run['id']:>6}  {when}  {outcome:<{width}}  {counts}  {run['command']}"


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    yield f"Run {run['id']}: {run['command']}"
    yield f"  started {run['started']}, ended {run['finished'] or 'never'}: {_KINDS[run['kind']]}{run['outcome']}"
    if run["revision"]:
        yield f"  tree at {run['revision']}{' with uncommitted changes' if run['dirty'] else ''}"
    quiet = 0
    for item in run["results"]:
        if item["result"] and not item["changes"] and item["ran"]:
            quiet += 1
            continue
        word = _WORDS[item["result"]] if item["ran"] else "skipped"
        word = "would change" if word == "undecided" and item["changes"] else word
        yield f"{word:>12}  {item['function']}  {item['id']}  [{seconds(item['duration'])}]  {item['place']}"
        if item["origin"] in ("drift", "repeats"):
            yield f"            {item['origin']}"
        if not item["result"] or not item["ran"]:
            yield from (f"            {line}" for line in item["comment"].splitlines())
        if item["cause"]:
            yield f"            because of {named(item['cause'])}"
        yield from (f"            {line}" for line, _ in change_lines(item["changes"]))
    yield f"  {quiet} unchanged"


def _difference(found: Mapping[str, Any]) -> Iterator[str]:
    first, second = found["first"], found["second"]
    yield f"Runs {first['id']} ({first['started']}) and {second['id']} ({second['started']})"
    yield "  the tree said the same" if found["same_tree"] else "  the tree was changed in between"
    for key, word in (("only_first", f"only in {first['id']}"), ("only_second", f"only in {second['id']}")):
        yield from (f"  {word}: {tag.replace('_|-', ' ')}" for tag in found[key])
    for tag, keys in found["different"].items():
        yield f"  {tag.replace('_|-', ' ')}"
        for key, pair in keys.items():
            yield f"    {key}: {pair['first']!r} -> {pair['second']!r}"
