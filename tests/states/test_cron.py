# SPDX-License-Identifier: Apache-2.0
"""Crontabs that others have written in, too."""

from __future__ import annotations

import pytest
from command import Machine

CRONTAB = """#!/bin/sh
test "$3" = - && exec cat >{0}
cat {0}
"""
TAB = """5 5 * * * /bin/theirs now
# 5 5 * * * /bin/switched-off
WHERE=/bin/set
@daily /bin/each day
* * * * * /bin/longer than this
"""


@pytest.fixture
def tab(machine: Machine) -> Machine:
    programs = machine.folder / "programs"
    programs.mkdir()
    (programs / "crontab").write_text(CRONTAB.format(machine.folder / "tab"))
    (programs / "crontab").chmod(0o755)
    (machine.folder / "tab").write_text(TAB)
    machine.environment["PATH"] = f"{programs}:{machine.environment['PATH']}"
    return machine


@pytest.mark.parametrize(
    ("command", "line"),
    [("/bin/theirs now", 1), ("/bin/each day", 4), ("/bin/longer", 0), ("/bin/switched-off", 0)],
)
def test_lines_of_others_for_the_same_command_are_told(
    tab: Machine, command: str, line: int
) -> None:
    tab.write(
        a=f"x:\n  cron.absent:\n    - name: {command}\n",
        b=f"x:\n  cron.present:\n    - name: {command}\n",
    )
    absent = tab.results("sls", "a")["x"]
    told = f"line {line} of root's crontab, which is not one of cron.present's, runs {command} "
    assert absent["comment"] == f"Cron {command} already absent"
    assert absent.get("warnings", []) == ([f"{told}and stays"] if line else [])
    twice = [f"{told}as well: it runs twice; take that line away"] if line else []
    for words in (["--test"], []):
        assert tab.results("sls", "b", *words)["x"].get("warnings", []) == twice
    kept = (tab.folder / "tab").read_text()
    assert kept.startswith(TAB) and kept.endswith(f"* * * * * {command}\n")
    assert not tab.results("sls", "a")["x"]["comment"].endswith("already absent"), (
        "its own line goes"
    )
    assert (tab.folder / "tab").read_text().startswith(TAB)


def test_an_entry_from_before_an_identifier_was_added_is_told(tab: Machine) -> None:
    job = "x:\n  cron.present: [name: /bin/job{}]\n"
    tab.write(
        before=job.format(""),
        after=job.format(", identifier: mine"),
        both=job.format(", identifier: mine") + job.format(", hour: 1").replace("x:", "y:"),
        absent="x:\n  cron.absent: [name: /bin/job, identifier: /bin/job]\n",
    )
    assert "warnings" not in tab.results("sls", "before")["x"]
    told = (
        "root's crontab has /bin/job under the identifier '/bin/job', too: it runs twice;"
        " cron.absent with that identifier takes the entry away"
    )
    for words in (["--test"], [], []):
        assert tab.results("sls", "after", *words)["x"]["warnings"] == [told]
        both = tab.results("sls", "both", "--test")
        assert not any("warnings" in result for result in both.values()), "they are two jobs"
    back = tab.results("sls", "before", "--test")["x"]["warnings"]
    assert back == [told.replace("'/bin/job'", "'mine'")]
    tab.results("sls", "absent")
    assert "warnings" not in tab.results("sls", "after")["x"]
    assert (tab.folder / "tab").read_text().count("/bin/job") == 1
