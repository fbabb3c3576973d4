# SPDX-License-Identifier: Apache-2.0
"""`runner rehearse` on a machine with systemd: the copy really gets packages, services, users; the
machine gets nothing of it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest
from debian import ROOT, RUNNER, Debian

UNIT = "/etc/systemd/system/talker.service"
SITE: dict[str, Any] = {
    "hello": {"pkg.installed": []},
    UNIT: {
        "file.managed": [
            {
                "contents": "[Service]\nExecStart=/usr/bin/env python3 -m http.server 8123\n"
                "[Install]\nWantedBy=multi-user.target\n"
            }
        ]
    },
    "talker": {"service.running": [{"enable": True}, {"require": [{"file": UNIT}]}]},
    "zed": {"user.present": []},
    "/etc/keys": {"file.managed": [{"contents": "very-private"}, {"mode": "0600"}]},
    "/etc/open": {"file.managed": [{"contents": "token={{ pillar['token'] }}"}]},
    "/srv/notes/old": {"file.absent": []},
    "/srv/notes/changed": {"file.managed": [{"contents": "two"}]},
    "ask": {"cmd.run": [{"name": "! /usr/local/bin/connect 2>/dev/null"}]},
    "break": {"cmd.run": [{"name": "systemd-run -q --wait --unit=broken false || true"}]},
}
EXPECTATIONS = """
package: {hello: {installed: true}}
service: {talker: {running: true}}
http: {"http://127.0.0.1:8123/": {status: 200}}
file: {/srv/notes/old: {exists: true}}
command: {cat /etc/open: {stdout: other}}
"""
CONNECT = """#!/usr/bin/python3
import socket
socket.socket(socket.AF_UNIX).connect("/srv/notes/socket")
"""
LISTEN = """import socket, time
listening = socket.socket(socket.AF_UNIX)
listening.bind("/srv/notes/socket")
listening.listen()
open("/run/listens", "w").close()
time.sleep(1000)
"""


def test_what_really_changes_is_reported_and_reaches_nothing(debian: Debian) -> None:
    debian.write("/srv/notes/old", "x\n")
    debian.write("/srv/notes/changed", "one\n")
    debian.write("/usr/local/bin/connect", CONNECT, 0o755)
    debian.write("/root/expect.yaml", EXPECTATIONS)
    debian.tree(top="base: {'*': [site]}", site=json.dumps(SITE))
    debian.start("python3", "-c", LISTEN, ready="test -e /run/listens")
    history = debian.read("sqlite3 -version >/dev/null 2>&1; ls -l /var/lib/runner || true")

    words = ("--twice", "--expect", "/root/expect.yaml", "--pillar", '{"token": "tell-nobody"}')
    done = debian.runner("rehearse", "highstate", *words, "--out", "json", code=2)
    report = json.loads(done.stdout)
    assert "tell-nobody" not in done.stdout + done.stderr

    assert {state["result"] for state in report["local"].values()} == {True}, report["local"]
    changed = report["changed"]
    assert list(changed["packages"]) == ["hello"] and changed["packages"]["hello"]["old"] == ""
    assert changed["units"]["talker.service"]["new"] == "active (running), enabled"
    assert changed["ports"]["tcp 0.0.0.0:8123"] == {"old": "", "new": "python3"}
    assert changed["failed_units"] == ["broken.service"]
    files = changed["files"]
    assert files["/srv/notes/old"]["change"] == "removed"
    assert files["/srv/notes/changed"]["diff"].endswith("-one\n+two")
    assert files["/usr/bin/hello"]["package"] == "hello"
    assert files["/etc/open"]["diff"].endswith("+token=**********")
    assert "zed:x:" in files["/etc/passwd"]["diff"]
    assert files["/etc/keys"]["change"] == "added" and "very-private" not in str(files)
    assert not [path for path in files if path.startswith("/var/lib/runner")]
    assert not report["differences"], report["differences"]
    assert [state["__id__"] for state in report["second_run"]["changed"].values()] == [
        "ask",
        "break",
    ]
    assert [item["problem"] for item in report["expectations"] if not item["ok"]] == [
        "expected true, it is false",
        "line 1 is 'token=**********', not 'other'",
    ]

    debian.run("! dpkg -s hello && ! id zed && test -e /srv/notes/old && ! test -e /etc/keys")
    debian.run(f"! test -e {UNIT} && ! systemctl is-failed broken && ! ss -tl | grep -w 8123")
    debian.run("/usr/local/bin/connect")
    assert debian.read("sqlite3 -version >/dev/null 2>&1; ls -l /var/lib/runner || true") == history


def test_a_copy_is_kept_for_a_shell_and_one_that_was_killed_is_swept(debian: Debian) -> None:
    words = ("rehearse", "single", "file.managed", "name=/etc/kept", "contents=x")
    kept = debian.runner(*words, "--keep")
    assert "runner rehearse --shell" in kept.stderr
    inside = debian.run(
        "env", "SHELL=/bin/sh", RUNNER, "rehearse", "--shell", stdin="cat /etc/kept"
    )
    assert inside.stdout == "x\n"
    debian.run("! test -e /etc/kept")

    debian.run("mkdir /sys/fs/cgroup/runner-rehearsal-1-1")  # as a kill may leave it
    words = (RUNNER, "rehearse", "single", "cmd.run", "name=sleep 1000")
    pid = debian.start(*words, ready="pgrep -x sleep")
    debian.run(f"kill -9 {pid}")
    debian.until("! pgrep -x sleep")
    refused = debian.runner("rehearse", "--shell", code=1)
    assert "no copy is kept" in refused.stderr, "the next rehearsal replaced it"
    assert "rehearsal" not in debian.read("ls /sys/fs/cgroup")


# a user may mount a proc where a whole one is seen
WHOLE_PROC = (
    "mkdir -p /run/whole; mountpoint -q /run/whole"
    " || mount -t proc -o nosuid,nodev,noexec proc /run/whole"
)


def test_a_user_rehearses_what_this_user_may_do(debian: Debian) -> None:
    """The dry run, and the real run, of a user who may write the own folder alone."""
    debian.run("useradd -m zoe; chmod 755 /root")  # where this Python may be
    debian.run(WHOLE_PROC)
    states = {
        "/home/zoe/own": {"file.managed": [{"contents": "x"}]},
        "/etc/foreign": {"file.managed": [{"contents": "x"}]},
        "whoami >/home/zoe/who": {"cmd.run": []},
    }
    debian.write("/home/zoe/tree/site.sls", json.dumps(states))
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from runner.cli import main; main()"
    words = ["rehearse", "sls", "site", "--state-tree", "/home/zoe/tree", "--out", "json"]
    argv = ["setpriv", "--reuid=zoe", "--regid=zoe", "--init-groups", "env", "HOME=/home/zoe"]
    done = debian.run(*argv, sys.executable, "-P", "-c", program, *words, code=2)
    report = json.loads(done.stdout)
    results = {state["name"]: state["result"] for state in report["local"].values()}
    assert [*results.values()] == [True, False, True], report["local"]
    assert set(report["changed"]["files"]) == {"/home/zoe/own", "/home/zoe/who"}
    assert not report["differences"]
    debian.run("! test -e /home/zoe/own && ! test -e /home/zoe/who")

    chrooted = ["chroot", "--userspec=zoe", "/mnt", "env", "HOME=/home/zoe", sys.executable]
    debian.run("mount --rbind / /mnt")  # the kernel lets nobody have namespaces in a chroot
    refused = debian.run(*chrooted, "-P", "-c", program, *words[:-2], code=1)
    assert "no rehearsal here: " in refused.stderr and "sudo" in refused.stderr
    debian.run("umount -l /mnt")


@pytest.mark.parametrize("home", ["/home/dept/ada", "/home/ada"])
def test_a_home_below_folders_of_others_or_of_their_group(debian: Debian, home: str) -> None:
    """A user's overlay copies no folder of somebody else, nor of a group that it does not know."""
    debian.run(WHOLE_PROC)
    debian.run(f"mkdir -p /home/dept; useradd -md {home} ada; chgrp root {home}; chmod 755 /root")
    debian.write(f"{home}/tree/site.sls", f"{home}/own:\n  file.managed:\n    - contents: x\n")
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from runner.cli import main; main()"
    words = ["rehearse", "sls", "site", "--state-tree", f"{home}/tree", "--out", "json"]
    argv = ["setpriv", "--reuid=ada", "--regid=ada", "--init-groups", "env", f"HOME={home}"]
    done = debian.run(*argv, sys.executable, "-P", "-c", program, *words)
    assert set(json.loads(done.stdout)["changed"]["files"]) == {f"{home}/own"}
    debian.run(f"test ! -e {home}/own && userdel -r ada")


def test_rights_of_the_console_are_its_own(debian: Debian) -> None:
    before = os.stat("/dev/null")
    debian.run("chgrp tty /dev/console && chmod 620 /dev/console && echo x >/dev/console")
    assert debian.run("stat -c %a /dev/null").stdout == "666\n"
    assert os.stat("/dev/null") == before, "it is this computer's"
