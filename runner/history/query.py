# SPDX-License-Identifier: Apache-2.0
"""Reading the history: its runs, what one did, how two differ, what became of a state."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from runner.history.contents import ContentStore
from runner.history.store import has_history, open_history, readable
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.model.result import OUTCOMES

if TYPE_CHECKING:
    import sqlite3

_RUN = (
    "id, run, kind, command, user, started, finished, revision, dirty, compiled, outcome, total,"
    " changed, failed"
)
_RUN += ", skipped, errors, undone, not_restored, counts"
_RESULT = (
    "tag, id, name, function, sls, result, ran, changes, comment, duration, place, cause, origin,"
    " outcome, replaced, started_after"
)


class RunForPage(Record):
    """A run with what its page shows. graph: its requisites (pipeline/kept_relations.py), empty
    where they are not kept. left_by: the last real run before it that had a state, by its tag.
    took: its seconds; None where it has not ended.
    """

    run: Mapping[str, Any]
    took: float | None
    graph: Mapping[str, Any]
    results: Iterator[dict[str, Any]]
    left_by: Callable[[str], dict[str, Any] | None]


def _no_run(state_dir: str, number: str) -> RunnerError:
    if number == "last":
        others = "; root has its own (sudo)" if os.geteuid() else ""
        hint = f"the first run of states, dry or not, begins it, in {state_dir}{others}"
        return RunnerError("there are no runs in the history yet", hint=hint)
    message = f"there is no run {number} in the history"
    return RunnerError(message, hint="`runner history` lists the runs")


def runs(state_dir: str, limit: int = 20, real: bool = False) -> list[dict[str, Any]]:
    """The last runs, the newest first. real: no dry runs and no undos."""
    with opened(state_dir) as connection:
        if connection is None:
            return []
        where = "WHERE kind = 'run'" if real else ""
        query = f"SELECT {_RUN} FROM runs {where} ORDER BY id DESC LIMIT ?"
        return [_run(connection, row) for row in connection.execute(query, (limit,)).fetchall()]


def run_details(state_dir: str, number: str) -> dict[str, Any]:
    """One run with its results and the changes to the machine; where it has not ended, with the
    states that had begun to change it (`unfinished`). number: of the run, or "last". Raises
    RunnerError.
    """
    with opened(state_dir) as connection:
        run = connection and _find(connection, number)
        if not connection or not run:
            raise _no_run(state_dir, number)
        changers = connection.execute(
            "SELECT tag, function, target, before FROM changers WHERE run = ?", (run["id"],)
        )
        results = [*_results(connection, run["id"])]
        changes = [
            {"state": tag, "function": function, "target": target, "before": json.loads(before)}
            for tag, function, target, before in changers
        ]
        ended = {"", *(result["tag"] for result in results)}
        begun = [] if run["finished"] else dict.fromkeys(change["state"] for change in changes)
        unfinished = [tag for tag in begun if tag not in ended]
        return run | {"results": results, "changes_made": changes, "unfinished": unfinished}


def _results(connection: sqlite3.Connection, number: int) -> Iterator[dict[str, Any]]:
    query = f"SELECT {_RESULT} FROM results WHERE run = ? ORDER BY position"
    return map(_result, connection.execute(query, (number,)))


@contextmanager
def run_for_page(state_dir: str, number: str) -> Iterator[RunForPage]:
    """Give a run as its page needs it, one result at a time. number: of the run, its ID, or "last".
    Raises RunnerError.
    """
    with opened(state_dir) as connection:
        run = connection and _find(connection, number)
        if not connection or not run:
            raise _no_run(state_dir, number)
        query = "SELECT graph, finished - started FROM runs WHERE id = ?"
        content, took = connection.execute(query, (run["id"],)).fetchone()
        kept = ContentStore(state_dir, lambda: connection).get(content)
        yield RunForPage(
            run,
            took,
            json.loads(kept) if kept else {},
            _results(connection, run["id"]),
            lambda tag: _last_before(connection, tag, run["id"]),
        )


def _last_before(connection: sqlite3.Connection, tag: str, number: int) -> dict[str, Any] | None:
    """The last real run before another one in which a state ran."""
    query = (
        "SELECT results.run FROM results JOIN runs ON runs.id = results.run WHERE tag = ? AND ran"
        " AND result IS NOT NULL AND kind = 'run' AND results.run < ?"
        " ORDER BY results.run DESC LIMIT 1"
    )
    row = connection.execute(query, (tag, number)).fetchone()
    return _find(connection, str(row[0])) if row else None


class RunsForIndex(Record):
    """The last runs, the newest first, each with its seconds (`took`, None where it has not ended)
    and how many of its states had drifted. failed: the states that failed in the last real one
    that ran any.
    """

    runs: list[dict[str, Any]]
    failed: list[dict[str, Any]]


def runs_for_index(state_dir: str, limit: int) -> RunsForIndex:
    """So many runs as the page over them needs them."""
    drift = "SELECT run, count(*) FROM results WHERE origin = 'drift' GROUP BY run"
    query = f"SELECT finished - started, {_RUN} FROM runs ORDER BY id DESC LIMIT ?"
    failed = f"SELECT {_RESULT} FROM results WHERE run = ? AND ran AND result = 0 ORDER BY position"
    with opened(state_dir) as connection:
        if connection is None:
            return RunsForIndex([], [])
        drifted = dict(connection.execute(drift).fetchall())
        runs = [
            _run(connection, row) | {"took": took, "drifted": drifted.get(row[0], 0)}
            for took, *row in connection.execute(query, (limit,)).fetchall()
        ]
        last = next((run["id"] for run in runs if run["kind"] == "run" and run["total"]), None)
        return RunsForIndex(runs, [*map(_result, connection.execute(failed, (last,)))])


_NAMED = ("id", "name", "function", "sls", "outcome", "changes", "before")
_COMPARED = ("outcome", "result", "ran", "changes", "comment", "place")


def difference(state_dir: str, first: str, second: str) -> dict[str, Any]:
    """The differences between two runs, in the order of their states: states of only one, other
    outcomes, other changes. That a command had another process ID is no difference.
    """
    one_run, other = run_details(state_dir, first), run_details(state_dir, second)
    left, right = (
        {item["tag"]: _comparable(item) for item in run["results"]} for run in (one_run, other)
    )
    both = ((left, right), (right, left))
    differing = {}
    for tag, a in left.items():
        b = right.get(tag, a)
        if keys := [key for key in _COMPARED if a[key] != b[key]]:
            differing[tag] = {key: {"first": a[key], "second": b[key]} for key in keys}
    only_first, only_second = ([tag for tag in a if tag not in b] for a, b in both)
    about = ("id", "started", "command", "revision", "outcome", "errors")
    return {
        "first": {key: one_run[key] for key in about},
        "second": {key: other[key] for key in about},
        "same_tree": one_run["compiled"] == other["compiled"],
        "only_first": only_first,
        "only_second": only_second,
        "different": differing,
        "states": {
            tag: {key: states[tag][key] for key in _NAMED}
            for states, tags in ((left, only_first), (right, [*only_second, *differing]))
            for tag in tags
        },
    }


def _comparable(item: dict[str, Any]) -> dict[str, Any]:
    changes = {key: value for key, value in item["changes"].items() if key != "pid"}
    return item | {"changes": changes}


def last_result(state_dir: str, tag: str) -> dict[str, Any] | None:
    """The result of a state in the last real run that had it, with that run; None if none had."""
    real = "run IN (SELECT runs.id FROM runs WHERE kind = 'run')"
    query = f"SELECT run, {_RESULT} FROM results WHERE {real} AND tag = ? ORDER BY run DESC LIMIT 1"
    with opened(state_dir) as connection:
        row = connection and connection.execute(query, (tag,)).fetchone()
        if not connection or not row:
            return None
        return _result(row[1:]) | {"run": _find(connection, str(row[0]))}


@contextmanager
def opened(state_dir: str) -> Iterator[sqlite3.Connection | None]:
    """Give the database of the history for reading; None when there is none yet. Raises RunnerError
    where it cannot be read.
    """
    with readable():
        connection = open_history(state_dir) if has_history(state_dir) else None
        try:
            yield connection
        finally:
            if connection is not None:
                connection.close()


def _find(connection: sqlite3.Connection, number: str) -> dict[str, Any] | None:
    number = number.encode(errors="backslashreplace").decode()  # no text: bytes of the command line
    if number == "last":
        row = connection.execute(f"SELECT {_RUN} FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    else:
        query = f"SELECT {_RUN} FROM runs WHERE CAST(id AS TEXT) = ? OR run = ?"
        row = connection.execute(query, (number, number)).fetchone()
    return _run(connection, row) if row else None


def _run(connection: sqlite3.Connection, row: Sequence[Any]) -> dict[str, Any]:
    run: dict[str, Any] = dict(zip(_RUN.split(", "), row, strict=True))
    for key in ("started", "finished"):
        if run[key] is not None:
            run[key] = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(run[key]))
    run["dirty"] = None if run["dirty"] is None else bool(run["dirty"])
    has_ended = run["outcome"] not in (None, "killed")
    run["outcome"] = run["outcome"] or "killed or still running"
    run["errors"], run["counts"] = json.loads(run["errors"]), json.loads(run["counts"])
    return run if has_ended else run | _counts_so_far(connection, run)


def _counts_so_far(connection: sqlite3.Connection, run: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of a run that has not ended: nobody has noted them."""
    query = "SELECT outcome, count(*) FROM results WHERE run = ? AND outcome != '' GROUP BY outcome"
    counts = dict(connection.execute(query, (run["id"],)).fetchall())
    return {
        "changed": counts.get("changed", 0) + counts.get("would change", 0),
        "failed": counts.get("failed", 0),
        "skipped": counts.get("skipped", 0),
        "counts": {outcome: counts[outcome] for outcome in OUTCOMES if outcome in counts},
    }


def _result(row: tuple[Any, ...]) -> dict[str, Any]:
    result: dict[str, Any] = dict(zip(_RESULT.split(", "), row, strict=True))
    result["result"] = None if result["result"] is None else bool(result["result"])
    result["ran"] = bool(result["ran"])
    result["changes"] = json.loads(result["changes"])
    result["before"] = json.loads(result.pop("replaced"))
    result["outcome"] = result["outcome"] or _outcome(result)
    return result


def _outcome(result: Mapping[str, Any]) -> str:
    """The outcome of a state that an older runner kept without one."""
    if result["result"] is False:
        return "failed" if result["ran"] else "skipped"
    if result["result"] is None:
        return "would change" if result["changes"] else "undecided"
    return "changed" if result["changes"] else "unchanged"
