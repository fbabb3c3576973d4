# SPDX-License-Identifier: Apache-2.0
"""Execution functions that change packages, users and groups, as module.run calls them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from debian import Debian

HELD = {"name": "greeting", "changes": {"old": "install", "new": "hold"}, "result": True}
FREE = {"name": "greeting", "changes": {"old": "hold", "new": "install"}, "result": True}
CALLS: list[
    tuple[str, Any, Any, str, str]
] = [  # function, arguments, answer, what looks then, what it sees
    (
        "pkg.install",
        {"name": "greeting", "version": "1.0"},
        {"greeting": {"old": "", "new": "1.0"}},
        "",
        "",
    ),
    ("pkg.upgrade_available", ["greeting"], True, "", ""),
    ("pkg.list_repo_pkgs", ["greeting", "nosuch"], {"greeting": ["2.0", "1.0"]}, "", ""),
    ("pkg_resource.version", ["greeting"], "1.0", "", ""),
    ("pkg.upgrade_available", ["no-such-package"], False, "", ""),
    (
        "pkg.hold",
        ["greeting"],
        {"greeting": HELD | {"comment": "Package greeting is now being held."}},
        "",
        "",
    ),
    (
        "pkg.hold",
        {"pkgs": ["greeting"]},
        {
            "greeting": HELD
            | {"changes": {}, "comment": "Package greeting is already set to be held."}
        },
        "apt-mark showhold",
        "greeting",
    ),
    (
        "pkg.unhold",
        ["greeting"],
        {"greeting": FREE | {"comment": "Package greeting is no longer being held."}},
        "apt-mark showhold",
        "",
    ),
    ("pkg.upgrade", {}, {"greeting": {"old": "1.0", "new": "2.0"}}, "", ""),
    ("pkg.upgrade", {"refresh": False, "dist_upgrade": True}, {}, "", ""),
    (
        "pkg.install",
        {"pkgs": [{"greeting": "1.0"}]},
        {"greeting": {"old": "2.0", "new": "1.0"}},
        "",
        "",
    ),
    ("pkg.list_upgrades", [], {"greeting": "2.0"}, "", ""),
    (
        "pkg.install",
        {"pkgs": [{"greeting": "2.0"}]},
        {"greeting": {"old": "1.0", "new": "2.0"}},
        "",
        "",
    ),
    ("pkg.remove", ["greeting,no-such-package"], {"greeting": {"old": "2.0", "new": ""}}, "", ""),
    (
        "pkg.purge",
        {"pkgs": ["greeting"]},
        {},
        "dpkg-query -Wf '${db:Status-Status}' greeting 2>&1 || true",
        None,
    ),
    ("pkg.autoremove", {"list_only": True}, [], "", ""),
    ("group.add", {"name": "band", "gid": 4700}, True, "", ""),
    (
        "user.add",
        {
            "name": "yann",
            "uid": 4701,
            "gid": 4700,
            "groups": ["games"],
            "fullname": "Y",
            "createhome": False,
        },
        True,
        "id yann; getent passwd yann | cut -d: -f5",
        "uid=4701(yann) gid=4700(band) groups=4700(band),60(games)\nY",
    ),
    ("user.chshell", ["yann", "/bin/true"], True, "getent passwd yann | cut -d: -f7", "/bin/true"),
    ("user.chhome", ["yann", "/srv/yann"], True, "getent passwd yann | cut -d: -f6", "/srv/yann"),
    ("user.chuid", ["yann", 4702], True, "id -u yann", "4702"),
    ("user.chgid", ["yann", "games"], True, "id -gn yann", "games"),
    ("user.chfullname", ["yann", "Yann Z"], True, "getent passwd yann | cut -d: -f5", "Yann Z"),
    ("user.chgroups", ["yann", "band,audio"], True, "id -Gn yann", "games audio band"),
    (
        "user.chgroups",
        {"name": "yann", "groups": ["video"], "append": True},
        True,
        "id -Gn yann",
        None,
    ),
    ("user.chgroups", {"name": "yann", "groups": []}, True, "id -Gn yann", "games"),
    ("group.adduser", ["band", "yann"], True, "getent group band", "band:x:4700:yann"),
    ("group.deluser", ["band", "yann"], True, "getent group band", "band:x:4700:"),
    ("group.members", ["band", "yann,root"], True, "getent group band", "band:x:4700:yann,root"),
    ("group.chgid", ["band", 4703], True, "getent group band", "band:x:4703:yann,root"),
    ("user.rename", ["yann", "zeno"], True, "id -un zeno", "zeno"),
    ("user.delete", {"name": "zeno"}, True, "id zeno 2>/dev/null || echo gone", "gone"),
    ("group.delete", ["band"], True, "getent group band || echo gone", "gone"),
]


def _arguments(given: Any) -> list[str]:
    pairs = given.items() if isinstance(given, dict) else ((None, each) for each in given)
    return [f"{key}={json.dumps(value)}" if key else str(value) for key, value in pairs]


def test_each_answers_as_salts_and_does_it(debian: Debian) -> None:
    for function, given, wanted, look, seen in CALLS:
        done = debian.run(
            "/usr/local/bin/runner",
            "call",
            function,
            *_arguments(given),
            "--out",
            "json",
            code=None,
        )
        assert done.returncode == 0, (function, done.stdout, done.stderr)
        assert json.loads(done.stdout)["local"] == wanted, function
        if look and seen is not None:
            assert debian.read(look) == seen, function


KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIMkV4nX2nZ0yN0Xw6m1b8N2v3mJkq5o4s7c9d1e2f3g4"
HASH = "$6$abcdefgh$" + "x" * 86
WEEK: list[tuple[str, list[Any], Any]] = [  # function, arguments, answer: one after the other
    ("shadow.set_password", ["zoe", HASH], True),
    ("shadow.set_date", ["zoe", "2026-01-31"], True),
    ("shadow.set_expire", ["zoe", "2030-12-31"], True),
    ("shadow.set_mindays", ["zoe", 1], True),
    ("shadow.set_maxdays", ["zoe", 90], True),
    ("shadow.set_warndays", ["zoe", 14], True),
    ("shadow.set_inactdays", ["zoe", 7], True),
    ("shadow.lock_password", ["zoe"], True),
    ("hosts.add_host", ["10.0.0.5", "db"], True),
    ("hosts.add_host", ["10.0.0.5", "db.example.com"], True),
    ("hosts.rm_host", ["10.0.0.5", "db"], True),
    ("hosts.set_comment", ["10.0.0.5", "the database"], True),
    ("hosts.set_host", ["10.0.0.6", "web www"], True),
    ("mount.set_fstab", ["/mnt/week", "tmpfs", "tmpfs", "size=1M"], "new"),
    ("mount.mount", ["/mnt/week", "tmpfs", True, "tmpfs", "size=1M"], True),
    ("mount.remount", ["/mnt/week", "tmpfs", False, "tmpfs", "size=2M"], True),
    ("mount.mount", ["/mnt/gone", "tmpfs", True, "tmpfs"], True),
    ("mount.umount", ["/mnt/gone"], True),
    ("ssh.set_auth_key", ["zoe", KEY, "ed25519", "zoe@home"], "new"),
    ("ps.pkill", ["weeknap"], {"killed": [0]}),  # its number is read
    ("service.force_reload", ["cron"], True),
]
SEEN = """
getent shadow zoe | cut -d: -f2-8
grep -E '^10[.]' /etc/hosts
grep week /etc/fstab
findmnt -rno FSTYPE,SIZE /mnt/week
findmnt -n /mnt/gone || echo none
stat -c '%a %U' /home/zoe/.ssh /home/zoe/.ssh/authorized_keys
tail -n 1 /home/zoe/.ssh/authorized_keys
pgrep weeknap || echo killed
"""


def test_what_people_type_every_week(debian: Debian) -> None:
    debian.run("useradd -m zoe; cp /bin/sleep /usr/local/bin/weeknap")
    pid = debian.start("weeknap", "300")
    states = {
        f"{number} {function}": {"module.run": [{function: arguments}]}
        for number, (function, arguments, _) in enumerate(WEEK)
    }
    debian.tree(week=json.dumps(states))
    before = debian.run(SEEN, code=None).stdout
    dry = debian.results("sls", "week", "--test").values()
    assert {result["result"] for result in dry} == {None}
    assert debian.run(SEEN, code=None).stdout == before
    results = debian.results("sls", "week", code=None)
    for (function, _, wanted), result in zip(WEEK, results.values(), strict=True):
        answer = wanted if function != "ps.pkill" else {"killed": [pid]}
        assert result["changes"] == {function: answer}, result
    assert debian.read(SEEN).splitlines() == [
        f"!{HASH}:20484:1:90:14:7:22279",
        "10.0.0.5\t\tdb.example.com\t\t# the database",
        "10.0.0.6\t\tweb www",
        "tmpfs\t\t/mnt/week\ttmpfs\tsize=1M\t0 0",
        "tmpfs 2M",
        "none",
        "700 zoe",
        "600 zoe",
        f"ssh-ed25519 {KEY} zoe@home",
        "killed",
    ]
    shown = json.loads(debian.read("runner call service.show cron --out json"))["local"]
    assert shown["ActiveState"] == "active" and shown["ExecStart"]["path"] == "/usr/sbin/cron"
    debian.run("umount /mnt/week; sed -i /week/d /etc/fstab; sed -i /^10[.]/d /etc/hosts")
    debian.run("userdel -r zoe", code=None)


def test_a_dry_run_of_them_only_plans(debian: Debian) -> None:
    (result,) = debian.results(
        "single", "module.run", "name=user.add", "m_name=quiet", "--test"
    ).values()
    assert result["result"] is None
    assert debian.read("id quiet 2>/dev/null || echo none") == "none"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["user.chshell", "nobody-here", "/bin/sh"], "User 'nobody-here' does not exist"),
        (["user.rename", "games", "root"], "User 'root' already exists"),
        (["group.chgid", "no-such", "1"], "Group 'no-such' does not exist"),
        (["pkg.install"], "no package is named"),
        (["pkg.hold", "bash", "--test"], "a dry run does not call it"),
        (["shadow.set_date", "nobody-here", "1"], "'nobody-here' does not exist"),
        (["hosts.add_host", "10.0.0.7", "two words"], "is neither an address nor the name"),
    ],
)
def test_what_cannot_be(debian: Debian, words: list[str], message: str) -> None:
    assert message in debian.run("/usr/local/bin/runner", "call", *words, code=1).stderr


def test_what_is_refused_is_false_and_told(debian: Debian) -> None:
    done = debian.run("/usr/local/bin/runner", "call", "group.delete", "no-such")
    assert done.stdout == "false\n"
    assert "group 'no-such' does not exist" in done.stderr


def test_all_packages_of_the_repositories(debian: Debian) -> None:
    done = debian.runner("call", "pkg.list_repo_pkgs", "--out", "json")
    assert json.loads(done.stdout)["local"]["hello"]
    assert "byrepo" in debian.runner("call", "pkg.list_repo_pkgs", "byrepo=true", code=1).stderr
