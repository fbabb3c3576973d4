# SPDX-License-Identifier: Apache-2.0
"""The programs that `runner check` names for `validate`, where they are: each takes what is right
and refuses what is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import debian as machines
import pytest
from both_runs import unlike
from debian import Debian, NoDebian
from debian_layer import lacking, layer_or_skip

from runner.tools.check.validators import VALIDATORS

SUDOERS = "root ALL=(ALL:ALL) ALL\n"
TRIED = {  # the pattern and the file, with contents that are right and some that are wrong
    ("/etc/sudoers", "/etc/sudoers"): (SUDOERS, "root ALL=(ALL ALL\n"),
    ("/etc/sudoers.d/*", "/etc/sudoers.d/ola"): (SUDOERS, "ola may everything\n"),
    ("/etc/ssh/sshd_config", "/etc/ssh/sshd_config"): ("Port 22\n", "Prot 22\n"),
    ("/etc/ssh/sshd_config.d/*.conf", "/etc/ssh/sshd_config.d/a.conf"): (
        "PermitRootLogin no\n",
        "PermitRootLogin perhaps\n",
    ),
    ("/etc/fstab", "/etc/fstab"): ("proc /proc proc defaults 0 0\n", "/dev/sdx1\n"),
    ("/etc/crontab", "/etc/crontab"): ("1 * * * * root true\n", "99 * * * * root true\n"),
    ("/etc/cron.d/*", "/etc/cron.d/a"): ("A=1\n@daily root true\n", "* * root true\n"),
    ("/etc/systemd/system/*.service", "/etc/systemd/system/a.service"): (
        "[Service]\nExecStart=/bin/true\n",
        "[Service]\nExecStart=bin/true\n",
    ),
    ("/etc/systemd/system/*.timer", "/etc/systemd/system/cron.timer"): (
        "[Timer]\nOnCalendar=daily\n",
        "[Timer]\n",
    ),
}


def judged(machine: Debian, cases: dict[tuple[str, str], tuple[str, str]]) -> None:
    """Write each file by a state, once as it is right and once as it is wrong."""
    machine.run("mkdir -p /run/sshd")
    states = {}
    for (pattern, path), contents in cases.items():
        for number, text in enumerate(contents):
            arguments = {"name": path, "contents": text, "validate": VALIDATORS[pattern]}
            states[f"{path} {number}"] = {
                "file.managed": [*({key: value} for key, value in arguments.items())]
            }
    machine.tree(all=json.dumps(states))
    dry = machine.results("sls", "all", "--test", code=2)
    verdicts = {name: result["result"] is None for name, result in dry.items()}
    assert verdicts == {name: name.endswith(" 0") for name in states}, dry
    for (_, path), _ in cases.items():
        comment = dry[f"{path} 1"]["comment"]
        assert comment.startswith(f"{path} is not written: validate refuses it\n"), comment
    real = machine.results("sls", "all", code=2)
    for result in (*dry.values(), *real.values()):  # a validator may work in a directory of its own
        result["comment"] = re.sub(r"/tmp/tmp\.\w+", "/tmp/its-own", result["comment"])
    assert unlike(dry, real) == {}
    for (_, path), (right, _) in cases.items():
        assert machine.path(path).read_text() == right


def test_the_programs_of_every_machine(debian: Debian) -> None:
    judged(debian, TRIED)


def test_a_broken_line_never_reaches_sudoers(debian: Debian) -> None:
    before = debian.path("/etc/sudoers").read_text()
    append = {"file.append": [{"text": "ola ALL=(ALL ALL"}, {"validate": "visudo -cf"}]}
    debian.tree(all=json.dumps({"/etc/sudoers": append}))
    for options in (("--test",), ()):
        result = debian.results("sls", "all", *options, code=2)["/etc/sudoers"]
        assert result["result"] is False
        assert "syntax error" in result["comment"]
    assert debian.path("/etc/sudoers").read_text() == before


@pytest.fixture
def network() -> Iterator[Debian]:
    """A machine that has netplan."""
    try:
        with machines.debian(layer_or_skip("networks")) as machine:
            yield machine
    except NoDebian as reason:
        lacking(reason)


def test_netplan(network: Debian) -> None:
    right = "network: {version: 2, ethernets: {eth9: {dhcp4: true}}}\n"
    case = ("/etc/netplan/*.yaml", "/etc/netplan/50-a.yaml")
    judged(network, {case: (right, right.replace("true", "perhaps"))})
    assert not network.run("ls -d /tmp/tmp.*", code=None).stdout
