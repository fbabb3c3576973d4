# SPDX-License-Identifier: Apache-2.0
"""When the names in folders become durable: each folder once for a commit point, and whatever goes
by what was written comes after it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Machine

# what a run syncs, renames and starts, in the order of it
WATCHER = """
import errno, os, sys
sync = os.fsync
log, failing = sys.argv.pop(1), sys.argv.pop(1)
def note(*words):
    with open(log, "a") as file:
        print(*words, file=file)
def fsync(handle):
    path = os.readlink(f"/proc/self/fd/{handle}")
    if os.path.isdir(path):
        note("sync", path)
        if path == failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
    sync(handle)
from runner.support.files import group_commit
sync_all = group_commit._sync_file_system
def all_of_it(handle):
    note("sync", "all")
    return sync_all(handle)
group_commit._sync_file_system = all_of_it
group_commit.types_of = lambda device: {"nfs" if failing == "nfs" else "ext4"}
group_commit._is_little_dirty = lambda: True
def hear(event, arguments):
    if event == "os.rename" and ".runner-" in arguments[0]:
        note("rename", arguments[1])
    elif event == "subprocess.Popen":
        note("start", os.path.basename(arguments[1][0]))
os.fsync = fsync
sys.addaudithook(hear)
"""
FILES = """
{% for n in range(3) %}
{tmp}/one/{{ n }}:
  file.managed: [{contents: {{ n }}}, {makedirs: true}]
{% endfor %}
{tmp}/two/link:
  file.symlink: [{target: nowhere}, {makedirs: true}]
"""


def run(machine: Machine, *words: str, failing: str = "-", code: int = 0) -> tuple[str, list[str]]:
    """Return what a run prints, and what it did, without the folder of the test."""
    log = machine.folder / "log"
    log.unlink(missing_ok=True)
    done = machine.altered(WATCHER, str(log), failing, *machine.argv(*words)[3:])
    assert done.returncode == code, done.stdout + done.stderr
    text = log.read_text() if log.exists() else ""
    lines = [line for line in text.splitlines() if "/cache" not in line]
    return done.stdout, [line.replace(f"{machine.folder}/", "") for line in lines]


def test_each_folder_is_synced_once_before_what_goes_by_it(machine: Machine) -> None:
    reactions = (
        "edited:\n  file.append: [{name: {tmp}/two/edited, text: x},"
        " {onchanges: [{file: {tmp}/one/1}]}]\n"
        "{tmp}/two/link2:\n  file.symlink: [{target: nowhere}, {unless: 'false'}]\n"
        "'true':\n  cmd.run: []\n"
        "{tmp}/two/link3:\n  file.symlink: [{target: nowhere}]\n"
        "{tmp}/two/last:\n  file.managed: [{contents: x}, {check_cmd: test -f}]\n"
    )
    machine.write(a=FILES + reactions)
    folder = str(machine.folder)
    _, log = run(machine, "sls", "a")
    assert log == [
        *(f"rename {n}" for n in range(3)),
        "rename link",
        f"sync {folder}",  # it has two new folders
        "sync one",
        "sync two",
        "rename edited",  # the reaction
        "sync two",
        "start sh",  # the guard
        "rename link2",
        "sync two",
        "start sh",
        "rename link3",
        "sync two",
        "start test",  # check_cmd
        "rename last",
        "sync two",  # the end
    ]


def test_a_dry_run_and_a_converged_one_sync_nothing(machine: Machine) -> None:
    machine.write(a=FILES)
    assert run(machine, "sls", "a", "--test")[1] == []
    machine("sls", "a")
    assert run(machine, "sls", "a")[1] == []


def test_what_a_power_loss_may_take_back_is_a_failure(machine: Machine) -> None:
    reaction = "echo >> {tmp}/done:\n  cmd.run: [{onchanges: [{file: {tmp}/one/1}]}]\n"
    machine.write(a=FILES + reaction)
    one = str(machine.folder / "one")
    out, _ = run(machine, "sls", "a", "--out", "json", failing=one, code=2)
    results = json.loads(out)["local"]
    failed = {
        result["__id__"]: result["comment"] for result in results.values() if not result["result"]
    }
    error = "Input/output error"
    assert failed == {
        f"echo >> {machine.folder}/done": (
            f"nothing was done: the names in {one} are not durable: {error}"
        ),
        f"sync_{one}/2": f"what was written in {one} may not last: {error}",
    }
    assert not (machine.folder / "done").exists()
    assert "onchanges" in machine("show", "pending").stdout  # and the next run reacts
    machine("sls", "a")
    assert (machine.folder / "done").read_text() == "\n"
    assert "onchanges" not in machine("show", "pending").stdout


@pytest.mark.parametrize("system", ["-", "nfs"])
def test_many_folders_are_not_all_held_open(machine: Machine, system: str) -> None:
    folders = 100
    machine.write(
        a="{% for n in range(100) %}\n{tmp}/many/{{ n }}/f:\n  file.managed: [{contents: x},"
        " {makedirs: true}]\n{% endfor %}\n"
    )
    _, log = run(machine, "sls", "a", failing=system)
    syncs = [line for line in log if line.startswith("sync")]
    if system == "nfs":  # one by one
        assert {f"sync many/{n}" for n in range(folders)} < {*log}
        assert len(syncs) < folders + 10
    else:
        assert 1 < len(syncs) < 10
    assert log[-1].startswith("sync")
    assert Path(machine.folder, "many/99/f").read_text() == "x\n"
