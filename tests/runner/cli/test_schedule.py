# SPDX-License-Identifier: Apache-2.0
"""Cron entries and timers as text, and when they are due."""

from __future__ import annotations

import os
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from command import Machine

import modules.schedule
from modules.schedule import When
from runner.api.scheduled import ScheduleFiles
from runner.cli.running import exit_codes, scheduling
from runner.cli.running.installed_schedule import Installed, disobedient
from runner.cli.running.scheduling import SchedulePlan, due, expression
from runner.model.errors import UsageError

NOW = datetime(2026, 11, 21, 5, 47, 12)  # a Saturday


@pytest.mark.parametrize(
    ("every", "cron", "calendar"),
    [
        ("1m", "* * * * *", "*:0/1"),
        ("30m", "*/30 * * * *", "*:0/30"),
        ("1h", "0 * * * *", "0/1:00"),
        ("6h", "0 */6 * * *", "0/6:00"),
        ("1d", "0 0 * * *", "daily"),
    ],
)
def test_intervals(every: str, cron: str, calendar: str) -> None:
    plan = SchedulePlan(
        ("/usr/bin/runner", "highstate", "-q"), scheduling.minutes(every), splay=600
    )
    assert expression(plan) == cron
    assert f"{cron} root /usr/bin/runner highstate -q --splay 600\n" in scheduling.cron_text(plan)
    assert (
        f"OnCalendar={calendar}\nRandomizedDelaySec=600\nPersistent=true\n"
        in scheduling.timer_text(plan)
    )


@pytest.mark.parametrize("every", ["7m", "45m", "5h", "2d", "90s", "0m", "soon"])
def test_intervals_that_no_clock_has(every: str) -> None:
    with pytest.raises(UsageError):
        scheduling.minutes(every)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("*/30 * * * *", datetime(2026, 11, 21, 6, 0)),
        ("47 5 * * *", datetime(2026, 11, 22, 5, 47)),
        ("0 4 * * mon-fri", datetime(2026, 11, 23, 4, 0)),
        ("0 0 1 jan *", datetime(2027, 1, 1, 0, 0)),
        ("0 0 29 2 *", datetime(2028, 2, 29, 0, 0)),
        ("5,10 */6 * * 7", datetime(2026, 11, 22, 0, 5)),
        ("0 0 13 * fri", datetime(2026, 11, 27, 0, 0)),
        ("0 0 31 2 *", None),
    ],
)
def test_due(text: str, wanted: datetime | None) -> None:
    assert due(text, NOW) == wanted


@pytest.mark.parametrize(
    "text", ["* * * *", "60 * * * *", "x * * * *", "*/0 * * * *", "5-1 * * * *", "@daily"]
)
def test_expressions_that_cron_would_not_take(text: str) -> None:
    with pytest.raises(UsageError):
        expression(SchedulePlan((), None, text))


def test_words_are_quoted_for_their_reader() -> None:
    plan = SchedulePlan(("/opt/my tools/runner", "--config", "/etc/100%.yaml"))
    assert "'/opt/my tools/runner' --config /etc/100\\%.yaml" in scheduling.cron_text(plan)
    assert 'ExecStart="/opt/my tools/runner" --config /etc/100%%.yaml\n' in scheduling.service_text(
        plan
    )


def test_a_schedule_that_goes_on_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def named(user: int, *command: str) -> list[str]:
        monkeypatch.setattr(os, "geteuid", lambda: user)
        schedule = Installed("/etc/cron.d/runner", ("runner", "pull", *command))
        return [str(problem) for problem in disobedient(schedule, f"{tmp_path}/state")]

    here = ("--cachedir", str(tmp_path), "--scheduled")
    (of_root,) = named(1000, *here)
    assert "are root's" in of_root and "sudo" in of_root
    assert named(0, *here) == [] == [*disobedient(None, "/")]
    (earlier,) = named(0, *here[:2])
    assert "written by an earlier runner" in earlier
    (elsewhere,) = named(0, "--scheduled", "--cachedir", f"{tmp_path}/b c")
    assert "another state_dir" in elsewhere and f"--cachedir '{tmp_path}/b c'" in elsewhere


def test_a_cron_expression_is_not_for_timers() -> None:
    with pytest.raises(UsageError, match="--cron-d"):
        scheduling.timer_text(SchedulePlan((), None, "0 4 * * *"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("install", "--first-boot", "--splay", "5m"), "goes with install and --pull alone"),
        (("install", "--first-boot", "--user"), "goes with install and --pull alone"),
        (("install", "--watch", "ask", "--splay", "5m"), "goes with install, --every and --user"),
        (("install", "--watch", "mend"), "--watch mend: one of report, drift, ask"),
        (("remove", "--watch", "ask"), "--watch is for `runner schedule install`"),
        (("remove", "--first-boot"), "--first-boot is for `runner schedule install`"),
        (("remove", "--timer"), "--timer is for `runner schedule install`"),
        (("status", "--ac-power"), "--ac-power is for `runner schedule install`"),
        (("status", "--splay", "5m"), "--splay is for `runner schedule install`"),
        (("install", "--pillar", "{a: 1}"), "--pillar is for one run"),
        (("install", "--pull", "--state-tree", "x"), "--state-tree is not for runs of a pulled"),
    ],
)
def test_no_option_is_passed_over(machine: Machine, words: tuple[str, ...], why: str) -> None:
    assert why in machine("schedule", *words, "--test", code=1).stderr


def test_what_was_installed_is_found_again() -> None:
    command = ("/opt/my tools/runner", "pull", "--config", '/etc/100% "$x" \\.yaml')
    entry = scheduling.cron_text(SchedulePlan(command, None, "0 4 * * 1")).splitlines()
    assert scheduling.entry_of_cron(entry) == ("0 4 * * 1", command)
    service = scheduling.service_text(SchedulePlan(command)).splitlines()
    assert scheduling.command_of_service(service) == command
    assert scheduling.entry_of_cron(["* * * * * root runner 'open"])[1] == ("runner 'open",)
    assert (scheduling.entry_of_cron([]), scheduling.command_of_service([])) == ((None, ()), ())


def test_the_service_waits_for_the_network() -> None:
    unit = scheduling.service_text(SchedulePlan(("runner",))).partition("[Service]")[0]
    assert "Wants=network-online.target\n" in unit and "After=network-online.target\n" in unit


def test_a_service_that_finds_another_run_at_work_has_not_failed() -> None:
    wanted = f"SuccessExitStatus={exit_codes.LOCKED}\n"
    assert wanted in scheduling.service_text(SchedulePlan(("runner",)))


def test_the_service_of_a_laptop_and_that_of_a_user() -> None:
    on_ac = scheduling.service_text(SchedulePlan(("runner",), ac_power=True))
    assert "\nConditionACPower=true\n" in on_ac.partition("[Service]")[0]
    assert "ConditionACPower" not in scheduling.service_text(SchedulePlan(("runner",)))
    of_user = scheduling.service_text(SchedulePlan(("runner",), user="zoe"))
    # a user's systemd knows no network, and what it would close also closes sudo
    assert [word for word in ("network", "Capability", "SystemCall") if word in of_user] == []


def test_the_service_has_no_file_system_of_its_own() -> None:
    """Whatever it closes: what a run mounts has to be seen by all."""
    unit = scheduling.service_text(SchedulePlan(("runner",)))
    named = {line.partition("=")[0] for line in unit.splitlines() if "=" in line}
    assert "RestrictRealtime" in named
    mounting = ("Protect", "Private", "ReadOnly", "ReadWrite", "Inaccessible", "Temporary", "Bind")
    mounting += ("Root", "NoNewPrivileges", "User", "DynamicUser", "Mount")
    assert [name for name in named if name.startswith(mounting)] == []


def test_salts_function_lists_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ScheduleFiles(str(tmp_path / "cron"), "runner-highstate", str(tmp_path))
    monkeypatch.setattr(modules.schedule, "SCHEDULE", files)
    listed = partial(modules.schedule.list_, return_yaml=False)
    assert (modules.schedule.list_(), listed()) == ("schedule: {}\n", {})
    command = ("/usr/bin/runner", "pull", "-q", "--scheduled")
    job = {"name": "highstate", "function": "state.highstate", "enabled": True, "splay": 60}
    (tmp_path / "cron").write_text(scheduling.cron_text(SchedulePlan(command, 30, splay=60)))
    assert listed() == {"highstate": {**job, "cron": "*/30 * * * *"}}
    assert modules.schedule.is_enabled("highstate") and not modules.schedule.is_enabled("x")
    Path(files.timer_path).write_text(scheduling.timer_text(SchedulePlan(command, 30, splay=60)))
    assert listed()["highstate"] == {**job, "on_calendar": "*:0/30", "enabled": False}
    assert listed(show_disabled=False) == {}


def test_jobs_of_states_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ScheduleFiles(str(tmp_path / "cron/runner"), unit_folder=str(tmp_path / "units"))
    monkeypatch.setattr(modules.schedule, "SCHEDULE", files)
    (tmp_path / "cron").mkdir()
    (tmp_path / "units/timers.target.wants").mkdir(parents=True)
    when = When(0, ("0 4 * * *",), 9)
    names = ["nightly", "a job 100%"]
    for name in names:
        told = modules.schedule.about(name, "state.apply", when)
        text = modules.schedule.cron_text(["runner", "sls", "a"], when, name == names[0], told)
        Path(modules.schedule.cron_file(modules.schedule.unit_name(name))).write_text(text)
    timed = modules.schedule.unit_name("timed")
    told = modules.schedule.about("timed", "test.ping", When(60))
    (tmp_path / f"units/{timed}.service").write_text(
        modules.schedule.service_text("timed", ["runner", "call"], told)
    )
    listed = partial(modules.schedule.list_, return_yaml=False)
    job = {"function": "state.apply", "cron": "0 4 * * *", "splay": 9}
    assert listed() == {
        "nightly": {"name": "nightly", **job, "enabled": True},
        "a job 100%": {"name": "a job 100%", **job, "enabled": False},
        "timed": {
            "name": "timed",
            "function": "test.ping",
            "seconds": 60,
            "splay": 0,
            "enabled": False,
        },
    }
    (tmp_path / f"units/timers.target.wants/{timed}.timer").symlink_to("../x")
    assert [*listed(show_disabled=False)] == ["timed", "nightly"]
    entry = tmp_path / "cron/runner-job-nightly"
    off = modules.schedule.switched(entry.read_text(), False)
    assert not modules.schedule.starts_by_cron(off)
    assert modules.schedule.switched(off, True) == entry.read_text()
