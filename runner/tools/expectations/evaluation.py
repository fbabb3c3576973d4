# SPDX-License-Identifier: Apache-2.0
"""Whether expectations hold: on this machine, or where a function runs programs (a sandbox)."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from runner.api import StateFailed, forget_looks
from runner.api.own_program import own_python
from runner.engine.rehearsal import image
from runner.model.errors import RunnerError
from runner.model.places import SEEN
from runner.pipeline import session as pipeline_session
from runner.sources.config import load as config_load
from runner.tools.expectations.looks import COMMAND_TIME, HTTP_TIME, Call, Look, Missing, look
from runner.tools.expectations.model import Expectation, Outcome
from runner.tools.expectations.words import KINDS

PATIENCE = 5.0  # seconds that what was just started may take until it answers
STARTING = ("port", "service", "http")  # kinds that are asked again until then
STEP = 0.1
MARGIN = 60.0  # seconds for a program that looks, beside the times of its expectations


class RunProgram(Protocol):
    """Runs a program somewhere."""

    def __call__(
        self, argv: Sequence[str], *, input: str | None = None, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]: ...


def evaluate(
    expectations: Sequence[Expectation],
    run: RunProgram | None = None,
    config: str | None = None,
    patience: float = PATIENCE,
    root: str = "",
) -> list[Outcome]:
    """Return what comes of expectations, in their order. Raises RunnerError where nothing can be
    looked at.

    run: runs a program where to look; None: look on this machine. config: the configuration that
    says how services and packages are looked at. patience: seconds to wait for ports, services and
    web servers that do not answer yet. root: the image, where it is not the machine itself.
    """
    seen = [config] if root and config else []
    config = f"{SEEN}{config}" if seen else config
    plain = [(item.kind, item.name, dict(item.asserted)) for item in expectations]
    question = json.dumps({"things": plain, "config": config, "patience": patience})
    answers = json.loads(
        answer(question) if run is None else _asked(run, question, expectations, root, seen)
    )
    return [
        Outcome(item.kind, item.name, word, expected, actual, ok, problem, item.place(word))
        for item, assertions in zip(expectations, answers, strict=True)
        for word, expected, actual, ok, problem in assertions
    ]


def _asked(
    run: RunProgram,
    question: str,
    expectations: Iterable[Expectation],
    root: str,
    visible: Sequence[str],
) -> str:
    """The answer of this very runner, run where the function runs programs."""
    code = (
        "from runner.tools.expectations.evaluation import answer;"
        " sys.stdout.write(answer(sys.stdin.read()))"
    )
    longest = {"command": COMMAND_TIME, "http": HTTP_TIME}
    times = sum(
        float(item.asserted.get("timeout", longest.get(item.kind, 0))) for item in expectations
    )
    try:
        argv = image.argv_in(root, f"import sys; {code}", visible) if root else own_python(code)
        done = run(argv, input=question, timeout=times + MARGIN)
    except subprocess.TimeoutExpired as expired:
        raise _unanswered(f"no answer after {expired.timeout:g} s") from None
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        raise _unanswered(last or f"exit status {done.returncode}")
    return done.stdout


def _unanswered(why: str) -> RunnerError:
    return RunnerError(f"the expectations could not be evaluated: {why}", code="expectation")


def answer(question: str) -> str:
    """The outcomes of what `evaluate` asks, as JSON: word, expected, actual, ok, problem."""
    asked = json.loads(question)
    deadline = time.monotonic() + asked["patience"]
    with _functions(asked["things"], asked["config"]) as call:
        answers = [
            [*_assertions(kind, name, asserted, call, deadline)]
            for kind, name, asserted in asked["things"]
        ]
    return json.dumps(answers)


@contextmanager
def _functions(things: Iterable[Sequence[Any]], config: str | None) -> Iterator[Call]:
    """The execution functions that looks take, where there is one that takes any."""
    if not any(kind in ("service", "package") for kind, _, _ in things):
        yield _none
        return
    options, _ = config_load.load(config, {}, os.environ)
    session = pipeline_session.Session(options)
    with session.opened():
        yield lambda name, *arguments: session.registry.function(name)(*arguments)


def _none(name: str, *arguments: Any) -> Any:
    raise AssertionError(name)


def _assertions(
    kind: str, name: str, asserted: dict[str, Any], call: Call, deadline: float
) -> Iterator[tuple[str, Any, Any, bool | None, str]]:
    """(word, expected, actual, ok, problem) of all that is asserted of a thing."""
    while True:
        looks, failed = _looked(lambda: look(kind, name, asserted, call))
        good = not failed and not any(item.problem for item in looks)
        if good or kind not in STARTING or time.monotonic() > deadline:
            break
        time.sleep(STEP)
        _forget()
    seen = {item.word: item for item in looks}
    unlooked = failed
    for word in (word for word in KINDS[kind].words if word in asserted):
        if word in seen:
            item = seen[word]
            yield word, asserted[word], item.actual, not item.problem, item.problem
        elif unlooked:  # the first that could not be looked at fails, the rest follows from it
            yield word, asserted[word], None, False, unlooked
            unlooked = ""
        else:
            yield word, asserted[word], None, None, "not checked"


def _looked(looks: Callable[[], Iterator[Look]]) -> tuple[list[Look], str | None]:
    """The looks as far as they came, and what stopped them; empty where the last look says it."""
    made: list[Look] = []
    try:
        for item in looks():
            made.append(item)
    except Missing as missing:
        return made, str(missing)
    except (StateFailed, RunnerError) as error:
        return made, str(error.message)
    except (OSError, http.client.HTTPException) as error:
        return made, getattr(error, "strerror", None) or str(error) or type(error).__name__
    return made, None


def _forget() -> None:
    """Look at the machine anew: what modules have read before holds no more."""
    with suppress(LookupError):  # no module was asked
        forget_looks(None)
