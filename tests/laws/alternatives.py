# SPDX-License-Identifier: Apache-2.0
"""How alternatives are tried: on a throw-away copy of the machine, Debian's by its program, Red
Hat's by one that keeps the same records.
"""

from __future__ import annotations

from laws import on_machine
from red_hats import FAMILY, FOLLOWED, PROGRAM

ONE = "update-alternatives --install /usr/bin/greet greet /bin/cat 10; "
TWO = ONE + "update-alternatives --install /usr/bin/greet greet /bin/echo 20; "
BY_HAND = TWO + "update-alternatives --set greet /bin/cat; "

on = on_machine("alternatives.", name="greet")
red_hats = on_machine("alternatives.", before=PROGRAM, name="greet")

LINK = {"link": "/usr/bin/greet", "path": "/bin/cat"}
SCENARIOS = [
    on("install", **LINK, priority=10),
    on("install", ONE, plans=False, **LINK, priority=10),
    on("install", ONE, **LINK, priority=30),
    on("install", link="/usr/bin/greet", path="/no/such", priority=1, fails="does not exist"),
    on("remove", TWO, path="/bin/echo"),
    on("remove", ONE, path="/bin/cat"),
    on("remove", ONE, plans=False, path="/bin/echo"),
    on("remove", plans=False, path="/bin/cat"),
    on("auto", BY_HAND),
    on("auto", TWO, plans=False),
    on("auto", fails="doesn't exist"),
    on("install", ONE, link="/usr/bin/greet", path="/bin/echo", priority=5),
    on("install", ONE, link="/usr/bin/elsewhere", name="else", path="/bin/echo", priority=5),
    on("set", TWO, path="/bin/cat"),
    on("set", TWO, plans=False, path="/bin/echo"),
    on("set", path="/bin/echo", fails="Alternative /bin/echo for greet doesn't exist"),
    on("set", BY_HAND, plans=False, path="/bin/cat"),
    on("set", ONE, path="/bin/echo", fails="doesn't exist"),
    red_hats("install", **LINK, priority=10),
    red_hats("install", ONE, plans=False, **LINK, priority=10),
    red_hats("install", TWO, **LINK, priority=30),
    red_hats("install", FOLLOWED, link="/usr/bin/greet", path="/bin/echo", priority=20),
    red_hats("install", FAMILY, link="/usr/bin/greet", path="/bin/ls", priority=7),
    red_hats("remove", TWO, path="/bin/echo"),
    red_hats("remove", FOLLOWED, path="/bin/cat"),
    red_hats("remove", FAMILY, path="/bin/cat"),
    red_hats("remove", FAMILY, path="/bin/echo"),
    red_hats("remove", ONE, path="/bin/cat"),
    red_hats("remove", FOLLOWED, plans=False, path="/bin/echo"),
    red_hats("auto", BY_HAND),
    red_hats("auto", TWO, plans=False),
    red_hats("auto", fails="doesn't exist"),
    red_hats("set", FAMILY, path="/bin/date"),
    red_hats("set", BY_HAND, plans=False, path="/bin/cat"),
    red_hats("set", TWO, path="/bin/date", fails="Alternative /bin/date for greet doesn't exist"),
]
