# SPDX-License-Identifier: Apache-2.0
"""PuppetDB's report, version 8: what its command `store report` takes, so that Puppetboard and
others that read PuppetDB show machines of runner beside those of Puppet.

A state is a resource, its function the type, its ID the title; each of its changes is an event.
Drift is what Puppet calls a corrective change. https://www.puppet.com/docs/puppetdb/latest/
"""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from runner.model.chunk import Chunk
from runner.model.nested import mapped
from runner.model.plain_values import plain
from runner.model.records import Record
from runner.model.result import Report, Result, RunFacts
from runner.output.text import reason

FORMAT = 12  # of Puppet's own reports; those of Puppet 7 and 8 have this number
# before the message of an event, and a tag of logs: PuppetDB keeps no corrective changes
DRIFT = "drift"
LONGEST = 16 * 1024  # characters of one text
# what PostgreSQL cannot keep: NUL, and halves of characters (of names that are not UTF-8)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def command(run: Report, facts: RunFacts) -> dict[str, Any]:
    """The payload of the command."""
    writer = _Writer(run, facts)
    resources = [*map(writer.resource, run.results), *map(writer.left, run.left)]
    events = [event for resource in resources for event in resource["events"]]
    failed = run.failed or bool(run.interrupted)
    changed = any(event["status"] == "success" for event in events)
    corrective = any(event["corrective_change"] for event in events)
    answer: dict[str, Any] = mapped(
        {
            "certname": facts.machine,
            "environment": facts.environment,
            "puppet_version": f"runner {facts.version}",
            "report_format": FORMAT,
            "configuration_version": facts.revision or facts.run,
            "start_time": _moment(writer.started),
            "end_time": _moment(writer.finished),
            "producer_timestamp": _moment(writer.finished),
            "producer": facts.machine,
            "transaction_uuid": _uuid(facts),
            "catalog_uuid": None,
            "code_id": facts.revision or None,
            "cached_catalog_status": "on_failure" if facts.from_cache else "not_used",
            "status": "failed" if failed else "changed" if changed else "unchanged",
            "noop": run.dry,
            "noop_pending": any(event["status"] == "noop" for event in events),
            "corrective_change": corrective,
            "resources": resources,
            "metrics": list(_metrics(run, facts, events)),
            "logs": list(writer.logs()),
        },
        _storable,
    )
    return answer


class _PuppetPlace(Record):
    """Where a chunk was typed, and what Puppet would call it."""

    file: str | None
    line: int | None
    type: str
    title: str

    def __str__(self) -> str:
        return f"{self.type}[{self.title}]"


class _Writer:
    """The parts of the report of one run."""

    def __init__(self, run: Report, facts: RunFacts) -> None:
        self._run = run
        self._pull_problem = facts.pull_problem
        self.started = datetime.fromtimestamp(facts.started, UTC)
        self.finished = datetime.fromtimestamp(facts.finished, UTC)

    def resource(self, result: Result) -> dict[str, Any]:
        """A state that was come to."""
        moment = _moment(self._when(result))
        return self._resource(
            result.chunk,
            moment,
            result.outcome(self._run.dry) == "skipped",
            list(self._events(result, moment)),
        )

    def left(self, chunk: Chunk) -> dict[str, Any]:
        """A state that the run, which was interrupted, did not come to."""
        return self._resource(chunk, _moment(self.finished), True, [])

    def _resource(
        self, chunk: Chunk, moment: str, skipped: bool, events: list[dict[str, Any]]
    ) -> dict[str, Any]:
        place = _place(chunk)
        return {
            "timestamp": moment,
            "resource_type": place.type,
            "resource_title": place.title,
            "skipped": skipped,
            "events": events,
            # not in PuppetDB's documentation, but it refuses resources that lack it
            "corrective_change": any(event["corrective_change"] for event in events),
            "file": place.file,
            "line": place.line,
            "containment_path": [*([chunk.sls] if chunk.sls else []), str(place)],
        }

    def _events(self, result: Result, moment: str) -> Iterator[dict[str, Any]]:
        """A failure, and the changes that were made or would be."""
        if not result.ran:
            return

        def event(status: str, name: str | None, old: Any, new: Any) -> dict[str, Any]:
            return {
                "status": status,
                "timestamp": moment,
                "property": name,
                "old_value": _value(old),
                "new_value": _value(new),
                "message": None if status == "success" and not drifted else _cut(message),
                "corrective_change": drifted,
            }

        drifted = result.origin == "drift"
        message = f"{_drift(result)}{_why(result)}"
        if result.result is False:
            name, _, value = _of_command(result.changes) or (None, None, None)
            yield event("failure", name, None, value) | {"corrective_change": False}
            if name:
                return
        status = "noop" if result.result is None or self._run.dry else "success"
        for name, old, new in _changes(result.changes):
            yield event(status, name, old, new)
        if result.result is None and not result.changes:  # what cannot be known before
            yield event("noop", None, None, None)

    def _when(self, result: Result) -> datetime:
        return datetime.fromtimestamp(result.started, UTC) if result.started else self.started

    def logs(self) -> Iterator[dict[str, Any]]:
        """Yield what people want to read: errors, failures, skipped states, warnings, changes."""
        end = _moment(self.finished)
        for problem in self._run.errors:
            at = problem.source
            yield _log("err", str(problem), "runner", at.file if at else None, at and at.line, end)
        if self._pull_problem:
            message = f"the newest tree is not used: {self._pull_problem}"
            yield _log("err", message, "runner", None, None, end)
        if self._run.interrupted:
            yield _log("err", self._run.outcome, "runner", None, None, end)
        for result in self._run.results:
            place = _place(result.chunk)
            lines = [("warning", warning) for warning in result.warnings]
            if result.result is False:
                lines.append(("err" if result.ran else "warning", _why(result)))
            elif result.changes:
                lines.append(("notice", f"{_drift(result)}{result.comment}"))
            moment = _moment(self._when(result))
            tags = [DRIFT] if result.origin == "drift" else []
            for level, line in lines:
                log = _log(level, line, str(place), place.file, place.line, moment)
                yield log | {"tags": [*log["tags"], *tags]}


def _why(result: Result) -> str:
    return reason(result.comment, result.changes, result.name)


def _drift(result: Result) -> str:
    """How a message begins: Puppetboard shows those of logs, PuppetDB keeps those of events."""
    return f"{DRIFT}: {result.note}; " if result.origin == "drift" else ""


def _log(
    level: str, message: str, source: str, file: str | None, line: int | None, moment: str
) -> dict[str, Any]:
    return {
        "file": file,
        "line": line,
        "level": level,
        "message": _cut(message),
        "source": source,
        "tags": [level],
        "time": moment,
    }


def _metrics(
    run: Report, facts: RunFacts, events: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    outcomes = Counter(result.outcome(run.dry) for result in run.results)
    statuses = Counter(event["status"] for event in events)
    out_of_sync = sum(bool(item.changes) or item.result is None for item in run.results)
    reactions = Counter(bool(it.result) for it in run.results if it.origin == "reaction")
    resources = {
        "total": len(run.results) + len(run.left),
        "changed": outcomes["changed"],
        "failed": outcomes["failed"],
        "skipped": outcomes["skipped"] + len(run.left),
        "out_of_sync": out_of_sync,
        "corrective_change": sum(item.origin == "drift" for item in run.results),
        "restarted": reactions[True],
        "failed_to_restart": reactions[False],
        "scheduled": 0,
    }
    times: Counter[str] = Counter()
    for result in run.results:
        times[result.chunk.function] += round(result.duration)  # milliseconds
    seconds = {name: number / 1000 for name, number in times.items()}
    by_category: Mapping[str, Mapping[str, float]] = {
        "resources": resources,
        "changes": {"total": statuses["success"]},
        "events": {
            "total": len(events),
            **{status: statuses[status] for status in ("success", "failure", "noop")},
        },
        "time": {**seconds, "total": round(facts.finished - facts.started, 3)},
    }
    for category, numbers in by_category.items():
        for name, value in numbers.items():
            yield {"category": category, "name": name, "value": float(value)}


def _place(chunk: Chunk) -> _PuppetPlace:
    source = chunk.place.source
    title = chunk.id if chunk.id == chunk.name else f"{chunk.id} ({chunk.name})"
    return _PuppetPlace(source.file or None, source.line or None, chunk.function, title)


def _changes(changes: Mapping[str, Any]) -> Iterator[tuple[str | None, Any, Any]]:
    """The properties that changed, each with its old and its new value."""
    if {*changes} <= {"old", "new"}:
        if changes:
            yield None, changes.get("old"), changes.get("new")
        return
    if returned := _of_command(changes):
        yield returned
        return
    for name, value in changes.items():
        if isinstance(value, Mapping) and value and {*value} <= {"old", "new"}:
            yield str(name), value.get("old"), value.get("new")
        else:
            yield str(name), None, value


def _of_command(changes: Mapping[str, Any]) -> tuple[str, None, Any] | None:
    """The one property of a command that ran, as Puppet's exec has it; None of other changes."""
    return ("returns", None, changes["retcode"]) if "retcode" in changes else None


def _value(value: Any) -> str | None:
    """A value as a text, which is what PuppetDB's documentation asks for."""
    if value is None or value == "":
        return None
    return _cut(value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _moment(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def _uuid(facts: RunFacts) -> str:
    """The same for the same run: a report that is sent twice is one."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"runner:{facts.machine}/{facts.run}"))


def _storable(value: Any) -> Any:
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value
