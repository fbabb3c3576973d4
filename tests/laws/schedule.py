# SPDX-License-Identifier: Apache-2.0
"""How jobs of cron are tried; those of systemd are in tests/machine/test_schedule.py."""

from __future__ import annotations

from laws import on_machine

on = on_machine("schedule.", name="nightly")


APPLY = {"function": "state.apply", "job_args": ["backup"]}
ANSWERED = {
    "maxrunning": 1,
    "return_job": False,
    "jid_include": True,
    "metadata": {"a": 1},
    "persist": False,
    "offline": True,
}
CRON = "echo '{}0 4 * * * root runner sls backup' > /etc/cron.d/runner-job-nightly"
SCENARIOS = [
    on("present", **APPLY, cron="0 4 * * 1-5", splay=60, **ANSWERED),
    on("present", function="state.highstate", minutes=30, splay={"start": 1, "end": 9}),
    on("present", function="test.echo", job_args="a b", seconds=3600, run_on_start=True),
    on("present", function="state.sls", job_kwargs={"mods": "a,b", "test": True}, hours=6),
    on("present", **APPLY, days=1, enabled=False),
    on("present", **APPLY, when=["Monday 5:00pm", "17:30"]),
    on("present", **APPLY, seconds=15, fails="cron cannot start a job every 15 seconds"),
    on("present", **APPLY, minutes=5, cron="* * * * *", fails="says when"),
    on("present", **APPLY, cron="61 * * * *", fails="'61' cannot be there"),
    on("present", **APPLY, when="noon", fails="'noon' is no time such as"),
    on("present", function="state.apply", job_kwargs={"x": 1}, days=1, fails="takes no x"),
    on("absent", "touch /etc/cron.d/runner-job-nightly", persist=True, offline=True),
    on("absent", plans=False),
    on("disabled", CRON.format(""), persist=True, offline=False),
    on("disabled", CRON.format("# "), plans=False),
    on("enabled", CRON.format("# "), persist=True),
    on("enabled", plans=False),
]
