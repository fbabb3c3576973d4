# SPDX-License-Identifier: Apache-2.0
"""The report of a run as one JSON document, the same wherever it is delivered.

Format 1: `format`, `id` (of the report; a receiver ignores one that it has), `machine`, `run`,
`jid` (Salt's, of the moment when it started), `started` and `finished` (ISO 8601, UTC), `duration`
(seconds), `command`, `fun` (what Salt would call it), `test`, `outcome`, `exit_code`, `revision`,
`dirty`, `tree` (what became of the newest one of `runner pull`: used, refused, unreachable),
`counts`, `drifted`, `errors`, `states` (Salt's JSON), `pending_reactions`, `runner` (the
version), and where reports of this machine were lost before it: `lost` (`dropped`, `rejected`).
"""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from runner.model import plain_values
from runner.model.errors import RunnerError
from runner.model.records import Record

FORMAT = 1
LARGEST = 32 * 1024 * 1024  # bytes of one report
# what a report has to have, and of what type
_NEEDED: Mapping[str, type | tuple[type, ...]] = {
    "id": str,
    "machine": str,
    "run": str,
    "jid": str,
    "started": str,
    "finished": str,
    "duration": (int, float),
    "command": str,
    "fun": str,
    "test": bool,
    "outcome": str,
    "exit_code": int,
    "counts": dict,
    "drifted": int,
    "errors": list,
    "states": dict,
    "pending_reactions": list,
}
_OPTIONAL: Mapping[str, type | tuple[type, ...]] = {
    "revision": (str, type(None)),
    "dirty": (bool, type(None)),
    "tree": str,
    "runner": str,
    "lost": dict,
}
_LONGEST = {
    "machine": 255,
    "jid": 255,
    "fun": 50,
    "run": 255,
    "outcome": 255,
    "tree": 255,
    "revision": 255,
}
# what PostgreSQL's JSON cannot hold: NUL, and halves of characters (of names that are not UTF-8)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_FUNCTIONS = {"highstate": "state.highstate", "pull": "state.highstate", "sls": "state.sls"}
_FUNCTIONS |= {"single": "state.single"}


class BadReport(RunnerError):
    """A document is no report, or one that nobody could keep."""

    code = "report"


class ReportFacts(Record):
    """What is known of a run beside its results. exit_code: as the command ends without options."""

    machine: str
    run: str
    started: float
    finished: float
    duration: float
    command: str
    fun: str
    test: bool
    outcome: str
    exit_code: int
    version: str
    revision: str | None = None
    dirty: bool | None = None
    tree: str = ""


def document(
    facts: ReportFacts,
    states: Mapping[str, Any],
    counts: Mapping[str, int],
    errors: Iterable[str],
    pending: Iterable[Mapping[str, str]],
) -> dict[str, Any]:
    """The report of a run. states: results as Salt's JSON has them."""
    moment = datetime.fromtimestamp(facts.started, UTC)
    return {
        "format": FORMAT,
        "id": str(uuid.uuid4()),
        "machine": facts.machine,
        "run": facts.run,
        "jid": moment.strftime("%Y%m%d%H%M%S%f"),
        "started": moment.isoformat(),
        "finished": datetime.fromtimestamp(facts.finished, UTC).isoformat(),
        "duration": round(facts.duration, 3),
        "command": facts.command,
        "fun": facts.fun,
        "test": facts.test,
        "outcome": facts.outcome,
        "exit_code": facts.exit_code,
        "revision": facts.revision,
        "dirty": facts.dirty,
        "tree": facts.tree,
        "counts": dict(counts),
        "drifted": sum(state.get("__origin__") == "drift" for state in states.values()),
        "errors": list(errors),
        "pending_reactions": [dict(reaction) for reaction in pending],
        "runner": facts.version,
        "states": dict(states),
    }


def function_of(words: Iterable[str]) -> str:
    """The function that Salt would call what a command line does.

    >>> function_of(["call", "state.apply", "web"])
    'state.apply'
    """
    words = list(words)
    named = next((word for word in words if re.fullmatch(r"state\.[a-z_]+", word)), None)
    command = words[0] if words else ""
    if command in _FUNCTIONS or not named:
        plain = re.sub(r"[^\w-]", "", command)[:40] or "run"
        return _FUNCTIONS.get(command, f"runner.{plain}")
    return named[:50]


def text_of(report: Mapping[str, Any]) -> bytes:
    """The JSON of a report, as any receiver can keep it.

    One that is too large keeps of its states only those that are not as they should be, and if
    that is not enough, no changes.
    """
    data = _dumped(report)
    if len(data) > LARGEST:
        telling = {
            tag: state
            for tag, state in report["states"].items()
            if state.get("result") is not True or state.get("changes")
        }
        data = _dumped({**report, "states": telling, "shortened": "unchanged states"})
    if len(data) > LARGEST:
        plain = ("name", "result", "__id__", "__sls__", "__run_num__", "duration", "__origin__")
        short = {
            tag: {key: state[key] for key in plain if key in state}
            for tag, state in report["states"].items()
        }
        data = _dumped({**report, "states": short, "shortened": "comments and changes"})
    return data


def _dumped(report: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(plain_values.plain(report), allow_nan=False, ensure_ascii=False)
    except ValueError:  # a number that JSON does not have
        text = json.dumps(_storable(plain_values.plain(report)), ensure_ascii=False)
    else:
        if _UNSTORABLE.search(text) or "\\u0000" in text:
            text = json.dumps(_storable(plain_values.plain(report)), ensure_ascii=False)
    return text.encode()


def _storable(value: Any) -> Any:
    """The same value without what JSON, or PostgreSQL's JSON, does not have."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, float) and not -1e308 < value < 1e308:
        return str(value)
    return value


# ---------------------------------------------------------------- reports of others


def parsed(data: bytes) -> dict[str, Any]:
    """The report in a file that anybody may have written. Raises BadReport.

    The message quotes nothing of the file, which need not be a report at all.
    """
    if len(data) > LARGEST:
        raise BadReport(f"it has more than {LARGEST // 1024**2} MiB")
    try:
        text = data.decode("utf-8")
        report = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError:
        raise BadReport("it is not UTF-8") from None
    except RecursionError:
        raise BadReport("it is nested too deeply") from None
    except ValueError:
        raise BadReport("it is not JSON, or its end is missing") from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise BadReport(f"it is not a report of runner (format {FORMAT})")
    _check(report)
    if "\\u" not in text:  # how JSON has to write what PostgreSQL's cannot hold
        return report
    try:
        return dict(_storable(report))
    except RecursionError:
        raise BadReport("it is nested too deeply") from None


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float | str:
    """Return a number; the text of one that is too large to be any."""
    number = float(text)
    return number if math.isfinite(number) else text


def _check(report: Mapping[str, Any]) -> None:
    for key, kind in {**_NEEDED, **_OPTIONAL}.items():
        if key not in report and key in _OPTIONAL:
            continue
        value = report.get(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind in (int, (int, float))):
            raise BadReport(f"{key} is missing or not what it has to be")
        if isinstance(value, str) and len(value) > _LONGEST.get(key, 4096 * 16):
            raise BadReport(f"{key} is too long")
    try:
        uuid.UUID(report["id"])
        moments = [datetime.fromisoformat(report[key]) for key in ("started", "finished")]
    except ValueError:
        raise BadReport("its id or its times are not what they have to be") from None
    if any(moment.tzinfo is None for moment in moments):
        raise BadReport("its times have no time zone")
    if not all(isinstance(state, dict) for state in report["states"].values()):
        raise BadReport("states are not what they have to be")
    numbers = [report["drifted"], report["exit_code"], *report["counts"].values()]
    numbers += report.get("lost", {}).values()
    if not all(type(number) is int and -1 < number < 2**31 for number in numbers):
        raise BadReport("a number is not what it has to be")
    if not 0 <= report["duration"] < 1e9:
        raise BadReport("a number is not what it has to be")
