# SPDX-License-Identifier: Apache-2.0
"""Files that those who read a folder pass over."""

from __future__ import annotations

import json

import pytest
from command import Machine


def told(machine: Machine, state: str, arguments: str, family: str = "Debian") -> list[str]:
    """What `runner check` says of a state's traps, and what it would write instead."""
    machine.config["grains"] = {"os_family": family}
    machine.write(a=f"{state.split()[1]}:\n  {state.split()[0]}: [{arguments}]\n")
    found = json.loads(machine("check", "a", "--out", "json", code=None).stdout)["diagnostics"]
    return [f"{each['message']} => {each['hint']}" for each in found if each["code"] == "trap"]


@pytest.mark.parametrize(
    ("path", "better"),
    [
        ("/etc/cron.d/example.com", "/etc/cron.d/example-com"),
        ("/etc/cron.d/do something", "/etc/cron.d/do-something"),
        ("/etc/cron.daily/backup.sh", "/etc/cron.daily/backup-sh"),
        ("/etc/sudoers.d/first.last", "/etc/sudoers.d/first-last"),
        ("/etc/apt/sources.list.d/docker", "/etc/apt/sources.list.d/docker.list"),
        ("/etc/apt/preferences.d/postgresql-9.1", "/etc/apt/preferences.d/postgresql-9-1"),
        ("/etc/sysctl.d/forward", "/etc/sysctl.d/forward.conf"),
        ("/etc/modprobe.d/gpu.cfg", "/etc/modprobe.d/gpu.conf"),
        (
            "/etc/systemd/system/nginx.service.d/more",
            "/etc/systemd/system/nginx.service.d/more.conf",
        ),
        ("/etc/profile.d/proxy", "/etc/profile.d/proxy.sh"),
    ],
)
def test_a_name_that_is_passed_over_has_a_better_one(
    machine: Machine, path: str, better: str
) -> None:
    machine.write(a=f"{json.dumps(path)}: {{file.managed: [contents: x, mode: '0755']}}\n")
    machine.config["grains"] = {"os_family": "Debian"}
    done = machine("check", "a")
    assert f"passes over {path}: the names that it reads" in done.stdout + done.stderr
    assert f"hint: call it {better}\n" in done.stdout + done.stderr
    machine.write(a=f"{better}: {{file.managed: [contents: x, mode: '0755']}}\n")
    assert "passes over" not in machine("check", "a").stdout


def test_rights_and_owners_with_which_a_file_is_passed_over(machine: Machine) -> None:
    cases = {
        ("/etc/logrotate.d/app", "mode: '0664'"): "its group or others may write it => `- mode: '0",
        ("/etc/logrotate.d/app", "mode: 664"): "its group or others may write it",
        ("/etc/sudoers.d/app", "mode: '0666'"): "others may write it => `- mode: '0440'`",
        ("/etc/cron.d/app", "user: daemon"): "it is not root's => leave `user` away",
        ("/etc/cron.daily/app", "contents: x"): "it may not be executed => `- mode: '0755'`",
        ("/etc/cron.weekly/app", "mode: '0644'"): "it may not be executed",
    }
    for (path, arguments), why in cases.items():
        found = told(machine, f"file.managed {path}", arguments)
        assert len(found) == 1 and f" passes over {path}: {why}" in found[0], found


def test_what_is_read_or_is_not_meant_to_be_is_no_trap(machine: Machine) -> None:
    for state, arguments in {
        "file.managed /etc/logrotate.d/app.conf": "mode: '0644'",
        "file.managed /etc/sudoers.d/app": "mode: '0440'",
        "file.managed /etc/cron.d/app": "user: root, mode: keep, source: salt://a.sls",
        "file.managed /etc/cron.daily/app": "mode: '0755'",
        "file.managed /etc/cron.daily": "mode: '0755'",
        "file.managed /etc/sysctl.d/README": "contents: x",
        "file.managed /etc/sysctl.d/10-old.conf.disabled": "contents: x",
        "file.absent /etc/cron.d/example.com": "",
        "file.managed /etc/apt/preferences.d/postgresql-9.1.pref": "contents: x",
        "file.managed /srv/etc/cron.d/example.com": "contents: x",
        "file.recurse /etc/sysctl.d": "source: salt://",
    }.items():
        assert not told(machine, state, arguments), state
    assert not told(machine, "file.managed /etc/cron.d/x.y", "contents: x", "RedHat")
    assert told(machine, "file.symlink /etc/cron.d/x.y", "target: /srv/x")


def test_a_tree_may_say_which_names_are_read(machine: Machine) -> None:
    machine.write(
        a="/etc/rsyslog.d/a.rules: {file.managed: [contents: x]}\n",
        b="include: [a]\n/etc/rsyslog.conf: {file.managed: [contents: x]}\n",
    )
    for name, warned in (("a", True), ("b", False)):
        done = machine("check", name)
        assert ("passes over" in done.stdout + done.stderr) is warned
