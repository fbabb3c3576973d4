# SPDX-License-Identifier: Apache-2.0
"""runner undo on a real machine: users, groups, crontabs, services, packages, settings of the
kernel and mounts as they were before a run.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from debian import Debian
from debian_archive import INDEX, package

UNIT = "[Service]\nExecStart=/bin/sleep 1000\nUser=zoe\n[Install]\nWantedBy=multi-user.target\n"
TREE: dict[str, Any] = {
    "greeting": {"pkg.latest": []},
    "hello": {"pkg.installed": []},
    "zoe": {
        "user.present": [{"uid": 7001}, {"groups": ["ops"]}, {"password": "$6$salt$" + "x" * 86}]
    },
    "old": {"user.present": [{"shell": "/bin/bash"}, {"fullname": "Old One"}]},
    "gone": {"user.absent": [{"purge": True}]},
    "staff": {"group.present": [{"addusers": ["old"]}]},
    "team": {"group.present": [{"gid": 7002}]},
    "true": {"cron.present": [{"user": "old"}, {"minute": 5}]},
    "echo": {"cron.present": [{"user": "zoe"}]},
    "/etc/systemd/system/nap.service": {"file.managed": [{"contents": UNIT}]},
    "/etc/nap.conf": {"file.managed": [{"contents": "new"}]},
    "nap": {"service.running": [{"enable": True}, {"watch": [{"file": "/etc/nap.conf"}]}]},
    "quiet": {"service.dead": [{"name": "cron"}, {"enable": False}]},
    "kilo": {"network.system": [{"hostname": "kilo"}]},
    "pager": {
        "alternatives.install": [
            {"link": "/usr/bin/pager"},
            {"path": "/bin/cat"},
            {"priority": 1000},
        ]
    },
    "net.ipv4.ip_forward": {"sysctl.present": [{"value": 1}]},
    "/mnt/new": {"mount.mounted": [{"device": "tmpfs"}, {"fstype": "tmpfs"}, {"mkmnt": True}]},
    "touch /run/touched": {"cmd.run": []},
}
LOOKS = (
    "getent passwd",
    "getent group",
    "cat /etc/shadow /etc/subuid /etc/fstab",
    "dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' hello greeting"
    " | grep -v config",
    "crontab -l -u old",
    "ls /var/spool/cron/crontabs",
    "systemctl is-active cron nap; systemctl is-enabled cron nap 2>/dev/null",
    "cat /proc/sys/net/ipv4/ip_forward",
    "hostname; cat /etc/hostname /etc/hosts",
    "update-alternatives --query pager",
    "cat /proc/self/mountinfo | grep -c /mnt/new",
    "find /home /etc/nap.conf /etc/systemd/system /mnt -printf '%p %m %u %l\n' 2>/dev/null | sort",
    "cat /home/gone/notes",
)


def looked(machine: Debian) -> dict[str, str]:
    return {words: machine.run(words, code=None).stdout for words in LOOKS}


@pytest.fixture
def changed(debian: Debian) -> tuple[dict[str, str], dict[str, str]]:
    """Return how a machine was before a run of all of TREE, and how it was then."""
    debian.run("apt-get install -qq greeting=1.0; echo 0 > /proc/sys/net/ipv4/ip_forward")
    debian.run("groupadd ops; useradd -m old; useradd -m gone; usermod -aG ops gone")
    debian.run("echo mine > /home/gone/notes; echo '7 7 * * * false' | crontab -u old -")
    before = looked(debian)
    debian.tree(all=json.dumps(TREE))
    results = debian.results("sls", "all")
    assert all(result["result"] and result["changes"] for result in results.values()), results
    after = looked(debian)
    assert all(before[words] != after[words] for words in LOOKS), "each look sees a change"
    return before, after


def assert_same(now: dict[str, str], wanted: dict[str, str]) -> None:
    for words in LOOKS:
        assert now[words].splitlines() == wanted[words].splitlines(), words


def steps(answer: str) -> Any:
    return json.loads(answer)["local"]["steps"]


def test_all_that_a_run_did_is_undone_and_done_again(
    debian: Debian, changed: tuple[dict[str, str], dict[str, str]]
) -> None:
    before, after = changed
    foreseen = debian.runner("undo", "--test", "--out", "json", code=2).stdout
    assert_same(looked(debian), after)
    done = debian.runner("undo", "--out", "json", code=2).stdout
    assert steps(done) == steps(foreseen)
    assert not [step for step in steps(done) if step["refused"]]
    assert "cmd: touch /run/touched" in json.loads(done)["local"]["unknown"][0]
    assert_same(looked(debian), before)
    last = json.loads(debian.runner("history", "-n", "1", "--out", "json").stdout)["local"][0]
    debian.runner("undo", str(last["id"]))
    assert_same(looked(debian), after)


# makes and installs a package
DEB = (
    "d=$(mktemp -d) && mkdir $d/DEBIAN && printf 'Package: {0}\\nVersion: {1}\\n"
    "Architecture: all\\nMaintainer: a <a@b>\\nDepends: {2}\\nDescription: d\\n'"
    " > $d/DEBIAN/control && dpkg-deb -b $d $d.deb && dpkg -i $d.deb"
)
PART: dict[str, Any] = {
    "greeting": {"pkg.latest": []},
    "hello": {"pkg.installed": []},
    "zed": {"user.present": [{"shell": "/bin/bash"}]},
    "old": {"user.present": [{"shell": "/bin/sh"}]},
    "busy": {"user.present": []},
    "echo": {"cron.present": [{"user": "old"}]},
    "/etc/nap.conf": {"file.managed": [{"contents": "newer"}]},
    "nap": {"service.running": [{"watch": [{"file": "/etc/nap.conf"}]}]},
}


def test_what_others_changed_or_need_is_left_and_who_watched_reacts(
    debian: Debian, changed: tuple[dict[str, str], dict[str, str]]
) -> None:
    debian.run("apt-get purge -qq hello greeting; " + DEB.format("greeting", "0.5", "dpkg"))
    debian.tree(part=json.dumps(PART))
    debian.results("sls", "part")
    debian.run(DEB.format("needs-hello", "1", "hello"))
    debian.run("usermod -s /bin/sh zed; usermod -c changed old")
    debian.run("{ crontab -l -u old; echo '9 9 * * * true'; } | crontab -u old -")
    debian.start("sleep", "1000", user="busy")
    started = debian.read("systemctl show -P MainPID nap")
    foreseen = debian.runner("undo", "--test", "--out", "json", code=2).stdout
    done = debian.runner("undo", "--react", "--out", "json", code=2).stdout
    assert steps(done) == steps(foreseen)
    refused = {step["what"].partition(":")[0]: step["refused"] for step in steps(done)}
    expected = {
        "package hello": "needs-hello would be removed along with it",
        "package greeting": "version 0.5 is nowhere to be had any more (there are 2.0, 1.0)",
        "user zed": "the machine was changed since: shell /bin/sh instead of /bin/bash",
        "group zed": "it is the primary group of zed",
        "/home/zed/.bashrc": "it belongs to user zed, which is left out",
    }
    assert {what: why for what, why in refused.items() if what in expected} == expected
    assert "it is at work: process" in refused["user busy"]
    restored = {what for what, why in refused.items() if why is None}
    assert restored == {"user old", "crontab old", "/etc/nap.conf"}
    assert debian.read("getent passwd old").endswith(":changed:/home/old:/bin/bash")
    crontab = debian.read("crontab -l -u old")
    assert "9 9 * * * true" in crontab and "5 * * * * true" in crontab and "echo" not in crontab
    (watcher,) = json.loads(done)["local"]["watchers"]
    assert (watcher["state"], watcher["result"]) == ("service.running nap", True)
    assert debian.read("systemctl show -P MainPID nap") not in (started, "0")
    assert "hello" in debian.read("dpkg-query -W -f '${Package}' hello")
    for words in (["--test"], []):
        again = debian.results("sls", "part", *words)
        origins = {
            id_: again[id_].get("__origin__") for id_ in ("old", "echo", "/etc/nap.conf", "zed")
        }
        assert origins == {"old": None, "echo": None, "/etc/nap.conf": None, "zed": "drift"}, words


def test_rights_and_attributes_of_files(debian: Debian) -> None:
    debian.run("command -v setfacl || apt-get install -qq acl")
    debian.run("mkdir -p /srv/d/e; touch /srv/d/f /srv/d/e/g; setcap cap_net_raw+ep /srv/d/f")
    rights: list[dict[str, Any]] = [{"acl_type": "user"}, {"acl_name": "daemon"}, {"perms": "rw"}]
    tree = {
        "/srv/d/f": {"file.managed": [{"contents": "new"}, {"attrs": "i"}]},
        "/srv/d": {"acl.present": [*rights, {"recurse": True}, {"order": "first"}]},
    }
    look = "cd /srv/d; getfacl -R .; getcap f; lsattr -d f; cat f"
    before = debian.read(look)
    debian.tree(rights=json.dumps(tree))
    debian.results("sls", "rights")
    assert "user:daemon:rw" in debian.read(look)
    foreseen = debian.runner("undo", "--test", "--out", "json").stdout
    assert steps(debian.runner("undo", "--out", "json").stdout) == steps(foreseen)
    assert debian.read(look) == before


def test_a_bind_mount_shows_the_same_again(debian: Debian) -> None:
    debian.run("mkdir -p /srv/shown /srv/at /srv/gone /srv/other; touch /srv/shown/x")
    debian.run("mount --bind -o nosuid /srv/shown /srv/at; mount --bind /srv/gone /srv/other")
    look = "findmnt -no FSROOT,OPTIONS /srv/at; ls /srv/at"
    before = debian.read(look)
    tree = {
        "/srv/at": {"mount.unmounted": [{"device": "/srv/shown"}]},
        "/srv/other": {"mount.unmounted": []},
    }
    debian.tree(unmounted=json.dumps(tree))
    results = debian.results("sls", "unmounted")
    assert all(result["changes"] == {"umount": True} for result in results.values())
    debian.run("rmdir /srv/gone")
    for words in (["--test"], []):
        done = steps(debian.runner("undo", *words, "--out", "json", code=2).stdout)
        assert {step["what"].partition(":")[0]: step["refused"] for step in done} == {
            "mount /srv/at": None,
            "mount /srv/other": "it was a bind mount, and /srv/gone is nowhere to be found",
        }
    assert debian.read(look) == before


def test_an_alternative_comes_back_with_what_goes_with_it(debian: Debian) -> None:
    debian.run(
        "update-alternatives --install /usr/bin/greet greet /bin/cat 5"
        " --slave /usr/bin/greet-too greet-too /bin/true"
        " && update-alternatives --install /usr/bin/greet greet /bin/echo 1"
    )
    look = "update-alternatives --query greet"
    before = debian.read(look)
    debian.results("single", "alternatives.remove", "greet", "path=/bin/cat")
    debian.runner("undo")
    assert debian.read(look) == before


def test_a_mount_whose_folder_was_in_one_in_memory_is_named(debian: Debian) -> None:
    debian.run("mkdir /srv/outer; mount -t tmpfs outer /srv/outer; mkdir /srv/outer/inner")
    debian.run("mount -t tmpfs inner /srv/outer/inner")
    paths = ("/srv/outer/inner", "/srv/outer")
    debian.tree(nested=json.dumps({path: {"mount.unmounted": []} for path in paths}))
    debian.results("sls", "nested")
    for words in (["--test"], []):
        done = steps(debian.runner("undo", *words, "--out", "json", code=2).stdout)
        assert {step["what"]: step["refused"] for step in done} == {
            "mount /srv/outer: made again": None,
            "mount /srv/outer/inner: made again": "its folder was in /srv/outer, which comes back"
            " empty",
        }
    debian.run("umount /srv/outer")


def test_a_mount_that_was_seen_in_two_places_keeps_what_it_holds(debian: Debian) -> None:
    debian.run("mkdir -p /srv/one /srv/two; mount -t tmpfs -o size=1m one /srv/one")
    debian.run("mount --bind /srv/one /srv/two; echo mine > /srv/one/file")
    tree = {
        "/srv/one": {
            "mount.mounted": [{"device": "one"}, {"fstype": "tmpfs"}, {"opts": "size=2m"}]
        },
        "/srv/two": {"mount.unmounted": []},
    }
    tree["/srv/one"]["mount.mounted"].append({"persist": False})
    debian.tree(seen=json.dumps(tree))
    debian.results("sls", "seen")
    debian.runner("undo", code=None)
    assert debian.read("cat /srv/one/file /srv/two/file") == "mine\nmine"
    assert "size=1024k" in debian.read("findmnt -no OPTIONS /srv/one")
    debian.run("umount /srv/two /srv/one")


def test_a_package_that_the_run_held_goes_and_one_that_others_hold_stays(debian: Debian) -> None:
    look = "dpkg-query -Wf '${Package} ${db:Status-Status}\n' greeting hello; apt-mark showhold"
    tree = {
        name: {"pkg.installed": [{"hold": name == "greeting"}]} for name in ("greeting", "hello")
    }
    debian.tree(held=json.dumps(tree))
    debian.results("sls", "held")
    debian.run("apt-mark hold hello")
    foreseen = debian.runner("undo", "--test", "--out", "json", code=2).stdout
    done = debian.runner("undo", "--out", "json", code=2).stdout
    assert steps(done) == steps(foreseen)
    refused = {step["what"]: step["refused"] for step in steps(done)}
    assert refused["package hello: removed"] == "it is held"
    assert refused["package greeting: removed"] is None
    assert "hello installed" in debian.run(look, code=None).stdout
    assert "greeting installed" not in debian.run(look, code=None).stdout
    assert debian.read("apt-mark showhold") == "hello"


def test_a_killed_run_is_undone_with_the_members_of_its_groups(debian: Debian) -> None:
    debian.run("useradd -m there")
    look = "getent passwd; getent group; find /home"
    before = debian.read(look)
    tree: dict[str, Any] = {
        "crew": {"group.present": [{"gid": 7300}]},
        "ann": {"user.present": [{"groups": ["crew"]}]},
        "bob": {"user.present": []},
        "there": {"user.present": [{"groups": ["crew"]}]},
        "mates": {"group.present": [{"addusers": ["bob", "there"]}]},
        "kill": {"cmd.run": [{"name": "kill -9 $PPID; sleep 9"}, {"order": "last"}]},
    }
    debian.tree(killed=json.dumps(tree))
    debian.runner("sls", "killed", code=None)
    assert "mates" in debian.read("id -nG there")
    foreseen = debian.runner("undo", "--test", "--out", "json", code=None).stdout
    done = debian.runner("undo", "--out", "json", code=None).stdout
    assert steps(done) == steps(foreseen)
    assert not [step for step in steps(done) if step["refused"]]
    assert debian.read(look) == before


def test_what_an_upgrade_brought_along_goes_behind_it(debian: Debian) -> None:
    """What the newer version needs is not asked of the older one."""
    needs = "Package: told\nVersion: 2\nArchitecture: all\nMaintainer: me\nDepends: extra\n"
    newer = package("told", "2", {"DEBIAN/control": f"{needs}Description: told\n"})
    debian.run(f"{package('told')}{newer}{package('extra')}{INDEX}")
    debian.run("apt-get install -q -y told=1")
    both = {"told": {"old": "1", "new": "2"}, "extra": {"old": "", "new": "1"}}
    (done,) = debian.results("single", "pkg.uptodate", "x").values()
    assert done["changes"] == both
    for words in (["--test"], []):
        told = steps(debian.runner("undo", *words, "--out", "json").stdout)
        assert {step["what"]: step["refused"] for step in told} == {
            "package told: version 1 instead of 2": None,
            "package extra: removed": None,
        }
    assert debian.read("dpkg-query -Wf '${Version}' told") == "1"
    debian.run("dpkg-query -W extra", code=1)


def test_an_alias_is_undone_with_its_file(debian: Debian) -> None:
    debian.write("/etc/aliases", "root: me\n")
    debian.tree(mail="root: {alias.present: [target: you@example.org]}")
    debian.runner("sls", "mail")
    assert "left out" not in debian.runner("undo").stdout
    assert debian.read("cat /etc/aliases") == "root: me"


def test_a_password_that_debconf_had_is_named(debian: Debian) -> None:
    """debconf shows it to nobody; one that it had not is taken away."""
    question = "tzdata/secret"
    answer = {question: {"type": "password", "value": "a-new-word-of-mine"}}
    debian.tree(a=json.dumps({"tzdata": {"debconf.set": [{"data": answer}]}}))
    debian.runner("sls", "a")
    assert question in debian.read("debconf-show tzdata")
    debian.runner("undo")
    assert question not in debian.read("debconf-show tzdata")
    debian.run(f"echo tzdata {question} password older | debconf-set-selections")
    debian.run(f"echo FSET {question} seen false | debconf-communicate tzdata")
    seen = {question: {"type": "seen", "value": True}}
    debian.tree(
        b=json.dumps({"tzdata": {"debconf.set": [{"data": seen}]}, "/srv/x": {"file.managed": []}})
    )
    debian.runner("sls", "b")
    said = debian.runner("undo", "--test", code=2).stdout
    assert "debconf: tzdata" in said and "was not recorded, and cannot be undone" in said
