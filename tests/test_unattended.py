# SPDX-License-Identifier: Apache-2.0
"""Runs from cron are safe: lock, time limit, history, undo, secrets, leftovers, permissions."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import sqlite3
import subprocess
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
from command import Machine
from starting import PATIENCE, a_while, patiently, running, wait_until

from runner.history import snapshots
from runner.history.contents import ContentStore
from runner.history.store import open_history
from runner.support.files.scratch import Scratch
from runner.support.redaction import HIDDEN, Secrets

FILE = "{tmp}/f:\n  file.managed:\n    - contents: new\n    - mode: '0600'\n"
BAD = (
    "bad:\n  test.fail_without_changes: []\nnever:\n  test.nop:\n    - require:\n      - test:"
    " bad\n"
)
SLOW = "slow:\n  cmd.run:\n    - name: touch {tmp}/began && sleep 1000\nafter:\n  test.nop: []\n"


def started(machine: Machine, *words: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A run in the background, which has begun its slow command."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return machine.start(*words, ready=machine.folder / "began", **pipes)


def test_a_second_run_waits_when_asked_to(machine: Machine) -> None:
    machine.write(a=SLOW, b="x:\n  test.nop: []\n")
    with started(machine, "sls", "a") as first:
        refused = machine("sls", "b", code=3)
        assert "another run is under way: process" in refused.stderr
        assert "--wait" in refused.stderr
        machine("sls", "b", "--wait", "0.3", code=3)
        with machine.start("sls", "b", "--wait") as second:
            first.send_signal(signal.SIGTERM)
            first.communicate(timeout=PATIENCE)
            assert first.returncode == 143
            assert second.wait(PATIENCE) == 0


def test_the_time_limit_ends_the_run_and_the_report_says_what_was_left(machine: Machine) -> None:
    machine.write(a=SLOW)
    done = patiently(
        1.5,
        lambda limit: machine("sls", "a", "--timeout", str(limit), code=143),
        (machine.folder / "began").exists,
    )
    assert re.search(r"time limit of \S+ s is over", done.stdout)
    assert "Not run: test.nop after." in done.stdout
    (slow,) = machine.answer("history", "show")["results"]
    assert slow["duration"] > 0, "who reads reports sees what took the time"


def test_the_command_that_runs_is_ended_with_its_children(machine: Machine) -> None:
    seconds = a_while()
    machine.write(
        a=f"slow:\n  cmd.run:\n    - name: sleep {seconds} & touch {{tmp}}/began; sleep {seconds}\n"
    )
    with started(machine, "sls", "a") as process:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert "interrupted by Ctrl-C while it ran" in out
        assert machine.answer("history")[0]["outcome"] == "interrupted by Ctrl-C"
        assert not running(seconds)


_SENT_TWICE = """
import os, signal
from runner.cli import main
from runner.engine import interrupts
def stop(number, frame, whole=interrupts._stop):
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    os.kill(os.getpid(), number)
    try:
        whole(number, frame)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
interrupts._stop = stop
main()
"""


def test_a_signal_that_comes_twice_at_once_is_one(machine: Machine) -> None:
    """As of timeout(1), which sends it to the process and to its group."""
    machine.write(a=f"slow:\n  cmd.run: [name: 'kill -TERM $PPID; sleep {a_while()}']\n")
    argv = machine.argv("sls", "a")
    argv[2] = _SENT_TWICE
    done = subprocess.run(
        argv, capture_output=True, text=True, env=machine.environment, cwd=machine.folder
    )
    assert done.returncode == 143 and "interrupted by SIGTERM while it ran" in done.stdout


@pytest.mark.parametrize("how", ["limit", "signal"])
def test_parallel_states_end_with_the_run_though_their_commands_do_not_heed_it(
    machine: Machine, how: str
) -> None:
    """Those that trap SIGTERM, and what they moved to a session of its own; what is in the
    background stays.
    """
    seconds, stays = a_while(), a_while()
    stubborn = (
        f"trap '' TERM; setsid sleep {seconds} & touch {{tmp}}/began; sleep {seconds}; sleep"
        f" {seconds}"
    )
    machine.write(
        a=f"stays:\n  cmd.run:\n    - name: sleep {stays}\n    - bg: True\n"
        + "".join(
            f"p{n}:\n  cmd.run:\n    - name: {stubborn}\n    - parallel: True\n" for n in range(3)
        )
        + f"again:\n  cmd.run: [{{name: sleep {seconds}; false}}, {{parallel: True}}, {{retry:"
        " {interval: 0}}]\n"
    )

    def ended(limit: float) -> int:
        words = ["--timeout", str(limit)] if how == "limit" else []
        with machine.start("sls", "a", *words) as process:
            if how == "signal":
                wait_until(begun, "the commands")
                process.send_signal(signal.SIGTERM)
            return process.wait(PATIENCE)

    def begun() -> bool:
        return (machine.folder / "began").exists() and bool(running(stays))

    try:
        assert patiently(2, ended, (machine.folder / "began").exists) == 143
        assert not running(seconds)
        assert running(stays)
    finally:
        for each in (*running(seconds), *running(stays)):
            os.kill(each, signal.SIGKILL)


def test_a_command_that_starts_while_the_interrupt_comes_is_ended_too(machine: Machine) -> None:
    seconds = a_while()
    machine.write(a=f"slow:\n  cmd.run:\n    - name: sleep {seconds}\n")
    program = (
        "import os, signal, subprocess\nclass Started(subprocess.Popen):\n"
        "    def __init__(self, *args, **more):\n        super().__init__(*args, **more)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "subprocess.Popen = Started\nfrom runner.cli import main; main()"
    )
    argv = machine.argv("sls", "a")
    done = subprocess.run(
        [argv[0], "-c", program, *argv[3:]], capture_output=True, text=True, env=machine.environment
    )
    assert done.returncode == 143 and "interrupted by SIGTERM while it ran" in done.stdout
    assert not running(seconds)


def test_a_history_without_runs_says_so(machine: Machine) -> None:
    for words in (("show",), ("show", "last"), ("diff", "last", "1")):
        said = machine("history", *words, code=1).stderr
        assert said.startswith("error: there are no runs in the history yet\n"), words
        assert str(machine.folder) in said, "where it is looked for"
    machine.write(a="x:\n  test.nop: []\n")
    machine("sls", "a", "--test")
    assert machine("history", "show").stdout.startswith("Run 1: ")


def test_history_tells_what_runs_did(machine: Machine) -> None:
    machine.write(a=FILE + BAD)
    machine("sls", "a", code=2)
    machine("sls", "a", "--test", code=2)
    machine("sls", "a", code=2)
    runs = machine.answer("history")
    assert [(run["id"], run["kind"]) for run in runs] == [(3, "run"), (2, "test"), (1, "run")]
    assert [runs[2][key] for key in ("changed", "failed", "skipped", "outcome")] == [
        1,
        1,
        1,
        "failed",
    ]
    assert "3 states: 1 failed, 1 changed, 1 skipped" in machine("history").stdout
    shown = machine.answer("history", "show", "1")
    assert shown["results"][0]["changes"] == {"diff": "New file"}
    assert shown["results"][0]["place"].endswith("a.sls:2:3")
    assert shown["results"][2]["cause"] == shown["results"][1]["tag"]
    assert shown["changes_made"][0]["function"].startswith("file.")
    compared = machine.answer("history", "diff", "1", "last")
    assert compared["same_tree"] is True
    assert list(compared["different"]) == [
        f"file_|-{machine.folder}/f_|-{machine.folder}/f_|-managed"
    ]
    assert "there is no run 9" in machine("history", "show", "9", code=1).stderr
    shown = machine("history", "show").stdout
    assert "bad" in shown and machine("history", "show", "last").stdout == shown
    (machine.folder / "f").write_text("old\n")
    (machine.folder / "f").chmod(0o640)
    machine("sls", "a", code=2)
    shown = machine("history", "show", "last").stdout
    assert f"--- {machine.folder}/f (before)\n" in shown and "mode: 0640 -> 0600" in shown


def test_the_history_says_once_why_a_state_failed_and_a_reaction_what_it_would_be_for(
    machine: Machine,
) -> None:
    machine.write(
        a="{tmp}/f: {file.managed: [contents: a]}\nb: {cmd.run: [name: 'exit 3']}\n"
        "c: {test.nop: [require: [cmd: b]]}\nd: {cmd.wait: [name: echo, watch: [file: {tmp}/f]]}\n"
    )
    planned = " ".join(machine("sls", "a", "--test").stdout.split())
    assert f"executed, because file: {machine.folder}/f would change" in planned
    done = " ".join(machine("sls", "a", code=2).stdout.split())
    assert f'Command "echo" run, because file: {machine.folder}/f changed' in done
    shown = machine("history", "show").stdout
    assert "retcode: 3" in shown and 'Command "exit 3" run' not in shown
    assert "because of cmd: b" in shown and "requisite failed" not in shown


def test_drift_intent_and_repetition_are_told_apart(machine: Machine) -> None:
    machine.write(a=FILE + "again:\n  cmd.run:\n    - name: 'true'\n")
    origins = []
    for change in (None, "drift", "tree"):
        if change == "drift":
            (machine.folder / "f").write_text("theirs")
        if change == "tree":
            machine.write(
                a=FILE.replace("new", "newer") + "again:\n  cmd.run:\n    - name: 'true'\n"
            )
        found = machine.results("sls", "a")
        origins.append(
            (found[f"{machine.folder}/f"].get("__origin__"), found["again"].get("__origin__"))
        )
    assert origins == [(None, None), ("drift", "repeats"), (None, "repeats")]
    (machine.folder / "f").write_text("theirs")
    assert "Drift of 1 state: the tree is as in run 3" in machine("sls", "a", "--test").stdout


def test_dry_runs_are_kept_and_count_for_nothing(machine: Machine) -> None:
    machine.config["history_runs"] = 2
    machine.write(a=FILE)
    machine("sls", "a", "--test")
    assert "__origin__" not in machine.results("sls", "a")[f"{machine.folder}/f"], (
        "the dry run was no last time"
    )
    (machine.folder / "f").write_text("theirs")
    for _ in range(3):
        assert "Drift of 1 state: the tree is as in run 2" in machine("sls", "a", "--test").stdout
    runs = machine.answer("history")
    assert [(run["id"], run["kind"], run["changed"]) for run in runs] == [
        (5, "test", 1),
        (4, "test", 1),
        (2, "run", 1),
    ]
    assert "dry run, done" in machine("history").stdout
    assert "would change  file.managed" in machine("history", "show", "last").stdout
    assert (machine.folder / "f").read_text() == "theirs"
    assert machine.answer("schedule", "status")["last"] is None, "no highstate was run"


def test_a_source_that_was_edited_is_no_drift(machine: Machine) -> None:
    machine.write(a="{tmp}/f:\n  file.managed:\n    - source: salt://motd\n")
    for text in ("one\n", "two, longer\n"):
        (machine.folder / "states/motd").write_text(text)
        assert "__origin__" not in machine.results("sls", "a")[f"{machine.folder}/f"]


def test_old_runs_are_dropped(machine: Machine) -> None:
    machine.config["history_runs"] = 2
    machine.write(a="x:\n  test.nop: []\n")
    for _ in range(4):
        machine("sls", "a")
    assert [run["id"] for run in machine.answer("history")] == [4, 3]


@pytest.mark.parametrize("damage", ["junk", "newer", "folder"])
def test_a_history_that_cannot_be_written_keeps_no_run_from_working(
    machine: Machine, damage: str
) -> None:
    machine.write(a=FILE)
    path = machine.folder / "cache/state/history.sqlite"
    path.parent.mkdir(parents=True)
    if damage == "junk":
        path.write_text("this is no database, and long enough to be taken for one " * 20)
    elif damage == "newer":
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version=999")
        connection.close()
    else:
        path.mkdir()
    done = machine("sls", "a")
    assert (machine.folder / "f").read_text() == "new\n"
    if damage == "junk":
        assert list(path.parent.glob("history.sqlite.corrupt-*"))
        assert "set aside" in done.stderr
        assert len(machine.answer("history")) == 1
    else:
        assert "the history of this run is not kept" in done.stderr


def test_files_of_the_kernel_are_kept_too(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    large = tmp_path / "large"
    large.write_bytes(os.urandom(snapshots.SMALL + 1))
    with closing(open_history(str(tmp_path))) as database:
        store = ContentStore(str(tmp_path), lambda: database)
        store.begin(1, database.execute)
        paths = ("/proc/sys/kernel/ostype", "/usr/bin/env", str(large))
        for path in paths:
            store.put(snapshots.look(path))
        store.close()
        for path in paths:
            assert store.get(snapshots.at(path).content) == Path(path).read_bytes()


@pytest.mark.parametrize("durable", ["wanted", "required"])
def test_debts_that_cannot_be_written(machine: Machine, durable: str) -> None:
    machine.config["durable"] = durable
    machine.write(
        a=FILE + "react:\n  cmd.wait:\n    - name: touch {tmp}/reacted\n    - watch:\n      - file:"
        " {tmp}/f\n{tmp}/g:\n  file.managed:\n    - contents: g\n"
    )
    (machine.folder / "cache/state/debts.sqlite").mkdir(parents=True)
    refused = durable == "required"
    done = machine("sls", "a", code=2 if refused else 0)
    assert (machine.folder / "f").exists() is not refused
    assert (machine.folder / "g").exists(), "nobody reacts to it"
    assert ("not protected against a kill" in done.stderr) is not refused
    assert ("it cannot be recorded that cmd react" in done.stdout) is refused
    assert "cannot be read" in machine("show", "pending", code=1).stderr
    machine.config["durable"] = "perhaps"
    assert "one of wanted, required" in machine("sls", "a", code=1).stderr


def test_broken_debts_are_set_aside(machine: Machine) -> None:
    machine.write(
        a=FILE + "react:\n  cmd.wait:\n    - name: 'false'\n    - watch:\n      - file: {tmp}/f\n"
    )
    state = machine.folder / "cache/state"
    state.mkdir(parents=True)
    (state / "debts.sqlite").write_text("this is no database " * 100)
    assert "cannot be read" in machine("show", "pending", code=1).stderr
    assert (
        "Restarts that are still due from earlier runs are not known"
        in machine("sls", "a", code=2).stderr
    )
    assert list(state.glob("debts.sqlite.corrupt-*"))
    assert len(machine.answer("show", "pending")) == 1


def test_what_a_kill_left_beside_a_target_is_removed(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    left = machine.folder / ".f.runner-0123456789ab"
    others = [
        machine.folder / name
        for name in ("precious", ".f.runner-9123456789ab", "f.runner-0123456789ab")
    ]
    for path in (left, *others):
        path.write_text("half")
    state = machine.folder / "cache/state"
    state.mkdir(parents=True)
    here = str(machine.folder)
    (state / "temporaries").write_text(
        f'{json.dumps([here, "01234567"])}\n["/none", "01234567"]\n7\n["cut of'
    )
    machine("sls", "a", "--test")
    assert left.exists(), "a dry run changes nothing"
    assert "left by a run that was killed" in machine("sls", "a").stderr
    assert not left.exists()
    assert all(other.exists() for other in others), "only what this run had announced is"


def test_scratch_folders_that_a_kill_left_are_removed_and_no_others(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    cache = machine.folder / "cache"
    left = cache / "scratch-of-one-killed"
    left.mkdir(parents=True, mode=0o700)
    (left / "key").write_text("half")
    (cache / "scratch-link").symlink_to(machine.folder / "states")
    used = Scratch(str(cache))
    machine("sls", "a", "--test")
    assert left.exists(), "a dry run changes nothing"
    machine("sls", "a")
    assert not left.exists()
    assert Path(used.path).is_dir(), "a process has it"
    assert (machine.folder / "states/a.sls").exists()
    used.remove()
    assert not Path(used.path).exists()


SECRET = "Tr0ub4dor/&3 x"


def test_secrets_reach_no_sink(machine: Machine) -> None:
    coded = base64.b64encode(SECRET.encode()).decode()
    machine.write(
        a=(
            "missing:\n  file.exists:\n    - name: '/none/{{ pillar['db']['password'] }}'\n"
            "{tmp}/f:\n  file.managed:\n    - contents: 'pw={{ pillar['db']['password'] }}'\n"
            f"say:\n  cmd.run:\n    - name: echo '{{{{ pillar['db']['password'] }}}}' {coded}\n"
        ),
        bad="x:\n  test.nop:\n    - {{ pillar['db']['password'] }}: [\n",
        pillar__top="base:\n  '*':\n    - db\n",
        pillar__db=f"db:\n  password: '{SECRET}'\n",
    )
    sinks = []
    for words in (["--test"], [], ["-v", "--out", "json"], ["--out", "yaml"]):
        done = machine("sls", "a", *words, code=2)
        sinks += [done.stdout, done.stderr]
    for words in (
        ["history", "show", "1"],
        ["history"],
        ["show", "pillar"],
        ["show", "low-sls", "a"],
    ):
        sinks += [machine(*words).stdout, machine(*words, "--out", "json").stdout]
    assert SECRET in machine("show", "low-sls", "a", "--show-secrets").stdout
    done = machine("sls", "bad", code=1)
    sinks += [done.stdout, done.stderr]
    sinks.append(
        (machine.folder / "cache/state/history.sqlite").read_bytes().decode(errors="replace")
    )
    sinks.append(machine("sls", "a", "--pillar", json.dumps({"token": SECRET}), code=2).stdout)
    sinks.append(machine("history").stdout)
    assert "**********" in sinks[0]
    for sink in sinks:
        assert SECRET not in sink
        assert coded not in sink
    assert (machine.folder / "f").read_text() == f"pw={SECRET}\n"


def test_a_key_that_is_called_password_is_no_secret() -> None:
    secrets = Secrets()
    secrets.add("password")
    assert secrets.mask({"zoe": {"password": "password", "my password": 1}}) == {
        "zoe": {"password": "**********", "my **********": 1}
    }


def test_secrets_inside_of_other_forms() -> None:
    secrets = Secrets()
    secrets.collect({"db": {"password": "Tr0ub4dor/&3"}, "pin_token": 12345678})
    for around in ("", "u:", "me:", "you:"):
        coded = base64.b64encode(f"{around}Tr0ub4dor/&3 and more".encode()).decode()
        assert HIDDEN in secrets.mask(coded), around
    assert secrets.mask(["x=Tr0ub4dor%2f%263", 12345678, "12345678", 7]) == [
        f"x={HIDDEN}",
        HIDDEN,
        HIDDEN,
        7,
    ]


def test_the_keys_that_name_secrets_are_configured(machine: Machine) -> None:
    machine.config["secret_keys"] = ["pin"]
    machine.write(
        a="say:\n  cmd.run:\n    - name: echo {{ pillar['pin'] }} {{ pillar['password'] }}\n",
        pillar__top="base:\n  '*':\n    - db\n",
        pillar__db="pin: a1b2c3d4\npassword: visible\n",
    )
    done = machine("sls", "a").stdout
    assert "a1b2c3d4" not in done
    assert "visible" in done


@pytest.mark.parametrize("glob", ["*word", "pass*", "P?ssword", "*s[sz]wor*", "*"])
def test_keys_that_name_secrets_are_globs(glob: str) -> None:
    secrets = Secrets()
    secrets.collect({"password": "visible", "other": ["nothing"]}, [glob, "*none"])
    assert secrets.mask("visible nothing") == (
        f"{HIDDEN} nothing" if glob != "*" else f"{HIDDEN} {HIDDEN}"
    )


def test_names_are_no_secrets(machine: Machine) -> None:
    """Beside a password stand a user and a host; and a password that is a word of the pillar would
    hide it all over.
    """
    credentials = "{http-user: buildmaster, host: db.example.org, pass: s3cr3t4, other: buildbot}"
    machine.write(
        a=(
            "x:\n  cmd.run:\n    - name: echo {{ pillar['buildbot']['credentials'].values() |"
            " join(' ') }}\n"
        ),
        b="{{ pillar['buildbot']['credentials'].values() | join(': ') }}: test.nop\n",
        pillar__top="base:\n  '*':\n    - db\n",
        pillar__db=f"buildbot:\n  credentials: {credentials}\n",
    )
    assert "buildmaster db.example.org ********** buildbot" in machine("sls", "a", "-v").stdout
    broken = machine("sls", "b", code=1).stderr
    assert "buildmaster: db.example.org" in broken
    assert "s3cr3t4" not in broken


def test_a_tree_that_others_can_write_is_told_or_refused(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    (machine.folder / "states").chmod(0o777)
    assert f"others can write {machine.folder}/states" in machine("sls", "a").stderr
    machine.config["strict_permissions"] = True
    assert "chmod go-w" in machine("sls", "a", code=1).stderr


def test_forget(machine: Machine) -> None:
    machine.write(
        a=(
            "{tmp}/f:\n  file.managed:\n    - contents: x\n"
            "react:\n  cmd.wait:\n    - name: 'false'\n    - watch:\n      - file: {tmp}/f\n"
            "other:\n  cmd.wait:\n    - name: 'false'\n    - watch:\n      - file: {tmp}/f\n"
        )
    )
    machine("sls", "a", code=2)
    assert len(machine.answer("show", "pending")) == 2
    for former in ("debts", "owed"):
        assert machine.answer("show", former) == machine.answer("show", "pending")
    assert "debts" not in machine("show", "--help").stdout
    assert "has no pending reaction" in machine("forget", "nobody", code=1).stderr
    machine("forget", code=1)
    assert "forgotten: watch of cmd react" in machine("forget", "react").stdout
    assert [pending["reactor"] for pending in machine.answer("show", "pending")] == [
        "cmd_|-other_|-false_|-wait"
    ]


def test_the_environment_of_cron(machine: Machine) -> None:
    """No terminal, hardly a PATH, LANG=C, umask 077: names and contents are what they are
    everywhere.
    """
    machine.write(
        a=(
            "{tmp}/grün/日本:\n  file.managed:\n    - contents: Grüße {{ salt['cmd.run']('echo ü')"
            " }}\n    - makedirs: True\n    - mode: '0644'\n"
        )
    )
    argv = machine.argv("sls", "a", "-q")
    for environment in ({"LANG": "C"}, {"LC_ALL": "C"}, {}):
        (machine.folder / "grün/日本").unlink(missing_ok=True)
        bare = {
            "PYTHONPATH": machine.environment["PYTHONPATH"],
            "PATH": "/usr/bin:/bin",
            "HOME": "/",
            **environment,
        }
        for said in ("grün/日本", ""):
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=bare,
                umask=0o077,
                timeout=PATIENCE,
            )
            assert (done.returncode, done.stderr) == (0, b"")
            assert said in done.stdout.decode()
            assert bool(said) is bool(done.stdout)
        made = machine.folder / "grün/日本"
        assert (made.read_text(), made.stat().st_mode & 0o777) == ("Grüße ü\n", 0o644)


def test_programs_of_the_administrator_are_found_from_cron(machine: Machine) -> None:
    machine.write(a="path:\n  cmd.run:\n    - name: echo $PATH\n")
    told = []
    for given in ({"PATH": "/opt/own:/usr/bin:/bin"}, {"PATH": "/sbin:/usr/sbin"}, {}):
        environment = {"PYTHONPATH": machine.environment["PYTHONPATH"], "HOME": "/", **given}
        argv = machine.argv("sls", "a", "--out", "json")
        done = subprocess.run(
            argv, capture_output=True, text=True, env=environment, timeout=PATIENCE
        )
        (result,) = json.loads(done.stdout)["local"].values()
        told.append(result["changes"]["stdout"])
    assert told[0] == "/opt/own:/usr/bin:/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin"
    assert told[1] == "/sbin:/usr/sbin:/usr/local/sbin:/usr/local/bin"
    assert told[2] == "/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin"


def test_quiet_is_silent_about_what_never_changes(machine: Machine) -> None:
    machine.write(
        a="x:\n  test.nop:\n    - bogus: 1\n",
        b="x:\n  test.succeed_with_changes:\n    - bogus: 1\n",
    )
    (machine.folder / "states").chmod(0o777)
    done = machine("sls", "a", "-q")
    assert done.stdout + done.stderr == ""
    loud = machine("sls", "b", "-q")
    assert "changed  test.succeed_with_changes" in loud.stdout
    assert "has no argument 'bogus'" in loud.stderr
    assert "others can write" in loud.stderr


def test_junit(machine: Machine) -> None:
    from xml.etree import ElementTree

    machine.write(a=FILE + BAD)
    suite = ElementTree.fromstring(machine("sls", "a", "--out", "junit", code=2).stdout)
    assert suite.attrib["tests"] == "3"
    assert [[inside.tag for inside in case] for case in suite] == [
        ["system-out"],
        ["failure"],
        ["skipped"],
    ]
    assert suite[1].attrib["line"] == "6"


def test_junit_of_a_dry_run_says_what_is_undecided(machine: Machine) -> None:
    from xml.etree import ElementTree

    pending = "make:\n  cmd.run: [{name: make everything}]\n"
    after = (
        f"tool:\n  file.absent: [{{name: {machine.folder}/none}}, {{require: [{{cmd: make}}]}}]\n"
    )
    machine.write(a=FILE + pending + after)
    suite = ElementTree.fromstring(machine("sls", "a", "--test", "--out", "junit").stdout)
    cases = {
        case.attrib["name"]: [(inside.tag, inside.get("message")) for inside in case]
        for case in suite
    }
    assert suite.attrib["skipped"] == "1"
    ((tag, message),) = cases[f"tool ({machine.folder}/none)"]
    assert tag == "skipped"
    assert message.startswith("undecided: ")
    assert "cmd: make" in message
    assert {tag for told in cases.values() for tag, _ in told} == {"skipped", "system-out"}


def test_events_as_they_happen(machine: Machine) -> None:
    machine.write(a=FILE)
    lines = machine("sls", "a", "--out", "json", "--events", str(machine.folder / "events"))
    assert "run_started" not in lines.stdout
    events = [json.loads(line) for line in (machine.folder / "events").read_text().splitlines()]
    names = [event["event"] for event in events]
    assert names == [
        "run_started",
        "state_started",
        "state_planned",
        "changer_called",
        "state_finished",
        "run_finished",
    ]
    assert events[3]["function"] == "file.write"
    assert events[4]["result"] is True
    assert "run_finished" in machine("sls", "a", "-q", "--events", "-").stdout
    assert "--events /proc/none/x" in machine("sls", "a", "--events", "/proc/none/x", code=1).stderr


def test_prometheus_textfile(machine: Machine) -> None:
    machine.config["prometheus_textfile"] = str(machine.folder / "runner.prom")
    machine.write(a=FILE, b=BAD)
    machine("sls", "a", "--test")
    assert not (machine.folder / "runner.prom").exists()
    machine("sls", "a")
    first = (machine.folder / "runner.prom").read_text()
    machine("sls", "b", code=2)
    second = (machine.folder / "runner.prom").read_text()
    assert "runner_last_run_success 1\n" in first
    assert 'runner_states{outcome="changed"} 1\n' in first
    assert "runner_last_run_success 0\n" in second
    succeeded = [line for line in first.splitlines() if line.startswith("runner_last_success")]
    assert succeeded[0] in second, "the last success is kept"
    assert [path.name for path in machine.folder.glob("*.prom*")] == ["runner.prom"]


# Runs in processes of their own, each with SIGTERM at another line of some functions.
_SIGTERM_AT_EACH_LINE = """
import os, signal, sys
from runner.cli import main
import runner.engine.executor, runner.history.recorder, runner.pipeline
file, names, step, arguments, left = sys.argv[1], sys.argv[2].split(), 5, sys.argv[3:], 0

def trace(frame, event, value):
    global left
    code = frame.f_code
    if not code.co_filename.endswith(file) or code.co_name not in names:
        return None
    left -= event == "line"
    if left == 0:
        sys.settrace(None)
        os.kill(os.getpid(), signal.SIGTERM)
    return trace if left > 0 else None

for moment in range(1, 2000, step):
    child = os.fork()
    if not child:
        left = moment
        answer = os.open(f"answer{moment}", os.O_CREAT | os.O_WRONLY)
        os.dup2(answer, 1)
        sys.settrace(trace)
        main(arguments)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(moment, code, flush=True)
    if code == 0:
        break
"""


@pytest.mark.parametrize(
    ("file", "functions"),
    [
        ("history/recorder.py", "_result _flush _look_back"),
        ("engine/executor.py", "_guarded _called _ended _note _report_result"),
    ],
)
def test_wherever_a_signal_hits_a_run_all_that_ran_is_reported_and_in_the_history(
    file: str, functions: str, machine: Machine
) -> None:
    machine.write(a="".join(f"c{n}:\n  test.succeed_with_changes: []\n" for n in range(2)))
    machine("sls", "a")
    argv = machine.argv("sls", "a", "--out", "json")
    done = subprocess.run(
        [argv[0], "-c", _SIGTERM_AT_EACH_LINE, file, functions, *argv[3:]],
        capture_output=True,
        text=True,
        env=machine.environment,
        cwd=machine.folder,
        timeout=PATIENCE,
    )
    assert done.stderr == ""
    *interrupted, last = (tuple(map(int, line.split())) for line in done.stdout.splitlines())
    assert len(interrupted) > 8 and last[1] == 0
    history = sqlite3.connect(next(machine.folder.rglob("history.sqlite")))
    query = "SELECT outcome, (SELECT count(*) FROM results WHERE run = runs.id) FROM runs"
    runs = history.execute(query).fetchall()[1:-1]
    total = 0
    for (moment, code), (outcome, count) in zip(interrupted, runs, strict=True):
        answer = (machine.folder / f"answer{moment}").read_text()
        assert code == 143, moment
        # a signal may cut off the answer of a run that is over
        assert outcome in ("interrupted by SIGTERM", "done") or count == 2, moment
        assert not answer or count == len(json.loads(answer)["local"]), moment
        assert count >= total, f"{moment}: a state that had run is not in the history"
        total = count
