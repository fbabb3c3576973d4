# SPDX-License-Identifier: Apache-2.0
"""Packages with a real apt and dpkg: when another one has the lock, when one was killed, when there
is not a mirror.
"""

from __future__ import annotations

import json

from debian import Debian
from debian_archive import INDEX, SECURITY, package
from starting import starts, waits

from modules import cron

LOCK = """import fcntl, time
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
open("/run/locked", "w").close()
time.sleep(1000)
"""
TRICKY = """Package: tricky
Version: 1.0
Architecture: all
Maintainer: me
Description: waits while it is set up
"""
POSTINST = """#!/bin/sh
test -e /run/calm && exit 0
touch /run/reached
sleep 100
"""


def single(debian: Debian, *words: str, code: int = 0) -> dict[str, object]:
    (result,) = debian.results("single", *words, code=code).values()
    assert isinstance(result, dict)
    return result


def locked(debian: Debian) -> int:
    """The process that holds the lock of dpkg."""
    return debian.start("python3", "-c", LOCK, ready="test -e /run/locked")


def test_a_version_an_upgrade_a_hold_and_a_removal(debian: Debian) -> None:
    assert single(debian, "pkg.installed", "greeting", "version=1.0")["changes"] == {
        "greeting": {"old": "", "new": "1.0"}
    }
    assert debian.read("dpkg-query -Wf '${Version}' greeting") == "1.0"
    assert not single(debian, "pkg.installed", "greeting")["changes"], "any version will do"
    held = single(debian, "pkg.held", "greeting")["changes"]
    assert held == {
        "greeting": {
            "name": "greeting",
            "changes": {"old": "install", "new": "hold"},
            "result": True,
            "comment": "Package greeting is now being held.",
        }
    }
    assert debian.read("apt-mark showhold") == "greeting"
    assert "update_holds" in str(
        single(debian, "pkg.installed", "greeting", "version=2.0", code=2)["comment"]
    )
    single(debian, "pkg.unheld", "greeting")
    dry = single(debian, "pkg.latest", "greeting", "--test")
    real = single(debian, "pkg.latest", "greeting")
    assert dry["changes"] == real["changes"] == {"greeting": {"old": "1.0", "new": "2.0"}}
    back = single(debian, "pkg.installed", "greeting", "version=1.*")
    assert back["comment"] == "The following packages were installed/updated: greeting=1.*"
    assert back["changes"] == {"greeting": {"old": "2.0", "new": "1.0"}}
    result = single(debian, "pkg.installed", "pkgs=[greeting: 2.0, hello: '>=1', bash: null]")
    assert (
        result["comment"]
        == "The following packages were installed/updated: greeting=2.0, hello>=1\n"
        "The following packages were already installed: bash"
    )
    debian.run("apt-get purge -q hello")
    result = single(debian, "pkg.installed", "hello", "only_upgrade=True", code=2)
    assert result["comment"] == "The following packages failed to install/update: hello"
    assert single(debian, "pkg.removed", "greeting")["changes"] == {
        "greeting": {"old": "2.0", "new": ""}
    }
    debian.run("dpkg-query -W hello", code=1)


def test_only_security_updates_and_what_is_kept_back(debian: Debian) -> None:
    debian.run(f"{SECURITY} apt-get install -q -y greeting=1.0 hello; apt-mark hold greeting")
    candidate = debian.read("apt-cache policy greeting | grep Candidate")
    assert candidate.split()[-1] == "3.0"
    for words in (["security=True"], []):
        told = single(debian, "pkg.uptodate", "x", *words, "--test")["comment"]
        assert "(kept back: greeting)" in str(told)
        shown = debian.runner("single", "pkg.uptodate", "x", *words, "--test").stdout
        assert "kept back by the package manager: greeting" in shown
    others = single(debian, "pkg.uptodate", "x", "pkgs=[hello]", "--test")
    assert "kept back" not in str(others), "only of what the state is about"
    debian.run("apt-mark unhold greeting")
    foreseen = single(debian, "pkg.uptodate", "x", "security=True", "--test")["changes"]
    done = single(debian, "pkg.uptodate", "x", "security=True")["changes"]
    assert foreseen == done == {"greeting": {"old": "1.0", "new": "2.0"}}
    assert not single(debian, "pkg.uptodate", "x", "security=True")["changes"]


def test_it_waits_for_the_lock_and_says_so(debian: Debian) -> None:
    holder = locked(debian)
    words = ("runner", "single", "pkg.installed", "greeting")
    pid = debian.start(*words, output="/run/told", ready="grep waiting /run/told")
    debian.run(f"kill {holder}")
    debian.ended(pid)
    assert (
        "waiting for another package manager: Could not get lock /var/lib/dpkg/lock-frontend"
        in debian.read("cat /run/told")
    )
    assert debian.read("dpkg-query -Wf '${Version}' greeting") == "2.0"


def test_it_gives_up_waiting(debian: Debian) -> None:
    holder = locked(debian)
    debian.write("/etc/apt/apt.conf.d/patience", 'DPkg::Lock::Timeout "1";\n')
    result = single(debian, "pkg.installed", "greeting", code=2)
    debian.run(f"rm /etc/apt/apt.conf.d/patience; kill {holder}")
    debian.ended(holder)
    assert result["result"] is False
    assert result["changes"] == {}
    for part in ("Could not get lock", "(python3)", "waited 1 seconds", "Let that program end"):
        assert part in str(result["comment"])


def test_an_interrupted_dpkg_is_healed_and_told(debian: Debian) -> None:
    debian.write("/srv/tricky/DEBIAN/control", TRICKY)
    debian.write("/srv/tricky/DEBIAN/postinst", POSTINST, 0o755)
    debian.run("dpkg-deb -b /srv/tricky /srv")
    debian.start("dpkg", "-i", "/srv/tricky_1.0_all.deb", ready="test -e /run/reached")
    debian.kill("dpkg", "sleep")
    debian.run("touch /run/calm")
    assert debian.read("ls /var/lib/dpkg/updates"), "as a power cut would leave it"
    state = {
        "one": {"pkg.installed": [{"name": "greeting"}]},
        "two": {"pkg.installed": [{"name": "hello"}]},
    }
    debian.tree(two=json.dumps(state))
    before = debian.read("ls -l --full-time /var/lib/dpkg /var/lib/dpkg/updates")
    dry = debian.runner("sls", "two", "--test")
    assert "dpkg was interrupted" in dry.stdout + dry.stderr
    assert debian.read("ls -l --full-time /var/lib/dpkg /var/lib/dpkg/updates") == before
    done = debian.runner("sls", "two")
    assert (done.stdout + done.stderr).count(
        "dpkg had been interrupted: what was left was finished first"
    ) == 1
    wanted = "dpkg-query -Wf '${Package} ${db:Status-Status}\\n' greeting hello tricky"
    assert debian.read(wanted).split("\n") == [
        "greeting installed",
        "hello installed",
        "tricky installed",
    ]


BROUGHT = """
repository:
  pkgrepo.managed:
    - name: deb [trusted=yes] file:/srv/more ./
    - file: /etc/apt/sources.list.d/more.list
new version:
  pkg.installed:
    - name: greeting
    - version: '>=9'
new:
  pkg.latest:
    - name: no-such-package
"""


def test_what_cannot_be_had(debian: Debian) -> None:
    result = single(debian, "pkg.installed", "no-such-package", code=2)
    assert "E: Unable to locate package no-such-package" in str(result["comment"])
    dry = single(debian, "pkg.installed", "no-such-package", "refresh=False", "--test", code=2)
    assert dry["comment"] == result["comment"], "with lists that will be these it is known before"
    dry = single(debian, "pkg.installed", "no-such-package", "--test", code=2)
    assert str(dry["comment"]).startswith(f"{result['comment']}\nThe package lists are "), dry
    debian.run(
        "mv /var/lib/apt/lists /root/away; mkdir /var/lib/apt/lists; touch /var/lib/apt/lists/lock"
    )
    assert single(debian, "pkg.installed", "no-such-package", "--test")["result"] is None, (
        "there are no lists yet"
    )
    debian.run("rm -r /var/lib/apt/lists; mv /root/away /var/lib/apt/lists")
    debian.tree(brought=BROUGHT)
    assert {each["result"] for each in debian.results("sls", "brought", "--test").values()} == {
        None
    }
    debian.run("cp -a /etc/apt/sources.list /var/lib/apt/lists /root")
    debian.run("echo deb http://127.0.0.1:1/debian stable main >>/etc/apt/sources.list")
    debian.write("/etc/apt/apt.conf.d/once", 'Acquire::Retries "0";\n')
    result = single(debian, "pkg.installed", "greeting", "refresh=True")
    debian.run(
        "cp -a /root/sources.list /etc/apt; rm -r /etc/apt/apt.conf.d/once /var/lib/apt/lists"
    )
    debian.run("cp -a /root/lists /var/lib/apt")
    assert "127.0.0.1:1" in str(result["warnings"]), (
        "the old lists were good enough, but it is told"
    )
    assert result["changes"]


def test_what_a_package_lacks_is_named(debian: Debian) -> None:
    control = "Package: needy\nVersion: 1\nArchitecture: all\nMaintainer: me\nDescription: x\n"
    depends = f"{control}Depends: no-such-library (>= 3)\n"
    debian.run(package("needy", files={"DEBIAN/control": depends}) + INDEX)
    why = "- needy : Depends: no-such-library (>= 3) but it is not installable"
    for options in (["--test"], []):
        comment = str(single(debian, "pkg.installed", "needy", *options, code=2)["comment"])
        assert why in comment, comment


TOGETHER = """
one:
  pkg.installed:
    - name: greeting
    - version: '1.0'
    - aggregate: True
two:
  pkg.installed:
    - pkgs: [hello]
    - aggregate: True
other way:
  pkg.installed:
    - name: greeting
    - install_recommends: False
    - aggregate: True
bad:
  pkg.installed:
    - name: no-such-package
    - refresh: False
    - aggregate: True
seen:
  test.succeed_with_changes:
    - onchanges:
      - pkg: two
"""


def test_several_states_are_one_transaction_and_each_reports_its_share(debian: Debian) -> None:
    debian.write("/srv/salt/together.sls", TOGETHER)
    debian.run("rm -f /var/log/apt/history.log")
    dry = debian.results("sls", "together", "--test", code=None)
    results = {each["__id__"]: each for each in debian.results("sls", "together", code=2).values()}
    assert {name: dry[name]["changes"] for name in ("one", "two")} == {
        name: results[name]["changes"] for name in ("one", "two")
    }, "a dry run does the same"
    assert results["one"]["changes"] == {"greeting": {"old": "", "new": "1.0"}}
    assert results["two"]["changes"] == {
        "hello": {"old": "", "new": debian.read("dpkg-query -Wf '${Version}' hello")}
    }
    assert results["two"]["comment"] == "The following packages were installed/updated: hello"
    assert not results["bad"]["result"], "its own failure is its own"
    assert results["seen"]["changes"]
    assert debian.read("grep -c ^Install: /var/log/apt/history.log") == "1"
    again = debian.results("sls", "together", code=2)
    assert not any(each["changes"] for each in again.values() if each["__id__"] != "seen")


FORGOTTEN = """
first: {pkg.installed: [{name: greeting}, {aggregate: true}]}
between: {cmd.run: [{name: 'true'}]}
apart: {pkg.installed: [{pkgs: [hello, acl]}]}
later: {pkg.installed: [{name: iptables}, {aggregate: true}, {require: [cmd: between]}]}
last: {pkg.installed: [{pkgs: [hello, ifupdown]}, {aggregate: true}]}
"""
SHARES = {
    "first": ["greeting"],
    "apart": ["acl"],
    "later": ["iptables"],
    "last": ["hello", "ifupdown"],
}


def test_states_between_those_of_a_transaction_install_what_is_theirs(debian: Debian) -> None:
    """What a state reports is looked up for its own packages, and only if it was taken in."""
    packages = {package for share in SHARES.values() for package in share}
    debian.run(f"apt-get -qq purge {' '.join(packages)} >/dev/null 2>&1 || true")
    debian.write("/srv/salt/forgotten.sls", FORGOTTEN)
    for words in (["--test"], []):
        results = {
            each["__id__"]: sorted(packages.intersection(each["changes"]))
            for each in debian.results("sls", "forgotten", *words).values()
            if each["__id__"] in SHARES
        }
        assert results == SHARES, words
    installed = debian.read(
        "dpkg-query -Wf '${db:Status-Abbrev}${Package}\\n' | sed -n 's/^ii //p'"
    )
    assert packages <= {*installed.split()}


def test_a_hundred_packages_are_no_question_and_never_stale(debian: Debian) -> None:
    installed = debian.read(
        "dpkg-query -Wf '${db:Status-Abbrev}${Package}\\n' | sed -n 's/^ii //p' | head -100"
    ).split()
    tree: dict[str, object] = {
        f"has {name}": {"pkg.installed": [{"name": name}]} for name in installed
    }
    debian.tree(many=json.dumps(tree))
    debian.write(
        "/usr/local/sbin/dpkg-query",
        '#!/bin/sh\necho x >>/run/asked\nexec /usr/bin/dpkg-query "$@"\n',
        0o755,
    )
    results = debian.results("sls", "many")
    assert len(results) == 100
    assert not any(result["changes"] for result in results.values())
    debian.run("test ! -e /run/asked && rm /usr/local/sbin/dpkg-query")
    behind = {
        "first": {"pkg.installed": [{"name": "bash"}]},
        "behind its back": {"cmd.run": [{"name": "apt-get install greeting"}]},
        "then": {"pkg.installed": [{"name": "greeting"}]},
    }
    debian.tree(behind=json.dumps(behind))
    assert not debian.results("sls", "behind")["then"]["changes"]


OTHERS = waits("test -e /run/go")
OTHERS += "; useradd late; apt-get install greeting; crontab /srv/crontab; touch /run/gone"
BEHIND = f"""
others:
  cmd.run:
    - name: {json.dumps(starts(OTHERS))}
before:
  pkg.purged: [name: greeting]
before too:
  user.absent: [name: late]
before all:
  cron.absent: [name: late]
waits:
  test.nop:
    - onlyif: {json.dumps("touch /run/go; " + waits("test -e /run/gone"))}
after:
  pkg.installed: [name: greeting]
after too:
  user.present: [name: late, createhome: False]
after all:
  cron.absent: [name: late]
"""


def test_what_others_do_during_the_run_is_seen(debian: Debian) -> None:
    debian.write("/srv/crontab", f"{cron.HEADER}\n5 * * * * late\n")
    debian.tree(behind=BEHIND)
    results = debian.results("sls", "behind")
    debian.run("userdel late; crontab -r", code=None)
    assert [name for name, result in results.items() if result["changes"]] == [
        "others",
        "after all",
    ], results


def test_a_full_disk_is_told_and_nothing_said_to_be_installed(debian: Debian) -> None:
    debian.run(
        "mkdir -p /usr/share/doc/hello; mount -t tmpfs -o nr_inodes=2 tmpfs /usr/share/doc/hello"
    )
    result = single(debian, "pkg.installed", "hello", code=2)
    debian.run("umount /usr/share/doc/hello")
    assert result["changes"] == {}
    assert "No space left on device" in str(result["comment"])
    assert single(debian, "pkg.installed", "hello")["changes"]


def test_one_that_cannot_be_had_fails_alone(debian: Debian) -> None:
    states = {
        name: {"pkg.installed": [{"name": name}, {"aggregate": True}]}
        for name in ("greeting", "no-such-package", "hello")
    }
    debian.write("/srv/salt/alone.sls", json.dumps(states))
    results = {each["__id__"]: each for each in debian.results("sls", "alone", code=2).values()}
    assert {name: each["result"] for name, each in results.items()} == {
        "greeting": True,
        "no-such-package": False,
        "hello": True,
    }
    assert list(results["greeting"]["changes"]) == ["greeting"]
    assert list(results["hello"]["changes"]) == ["hello"]


def test_a_name_that_apt_takes_for_something_else_is_no_package(debian: Debian) -> None:
    debian.run("apt-get install -q -y greeting=1.0")
    marks = debian.read("apt-mark showmanual")
    for name in ("greeting-", "gree*", "gree.", "greeting+", "?name(greeting)"):
        for words in ((name,), (name, "--test")):
            result = single(debian, "pkg.installed", *words, "refresh=false", code=2)
            assert f"E: Unable to locate package {name}" in str(result["comment"])
        debian.runner("call", "pkg.hold", name, code=None)
    assert debian.read("dpkg-query -Wf '${Version}' greeting") == "1.0"
    assert debian.read("apt-mark showhold; apt-mark showmanual") == marks


def test_undo_removes_a_package_that_a_kill_left_unpacked(debian: Debian) -> None:
    folder = "/run/tricky/DEBIAN"
    debian.write(f"{folder}/control", TRICKY)
    debian.write(f"{folder}/postinst", POSTINST, 0o755)
    debian.run("dpkg-deb -b /run/tricky /srv/tricky.deb; rm -f /run/calm /run/reached")
    state = {"tricky": {"pkg.installed": [{"sources": [{"tricky": "/srv/tricky.deb"}]}]}}
    debian.tree(one=json.dumps(state))
    pid = debian.start("runner", "sls", "one", ready="test -e /run/reached")
    debian.run(f"kill -9 {pid}")
    debian.kill("dpkg", "apt-get")
    debian.run("touch /run/calm")
    state_of = "dpkg-query -Wf '${db:Status-Status}' tricky 2>/dev/null; true"
    assert debian.read(state_of) == "half-configured"
    for words in (["--test"], []):
        done = json.loads(debian.runner("undo", *words, "--out", "json").stdout)["local"]
        assert [step["what"] for step in done["steps"]] == ["package tricky: removed"]
    assert debian.read(state_of) in ("", "config-files", "not-installed")


def test_a_package_that_was_installed_for_others_comes_back_as_such(debian: Debian) -> None:
    debian.run("apt-get install -qq greeting=1.0 hello && apt-mark auto greeting")
    removed = {"both": {"pkg.removed": [{"pkgs": ["greeting", "hello"]}]}}
    debian.tree(removed=json.dumps(removed))
    debian.results("sls", "removed")
    shown = debian.runner("undo", "--test").stdout
    assert "automatic package greeting: made again" in shown
    assert "automatic package hello" not in shown
    debian.runner("undo")
    look = "apt-mark showauto greeting hello; echo; apt-mark showmanual greeting hello"
    assert debian.read(look).split() == ["greeting", "hello"]
    assert debian.read("apt-mark showauto greeting hello") == "greeting"
    (undo, *_) = json.loads(debian.runner("history", "--out", "json").stdout)["local"]
    again = debian.runner("undo", str(undo["id"])).stdout
    assert "automatic package" not in again
    assert debian.read("dpkg-query -Wf '${db:Status-Status} ' greeting hello; true") in (
        "config-files config-files",
        "",
    )


def test_a_package_that_a_state_marks_by_hand_is_automatic_again(debian: Debian) -> None:
    debian.run("apt-get install -qq greeting=1.0 && apt-mark auto greeting")
    single(debian, "pkg.installed", "greeting", "version=2.0")
    debian.runner("undo")
    assert debian.read("apt-mark showauto greeting") == "greeting"
    assert debian.read("dpkg-query -Wf '${Version}' greeting") == "1.0"
