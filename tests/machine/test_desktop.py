# SPDX-License-Identifier: Apache-2.0
"""Settings of desktops, with a real dconf: of a user without a session, and of the machine."""

from __future__ import annotations

import json
from typing import Any

from both_runs import unlike
from debian import Debian

LAYER = "desktop"
AS = "cd /; setpriv --reuid=zoe --regid=zoe --init-groups env HOME=/home/zoe XDG_RUNTIME_DIR="


def tree(*states: tuple[str, str, dict[str, Any]]) -> str:
    made = {
        f"{function} {name} {number}": {
            function: [{"name": name}, *({key: value} for key, value in given.items())]
        }
        for number, (function, name, given) in enumerate(states)
    }
    return json.dumps(made)


def test_keys_of_a_user_and_of_the_machine(debian: Debian) -> None:
    debian.run("useradd -m zoe; mkdir -p /etc/dconf/profile")
    debian.write("/etc/dconf/profile/user", "user-db:user\nsystem-db:local\n")
    own: dict[str, Any] = {"user": "zoe"}
    states = [
        ("dconf.set", "/org/a/own", {"value": "it's mine", **own}),
        ("dconf.set", "/org/a/layouts", {"value": [["xkb", "de"]], "type": "a(ss)", **own}),
        ("dconf.set", "/org/a/free", {"value": 5, "type": "u"}),
        ("dconf.set", "/org/a/fixed", {"value": True}),
        ("dconf.lock", "/org/a/fixed", {}),
    ]
    debian.tree(
        a=tree(*states),
        b=tree(("dconf.reset", "/org/a/own", own), ("dconf.unlock", "/org/a/fixed", {})),
        c=tree(("dconf.set", "/org/a/fixed", {"value": False, **own})),
    )
    dry, real = debian.results("sls", "a", "--test"), debian.results("sls", "a")
    assert unlike(dry, real) == {}
    assert {each["result"] for each in real.values()} == {True}
    again = debian.results("sls", "a").values()
    assert [each["changes"] for each in again] == [{}] * len(states)

    def read(key: str) -> str:
        return debian.read(f"{AS} dconf read /org/a/{key}")

    found = {key: read(key) for key in ("own", "layouts", "free", "fixed")}
    assert found == {
        "own": '"it\'s mine"',
        "layouts": "[('xkb', 'de')]",
        "free": "uint32 5",
        "fixed": "true",
    }
    assert debian.read("stat -c %U /home/zoe/.config/dconf/user") == "zoe"

    def refused() -> bool:
        (tried,) = debian.results("sls", "c", code=None).values()
        return tried["result"] is False and "non-writable keys" in tried["comment"]

    assert refused(), "it is locked"
    gone = debian.results("sls", "b")
    assert all(each["changes"] for each in gone.values())
    assert read("own") == "" and debian.run("test -s /etc/dconf/db/local.d/locks/90-runner", code=1)
    debian.runner("undo")
    assert read("own") == '"it\'s mine"' and refused()
    debian.results("sls", "b")
    assert not refused() and read("fixed") == "false"


def test_fonts_of_the_machine_and_of_a_user(debian: Debian) -> None:
    sans = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
    debian.run(
        f"useradd -m zoe; mkdir -p /srv/runner/states/fonts; cp {sans} /srv/runner/states/fonts"
    )
    own: dict[str, Any] = {"user": "zoe", "source": sans}
    debian.tree(
        a=tree(
            ("font.installed", "Sans", {"source": "salt://fonts"}), ("font.installed", "Own", own)
        ),
        b=tree(("font.absent", "Sans", {}), ("font.absent", "Own", {"user": "zoe"})),
    )
    lists = f"{AS} fc-list : file | grep -e /usr/local -e /home/zoe | sort"

    def listed() -> str:
        return debian.run(lists, code=None).stdout

    dry, real = debian.results("sls", "a", "--test"), debian.results("sls", "a")
    assert {name: each["changes"].keys() for name, each in dry.items()} == {
        name: each["changes"].keys() for name, each in real.items()
    }
    there = listed()
    assert there.split() == [
        "/home/zoe/.local/share/fonts/Own/DejaVuSans.ttf:",
        "/usr/local/share/fonts/Sans/DejaVuSans.ttf:",
    ]
    assert not [each for each in debian.results("sls", "a").values() if each["changes"]]
    assert not debian.read("find /home/zoe -not -user zoe")
    gone = debian.results("sls", "b")
    assert all(each["changes"] for each in gone.values()) and not listed()
    debian.runner("undo")
    assert listed() == there
    debian.runner("undo")  # that
    assert not listed()
