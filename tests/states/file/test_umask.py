# SPDX-License-Identifier: Apache-2.0
"""`- umask:` of any state."""

from __future__ import annotations

import os

from command import Machine


def test_what_a_state_makes_has_its_umask(machine: Machine) -> None:
    states = {
        "file.touch": "",
        "file.managed": "    - contents: x\n",
        "file.append": "    - text: x\n",
        "file.directory": "",
        "cmd.run": "    - name: touch {tmp}/cmd.run\n",
    }
    text = "".join(
        f"{{tmp}}/{function}:\n  {function}:\n    - umask: '077'\n{more}"
        for function, more in states.items()
    )
    machine.write(a=text + "{tmp}/other:\n  file.touch\n")
    before = os.umask(0o022)
    try:
        machine("sls", "a")
    finally:
        os.umask(before)
    for function in states:
        assert (machine.folder / function).stat().st_mode & 0o077 == 0, function
    assert (machine.folder / "other").stat().st_mode & 0o777 == 0o644


def test_a_umask_that_is_none(machine: Machine) -> None:
    machine.write(a="{tmp}/x:\n  file.touch:\n    - umask: rw\n")
    told = machine("sls", "a", code=1).stderr
    assert "umask: 'rw' is not a file mode" in told and "a.sls:3:7" in told
