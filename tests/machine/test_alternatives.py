# SPDX-License-Identifier: Apache-2.0
"""Red Hat's alternatives: what a dry run says of states that follow each other, and its run."""

from __future__ import annotations

from typing import Any

import yaml
from both_runs import assert_foreseen
from debian import Debian
from red_hats import FAMILY, PROGRAM

# a function and its arguments; or what the name means then, and whether its follower is there
STEPS = """
- [set, {path: /bin/date}]
- [/bin/date, false]
- [auto, {}]
- [/bin/echo, false]
- [install, {path: /bin/ls, link: /usr/bin/greet, priority: 30}]
- [/bin/ls, false]
- [install, {path: /bin/date, link: /usr/bin/greet, priority: 50}]
- [/bin/ls, false]
- [auto, {}]
- [/bin/date, false]
- [install, {path: /bin/date, link: /usr/bin/greet, priority: 5}]
- [/bin/date, false]
- [set, {path: /bin/cat}]
- [/bin/cat, true]
- [remove, {path: /bin/cat}]
- [/bin/ls, false]
- [remove, {path: /bin/ls}]
- [remove, {path: /bin/echo}]
- [/bin/date, false]
- [remove, {path: /bin/date}]
- ['', false]
"""
TOLD = """test "$(readlink /etc/alternatives/greet)" = '{0}' &&
{1} test -e /usr/bin/gr.1 && {{ test -z '{0}' || test -e /usr/bin/greet; }}"""


def test_a_dry_run_foresees_what_becomes_of_a_name(debian: Debian) -> None:
    debian.run(PROGRAM + FAMILY)
    states: dict[str, Any] = {}
    for number, (what, how) in enumerate(yaml.safe_load(STEPS)):
        if isinstance(how, dict):
            given = [{key: value} for key, value in {"name": "greet", **how}.items()]
            states[f"{number:02}"] = {f"alternatives.{what}": given}
        else:
            line = TOLD.format(what, "" if how else "!")
            states[f"{number:02}"] = {"test.fail_without_changes": [{"unless": line}]}
    told = assert_foreseen(debian, states)
    assert [name for name in told if told[name]["changes"]], told


def test_what_the_program_refuses(debian: Debian) -> None:
    debian.run(PROGRAM + FAMILY)
    link = "link=/usr/bin/hello"
    words = ("single", "alternatives.install", "greet", link, "path=/bin/ls", "priority=7")
    for mode in ([], ["--test"]):
        (result,) = debian.results(*words, *mode, code=2).values()
        assert "the primary link for greet must be /usr/bin/greet" in result["comment"], result
    assert debian.read(
        "readlink /etc/alternatives/greet; runner call alternatives.display greet; true"
    ).startswith("/bin/cat")
