# SPDX-License-Identifier: Apache-2.0
"""`runner watch` as a user types it: what it sees, what it does about it, what it says."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import silent_server
from command import Machine
from needing import is_root, needs, needs_own_server, needs_own_users
from repositories import Repository
from starting import PATIENCE, running, wait_until
from watching import Watcher, watching

TREE = """
{tmp}/conf:
  file.managed:
    - contents: right
{tmp}/other:
  file.managed:
    - contents: right
{tmp}/link:
  file.symlink:
    - target: {tmp}/conf
    - require:
      - file: {tmp}/conf
noted:
  cmd.run:
    - name: date >> {tmp}/reacted
    - onchanges:
      - file: {tmp}/conf
"""


@pytest.fixture
def watched(machine: Machine) -> Machine:
    """A machine that is as its tree says."""
    machine.write(top="base: {'*': [web]}", web=TREE)
    machine("highstate")
    (machine.folder / "reacted").unlink()
    return machine


def runs(machine: Machine) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = machine.answer("history")
    return listed


def status(machine: Machine) -> dict[str, Any]:
    told = machine.answer("watch", "status")
    assert isinstance(told, dict), told
    return told


def text(path: Path) -> str:
    return path.read_text().rstrip("\n") if path.exists() else ""


def until_right(watcher: Watcher, path: Path) -> None:
    watcher.until(lambda: text(path) == "right")
    watcher.until_deviating(0)


# ---------------------------------------------------------------- what it does


def test_drift_is_put_right_with_its_reactions(watched: Machine) -> None:
    conf, link = watched.folder / "conf", watched.folder / "link"
    with watching(watched, "--act", "drift") as watcher:
        assert len(runs(watched)) == 1  # a look that finds nothing leaves no trace
        conf.write_text("wrong")
        until_right(watcher, conf)
        assert text(watched.folder / "reacted")
        run = runs(watched)[0]
        named = r" by pid \d+( \(.+\))?" if is_root() else ""
        assert re.fullmatch(rf"runner watch: {conf} changed({named})?", run["command"])
        assert run["changed"] == 2
        link.unlink()
        watcher.until(link.is_symlink)
        watcher.until_deviating(0)
        assert runs(watched)[0]["total"] == 1  # nothing else is run
    assert watcher.process.returncode == 0


def test_what_is_said_of_the_tree_is_said_once(watched: Machine) -> None:
    conf, strange = watched.folder / "conf", "{tmp}/strange:\n  file.absent: [{odd: 1}]\n"
    watched.write(web=TREE.replace("{tmp}/other", "{tmp}/no_orphan") + strange)
    with watching(watched, "--act", "drift") as watcher:  # which makes a file
        for wrong in ("wrong", "wrong again"):
            conf.write_text(wrong)
            until_right(watcher, conf)
        assert watcher.said.count("no state declares 1 thing of earlier highstates") == 1
        assert watcher.said.count("no argument 'odd'") == 1
        watched.write(web=TREE.replace("{tmp}/other", "{tmp}/no_orphan_again"))
        watcher.until(lambda: "no state declares 2 things" in watcher.said)


def test_what_is_replaced_or_below_a_missing_folder_is_seen(machine: Machine) -> None:
    deep = machine.folder / "a/b/conf"
    machine.write(
        web="{tmp}/a/b/conf:\n  file.managed:\n    - {contents: right, makedirs: true, mode: 644}\n"
    )
    with watching(machine, "--act", "drift", "web") as watcher:
        assert text(deep) == "right"
        deep.parent.rename(machine.folder / "gone")
        until_right(watcher, deep)
        (new := machine.folder / "new").write_text("wrong")
        new.replace(deep)
        until_right(watcher, deep)
        deep.chmod(0o600)
        watcher.until(lambda: deep.stat().st_mode & 0o777 == 0o644)


def test_a_report_changes_nothing_until_a_person_says_so(watched: Machine) -> None:
    conf = watched.folder / "conf"
    with watching(watched) as watcher:
        conf.write_text("wrong")
        watcher.until_deviating(2)
        assert text(conf) == "wrong"
        assert "would change" in watcher.said
        assert runs(watched)[0]["kind"] == "test"
        found = {each["state"]: each for each in status(watched)["deviations"]}
        assert found.keys() == {f"file: {conf}", "cmd: noted"}
        assert found[f"file: {conf}"]["event"].startswith(f"{conf} changed")
        shown = watched("watch", "status").stdout
        assert f"would change: file: {conf}" in shown
        assert "runner watch fix" in shown
        assert "2 changed" in watched("watch", "fix").stdout
        watcher.until_deviating(0)
        assert text(conf) == "right"
        assert "Nothing is known" in watched("watch", "fix").stdout


def test_what_is_put_right_is_what_was_found(machine: Machine) -> None:
    """Not what an ID would mean as a glob."""
    literal, other = machine.folder / "f*", machine.folder / "foo"
    told = machine.folder / "cache/state/watch.json"
    machine.write(
        web="'{tmp}/f*': {file.managed: [contents: right]}\n"
        "{tmp}/foo: {file.managed: [contents: right]}\n"
    )
    machine("sls", "web")
    with watching(machine, "web") as watcher:
        literal.write_text("wrong")
        watcher.until_deviating(1)
        found = told.read_text()
    other.write_text("of somebody")  # nobody has seen that yet
    told.write_text(found)
    machine("watch", "fix")
    assert (text(literal), text(other)) == ("right", "of somebody")


def test_a_name_that_somebody_chose_makes_no_line_of_its_own(machine: Machine) -> None:
    machine.write(web="{tmp}/kept: {file.directory: [{clean: true}]}")
    with watching(machine, "web") as watcher:
        (machine.folder / "kept").mkdir()
        watcher.until_deviating(0)
        (machine.folder / "kept/a\nforged").touch()
        watcher.until_deviating(1)
        for shown in machine("history"), machine("watch", "status"):
            assert "kept/a\\nforged changed" in shown.stdout
            assert "\nforged" not in shown.stdout


def test_a_secret_in_a_name_is_shown_nowhere(machine: Machine) -> None:
    machine.write(
        web="{tmp}/kept: {file.directory: [{clean: true}]}\n{{ pillar.token }}: {test.nop: []}\n",
        pillar__top="base: {'*': [p]}",
        pillar__p="token: Zq7Kd2x9\n",
    )
    shown = machine("watch", "--list", "web").stdout
    assert "**********" in shown and "Zq7Kd2x9" not in shown
    with watching(machine, "web") as watcher:
        (machine.folder / "kept").mkdir()
        watcher.until_deviating(0)
        (machine.folder / "kept/Zq7Kd2x9").touch()
        watcher.until_deviating(1)
        for told in machine("history"), machine("watch", "status"):
            assert "kept/********** changed" in told.stdout and "Zq7Kd2x9" not in told.stdout


def test_nobody_hears_of_a_look_that_finds_nothing(watched: Machine) -> None:
    conf, told = watched.folder / "conf", watched.folder / "told"
    for key in ("on_change", "on_success", "always"):
        watched.config[key] = f'echo "{key} $RUNNER_COMMAND" >> {told}'
    with watching(watched) as watcher:
        before = len(runs(watched))
        conf.write_text("right\n")
        watcher.until_deviating(0)
        assert (len(runs(watched)), text(told), watcher.said) == (before, "", "")
        conf.write_text("wrong")
        watcher.until_deviating(2)
        assert len(runs(watched)) == before + 1
        assert runs(watched)[0]["total"] == 3  # those that depend on it, too
        [line] = text(told).splitlines()
        assert line.startswith(f"on_change runner watch: {conf} changed")
        assert "would change" in watcher.said


def test_ask_tells_once(watched: Machine) -> None:
    other = watched.folder / "other"
    with watching(watched, "--act", "ask") as watcher:
        for number in range(2):
            other.write_text(f"wrong {number}")
            watcher.until_deviating(1)
        assert len(runs(watched)) == 2
    assert watcher.said.count("would change  file.managed") == 1


def test_a_state_that_something_fights_is_left_alone(watched: Machine) -> None:
    conf, other = watched.folder / "conf", watched.folder / "other"
    with watching(watched, "--act", "drift") as watcher:
        for number in range(3):
            other.write_text(f"wrong {number}")
            until_right(watcher, other)
        other.write_text("wrong at last")
        watcher.until(lambda: any(each["left_alone"] for each in status(watched)["deviations"]))
        assert f"file: {other} is left alone" in watcher.said
        assert "left alone: " in watched("watch", "status").stdout
        conf.write_text("wrong")  # the others are looked at as before
        watcher.until(lambda: text(conf) == "right")
        assert text(other) == "wrong at last"


@pytest.mark.parametrize("act", ["drift", "report"])
def test_scheduled_runs_that_are_disabled_put_nothing_right(watched: Machine, act: str) -> None:
    conf = watched.folder / "conf"
    watched("disable", "moving")
    with watching(watched, "--act", act) as watcher:
        before = len(runs(watched))
        conf.write_text("right\n")
        watcher.until_deviating(0)
        conf.write_text("wrong")
        watcher.until_deviating(2)
        assert text(conf) == "wrong"
        assert {each["outcome"] for each in status(watched)["deviations"]} == {"disabled"}
        assert len(runs(watched)) == before


# ---------------------------------------------------------------- its own tree


def test_a_tree_is_compiled_anew_and_a_broken_one_is_not_used(watched: Machine) -> None:
    conf, other = watched.folder / "conf", watched.folder / "other"
    with watching(watched, "--act", "drift") as watcher:
        watched.write(web="{tmp}/conf:\n  file.managed:\n    - contnts: right\n  broken: [\n")
        watcher.until(lambda: "does not compile: the plan from before" in watcher.said)
        assert "web.sls" in watcher.said  # with the mistake
        watcher.until(lambda: "does not compile" in status(watched)["problem"])
        conf.write_text("wrong")
        until_right(watcher, conf)
        watched.write(web=TREE.replace("contents: right", "contents: new"))
        watcher.until(lambda: text(other) == "new")
        watcher.until_deviating(0)
        assert status(watched)["problem"] == ""


def test_what_no_plan_comes_from_compiles_nothing_anew(watched: Machine) -> None:
    conf, states = watched.folder / "conf", watched.folder / "states"
    (states / "log").touch()
    watched.config["state_dir"] = str(states / "own")
    with watching(watched, "--act", "drift") as watcher:
        planned = status(watched)["planned"]
        (states / "log").write_text("more")
        (states / ".web.sls.swp").write_text("an editor's")
        (states / ".git").mkdir()
        conf.write_text("wrong")  # and what that run writes into its own folder
        until_right(watcher, conf)
        conf.unlink()
        until_right(watcher, conf)
        assert status(watched)["planned"] == planned
        (states / "new").touch()
        watcher.until(lambda: status(watched)["planned"] != planned)


def test_what_fails_again_and_again_is_left_alone_until_the_tree_is_edited(
    machine: Machine,
) -> None:
    machine.write(web="{tmp}/conf: {file.exists: []}")
    with watching(machine, "--act", "drift", "web") as watcher:
        for number in range(5):
            machine.write(**{f"new{number}": ""})  # has all looked at
            watcher.until_deviating(1)
        assert "conf is left alone" in watcher.said
        assert len(runs(machine)) == 4
        machine.write(web="{tmp}/conf: {file.managed: [{contents: right}]}")
        until_right(watcher, machine.folder / "conf")


def test_a_file_that_came_broken_is_read_again_when_it_is_mended_in_place(
    watched: Machine,
) -> None:
    mended = watched.folder / "mended"
    with watching(watched, "--act", "drift") as watcher:
        watched.write(new="a: [\n")
        watched.write(web=f"include: [new]\n{TREE}")
        watcher.until(lambda: "does not compile" in status(watched)["problem"])
        with (watched.folder / "states/new.sls").open("w") as file:
            file.write(f"{mended}: {{file.managed: [{{contents: right}}]}}\n")
        until_right(watcher, mended)


def test_what_a_pull_has_brought_is_not_put_back(machine: Machine) -> None:
    conf, repository = machine.folder / "conf", Repository(machine.folder / "source")
    machine.config = {"tree": {"remote": str(repository.folder)}}

    def publish(contents: str) -> None:
        sls = f"{conf}: {{file.managed: [{{contents: {contents}}}]}}\n"
        repository.commit({"states/top.sls": "base: {'*': [web]}\n", "states/web.sls": sls})
        machine("pull")

    publish("old")
    with watching(machine, "--act", "drift") as watcher:
        planned = status(machine)["planned"]
        publish("right")
        watcher.until(lambda: status(machine)["planned"] != planned)
        assert text(conf) == "right"
        conf.write_text("wrong")
        until_right(watcher, conf)


def test_a_tree_that_does_not_compile_at_the_start_is_waited_for(machine: Machine) -> None:
    conf = machine.folder / "conf"
    machine.write(web="include: [more]\na:\n  file.mangled: []\n")
    with watching(machine, "web", "--act", "drift", ready="until it does") as watcher:
        assert any("READY=1" in text for text in watcher.told)
        assert status(machine)["problem"] in watcher.said
        machine.write(web="include: [more]\n")
        watcher.until(lambda: watcher.said.count("SLS more") > 1)
        machine.write(more=f"{conf}: {{file.managed: [{{contents: right}}]}}\n")
        until_right(watcher, conf)


# ---------------------------------------------------------------- how it ends


def test_a_service_waits_for_a_configuration_that_can_be_used(machine: Machine) -> None:
    """A person sees that it cannot be, at once."""
    machine.write(top="base: {'*': [web]}", web="{tmp}/f: {file.managed: [contents: right]}")
    machine.config["file_roots"] = 7
    assert "file_roots" in machine("watch", code=1).stderr
    with watching(machine, "--act", "drift", ready="cannot be used") as watcher:
        machine.config["file_roots"] = {"base": ["states"]}
        machine("watch", "status")  # with another one
        watcher.until_deviating(0)
        assert text(machine.folder / "f") == "right"
        assert watcher.said.count("error: ") == 1


IMPATIENT = """
from runner.cli import main
from runner.tools.watch import reach, resident
reach.PATIENCE = resident.POLL = resident.AGAIN = 0.5
main()
"""


@needs_own_server()
def test_a_server_that_does_not_answer_holds_up_nothing_else(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    served, silent, beside = (machine.folder / name for name in ("served", "silent", "beside"))
    served.mkdir()
    silent.touch()
    machine.write(
        top="base: {'*': [a]}",
        a="{tmp}/served/f: {file.managed: [contents: right, contents_newline: false]}\n"
        "{tmp}/beside: {file.managed: [contents: right]}\n",
    )
    argv, server = machine.argv, Path(silent_server.__file__)

    def beside_a_server(*words: str) -> list[str]:
        python, _, _, *rest = argv(*words)
        where = map(str, (server, served, silent))
        return [python, *where, python, "-c", IMPATIENT, *rest]

    monkeypatch.setattr(machine, "argv", beside_a_server)

    def until(what: str) -> None:
        wait_until(lambda: watcher.said.count(what) > before[what], f"{what}: {watcher.said}")
        before[what] = watcher.said.count(what)

    before = Counter[str]()
    with watching(machine, "--act", "drift") as watcher:
        until("served does not answer")  # from the first look on
        beside.write_text("wrong")
        wait_until(lambda: text(beside) == "right", "what lies beside is put right")
        silent.unlink()
        until("served answers again")
        silent.touch()
        until("served does not answer")
        beside.write_text("wrong")
        wait_until(lambda: text(beside) == "right", "what lies beside is put right")
        silent.unlink()


def test_the_second_one_says_who_watches(watched: Machine) -> None:
    with watching(watched) as watcher:
        refused = watched("watch", code=3).stderr
        assert f"process {watcher.process.pid} since" in refused
    assert "Nobody watches" in watched("watch", "status").stdout


def test_one_that_is_killed_is_replaced_by_the_next(watched: Machine) -> None:
    conf = watched.folder / "conf"
    with watching(watched, "--act", "drift") as watcher:
        watcher.process.kill()
        watcher.process.wait(PATIENCE)
        wait_until(lambda: not running(str(watched.folder)), "its children have ended")
        conf.write_text("wrong")
        assert status(watched)["alive"] is False
        assert "which has ended" in watched("watch", "status").stdout
    with watching(watched, "--act", "drift"):
        assert text(conf) == "right"


def test_the_process_of_the_plan_may_be_killed(watched: Machine) -> None:
    conf = watched.folder / "conf"
    with watching(watched, "--act", "drift", "--every", "1s") as watcher:
        children = Path(f"/proc/{watcher.process.pid}/task/{watcher.process.pid}/children")
        for child in children.read_text().split():
            os.kill(int(child), signal.SIGKILL)
        conf.write_text("wrong")
        watcher.until(lambda: text(conf) == "right")


# ---------------------------------------------------------------- what it watches


@needs("unshare")
@needs_own_users()
def test_without_inotify_the_timer_looks(watched: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    conf, argv = watched.folder / "conf", watched.argv
    none = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"'
    limited = ["unshare", "--user", "--map-root-user", "sh", "-c", none, "sh"]
    with ExitStack() as started:
        with monkeypatch.context() as patch:
            patch.setattr(watched, "argv", lambda *words: [*limited, *argv(*words)])
            words = ("--act", "drift", "--every", "1s")
            watcher = started.enter_context(watching(watched, *words))
        assert "max_user_instances is too small: the timer alone" in watcher.said
        assert "by the timer alone: fs.inotify.max_user_i" in watched("watch", "status").stdout
        conf.write_text("wrong")
        watcher.until(lambda: text(conf) == "right")


def test_list_says_what_tells_of_each_state(machine: Machine) -> None:
    machine.write(
        web="""
        {tmp}/conf:
          file.managed:
            - contents: right
        root:
          user.present: []
        told:
          cmd.run:
            - unless: test -e {tmp}/a | cat
        """
    )
    listed = machine("watch", "--list", "web", "--out", "json").stdout
    by = {each["state"]: each for each in json.loads(listed)["local"]}
    conf = f"{machine.folder}/conf"
    assert by[f"file: {conf}"]["by"] == ["paths"]
    assert conf in by[f"file: {conf}"]["paths"]
    assert "accounts" in by["user: root"]["by"]
    assert "timer" in by["cmd: told"]["by"]
    assert f"file: {conf}" in machine("watch", "--list", "web").stdout
    assert not (machine.folder / "conf").exists()
    assert not runs(machine)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--act", "mend"), "--act mend: one of report, drift, ask"),
        (("--act", "drift", "--test"), "--act drift changes the machine"),
        (("--every", "0"), "--every 0: no duration"),
        (("status", "--act", "ask"), "`runner watch status` takes no more"),
    ],
)
def test_what_is_meant_otherwise_is_refused(
    machine: Machine, words: tuple[str, ...], problem: str
) -> None:
    machine.write(web=TREE)
    assert problem in machine("watch", *words, code=1).stderr
