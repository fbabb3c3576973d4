# SPDX-License-Identifier: Apache-2.0
"""file.copy of folders: all of one is there, or nothing."""

from __future__ import annotations

import signal

import pytest
from command import Machine
from needing import needs_root

# argument: how many names a run has made beside the target, or given, when it is killed
KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
def hear(event, arguments):
    global left
    if event in ("os.mkdir", "os.symlink", "os.rename") and ".runner-" in str(arguments):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hear)
"""


@pytest.mark.parametrize("steps", range(2))
def test_a_copy_of_a_folder_is_whole_after_a_kill(machine: Machine, steps: int) -> None:
    source, target = machine.folder / "source", machine.folder / "out/copy"
    (source / "in").mkdir(parents=True)
    for name in ("a", "b", "in/c"):
        (source / name).write_text(f"{name}\n")
    (source / "link").symlink_to("a")
    source.chmod(0o750)
    target.parent.mkdir()
    machine.write(a="{tmp}/out/copy: {file.copy: [source: {tmp}/source]}\n")
    done = machine.altered(KILLED, str(steps), *machine.argv("sls", "a")[3:])
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    result = machine.results("sls", "a")[str(target)]
    assert result["changes"][str(target)] == str(source)
    assert [path.name for path in target.parent.iterdir()] == ["copy"], "nothing lies beside it"
    assert (target / "in/c").read_text() == "in/c\n" and (target / "link").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o750
    machine("undo")
    assert not target.exists()


@needs_root("to give files away")
def test_a_copy_of_a_folder_has_the_rights_that_are_asked_for(machine: Machine) -> None:
    (machine.folder / "source/in").mkdir(parents=True)
    rights = {"user": "daemon", "group": "adm", "mode": "0710"}
    words = [
        f"source={machine.folder}/source",
        *(f"{key}={value}" for key, value in rights.items()),
    ]
    words = ["single", "file.copy", f"name={machine.folder}/copy", *words, "force=true"]
    dry, real, again = ([*machine.results(*words, *test).values()] for test in (["--test"], [], []))
    assert dry[0]["changes"] == real[0]["changes"] and real[0]["result"], real
    assert not again[0]["changes"], again
    there = machine.folder / "copy"
    assert (there.owner(), there.group(), there.stat().st_mode & 0o777) == ("daemon", "adm", 0o710)
    assert (there / "in").owner() == "root"
