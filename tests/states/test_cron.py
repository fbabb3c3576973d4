# SPDX-License-Identifier: Apache-2.0
"""Crontabs that others have written in, too."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any

import pytest
from command import Machine

from states import cron

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


# as Salt writes them for `dayweek: MON-FRI`
OF_SALT = """# Lines below here are managed by Salt, do not edit
# SALT_CRON_IDENTIFIER:/bin/job
* * * jan mon-fri /bin/job
5 * * * * /bin/bare
"""


def test_entries_of_salt_are_what_they_are(tab: Machine) -> None:
    """Without a second entry of the same job, and without a change of what means the same."""
    (tab.folder / "tab").write_text(OF_SALT)
    entry = "{}:\n  cron.present: [name: /bin/{}, identifier: false{}]\n"
    there = entry.format("job", "job", ", month: JAN, dayweek: MON-FRI")
    there += entry.format("bare", "bare", ", minute: 5")
    tab.write(there=there, new=entry.format("new", "new", ""))
    for result in tab.results("sls", "there").values():
        assert result["comment"] == f"Cron /bin/{result['__id__']} already present"
    tab.results("sls", "new")
    new = "# SALT_CRON_IDENTIFIER:/bin/new\n* * * * * /bin/new\n"
    assert (tab.folder / "tab").read_text() == OF_SALT + new
    tab.write(new="/bin/new:\n  cron.present: [identifier: null]\n")
    assert tab.results("sls", "new")["/bin/new"]["changes"] == {"root": "/bin/new"}
    assert (tab.folder / "tab").read_text() == OF_SALT + "* * * * * /bin/new\n"
    assert tab.results("sls", "new")["/bin/new"]["changes"] == {}


# every program `crontab` is noted; it refuses what has BAD in it
COUNTED_CRONTAB = """#!/bin/sh
echo "$3" >>{0}.calls
if test "$3" = -; then
  cat >{0}.new
  ! grep BAD {0}.new >&2 || exit 1
  exec mv {0}.new {0}
fi
cat {0}
"""
LONG_WAIT = "from runner.engine import shared_commit; shared_commit.LONGEST_WAIT = 3600; "


@pytest.fixture
def counted(tab: Machine) -> Machine:
    crontab = tab.folder / "programs/crontab"
    crontab.write_text(COUNTED_CRONTAB.format(tab.folder / "tab"))
    return tab


def ran(machine: Machine, *words: str) -> tuple[dict[str, Any], list[str]]:
    """The results of a run by their IDs, and the calls of crontab that make it: what looks at it
    for the history comes last.
    """
    (machine.folder / "tab.calls").write_text("")
    argv = machine.argv("sls", "site", "--out", "json", *words)
    argv[2] = LONG_WAIT + argv[2]
    done = subprocess.run(
        argv, capture_output=True, text=True, env=machine.environment, cwd=machine.folder
    )
    told = json.loads(done.stdout)["local"].values()
    kept = ("comment", "changes", "result", "__run_num__")
    results = {each["__id__"]: {key: each[key] for key in kept} for each in told}
    return results, (machine.folder / "tab.calls").read_text().split()


EDITS = (
    "".join(f"s{n}: {{cron.present: [name: 'job {n}', minute: {n}]}}\n" for n in range(9))
    + "MAILTO: {cron.env_present: [value: me]}\n"
    + "again: {cron.present: [name: job 4, hour: 4]}\n"
    + "not: {cron.absent: [name: job 5]}\n"
    + "none: {cron.absent: [name: job 99]}\n"
    + "gone: {cron.env_absent: [name: MAILTO]}\n"
)


def test_states_of_one_crontab_look_once_and_write_once(counted: Machine) -> None:
    tab, found = counted.folder / "tab", []
    counted.write(site=EDITS)
    for alone in (False, True):
        counted.config["failhard"] = alone
        results, calls = ran(counted)
        assert calls.count("-") == (13 if alone else 1), calls
        assert alone or calls == ["-l", "-", "-l", "-l"], "the last two are for the history"
        found.append((results, tab.read_text()))
        counted("undo")
        assert tab.read_text() == TAB
    assert found[0] == found[1]
    assert [key for key, each in found[0][0].items() if not each["changes"]] == ["none"]


def test_what_looks_from_outside_finds_the_entries_before_it(counted: Machine) -> None:
    tab = counted.folder / "tab"
    jobs = [f"s{n}: {{cron.present: [name: 'job {n}']}}\n" for n in range(4)]
    seen = f"seen: {{cmd.run: [name: grep -c SALT {tab}]}}\n"
    react = "react: {cmd.run: [name: 'true', onchanges: [cron: s3]]}\n"
    file = f"{tab}.other: {{file.managed: [contents: x]}}\n"
    counted.write(site="".join([*jobs[:2], seen, jobs[2], file, jobs[3], react]))
    results, calls = ran(counted)
    assert results["seen"]["changes"]["stdout"] == "2"
    assert results["react"]["changes"]
    assert calls.count("-") == 3


def test_a_line_that_crontab_refuses_fails_its_own_state(counted: Machine) -> None:
    jobs = [f"s{n}: {{cron.present: [name: 'job {n}{' BAD' * (n == 2)}']}}\n" for n in range(5)]
    counted.write(site="".join(jobs))
    results, _ = ran(counted)
    assert [each["result"] for each in results.values()] == [True, True, False, True, True]
    assert "crontab: " in results["s2"]["comment"] and results["s2"]["changes"] == {}
    kept = (counted.folder / "tab").read_text()
    assert [f"job {n}\n" in kept for n in range(5)] == [True, True, False, True, True]
    counted("undo")
    assert (counted.folder / "tab").read_text() == TAB


def test_a_crontab_that_takes_nothing_fails_all_that_wanted_it(counted: Machine) -> None:
    (counted.folder / "tab").write_text(TAB + "# BAD\n")
    counted.write(site="".join(f"s{n}: {{cron.present: [name: job {n}]}}\n" for n in range(3)))
    results, _ = ran(counted)
    assert [(each["result"], each["changes"]) for each in results.values()] == [(False, {})] * 3


@pytest.mark.parametrize("alone", [False, True])
def test_what_crontab_put_in_its_place_before_it_failed_is_a_change(
    counted: Machine, alone: bool
) -> None:
    """And what reacts to it runs: the states would find nothing to do in the next run."""
    crontab = counted.folder / "programs/crontab"
    text = crontab.read_text().replace("exec mv", "mv")
    crontab.write_text(text.replace("\nfi", "\n  exit 1\nfi"))
    counted.config["failhard"] = alone
    jobs = [f"s{n}: {{cron.present: [name: job {n}]}}\n" for n in range(3)]
    react = "react: {cmd.run: [name: 'true', onchanges: [cron: s1]]}\n"
    counted.write(site="".join([*jobs, react]))
    results, _ = ran(counted)
    assert all(each["result"] and each["changes"] for each in results.values()), results


def test_a_crontab_that_hangs_is_interrupted_with_all_states_that_wait(counted: Machine) -> None:
    crontab = counted.folder / "programs/crontab"
    text = crontab.read_text()
    crontab.write_text(text.replace("  cat >", "  kill -TERM $PPID; sleep 60; exit 1\n  cat >"))
    counted.write(site="".join(f"s{n}: {{cron.present: [name: job {n}]}}\n" for n in range(3)))
    results, calls = ran(counted)
    assert calls.count("-") == 1
    told = [(each["result"], each["comment"].split(" while ")[0]) for each in results.values()]
    assert told == [(False, "interrupted by SIGTERM")] * 3


def test_a_run_that_is_killed_before_the_write_has_told_nothing(counted: Machine) -> None:
    crontab = counted.folder / "programs/crontab"
    text = crontab.read_text()
    crontab.write_text(text.replace("  cat >", "  kill -9 $PPID; exit 1\n  cat >"))
    counted.write(site="".join(f"s{n}: {{cron.present: [name: job {n}]}}\n" for n in range(3)))
    killed = subprocess.run(
        counted.argv("sls", "site"), capture_output=True, text=True, env=counted.environment
    )
    assert killed.returncode == -9 and "job" not in killed.stdout
    assert (counted.folder / "tab").read_text() == TAB
    crontab.write_text(text)
    assert all(each["changes"] for each in ran(counted)[0].values())


def test_an_entry_comes_after_the_user_that_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.cron.caller", lambda: "deploy")
    assert list(cron.autorequire("/bin/job")) == [("user", "deploy")]
    assert list(cron.autorequire("/bin/job", user="app")) == [("user", "app")]


@pytest.mark.parametrize(
    "words",
    ["The user zoe cannot use this program", "You (zoe) are not allowed to use this program"],
)
def test_who_may_have_no_crontab_is_told_where_that_is_said(tab: Machine, words: str) -> None:
    program = tab.folder / "programs/crontab"
    program.write_text(f"#!/bin/sh\necho '{words} (crontab)' >&2\nexit 1\n")
    tab.write(a="job: {cron.present: []}\n")
    for more in (["--test"], []):
        comment = tab.results("sls", "a", *more, code=2)["job"]["comment"]
        assert comment.endswith("(/etc/cron.allow and /etc/cron.deny say who may)")


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        ("minute", "0 '*' random '*/15' 05 1-5/2,7 0~59 '#0' '@reboot' ''", "60 1.5 x 1, */0 1-"),
        ("hour", "23 '*'", "24 5-3 jan '*5' '@reboot' 1;2 '#0'"),
        ("daymonth", "1-31", "0 32 '1, 15' L"),
        ("month", "12 jan-Mar,DEC", "0 13 january"),
        ("dayweek", "0-7 SUN sat-7", "8 sunday fri-sun mon#1"),
    ],
)
def test_a_time_that_there_is_not_is_found_by_check(
    machine: Machine, field: str, right: str, wrong: str
) -> None:
    """crontab itself takes `1.5` for 1, and what `5-3` says never runs."""
    texts = [*shlex.split(right), *shlex.split(wrong)]
    job = "j{0}: {{cron.present: [identifier: j{0}, {1}: '{2}']}}\n"
    machine.write(site="".join(job.format(n, field, text) for n, text in enumerate(texts)))
    found = machine.document("check", "site", code=1)["diagnostics"]
    errors = [each for each in found if each["severity"] == "error"]
    assert [each["line"] for each in errors] == [
        *range(len(shlex.split(right)) + 1, len(texts) + 1)
    ]
    for each in errors:
        assert each["message"].startswith(f"cron.present: {field}: ")
        assert each["hint"].startswith("such as ")
