# SPDX-License-Identifier: Apache-2.0
"""The .deb and the .rpm, from the wheels of this environment: built twice to the same bytes,
installed, used, upgraded and removed.

What a release adds to that takes minutes: the locked wheels of packaging/wheels, and lintian.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from debian import ROOT, Debian
from wheels import COMMIT, write_wheel

from runner import __version__

LAYER = "dnf"
RUNNER = "/usr/bin/runner"  # the machine has that of the checkout in /usr/local
# packed fast, on 2023-11-14
PACKED = "DPKG_DEB_COMPRESSOR_TYPE=none RPM_PAYLOAD=w0.gzdio SOURCE_DATE_EPOCH=1700000000"
SOURCES = "packaging docs sls_examples README.md CHANGELOG.md LICENSE NOTICE pyproject.toml"
NEVER = "[Timer]\nOnCalendar=\nOnCalendar=2099-01-01\n"  # no run beside the test's own
TREE = """
written:
  file.managed:
    - name: /root/written
    - contents: text
"""
UPGRADE = """
upgrade:
  cmd.run:
    - name: dpkg -i /root/next/*.deb
    - creates: /root/upgraded
after it:
  file.managed:
    - name: /root/upgraded
    - contents: after the upgrade
    - require:
      - cmd: upgrade
"""
LINKS = "/etc/systemd/system/timers.target.wants/runner-*"
# what a machine has that rpm looks after
BASE = f"""
Name: base
Version: 1
Release: 1
Summary: What such a machine has
License: MIT
BuildArch: noarch
Provides: /bin/sh /usr/bin/python3.{sys.version_info[1]}
%description
%files
"""


@pytest.fixture(scope="module")
def built(workshop: Debian) -> bytes:
    """A tar file: the packages of this version in root/built, and in root/next those of 99.0: the
    .deb has the same files, the .rpm next to none; and what they were made of.
    """
    system = subprocess.run(["/usr/bin/python3", "-V"], capture_output=True, text=True).stdout
    if system.split(".")[:2] != f"Python {sys.version}".split(".")[:2]:
        pytest.skip(f"packages are for {system.strip()}, and this is another Python")
    write_wheel(workshop.path("/root/wheels"))
    workshop.run(f"""set -e
mkdir /root/source && cd {ROOT} && cp -R {SOURCES} /root/source && cd /root/source
export {PACKED}
packaging/stage /root/wheels /root/staged
export STAGED=/root/staged
packaging/deb/build /root/wheels /root/built
packaging/rpm/build /root/wheels /root/built
cp -a /root/staged /root/less && rm -r /root/less/opt/runner/lib
sed -i 's/^version = .*/version = "99.0"/' pyproject.toml
STAGED=/root/less packaging/rpm/build /root/wheels /root/next
dpkg-deb -R /root/built/*.deb /root/unpacked
sed -i 's/^Version: .*/Version: 99.0/' /root/unpacked/DEBIAN/control
dpkg-deb -b /root/unpacked /root/next
tar -cf /root/all.tar -C / root/wheels root/source root/staged root/less root/built root/next
""")
    return workshop.path("/root/all.tar").read_bytes()


@pytest.fixture
def machine(debian: Debian, built: bytes) -> Debian:
    """A machine with all of that, and a tree that is not run but by the tests."""
    debian.path("/root/all.tar").write_bytes(built)
    debian.run("tar -xpf /root/all.tar -C /; rm /root/all.tar")
    debian.write("/etc/systemd/system/runner-highstate.timer.d/never.conf", NEVER)
    debian.tree(top="base: {'*': [site]}", site=TREE)
    return debian


def runs(machine: Debian) -> list[str]:
    history = json.loads(machine.read(RUNNER, "history", "--out", "json"))["local"]
    return [run["command"] for run in history]


def enabled(machine: Debian) -> str:
    """Return whether the timer is enabled, and whether it waits."""
    unit = "runner-highstate.timer"
    asked = machine.run(f"systemctl is-enabled {unit}; systemctl is-active {unit}", code=None)
    return " ".join(asked.stdout.split())


def test_the_same_bytes(machine: Debian) -> None:
    """In another folder, with another umask, time zone and hash seed."""
    machine.run(f"""set -e
umask 077; mkdir /root/other && cp -R /root/source/. /root/other && cd /root/other
export {PACKED} TZ=Asia/Tokyo PYTHONHASHSEED=7 STAGED=/root/other/staged
STAGED=/root/less packaging/rpm/build /root/wheels out
cmp out/*.rpm /root/next/*.rpm
sed -i 's/^version = .*/version = "{__version__}"/' pyproject.toml
packaging/stage /root/wheels staged
modes() {{ (cd $1 && find . -printf '%m %p\n' | sort); }}
test "$(modes staged)" = "$(modes /root/staged)"
packaging/deb/build /root/wheels out
cmp out/*.deb /root/built/*.deb
""")


def test_deb(machine: Debian) -> None:
    machine.run("mkdir -p /opt/runner/bin; touch /opt/runner/bin/runner")
    refused = machine.run("dpkg -i /root/built/*.deb", code=None)
    assert refused.returncode and "move /opt/runner away" in refused.stderr
    machine.run("rm -r /opt/runner; dpkg -i /root/built/*.deb")
    check_what_is_there(machine)
    assert enabled(machine) == "disabled inactive"
    machine.run("systemctl enable -q --now runner-highstate.timer")
    status = json.loads(machine.read(RUNNER, "schedule", "status", "--out", "json"))["local"]
    assert status["installed"].endswith("/lib/systemd/system/runner-highstate.timer")
    assert status["command"] == f"{RUNNER} highstate -q --scheduled"
    machine.run(RUNNER, "schedule", "remove")
    assert enabled(machine) == "disabled inactive"
    machine.run("systemctl enable -q --now runner-highstate.timer")

    # the run that upgrades its own package goes on to its end
    machine.run("echo '# mine' >>/etc/runner/runner.yaml")
    machine.tree(site=UPGRADE)
    machine.run("systemctl start runner-highstate.service")
    assert machine.read("cat /root/upgraded") == "after the upgrade"
    assert machine.read("dpkg-query -W -f '${Version}' sls-runner") == "99.0"
    assert machine.read("tail -n 1 /etc/runner/runner.yaml") == "# mine"
    assert enabled(machine) == "enabled active"
    history = runs(machine)
    assert (history[0], history[-1]) == ("runner highstate -q --scheduled", "runner highstate")

    machine.run("dpkg -r sls-runner")
    assert not machine.path("/opt/runner").exists()
    assert enabled(machine).endswith("inactive")
    machine.run("dpkg -i /root/next/*.deb")
    assert runs(machine) == history
    assert enabled(machine) == "enabled active"
    machine.run("/usr/bin/runner schedule install -q --cron-d --every 1h")
    machine.run("dpkg -P sls-runner")
    gone = "/opt/runner /etc/runner /var/lib/runner /var/cache/runner /etc/cron.d/runner"
    assert machine.run(f"ls -d {gone} {LINKS}", code=None).stdout == ""


def check_what_is_there(machine: Debian) -> None:
    """That a machine with a package can do what it is there for."""
    for program in RUNNER, f"{RUNNER}-salt-call":
        assert machine.read(program, "--version") == f"runner {__version__} (commit {COMMIT})"
    assert f"## {__version__}" in machine.read("cat /usr/share/doc/sls-runner/CHANGELOG.md")
    machine.run(RUNNER, "highstate")
    assert machine.read("cat /root/written") == "text"
    for page in "runner", "runner-schedule", "runner-salt-call", "runner.yaml", "runner-states":
        assert machine.read("man", "-w", page) != ""
    complete = "source /usr/share/bash-completion/completions/runner; complete -p runner"
    assert machine.read("bash", "-c", complete).endswith(" runner")
    assert machine.read("systemd-analyze verify runner-highstate.timer") == ""
    written = machine.read("find /opt/runner -type f -newermt 2023-11-15")
    assert not written, "all bytecode was made when the package was built"


def test_rpm(machine: Debian) -> None:
    machine.write("/root/base.spec", BASE)
    machine.run("rpmbuild -bb -D '_rpmdir /root/rpms' /root/base.spec; rpm -i /root/rpms/*/*.rpm")
    machine.run("dnf -y install /root/built/*.rpm")
    check_what_is_there(machine)
    assert machine.read("rpm -V sls-runner") == ""
    assert enabled(machine) == "disabled inactive"
    machine.run(
        "systemctl enable -q --now runner-highstate.timer; echo '# mine' >>/etc/runner/runner.yaml"
    )
    machine.run("rpm -U /root/next/*.rpm")
    assert machine.read("rpm -q --qf '%{VERSION}' sls-runner") == "99.0"
    assert machine.read("tail -n 1 /etc/runner/runner.yaml") == "# mine"
    assert enabled(machine) == "enabled active"
    machine.run("rpm -e sls-runner")
    assert enabled(machine).endswith("inactive")
    left = machine.run("ls -d /opt/runner /usr/bin/runner /var/lib/runner", code=None).stdout
    assert left == "/var/lib/runner\n"
