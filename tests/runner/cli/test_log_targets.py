# SPDX-License-Identifier: Apache-2.0
"""Where the log goes beside stderr, and in which form."""

from __future__ import annotations

import logging
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Machine

from runner.cli.running import log_targets, logs
from runner.model.errors import UsageError


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A socket in the place of those of the journal and of syslog."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(tmp_path / "log"))
        server.settimeout(10)
        for name in ("JOURNAL", "SYSLOG"):
            monkeypatch.setattr(log_targets, name, str(tmp_path / "log"))
        yield server


def record(text: str, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("runner", level, "a.py", 1, text, (), None)


def test_the_journal_gets_fields(listening: socket.socket) -> None:
    handler = log_targets.handler("journald", "")
    handler.handle(record("two\nlines"))
    message = listening.recv(70000)
    assert message.startswith(
        b"MESSAGE\n\x09\0\0\0\0\0\0\0two\nlines\nPRIORITY\n\x01\0\0\0\0\0\0\x004\n"
    )
    assert b"SYSLOG_IDENTIFIER" in message and b"\nrunner" not in message[:20]
    handler.handle(record("x" * 100_000, logging.DEBUG))
    assert b"x ...\nPRIORITY\n\x01\0\0\0\0\0\0\x007\n" in listening.recv(70000)
    handler.close()


@pytest.mark.parametrize(
    ("target", "facility"), [("syslog", 1), ("{device}", 1), ("{device}/LOG_DAEMON", 3)]
)
def test_syslog(listening: socket.socket, target: str, facility: int) -> None:
    handler = log_targets.handler(target.format(device=f"file://{log_targets.SYSLOG}"), "")
    handler.handle(record("hello"))
    handler.handle(record("aside", 15))
    assert listening.recv(1000).startswith(f"<{8 * facility + 4}>runner[".encode())
    assert listening.recv(1000).startswith(f"<{8 * facility + 7}>runner[".encode())
    handler.close()


@pytest.mark.parametrize("target", ["file:///dev/log/LOG_NO", "tcp://host:1", "udp://"])
def test_what_is_no_target(target: str) -> None:
    with pytest.raises(ValueError):
        log_targets.handler(target, "")


def test_lines_have_the_form_that_the_configuration_says(machine: Machine) -> None:
    machine.write(a="x: {test.nop: []}\n{% do salt['log.error']('odd \\x1b[31m') %}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        machine.config |= {
            "log_level": "info",
            "log_file": f"udp://127.0.0.1:{server.getsockname()[1]}/daemon",
            "log_fmt_console": "%(asctime)s|%(colorlevel)s%(bracketname)s"
            " %(minion_id)s %(message)s",
            "log_datefmt": "now",
            "log_fmt_logfile": "%(jid)s>%(message)s",
            "log_granular_levels": {"runner": "error"},
        }
        lines = machine("sls", "a").stderr.splitlines()
        received = server.recv(1000)
    assert lines == ["now|[ERROR   ][runner.template  ] m1 odd \\x1b[31m"]
    assert received.startswith(b"<27>runner[") and received.endswith(b"]: >odd \\x1b[31m\0")
    machine.config |= {"log_file": "log", "log_datefmt_logfile": "then", "log_fmt_logfile": None}
    machine("sls", "a")
    assert (machine.folder / "log").read_text().startswith("then [runner.template][ERROR   ] odd")


def test_a_second_configuration_replaces_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "root", logging.RootLogger(logging.WARNING))
    for name in ("first", "second"):
        logs.set_up({"log_file": name, "config_dir": str(tmp_path)}, named=False)
    logging.root.error("once")
    logs.set_up({"log_level": "info"}, named=False)
    logging.root.error("nowhere")
    logged = [(tmp_path / name).read_text().count("\n") for name in ("first", "second")]
    assert logged == [0, 1]


@pytest.mark.parametrize("form", ["%(nothing)s", "%(levelno)x%", "plain"])
def test_a_form_that_cannot_be_used(form: str) -> None:
    with pytest.raises(UsageError, match=r"log_fmt_console: '.*' is no form of a line"):
        logs.set_up({"log_fmt_console": form}, named=False)


def test_what_is_asked_and_how_commands_end_is_logged(machine: Machine) -> None:
    machine.config["ext_pillar"] = [{"cmd_yaml": "echo 'a: 1'"}]
    machine.write(
        a="{{ grains.os }} with {{ pillar.a }}: {test.nop: []}\n"
        "root: {user.present: []}\n"
        "stays: {cmd.run: [{name: sleep 1, bg: true}]}\n"
        "lost: {module.run: [{cmd.run_all: [no-such-program, {python_shell: false}]}]}\n"
        "hidden: {file.managed: [{name: '{tmp}/f', source: salt://a.sls, no_log: true}]}"
    )
    lines = iter(machine("sls", "a", "-l", "debug", code=None).stderr.splitlines())
    for wanted in (
        "run /bin/... (with arguments that are not shown)",
        "exit code 0 of ",
        "[INFO    ] external pillar cmd_yaml in ",
        "[DEBUG   ] grains ",
        "[DEBUG   ] asked for users (modules._accounts.users) in ",
        "left in the background: ",
        "not started: no-such-program: No such file or directory",
        "read a file of a state with no_log",
    ):
        assert any(wanted.partition("...")[0] in line for line in lines), wanted


LEAKING = """
import logging, subprocess, threading, warnings
log = logging.getLogger(__name__)

def in_all_ways():
    secret = __pillar__['password']
    def fails():
        raise ValueError(secret)
    class Fails:
        __del__ = fails
    log.error('formatted %s \\x1b[31m', secret)
    log.error('wrong %d %s', secret)
    try:
        fails()
    except ValueError:
        log.exception('traced')
    for body in (lambda: log.error('thread %s', secret), fails):
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
    warnings.warn('warned ' + secret)
    Fails()
    own = logging.StreamHandler()
    own.setFormatter(logging.Formatter('own %(message)s'))
    logging.getLogger('own').addHandler(own)
    logging.getLogger('own').error(secret)
    subprocess.run(['sh', '-c', 'exit 7 # ' + secret])
    return True
"""


@pytest.mark.parametrize("options", [(), ("-l", "all")])
def test_code_of_a_tree_cannot_log_a_secret(machine: Machine, options: tuple[str, ...]) -> None:
    machine.write(
        a="x: {module.run: [{leaking.in_all_ways: []}]}\n"
        "silent: {cmd.run: [{name: 'echo unspoken; exit 0', no_log: true}]}",
        pillar__top="base: {'*': [p]}",
        pillar__p="password: hunter2hunter2",
    )
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/leaking.py").write_text(LEAKING)
    log = machine.folder / "log"
    argv = machine.argv("sls", "a", *options, *(("--log-file", str(log)) if options else ()))
    # with tracebacks, which the tree's own code writes
    done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment, check=True)
    printed = done.stdout + done.stderr + (log.read_text() if options else "")
    assert "hunter2" not in printed and "unspoken" not in printed
    for said in (
        "formatted ********** \\x1b[31m",
        "is wrong: TypeError (at ",
        "ValueError: **********",
        "thread **********",
        "ended with ValueError: ***",
        "warned *******",
        "own **********",
        *("run sh -c 'exit 7 # **********'", "exit code 7 of sh (process ") * bool(options),
    ):
        assert said in printed, said
