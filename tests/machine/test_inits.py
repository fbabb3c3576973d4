# SPDX-License-Identifier: Apache-2.0
"""Services under OpenRC, runit and s6, each as PID 1: what states do to them, seen with the init's
own programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from debian import Debian
from debian_layer import layer_or_skip

OPENRC = """#!/sbin/openrc-run
supervisor=supervise-daemon
command=/usr/local/bin/{name}
pidfile=/run/{name}.pid
respawn_max=1
extra_started_commands=reload
reload() {{
    supervise-daemon {name} --signal HUP
}}
"""
BROKEN_OPENRC = "#!/sbin/openrc-run\nstart() {{\n    return 1\n}}\n"
SUPERVISED = "#!/bin/sh\nexec /usr/local/bin/{name}\n"
# what the services do: say when they start and when they are to read their configuration
PROGRAM = """#!/bin/sh
trap 'echo reloaded >>/run/{name}.log' HUP
trap 'exit 0' TERM
echo started >>/run/{name}.log
while :; do sleep 0.1; done
"""


@dataclass(frozen=True)
class Init:
    """How an init defines a service, and how it tells that one runs.

    broken: the definition of one that does not start. asks: the command whose output holds `runs`
    when the service is up. boot: what holds after `enable`, as a test of the shell.
    """

    layer: str
    definition: str
    text: str
    broken: str
    asks: str
    runs: str
    boot: str

    def define(self, machine: Debian, name: str) -> None:
        """Define a service that is neither running nor enabled."""
        machine.write(self.definition.format(name=name), self.text.format(name=name), 0o755)
        machine.write(f"/usr/local/bin/{name}", PROGRAM.format(name=name), 0o755)

    def up(self, machine: Debian, name: str) -> bool:
        answer = machine.run(self.asks.format(name=name), code=None)
        return self.runs in answer.stdout + answer.stderr

    def enabled(self, machine: Debian, name: str) -> bool:
        return machine.run(self.boot.format(name=name), code=None).returncode == 0


INITS = {
    "openrc": Init(
        "openrc",
        "/etc/init.d/{name}",
        OPENRC,
        BROKEN_OPENRC,
        "rc-service {name} status",
        "status: started",
        "test -h /etc/runlevels/default/{name}",
    ),
    "runit": Init(
        "runit",
        "/etc/sv/{name}/run",
        SUPERVISED,
        "#!/bin/sh\nexit 3\n",
        "sv status /etc/service/{name}",
        "run: ",
        "test -h /etc/service/{name} -a ! -e /etc/sv/{name}/down",
    ),
    "s6": Init(
        "runit",
        "/etc/s6/sv/{name}/run",
        SUPERVISED,
        "#!/bin/sh\nexit 3\n",
        "s6-svstat -u /run/service/{name}",
        "true",
        "test -h /run/service/{name} -a ! -e /etc/s6/sv/{name}/down",
    ),
}


@pytest.fixture(scope="module", params=INITS)
def init(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def layer(init: str) -> Path:
    return layer_or_skip(INITS[init].layer)


def log(machine: Debian, name: str) -> list[str]:
    return machine.run(f"cat /run/{name}.log", code=None).stdout.split()


def said(machine: Debian, name: str, lines: int) -> list[str]:
    """The log, once it has so many lines: no init waits for what a service does."""
    for _ in range(300):
        if len(log(machine, name)) >= lines:
            break
        machine.run("sleep 0.1")
    return log(machine, name)


def both(machine: Debian, sls: str, **states: str) -> dict[str, Any]:
    """Run states dry, really and again; the real results, when the three agree."""
    machine.tree(all=sls)
    dry = machine.results("sls", "all", "--test")
    real = machine.results("sls", "all")
    for name, result in real.items():
        assert result["result"] is True, result
        assert dry[name]["changes"] == result["changes"], name
        assert dry[name]["result"] is (None if result["changes"] else True)
    again = machine.results("sls", "all")
    assert not [name for name, result in again.items() if result["changes"]], again
    return real


def test_states_of_services(debian: Debian, init: str) -> None:
    here = INITS[init]
    for name in ("tick", "manual", "boots"):
        here.define(debian, name)
    assert debian.read("/usr/local/bin/runner", "call", "grains.get", "init") == {
        "s6": "s6-svscan"
    }.get(init, init)
    real = both(
        debian,
        "tick:\n  service.running:\n    - enable: True\n"
        "manual:\n  service.running: []\n"
        "boots:\n  service.enabled: []\n",
    )
    assert real["tick"]["comment"] == "Service tick has been enabled, and is running"
    assert real["manual"]["comment"] == "Started service manual"
    assert [here.up(debian, name) for name in ("tick", "manual", "boots")] == [True, True, False]
    assert [here.enabled(debian, name) for name in ("tick", "manual", "boots")] == [
        True,
        False,
        True,
    ]
    assert log(debian, "tick") == ["started"], "once"
    names = debian.read("/usr/local/bin/runner", "call", "service.get_running", "--out", "json")
    assert '"tick"' in names and '"boots"' not in names

    real = both(
        debian,
        "tick:\n  service.dead:\n    - enable: False\n"
        "manual:\n  service.running:\n    - enable: True\n"
        "boots:\n  service.disabled: []\n"
        "nosuch:\n  service.dead: []\n",
    )
    assert real["tick"]["comment"] == "Service tick has been disabled, and is dead"
    assert real["nosuch"]["comment"] == "The named service nosuch is not available"
    assert [here.up(debian, name) for name in ("tick", "manual", "boots")] == [False, True, False]
    assert [here.enabled(debian, name) for name in ("tick", "manual", "boots")] == [
        False,
        True,
        False,
    ]
    assert log(debian, "manual") == ["started"], "enabling alone restarts nothing"


def test_restarts_and_reloads(debian: Debian, init: str) -> None:
    here = INITS[init]
    for name in ("again", "rereads"):
        here.define(debian, name)
    debian.tree(
        watch="/etc/{{ pillar.get('new', 'old') }}.conf:\n  file.managed:\n    - contents: x\n"
        "again:\n  service.running:\n    - watch: [{file: /etc/*.conf}]\n"
        "rereads:\n  service.running:\n    - reload: True\n    - watch: [{file: /etc/*.conf}]\n"
    )
    first = debian.results("sls", "watch")
    assert first["again"]["comment"] == "Started service again"
    for name in ("again", "rereads"):  # before that a HUP would end it
        assert said(debian, name, 1) == ["started"]
    second = debian.results("sls", "watch", "--pillar", '{"new": "more"}')
    assert second["again"]["comment"] == "Service restarted"
    assert second["rereads"]["comment"] == "Service reloaded"
    for name, last in ("again", "started"), ("rereads", "reloaded"):
        assert said(debian, name, 2) == ["started", last]


def test_what_does_not_start_fails(debian: Debian, init: str) -> None:
    here = INITS[init]
    debian.write(here.definition.format(name="broken"), here.broken.format(name="broken"), 0o755)
    debian.tree(bad="broken:\n  service.running:\n    - timeout: 1\n")
    results = debian.results("sls", "bad", code=2)
    assert False in [result["result"] for result in results.values()], results


of_openrc = pytest.mark.parametrize("init", ["openrc"], indirect=True, scope="module")


@of_openrc
def test_runlevels(debian: Debian) -> None:
    INITS["openrc"].define(debian, "early")
    both(debian, "early:\n  service.enabled:\n    - runlevels: [boot, default]\n")
    assert debian.read("ls -d /etc/runlevels/*/early") == (
        "/etc/runlevels/boot/early\n/etc/runlevels/default/early"
    )
    debian.tree(
        less="early:\n  service.disabled:\n    - runlevels: boot\n",
        none="early:\n  service.dead:\n    - enable: False\n",
    )
    debian.results("sls", "less")
    assert debian.read("ls -d /etc/runlevels/*/early") == "/etc/runlevels/default/early"
    debian.results("sls", "none")
    assert debian.run("ls -d /etc/runlevels/*/early", code=2).stdout == ""


@of_openrc
def test_a_crashed_service_is_started_again(debian: Debian) -> None:
    INITS["openrc"].define(debian, "crash")
    debian.tree(crash="crash:\n  service.running: []\n")
    debian.results("sls", "crash")
    debian.run("pkill -9 -f '[/]usr/local/bin/crash'; sleep 0.3")
    assert debian.results("sls", "crash")["crash"]["changes"] == {"crash": True}
    assert INITS["openrc"].up(debian, "crash")
