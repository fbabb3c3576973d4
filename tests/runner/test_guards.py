"""Guards: what skips a state, and in which words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from command import Machine

from runner.guards import Asking, reason_to_skip

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
    ({"onlyif": "true", "creates": ["/", "/usr"]}, "onlyif condition is true\nAll files in creates exist"),
    ({"creates": ["/", "/nope"]}, None),
    ({"onlyif": [{}]}, None),
    ({"unless": [{"args": [1]}]}, None),
    ({"onlyif": False, "unless": True}, None),
    ({"unless": ["true", True]}, None),
    ({"onlyif": []}, None),
    ({"onlyif": [{"fun": "failing.truth"}]}, "onlyif condition is false"),
    ({"unless": [{"fun": "failing.truth"}, "true"]}, None),
    ({"onlyif": [{"fun": "test.echo", "text": {"a": [0, 1]}, "get_return": "a:1"}]}, None),
    ({"onlyif": [{"fun": "test.echo", "text": {"a": [0, 1]}, "get_return": "a:7"}]}, "onlyif condition is false"),
]


@pytest.mark.parametrize(("args", "reason"), CASES)
def test_what_skips_a_state(args: dict[str, Any], reason: str | None) -> None:
    noted: list[int] = []

    def call(name: str, *given: Any, **named: Any) -> Any:
        if name == "cmd.retcode":
            return 0 if given[0] == "true" else 1
        noted.extend([1] if name == "failing.truth" else [])
        return named["text"] if name == "test.echo" else name != "test.false"

    def failed() -> bool:
        return bool([noted.pop() for _ in list(noted)])

    assert reason_to_skip(Asking(args, call, failed)) == reason


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
    skipped = [name for name, result in found.items() if result["comment"] == "onlyif condition is false"]
    assert skipped == ["s0", "s3", "s4"]


def test_a_check_that_cannot_be_made_keeps_what_was_changed(machine: Machine) -> None:
    changing = "test.succeed_with_changes: [{check_cmd: 'true'}, {cwd: /no/such/folder}]"
    machine.write(t=f"a:\n  {changing}\nb:\n  test.succeed_with_changes: [{{check_cmd: [{{fun: test.true}}]}}]\n")
    for result in machine.results("sls", "t", code=2).values():
        assert result["result"] is False and "testing" in result["changes"]


def test_slots(machine: Machine) -> None:
    slot = "__slot__:salt:test.echo"
    machine.write(
        t=f"named:\n  test.show_notification: [{{name: '{slot}(hello)'}}, {{text: '{slot}(a) ~ b'}}]\n"
        f"odd:\n  test.show_notification: [{{text: '{slot}'}}]\n"
    )
    done = machine.results("sls", "t", code=2)
    assert (done["named"]["comment"], done["named"]["result"]) == ("ab", True)
    assert done["odd"]["comment"].startswith(f"malformed slot '{slot}'")
    machine.write(run=f"a:\n  cmd.run: [{{name: '{slot}(\"echo hi\")'}}]\n")
    assert machine.results("sls", "run")["a"]["changes"]["stdout"] == "hi"


def test_a_parallel_state_says_so(machine: Machine) -> None:
    machine.write(t="a: {test.nop: [{parallel: true}]}\nb: test.nop\n")
    done = machine.results("sls", "t")
    assert done["a"]["__parallel__"] is True and "__parallel__" not in done["b"]
