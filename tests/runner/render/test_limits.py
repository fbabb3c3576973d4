"""The bounds of rendering."""

from __future__ import annotations

import os
import signal

import pytest
import yaml
from command import Machine

from runner import bounds
from runner.render.limits import bounded

DEEP = {
    "one line": "[" * 300 + "]" * 300,
    "a line each": "[\n" * 300,
    "a bracket that is a text": '["]",\n' * 300,
    "a bracket in a comment": "[ # ]\n" * 300,
    "more opened than closed": "[[{a: 1},\n" * 300,
    "columns": "".join(" " * level + "a:\n" for level in range(300)),
    "dashes": "- " * 300 + "a",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_nests_too_deeply_is_told_before_it_is_read(text: str, machine: Machine) -> None:
    machine.write(a=f"x:\n  {text if text[0] == ' ' else text.replace(chr(10), chr(10) + '  ')}\n")
    done = machine("sls", "a", "--test", code=1)
    assert "a.sls:" in done.stderr and "the YAML is nested too deeply (more than 200 levels)" in done.stderr


def test_many_small_brackets_are_not_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "parse", None)
    bounds.check_depth("".join(f"f{number}:\n  l: {{a: b, c: [1, 2]}}\n" for number in range(500)))


def test_a_tick_that_comes_late_ends_nothing() -> None:
    with bounded("a.sls"):
        pass
    os.kill(os.getpid(), signal.SIGPROF)


def test_the_timer_stands_still_afterwards() -> None:
    with bounded("a.sls"), bounded("b.sls"):
        assert signal.getitimer(signal.ITIMER_PROF)[1] > 0
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
