# SPDX-License-Identifier: Apache-2.0
"""Pages of runs that never were: with many states, or with states that try to break out of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from runner.model.result import PendingReaction
from runner.output import run_page
from runner.output.run_page import fleet, index


def result(number: int, **other: Any) -> dict[str, Any]:
    """A state of a run as the history has it."""
    return {
        "tag": f"file_|-s{number}_|-s{number}_|-managed",
        "id": f"s{number}",
        "name": f"s{number}",
        "function": "file.managed",
        "sls": "web",
        "result": True,
        "ran": True,
        "changes": {},
        "before": {},
        "comment": "in order",
        "duration": 3.5,
        "place": "/srv/web.sls:3:5",
        "cause": None,
        "origin": "",
        "outcome": "unchanged",
        "started_after": number / 100,
        **other,
    }


RUN = {
    "id": 7,
    "kind": "run",
    "outcome": "failed",
    "command": "runner highstate",
    "started": "2026-01-02T03:04:05+0000",
    "revision": None,
    "dirty": None,
    "undone": None,
    "errors": [],
}


def html(results: Iterable[Mapping[str, Any]], **other: Any) -> str:
    page = {
        "machine": "web1",
        "run": RUN,
        "took": 4.5,
        "results": results,
        "requisites": {},
        "left_by": lambda tag: None,
        "pending": (),
        "written": "now",
    }
    return run_page.html(run_page.Page(**{**page, **other}))


ATTACK = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\0\x1b[31m\u202e\udc80]]>-->"
)


def attacked() -> str:
    """A page each of whose texts tries to become more than text."""
    keys = ("id", "name", "function", "sls", "comment", "place", "tag")
    changes = {"diff": f"--- \n+++ \n@@ -1 +1 @@\n-{ATTACK}\n+{ATTACK}\n", ATTACK: {ATTACK: ATTACK}}
    cause = f"file_|-{ATTACK}_|-x_|-y"
    bad = {**dict.fromkeys(keys, ATTACK), "changes": changes, "cause": cause, "origin": "drift"}
    run = RUN | dict.fromkeys(("command", "outcome", "revision", "undone"), ATTACK)
    return html(
        [result(1, **bad), result(2, tag=f"{ATTACK}2", id=ATTACK)],
        machine=ATTACK,
        run=run | {"errors": [ATTACK]},
        requisites={"states": [ATTACK, f"{ATTACK}2"], "edges": [[0, 1, "require"]]},
        pending=[dict.fromkeys(PendingReaction._fields, ATTACK)],
        left_by=lambda tag: {"id": 3, "started": ATTACK},
        written=ATTACK,
    )


def large(count: int) -> str:
    """A page of a run with so many states, each of which requires the one before."""
    words = {7: "changed", 9: "failed"}
    results = [
        result(number, outcome=words.get(number % 100, "unchanged")) for number in range(count)
    ]
    tags = [item["tag"] for item in results]
    edges = [[number, number + 1, "require"] for number in range(count - 1)]
    return html(results, requisites={"states": tags, "edges": edges})


def _run(number: int, **other: Any) -> dict[str, Any]:
    """A run as the index of runs takes it."""
    more = {"run": f"20260102030405-{number:06x}", "took": 4.5, "drifted": number % 3, "total": 9}
    counts = {"failed": 1} if number % 50 == 0 else {"unchanged": 9}
    outcome = "failed" if "failed" in counts else "done"
    return {
        **RUN,
        **more,
        "id": number,
        "command": f"runner sls run{number}",
        "counts": counts,
        "outcome": outcome,
        **other,
    }


def index_of(count: int) -> str:
    """The index of so many runs."""
    runs = [_run(number) for number in range(count, 0, -1)]
    names = {index.page_name(run["run"]) for run in runs}
    return index.html(index.Index("web1", runs, (), (), names, "now"))


def attacked_index() -> str:
    """An index each of whose texts tries to become more than text."""
    words = ("run", "command", "outcome", "revision", "undone", "started")
    run = _run(1, **dict.fromkeys(words, ATTACK))
    failed: dict[str, Any] = dict.fromkeys(("function", "id", "name", "place"), ATTACK)
    printed = {"retcode": ATTACK, "stderr": ATTACK}
    failed |= {"comment": f'Command "{ATTACK}" run', "changes": printed}
    reaction = dict.fromkeys(PendingReaction._fields, ATTACK)
    names = {index.page_name(ATTACK)}
    return index.html(index.Index(ATTACK, [run], [failed], [reaction], names, ATTACK))


def fleet_of(count: int) -> str:
    """The page over so many machines."""
    moment = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    due = dict.fromkeys(("reactor", "kind", "source", "time"), "cmd_|-reload_|-x_|-run")
    machines = [
        {
            "machine": f"web{number}.a-long-name-of-a-site.example.org",
            "finished": moment,
            "test": number % 7 == 0,
            "outcome": "done",
            "failed": number % 50 == 0,
            "revision": "0123456789abcdef0123456789abcdef01234567",
            "dirty": False,
            "tree": "refused" if number % 100 == 0 else None,
            "counts": {"changed": number % 3, "unchanged": 9},
            "drifted": number % 5 == 0,
            "pending": number % 11 == 0,
            "pending_reactions": [due] * (number % 11 == 0),
            "overdue": number % 13 == 0,
            "runner": "0.2.0",
        }
        for number in range(count)
    ]
    one = {"machine": machines[0]["machine"]}
    bad = one | {"state": "cmd_|-fill_|-x_|-run", "errors": [], "command": None}
    drift = one | {"last_drift": moment, "runs": 1, "states": 2}
    return fleet.html(
        fleet.Fleet(
            machines, [bad | {"comment": f"no room {n}"} for n in range(300)], [drift], [], "now"
        )
    )
