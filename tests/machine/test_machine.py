# SPDX-License-Identifier: Apache-2.0
"""Users, groups, services and packages for real: each scenario on a throw-away copy of this
computer of its own.

No init runs there (test_services.py has one); useradd really adds and apt really installs, and
nothing of it is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from debian import ROOT, spec
from debian_layer import layer_or_skip
from law_table import LAWS, plainest, sampled
from laws import EVERYTHING, machine_scenarios
from starting import background
from trying import wrong

ALL = machine_scenarios()
Ask = Callable[..., dict[str, Any]]


@contextlib.contextmanager
def worker(layer: Path) -> Iterator[Ask]:
    """Something that tries a scenario by its number."""
    command = [sys.executable, str(ROOT / "tests/machine/inside.py"), spec(str(layer)).dump()]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/tests/support", "TMPDIR": "/tmp"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with background(command, env=environment, **pipes) as process:
        assert process.stdin and process.stdout
        questions, answers = process.stdin, process.stdout

        def ask(number: int, law: str = "") -> dict[str, Any]:
            questions.write(f"{number} {law}".rstrip() + "\n")
            questions.flush()
            answer = json.loads(answers.readline() or '{"error": "the worker died: see stderr"}')
            assert isinstance(answer, dict)
            return answer

        yield ask


@pytest.fixture(scope="module")
def attempt() -> Iterator[Ask]:
    """Tries a scenario by its number, in a copy of its layer."""
    workers: dict[str, Ask] = {}
    with contextlib.ExitStack() as stack:

        def ask(number: int, law: str = "") -> dict[str, Any]:
            name = ALL[number].layer
            if name not in workers:
                workers[name] = stack.enter_context(worker(layer_or_skip(name)))
            return workers[name](number, law)

        yield ask


OF_EACH = plainest(ALL)
TRIED = sampled(ALL)


@pytest.mark.parametrize("number", TRIED, ids=lambda number: f"{ALL[number].function}-{number}")
def test_laws_on_the_machine(number: int, attempt: Ask) -> None:
    scenario, answer = ALL[number], attempt(number)
    assert "error" not in answer, answer["error"]
    tried = (answer.get("somebody"), *answer["others"])
    assert not [(why, each) for each in tried if each for why in wrong(each)]
    assert all(answer.get("foreseen", ())), "what it needs is planned, to its end"
    assert answer.get("said") == answer.get("there"), "a look sees what is only planned"
    assert answer["untouched"], "a dry run changes nothing"
    if scenario.fails is not None:
        assert scenario.fails in (answer["fails"] or "")
        return
    assert answer["fails"] is None, answer["prepared"]
    assert answer["plans"] is scenario.plans, answer["prepared"]
    assert not answer["unvalidated"], "what writes a file asks `validate` first"
    assert not answer.get("ahead"), "what a dry run foresees has converged"
    if answer["sure"]:
        assert answer["keys"] == answer["made"], "the keys of a sure Plan are those of the real run"
    assert answer["again"] is not scenario.converges, (
        "a second run plans nothing, unless the function says so"
    )


# by their names: who adds a function does not change which others are tried
SOME = [number for number in OF_EACH if crc32(ALL[number].function.encode()) % 60 == 0]
UNDONE = OF_EACH if EVERYTHING else SOME


@pytest.mark.parametrize("number", UNDONE, ids=lambda number: f"{ALL[number].function}-{number}")
def test_undo_brings_back_what_was_there(number: int, attempt: Ask) -> None:
    function, answer = ALL[number].function, attempt(number, "undone")
    assert "error" not in answer, answer["error"]
    assert answer["result"]["result"] and answer["result"]["changes"], answer["result"]
    assert answer["foretold"], "the dry run of undo says what it does"
    if LAWS["undone"].holds(function):
        assert not answer["unsaid"] and not answer["left"]
    else:
        assert answer["unsaid"] or not answer["left"], "it says what it does not bring back"
