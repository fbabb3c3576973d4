# SPDX-License-Identifier: Apache-2.0
"""PuppetDB 7 and Puppetboard 7 take reports of runs, and show them as docs/monitoring.md says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from debian import Debian

LAYER = "puppet"
TREE = """
/etc/managed: {file.managed: [contents: hello]}
command: {cmd.run: [name: 'true', unless: test -e /etc/command]}
reaction: {test.nop: [onchanges: [file: /etc/managed]]}
"""
DATABASE = """[database]
subname = //localhost:5432/puppetdb
username = puppetdb
password = secret
"""
BOARD = """PUPPETDB_HOST = "127.0.0.1"
PUPPETDB_PORT = 8080
DEFAULT_ENVIRONMENT = "*"
ENABLE_FACTS = False
SECRET_KEY = "0123456789abcdef0123456789abcdef"
"""
QUERY = "http://localhost:8080/pdb/query/v4"
STORE = "http://localhost:8080/pdb/cmd/v1?command=store_report&version=8&certname=machine"


@pytest.fixture
def puppet(debian: Debian) -> Debian:
    """A machine with PuppetDB at port 8080 and Puppetboard at 5000."""
    debian.write("/etc/puppetdb/conf.d/database.ini", DATABASE)
    debian.write("/root/board.py", BOARD)
    debian.run("systemctl start postgresql && systemctl start puppetdb")
    debian.start(
        "PUPPETBOARD_SETTINGS=/root/board.py exec /opt/puppetboard/bin/flask"
        " --app puppetboard.app run -p 5000",
        ready="curl -sf http://localhost:5000/nodes",
    )
    return debian


def ask(puppet: Debian, what: str) -> list[dict[str, Any]]:
    answer = json.loads(puppet.read("curl", "-sfG", f"{QUERY}/{what}"))
    assert isinstance(answer, list)
    return answer


def reported(puppet: Debian, *words: str, code: int = 0) -> tuple[dict[str, Any], Any, str]:
    """Of a run: the report as PuppetDB has it, its events by resource, and Puppetboard's page,
    whose script has logs and events.
    """
    said = puppet.runner(*words, "--out", "puppetdb", code=code).stdout
    puppet.write("/root/report.json", said)
    uuid = json.loads(said)["transaction_uuid"]
    puppet.run(f"curl -sf -H 'Content-Type: application/json' -d @/root/report.json '{STORE}'")
    puppet.until(f"curl -s {QUERY}/reports | grep -q {uuid}")
    (report,) = [each for each in ask(puppet, "reports") if each["transaction_uuid"] == uuid]
    events = {
        each["resource_title"]: each
        for each in ask(puppet, "events")
        if each["report"] == report["hash"]
    }
    page = f"http://localhost:5000/report/machine/{report['hash']}/raw"
    return report, events, puppet.read("curl", "-sf", page)


def test_each_kind_of_run_is_taken_and_shown(puppet: Debian) -> None:
    puppet.tree(a=TREE, bad="b: {test.fail_without_changes: []}\n", broken="b: {test.nope: []}\n")
    report, events, page = reported(puppet, "sls", "a", "--test")
    assert (report["status"], report["noop"]) == ("unchanged", True)
    assert events["/etc/managed"]["status"] == "noop" and "/etc/managed" in page
    report, events, page = reported(puppet, "sls", "a")
    assert (report["status"], report["noop"]) == ("changed", False)
    assert {title: each["status"] for title, each in events.items()} == {
        "/etc/managed": "success",
        "command (true)": "success",
    }
    assert events["command (true)"]["property"] == "returns"
    puppet.write("/etc/command", "")
    report, events, _ = reported(puppet, "sls", "a")
    assert (report["status"], events) == ("unchanged", {})
    puppet.write("/etc/managed", "somebody else's\n")
    report, events, page = reported(puppet, "sls", "a")
    assert report["status"] == "changed" and "drift: " in page
    assert events["/etc/managed"]["message"].startswith("drift: ")
    report, events, page = reported(puppet, "sls", "bad", code=2)
    assert report["status"] == "failed" and events["b"]["status"] == "failure"
    assert "Failure!" in page
    report, events, page = reported(puppet, "sls", "broken", code=1)
    assert (report["status"], events) == ("failed", {}) and "test.nope" in page
    (node,) = ask(puppet, "nodes")
    assert (node["certname"], node["latest_report_status"]) == ("machine", "failed")
