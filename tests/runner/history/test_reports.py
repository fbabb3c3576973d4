# SPDX-License-Identifier: Apache-2.0
"""Reports of runs, from the run to the destination: as a user configures and sees them."""

from __future__ import annotations

import concurrent.futures
import json
import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Machine, prestarted_server
from receiving import HUGE, Receiver
from starting import PATIENCE

SITE = "{tmp}/motd:\n  file.managed:\n    - contents: hello\n"
PASSWORD = "Kx7/wQ#2 mZ"
ENCODED = "Kx7%2FwQ%232%20mZ"


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    made = Receiver(tmp_path_factory.mktemp("receiver"))
    yield made
    made.close()


def outbox(machine: Machine) -> Path:
    return machine.folder / "cache/state/outbox"


def waiting(machine: Machine) -> list[Path]:
    return sorted(file for file in outbox(machine).glob("*.json") if file.name != "state.json")


def sent_to(machine: Machine, receiver: Receiver, path: str, **more: Any) -> None:
    receiver.reports.clear()
    receiver.headers.clear()
    receiver.arrived.clear()
    machine.config["report"] = {
        "to": receiver.url(path),
        "ca_file": str(receiver.pem),
        "timeout": 1 if path == "hang" else 300,
        **more,
    }


def test_each_run_is_delivered_as_a_file(machine: Machine) -> None:
    machine.write(site=SITE, broken="x: [", top="base: {'*': [site]}")
    machine.config["report"] = {"to": "file:drop"}
    machine.environment["TZ"] = "Asia/Tokyo"
    first = machine("highstate", "--out", "json")
    assert "warning: 1 report waits to be delivered: the folder" in first.stderr
    assert "is it mounted?" in first.stderr
    (file,) = waiting(machine)
    assert file.stat().st_mode & 0o777 == 0o600
    assert machine("sls", "site", "--test", "-q").stderr == "", "the next try is not due yet"
    machine("sls", "broken", code=1)
    machine("single", "cmd.run", "exit 3", code=2)
    listed = machine("report", "list").stdout
    assert re.search(r"did not compile +runner sls broken", listed)
    assert "(dry run)" in listed
    assert "4 waiting" in listed
    assert "The next run tries again from" in listed
    overview = machine.answer("report", "list")
    assert (overview["failed_tries"], len(overview["waiting"])) == (1, 4)
    assert machine("report", "send", code=2).stdout.startswith("0 delivered")
    drop = machine.folder / "drop"
    drop.mkdir()
    assert machine("report", "send").stdout.startswith("4 delivered")
    assert machine("sls", "site").stderr == ""
    assert waiting(machine) == []
    files = sorted(drop.iterdir())
    assert {file.stat().st_mode & 0o777 for file in files} == {0o640}
    run, dry, mistake, single, last = (json.loads(file.read_text()) for file in files)
    assert {(report["machine"], report["format"]) for report in (run, dry, last)} == {("m1", 1)}
    assert [report["fun"] for report in (run, dry, mistake, single)] == [
        "state.highstate",
        "state.sls",
        "state.sls",
        "state.single",
    ]
    assert [report["exit_code"] for report in (run, dry, mistake, single)] == [0, 0, 1, 2]
    assert [report["test"] for report in (run, dry, mistake, single)] == [False, True, False, False]
    assert (run["outcome"], run["counts"]["changed"], last["counts"]["unchanged"]) == ("done", 1, 1)
    assert run["states"] == json.loads(first.stdout)["local"]
    assert (mistake["outcome"], mistake["states"]) == ("did not compile", {})
    assert "broken.sls:1" in mistake["errors"][0]
    assert run["started"].endswith("+00:00")
    assert len({report["id"] for report in (run, dry, mistake, single, last)}) == 5
    machine.environment["RUNNER_NO_REPORTS"] = "1"  # as in a rehearsal
    machine("sls", "site")
    assert len([*drop.iterdir()]) == 5


def test_pending_reactions_and_drift_are_reported(machine: Machine) -> None:
    (machine.folder / "drop").mkdir()
    machine.config["report"] = {"to": "file:drop"}
    machine.write(
        site=SITE + "reload:\n  cmd.run:\n    - name: test -e {tmp}/calm\n"
        "    - onchanges: [{file: {tmp}/motd}]\n"
    )
    machine("sls", "site", code=2)
    (machine.folder / "calm").touch()
    machine("sls", "site")
    (machine.folder / "motd").write_text("somebody else's")
    machine("sls", "site")
    reports = [json.loads(file.read_text()) for file in sorted(machine.folder.glob("drop/*"))]
    assert [len(report["pending_reactions"]) for report in reports] == [1, 0, 0]
    assert reports[0]["pending_reactions"][0]["reactor"].startswith("cmd_|-reload_|-")
    assert [report["drifted"] for report in reports] == [0, 0, 1]


def test_a_report_is_posted_once_with_its_token(machine: Machine, receiver: Receiver) -> None:
    machine.write(site=SITE)
    (machine.folder / "token").write_text("s3cr-t0k\n")
    sent_to(machine, receiver, "200", token_file="token")
    assert machine("sls", "site").stderr == ""
    (report,), (headers,) = receiver.reports, receiver.headers
    assert headers["Authorization"] == "Bearer s3cr-t0k"
    assert headers["Idempotency-Key"] == report["id"]
    assert report["counts"]["changed"] == 1
    assert waiting(machine) == []
    for status in (201, 409):
        sent_to(machine, receiver, str(status), token_file="token")
        assert machine("sls", "site").stderr == "", "409: the receiver has it"
        assert waiting(machine) == []


@pytest.mark.parametrize(
    "path, message",
    [
        ("500", "answered 500"),
        ("302", "answered 302: look at 192.0.2.1"),
        ("403", "is token_file right?"),
        ("hang", "did not answer in time|does not answer in time"),
    ],
)
def test_what_is_not_taken_waits(
    machine: Machine, receiver: Receiver, path: str, message: str
) -> None:
    machine.write(site=SITE)
    (machine.folder / "token").write_text("s3cr-t0k")
    sent_to(machine, receiver, path, token_file="token")
    began = time.monotonic()
    assert re.search(message, machine("sls", "site").stderr)
    assert time.monotonic() - began < PATIENCE
    assert len(receiver.reports) == 1
    assert len(waiting(machine)) == 1
    sent_to(machine, receiver, "200")
    machine("report", "send")
    assert waiting(machine) == []


def test_no_redirection_is_followed(machine: Machine, receiver: Receiver) -> None:
    machine.write(site=SITE)
    sent_to(machine, receiver, "302")
    receiver.elsewhere = receiver.url("200")
    machine("sls", "site")
    assert len(receiver.reports) == 1


def test_an_answer_of_10_gb_is_not_read(machine: Machine, receiver: Receiver) -> None:
    machine.write(site=SITE)
    sent_to(machine, receiver, "huge", timeout=PATIENCE)
    assert machine("sls", "site").stderr == ""
    assert receiver.sent < HUGE / 2
    assert waiting(machine) == []


def test_a_certificate_that_nobody_vouches_for(machine: Machine, receiver: Receiver) -> None:
    machine.write(site=SITE)
    sent_to(machine, receiver, "200")
    del machine.config["report"]["ca_file"]
    assert "its certificate is not trusted" in machine("sls", "site").stderr
    assert receiver.reports == []


def test_one_that_is_refused_for_ever_is_set_aside(machine: Machine, receiver: Receiver) -> None:
    machine.write(site=SITE)
    sent_to(machine, receiver, "422")
    done = machine("sls", "site")
    assert "can never be delivered and is set aside as" in done.stderr
    assert waiting(machine) == []
    (aside,) = outbox(machine).glob("*.rejected")
    (outbox(machine) / "junk.json").write_text("{")
    (outbox(machine) / f"{'0' * 20}-{'0' * 36}.json").write_text('{"half": ')
    sent_to(machine, receiver, "200")
    done = machine("sls", "site")
    assert done.stderr.count("set aside") == 2
    assert [report["lost"] for report in receiver.reports] == [{"rejected": 1}]
    assert machine("sls", "site").stderr == "", "they are not tried again"
    assert receiver.reports[1]["lost"] == {"rejected": 2}
    assert aside.exists()
    assert "Set aside:" in machine("report", "list").stdout


def test_the_oldest_are_dropped_and_that_is_reported(machine: Machine, receiver: Receiver) -> None:
    machine.write(site=SITE)
    sent_to(machine, receiver, "500")
    machine("sls", "site", "--test")
    (real,) = waiting(machine)
    for number in range(998):
        name = f"{number:020}-{number:036}.json"
        (outbox(machine) / name).write_bytes(b"{}")
    machine("sls", "site", "--test")
    assert len(waiting(machine)) == 1000
    assert "warning: the oldest report was dropped" in machine("sls", "site", "--test").stderr
    kept = waiting(machine)
    assert len(kept) == 1000
    assert kept[0].name.startswith(f"{1:020}")
    with open(outbox(machine) / f"{5:020}-{5:036}.json", "r+b") as file:
        file.truncate(100_000_000)
    done = machine("sls", "site", "--test")
    assert "the 5 oldest reports were dropped" in done.stderr
    for path in waiting(machine):
        if path.stat().st_size == 2:
            path.unlink()
    sent_to(machine, receiver, "200")
    machine("report", "send")
    machine("sls", "site", "--test")
    assert [report.get("lost") for report in receiver.reports] == [
        None,
        None,
        None,
        {"dropped": 1},
        {"dropped": 5},
    ]
    assert real.name.removesuffix(".json").endswith(receiver.reports[0]["id"])


def test_killed_while_delivering(machine: Machine, receiver: Receiver) -> None:
    machine.write(site=SITE)
    sent_to(machine, receiver, "hang", timeout=300)
    with machine.start("sls", "site", ready=receiver.arrived.is_set):
        pass  # it is killed
    (first,) = receiver.reports
    sent_to(machine, receiver, "200")
    machine("report", "send")
    assert [report["id"] for report in receiver.reports] == [first["id"]]
    assert waiting(machine) == []


def test_interrupted_while_delivering(machine: Machine, receiver: Receiver) -> None:
    """The run is over: its exit code stays."""
    machine.write(site=SITE)
    sent_to(machine, receiver, "hang", timeout=300)
    with machine.start("sls", "site", ready=receiver.arrived.is_set) as running:
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) == 0
    assert len(waiting(machine)) == 1


def test_two_at_once_deliver_each_report_once(machine: Machine, receiver: Receiver) -> None:
    machine.write(site=SITE)
    sent_to(machine, receiver, "500")
    machine("sls", "site")
    machine("sls", "site")
    sent_to(machine, receiver, "200")
    receiver.delay = 0.5
    try:
        machine.argv()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            sending = [
                pool.submit(subprocess.run, machine.argv("report", "send"), env=machine.environment)
                for _ in range(2)
            ]
            codes = sorted(done.result().returncode for done in sending)
    finally:
        receiver.delay = 0.0
    assert codes in ([0, 2], [0, 0])
    assert len({report["id"] for report in receiver.reports}) == len(receiver.reports) == 2


# ---------------------------------------------------------------- what must not stop a run


@pytest.mark.parametrize("hindrance", ["a link", "a file", "others can write it"])
def test_an_outbox_that_cannot_be_trusted(machine: Machine, hindrance: str) -> None:
    machine.write(site=SITE)
    machine.config["report"] = {"to": "file:drop"}
    (machine.folder / "drop").mkdir()
    machine("sls", "site")
    for path in outbox(machine).iterdir():
        path.unlink()
    outbox(machine).rmdir()
    victim = machine.folder / "victim"
    victim.mkdir()
    if hindrance == "a link":
        outbox(machine).symlink_to(victim)
    elif hindrance == "a file":
        outbox(machine).write_text("")
    else:
        outbox(machine).mkdir()
        outbox(machine).chmod(0o777)
    done = machine("sls", "site")
    assert "warning: the report of this run is not delivered" in done.stderr
    assert [*victim.iterdir()] == []


def test_a_full_disk(machine: Machine) -> None:
    """Here: a limit of the size of files, which the report exceeds and the rest does not."""
    machine.write(big="x:\n  cmd.run:\n    - name: head -c 200000 /dev/zero | tr '\\0' a\n")
    machine.config["report"] = {"to": "file:drop"}
    (machine.folder / "drop").mkdir()
    machine("sls", "big")
    size = resource.RLIMIT_FSIZE
    done = subprocess.run(
        machine.argv("sls", "big"),
        env=machine.environment,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(size, (100_000, 100_000)),
    )
    assert done.returncode == 0
    assert "the report of this run is not delivered" in done.stderr
    machine("sls", "big")
    reports = [json.loads(file.read_text()) for file in sorted(machine.folder.glob("drop/*"))]
    assert [report.get("lost") for report in reports] == [None, {"dropped": 1}]
    assert [*outbox(machine).glob("*.new")] == []


def test_a_delivered_file_follows_no_link(machine: Machine) -> None:
    """Others may write the folder: what they put there beforehand is not written through."""
    machine.write(site=SITE)
    drop = machine.folder / "drop"
    machine.config["report"] = {"to": f"file:{drop}"}
    machine("sls", "site")
    (name,) = (file.name for file in waiting(machine))
    drop.mkdir()
    victim = machine.folder / "victim"
    victim.write_text("mine")
    (drop / name).symlink_to(victim)
    umask = os.umask(0o077)
    try:
        machine("report", "send")
    finally:
        os.umask(umask)
    assert (drop / name).stat().st_mode & 0o777 == 0o640, "whatever the umask"
    assert victim.read_text() == "mine"
    assert json.loads((drop / name).read_text())["machine"] == "m1"
    assert not (drop / name).is_symlink()


# ---------------------------------------------------------------- ssh

SSH = """#!/bin/sh
printf '%s\\n' "$@" >"$0.arguments"
for last; do :; done
cd {folder} && if test -e cut; then head -c 100 | sh -c "$last"; else exec sh -c "$last"; fi
"""


def test_what_a_server_says_steers_no_terminal(machine: Machine) -> None:
    (machine.folder / "ssh").write_text("#!/bin/sh\nprintf '\\033]0;mine\\007no\\n' >&2; exit 1\n")
    (machine.folder / "ssh").chmod(0o755)
    machine.environment["PATH"] = f"{machine.folder}:{os.environ['PATH']}"
    machine.config["report"] = {"to": "ssh://up@web-1.example/srv"}
    warned = machine("single", "test.nop", "name=x").stderr
    shown = machine("report", "list").stdout
    assert "]0;mine" in warned and "]0;mine" in shown and "\033" not in warned + shown


def test_ssh_keeps_a_file_only_whole(machine: Machine) -> None:
    machine.write(site=SITE)
    programs, home = machine.folder / "bin", machine.folder / "home of there"
    drop = home / "it's; rm -rf x"
    drop.mkdir(parents=True)
    programs.mkdir()
    (programs / "ssh").write_text(SSH.replace("{folder}", f"'{home}'"))
    (programs / "ssh").chmod(0o755)
    machine.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    machine.config["report"] = {
        "to": "ssh://up@web-1.example:2222/~/it's;%20rm%20-rf%20x",
        "key_file": "key",
    }
    (home / "cut").touch()
    assert "web-1.example" in machine("sls", "site").stderr
    assert [*drop.glob("[!.]*")] == []
    (home / "cut").unlink()
    machine("report", "send")
    (file,) = drop.iterdir()
    assert json.loads(file.read_text())["machine"] == "m1"
    assert file.stat().st_mode & 0o777 == 0o640
    arguments = (programs / "ssh.arguments").read_text().splitlines()
    assert arguments[-2] == "web-1.example"
    assert [word for word in arguments if word in ("BatchMode=yes", "StrictHostKeyChecking=yes")]
    key = str(machine.folder / "key")
    assert ["-i", key, "-p", "2222", "-l", "up", "--"] == arguments[-9:-2]


# ---------------------------------------------------------------- the configuration


@pytest.mark.parametrize(
    "value, line, message, hint",
    [
        ("nowhere", 2, "report has to be a mapping with the key `to`", "to: ADDRESS"),
        ({"timeout": 3}, 2, "it does not say where to", "one of"),
        ({"to": "ftp://x/y"}, 3, "no way to deliver to ftp:", "https://HOST/PATH"),
        ({"to": "http://x/y"}, 3, "not sent unencrypted", "https://HOST/PATH"),
        ({"to": "https://u:pw12345@x/y"}, 3, "a user or a password", "token_file"),
        ({"to": "https://x:abc/y"}, 3, "its port is no number", "https://HOST/PATH"),
        ({"to": "ssh://-oProxyCommand=x/y"}, 3, "names no host", "ssh://USER@HOST/DIR"),
        ({"to": "ssh://x"}, 3, "names no folder there", "ssh://USER@HOST/DIR"),
        ({"to": "postgresql://u:pw12345@x"}, 3, "names no database", "/DATABASE"),
        ({"to": "postgresql://x/y?sslmod=no"}, 3, "no parameter 'sslmod'", "sslmode"),
        ({"to": "postgresql://x/y?password=pw12345"}, 3, "does not belong in it", "password:"),
        ({"to": "file://host/x"}, 3, "no folder of this machine", "file:DIR"),
        ({"to": "file:x", "tokenfile": "y"}, 4, "no key 'tokenfile'", "timeout"),
        ({"to": "https://x", "token-file": "y"}, 4, "no key 'token-file'", "token_file"),
        ({"to": "file:x", "timeout": 0}, 4, "seconds, from 1 to 300", "timeout: 10"),
        ({"to": "https://x", "token_file": 5}, 4, "has to be a text", "token_file: FILE"),
        ({"to": "postgresql://x/y", "pasword": "pw12345"}, 4, "no key 'pasword'", "password"),
    ],
)
def test_a_wrong_value_is_named(
    machine: Machine, value: Any, line: int, message: str, hint: str
) -> None:
    config = machine.folder / "runner.yaml"
    lines = value if isinstance(value, dict) else {}
    text = "".join(f"  {key}: {json.dumps(part)}\n" for key, part in lines.items())
    config.write_text(f"id: m1\nreport: {'' if lines else value}\n{text}")
    done = prestarted_server().run(
        ["report", "list", "--config", str(config)], machine.environment, 60
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert f"runner.yaml:{line}:" in done.stderr
    assert hint in done.stderr.partition("hint:")[2]
    assert "pw12345" not in done.stdout + done.stderr


def test_the_password_is_printed_nowhere(machine: Machine) -> None:
    machine.write(
        site="{% do salt['log.error'](opts.report.to) %}\n"
        "x:\n  test.configurable_test_state:\n"
        "    - comment: {{ (opts | string) | yaml_dquote }}\n"
    )
    address = f"postgresql://joe:{ENCODED}@127.0.0.1:9/reports"
    machine.config["report"] = {"to": address, "password": PASSWORD + "2", "timeout": 2}
    printed = []
    for words in (
        ["sls", "site", "-l", "debug", "--log-file", str(machine.folder / "log"), "-v"],
        ["sls", "site", "--out", "json"],
        ["report", "send"],
        ["report", "list"],
        ["report", "list", "--out", "json"],
        ["call", "config.get", "report"],
        ["history", "show", "last", "--out", "json"],
        ["report", "--help"],
        ["check", "site"],
    ):
        done = machine(*words, code=None)
        printed.append(done.stdout + done.stderr)
    everything = "".join(printed)
    assert "postgresql://joe@127.0.0.1:9/reports" in everything, "it tells where"
    files = [*outbox(machine).iterdir(), machine.folder / "log"]
    everything += "".join(file.read_text() for file in files)
    assert len(waiting(machine)) == 2
    for form in (PASSWORD, ENCODED, "Kx7", "232%20mZ"):
        assert form not in everything, [text for text in printed if form in text]
    machine.config["report"]["password"] = "ab"  # too short to be hidden in texts
    seen = machine.answer("call", "config.get", "report")
    assert seen == {"to": "postgresql://joe@127.0.0.1:9/reports", "timeout": 2}


def test_without_a_configuration(machine: Machine) -> None:
    machine.write(site=SITE)
    machine("sls", "site")
    assert not outbox(machine).exists()
    assert "report: {to: ADDRESS}" in machine("report", "send", code=1).stderr
    assert "send or list" in machine("report", "sned", code=1).stderr
