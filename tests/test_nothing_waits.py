# SPDX-License-Identifier: Apache-2.0
"""From cron and from a terminal alike nothing waits for a person, and what takes too long is ended,
all of it.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Callable

import pytest
from command import Machine
from needing import may_mount, needs
from starting import PATIENCE, a_while, patiently, running, wait_until

ASKING = """
import subprocess
import sys


def asks(name):
    child = subprocess.run("cat", shell=True, capture_output=True, text=True)
    told = [sys.stdin.read(), child.stdout]
    try:
        told.append(input())
    except EOFError:
        told.append("nobody")
    return {"name": name, "changes": {}, "result": True, "comment": ",".join(told)}


def closes(name):
    print("said by the tree")
    sys.stdout.close()
    sys.stderr.close()
    return {"name": name, "changes": {}, "result": True, "comment": "closed"}


def drops(name):
    sys.stdout = sys.stderr = None
    return {"name": name, "changes": {}, "result": True, "comment": "dropped"}
"""
SLS = """
asks: odd.asks
terminal:
  cmd.run: [name: 'head -c 1 </dev/tty || echo no terminal']
input:
  cmd.run: [name: 'read answer; echo "<$answer>"']
closes: odd.closes
drops: odd.drops
"""


@pytest.fixture
def odd(machine: Machine) -> Machine:
    folder = machine.folder / "states/_states"
    folder.mkdir()
    (folder / "odd.py").write_text(ASKING)
    machine.write(a=SLS)
    return machine


def on_a_terminal(
    machine: Machine, *words: str, code: str = "", hear: Callable[[bytes], object] = bytes
) -> tuple[int, str]:
    """The exit code of a runner that has a terminal, where somebody typed a line, and what it shows
    there. code: instead of the program's. hear: is told what it shows so far.
    """
    argv = machine.argv(*words)
    argv[2] = code or argv[2]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(argv[0], argv, machine.environment)
    os.write(terminal, b"typed\n")
    shown = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # its other end is closed
            break
        shown += more
        hear(shown)
        if not more:
            break
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


_IMPATIENT = """
from runner.cli import main
from runner.output import live
live.LONG = live.TICK = 0.01
main()
"""


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("until test -e {0}; do sleep 0.1; done", b"(sh runs, and has printed nothing)"),
        (
            "(until test -e {0}; do sleep 0.1; done) & echo hi",
            b"(sh has ended; what it has started holds its output open)",
        ),
    ],
)
def test_a_terminal_says_what_is_waited_for(machine: Machine, command: str, told: bytes) -> None:
    go = machine.folder / "go"
    machine.write(
        a=f"waits:\n  cmd.run:\n    - name: '{command.format(go)}'\n    - shell: /bin/sh\n"
        f"    - timeout: {PATIENCE}\n"
        "quick:\n  test.nop: []\n"
    )
    machine.environment["TERM"] = "xterm"

    def hear(so_far: bytes) -> None:
        if told in so_far:
            go.touch()

    code, shown = on_a_terminal(machine, "sls", "a", code=_IMPATIENT, hear=hear)
    assert code == 0 and told.decode() in shown


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("nohup foo -v &", 1),
        ("cd /srv && ./daemon & ", 1),
        ("foo >/dev/null 2>&1 &", 0),
        ("foo &>>/var/log/foo &", 0),
        ("foo && bar", 0),
        ("foo & wait", 0),
        ("foo >/dev/null &", 1),
        ("foo 2>&1 >/dev/null &", 1),
        ("foo && bar >/dev/null 2>&1 &", 0),
        ("foo | tee log >/dev/null 2>&1 &", 1),
        ("foo 2>&1 | tee log >/dev/null 2>&1 &", 0),
        ("foo >/dev/null 2>&1 | tee log &", 1),
        ("(foo; bar >/dev/null 2>&1) &", 0),
        ("if foo; then bar >/dev/null 2>&1; fi &", 0),
        ("if foo; then bar; fi >/dev/null 2>&1 &", 0),
        ("if foo >/dev/null; then bar; fi &", 1),
        ("if foo; then bar & fi", 1),
        ("if foo; then bar >/dev/null 2>&1 & fi", 0),
        ("for n in 1 2; do bar $n & done", 1),
        ("while foo; do bar; done >log 2>&1 &", 0),
        ('echo "a > b" &', 1),
        ('foo "a & b"', 0),
        ("foo $(", 0),
    ],
)
def test_what_stays_in_the_background_with_the_output_is_found(
    machine: Machine, command: str, expected: int
) -> None:
    machine.write(
        top="base: {'*': [a]}",
        a=json.dumps(
            {
                "a": {"cmd.run": [{"name": command}, {"unless": "true"}]},
                "b": {"cmd.run": [{"name": command}, {"unless": "true"}, {"bg": True}]},
            }
        ),
    )
    said = machine("check").stdout
    assert said.count("closes its output") == expected
    assert said.count("write `- bg: True`") == expected


def check(results: dict[str, dict[str, object]]) -> None:
    by_id = {each["__id__"]: each for each in results.values()}
    assert by_id["asks"]["comment"] == ",,nobody"
    assert "no terminal" in str(by_id["terminal"]["changes"])
    assert "<>" in str(by_id["input"]["changes"])
    assert all(each["result"] for each in by_id.values())


def test_a_terminal_is_not_read(odd: Machine) -> None:
    code, shown = on_a_terminal(odd, "sls", "a", "--out", "json")
    assert code == 0, shown
    check(json.loads(shown[shown.index("{") :])["local"])


def test_nor_is_a_pipe_and_closed_streams_are_no_bug(odd: Machine) -> None:
    for form in ("json", "pretty"):
        done = subprocess.run(
            odd.argv("sls", "a", "--out", form),
            input="typed\n",
            capture_output=True,
            text=True,
            env=odd.environment,
        )
        assert done.returncode == 0, done.stderr
        assert "said by the tree" in (done.stderr if form == "json" else done.stdout)
        if form == "json":
            check(json.loads(done.stdout)["local"])
        else:
            assert "5 states: 2 changed, 3 unchanged" in done.stdout


STUBBORN = """
stubborn:
  cmd.run:
    - name: |
        trap '' TERM
        setsid sh -c 'trap "" TERM; echo $$ >{tmp}/apart; exec sleep {seconds}' &
        (sleep {seconds} &) &
        while ! test -s {tmp}/apart; do sleep 0.01; done
        touch {tmp}/begun
        sleep {seconds}
    - timeout: {limit}
"""


def test_what_does_not_heed_a_timeout_is_killed_wherever_it_went(machine: Machine) -> None:
    seconds = a_while()

    def timed_out(limit: float) -> str:
        text = STUBBORN.replace("{limit}", str(limit)).replace("{seconds}", seconds)
        machine.write(a=text)
        return str(machine.results("sls", "a", code=2)["stubborn"]["changes"])

    assert "Timed out after" in patiently(0.5, timed_out, (machine.folder / "begun").exists)
    assert not running(seconds)


@pytest.mark.parametrize("parallel", ["", "    - parallel: true\n"])
def test_nor_does_it_survive_the_time_limit_of_the_run(machine: Machine, parallel: str) -> None:
    seconds = a_while()
    text = STUBBORN.replace("{limit}", "1000").replace("{seconds}", seconds)
    machine.write(a=text + parallel)
    comment = patiently(
        2,
        lambda limit: machine.results("sls", "a", "--timeout", str(limit), code=143),
        (machine.folder / "begun").exists,
    )["stubborn"]["comment"]
    assert re.search(r"the time limit of \S+ s is over while it ran", comment)
    assert not running(seconds)


BACKTRACKING = """
touch {tmp}/begun:
  cmd.run: []
{tmp}/text:
  file.replace: [{pattern: '(a|aa)+$', repl: x}]
"""


def test_a_pattern_that_takes_for_ever_does_not_survive_the_time_limit(machine: Machine) -> None:
    (machine.folder / "text").write_text("a" * 60 + "!")
    machine.write(a=BACKTRACKING)
    result = patiently(
        1,
        lambda limit: machine.results("sls", "a", "--timeout", str(limit), code=143),
        (machine.folder / "begun").exists,
    )
    comment = result[f"{machine.folder}/text"]["comment"]
    assert re.search(r"the time limit of \S+ s is over while it ran", comment)


SEARCHING = """
import re
def searched(name):
    open("{tmp}/begun", "w").close()
    re.search("(a|aa)+$", "a" * 60 + "!")
    return {"name": name, "changes": {}, "result": True, "comment": ""}
"""
BESIDE = """
a:
  mine.searched:
    - parallel: true
"""


def with_a_search(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir(parents=True)
    text = SEARCHING.replace("{tmp}", str(machine.folder))
    (machine.folder / "states/_states/mine.py").write_text(text)


def limited(machine: Machine) -> subprocess.CompletedProcess[str]:
    """What a run says that is killed since it does not heed its time limit."""
    return patiently(
        1,
        lambda limit: machine("sls", "a", "--timeout", str(limit), code=None),
        (machine.folder / "begun").exists,
    )


def test_nor_does_code_in_a_thread_which_lets_nothing_else_work(machine: Machine) -> None:
    """It holds Python's lock, so that nobody heeds a signal: another process ends the run."""
    with_a_search(machine)
    machine.write(a=BESIDE, b="b: test.nop\n")
    done = limited(machine)
    assert done.returncode == -9
    assert "runner: killed, since it did not heed a signal or its time limit" in done.stderr
    machine("sls", "b")


def test_nor_while_a_template_is_rendered_beside_it(machine: Machine) -> None:
    """The ticks of `render_limit` arrive beside the signal; they postpone nothing."""
    with_a_search(machine)
    loop = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"
    (machine.folder / "states/loop").write_text(loop)
    machine.write(
        a=BESIDE + "{tmp}/rendered:\n  file.managed: [{source: salt://loop}, {template: jinja}]\n"
    )
    assert limited(machine).returncode == -9


def test_nor_when_nobody_reads_what_is_said_of_it(machine: Machine) -> None:
    with_a_search(machine)
    machine.write(a=BESIDE)
    reader, writer = os.pipe()
    os.close(reader)

    def code(limit: float) -> int:
        words = ("sls", "a", "--timeout", str(limit))
        with machine.start(*words, stdout=writer, stderr=writer) as process:
            return process.wait(PATIENCE)

    assert patiently(1, code, (machine.folder / "begun").exists) == -9
    os.close(writer)


def test_no_watchdog_is_left_behind(machine: Machine) -> None:
    machine.write(
        a="a:\n  cmd.run:\n    - name: touch {tmp}/begun; cat {tmp}/end\n    - parallel: true\n"
    )
    os.mkfifo(machine.folder / "end")
    with machine.start("sls", "a", ready=machine.folder / "begun") as run:
        watches = f"\0{run.pid}\0"
        assert running(watches)
        (machine.folder / "end").write_text("")
        assert run.wait(PATIENCE) == 0
        wait_until(lambda: not running(watches), "the end of the watchdog")


NO_DEVICES = 'mount -t tmpfs none /dev || exit 99; exec "$@"'


@needs("unshare")
@pytest.mark.skipif(not may_mount(), reason="needs the right to mount")
@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_closed_streams_without_a_null_device_are_no_bug(closed: str, machine: Machine) -> None:
    done = subprocess.run(
        [
            "unshare",
            "-m",
            "sh",
            "-c",
            f"{NO_DEVICES} {closed}",
            "sh",
            *machine.argv("--version")[:-4],
        ],
        capture_output=True,
        text=True,
        env=machine.environment,
        check=False,
    )
    if done.returncode == 99:
        pytest.skip("no name spaces of one's own here")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("runner ")


def test_an_answer_cannot_steer_a_terminal_but_a_program_gets_it_as_it_is(machine: Machine) -> None:
    argv = machine.argv("call", "test.echo", "a\x1b]0;title\x07\u202e")
    assert machine("call", "test.echo", "a\x1b]0;title\x07").stdout == "a\x1b]0;title\x07\n"
    ours, theirs = pty.openpty()
    subprocess.run(argv, stdout=theirs, env=machine.environment, check=True)
    assert os.read(ours, 1000).decode() == "a\\x1b]0;title\\x07\\u202e\r\n"
    os.close(ours)
    os.close(theirs)
