# SPDX-License-Identifier: Apache-2.0
"""Services that run on with files that were replaced: the C library of a real machine, in the place
of which its copy is put, as an upgrade does it.
"""

from __future__ import annotations

import pytest
from debian import Debian

from runner.api.own_program import MAIN, own_python

REPLACED = """
library=$(realpath /lib/*/libc.so.6)
cp -p "$library" "$library.new" && mv -f "$library.new" "$library"
"""
EXCLUDING = """# of a comment: $nrconf{blacklist_rc} = [qr(^cron)];
$nrconf{override_rc} = {
    qr(^(ticking|ringing)\\.service$) => 0,  # don't
    q(^docker) => 1,
};
"""
TICKING = "[Service]\nType=exec\nExecStart=/bin/sleep infinity\n"
STATE = {"current": "current:\n  service.current:\n    - keep: kept*\n"}


@pytest.fixture
def machine(debian: Debian) -> Debian:
    """A machine on which everything runs a library that was replaced."""
    for name in ("ticking", "kept-one", "mine", "docker", "only"):
        debian.write(f"/etc/systemd/system/{name}.service", TICKING)
    debian.write("/etc/needrestart/needrestart.conf", EXCLUDING)
    debian.run("systemctl daemon-reload; systemctl restart ticking kept-one mine docker cron ssh")
    debian.run("systemd-run -q --unit=passing sleep infinity")
    debian.run("loginctl enable-linger nobody; systemctl start user@65534")
    debian.tree(
        **STATE,
        told="told:\n  service.current:\n    - restart: False\n    - keep: ['*']\n",
        one="one:\n  service.current:\n    - restart: False\n",
    )
    return debian


def main_pid(machine: Debian, name: str) -> str:
    return machine.read("systemctl", "show", "-P", "MainPID", name)


def test_nothing_is_replaced(machine: Debian) -> None:
    result = machine.results("sls", "current")["current"]
    assert result["result"] is True and not result["changes"]


def test_the_library_is_replaced(machine: Debian) -> None:
    """Services are restarted, once, but for those whose restart would cut something."""
    machine.run(REPLACED)
    names = ("ticking", "kept-one", "mine", "docker", "cron", "ssh", "dbus", "systemd-logind")
    before = {name: main_pid(machine, name) for name in names}
    told = machine.results("sls", "one")["one"]
    assert told["result"] is True and not told["changes"]
    assert "mine" in told["comment"] and "mine" in str(told["warnings"]), told

    foreseen = machine.results("sls", "current", "--test")["current"]
    assert foreseen["result"] is None
    assert {name: main_pid(machine, name) for name in names} == before

    done = machine.results("sls", "current")["current"]
    assert done["result"] is True and done["changes"] == foreseen["changes"], done
    restarted = {name for name in names if main_pid(machine, name) != before[name]}
    assert restarted == {"mine", "docker", "cron", "ssh"}, done
    assert restarted <= done["changes"]["restarted"].keys()
    assert any("libc.so" in path for path in done["changes"]["restarted"]["mine"])
    for name, why in {
        "ticking": "may cut more than the service",
        "kept-one": "it is in `keep`",
        "dbus": "would end sessions",
        "passing": "nothing would start it again",
        "systemd": "daemon-reexec",
    }.items():
        assert f"left as it is: {name} (" in done["comment"] and why in done["comment"], name

    again = machine.results("sls", "current")["current"]
    assert again["result"] is True and not again["changes"], again


def test_a_plain_user_is_told_that_only_root_sees_it(machine: Debian) -> None:
    words = ("single", "service.current", "name=x", "--cachedir", "/tmp/of-nobody", "--test")
    machine.run("chmod 755 /root")
    argv = ["setpriv", "--reuid=nobody", "--clear-groups", *own_python(MAIN)]
    done = machine.run(*argv, *words, code=2)
    assert "only root sees" in done.stdout + done.stderr


def test_packages_that_are_to_go_before(machine: Debian) -> None:
    """A dry run cannot know what will run replaced files behind an upgrade."""
    machine.run("apt-get install -y -q hello")
    machine.tree(gone="hello:\n  pkg.removed: []\n" + STATE["current"])
    told = machine.results("sls", "gone", "--test")["current"]
    assert told["result"] is None and "whose files are replaced" in told["comment"], told
    machine.tree(new="nginx-light:\n  pkg.installed: []\n" + STATE["current"])
    assert machine.results("sls", "new", "--test")["current"]["result"] is True


def test_who_changes_packages_is_told_at_the_end(machine: Debian) -> None:
    """Once, and not where the run has restarted them by then."""
    machine.run(REPLACED)
    told = machine.runner("single", "pkg.installed", "greeting").stderr
    assert told.count("warning: services run on with files that were replaced: ") == 1
    assert " mine" in told and "`service.current` restarts" in told
    assert "replaced" not in machine.runner("single", "pkg.installed", "greeting").stderr
    machine.tree(gone="greeting:\n  pkg.removed: []\n" + STATE["current"].replace("kept*", "x"))
    again = machine.runner("sls", "gone")
    assert "files that were replaced" not in again.stderr and "greeting" in again.stdout


def test_what_a_state_says_of_it_is_not_told_again(machine: Debian) -> None:
    """What it keeps is left on purpose; `provider` is the package's."""
    machine.run(REPLACED)
    package = "greeting:\n  pkg.{}:\n    - provider: apt\n"
    machine.tree(
        one="include: [only]\ncurrent:\n  service.current:\n    - restart: False\n",
        keeps="include: [gone]\n" + STATE["current"],
        only=package.format("installed"),
        gone=package.format("removed"),
    )
    said = "services run on with files that were replaced: "
    for name, told in (("only", True), ("keeps", False), ("one", False)):
        done = machine.runner("sls", name)
        assert "greeting: " in done.stdout, name
        assert (said in done.stderr) is told, name


def test_a_service_that_cannot_start_again(machine: Debian) -> None:
    """The others are restarted; the failure names the service."""
    machine.run("systemctl start only")
    machine.run(REPLACED)
    machine.run("sed -i 's,/bin/sleep,/nosuch,' /etc/systemd/system/only.service")
    before = main_pid(machine, "mine")
    done = machine.results("sls", "current", code=2)["current"]
    assert done["result"] is False and "only: " in done["comment"], done
    assert main_pid(machine, "mine") != before
