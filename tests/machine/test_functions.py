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
    ],
)
def test_what_cannot_be(debian: Debian, words: list[str], message: str) -> None:
    assert message in debian.run("/usr/local/bin/runner", "call", *words, code=1).stderr


def test_what_is_refused_is_false_and_told(debian: Debian) -> None:
    done = debian.run("/usr/local/bin/runner", "call", "group.delete", "no-such")
    assert done.stdout == "false\n"
    assert "group 'no-such' does not exist" in done.stderr
