# SPDX-License-Identifier: Apache-2.0
"""`--out puppetdb`: what PuppetDB's command `store report`, version 8, takes.

The schema is written after PuppetDB's documentation of its wire format; what it refuses beyond that
(a resource without `corrective_change`) is marked.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from command import Machine


def moment(value: Any) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value))


def one_of(*words: str) -> Any:
    return lambda value: value in words


TEXT, WHOLE, NUMBER, FLAG, NOTHING = (str,), (int,), (int, float), (bool,), (type(None),)
EVENT = {
    "status": one_of("success", "failure", "noop"),
    "timestamp": moment,
    "property": TEXT + NOTHING,
    "new_value": TEXT + NOTHING,
    "old_value": TEXT + NOTHING,
    "message": TEXT + NOTHING,
    "corrective_change": FLAG + NOTHING,
}
RESOURCE = {
    "timestamp": moment,
    "resource_type": TEXT,
    "resource_title": TEXT,
    "skipped": FLAG,
    "events": [EVENT],
    "file": TEXT + NOTHING,
    "line": WHOLE + NOTHING,
    "containment_path": [TEXT],
    "corrective_change": FLAG + NOTHING,  # not documented, but needed
}
LOG = {
    "file": TEXT + NOTHING,
    "line": WHOLE + NOTHING,
    "level": one_of("debug", "info", "notice", "warning", "err", "alert", "emerg", "crit"),
    "message": TEXT,
    "source": TEXT,
    "tags": [TEXT],
    "time": moment,
}
METRIC = {
    "category": one_of("resources", "time", "changes", "events"),
    "name": TEXT,
    "value": NUMBER,
}
REPORT = {
    "certname": TEXT,
    "environment": TEXT,
    "puppet_version": TEXT,
    "report_format": WHOLE,
    "configuration_version": TEXT,
    "start_time": moment,
    "end_time": moment,
    "producer_timestamp": moment,
    "producer": TEXT + NOTHING,
    "resources": [RESOURCE],
    "metrics": [METRIC],
    "logs": [LOG],
    "transaction_uuid": TEXT + NOTHING,
    "catalog_uuid": TEXT + NOTHING,
    "code_id": TEXT + NOTHING,
    "cached_catalog_status": one_of("not_used", "explicitly_requested", "on_failure"),
    "status": one_of("failed", "changed", "unchanged"),
    "noop": FLAG,
    "corrective_change": FLAG + NOTHING,
    "noop_pending": FLAG + NOTHING,
}


def check(value: Any, schema: Any, where: str = "report") -> None:
    """All keys are needed, and there are no others."""
    if isinstance(schema, dict):
        assert value.keys() == schema.keys(), where
        for key, kind in schema.items():
            check(value[key], kind, f"{where}.{key}")
    elif isinstance(schema, list):
        assert type(value) is list, where
        for item in value:
            check(item, schema[0], f"{where}[]")
    elif isinstance(schema, tuple):
        assert type(value) in schema, f"{where}: {value!r}"
    else:
        assert schema(value), f"{where}: {value!r}"


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def report(machine: Machine, *words: str, code: int = 0) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(machine(*words, "--out", "puppetdb", code=code).stdout)
    check(answer, REPORT)
    assert not re.search("[\0\ud800-\udfff]", "".join(texts(answer))), "PostgreSQL refuses it"
    return answer


def by_title(answer: dict[str, Any]) -> dict[str, Any]:
    return {item["resource_title"]: item for item in answer["resources"]}


def numbers(answer: dict[str, Any], category: str) -> dict[str, float]:
    return {
        item["name"]: item["value"] for item in answer["metrics"] if item["category"] == category
    }


FILE = "{tmp}/f:\n  file.managed:\n    - contents: new\n    - mode: '0600'\n"


def test_the_life_of_a_machine(machine: Machine) -> None:
    """Planned, changed, unchanged, drifted, not compiled."""
    machine.write(top="base: {'*': [a]}", a=FILE)
    path = machine.folder / "f"
    title = str(path)

    planned = report(machine, "highstate", "--test")
    assert (planned["noop"], planned["noop_pending"], planned["status"]) == (
        True,
        True,
        "unchanged",
    )
    assert {event["status"] for event in by_title(planned)[title]["events"]} == {"noop"}

    begin = datetime.now().astimezone()
    changed = report(machine, "highstate")
    assert (changed["noop"], changed["noop_pending"], changed["status"]) == (
        False,
        False,
        "changed",
    )
    resource = by_title(changed)[title]
    assert (resource["resource_type"], resource["line"]) == ("file.managed", 2)
    assert resource["file"].endswith("states/a.sls") and resource["containment_path"][0] == "a"
    assert all(event["message"] is None for event in resource["events"])
    assert (changed["certname"], changed["environment"]) == ("m1", "base")
    times = [changed["start_time"], resource["timestamp"], changed["end_time"]]
    assert times == sorted(times)
    assert abs((datetime.fromisoformat(times[0]) - begin).total_seconds()) < 30
    assert uuid.UUID(changed["transaction_uuid"]) != uuid.UUID(planned["transaction_uuid"])

    unchanged = report(machine, "highstate")
    assert unchanged["status"] == "unchanged" and unchanged["logs"] == []
    assert by_title(unchanged)[title]["events"] == []
    assert not unchanged["corrective_change"] and not changed["corrective_change"]

    path.chmod(0o644)
    for words, status in ((("--test",), "noop"), ((), "success")):
        drifted = report(machine, "highstate", *words)
        assert drifted["corrective_change"] and by_title(drifted)[title]["corrective_change"]
        (event,) = by_title(drifted)[title]["events"]
        assert (event["property"], event["new_value"], event["status"]) == ("mode", "0600", status)
        assert event["message"].startswith("drift: the tree is as in run ")
        (log,) = drifted["logs"]
        assert log["message"].startswith("drift: ") and log["tags"] == ["notice", "drift"]
        assert event["corrective_change"] and numbers(drifted, "resources")["out_of_sync"] == 1

    machine.write(a="x:\n  file.manged: []\n")
    broken = report(machine, "highstate", code=1)
    assert (broken["status"], broken["resources"]) == ("failed", [])
    assert "file.manged" in broken["logs"][0]["message"] and broken["logs"][0]["line"] == 2


def test_failures_skips_and_noop(machine: Machine) -> None:
    machine.write(
        a=FILE + "bad:\n  test.fail_with_changes: [name: other]\n"
        "never:\n  test.nop: [require: [test: bad]]\n"
        "calm:\n  test.nop: []\n"
        "planned:\n  file.managed: [name: {tmp}/p, noop: true]\n"
        "warned:\n  test.show_notification: [text: hi, nosuch: 1]\n"
    )
    answer = report(machine, "sls", "a", code=2)
    resources = by_title(answer)
    assert answer["status"] == "failed" and answer["noop_pending"]
    failure, *_ = resources["bad (other)"]["events"]
    assert (failure["status"], failure["message"]) == ("failure", "Failure!")
    assert resources["never"]["skipped"] and resources["never"]["events"] == []
    assert not resources["calm"]["skipped"] and resources["calm"]["events"] == []
    (pending,) = resources[f"planned ({machine.folder}/p)"]["events"]
    assert pending["status"] == "noop"
    counted = numbers(answer, "resources")
    assert (counted["total"], counted["failed"], counted["skipped"]) == (6, 1, 1)
    events = numbers(answer, "events")
    assert events["total"] == events["success"] + events["failure"] + events["noop"]
    levels = {(log["level"], log["source"]) for log in answer["logs"]}
    assert ("err", "test.fail_with_changes[bad (other)]") in levels
    assert ("warning", "test.nop[never]") in levels


def test_a_command_is_one_event_and_no_reason_is_no_skip(machine: Machine) -> None:
    tree = "good:\n  cmd.run: [name: echo hi]\nbad:\n  cmd.run: [name: exit 3]\n"
    tree += "calm:\n  test.nop: []\nnot due:\n  cmd.run: [name: 'true', onchanges: [test: calm]]\n"
    machine.write(a=tree)
    answer = report(machine, "sls", "a", code=2)
    resources = by_title(answer)
    seen = {
        title: [(event["status"], event["property"], event["new_value"]) for event in one["events"]]
        for title, one in resources.items()
    }
    assert seen["good (echo hi)"] == [("success", "returns", "0")]
    assert seen["bad (exit 3)"] == [("failure", "returns", "3")]
    assert seen["not due (true)"] == [] and not resources["not due (true)"]["skipped"]


def test_an_interrupted_run_names_what_it_did_not_come_to(machine: Machine) -> None:
    machine.write(
        a="stop:\n  cmd.run: [name: 'kill -TERM $PPID; sleep 5']\nlater:\n  test.nop: []\n"
    )
    answer = report(machine, "sls", "a", code=143)
    assert answer["status"] == "failed" and by_title(answer)["later"]["skipped"]
    assert any("SIGTERM" in log["message"] or "143" in log["message"] for log in answer["logs"])
    suite = machine("sls", "a", "--out", "junit", code=143).stdout
    assert '<testsuite name="runner" tests="2"' in suite
    assert '<skipped message="Not run: interrupted by SIGTERM' in suite
    summary = machine.document("sls", "a", code=143)["summary"]
    assert [each["state"] for each in summary["not_run"]] == ["test_|-later_|-later_|-nop"]


def test_a_reaction_that_failed_restarted_nothing(machine: Machine) -> None:
    machine.write(
        a="made:\n  test.succeed_with_changes: []\n"
        "good:\n  cmd.wait: [name: 'true', watch: [test: made]]\n"
        "bad:\n  cmd.wait: [name: exit 5, watch: [test: made]]\n"
    )
    counts = numbers(report(machine, "sls", "a", code=2), "resources")
    assert (counts["restarted"], counts["failed_to_restart"]) == (1, 1)


def test_odd_texts_and_secrets(machine: Machine) -> None:
    machine.config["secret_keys"] = ["password"]
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/odd.py").write_text(
        "def told(name, text):\n"
        "    changes = {'x': {'old': 1, 'new': [2, '\\udcff\\0']}, 2: '\\0y' * 10**6}\n"
        "    changes['told'] = text\n    comment = text + '\\udcff\\0'\n"
        "    return {'name': name, 'changes': changes, 'result': True, 'comment': comment}\n"
    )
    machine.write(a="x:\n  odd.told: [text: '{{ pillar.password }}']\n")
    answer = report(machine, "sls", "a", "--pillar", '{"password": "hunter2hunter2"}')
    assert "hunter" not in json.dumps(answer) and len(json.dumps(answer)) < 100_000
    events = {event["property"]: event for event in by_title(answer)["x"]["events"]}
    assert events["x"]["old_value"] == "1" and events["x"]["new_value"].startswith("[2, ")
    assert events["2"]["new_value"].endswith(" ...") and "***" in events["told"]["new_value"]


@pytest.mark.parametrize("words", [("plan", "show", "f"), ("rehearse", "highstate"), ("check",)])
def test_only_runs_of_this_machine_have_it(machine: Machine, words: tuple[str, ...]) -> None:
    done = machine(*words, "--out", "puppetdb", code=1)
    assert "no such form" in done.stderr and not done.stdout


def test_a_run_that_is_kept_from_starting_is_no_report(machine: Machine) -> None:
    import fcntl

    machine.write(a="x:\n  test.nop: []\n")
    machine("sls", "a")
    with (machine.folder / "cache/state/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert machine("sls", "a", "--out", "puppetdb", code=3).stdout == ""
    machine("disable", "x")
    machine.write(top="base: {'*': [a]}")
    assert machine("highstate", "--scheduled", "--out", "puppetdb").stdout == ""
