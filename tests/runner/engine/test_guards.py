# SPDX-License-Identifier: Apache-2.0
"""Guards: what skips a state, and in which words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from command import Machine

from runner.engine.guards import (
    GuardContext,
    asks_programs,
    checked,
    missing_folder,
    programs,
    reason_to_skip,
)
from runner.model.errors import RunnerError

TRUE, FALSE = {"fun": "test.true"}, {"fun": "test.false"}
CASES: list[tuple[dict[str, Any], str | None]] = [
    ({"onlyif": "true"}, None),
    ({"onlyif": "false"}, "onlyif condition is false"),
    ({"onlyif": ["true", "false"]}, "onlyif condition is false"),
    ({"unless": ["true", "false"]}, None),
    ({"unless": ["true", "true"]}, "unless condition is true"),
    ({"onlyif": "false", "unless": "true"}, "onlyif condition is false\nunless condition is true"),
    ({"onlyif": "true", "unless": TRUE}, "onlyif condition is true\nunless condition is true"),
    ({"onlyif": FALSE, "unless": "false"}, "onlyif condition is false\nunless condition is false"),
    ({"onlyif": "true", "unless": "false"}, None),
    ({"unless": "false", "creates": "/"}, "unless condition is false\n/ exists"),
    ({"onlyif": "false", "creates": "/nope"}, "onlyif condition is false\nCreates files not found"),
    (
        {"onlyif": "true", "creates": ["/", "/usr"]},
        "onlyif condition is true\nAll files in creates exist",
    ),
    ({"creates": ["/", "/nope"]}, None),
    ({"onlyif": [{}]}, None),
    ({"unless": [{"args": [1]}]}, None),
    ({"onlyif": False, "unless": True}, None),
    ({"unless": ["true", True]}, None),
    ({"onlyif": []}, None),
    ({"onlyif": [{"fun": "failing.truth"}]}, "onlyif condition is false"),
    ({"unless": [{"fun": "failing.truth"}, "true"]}, None),
    ({"onlyif": [{"fun": "test.echo", "text": {"a": [0, 1]}, "get_return": "a:1"}]}, None),
    (
        {"onlyif": [{"fun": "test.echo", "text": {"a": [0, 1]}, "get_return": "a:2"}]},
        "onlyif condition is false",
    ),
    (
        {"onlyif": [{"fun": "test.echo", "text": {"a": [0, 1]}, "get_return": "a:x"}]},
        "onlyif condition is false",
    ),
    ({"onlyif": [{"fun": "test.echo", "text": 1, "args": [1, 0]}]}, "onlyif condition is false"),
    ({"onlyif": [{"fun": "test.echo", "text": 0, "args": 1}]}, None),
    ({"onlyif": ["true", {}, 5]}, None),
    ({"onlyif": [{"fun": "test.echo", "args": {"a": 1}, "__id__": "x", "text": 0}]}, None),
    ({"onlyif": "true", "cwd": "/nope"}, "onlyif condition is false"),
    ({"unless": "false", "cwd": "/nope"}, "unless condition is true"),
    ({"onlyif": "true", "cwd": "/nope", "cmd_opts_exclude": "cwd"}, None),
    ({"onlyif": "true", "cwd": "/nope", "cmd_opts_exclude": ["env", "cwd"]}, None),
    ({"onlyif": [TRUE], "cwd": "/nope"}, None),
    ({"onlyif": "true", "cwd": "/"}, None),
]


def test_programs_are_asked_what_the_files_do_not_say() -> None:
    given = {"onlyif": ["test -e /x", "grep a /x", TRUE], "unless": "[ -d /y ]"}
    assert [*programs(given)] == ["grep a /x"]
    assert asks_programs(given) and not asks_programs({"unless": "[ -d /y ]"})


@pytest.mark.parametrize(("args", "reason"), CASES)
def test_what_skips_a_state(args: dict[str, Any], reason: str | None) -> None:
    noted = [1]  # by a function that was called before

    def call(name: str, *given: Any, **named: Any) -> Any:
        assert not [key for key in named if key.startswith("__")], "Salt's own"
        if name == "cmd.retcode":
            assert named.pop("ignore_retcode") and named.pop("python_shell")
            return 0 if given[0] == "true" else 1
        noted.extend([1] if name == "failing.truth" else [])
        if name == "test.echo":
            return [named["text"], *given][-1]
        return name != "test.false"

    def failed() -> bool:
        return bool([noted.pop() for _ in list(noted)])

    assert reason_to_skip(GuardContext(args, call, failed)) == reason


@pytest.mark.parametrize(
    ("guards", "missing"),
    [
        ({"onlyif": "true"}, "/nope"),
        ({"unless": [TRUE, ""]}, "/nope"),
        ({"check_cmd": "true"}, ""),
        ({"onlyif": TRUE}, ""),
        ({}, ""),
    ],
)
def test_the_folder_of_guards_that_is_missing(guards: dict[str, Any], missing: str) -> None:
    def call(name: str, *given: Any, **named: Any) -> Any:
        raise AssertionError("nothing is called")

    assert missing_folder(GuardContext({**guards, "cwd": "/nope"}, call)) == missing
    assert missing_folder(GuardContext({**guards, "cwd": "/"}, call)) == ""
    assert missing_folder(GuardContext(guards, call)) == ""


def test_checks_are_asked_one_by_one_until_one_fails() -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def call(name: str, command: str, **named: Any) -> Any:
        assert name == "cmd.run_all"
        asked.append((command, named))
        return {"retcode": int(command == "bad"), "stdout": "out", "stderr": ""}

    def check(*commands: Any, with_output: bool = False) -> tuple[bool, str]:
        given = {"check_cmd": [*commands], "runas": "me", "cwd": None, "timeout": "3"}
        context = GuardContext(given, call)
        return checked(context, with_output)

    assert check("good", "fine") == (True, "check_cmd determined the state succeeded")
    assert [command for command, _ in asked] == ["good", "fine"]
    options = {"runas": "me", "timeout": 3.0}
    assert asked[0][1] == {"ignore_retcode": True, "python_shell": True, **options}
    assert isinstance(asked[0][1]["timeout"], float)
    failed = "check_cmd determined the state failed"
    assert check("bad", "fine") == (False, failed)
    assert check("good", "bad", with_output=True) == (False, f"{failed}\nout")
    assert [command for command, _ in asked][2:] == ["bad", "good", "bad"]
    with pytest.raises(RunnerError, match="check_cmd takes commands, not 5"):
        check(5)


def _guarded(*guards: str) -> Iterator[str]:
    for number, guard in enumerate(guards):
        yield f"s{number}: {{test.nop: [{{onlyif: [{{fun: {guard}}}]}}]}}\n"


def test_a_guard_that_calls_a_function_looks_at_its_exit_code(machine: Machine) -> None:
    lines = _guarded(
        "cmd.run, cmd: 'echo x; false', python_shell: true",
        "cmd.run, cmd: echo x",
        "cmd.run, cmd: 'echo x; false', python_shell: true, ignore_retcode: true",
        "cmd.run_all, cmd: 'false'",
        "test.retcode",
        "test.retcode, code: 0",
    )
    machine.write(t="".join(lines))
    found = machine.results("sls", "t")
    skipped = [
        name for name, result in found.items() if result["comment"] == "onlyif condition is false"
    ]
    assert skipped == ["s0", "s3", "s4"]


def test_a_check_that_cannot_be_made_keeps_what_was_changed(machine: Machine) -> None:
    changing = "test.succeed_with_changes: [{check_cmd: 'true'}, {cwd: /no/such/folder}]"
    machine.write(
        t=(
            f"a:\n  {changing}\nb:\n  test.succeed_with_changes: [{{check_cmd: [{{fun:"
            " test.true}]}]\n"
        )
    )
    for result in machine.results("sls", "t", code=2).values():
        assert result["result"] is False and "testing" in result["changes"]


def test_a_check_waits_for_the_change(machine: Machine) -> None:
    """Salt runs it in the look, too, before there is a change that it could check."""
    machine.write(
        t=(
            "prepares:\n  test.succeed_with_changes: [prereq: [test: checked]]\n"
            "checked:\n  test.succeed_with_changes: [check_cmd: ['false']]\n"
        )
    )
    found = machine.results("sls", "t", "--test")
    assert (found["prepares"]["result"], found["checked"]["result"]) == (None, None)
    found = machine.results("sls", "t", code=2)
    assert (found["prepares"]["result"], found["checked"]["result"]) == (True, False)
    assert found["checked"]["comment"] == "check_cmd determined the state failed"


def test_an_empty_check_is_met(machine: Machine) -> None:
    machine.write(t="a:\n  test.succeed_with_changes: [check_cmd: []]\n")
    assert machine.results("sls", "t")["a"]["result"] is True


def test_an_attempt_that_a_guard_skipped_says_why(machine: Machine) -> None:
    machine.write(
        t="a:\n  test.nop: [creates: /, retry: {attempts: 2, interval: 0, until: false}]\n"
    )
    told = (
        'Attempt 1: Returned a result of "True", with the following comment: "/ exists"\n/ exists'
    )
    assert machine.results("sls", "t")["a"]["comment"] == told


def test_each_attempt_is_one_and_is_counted(machine: Machine) -> None:
    machine.write(
        t="a:\n  cmd.run: [name: 'echo x >> {tmp}/f; false', retry: {attempts: 4, interval: 0}]\n"
        "b: {test.nop: []}\n"
    )
    found = machine.results("sls", "t", code=2)
    assert (machine.folder / "f").read_text() == "x\n" * 4
    assert re.findall("Attempt ([0-9]+)", found["a"]["comment"]) == ["1", "2", "3"]
    assert [found[name]["__run_num__"] for name in "ab"] == [3, 4]


def test_retry_false_is_no_retry(machine: Machine) -> None:
    machine.write(t="a:\n  cmd.run: [name: 'echo x >> {tmp}/f; false', retry: false]\n")
    found = machine.results("sls", "t", "--test")
    assert "retried" not in found["a"]["comment"]
    machine.results("sls", "t", code=2)
    assert (machine.folder / "f").read_text() == "x\n"
    assert "retry is" not in machine("check", "--lenient").stdout


SLOTS = {  # each compared with Salt 3008.3
    "test.echo(/tmp/x)": "/tmp/x",
    'test.echo(/tmp) ~ "/appended"': "/tmp/appended",
    "test.echo(/tmp) ~ /appended": "/tmp/appended",
    "test.echo(a)~bob": "abob",
    "test.echo(a) ~ b ~ c": "ab ~ c",
    'test.echo(a) ~ "b ~ c"': "ab ~ c",
    "test.echo(a) ~ ' b '": "a b ",
    'test.echo("a b")': "a b",
    "test.echo(a'b c'd)": "ab cd",
    'test.echo("a\\"b")': 'a"b',
    "test.echo(a\\,b)": "a,b",
    'test.echo("a)b")': "a)b",
    "test.echo(f(x))": "f(x)",
    "test.echo(salt://x)": "salt://x",
    "test.echo(0644)": "0644",
    "test.echo(1) ~ 2": "12",
    "test.echo(True)": "True",
    "test.echo([1, 2])": "[1,2]",
    "test.echo({'a': x})": "{a:x}",
    "test.echo(text=zz)": "zz",
    "test.echo (x) ": "x",
    " test.echo(x)": "x",
    "test.kwarg(a=1, b='x y').b": "x y",
    "test.kwarg(a=1, b=/x).b ~ /tail": "/x/tail",
    'test.kwarg("a b"=x).a b': "x",
    'test.kwarg(a="1,2=3").a': "1,2=3",
    "test.arg(a,, b, c=d).kwargs.c": "d",
    "grains.get(id)": "m1",
    "test.echo(a#b)": "a#b",  # the next four are not Salt's
    'test.echo("") ~ x': "x",
    'test.echo("a ~ b") ~ c': "a ~ bc",
    "grains.get(number) ~ x": "5x",
}
MALFORMED = {
    "test.echo": "write __slot__:salt:module.function(arguments)",
    "test.echo(x": "')' is missing at its end",
    "test.echo([x)": "no bracket is open for this ')'",
    "test.echo(it's)": "the text that ' begins has no end",
    "test.echo(x) y": "after the arguments comes nothing, a key",
    "test.echo(echo hi)": "put the text that begins with 'echo' in quotes: it has blanks",
    "test.kwarg(a=b) ~ x": "`~ text` is for texts and numbers",
    "test.kwarg(a=b).c ~ x": "`~ text` is for texts and numbers",
    "test.nope(x)": "test has: arg, ",
}


def test_slots(machine: Machine) -> None:
    machine.config["grains"] = {"number": 5}
    states = {
        f"s{place}": f"__slot__:salt:{slot}" for place, slot in enumerate([*SLOTS, *MALFORMED])
    }
    written = {name: {"test.show_notification": [{"text": slot}]} for name, slot in states.items()}
    machine.write(t=json.dumps(written))
    done = machine.results("sls", "t", code=2)
    found = {slot.removeprefix("__slot__:salt:"): done[name] for name, slot in states.items()}
    assert {slot: found[slot]["comment"] for slot in SLOTS} == SLOTS
    for slot, hint in MALFORMED.items():
        assert found[slot]["result"] is False and f"hint: {hint}" in found[slot]["comment"], found[
            slot
        ]
    machine.write(run="a:\n  cmd.run: [{name: '__slot__:salt:test.echo(\"echo hi\")'}]\n")
    done = machine.results("sls", "run")["a"]
    assert (done["name"], done["changes"]["stdout"]) == ("echo hi", "hi")


def test_what_a_guard_or_a_slot_calls_wrongly(machine: Machine) -> None:
    machine.write(
        a="a: {test.nop: [{onlyif: [{fun: test.echo, nope: 1}]}]}\n"
        "b: {test.show_notification: [{text: '__slot__:salt:file.file_exists()'}]}\n"
        "c: {test.nop: [{unless: [{fun: own.broken, number: x}]}]}\n"
        "d: {test.nop: [{unless: [{fun: own.broken, number: 1}]}]}\n"
    )
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/own.py").write_text(
        "def broken(number):\n    return [1][int(number)]\n"
    )
    done = machine.results("sls", "a", code=2)
    wrong = "Passed invalid arguments to {}: missing a required argument: '{}'"
    assert {name: each["comment"].partition("\n")[0] for name, each in done.items()} == {
        "a": wrong.format("test.echo", "text"),
        "b": wrong.format("file.file_exists", "path"),
        "c": "own.broken: ValueError: invalid literal for int() with base 10: 'x'",
        "d": "own.broken: IndexError: list index out of range",
    }
    assert "_modules/own.py:2" in done["d"]["comment"] and "runner/engine" not in str(done)


def test_a_parallel_state_says_so(machine: Machine) -> None:
    machine.write(t="a: {test.nop: [{parallel: true}]}\nb: test.nop\n")
    done = machine.results("sls", "t")
    assert done["a"]["__parallel__"] is True and "__parallel__" not in done["b"]


def test_empty_guards(machine: Machine) -> None:
    machine.write(
        a="{% for value in ['[]', '\"\"'] %}{% for guard in ['unless', 'onlyif'] %}\n"
        "{{ guard }} {{ value }}: {test.nop: [{ {{- guard }}: {{ value -}} }]}\n"
        "{% endfor %}{% endfor %}"
    )
    comments = {name: result["comment"] for name, result in machine.results("sls", "a").items()}
    assert comments == {
        "unless []": "Success!",
        "onlyif []": "Success!",
        'unless ""': "unless condition is true",
        'onlyif ""': "Success!",
    }


def test_an_empty_command_needs_its_folder_too(machine: Machine) -> None:
    machine.write(a="x: {test.nop: [{unless: ''}, {cwd: /no/such/folder}]}\n")
    assert machine.results("sls", "a")["x"]["comment"] == "unless condition is true"
    assert "/no/such/folder does not exist" in machine("sls", "a").stdout


def test_a_slot_in_a_name_is_shown_filled(machine: Machine) -> None:
    machine.write(
        a="x:\n  cmd.run: [name: '__slot__:salt:test.echo(\"echo hi\")']\n",
        b="x:\n  cmd.run: [name: '__slot__:salt:test.echo(\"echo hi\")', no_log: true]\n",
    )
    answers = [
        machine("sls", "a").stdout,
        machine("history", "show", "last").stdout,
        machine("sls", "a", "--test").stdout,
        machine("sls", "a", "--out", "junit").stdout,
        machine("sls", "a", "--log-level", "info").stderr,
    ]
    for shown in answers:
        assert "x (echo hi)" in shown and "__slot__" not in shown
    for words in (["sls", "b"], ["history", "show", "last"]):
        shown = machine(*words).stdout
        assert "echo hi" not in shown and "__slot__" not in shown
