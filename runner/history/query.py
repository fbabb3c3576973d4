"""Reading the history: its runs, what one did, how two differ, what became of a state."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runner.history.store import NAME, HistoryProblem, open_history, readable
from runner.model.errors import RunnerError

if TYPE_CHECKING:
    import sqlite3

_RUN = (
    "id, run, kind, command, user, started, finished, revision, dirty, compiled, outcome, total,"
    " changed, failed"
)
_RUN += ", skipped, errors, undone, not_restored"
_RESULT = (
    "tag, id, name, function, sls, result, ran, changes, comment, duration, place, cause, origin,"
    " outcome"
)


@readable()
def runs(state_dir: str, limit: int = 20, real: bool = False) -> list[dict[str, Any]]:
    """The last runs, the newest first. real: no dry runs and no undos."""
    connection = _reading(state_dir)
    if connection is None:
        return []
    where = "WHERE kind = 'run'" if real else ""
    query = f"SELECT {_RUN} FROM runs {where} ORDER BY id DESC LIMIT ?"
    return [_run(row) for row in connection.execute(query, (limit,))]


@readable()
def run_details(state_dir: str, number: str) -> dict[str, Any]:
    """One run with its results and the changes to the machine. number: of the run, or "last".
    Raises RunnerError.
    """
    connection = _reading(state_dir)
    run = connection and _find(connection, number)
    if not connection or not run:
        raise RunnerError(
            f"there is no run {number} in the history", hint="`runner history` lists the runs"
        )
    results = connection.execute(
        f"SELECT {_RESULT} FROM results WHERE run = ? ORDER BY position", (run["id"],)
    )
    changers = connection.execute(
        "SELECT tag, function, target, before FROM changers WHERE run = ?", (run["id"],)
    )
    return run | {
        "results": [_result(row) for row in results],
        "changes_made": [
            {"state": tag, "function": function, "target": target, "before": json.loads(before)}
            for tag, function, target, before in changers
        ],
    }


def difference(state_dir: str, first: str, second: str) -> dict[str, Any]:
    """The differences between two runs: states of only one, other outcomes, other changes."""
    one_run, other = run_details(state_dir, first), run_details(state_dir, second)
    left, right = ({item["tag"]: item for item in run["results"]} for run in (one_run, other))
    differing = {}
    for tag in left.keys() & right.keys():
        a, b = left[tag], right[tag]
        keys = [
            key
            for key in ("outcome", "result", "ran", "changes", "comment", "place")
            if a[key] != b[key]
        ]
        if keys:
            differing[tag] = {key: {"first": a[key], "second": b[key]} for key in keys}
    about = ("id", "started", "command", "revision", "outcome", "errors")
    return {
        "first": {key: one_run[key] for key in about},
        "second": {key: other[key] for key in about},
        "same_tree": one_run["compiled"] == other["compiled"],
        "only_first": sorted(left.keys() - right.keys()),
        "only_second": sorted(right.keys() - left.keys()),
        "different": dict(sorted(differing.items())),
    }


@readable()
def last_result(state_dir: str, tag: str) -> dict[str, Any] | None:
    """The result of a state in the last real run that had it, with that run; None if none had."""
    connection = _reading(state_dir)
    if connection is None:
        return None
    real = "run IN (SELECT runs.id FROM runs WHERE kind = 'run')"
    query = f"SELECT run, {_RESULT} FROM results WHERE {real} AND tag = ? ORDER BY run DESC LIMIT 1"
    row = connection.execute(query, (tag,)).fetchone()
    return _result(row[1:]) | {"run": _find(connection, str(row[0]))} if row else None


def _reading(state_dir: str) -> sqlite3.Connection | None:
    path = os.path.join(state_dir, NAME)
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise HistoryProblem(f"{path}: {error.strerror}") from None
    return open_history(state_dir)


def _find(connection: sqlite3.Connection, number: str) -> dict[str, Any] | None:
    number = number.encode(errors="backslashreplace").decode()  # no text: bytes of the command line
    if number == "last":
        row = connection.execute(f"SELECT {_RUN} FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    else:
        query = f"SELECT {_RUN} FROM runs WHERE CAST(id AS TEXT) = ? OR run = ?"
        row = connection.execute(query, (number, number)).fetchone()
    return _run(row) if row else None


def _run(row: tuple[Any, ...]) -> dict[str, Any]:
    run: dict[str, Any] = dict(zip(_RUN.split(", "), row, strict=True))
    for key in ("started", "finished"):
        if run[key] is not None:
            run[key] = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(run[key]))
    run["dirty"] = None if run["dirty"] is None else bool(run["dirty"])
    run["outcome"] = run["outcome"] or "killed or still running"
    run["errors"] = json.loads(run["errors"])
    return run


def _result(row: tuple[Any, ...]) -> dict[str, Any]:
    result: dict[str, Any] = dict(zip(_RESULT.split(", "), row, strict=True))
    result["result"] = None if result["result"] is None else bool(result["result"])
    result["ran"] = bool(result["ran"])
    result["changes"] = json.loads(result["changes"])
    result["outcome"] = result["outcome"] or _outcome(result)
    return result


def _outcome(result: Mapping[str, Any]) -> str:
    """The outcome of a state that an older runner kept without one."""
    if result["result"] is False:
        return "failed" if result["ran"] else "skipped"
    if result["result"] is None:
        return "would change" if result["changes"] else "undecided"
    return "changed" if result["changes"] else "unchanged"
