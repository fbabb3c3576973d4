# SPDX-License-Identifier: Apache-2.0
"""Packages with a real apt and dpkg: when another one has the lock, when one was killed, when there
is not a mirror.
"""

from __future__ import annotations

import json

import pytest
from debian import Debian
from debian_archive import SECURITY
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


@pytest.fixture
def clean(debian: Debian) -> Debian:
    debian.run("apt-get purge -q greeting hello")
    return debian


def locked(debian: Debian) -> int:
    """The process that holds the lock of dpkg."""
    debian.run("rm -f /run/locked")
    return debian.start("python3", "-c", LOCK, ready="test -e /run/locked")


def test_a_version_an_upgrade_a_hold_and_a_removal(clean: Debian) -> None:
    assert single(clean, "pkg.installed", "greeting", "version=1.0")["changes"] == {
        "greeting": {"old": "", "new": "1.0"}
    }
    assert clean.read("dpkg-query -Wf '${Version}' greeting") == "1.0"
    assert not single(clean, "pkg.installed", "greeting")["changes"], "any version will do"
    held = single(clean, "pkg.held", "greeting")["changes"]
    assert held == {
        "greeting": {
            "name": "greeting",
            "changes": {"old": "install", "new": "hold"},
            "result": True,
            "comment": "Package greeting is now being held.",
        }
    }
    assert clean.read("apt-mark showhold") == "greeting"
    assert "update_holds" in str(
        single(clean, "pkg.installed", "greeting", "version=2.0", code=2)["comment"]
    )
    single(clean, "pkg.unheld", "greeting")
    dry = single(clean, "pkg.latest", "greeting", "--test")
    real = single(clean, "pkg.latest", "greeting")
    assert dry["changes"] == real["changes"] == {"greeting": {"old": "1.0", "new": "2.0"}}
    back = single(clean, "pkg.installed", "greeting", "version=1.*")
    assert back["comment"] == "The following packages were installed/updated: greeting=1.*"
    assert back["changes"] == {"greeting": {"old": "2.0", "new": "1.0"}}
    result = single(clean, "pkg.installed", "pkgs=[greeting: 2.0, hello: '>=1', bash: null]")
    assert (
        result["comment"]
        == "The following packages were installed/updated: greeting=2.0, hello>=1\n"
        "The following packages were already installed: bash"
    )
    clean.run("apt-get purge -q hello")
    result = single(clean, "pkg.installed", "hello", "only_upgrade=True", code=2)
    assert result["comment"] == "The following packages failed to install/update: hello"
    assert single(clean, "pkg.removed", "greeting")["changes"] == {
        "greeting": {"old": "2.0", "new": ""}
    }
    clean.run("dpkg-query -W hello", code=1)


def test_only_security_updates_and_what_is_kept_back(fresh: Debian) -> None:
    fresh.run(f"{SECURITY} apt-get install -q -y greeting=1.0 hello; apt-mark hold greeting")
    candidate = fresh.read("apt-cache policy greeting | grep Candidate")
    assert candidate.split()[-1] == "3.0"
    for words in (["security=True"], []):
        told = single(fresh, "pkg.uptodate", "x", *words, "--test")["comment"]
        assert "(kept back: greeting)" in str(told)
        shown = fresh.runner("single", "pkg.uptodate", "x", *words, "--test").stdout
        assert "kept back by the package manager: greeting" in shown
    fresh.run("apt-mark unhold greeting")
    foreseen = single(fresh, "pkg.uptodate", "x", "security=True", "--test")["changes"]
    done = single(fresh, "pkg.uptodate", "x", "security=True")["changes"]
    assert foreseen == done == {"greeting": {"old": "1.0", "new": "2.0"}}
    assert not single(fresh, "pkg.uptodate", "x", "security=True")["changes"]


def test_it_waits_for_the_lock_and_says_so(clean: Debian) -> None:
    holder = locked(clean)
    words = ("runner", "single", "pkg.installed", "greeting")
    pid = clean.start(*words, output="/run/told", ready="grep waiting /run/told")
    clean.run(f"kill {holder}")
    clean.ended(pid)
    assert (
        "waiting for another package manager: Could not get lock /var/lib/dpkg/lock-frontend"
        in clean.read("cat /run/told")
    )
    assert clean.read("dpkg-query -Wf '${Version}' greeting") == "2.0"


def test_it_gives_up_waiting(clean: Debian) -> None:
    holder = locked(clean)
    clean.write("/etc/apt/apt.conf.d/patience", 'DPkg::Lock::Timeout "1";\n')
    result = single(clean, "pkg.installed", "greeting", code=2)
    clean.run(f"rm /etc/apt/apt.conf.d/patience; kill {holder}")
    clean.ended(holder)
    assert result["result"] is False
    assert result["changes"] == {}
    for part in ("Could not get lock", "(python3)", "waited 1 seconds", "Let that program end"):
        assert part in str(result["comment"])


def test_an_interrupted_dpkg_is_healed_and_told(clean: Debian) -> None:
    clean.write("/srv/tricky/DEBIAN/control", TRICKY)
    clean.write("/srv/tricky/DEBIAN/postinst", POSTINST, 0o755)
    clean.run("dpkg-deb -b /srv/tricky /srv")
    clean.start("dpkg", "-i", "/srv/tricky_1.0_all.deb", ready="test -e /run/reached")
    clean.kill("dpkg", "sleep")
    clean.run("touch /run/calm")
    assert clean.read("ls /var/lib/dpkg/updates"), "as a power cut would leave it"
    state = {
        "one": {"pkg.installed": [{"name": "greeting"}]},
        "two": {"pkg.installed": [{"name": "hello"}]},
    }
    clean.tree(two=json.dumps(state))
    before = clean.read("ls -l --full-time /var/lib/dpkg /var/lib/dpkg/updates")
    dry = clean.runner("sls", "two", "--test")
    assert "dpkg was interrupted" in dry.stdout + dry.stderr
    assert clean.read("ls -l --full-time /var/lib/dpkg /var/lib/dpkg/updates") == before
    done = clean.runner("sls", "two")
    assert (done.stdout + done.stderr).count(
        "dpkg had been interrupted: what was left was finished first"
    ) == 1
    wanted = "dpkg-query -Wf '${Package} ${db:Status-Status}\\n' greeting hello tricky"
    assert clean.read(wanted).split("\n") == [
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


def test_what_cannot_be_had(clean: Debian) -> None:
    result = single(clean, "pkg.installed", "no-such-package", code=2)
    assert "E: Unable to locate package no-such-package" in str(result["comment"])
    dry = single(clean, "pkg.installed", "no-such-package", "refresh=False", "--test", code=2)
    assert dry["comment"] == result["comment"], "with lists that will be these it is known before"
    dry = single(clean, "pkg.installed", "no-such-package", "--test", code=2)
    assert str(dry["comment"]).startswith(f"{result['comment']}\nThe package lists are "), dry
    clean.run(
        "mv /var/lib/apt/lists /root/away; mkdir /var/lib/apt/lists; touch /var/lib/apt/lists/lock"
    )
    assert single(clean, "pkg.installed", "no-such-package", "--test")["result"] is None, (
        "there are no lists yet"
    )
    clean.run("rm -r /var/lib/apt/lists; mv /root/away /var/lib/apt/lists")
    clean.tree(brought=BROUGHT)
    assert {each["result"] for each in clean.results("sls", "brought", "--test").values()} == {None}
    clean.run("cp -a /etc/apt/sources.list /var/lib/apt/lists /root")
    clean.run("echo deb http://127.0.0.1:1/debian stable main >>/etc/apt/sources.list")
    clean.write("/etc/apt/apt.conf.d/once", 'Acquire::Retries "0";\n')
    result = single(clean, "pkg.installed", "greeting", "refresh=True")
    clean.run(
        "cp -a /root/sources.list /etc/apt; rm -r /etc/apt/apt.conf.d/once /var/lib/apt/lists"
    )
    clean.run("cp -a /root/lists /var/lib/apt")
    assert "127.0.0.1:1" in str(result["warnings"]), (
        "the old lists were good enough, but it is told"
    )
    assert result["changes"]


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


def test_several_states_are_one_transaction_and_each_reports_its_share(clean: Debian) -> None:
    clean.write("/srv/salt/together.sls", TOGETHER)
    clean.run("rm -f /var/log/apt/history.log")
    dry = clean.results("sls", "together", "--test", code=None)
    results = {each["__id__"]: each for each in clean.results("sls", "together", code=2).values()}
    assert {name: dry[name]["changes"] for name in ("one", "two")} == {
        name: results[name]["changes"] for name in ("one", "two")
    }, "a dry run does the same"
    assert results["one"]["changes"] == {"greeting": {"old": "", "new": "1.0"}}
    assert results["two"]["changes"] == {
        "hello": {"old": "", "new": clean.read("dpkg-query -Wf '${Version}' hello")}
    }
    assert results["two"]["comment"] == "The following packages were installed/updated: hello"
    assert not results["bad"]["result"], "its own failure is its own"
    assert results["seen"]["changes"]
    assert clean.read("grep -c ^Install: /var/log/apt/history.log") == "1"
    again = clean.results("sls", "together", code=2)
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


def test_states_between_those_of_a_transaction_install_what_is_theirs(clean: Debian) -> None:
    """What a state reports is looked up for its own packages, and only if it was taken in."""
    packages = {package for share in SHARES.values() for package in share}
    clean.run(f"apt-get -qq purge {' '.join(packages)} >/dev/null 2>&1 || true")
    clean.write("/srv/salt/forgotten.sls", FORGOTTEN)
    for words in (["--test"], []):
        results = {
            each["__id__"]: sorted(packages.intersection(each["changes"]))
            for each in clean.results("sls", "forgotten", *words).values()
            if each["__id__"] in SHARES
        }
        assert results == SHARES, words
    installed = clean.read("dpkg-query -Wf '${db:Status-Abbrev}${Package}\\n' | sed -n 's/^ii //p'")
    assert packages <= {*installed.split()}


def test_a_hundred_packages_are_one_question_and_never_stale(clean: Debian) -> None:
    installed = clean.read(
        "dpkg-query -Wf '${db:Status-Abbrev}${Package}\\n' | sed -n 's/^ii //p' | head -100"
    ).split()
    tree: dict[str, object] = {
        f"has {name}": {"pkg.installed": [{"name": name}]} for name in installed
    }
    clean.tree(many=json.dumps(tree))
    clean.write(
        "/usr/local/sbin/dpkg-query",
        '#!/bin/sh\necho x >>/run/asked\nexec /usr/bin/dpkg-query "$@"\n',
        0o755,
    )
    results = clean.results("sls", "many")
    assert len(results) == 100
    assert not any(result["changes"] for result in results.values())
    assert clean.read("cat /run/asked") == "x"
    clean.run("rm /usr/local/sbin/dpkg-query")
    behind = {
        "first": {"pkg.installed": [{"name": "bash"}]},
        "behind its back": {"cmd.run": [{"name": "apt-get install greeting"}]},
        "then": {"pkg.installed": [{"name": "greeting"}]},
    }
    clean.tree(behind=json.dumps(behind))
    assert not clean.results("sls", "behind")["then"]["changes"]


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


def test_what_others_do_during_the_run_is_seen(clean: Debian) -> None:
    clean.write("/srv/crontab", f"{cron.HEADER}\n5 * * * * late\n")
    clean.tree(behind=BEHIND)
    results = clean.results("sls", "behind")
    clean.run("userdel late; crontab -r", code=None)
    assert [name for name, result in results.items() if result["changes"]] == [
        "others",
        "after all",
    ], results


def test_a_full_disk_is_told_and_nothing_said_to_be_installed(clean: Debian) -> None:
    clean.run(
        "mkdir -p /usr/share/doc/hello; mount -t tmpfs -o nr_inodes=2 tmpfs /usr/share/doc/hello"
    )
    result = single(clean, "pkg.installed", "hello", code=2)
    clean.run("umount /usr/share/doc/hello")
    assert result["changes"] == {}
    assert "No space left on device" in str(result["comment"])
    assert single(clean, "pkg.installed", "hello")["changes"]


def test_one_that_cannot_be_had_fails_alone(clean: Debian) -> None:
    states = {
        name: {"pkg.installed": [{"name": name}, {"aggregate": True}]}
        for name in ("greeting", "no-such-package", "hello")
    }
    clean.write("/srv/salt/alone.sls", json.dumps(states))
    results = {each["__id__"]: each for each in clean.results("sls", "alone", code=2).values()}
    assert {name: each["result"] for name, each in results.items()} == {
        "greeting": True,
        "no-such-package": False,
        "hello": True,
    }
    assert list(results["greeting"]["changes"]) == ["greeting"]
    assert list(results["hello"]["changes"]) == ["hello"]


def test_a_name_that_apt_takes_for_something_else_is_no_package(clean: Debian) -> None:
    clean.run("apt-get install -q -y greeting=1.0")
    marks = clean.read("apt-mark showmanual")
    for name in ("greeting-", "gree*", "gree.", "greeting+", "?name(greeting)"):
        for words in ((name,), (name, "--test")):
            result = single(clean, "pkg.installed", *words, "refresh=false", code=2)
            assert f"E: Unable to locate package {name}" in str(result["comment"])
        clean.runner("call", "pkg.hold", name, code=None)
    assert clean.read("dpkg-query -Wf '${Version}' greeting") == "1.0"
    assert clean.read("apt-mark showhold; apt-mark showmanual") == marks


def test_undo_removes_a_package_that_a_kill_left_unpacked(fresh: Debian) -> None:
    folder = "/run/tricky/DEBIAN"
    fresh.write(f"{folder}/control", TRICKY)
    fresh.write(f"{folder}/postinst", POSTINST, 0o755)
    fresh.run("dpkg-deb -b /run/tricky /srv/tricky.deb; rm -f /run/calm /run/reached")
    state = {"tricky": {"pkg.installed": [{"sources": [{"tricky": "/srv/tricky.deb"}]}]}}
    fresh.tree(one=json.dumps(state))
    pid = fresh.start("runner", "sls", "one", ready="test -e /run/reached")
    fresh.run(f"kill -9 {pid}")
    fresh.kill("dpkg", "apt-get")
    fresh.run("touch /run/calm")
    state_of = "dpkg-query -Wf '${db:Status-Status}' tricky 2>/dev/null; true"
    assert fresh.read(state_of) == "half-configured"
    for words in (["--test"], []):
        done = json.loads(fresh.runner("undo", *words, "--out", "json").stdout)["local"]
        assert [step["what"] for step in done["steps"]] == ["package tricky: removed"]
    assert fresh.read(state_of) in ("", "config-files", "not-installed")


def test_a_package_that_was_installed_for_others_comes_back_as_such(clean: Debian) -> None:
    clean.run("apt-get install -qq greeting=1.0 hello && apt-mark auto greeting")
    removed = {"both": {"pkg.removed": [{"pkgs": ["greeting", "hello"]}]}}
    clean.tree(removed=json.dumps(removed))
    clean.results("sls", "removed")
    shown = clean.runner("undo", "--test").stdout
    assert "automatic package greeting: made again" in shown
    assert "automatic package hello" not in shown
    clean.runner("undo")
    look = "apt-mark showauto greeting hello; echo; apt-mark showmanual greeting hello"
    assert clean.read(look).split() == ["greeting", "hello"]
    assert clean.read("apt-mark showauto greeting hello") == "greeting"
    (undo, *_) = json.loads(clean.runner("history", "--out", "json").stdout)["local"]
    again = clean.runner("undo", str(undo["id"])).stdout
    assert "automatic package" not in again
    assert clean.read("dpkg-query -Wf '${db:Status-Status} ' greeting hello; true") in (
        "config-files config-files",
        "",
    )


def test_a_package_that_a_state_marks_by_hand_is_automatic_again(clean: Debian) -> None:
    clean.run("apt-get install -qq greeting=1.0 && apt-mark auto greeting")
    single(clean, "pkg.installed", "greeting", "version=2.0")
    clean.runner("undo")
    assert clean.read("apt-mark showauto greeting") == "greeting"
    assert clean.read("dpkg-query -Wf '${Version}' greeting") == "1.0"
