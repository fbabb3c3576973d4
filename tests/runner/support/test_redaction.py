# SPDX-License-Identifier: Apache-2.0
"""Secrets alone: what is hidden in values of each type, and what is known of former runs."""

from __future__ import annotations

import base64
import html
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from runner.engine.context import Listeners
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.model.events import ChangerCalled, Event, RunStarted
from runner.model.places import Source
from runner.support.redaction import HIDDEN, Secrets, command_line, forms
from runner.support.redaction.former_secrets import FORMER, KEY, Former
from runner.support.redaction.forms import SPELLINGS, spelled

PASSWORD = "S3cret/of the-house"


def secrets(*values: str) -> Secrets:
    known = Secrets()
    for value in values:
        known.add(value)
    return known


def is_no_name(text: str) -> bool:
    return False


# ---------------------------------------------------------------- former runs


def ran(folder: Path, *values: str) -> Secrets:
    """The secrets of a run with these, after its recall."""
    known = secrets(*values)
    known.recall(str(folder), remember=True)
    return known


def test_secrets_of_all_former_runs_are_hidden(tmp_path: Path) -> None:
    ran(tmp_path, PASSWORD)
    ran(tmp_path, "another of them")
    run = ran(tmp_path)
    assert run
    quoted = spelled(PASSWORD, "URL")
    assert urllib.parse.unquote(quoted) == PASSWORD != quoted
    for value in (PASSWORD, "another of them", quoted):
        assert run.mask(f"old: {value}", former=True) == f"old: {HIDDEN}"
        assert run.mask(f"old: {value}") == f"old: {value}"
    encoded = base64.b64encode(PASSWORD.encode()).decode()
    assert run.mask(f"old: {encoded}", former=True) == f"old: {HIDDEN}"


def test_where_there_were_none_nothing_is_kept(tmp_path: Path) -> None:
    assert not ran(tmp_path)
    assert not (tmp_path / FORMER).exists()


def test_the_file_holds_a_key_of_its_own_and_no_secret(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        ran(tmp_path / name, PASSWORD)
        texts.append((tmp_path / name / FORMER).read_bytes())
        ran(tmp_path / name, PASSWORD)
        assert (tmp_path / name / FORMER).read_bytes() == texts[-1]
    one, two = texts
    assert len(one) == len(two) > KEY
    assert one[:KEY] != two[:KEY] and one[KEY:] != two[KEY:]
    assert PASSWORD.encode() not in one


def test_a_secret_counts_by_its_length_and_last_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = Former(str(tmp_path))
    for day, values in ((100, ["first", "second"]), (101, ["first"])):
        monkeypatch.setattr(time, "time", lambda day=day: day * 86400)
        former = Former(str(tmp_path))
        former.remember(values)
    again = Former(str(tmp_path))
    assert sorted(again._days.values()) == [(5, 101), (6, 100)]
    assert {*again.spans("second first third", is_no_name)} == {(0, 6), (7, 12)}
    assert [*again.spans("second", lambda text: text == "second")] == []


@pytest.mark.parametrize("damage", [b"", b"x" * (KEY - 1), b"x" * (KEY + 1)])
def test_a_broken_file_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    ran(tmp_path, PASSWORD)
    (tmp_path / FORMER).write_bytes(damage)
    assert not Former(str(tmp_path))
    ran(tmp_path, PASSWORD)
    assert Former(str(tmp_path))


# ---------------------------------------------------------------- values

PW = "hunter22"
KNOWN_TOO = secrets(PASSWORD)
KNOWN = secrets(PW, "4711", "s3cret-of-old")


class Silent:
    """It has no text."""

    def __str__(self) -> str:
        raise ValueError


SILENT = Silent()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (SILENT, SILENT),
        ("a hunter22 b", f"a {HIDDEN} b"),
        ("hunter224711", f"{HIDDEN}{HIDDEN}"),
        (4711, HIDDEN),
        (4712, 4712),
        (True, True),
        (None, None),
        (("hunter22", 1), [HIDDEN, 1]),
        ({"hunter22": "x"}, {HIDDEN: "x"}),
        ({"b", "a"}, {"b", "a"}),
        ({"b", "hunter22"}, [HIDDEN, "b"]),
        (frozenset(["hunter22"]), [HIDDEN]),
        (b"a hunter22", f"a {HIDDEN}"),
        (bytearray(b"nothing"), bytearray(b"nothing")),
        (Path("/etc/hunter22"), f"/etc/{HIDDEN}"),
        (Path("/etc"), Path("/etc")),
        # the two sides of a change: what stood where a secret stands now
        ({"old": "x s3cr3t", "new": "x hunter22"}, {"old": f"x {HIDDEN}", "new": f"x {HIDDEN}"}),
        (
            {"old": ["a", "b"], "new": ["a", "hunter22"]},
            {"old": ["a", HIDDEN], "new": ["a", HIDDEN]},
        ),
        ({"old": {"k": 1}, "new": "hunter22"}, {"old": {"k": HIDDEN}, "new": HIDDEN}),
        ({"old": {"k": [1, ""]}, "new": 4711}, {"old": {"k": [HIDDEN, ""]}, "new": HIDDEN}),
        ({"before": None, "after": "hunter22"}, {"before": None, "after": HIDDEN}),
        ({"old": "x", "new": "y"}, {"old": "x", "new": "y"}),
        (
            {"old": {"a": 1, "hunter22": "b"}, "new": {"a": 2, "c": "hunter22"}},
            {"old": {"a": 1, HIDDEN: "b"}, "new": {"a": 2, "c": HIDDEN}},
        ),
        (
            {"old": ["x hunter22", "same"], "new": ["same"]},
            {"old": [f"x {HIDDEN}", "same"], "new": ["same"]},
        ),
        (["\udcff hunter22"], [f"\udcff {HIDDEN}"]),
        (b"\xff hunter22", f"\udcff {HIDDEN}"),
        ("-x 1\n+x hunter22\n", f"-x {HIDDEN}\n+x {HIDDEN}\n"),
        ("-a 1\n?  ^\n+a hunter22\n", f"-a {HIDDEN}\n?  ^\n+a {HIDDEN}\n"),
        ("-a 1\n\\ No newline\n+a hunter22\n", f"-a {HIDDEN}\n\\ No newline\n+a {HIDDEN}\n"),
        ("-a 1\n b\n+a hunter22\n", f"-a 1\n b\n+a {HIDDEN}\n"),
        ("-k: 1;\n-j: 2\n+k: hunter22;\n+j: 3\n", f"-k: {HIDDEN};\n-j: 2\n+k: {HIDDEN};\n+j: 3\n"),
        ("-  1\n+k: hunter22\n", f"-  {HIDDEN}\n+k: {HIDDEN}\n"),
        ("-z: 1\n+z: 2\n+k: hunter22\n", f"-z: 1\n+z: 2\n+k: {HIDDEN}\n"),
        ("-k 1\n+q: 2\n+k: hunter22\n", f"-{HIDDEN}\n+q: 2\n+k: {HIDDEN}\n"),
    ],
)
def test_what_is_shown_of_a_value(value: Any, shown: Any) -> None:
    answer = KNOWN.mask(value)
    assert (answer, type(answer)) == (shown, type(shown))


def test_former_states_are_shown_without_secrets() -> None:
    called = ChangerCalled(None, "/hunter22", {"several": [{"path": "/a", "text": "hunter22"}]})
    shown = KNOWN.event(called)
    assert isinstance(shown, ChangerCalled)
    assert (shown.target, shown.before) == (
        f"/{HIDDEN}",
        {"several": [{"path": "/a", "text": HIDDEN}]},
    )
    assert shown.for_undo == called.before
    link = KNOWN.event(called._replace(before={"target": "/old s3cr3t"}, target="/old hunter22"))
    assert isinstance(link, ChangerCalled)
    assert link.before == {"target": f"/old {HIDDEN}"}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["sls", "a", "--pillar", "{pw: x}", "b"], ["sls", "a", "--pillar", HIDDEN, "b"]),
        (["--pillar={pw: x}", "b"], [f"--pillar={HIDDEN}", "b"]),
        (["pillar={pw: x}"], [f"pillar={HIDDEN}"]),
        (["--pillar", "-"], ["--pillar", "-"]),
        (["--pillar", "@file"], ["--pillar", "@file"]),
        (["password=x", "name=y"], [f"password={HIDDEN}", "name=y"]),
        (["https://me:s3cret@host/", "ftp://host"], [f"https://me:{HIDDEN}@host/", "ftp://host"]),
    ],
)
def test_what_others_may_see_of_a_command_line(words: list[str], shown: list[str]) -> None:
    assert command_line(words) == shown


@pytest.mark.parametrize(
    ("pillar", "shown"), [("{a: 1}", "{a: 1}"), ("{pw: 1}", HIDDEN), ("{", HIDDEN)]
)
def test_a_pillar_without_secrets_may_stay(pillar: str, shown: str) -> None:
    assert command_line(["--pillar", pillar], ["pw"]) == ["--pillar", shown]


ODD = "\x7fp\u00e4/'\u20ac\"<&>=\U0001f600 \\x"
WRITERS: dict[str, Callable[[str], str]] = {
    "JSON": json.dumps,
    "JSON with Unicode": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON of jq": lambda text: json.dumps(text).replace("\x7f", "\\u007f"),
    "JSON with slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "JSON in capitals": lambda text: re.sub(
        r"u[0-9a-f]{4}", lambda code: "u" + code[0][1:].upper(), json.dumps(text)
    ),
    "JSON in HTML": lambda text: "".join(
        f"\\u{ord(char):04x}" if char in "<>&'=+`" else char for char in json.dumps(text)
    ),
    "HTML": html.escape,
    "YAML": lambda text: yaml.safe_dump(text, default_style='"', width=999),
    "Python": ascii,
    "a URL": lambda text: urllib.parse.quote(text, safe=""),
    "a URL in small letters": lambda text: re.sub(
        "%..", lambda code: code[0].lower(), urllib.parse.quote(text, safe="")
    ),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 in lines, in JSON": lambda text: json.dumps(
        re.sub("(.{16})", r"\1\n", base64.b64encode(text.encode()).decode())
    ),
    "hexadecimal": lambda text: text.encode().hex(),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("secret", [ODD, f"{ODD}letters{ODD}"], ids=["no word", "word"])
@pytest.mark.parametrize("others", [0, forms.FEW], ids=["alone", "of many"])
def test_a_secret_is_hidden_as_programs_write_it(writer: str, secret: str, others: int) -> None:
    known = secrets(secret, *(f"other-{number:05}" for number in range(others)))
    written = WRITERS[writer](secret).strip().strip("\"'")
    assert known.mask(f"value: {written}") == f"value: {HIDDEN}"


@pytest.mark.parametrize("text", ["one-letters-six", "six-letters-two", "letters", "-letters-"])
def test_a_word_of_a_secret_with_something_else_around_it_is_shown(text: str) -> None:
    assert secrets("one-letters-two").mask(text) == text


@pytest.mark.parametrize("ahead", range(3))
@pytest.mark.parametrize("behind", range(3))
def test_a_secret_inside_of_base64_is_hidden(ahead: int, behind: int) -> None:
    text = b"x" * (6 + ahead) + PASSWORD.encode() + b"y" * (6 + behind)
    shown = KNOWN_TOO.mask(base64.b64encode(text).decode())
    assert HIDDEN in shown and len(shown) < 32, shown


@pytest.mark.parametrize("form", SPELLINGS)
def test_letters_digits_and_underscores_are_only_ever_spelled_as_themselves(form: str) -> None:
    assert spelled("aZ_09", form) == "aZ_09"


def test_an_error_is_shown_without_secrets() -> None:
    error = RunnerError("no hunter22", hint="take hunter22 away", code="limit")
    shown = KNOWN.error(error)
    assert (shown.message, shown.hint, shown.code) == (
        f"no {HIDDEN}",
        f"take {HIDDEN} away",
        "limit",
    )
    assert Secrets().error(error) is error
    url = "https://joe:Zq7Kd2x9@host"
    source = Source("a.sls", 1, rendered=url, values=(("urls", [url]),))
    told = Secrets().diagnostic(Diagnostic(url, source, url))
    assert repr(told).count("https://joe:**********@host") == 4 and "Zq7Kd2x9" not in repr(told)
    several = CompileError([*error.diagnostics, *RunnerError("other").diagnostics])
    masked = KNOWN.error(several)
    assert isinstance(masked, CompileError)
    assert [each.message for each in masked.diagnostics] == [f"no {HIDDEN}", "other"]


def test_a_short_value_is_no_secret_for_its_key_alone() -> None:
    secrets = Secrets()
    secrets.collect_named({"PASSWORD": "root", "TOKEN": "geheim42"})
    secrets.collect_call({"password": "root"})
    assert secrets.mask("root of geheim42") == f"root of {HIDDEN}"


def test_what_a_template_writes_for_nothing_is_no_secret() -> None:
    secrets = Secrets()
    secrets.collect_named({"PASSWORD": "None"})
    secrets.add("None")
    assert secrets.mask("connect=None") == "connect=None"


def test_what_a_listener_says_when_it_fails_has_no_secret() -> None:
    """It sees nothing more, and the others see all."""

    def failing(event: Event) -> None:
        raise ValueError(f"cannot send {PASSWORD}")

    seen: list[Event] = []
    listeners = Listeners((failing, seen.append), secrets(PASSWORD))
    for _ in range(2):
        listeners.emit(RunStarted(1, False, "run"))
    assert len(seen) == 2
    [told] = listeners.lost
    assert told.endswith(f"saw nothing more of this run: ValueError: cannot send {HIDDEN}")


def test_a_secret_is_hidden_while_another_thread_learns_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parallel state may print what the one beside it has just decrypted."""
    known, shown = Secrets(), list[Any]()
    beside = threading.Thread(target=lambda: shown.append(known.mask("it is h1dden-w0rd")))
    learn = forms.Finder.add

    def add(finder: forms.Finder, values: Iterable[str]) -> None:
        beside.start()
        beside.join(0.2)  # it waits for what is learnt here, or is done by then
        learn(finder, values)

    monkeypatch.setattr(forms.Finder, "add", add)
    known.add("h1dden-w0rd")
    assert known.mask("h1dden-w0rd") == HIDDEN
    beside.join()
    assert shown == [f"it is {HIDDEN}"]
