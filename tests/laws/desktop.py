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

SANS = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
ZIPPED = f"python3 -m zipfile -c /srv/sans.zip {SANS}; "
FOLDER = "/usr/local/share/fonts/Sans"
THERE = f"mkdir -p {FOLDER}; chmod 0755 {FOLDER}; chmod g-s {FOLDER}; cp {SANS} {FOLDER}; "
THERE += f"chmod 644 {FOLDER}/*; "
OWNED = "/home/zoe/.local/share/fonts/Sans"
font = on_machine("font.", layer="desktop", name="Sans")
SCENARIOS += [
    font("installed", source=SANS),
    font("installed", THERE, plans=False, source=SANS),
    font("installed", USER, source=SANS, user="zoe"),
    font("installed", ZIPPED, source="/srv/sans.zip", skip_verify=True),
    font("installed", ZIPPED + USER, source="/srv/sans.zip", user="zoe"),
    font(
        "installed",
        source=SANS,
        source_hash="sha256=" + "0" * 64,
        fails="does not match actual checksum",
    ),
    font("installed", source="/srv", fails="source: /srv is no file of a font"),
    font("installed", source="/srv/none.ttf", fails="/srv/none.ttf does not exist"),
    font("installed", source=SANS, user="zoe", fails="User zoe is not available"),
    font("installed", "useradd zoe; ", source=SANS, user="zoe", fails="/home/zoe does not exist"),
    font(
        "installed",
        "mkdir -p /usr/local/share/fonts; touch /usr/local/share/fonts/Sans",
        source=SANS,
        fails="/usr/local/share/fonts/Sans",
    ),
    font("absent", THERE),
    font("absent", plans=False),
    font("absent", f"{USER} mkdir -p {OWNED}; cp {SANS} {OWNED}; ", user="zoe"),
    *(
        Scenario(
            f"font.{function}",
            {"name": "Sans", **given},
            plans=plans,
            machine=True,
            layer="desktop",
            after=[("font.installed", {"name": "Sans", "source": SANS})],
        )
        for function, given, plans in (("installed", {"source": SANS}, False), ("absent", {}, True))
    ),
]
