# SPDX-License-Identifier: Apache-2.0
"""Scheduled runs that a person disables for a while: what starts, what does not, who says so."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere

from modules.schedule import command
from runner.api import running

FILE = "{tmp}/f:\n  file.managed:\n    - contents: new\n"


@pytest.fixture
def scheduled(machine: Machine) -> Machine:
    """A machine that Prometheus watches, before its first run."""
    machine.config["prometheus_textfile"] = str(machine.folder / "r.prom")
    machine.write(top="base: {'*': [a]}", a=FILE)
    return machine


def answer(machine: Machine, *words: str) -> dict[str, Any]:
    answered: dict[str, Any] = machine.document(*words)
    return answered


def metric(machine: Machine) -> str:
    lines = (machine.folder / "r.prom").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("runner_disabled "))


@pytest.mark.parametrize("words", [("sls", "a"), ("call", "file.touch", "{tmp}/f")])
def test_jobs_of_states_are_stopped_too(scheduled: Machine, words: tuple[str, ...]) -> None:
    scheduled("disable", "moving the database")
    given = [word.format(tmp=scheduled.folder) for word in words]
    assert "moving the database" in scheduled(given[0], "--scheduled", *given[1:]).stderr
    assert not (scheduled.folder / "f").exists()
    scheduled(*given)
    assert (scheduled.folder / "f").exists()


def test_jobs_of_states_say_that_they_are_scheduled() -> None:
    with running(HarnessHere()):
        for function in ("state.highstate", "state.apply", "test.ping"):
            assert "--scheduled" in command(function, ["a"][: function == "state.apply"], {})


def test_disabled_runs(scheduled: Machine) -> None:
    said = scheduled("disable", "moving", "the database", "--for", "8h").stdout
    assert "moving the database" in said and metric(scheduled) == "1"
    stopped = answer(scheduled, "schedule", "status")["local"]["disabled"]
    assert stopped["why"] == "moving the database"
    every_word = (stopped["why"], stopped["by"], stopped["until"])

    refused = scheduled("highstate", "--scheduled")
    assert all(word in refused.stderr for word in every_word) and not refused.stdout
    assert answer(scheduled, "highstate", "--scheduled") == {"local": {}, "disabled": stopped}
    silent = scheduled("highstate", "--scheduled", "-q")
    assert silent.stdout + silent.stderr == "", "cron mails what is said"
    assert not (scheduled.folder / "f").exists() and answer(scheduled, "history")["local"] == []

    by_hand = scheduled("highstate", "-q")
    assert all(word in by_hand.stderr for word in every_word)
    assert (scheduled.folder / "f").exists() and metric(scheduled) == "1"
    for shown in (scheduled("history").stdout, scheduled("schedule", "status").stdout):
        assert all(word in shown for word in every_word)
    assert answer(scheduled, "history")["disabled"] == stopped

    second = scheduled("disable", "still moving").stdout
    assert "Now: scheduled runs are disabled until `runner enable`: still moving" in second
    assert f"Before: scheduled runs are disabled until {stopped['until']}" in second
    ended = answer(scheduled, "enable")["local"]["ended"]
    assert (ended["why"], ended["until"], metric(scheduled)) == ("still moving", None, "0")
    assert "not disabled" in scheduled("enable").stdout
    assert "unchanged" in scheduled("highstate", "--scheduled").stdout
    assert "disabled" not in answer(scheduled, "history")


def test_a_time_that_is_over_counts_as_enabled(scheduled: Machine) -> None:
    scheduled("disable", "a while", "--for", "2d")
    path = scheduled.folder / "cache/state/disabled.json"
    kept = json.loads(path.read_text())
    assert kept["until"] > kept["since"]
    path.write_text(json.dumps(kept | {"until": "2020-01-01T00:00:00+00:00"}))
    done = scheduled("highstate", "--scheduled")
    assert (scheduled.folder / "f").exists() and "disabled" not in done.stdout + done.stderr
    for words in (("history",), ("schedule", "status"), ("enable",)):
        assert "a while" not in scheduled(*words).stdout, words
    assert metric(scheduled) == "0"


@pytest.mark.parametrize("time", ["0", "0m", "-1h", "soon", "1.5h", "999999999d", "9" * 5000])
def test_no_times(machine: Machine, time: str) -> None:
    done = machine("disable", "x", f"--for={time}", code=1)
    assert "error: " in done.stderr and "hint: " in done.stderr
    assert not (machine.folder / "cache/state/disabled.json").exists()


@pytest.mark.parametrize("damage", ["", "[]", '{"until": 5}', "\xff\0"])
def test_a_damaged_file_still_disables(scheduled: Machine, damage: str) -> None:
    scheduled("disable", "x")
    (scheduled.folder / "cache/state/disabled.json").write_text(damage, encoding="latin-1")
    assert "scheduled runs are disabled" in scheduled("highstate", "--scheduled").stderr
    assert not (scheduled.folder / "f").exists()
    scheduled("enable")
    assert not scheduled("highstate", "--scheduled").stderr


def test_hostile_words(scheduled: Machine) -> None:
    hostile = 'a\n{error}\x1b[31m"\u202e\\' + "x" * 100_000
    argv = scheduled.argv("disable", os.fsdecode(b"\xff"), hostile)
    environment = scheduled.environment | {"SUDO_USER": "ev\nil\x1b", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and len(done.stdout) < 1500, done.stderr
    shown = done.stdout + scheduled("history").stdout + scheduled("highstate").stderr
    shown += scheduled("schedule", "status").stdout
    assert not {"\x1b", "\u202e"} & {*shown} and "\n{error}" not in shown
    stopped = answer(scheduled, "history")["disabled"]
    assert stopped["why"].startswith("\ufffd a {error} [31m") and len(stopped["why"]) == 500
    assert not set("\n\x1b\u202e") & {*stopped["why"], *stopped["by"]}
    for nothing in ("", " \n\t"):
        assert "say why" in scheduled("disable", nothing, code=1).stderr


def test_a_write_that_is_killed_leaves_what_was_there(scheduled: Machine) -> None:
    scheduled("disable", "first")
    state = scheduled.folder / "cache/state"
    kill = "import os, signal; os.rename = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)"
    argv = scheduled.argv("disable", "second")
    argv[2] = f"{kill}\n{argv[2]}"
    assert subprocess.run(argv, env=scheduled.environment).returncode == -9
    assert len(list(state.glob("disabled.json.*"))) == 1
    assert answer(scheduled, "history")["disabled"]["why"] == "first"
    assert answer(scheduled, "enable")["local"]["ended"]["why"] == "first"
    assert list(state.glob("disabled*")) == []


def test_a_folder_that_cannot_be_written(machine: Machine) -> None:
    state = machine.folder / "cache/state"
    machine("disable", "x")
    machine.config["prometheus_textfile"] = str(machine.folder / "r.prom")
    state.chmod(0o777)
    assert "runner cannot keep its files safely" in machine("highstate", code=1).stderr
    assert 'outcome="did_not_start"} 1' in (machine.folder / "r.prom").read_text()
    machine.config["state_dir"] = "/proc/none"
    assert "/proc/none" in machine("disable", "x", code=1).stderr
    assert "not disabled" in machine("enable").stdout


def test_the_journal_gets_the_message_that_a_mail_does_not(scheduled: Machine) -> None:
    scheduled("disable", "x")
    argv = scheduled.argv("highstate", "--scheduled", "-q")
    with (scheduled.folder / "journal").open("w+") as journal:
        at = os.fstat(journal.fileno())
        environment = scheduled.environment | {"JOURNAL_STREAM": f"{at.st_dev}:{at.st_ino}"}
        assert subprocess.run(argv, stderr=journal, env=environment).returncode == 0
        assert "scheduled runs are disabled" in (scheduled.folder / "journal").read_text()


def with_tab(machine: Machine) -> str:
    argv = [*machine.argv("completion", "candidates", "--", "fish", "highstate", "-")[:-4]]
    return subprocess.run(argv, capture_output=True, text=True, env=machine.environment).stdout


def test_the_option_is_for_schedules_alone(machine: Machine) -> None:
    assert "--scheduled" not in machine("highstate", "--help").stdout
    assert "--splay" in (offered := with_tab(machine)) and "--scheduled" not in offered
    assert "scheduled" in machine("check", "a", "--scheduled", code=1).stderr
