# SPDX-License-Identifier: Apache-2.0
"""What a real run will fail for, a dry run fails for, in the same words: real programs say them."""

from __future__ import annotations

from typing import Any

from debian import Debian

PREPARE = r"""
groupadd taken; groupadd -g 7005 first; useradd -u 7001 -g first owner; useradd busy
echo '99 * * * * true' >/srv/bad-crontab
printf '[Service]\nType=exec\nExecStart=/no/program\n' >/etc/systemd/system/no-program.service
printf '[Service]\nUser=nobody-here\nExecStart=/bin/true\n' >/etc/systemd/system/no-user.service
printf '[Service]\nEnvironmentFile=/none\nExecStart=/bin/true\n' >/etc/systemd/system/no-env.service
printf '[Service]\nExecStart=/bin/true\n' >/etc/systemd/system/plain.service
printf '[Timer]\nOnCalendar=daily\n' >/etc/systemd/system/lone.timer
ln -s /dev/null /etc/systemd/system/hidden.service; systemctl daemon-reload
mkdir -p /srv/tree/inside /srv/tree/files; touch /srv/tree/files/one
mount -t tmpfs none /srv/tree/inside; touch /srv/tree/inside/two
touch /srv/mounted; mount --bind /srv/mounted /srv/mounted
head -c 65536 /dev/urandom >/srv/no-swap; chmod 600 /srv/no-swap
printf '#!/no/interpreter\n' >/srv/runner/states/script.sh
"""
# the words of the real run are those of systemd's journal
OTHER_WORDS = {
    "no-program": "Service no-program failed to start: there is no program /no/program",
    "no-user": "Service no-user failed to start: there is no user nobody-here",
    "no-env": "Service no-env failed to start: there is no /none",
    "lone.timer": "Failed to start lone.timer: there is no lone.service, which it starts",
}
FAIL: dict[str, dict[str, Any]] = {
    "user.present": {
        "gid-number": {"gid": 54321},
        "number-of-another": {"uid": 7001},
        "large-number": {"uid": 99999999999},
        "home-in-a-file": {"home": "/etc/hostname/home"},
        "taken": {},
        "colon": {"fullname": "a:b"},
        "past": {"expire": -5},
        "a-name-that-is-much-too-long-for-a-user": {},
        "busy": {"home": "/srv/other"},
        "daemon": {"uid": 7001, "allow_uid_change": True},
    },
    "user.absent": {"busy": {}},
    "group.present": {"large-group": {"gid": 99999999999}},
    "group.absent": {"first": {}},
    "cron.present": {"minute": {"minute": "@never"}, "step": {"minute": "5/15"}},
    "cron.env_present": {"A B": {"value": 1}},
    "cron.file": {"/srv/bad-crontab": {}},
    "sysctl.present": {"net.ipv4.ip_default_ttl": {"value": "high"}},
    "service.running": {"no-program": {}, "no-user": {}, "no-env": {}, "lone.timer": {}},
    "service.enabled": {"hidden": {}},
    "service.masked": {"plain": {}},
    "mount.mounted": {
        "/mnt/device": {"device": "/dev/none", "fstype": "ext4", "mkmnt": True},
        "/mnt/uuid": {"device": "UUID=1234-5678", "fstype": "ext4", "mkmnt": True},
        "/mnt/label": {"device": "LABEL=none", "fstype": "ext4", "mkmnt": True},
        "/mnt/bind": {"device": "/none", "fstype": "none", "opts": "bind", "mkmnt": True},
        "/mnt/file": {"device": "/etc/hostname", "fstype": "none", "opts": "bind", "mkmnt": True},
        "/mnt/nfs": {"device": "127.0.0.1:/x", "fstype": "nfs", "mkmnt": True},
        "/mnt/user": {"device": "x", "fstype": "tmpfs", "user": "nobody-here", "mkmnt": True},
    },
    "mount.fstab_present": {"none": {"fs_file": "/mnt/nowhere", "fs_vfstype": "tmpfs"}},
    "mount.swap": {"/srv/no-swap": {"persist": False}},
    "file.absent": {"/srv/tree": {}, "/proc/version": {}, "/srv/mounted": {}},
    "file.symlink": {
        "/srv/tree/inside": {"target": "/etc", "force": True},
        "/srv/mounted": {"target": "/etc", "force": True},
    },
    "file.rename": {"/srv/moved": {"source": "/srv/tree/inside"}},
    "file.hardlink": {"/dev/shm/link": {"target": "/etc/hostname"}},
    "file.managed": {
        "/proc/new": {"contents": "x"},
        "/etc/attributes": {"contents": "x", "attrs": "q"},
    },
    "cmd.run": {"true # root": {"root": "/none"}, "no-such-program": {"python_shell": False}},
    "cmd.script": {"salt://script.sh": {}},
    "cmd.call": {"call": {"func": "test.echo", "args": [1, 2, 3]}},
    "module.run": {"run": {"test.echo": [{"nope": 1}]}},
    "virtualenv.managed": {
        "/srv/v1": {"python": "/none/python"},
        "/srv/v2": {"requirements": "/none.txt"},
        "/srv/v3": {"user": "nobody-here"},
        "/etc/hostname/v4": {},
    },
}
# what a pending state may bring is undecided, and named
PENDING = """
brings: {cmd.run: [name: env true]}
gone: {user.absent: [name: owner]}
unmounted: {mount.unmounted: [name: /srv/tree/inside]}
stopped: {service.dead: [name: cron]}
from a command: {file.managed: [name: /etc/checked, contents: x, check_cmd: no-such-program]}
the number: {user.present: [name: second, uid: 7001, require: [user: gone]]}
the group: {group.absent: [name: first, require: [user: gone]]}
the folder: {file.absent: [name: /srv/tree, require: [mount: unmounted]]}
the user: {user.absent: [name: busy, require: [service: stopped]]}
"""


def _tree() -> dict[str, Any]:
    return {
        f"{function} {name}": {function: [{"name": name}, *({k: v} for k, v in given.items())]}
        for function, states in FAIL.items()
        for name, given in states.items()
    }


def test_what_the_machine_will_refuse(debian: Debian) -> None:
    import json

    debian.tree(fail=json.dumps(_tree()), pending=PENDING)
    debian.run(PREPARE)
    debian.start("sleep", "1000", user="busy")
    dry = debian.results("sls", "fail", "--test", code=2)
    assert {name: each["result"] for name, each in dry.items()} == dict.fromkeys(_tree(), False)
    undecided = {
        name: each["comment"].rpartition("(depends on ")[2]
        for name, each in debian.results("sls", "pending", "--test").items()
        if "(depends on " in each["comment"]
    }
    assert undecided == {
        "from a command": "cmd: brings)",
        "the folder": "mount: unmounted)",
        "the user": "service: stopped)",
    }
    real = debian.results("sls", "fail", code=2)
    for name, each in real.items():
        wanted = OTHER_WORDS.get(name.partition(" ")[2], each["comment"])
        assert (each["result"], dry[name]["comment"]) == (False, wanted), name
    assert "`mkswap /srv/no-swap` makes it swap space" in str(real), "what to do"
    assert debian.read("ls", "/srv/tree/files", "/srv/tree/inside").split()[1::2] == ["one", "two"]


READ_ONLY = """
mount --bind /usr /usr; mount -o remount,bind,ro /usr
mount --bind /etc/hostname /etc/resolv.conf; mount -o remount,bind,ro /etc/resolv.conf
cd /srv; echo x >x; tar -cf a.tar x; git init -q there
git -C there -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
"""
CANNOT = """
/etc/resolv.conf: {file.managed: [contents: x]}
append: {file.append: [name: /etc/resolv.conf, text: x]}
/usr/new/deep: {file.directory: [makedirs: True]}
/usr/share/unpacked: {archive.extracted: [source: /srv/a.tar, enforce_toplevel: False]}
hello: {pkg.installed: []}
cron: {pkg.removed: []}
/srv/there: {git.cloned: [target: /usr/src/there]}
joe: {user.present: [home: /usr/joe]}
/usr/venv: {virtualenv.managed: []}
"""


def test_what_is_read_only(debian: Debian) -> None:
    """A file that is mounted by itself, as in containers; what programs write into a folder."""
    debian.run(READ_ONLY)
    debian.tree(cannot=CANNOT)
    for words in (["--test"], []):
        done = debian.results("sls", "cannot", *words, code=2)
        assert [name for name, each in done.items() if each["result"] is not False] == []
    debian.run("mount -o remount,bind,rw /usr")
    assert debian.results("sls", "cannot", "--test", code=2)["hello"]["result"] is None


def test_what_apt_makes_writable_for_its_work(debian: Debian) -> None:
    """As machines have it whose /usr is read-only between changes of packages."""
    debian.write(
        "/etc/apt/apt.conf.d/80remount",
        'DPkg::Pre-Invoke { "mount -o remount,bind,rw /usr"; };\n'
        'DPkg::Post-Invoke { "mount -o remount,bind,ro /usr"; };\n',
    )
    debian.run("mount --bind /usr /usr; mount -o remount,bind,ro /usr")
    for words, result in ((["--test"], None), ([], True)):
        (done,) = debian.results("single", "pkg.installed", "hello", *words).values()
        assert (done["result"], set(done["changes"])) == (result, {"hello"}), done
    debian.run("test -e /usr/bin/hello; ! touch /usr/bin/x")
