# SPDX-License-Identifier: Apache-2.0
"""Commands that a run calls at its end: `on_success`, `on_failure`, `on_change`, `always`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from command import ROOT, Machine
from needing import needs
from starting import PATIENCE, a_while

from runner.sources.config.keys import NOTIFYING

STATES = """
a:
  file.managed:
    - name: {tmp}/made
    - contents: {{ pillar.get('text', 'one') }}
{% if pillar.get('fails') %}
b:
  test.fail_without_changes: []
{% endif %}
"""


@pytest.fixture
def site(machine: Machine) -> Machine:
    machine.write(a=STATES.replace("{tmp}", str(machine.folder)), broken="a:\n  b")
    for name in NOTIFYING:
        script = machine.folder / name
        lines = [
            "#!/bin/sh",
            f'echo "$RUNNER_OUTCOME $RUNNER_CHANGED $RUNNER_WOULD_CHANGE $1" >{script}.env',
            f"cat >{script}.json",
        ]
        script.write_text("\n".join(lines) + "\n")
        machine.config[name] = [[str(script), "a b; $c"]]
        script.chmod(0o755)
    return machine


def called(site: Machine) -> list[str]:
    """The commands that were called since the last question."""
    paths = [site.folder / f"{name}.json" for name in NOTIFYING]
    names = [path.stem for path in paths if path.exists()]
    for path in paths:
        path.unlink(missing_ok=True)
    return names


@needs("jq")
def test_the_mail_of_the_page_says_why_a_command_failed(site: Machine) -> None:
    (program,) = re.findall(r"jq -r '(\.errors.*?)'\)", (ROOT / "docs/monitoring.md").read_text())
    command = "command:\n  cmd.run:\n    - name: echo no disk >&2; exit 3\n"
    site.write(bad=command + "other: test.fail_without_changes\n")
    site("sls", "bad", code=2)
    document = (site.folder / "on_failure.json").read_bytes()
    mail = subprocess.run(["jq", "-r", program], input=document, capture_output=True, check=True)
    first, *more = mail.stdout.decode().splitlines()
    assert first.startswith("echo no disk") and more == ["no disk", "other: Failure!"]


def test_who_is_called_when(site: Machine) -> None:
    site("sls", "a", "--test")
    assert called(site) == []
    site("sls", "a")
    document = json.loads((site.folder / "on_change.json").read_text())
    assert (document["outcome"], document["counts"]["changed"]) == ("done", 1)
    (state,) = document["states"].values()
    assert state["name"] == f"{site.folder}/made"
    assert (site.folder / "on_change.env").read_text() == "done 1 0 a b; $c\n"
    assert called(site) == ["on_success", "on_change", "always"]
    site("sls", "a")
    assert called(site) == ["on_success", "always"]
    site("sls", "a", "--pillar", "{fails: true}", code=2)
    assert called(site) == ["on_failure", "always"]
    site("sls", "a", "--pillar", "{fails: true, text: two}", code=2)
    assert called(site) == ["on_failure", "on_change", "always"]
    site("sls", "broken", code=1)
    document = json.loads((site.folder / "on_failure.json").read_text())
    assert document["outcome"] == "did not compile" and "broken.sls" in document["errors"][0]
    assert called(site) == ["on_failure", "always"]


def test_a_command_that_fails_fails_no_run(machine: Machine, tmp_path: Path) -> None:
    machine.write(a=STATES.replace("{tmp}", str(machine.folder)))
    commands = [["/no/such"], ["sh", "-c", "echo why >&2; exit 3"], ["true"]]
    machine.config["on_change"] = commands
    told = machine("sls", "a").stderr
    assert "warning: on_change: /no/such: No such file or directory" in told
    assert "warning: on_change: sh: it ended with 3: why" in told


def test_a_text_is_read_by_a_shell(machine: Machine) -> None:
    machine.write(a="a:\n  test.fail_without_changes: []")
    seen = machine.folder / "seen"
    facts = "$RUNNER_ID $RUNNER_OUTCOME $RUNNER_EXIT_CODE $RUNNER_FAILED"
    machine.config["always"] = f'(echo "{facts}"; grep -c "$RUNNER_RUN") >{seen}\nexit 4'
    told = machine("sls", "a", code=2).stderr
    assert seen.read_text() == "m1 failed 2 1\n1\n"
    assert "warning: always: sh: it ended with 4" in told


def test_what_a_command_leaves_in_the_background_holds_nobody(
    machine: Machine, tmp_path: Path
) -> None:
    machine.write(a="a:\n  test.nop: []\n")
    machine.config["always"] = f"sleep {a_while()} & echo $! >{tmp_path}/pid"
    done = machine("sls", "a")
    number = int((tmp_path / "pid").read_text())
    os.kill(number, signal.SIGKILL)  # it is there: nobody waited for it, nor ended it
    assert "warning" not in done.stderr


def test_one_that_was_ended_is_told_and_one_that_a_person_ended_is_not(site: Machine) -> None:
    slow = f"touch {site.folder}/runs; sleep 600"
    site.write(slow=f"{slow}:\n  cmd.run: []")
    for number in (signal.SIGINT, signal.SIGTERM):
        started = site.folder / "runs"
        started.unlink(missing_ok=True)
        with site.start("sls", "slow", ready=started, stderr=subprocess.DEVNULL) as run:
            run.send_signal(number)
            assert run.wait(PATIENCE) == 128 + number
        assert called(site) == ([] if number == signal.SIGINT else ["on_failure", "always"])


@pytest.mark.parametrize(
    "value", [" ", ["mail", "root"], [[]], [["sleep", 1]], {"a": 1}, ["mail x"]]
)
def test_values_that_are_no_commands(machine: Machine, value: object) -> None:
    machine.config["on_failure"] = value
    told = machine("show", "grains", code=1).stderr
    assert "on_failure" in told and "runner.yaml:1" in told
    assert "mail, -s" in told or "a list" in told
