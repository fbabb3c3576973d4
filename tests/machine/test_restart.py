# SPDX-License-Identifier: Apache-2.0
"""A run that asks for a restart of the machine, and goes on after it.

A machine of the tests has the kernel of this computer: its restart is played by another boot ID,
and by starting what systemd would start.
"""

from __future__ import annotations

import json

from debian import Debian

TREE = """
/etc/first:
  file.managed: [contents: x]
use it:
  system.reboot:
    - continue: True
    - only_on_pending_reboot: False
    - onchanges: [file: /etc/first]
/etc/second:
  file.managed: [contents: x]
"""
BOOT = """boot:
  system.reboot: [continue: True]
/etc/second:
  file.managed: [contents: x]
"""
SHUTDOWN = """#!/bin/sh
echo "$@" >>/root/asked
mkdir -p /run/systemd/shutdown; touch /run/systemd/shutdown/scheduled
"""
RESTARTED = """rm -f /run/systemd/shutdown/scheduled /run/reboot-required
cat /proc/sys/kernel/random/uuid >/root/boot_id
mount --bind /root/boot_id /proc/sys/kernel/random/boot_id
"""
THERE = r"""/root/"$(printf 'a\rExecStart=x ;')" """  # a name that files may have
UNIT = "/etc/systemd/system/runner-continue.service"
LINK = "/etc/systemd/system/multi-user.target.wants/runner-continue.service"


def prepare(machine: Debian, tree: str = TREE) -> None:
    machine.run(f"rm -f /root/asked /etc/first /etc/second {LINK} {UNIT}")
    machine.write("/usr/local/sbin/shutdown", SHUTDOWN, 0o755)
    machine.tree(web=tree)


def restart(machine: Debian) -> None:
    """As the boot does it: what is enabled is started."""
    machine.run(RESTARTED)
    machine.run(f"systemctl daemon-reload; test -e {LINK} && systemctl start runner-continue")


def asked(machine: Debian) -> int:
    return int(machine.read("cat /root/asked 2>/dev/null | wc -l"))


def test_a_run_goes_on_after_the_restart(debian: Debian) -> None:
    prepare(debian)
    dry = debian.runner("sls", "web", "--test").stdout
    assert "the run goes on after it" in json.dumps(debian.results("sls", "web", "--test"))
    assert "3 would change" in dry
    assert not asked(debian)
    assert debian.run(f"test -e {UNIT}", code=1)

    done = debian.runner("sls", "web").stdout
    assert "2 changed" in done
    assert "The run ends here, as the machine is restarted; the next run continues." in done
    assert "Not run: file.managed /etc/second." in done
    assert debian.read("cat /root/asked") == "-r +1"
    debian.run("test -e /etc/second", code=1)

    restart(debian)
    debian.run(f"test -e /etc/second; test ! -e {LINK}")
    assert asked(debian) == 1, "not restarted again"
    assert "3 states: 3 unchanged" in debian.runner("sls", "web").stdout
    assert asked(debian) == 1


def test_killed_between_nothing_is_lost_or_done_twice(debian: Debian) -> None:
    """In the state, once the restart is asked for: its reaction is pending still."""
    prepare(debian)
    debian.write("/usr/local/sbin/shutdown", f"{SHUTDOWN}kill -9 $PPID\n", 0o755)
    assert "ends here" not in debian.runner("sls", "web", code=None).stdout
    debian.run("test -e /etc/second", code=1)
    assert asked(debian) == 1
    debian.write("/usr/local/sbin/shutdown", SHUTDOWN, 0o755)
    restart(debian)
    debian.run(f"test -e /etc/second; test ! -e {LINK}")
    assert asked(debian) == 1
    assert json.loads(debian.runner("show", "pending", "--out", "json").stdout)["local"] == []


def test_what_a_killed_run_leaves_holds_up_no_restart(debian: Debian) -> None:
    """The mark of a run that was killed as it went on: others do not take it for theirs."""
    prepare(debian)
    debian.runner("sls", "web")
    debian.run(RESTARTED)
    assert "2 unchanged" in debian.runner("sls", "web").stdout
    debian.run(f"test -e {LINK}; rm /etc/first")
    debian.runner("sls", "web")
    assert asked(debian) == 2


def test_whether_it_goes_on_is_what_the_tree_says_last(debian: Debian) -> None:
    """In a directory whose name systemd reads otherwise."""
    prepare(debian, BOOT)
    debian.run("touch /run/reboot-required; mkdir -p '/root/a %n'")
    debian.run("cd '/root/a %n' && runner sls web")
    assert "2 unchanged" not in debian.read("cd '/root/a %n' && runner sls web")
    assert asked(debian) == 1
    assert ' "/root/a %%n" /usr/local/bin/runner sls web ' in debian.read(f"cat {UNIT}")
    assert not debian.read(
        f"systemd-analyze verify {UNIT} 2>&1 | grep -i -e directory -e environ; :"
    )
    debian.tree(web=BOOT.replace("True", "False"))
    debian.run("cd '/root/a %n' && runner sls web")
    assert asked(debian) == 2
    debian.run(f"test ! -e {LINK}; {RESTARTED}")


def test_a_directory_that_no_unit_names(debian: Debian) -> None:
    """It is refused before anything is changed: systemd takes bytes that are no UTF-8 and shows
    nothing of the unit any more.
    """
    prepare(debian, BOOT.replace("True", "True, only_on_pending_reboot: False"))
    for path, gone in ((r"/root/$(printf 'a\377')", ""), ("/root/gone", "rmdir /root/gone;")):
        for dry in ("--test", ""):
            there = f'mkdir -p "{path}"; cd "{path}"; {gone} runner sls web {dry}'
            assert "cannot go on in this directory" in debian.run(there, code=2).stdout
    assert asked(debian) == 0
    debian.run(f"test ! -e {UNIT}")


def test_each_run_that_has_asked_goes_on(debian: Debian) -> None:
    """Of several command lines, in the directories that they were in, with one ID of the state."""
    prepare(debian)
    debian.tree(other=TREE.replace("/etc/", "/root/"), ends=BOOT.replace("True", "False"))
    debian.run(f"rm -f /root/first /root/second; mkdir -p {THERE} /root/gone")
    debian.run("cd /root/gone && runner sls web")
    for _ in range(2):
        debian.run(f"cd {THERE} && runner sls other")
    assert asked(debian) == 2, "it is about to be restarted"
    debian.run("touch /run/reboot-required")
    assert "as the machine is restarted" in debian.runner("sls", "ends").stdout
    assert asked(debian) == 2
    debian.run("rmdir /root/gone")
    restart(debian)
    debian.run(f"test -e /etc/second; test -e /root/second; test ! -e {LINK}")
    assert asked(debian) == 2
    assert debian.read("systemctl show -P Result runner-continue") == "success"


def test_it_is_where_it_is_required(debian: Debian) -> None:
    prepare(debian, "boot:\n  system.reboot: []\n/etc/second:\n  file.managed: [contents: x]\n")
    assert "2 states: 1 changed, 1 unchanged" in debian.runner("sls", "web").stdout
    debian.run("touch /run/reboot-required; rm /etc/second")
    debian.runner("sls", "web")
    assert asked(debian) == 1
    debian.runner("sls", "web")
    assert asked(debian) == 1, "it is about to be restarted"
    debian.run(f"{RESTARTED} test ! -e {LINK}")
    assert "1 changed, 1 unchanged" in debian.runner("sls", "web").stdout


def test_a_dry_run_knows_that_packages_may_ask_for_it(debian: Debian) -> None:
    prepare(debian, "hello:\n  pkg.installed: []\nboot:\n  system.reboot: [order: last]\n")
    boot = debian.results("sls", "web", "--test")["boot"]
    assert boot["result"] is None and not boot["changes"]
    assert "where a package asks for it that is to be changed" in boot["comment"]
    assert "1 undecided" in debian.runner("sls", "web", "--test").stdout


def test_a_command_line_that_cannot_be_repeated(debian: Debian) -> None:
    prepare(debian)
    done = debian.runner("sls", "web", "--pillar", "{a: b}", code=2)
    assert "continue: this command line cannot be repeated" in done.stdout
    debian.run("test -e /etc/second; rm -f /etc/first")
    assert not asked(debian)


def test_what_is_required_is_named(debian: Debian) -> None:
    debian.run("touch /run/reboot-required; rm -f /etc/second")
    debian.tree(web="/etc/second:\n  file.managed: [contents: x]\n")
    named = "has to be restarted: packages ask for it"
    assert named in debian.runner("sls", "web").stderr
    assert named in debian.runner("history").stdout
    assert "has to be restarted" not in debian.runner("sls", "web").stderr, "it has changed nothing"
    debian.run("rm /run/reboot-required")
    assert "has to be restarted" not in debian.runner("history").stdout
