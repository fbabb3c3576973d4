# SPDX-License-Identifier: Apache-2.0
"""How jobs of at are tried: with a real at."""

from __future__ import annotations

from laws import Scenario, on_machine

ZOE = "useradd -m zoe; "
WAITS = "cd /; printf '### SALT: love\\necho hi\\n' | at '10:00 2035-11-23'; "
PLAIN = "cd /; echo 'echo hi' | at '10:00 2035-11-23'; "
WHEN = {"timespec": "10:00 2035-11-23"}
LAST = {"day": 23, "month": 11, "year": 2035, "hour": 10, "minute": 0}

on = on_machine("at.", layer="desktop", name="echo hi")
SCENARIOS = [
    on("present", **WHEN),
    on("present", ZOE, name="x", job="echo hi\necho 'you'\n", tag="love", user="zoe", **WHEN),
    on("present", WAITS, **WHEN),
    on("present", PLAIN, plans=False, timespec="now + 5 hours"),
    on("present", WAITS, plans=False, tag="love", **WHEN),
    on("present", WAITS, plans=False, job="echo else", tag="love", unique_tag=True, **WHEN),
    on("present", unique_tag=True, fails="no tag provided", **WHEN),
    on("present", user="nobodyx", fails="user nobodyx does not exists", **WHEN),
    on("present", "rm /usr/bin/at", fails="at is missing: it comes with at", **WHEN),
    on("absent", WAITS, tag="love", runas="root", job="echo hi", **LAST),
    on("absent", WAITS + PLAIN, jobid=2),
    on("absent", WAITS + PLAIN),
    on("absent", WAITS, plans=False, tag="war"),
    on("absent", WAITS, plans=False, runas="zoe"),
    on("absent", WAITS, plans=False, year=36),
    on("absent", WAITS, plans=False, job="echo ho"),
    on("absent", plans=False, jobid=7),
    Scenario(
        "at.present",
        {"name": "echo hi", "user": "zoe", **WHEN},
        machine=True,
        layer="desktop",
        after=[("user.present", {"name": "zoe"})],
    ),
]
