# SPDX-License-Identifier: Apache-2.0
"""What people and programs read."""

import difflib
import io
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from starting import wait_until

from runner.api import command_output
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.events import Event, RunFinished, RunStarted, StateFinished, StateStarted
from runner.model.places import Place, Source, Untyped
from runner.model.result import Report, Result
from runner.output import diagnostics, diffs, history, json_, text, yaml_
from runner.output.diagnostics import format_one
from runner.output.live import LiveLine, make_room
from runner.output.pretty import MOST, Pretty
from runner.output.text import change_lines, safe
from runner.support.redaction import Secrets


def chunk(id: str = "ok", name: str = "/x") -> Chunk:
    place = Place(Untyped("a.sls"), 2, 3)
    return Chunk("file", "managed", id, name, 10000, "a", "base", {}, {}, (), place)


def printed(*results: Result, dry: bool = False, encoding: str = "utf-8", **options: Any) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    listener = Pretty(stream, **options)
    events: list[Event] = [
        RunStarted(len(results), dry),
        *(StateFinished(each) for each in results),
    ]
    for event in [*events, RunFinished(Report(results, dry))]:
        listener(event)
    return raw.getvalue().decode(encoding)


CHANGED = Result(
    chunk(),
    True,
    "File updated",
    {"diff": "--- a\n+++ b\n-old\n+new\n", "mode": {"old": "1", "new": "2"}},
)
UNCHANGED = Result(chunk("same"), True, "in the correct state")
FAILED = Result(chunk("bad"), False, "Parent directory not present")
SKIPPED = Result(
    chunk("sk"), False, "requisite failed", ran=False, cause="file_|-bad_|-/x_|-managed"
)


def test_salt_keys_of_a_result() -> None:
    data = json_.report(Report((CHANGED, SKIPPED), False))["local"]
    assert list(data) == ["file_|-ok_|-/x_|-managed", "file_|-sk_|-/x_|-managed"]
    keys = "name changes result comment __sls__ __run_num__ start_time duration __id__".split()
    assert list(data["file_|-ok_|-/x_|-managed"]) == keys
    assert data["file_|-sk_|-/x_|-managed"]["__state_ran__"] is False


def test_a_listener_has_its_own_id() -> None:
    item = Result(chunk("l", "l"), True, "fired", key="test_|-listener_l_|-l_|-mod_watch")
    assert (
        json_.report(Report((item,), False))["local"]["test_|-listener_l_|-l_|-mod_watch"]["__id__"]
        == "listener_l"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({1: {2}}, '{"1": [2]}'),
        (b"\xff", '"\\ufffd"'),
        ((1, None), "[1, null]"),
        (Path("/a"), '"/a"'),
    ],
)
def test_anything_becomes_json(value: object, text: str) -> None:
    assert json.loads(json_.text(value)) == json.loads(text)
    assert yaml_.text(value)


def test_the_end_of_a_run_tells_the_names_of_one_id_apart() -> None:
    failed = [Result(chunk("pkgs", name), False, "no", duration=1100) for name in ("ntp", "ssh")]
    text = printed(*failed)
    assert "\nFailed:\n  file.managed  pkgs (ntp)  at " in text, text
    assert "\n  file.managed  pkgs (ssh)  at " in text, text
    assert "Slowest: file.managed pkgs (ssh) (1.1 s), file.managed pkgs (ntp) (1.1 s)." in text


def test_results_for_people() -> None:
    text = printed(CHANGED, UNCHANGED, FAILED, SKIPPED)
    assert "changed  file.managed  ok (/x)" in text
    assert "                +new\n" in text and "mode: 1 -> 2" in text
    assert "same" not in text
    assert "Parent directory not present\n              at a.sls:2:3" in text
    assert "because of file: bad" in text and "requisite failed" not in text
    assert "4 states: 1 failed, 1 changed, 1 skipped, 1 unchanged" in text
    assert text.endswith("\nFailed:\n  file.managed  bad (/x)  at a.sls:2:3\n")
    assert "Failed:" not in printed(FAILED), "one line above says it"
    assert "\x1b" not in text


def test_the_end_of_a_run_names_what_failed_and_what_is_pending() -> None:
    many = [Result(chunk(f"bad{number}"), False, "no") for number in range(12)]
    owing = SKIPPED._replace(owed=("watch of file: ok since then",))
    for quiet in (False, True):
        text = printed(*many, owing, quiet=quiet)
        assert "bad9 (/x)  at a.sls:2:3\n  and 2 more\nReactions are pending of:\n" in text
        assert text.endswith("\n  file.managed  sk (/x)\n")


def test_drift_is_said_once() -> None:
    drifted = CHANGED._replace(origin="drift", note="the tree is as in run 7")
    text = printed(drifted, drifted)
    assert text.count("ok (/x)  (drift)\n") == 2
    assert text.endswith("\nDrift of 2 states: the tree is as in run 7.\n")


def test_of_a_failed_command_what_says_nothing_more_is_told_on_demand_only() -> None:
    changes = {"pid": 7, "retcode": 3, "stdout": "out", "stderr": ""}
    failed = Result(chunk("c", "false"), False, 'Command "false" run', changes)
    assert "Command" not in printed(failed) and "pid" not in printed(failed)
    assert "retcode: 3" in printed(failed)
    assert "Command" in printed(failed, verbose=True) and "pid: 7" in printed(failed, verbose=True)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "on_terminal", "in_pipe"),
    [
        ({"TERM": "xterm"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, False),
        ({"TERM": "xterm", "CLICOLOR": "0"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"FORCE_COLOR": "0", "TERM": "xterm"}, True, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_where_colours_go(environ: dict[str, str], on_terminal: bool, in_pipe: bool) -> None:
    answers = [text.wants_colour(stream, environ) for stream in (_Terminal(), io.StringIO())]
    assert answers == [on_terminal, in_pipe]


def test_nothing_is_redrawn_for_who_listens() -> None:
    assert text.can_redraw(_Terminal(), {"TERM": "xterm", "FORCE_COLOR": "1"})
    assert not text.can_redraw(_Terminal(), {"TERM": "xterm", "ACCESSIBLE": "1"})
    assert not text.can_redraw(_Terminal(), {"TERM": "dumb", "FORCE_COLOR": "1"})
    assert not text.can_redraw(io.StringIO(), {"TERM": "xterm", "FORCE_COLOR": "1"})


def test_a_long_change_is_shown_whole_when_asked_for() -> None:
    long = Result(chunk(), True, "", {"diff": "".join(f"+line {n}\n" for n in range(200))})
    cut = printed(long)
    assert f"... {201 - MOST} more lines (all: -v, --diff)" in cut
    assert "line 150" not in cut
    for option in ("whole", "verbose"):
        text = printed(long, **{option: True})
        assert "line 199" in text and "more lines" not in text


def test_the_slowest_states_are_named() -> None:
    results = [Result(chunk(), True, "", duration=float(ms)) for ms in (900, 1200, 5000, 2000, 61)]
    text = printed(*results, *[UNCHANGED] * 3)
    assert (
        "\nSlowest: file.managed ok (/x) (5.0 s), file.managed ok (/x) (2.0 s),"
        " file.managed ok (/x) (1.2 s)." in text
    )
    assert "Slowest" not in printed(results[2])


def test_the_line_of_what_runs_now_counts_and_has_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.output.live.TICK", 0.01)
    written: list[str] = []
    line = LiveLine(written.append, 30)
    line.show("[1/2] file.managed a very long name")
    wait_until(lambda: len(written) > 2, "ticks")
    make_room()
    wait_until(lambda: "\r\x1b[J" in written, "the line goes")
    wait_until(lambda: written[-1].startswith("\r\x1b[J[1/2]"), "it is there again")
    line.clear()
    assert written[0].startswith("\r\x1b[J[1/2] file.managed a v") and written[0].endswith(
        "  00:00"
    )
    assert written[-1] == "\r\x1b[J" and len(written[0]) == len("\r\x1b[J") + 29
    count = len(written)
    time.sleep(0.1)
    assert len(written) == count, "a line that was removed does not come back"


def test_the_end_of_what_a_command_prints_stands_below_that_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runner.output.live.TICK", 0.01)
    monkeypatch.setattr(command_output, "_output", command_output._LastOutput())
    assert command_output.begun() is command_output.begun(), "nothing is kept unless it is asked"
    secrets = Secrets()
    secrets.add("hunter2hunter2")
    stream = io.StringIO()
    listener = Pretty(stream, verbose=True, live=True, width=40)
    listener(StateStarted(chunk(), 1))
    printed = command_output.begun()
    for number in range(8):
        printed(f"\x1b[31m{number}\thunter2\x1b[0mhunter2\x1b[0m\r\n".encode())
    printed(b"half a line")
    below = "".join(f"\r\n  {number}       **********" for number in range(3, 8))
    wait_until(lambda: "**" in stream.getvalue(), "the next tick")
    listener(StateFinished(Result(chunk(), True, "")))
    shown, *_ = stream.getvalue().partition("\r\x1b[J   ")
    assert re.sub(r"00:\d\d", "00:00", shown).endswith(f"  00:00\x1b[?7l{below}\x1b[?7h\x1b[5A")
    assert "half" not in shown and command_output.last() == b""


def test_verbose_shows_unchanged_ones() -> None:
    assert "in the correct state" in printed(UNCHANGED, verbose=True)


def test_quiet_is_silent_unless_something_changed_or_failed() -> None:
    assert printed(UNCHANGED, quiet=True) == ""
    assert "failed" in printed(UNCHANGED, FAILED, quiet=True)


def test_a_dry_run_ends_with_the_command_to_go_on_with() -> None:
    pending = Result(chunk(), None, "is set to be changed", {"diff": "New file"})
    text = printed(pending, dry=True, command="runner sls a")
    assert "would change" in text
    assert text.endswith("To make these changes:\n  runner sls a\n")


@pytest.mark.parametrize(("found_in", "program"), [("{tmp}", "runner"), ("/", "env/bin/runner")])
def test_the_command_to_go_on_with_is_one_that_is_found(
    machine: Machine, found_in: str, program: str
) -> None:
    machine.write(a="{tmp}/made:\n  file.managed: []\n")
    (machine.folder / "runner").touch(mode=0o755)
    code = "import os, sys\nsys.argv[0], os.environ['PATH'] = 'env/bin/runner', sys.argv.pop(1)\n"
    path = found_in.format(tmp=machine.folder)
    done = machine.altered(code, path, *machine.argv("sls", "a", "--test")[3:])
    assert f"To make these changes:\n  {program} sls a --config " in done.stdout


def test_colours_and_other_encodings() -> None:
    assert "\x1b[31m" in printed(FAILED, colour=True)
    strange = Result(chunk("ü"), True, "", {"k": "\x1b[2Jü"})
    assert "\\x1b[2J\\xfc" in printed(strange, encoding="ascii")


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"old": "a", "new": "b"}, ["a -> b"]),
        ({"pkg": {"old": "", "new": "1.0"}}, ["pkg: (nothing) -> 1.0"]),
        ({"uid": 7, "fullname": ""}, ["uid: 7"]),
        ({"a": {"b": {"old": None, "new": 1}}}, ["a:", "  b: (none) -> 1"]),
        ({"stdout": "x\ny"}, ["stdout:", "  x", "  y"]),
        ({"removed": ["a", "b"]}, ["removed: a, b"]),
        ({"/d": {"mode": "0755"}, "mode": "0755", "x": 1}, ["/d:", "  mode: 0755", "x: 1"]),
    ],
)
def test_changes(changes: dict[str, Any], lines: list[str]) -> None:
    assert [line for line, _ in change_lines(changes)] == lines


def test_a_mistake_with_its_line_and_a_caret(tmp_path: Path) -> None:
    file = tmp_path / "a.sls"
    file.write_text("x:\n  file.mananged: []\n")
    problem = Diagnostic(
        "no such state", Source(str(file), 2, 3, rendered="file.mananged: []"), "file.managed"
    )
    assert diagnostics.format_one(problem).splitlines() == [
        "error: no such state",
        f"  at {file}:2:3",
        "       1 | x:",
        "       2 |   file.mananged: []",
        "         |   ^",
        "    rendered: file.mananged: []",
        "  hint: file.managed",
    ]
    assert json_.diagnostics([problem])["diagnostics"][0]["line"] == 2


def test_safe_keeps_lone_surrogates_printable() -> None:
    assert safe("\udcff") == "\\udcff"


def test_a_very_long_line_is_shown_in_part(tmp_path: Path) -> None:
    (tmp_path / "t.sls").write_text(f"above\n{'x' * 5000}!{'y' * 5000}\n")
    shown = diagnostics.format_one(
        Diagnostic("odd", Source(str(tmp_path / "t.sls"), 2, 5001))
    ).splitlines()
    assert shown[2].endswith("above") and len(shown[3]) < 180
    assert shown[3][shown[4].index("^")] == "!"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("- key: db_password\n- value: hunter22", True),
        ("- value: hunter22\n- key: 'password'", True),
        ("- value: hunter22\n- key: port", False),
        ("- password: |\n    hunter22\n", True),
        ("password:\n  one:\n  - hunter22", True),
        ("password:\n  one: hunter22", True),
        ("password: |\n  one of hunter22:", True),
        ("/etc/passwd:\n  hunter22:\n    - mode: 644", False),
        ("- token: >-\n    first\n    hunter22", True),
        ("- value: {{ hunter22 }}\n- key: password", False),
        ("- value: '{{ hunter22 }}'\n- key: password", False),
        ("password: \"{{ hunter22.get('x', {}) }}\"", False),
        ("password: '{{ a }}{{ hunter22 }}'", True),
    ],
)
def test_a_value_that_other_lines_call_a_secret_is_not_shown(
    tmp_path: Path, text: str, hidden: bool
) -> None:
    (tmp_path / "t.sls").write_text(text)
    line = text[: text.index("hunter22")].count("\n") + 1
    shown = format_one(Diagnostic("odd", Source(str(tmp_path / "t.sls"), line, 1)))
    assert ("hunter22" in shown) is not hidden, shown


def test_a_switch_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "t.sls").write_text("- enforce_password: true\n- password: no1\n")
    shown = [format_one(Diagnostic("odd", Source(str(tmp_path / "t.sls"), n, 1))) for n in (1, 2)]
    assert "enforce_password: true" in shown[0] and "no1" not in shown[1]


def test_an_info_is_not_as_red_as_an_error() -> None:
    shown = {
        each: format_one(Diagnostic("m", severity=each), None, True)
        for each in ("info", "warning", "error")
    }
    assert ["\x1b[31m" in text for text in shown.values()] == [False, False, True]


def test_a_long_diff_is_cut_with_a_hint() -> None:
    diff = "--- \n+++ \n@@ -1 +1,3200 @@\n" + "".join(f"+line {number}\n" for number in range(3200))
    long = Result(chunk(), True, "File updated", {"diff": diff})
    text = printed(long, history="runner history show last")
    assert (
        text.count("+line") == MOST - 4
        and "3,164 more lines (all: -v, --diff, `runner history show last`)\n" in text
    )
    assert "3,164 more lines (all: -v, --diff)\n" in printed(long)
    assert "  --- /x (before)\n                +++ /x (after)\n" in text
    assert printed(long, verbose=True).count("+line") == 3200
    assert (
        printed(
            Result(chunk(), True, "", {"diff": "".join(f"+line {n}\n" for n in range(MOST + 3))})
        ).count("+line")
        == MOST + 3
    )
    wide = Result(chunk(), True, "", {"stdout": "x" * 9000})
    assert "x ... 8,408 more characters\n" in printed(wide)
    assert "x" * 9000 in printed(wide, whole=True)


@pytest.mark.parametrize(
    "changes",
    [{"/x": True}, {"new": "/x"}, {"removed": "/x"}, {"old": "/x", "new": ""}, {"/x": {"a": None}}]
    + [{"Final": "All changes applied successfully"}],
)
def test_the_comment_says_what_changes_do_not(changes: dict[str, Any]) -> None:
    done = Result(chunk(), True, "Started service x", changes)
    assert printed(done).splitlines()[1:3] == [" " * 14 + "Started service x", ""]
    assert printed(done, whole=True).splitlines()[1:3] != [" " * 14 + "Started service x", ""]
    reloaded = done._replace(reaction="Service reloaded, because file: y changed")
    assert printed(reloaded).splitlines()[1:3] == [" " * 14 + reloaded.reaction, ""]
    failed = done._replace(result=False)
    assert len(printed(failed).splitlines()) > 5, "what was changed before it failed"


def test_a_diff_of_several_files_names_each() -> None:
    diff = "--- \n+++ \n@@ -1 +1 @@\n-a\n+b\n"
    text = printed(Result(chunk(), True, "", {"/y/1": {"diff": diff}, "/y/2": {"diff": diff}}))
    assert "--- /y/1 (before)" in text and "+++ /y/2 (after)" in text and "--- /x" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc", "a\nb\nd\n"),
        ("c", "c\nd\ne\n"),
        ("b\nc", "d"),
        ("c\n", "d"),
        ("c\n+d\n", "e+f\n"),
        ("\n".join("abcdefghijkl"), "A\n" + "\n".join("bcdefghijk") + "\nm\n"),
    ],
)
def test_a_last_line_without_a_newline_is_a_line_of_its_own(old: str, new: str) -> None:
    pieces = [*difflib.unified_diff(old.splitlines(True), new.splitlines(True))]
    wanted: list[str] = []
    for number, piece in enumerate(pieces[2:], 3):
        marked = not piece.endswith("\n") and number < len(pieces)
        wanted += [piece.rstrip("\n"), *([diffs.NO_NEWLINE] if marked else [])]
    assert diffs.shown("".join(pieces).rstrip("\n").split("\n"), "") == wanted


def test_a_diff_with_empty_lines_behind_its_heads_is_shown_without_them() -> None:
    diff = "--- \n\n+++ \n\n@@ -1,2 +1,3 @@\n\n q\n \n+x\n+"
    shown = printed(Result(chunk(), True, "", {"diff": diff})).splitlines()
    assert [line[16:] for line in shown if line.startswith(" " * 16)] == [
        "--- /x (before)",
        "+++ /x (after)",
        "@@ -1,2 +1,3 @@",
        " q",
        " ",
        "+x",
        "+",
    ]


def test_lines_end_between_words_on_a_terminal() -> None:
    path = "/a/path/that/is/longer/than/a/line/of/eighty/columns/and/is/never/broken/in/two/parts"
    comment = "it says quite a lot " * 10 + path
    long = Result(chunk("an identifier with spaces " * 5), False, comment)
    for line in printed(long, wrap=True, width=80).splitlines():
        assert len(line) < 80 or line.strip().startswith("/a/path"), line
    assert comment in printed(long), "a pipe gets whole lines"


def test_the_list_of_runs_has_a_line_for_each_on_a_terminal() -> None:
    command = "runner sls " + " ".join(f"--only state{number}" for number in range(12))
    run = {
        "id": 1,
        "kind": "run",
        "started": "2026-01-01T00:00:00",
        "outcome": "failed",
        "command": command,
    }
    counts = {"failed": 2, "changed": 1, "unchanged": 4}
    run |= {"errors": [], "total": 7, "changed": 1, "failed": 2, "skipped": 0, "counts": counts}
    (whole,) = history.text([run], "list").splitlines()
    assert whole.endswith(f"7 states: 2 failed, 1 changed, 4 unchanged  {command}")
    (line,) = history.text([run], "list", 80).splitlines()
    start = "     1  2026-01-01 00:00  failed: 2 failed, 1 changed of 7  runner sls --only"
    assert line.startswith(start) and line.endswith("…") and len(line) == 79
    (line,) = history.text([run | {"command": "runner highstate"}], "list", 80).splitlines()
    assert line.endswith("  runner highstate")
