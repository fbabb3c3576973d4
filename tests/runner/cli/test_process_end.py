# SPDX-License-Identifier: Apache-2.0
"""The end of the process loses nothing of what the modules of a tree have written."""

from __future__ import annotations

import subprocess

from command import Machine

CODE = """\
LOG = open({path!r}, "a")
def kept(name):
    LOG.write("kept\\n")
    return {{"name": name, "changes": {{}}, "result": True, "comment": ""}}
"""


def test_what_a_module_of_a_tree_leaves_open_is_written(machine: Machine) -> None:
    log, folder = machine.folder / "log", machine.folder / "states/_states"
    folder.mkdir(parents=True)
    (folder / "own.py").write_text(CODE.format(path=str(log)))
    machine.write(a="x: {own.kept: []}\n")
    for run in (1, 2):  # the second one has no database to close
        done = subprocess.run(
            machine.argv("sls", "a"), capture_output=True, text=True, env=machine.environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert log.read_text() == run * "kept\n"
