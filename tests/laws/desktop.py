# SPDX-License-Identifier: Apache-2.0
"""How settings of desktops are tried: with a real dconf on machines."""

from __future__ import annotations

from laws import Scenario, on_machine

KEY = "/org/gnome/desktop/interface/color-scheme"
USER = "useradd -m zoe; "
HAS = f"{USER}cd /; setpriv --reuid=zoe --regid=zoe --init-groups env HOME=/home/zoe"
HAS += f""" dbus-run-session -- dconf write {KEY} "'default'"; """
LATER = (
    "mkdir -p /etc/dconf/db/local.d/locks; printf '[org/gnome/desktop/interface]\\ncolor-scheme="
)
STORED = f"""{LATER}"default"\\n' >/etc/dconf/db/local.d/10-mine; dconf update"""
STORED = STORED.replace('"default"', "'\\''default'\\''")
LOCKED = (
    f"mkdir -p /etc/dconf/db/site.d/locks; echo {KEY} >/etc/dconf/db/site.d/locks/1; dconf update"
)
on = on_machine("dconf.", layer="desktop", name=KEY)
SCENARIOS = [
    on("set", USER, value="prefer-dark", user="zoe"),
    on("set", HAS, plans=False, value="default", user="zoe"),
    on("set", HAS, value=["a", "b"], type="as", user="zoe"),
    on("set", value="x", user="nobody-of-this-name", fails="There is no user"),
    on("set", value="x", type="u", fails="'x' is no value of the type 'u'"),
    on("set", value=5, type="u"),
    on("set", STORED, value="prefer-dark", database="local"),
    on("set", STORED, plans=False, value="default"),
    on("set", STORED.replace("10-mine", "95-mine"), value="x", fails="has another value of /org"),
    on("set", STORED.replace("dconf update", "true"), value="default"),
    on("set", value=[["xkb", "us"]], type="a(ss)"),
    on("reset", HAS, user="zoe"),
    on("reset", USER, plans=False, user="zoe"),
    on("reset", STORED, database="local"),
    on("reset", plans=False),
    on("lock", database="site"),
    on("lock", LOCKED, plans=False, database="site"),
    on("unlock", LOCKED, database="site"),
    on("unlock", plans=False),
    *(
        Scenario(
            f"dconf.{function}",
            {"name": KEY, **given},
            plans=plans,
            machine=True,
            layer="desktop",
            after=[(f"dconf.{maker}", {"name": KEY, **made})],
        )
        for maker, made, function, given, plans in [
            ("set", {"value": "x"}, "set", {"value": "y"}, True),
            ("set", {"value": "x"}, "reset", {}, True),
            ("set", {"value": "x"}, "lock", {}, True),
            ("lock", {}, "lock", {}, False),
            ("lock", {}, "unlock", {}, True),
        ]
    ),
]
