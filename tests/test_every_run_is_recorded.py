# SPDX-License-Identifier: Apache-2.0
"""What monitoring sees of runs: those too that did not compile, were locked out, crashed, or lost
their readers.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import subprocess
from typing import Any
from xml.etree import ElementTree

import pytest
from command import Machine
from starting import PATIENCE

FILE = "{tmp}/f:\n  file.managed:\n    - contents: new\n"
TOP = "base: {'*': [a]}"


def metrics(machine: Machine) -> dict[str, str]:
    lines = (machine.folder / "r.prom").read_text().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


@pytest.fixture
def watched(machine: Machine) -> Machine:
    """A machine that had one good highstate and is watched by Prometheus."""
    machine.config["prometheus_textfile"] = str(machine.folder / "r.prom")
    machine.write(top=TOP, a=FILE)
    machine("highstate")
    return machine


def with_code(machine: Machine, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A run of a runner in which something is broken."""
    argv = machine.argv(*words)
    program = f"{code}\nfrom runner.cli import main; main()"
    # its report of a bug lies in the test's own folder
    environment = machine.environment | {"TMPDIR": str(machine.folder)}
    return subprocess.run(
        [argv[0], "-c", program, *argv[3:]], capture_output=True, text=True, env=environment
    )


def not_compiled(machine: Machine, *words: str) -> subprocess.CompletedProcess[str]:
    machine.write(a="x:\n  file.manged: []\n")
    return machine("highstate", *words, code=1)


def locked(machine: Machine, *words: str) -> subprocess.CompletedProcess[str]:
    with (machine.folder / "cache/state/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return machine("highstate", *words, code=3)


def crashed(machine: Machine, *words: str) -> subprocess.CompletedProcess[str]:
    crash = "Executor._state; Executor._state = lambda *_: 1 / 0"
    broken = f"from runner.engine.executor import Executor; {crash}"
    return with_code(machine, broken, "highstate", *words)


def crashed_early(machine: Machine, *words: str) -> subprocess.CompletedProcess[str]:
    return with_code(
        machine,
        "from runner.pipeline import compile; compile.compile_chunks = lambda *_, **__: 1 / 0",
        "highstate",
        *words,
    )


WAYS = {
    not_compiled: ("did not compile", "file.manged"),
    locked: ("locked", "another run is under way"),
    crashed: ("crashed", "ZeroDivisionError"),
    crashed_early: ("crashed", "ZeroDivisionError"),
}


@pytest.mark.parametrize("run", WAYS)
def test_a_run_that_ran_no_state(watched: Machine, run: Any) -> None:
    outcome, error = WAYS[run]
    before = metrics(watched)
    done = run(watched, "-q", "--events", str(watched.folder / "events"))
    assert error in done.stderr, "cron mails it"
    found = metrics(watched)
    assert found["runner_last_run_success"] == "0"
    assert found[f'runner_last_run_outcome{{outcome="{outcome.replace(" ", "_")}"}}'] == "1"
    assert float(found["runner_last_run_timestamp_seconds"]) > float(
        before["runner_last_run_timestamp_seconds"]
    )
    kept = "runner_last_success_timestamp_seconds"
    assert found[kept] == before[kept]
    events = [json.loads(line) for line in (watched.folder / "events").read_text().splitlines()]
    assert [event["event"] for event in events] == ["run_started", "run_finished"]
    assert (events[1]["outcome"], events[1]["failed"]) == (outcome, True) and error in events[1][
        "errors"
    ][0]
    last = watched.answer("history", "show", "last")
    assert (last["outcome"], last["command"][:16]) == (
        outcome,
        "runner highstate",
    ) and error in last["errors"][0]
    assert error in watched("history", "show", "last").stdout
    status = watched("schedule", "status").stdout
    assert f": {outcome}" in status and error in status
    assert watched.answer("schedule", "status")["last"]["outcome"] == outcome


@pytest.mark.parametrize(
    "broken", ["events", "wrong value", "no YAML", "no UTF-8", "wrong value in a dry run"]
)
def test_a_run_that_does_not_start_is_in_the_metrics(watched: Machine, broken: str) -> None:
    before = metrics(watched)
    words = ["highstate"]
    if broken == "events":
        words += ["--events", f"{watched.folder}/nowhere/events"]
    argv = watched.argv(*words, *(["--test"] if "dry" in broken else []))
    with (watched.folder / "runner.yaml").open("wb") as configuration:
        for key, value in watched.config.items():
            configuration.write(f"{key}: {json.dumps(value)}\n".encode())
        for name, line in (("value", b"timeout: soon\n"), ("YAML", b" : [\n"), ("UTF", b"# \xff")):
            configuration.write(line if name in broken else b"")
    done = subprocess.run(argv, capture_output=True, text=True, env=watched.environment)
    assert (done.returncode, done.stdout) == (1, "")
    found = metrics(watched)
    if "dry" in broken:
        assert found == before
        return
    assert found["runner_last_run_success"] == "0"
    assert found['runner_last_run_outcome{outcome="did_not_start"}'] == "1"
    kept = "runner_last_success_timestamp_seconds"
    assert found[kept] == before[kept]


@pytest.mark.parametrize("run", WAYS)
def test_the_answer_of_a_run_that_ran_no_state(watched: Machine, run: Any) -> None:
    suite = ElementTree.fromstring(run(watched, "--out", "junit").stdout)
    assert suite.attrib["errors"] == "1" and WAYS[run][1] in (suite[0][0].text or "")
    assert WAYS[run][1] in json.loads(run(watched, "--out", "json").stdout)["local"][0]


def test_an_error_in_the_history_shows_no_secret(watched: Machine) -> None:
    locked(watched, "--pillar", '{"password": "hunter3hunter3"}')
    watched.write(
        a="x:\n  file.managed: [name: {tmp}/x, contents: '{{ pillar.password }}', mode: rw]\n"
    )
    watched("highstate", "--pillar", '{"password": "hunter2hunter2"}', code=1)
    whole = b"".join(
        path.read_bytes() for path in (watched.folder / "cache/state").glob("history.sqlite*")
    )
    assert b"hunter" not in whole
    assert b"mode" in whole


def test_failed_compiles_push_no_runs_out_of_the_history(watched: Machine) -> None:
    watched.config["history_runs"] = 2
    for _ in range(4):
        not_compiled(watched)
    assert [(run["id"], run["outcome"]) for run in watched.answer("history")] == [
        (5, "did not compile"),
        (4, "did not compile"),
        (1, "done"),
    ]
    assert watched("undo").stdout.endswith("Restored 1 path.\n")


@pytest.mark.parametrize("years", [-50, 10])
def test_a_clock_that_was_wrong_costs_no_history(machine: Machine, years: int) -> None:
    machine.write(a=FILE)
    for _ in range(3):
        machine("sls", "a")
    with sqlite3.connect(machine.folder / "cache/state/history.sqlite") as history:
        history.execute("UPDATE runs SET started = started - ?", (years * 365 * 86400,))
    machine("sls", "a")
    assert [run["id"] for run in machine.answer("history")] == [4, 3, 2, 1]
    machine.config["history_runs"] = 2
    machine("sls", "a")
    assert [run["id"] for run in machine.answer("history")] == [5, 4]


def test_a_killed_run_is_known_as_such_from_the_next_one_on(machine: Machine) -> None:
    machine.write(a="x: {cmd.run: [name: 'kill -9 $PPID']}\n", b="x: {test.nop: []}")
    machine("sls", "a", code=-9)
    assert [run["outcome"] for run in machine.answer("history")] == ["killed or still running"]
    machine("sls", "b")
    assert [run["outcome"] for run in machine.answer("history")] == ["done", "killed"]


def test_a_reader_that_goes_ends_no_run(machine: Machine) -> None:
    lines = [f"echo {number} >> {{tmp}}/out:\n  cmd.run: []\n" for number in range(20)]
    machine.write(a="".join(lines))
    for more in ([], ["--events", "-", "-q"]):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with machine.start("sls", "a", *more, **pipes) as run:
            assert run.stdout and run.stderr
            run.stdout.readline()
            run.stdout.close()
            assert (run.wait(PATIENCE), run.stderr.read()) == (141, "")
        assert machine.answer("history")[0]["outcome"] == "done"
    assert len((machine.folder / "out").read_text().split()) == 40


ODD = """
class Rude:
    def __str__(self): raise ValueError("no")
    __repr__ = __str__
class Rare(Exception):
    def __str__(self): raise ValueError("no")
def _ok(name, **more):
    return {"name": name, "changes": {"x": "y"}, "result": True, "comment": "ok", **more}
def keys(name): return _ok(name, changes={b"b": 1, ("t", 1): {2: {3}}, None: (1, b"x"), True: 5.5})
def rude(name):
    changes = {"x": Rude(), Rude(): 1}
    return _ok(name, changes=changes, comment=Rude(), warnings=[Rude()], extra={1: Rude()})
def number(name):
    return _ok(name, changes={"x": [float("nan"), float("inf"), -float("inf"), 10 ** 5000]})
def raises(name): raise Rare
def cyclic(name):
    held = []
    held.append(held)
    return _ok(name, more=held)
class Closed(dict):
    def items(self): raise ValueError("no")
    keys = values = __iter__ = items
def closed(name): return _ok(name, changes=Closed(x="y"))
"""


def strict(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("out", ["json", "yaml", "pretty", "junit"])
def test_odd_answers_end_no_run(machine: Machine, out: str) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/odd.py").write_text(ODD)
    names = ("keys", "rude", "number", "raises", "cyclic", "closed")
    machine.write(a="".join(f"{name}: {{odd.{name}: []}}\n" for name in names) + FILE)
    done = machine("sls", "a", "--out", out, "--events", str(machine.folder / "events"), code=2)
    assert (machine.folder / "f").exists() and "warning" not in done.stderr
    for line in (machine.folder / "events").read_text().splitlines():
        strict(line)
    run = strict(machine("history", "show", "last", "--out", "json").stdout)["local"]
    assert [each["outcome"] for each in run["results"]] == [
        *["changed"] * 3,
        "failed",
        *["changed"] * 3,
    ]
    if out == "json":
        found = {each["__id__"]: each for each in strict(done.stdout)["local"].values()}
        assert found["keys"]["changes"] == {
            "b": 1,
            "('t', 1)": {"2": [3]},
            "null": [1, "x"],
            "true": 5.5,
        }
        assert found["rude"]["comment"] == "<Rude that cannot be shown>"
        assert found["number"]["changes"]["x"][:3] == ["NaN", "Infinity", "-Infinity"]
        assert "Rare: <Rare that cannot be shown>" in found["raises"]["comment"]


def test_odd_values_of_functions(machine: Machine) -> None:
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/odd.py").write_text(
        "class Rude:\n    def __str__(self): raise ValueError('no')\n"
        "def f(): return {b'k': float('nan'), 1: Rude(), 'n': 10 ** 5000}\n"
    )
    found = strict(machine("call", "odd.f", "--out", "json").stdout)["local"]
    assert (found["k"], found["1"]) == ("NaN", "<Rude that cannot be shown>")


@pytest.mark.parametrize(
    "listener", ["runner.history.recorder.History", "runner.output.pretty.Pretty"]
)
def test_a_listener_that_fails_is_dropped_and_reported(machine: Machine, listener: str) -> None:
    module, _, name = listener.rpartition(".")
    method = "_result" if name == "History" else "_finished"
    machine.write(a=FILE + "{tmp}/g:\n  file.managed:\n    - contents: g\n")
    done = with_code(
        machine,
        f"from {module} import {name}; {name}.{method} = lambda *_: {{}}['lost']",
        "sls",
        "a",
    )
    assert done.returncode == 0 and (machine.folder / "g").exists()
    assert done.stderr.count("KeyError: 'lost'") == 1 and "Traceback" not in done.stderr
    outcome = machine.answer("history")[0]["outcome"]
    assert outcome == ("not kept to its end" if name == "History" else "done")


def test_the_words_of_the_history_are_those_of_the_report(machine: Machine) -> None:
    machine.write(
        a=FILE
        + "bad:\n  test.fail_without_changes: []\nnever:\n  test.nop: [require: [test: bad]]\n"
        "still:\n  test.nop: [onchanges: [test: calm]]\ncalm:\n  test.nop: []\n"
        "planned:\n  file.managed: [name: {tmp}/p, noop: true]\n"
    )
    report = machine("sls", "a", "-v", code=2).stdout
    said = {
        line.split()[2]: line.split()[0]
        for line in report.splitlines()
        if "  " in line and "." in line[14:30]
    }
    shown = machine.answer("history", "show", "last")
    for each in shown["results"]:
        assert said[each["id"]] == each["outcome"], each["id"]
    counts = "6 states: 1 failed, 1 changed, 1 no-op, 1 skipped, 2 unchanged"
    assert counts in report
    assert counts in machine("history").stdout
    assert "  2 unchanged" in machine("history", "show", "last").stdout


def test_a_difference_of_runs_reads_like_a_diff(machine: Machine) -> None:
    machine.write(a=FILE + "old:\n  test.nop: []\n")
    machine("sls", "a")
    machine.write(a=FILE + "new:\n  test.nop: []\n")
    machine("sls", "a")
    lines = machine("history", "diff", "1", "2").stdout.splitlines()
    assert lines[0].startswith("--- run 1  ") and lines[1].startswith("+++ run 2  ")
    assert lines[2:6] == [
        "  the tree was changed in between",
        "- test.nop  old",
        "+ test.nop  new",
        f"  file.managed  {machine.folder}/f",
    ]
    assert {"-     changed", "+     unchanged", "-     diff: New file"} <= set(lines[6:])
    assert not any("{" in line for line in lines)
    machine("sls", "a")
    assert "both did the same" in machine("history", "diff", "2", "3").stdout


def test_a_reaction_at_the_end_counts_and_is_named_as_in_the_report(machine: Machine) -> None:
    command = "echo:\n  cmd.run: [name: 'true', listen: [file: {tmp}/f]]\n"
    for contents in ("one", "two"):
        machine.write(a=FILE + command, b="x: {test.nop: []}\n")
        (machine.folder / "f").write_text(contents)
        report = machine("sls", "a").stdout
    assert "3 states: 3 changed" in report and "3 states: 3 changed" in machine("history").stdout
    compared = machine("history", "diff", "1", "2").stdout
    assert "pid" not in compared and "mod_watch" not in compared
    machine("sls", "b")
    lines = machine("history", "diff", "2", "3").stdout.splitlines()
    at = lines.index("- cmd.run  echo (true), as a listener")
    assert lines[at + 1 : at + 3] == ["-     changed", "-     retcode: 0"]
    assert lines[-1] == "+ test.nop  x"
