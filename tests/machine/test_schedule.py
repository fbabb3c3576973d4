# SPDX-License-Identifier: Apache-2.0
"""Runs that start by themselves: by a real cron with its bare environment, and by a real systemd
timer.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from debian import Debian
from guides import run_page
from starting import waits

CONFIG = "/etc/runner/runner.yaml"
CONFIGURED = "file_roots: {base: [/srv/runner/states]}\n"
SENDMAIL = '#!/bin/sh\n{ echo "to $*"; cat; } >>/root/mails\n'
TREE = """
/root/grüße-日本:
  file.managed:
    - contents: Grüße aus 日本
    - encoding: utf-8
environment:
  cmd.run:
    - name: (env; umask; tty || true) >/root/environment
    - creates: /root/environment
mounted:
  cmd.run:
    - name: mount -t tmpfs none /mnt && unshare --mount --uts setarch -R chrt -b 0 true
    - unless: mountpoint -q /mnt
"""


def status(machine: Debian) -> Any:
    return json.loads(machine.runner("schedule", "status", "--out", "json").stdout)["local"]


def prepared(machine: Debian) -> None:
    machine.tree(top="base: {'*': [all]}\n", all=TREE)
    machine.write(CONFIG, CONFIGURED)


@pytest.fixture
def with_cron(debian: Debian) -> Debian:
    """A machine whose cron is to start runner each minute; what cron mails is kept."""
    prepared(debian)
    debian.write("/usr/sbin/sendmail", SENDMAIL, 0o755)
    debian.run("systemctl start cron")
    debian.runner("schedule", "install", "--cron", "* * * * *", "--cron-d")
    return debian


@pytest.fixture
def with_timer(debian: Debian) -> Debian:
    """A machine whose systemd is to start runner each minute."""
    prepared(debian)
    debian.runner("schedule", "install", "--every", "1m", "--timer")
    return debian


def until(machine: Debian, command: str) -> None:
    """Wait, for some turns of the clock, until a command succeeds."""
    machine.until(command)


def test_an_entry_for_cron(with_cron: Debian) -> None:
    assert with_cron.read("stat -c '%a %U' /etc/cron.d/runner") == "644 root"
    assert (
        "/usr/local/bin/runner highstate -q --scheduled\n"
        in with_cron.read("cat /etc/cron.d/runner") + "\n"
    )
    again = with_cron.runner("schedule", "install", "--cron", "* * * * *", "--cron-d", "-q")
    assert again.stdout + again.stderr == ""
    found = status(with_cron)
    assert found["installed"] == "/etc/cron.d/runner"
    assert found["next"] and found["command"] == "/usr/local/bin/runner highstate -q --scheduled"


def test_a_timer(with_timer: Debian) -> None:
    assert with_timer.read("systemctl is-enabled runner-highstate.timer") == "enabled"
    assert with_timer.read("systemctl is-active runner-highstate.timer") == "active"
    verified = with_timer.run("systemd-analyze verify /etc/systemd/system/runner-highstate.*")
    assert verified.stdout + verified.stderr == ""
    shown = with_timer.read(
        "systemctl show runner-highstate.timer -p Persistent -p RandomizedDelayUSec"
    )
    assert set(shown.split()) == {"Persistent=yes", "RandomizedDelayUSec=0"}
    again = with_timer.runner("schedule", "install", "--every", "1m", "--timer", "-q")
    assert again.stdout + again.stderr == ""


# what `systemd-analyze security` says is closed; of all else runner/api/scheduled.py has the reason
CLOSED = {
    "RestrictRealtime",
    "SystemCallFilter_cpu_emulation",
    "SystemCallFilter_obsolete",
    "CapabilityBoundingSet_CAP_BLOCK_SUSPEND",
    "CapabilityBoundingSet_CAP_LEASE",
    "CapabilityBoundingSet_CAP_SYS_PACCT",
    "CapabilityBoundingSet_CAP_WAKE_ALARM",
    "KeyringMode",
}


def test_the_service_has_no_rights_that_no_run_needs(with_timer: Debian) -> None:
    """What a run may need stays: what it mounts, say, the whole machine sees."""
    words = "systemd-analyze security --json=short runner-highstate.service"
    listed = json.loads(with_timer.run(words, code=None).stdout)
    closed = {item["json_field"] for item in listed if item["set"]}
    assert closed >= CLOSED, CLOSED - closed
    with_timer.run("systemctl start runner-highstate.service; mountpoint -q /mnt")


def test_cron_starts_it_and_mails_what_changed(with_cron: Debian) -> None:
    until(with_cron, "runner history | grep -q 'runner highstate'")
    until(with_cron, "test -s /root/mails")
    assert with_cron.read("cat /root/grüße-日本") == "Grüße aus 日本"
    variables = with_cron.read("cat /root/environment").split("\n")
    assert "not a tty" in variables
    assert not [line for line in variables if line.startswith(("TERM=", "DISPLAY=", "SSH_"))]
    mail = with_cron.read("cat /root/mails")
    assert "changed  file.managed  /root/grüße-日本" in mail
    quiet = with_cron.runner("highstate", "-q", "--wait")
    assert quiet.stdout + quiet.stderr == "", "nothing changed: no mail"
    last = status(with_cron)["last"]
    assert last["outcome"] == "done"
    assert last["command"].startswith("runner highstate -q")


def test_the_timer_starts_it(with_timer: Debian) -> None:
    until(with_timer, "runner history | grep -q 'runner highstate'")
    until(with_timer, "test -e /root/environment")
    until(with_timer, "! systemctl is-active -q runner-highstate.service")
    assert with_timer.read("systemctl show -p Result --value runner-highstate.service") == "success"
    assert "changed  file.managed" in with_timer.read(
        "journalctl -u runner-highstate.service -o cat"
    )
    # not while systemd starts it
    until(with_timer, """runner schedule status --out json | grep -q '"next": "'""")
    found = status(with_timer)
    assert found["installed"].endswith("runner-highstate.timer")
    assert found["last"]["outcome"] == "done"


def test_disabled_runs_are_not_started(with_timer: Debian) -> None:
    """A timer of an earlier runner is named, and healed; that of another state folder is named."""
    timed, service = "runner-highstate.service", "/etc/systemd/system/runner-highstate.service"
    with_timer.run(f"sed -i 's/ --scheduled//' {service}; systemctl daemon-reload")
    warned = with_timer.run("runner disable 'the disk is copied' --for 8h")
    assert f"{service[:-8]}.timer was written by an earlier runner" in warned.stderr
    assert "was written by an earlier runner" in with_timer.run("runner schedule status").stderr
    healed = with_timer.runner("schedule", "install", "--every", "1m", "--timer", "--wait")
    assert "scheduled runs are disabled" in healed.stderr
    assert "earlier runner" not in with_timer.run("runner schedule status").stderr
    before = status(with_timer)["last"]
    with_timer.run(f"systemctl start {timed}")
    said = f"journalctl -u {timed} -o cat | grep -c 'not run: scheduled runs are disabled until'"
    until(with_timer, said)
    assert with_timer.read(f"systemctl show -p Result --value {timed}") == "success"
    assert status(with_timer)["last"] == before, "no scheduled run since"
    elsewhere = with_timer.run("runner disable elsewhere --cachedir /root/other").stderr
    assert "have another state_dir (/var/lib/runner)" in elsewhere
    with_timer.runner("enable")
    with_timer.run(f"systemctl start {timed}")
    assert status(with_timer)["last"] != before


def test_pulls_are_scheduled(with_timer: Debian) -> None:
    refused = with_timer.runner("schedule", "install", "--pull", code=1)
    assert "names no remote of the tree" in refused.stderr
    with_timer.run(f"echo 'tree: {{remote: file:///srv/none}}' >>{CONFIG}")
    noted = with_timer.runner("schedule", "install", "--pull", "--cron-d", "--test", "--wait")
    assert "nothing here waits for the network" in noted.stderr
    words = ("schedule", "install", "--pull", "--every", "30m", "--splay", "10m", "--wait")
    with_timer.runner(*words)
    assert status(with_timer)["command"] == "/usr/local/bin/runner pull -q --scheduled"
    unit = with_timer.read("systemctl cat runner-highstate.service runner-highstate.timer")
    assert "After=network-online.target" in unit and "RandomizedDelaySec=600" in unit
    noted = with_timer.runner("schedule", "install", "--test", "--wait")
    assert "fetch nothing" in noted.stderr


def test_the_other_way_replaces_it(with_timer: Debian) -> None:
    with_timer.runner("schedule", "install", "--cron-d", "--wait")
    assert with_timer.run("systemctl is-active -q runner-highstate.timer", code=None).returncode
    assert status(with_timer)["installed"] == "/etc/cron.d/runner"
    assert with_timer.read("ls /etc/systemd/system | grep -c runner-highstate || true") == "0"
    with_timer.runner("schedule", "install", "--timer", "--wait")
    assert with_timer.run("test -e /etc/cron.d/runner", code=None).returncode
    # a tree that lies somewhere else, where the timer would not look
    with_timer.write("/root/own/runner.yaml", f"state_dir: /var/lib/runner\n{CONFIGURED}")
    with_timer.run("cd /root/own && runner schedule install --wait")
    command = "/usr/local/bin/runner highstate -q --scheduled --config /root/own/runner.yaml"
    assert status(with_timer)["command"] == command
    with_timer.runner("schedule", "remove", "--wait")
    assert status(with_timer)["installed"] is None
    assert with_timer.run("systemctl is-active -q runner-highstate.timer", code=None).returncode
    gone = with_timer.runner("schedule", "remove", "-q")
    assert gone.stdout + gone.stderr == ""


for _test in (test_cron_starts_it_and_mails_what_changed, test_the_timer_starts_it):
    _test.waits = True  # type: ignore[attr-defined]


class Terminal:
    """A page's commands in a machine, as in guides.Session."""

    def __init__(self, machine: Debian) -> None:
        self._machine = machine
        self.exit_code = 0

    def run(self, command: str) -> str:
        done = self._machine.run(f"({command}) 2>&1", code=None)
        self.exit_code = done.returncode
        return done.stdout

    def write(self, path: str, text: str) -> None:
        self._machine.write(path, text)


def test_the_page_on_schedules(debian: Debian) -> None:
    """docs/scheduling.md; `RUNNER_GUIDES=write` writes what is printed into it."""
    page = Path(__file__).parent.parent.parent / "docs/scheduling.md"
    debian.run("rm -rf /var/lib/runner")  # of the computer that the machine is a copy of
    wrong, corrected = run_page(page.read_text(), Terminal(debian))  # type: ignore[arg-type]
    if os.environ.get("RUNNER_GUIDES") == "write":
        page.write_text(corrected)
    assert not wrong, "\n".join(wrong)


FIRST = "runner-first-boot.service"


def test_a_first_run_is_tried_until_it_succeeds(debian: Debian) -> None:
    debian.tree(
        top="base: {'*': [all]}\n", all="/root/made: {file.exists: []}\n/root/x: {file.touch: []}\n"
    )
    debian.write(CONFIG, CONFIGURED)
    refused = debian.runner("schedule", "install", "--first-boot", "--every", "1h", code=1)
    assert "--first-boot goes with install and --pull alone" in refused.stderr
    debian.runner("schedule", "install", "--first-boot")
    assert not debian.runner("schedule", "install", "--first-boot", "-q").stdout
    assert status(debian)["first_boot"] == "pending, when the machine starts"
    verified = debian.run(f"systemctl daemon-reload; systemd-analyze verify {FIRST}")
    assert verified.stdout + verified.stderr == ""
    assert debian.read(f"systemctl is-enabled {FIRST}") == "enabled"
    before = debian.read(f"systemctl show -p Before --value {FIRST}")
    assert "getty@tty1.service" in before and "getty.target" not in before
    debian.run(f"mkdir -p /run/systemd/system/{FIRST}.d")
    debian.write(f"/run/systemd/system/{FIRST}.d/soon.conf", "[Service]\nRestartSec=1\n")
    assert debian.run(f"systemctl daemon-reload; systemctl start {FIRST}", code=None).returncode
    assert status(debian)["first_boot"] == "pending, when the machine starts"
    debian.run("mkdir -p /run/systemd/shutdown; touch /root/made /run/systemd/shutdown/scheduled")
    until(debian, f"test $(systemctl show -p ActiveState --value {FIRST}) = inactive")
    assert status(debian)["first_boot"] == "pending, when the machine starts", "it goes on then"
    debian.run(f"rm /run/systemd/shutdown/scheduled; systemctl start {FIRST}")
    until(debian, f"test ! -L /etc/systemd/system/multi-user.target.wants/{FIRST}")
    assert status(debian)["first_boot"] == "done"
    debian.runner("schedule", "remove", "--wait")
    assert status(debian)["first_boot"] is None


LOCK = "systemd-inhibit --list --no-legend | grep '^runner .* sleep .* block'"


def test_a_machine_does_not_fall_asleep_in_a_run(debian: Debian) -> None:
    debian.tree(a=json.dumps({"a": {"cmd.run": [{"name": waits(LOCK)}]}}))
    debian.run("systemctl start systemd-logind")
    debian.runner("sls", "a")
    assert debian.run(LOCK, code=1), "until its end"
    debian.tree(a=json.dumps({"a": {"cmd.run": [{"name": "touch /root/began; sleep 600"}]}}))
    killed = debian.start("runner", "sls", "a", ready=f"test -e /root/began && {LOCK}")
    debian.run(f"kill -KILL {killed}")
    debian.until(f"! {LOCK}")


JOBS = """
at once 100%:
  schedule.present:
    - function: file.touch
    - job_args: [/root/ran at 5% $HOME]
    - when: [Monday 5:00pm, '17:30']
    - run_on_start: true
regular:
  schedule.present:
    - function: state.apply
    - job_args: [jobs.part]
    - job_kwargs: {pillar: {a: "it's"}, queue: true}
    - seconds: 2
    - splay: 1
later:
  schedule.present: [{function: state.highstate}, {cron: '*/15 4 1 * mon-fri'}, {enabled: false}]
"""
PART = "/root/{{ pillar.a }}: {file.managed: [{contents: x}]}"


def test_jobs_of_a_tree(debian: Debian) -> None:
    prepared(debian)
    debian.tree(jobs=JOBS, **{"jobs/part": PART, "gone": JOBS.replace("present", "absent")})
    dry = debian.results("sls", "jobs", "--test")
    assert {each["result"] for each in dry.values()} == {None}
    real = debian.results("sls", "jobs")
    assert {each["result"] for each in real.values()} == {True}
    assert {name: [*each["changes"]] for name, each in dry.items()} == {
        name: [*each["changes"]] for name, each in real.items()
    }
    until(debian, "test -e '/root/ran at 5% $HOME' && test -e \"/root/it's\"")
    assert debian.read("systemctl is-enabled runner-job-regular.timer") == "enabled"
    assert debian.run("systemctl is-active runner-job-later.timer", code=None).returncode
    times = debian.read("grep -h OnCalendar /etc/systemd/system/runner-job-later.timer").split("\n")
    assert len(times) == 2, "the day of the month or the day of the week"
    for time_of_job in times:
        debian.run(f"systemd-analyze calendar '{time_of_job.removeprefix('OnCalendar=')}'")
    again = debian.results("sls", "jobs", "--wait")
    assert {name: each["changes"] for name, each in again.items()} == {name: {} for name in again}
    listed = json.loads(
        debian.runner("call", "schedule.list", "return_yaml=false", "--out", "json").stdout
    )["local"]
    assert {name: job["enabled"] for name, job in listed.items()} == {
        "at once 100%": True,
        "regular": True,
        "later": False,
    }
    for word in ("disabled", "enabled"):
        debian.tree(switch=f"regular: {{schedule.{word}: []}}")
        assert debian.results("sls", "switch", "--test")["regular"]["changes"]
        assert debian.results("sls", "switch", "--wait")["regular"]["changes"]
        assert not debian.results("sls", "switch", "--wait")["regular"]["changes"]
        state = debian.run("systemctl is-active runner-job-regular.timer", code=None).stdout
        assert (state.strip() == "active") is (word == "enabled")
    assert {each["result"] for each in debian.results("sls", "gone", "--wait").values()} == {True}
    assert debian.read("ls /etc/systemd/system | grep runner-job | wc -l") == "0"
    assert debian.run("systemctl is-active runner-job-regular.timer", code=None).returncode
