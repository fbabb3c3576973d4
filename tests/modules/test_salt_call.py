# SPDX-License-Identifier: Apache-2.0
"""Commands of a tree that call salt-call on a machine without Salt."""

from __future__ import annotations

import pytest
from command import Machine
from harness import HarnessHere

from modules._machine import salt_call
from runner.api import CommandFailed, running

TREE = """
{% set command = 'salt-call --local --out json grains.get id' %}
{% set found = salt['cmd.run'](command, env={'PATH': '/usr/bin:/bin'}) | load_json %}
checked:
  file.managed:
    - name: {tmp}/checked
    - contents: {{ found.local }}
    - check_cmd: salt-call --local file.copy /etc/hostname {tmp}/copied remove_existing=true
ran:
  cmd.run:
    - name: salt-call --local test.echo hello 2>&1
    - env:
      - PATH: {tmp}/bin:/usr/bin:/bin
"""


def test_runner_answers_in_its_place_with_this_runs_configuration(machine: Machine) -> None:
    machine.write(calls=TREE)
    results = machine.results("sls", "calls")
    assert results["ran"]["changes"]["stdout"] == "local:\n    hello", "as Salt prints it"
    assert (machine.folder / "checked").read_text().strip() == "m1"


def test_a_salt_call_that_is_there_is_called(machine: Machine) -> None:
    program = machine.folder / "bin/salt-call"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho the real one\n")
    program.chmod(0o755)
    machine.write(calls="ran" + TREE.partition("\nran")[2])
    assert machine.results("sls", "calls")["ran"]["changes"]["stdout"] == "the real one"


def test_it_is_said_where_none_can_be_made() -> None:
    current = HarnessHere()
    current.cache_dir = "/proc/nowhere"
    words = ["salt-call", "test.ping"]
    with running(current), pytest.raises(CommandFailed, match="Unable to run command 'salt-call'"):
        salt_call.environment(words, {"PATH": "/nowhere"})
