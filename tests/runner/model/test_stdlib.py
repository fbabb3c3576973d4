# SPDX-License-Identifier: Apache-2.0
"""What stands in for parts of Python's library does what these do."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runner.model import stdlib

# ---------------------------------------------------------------- contextlib


class Odd(Exception):
    pass


def plain(made: list[str]) -> Iterator[str]:
    made.append("in")
    yield "given"
    made.append("out")


def cleaning(made: list[str]) -> Iterator[None]:
    try:
        yield
    finally:
        made.append("out")


def swallowing(made: list[str]) -> Iterator[None]:
    try:
        yield
    except (Odd, StopIteration) as error:
        made.append(f"caught {error!r}")


def changing(made: list[str]) -> Iterator[None]:
    try:
        yield
    except Odd:
        raise KeyError("another") from None


def failing_after(made: list[str]) -> Iterator[None]:
    yield
    raise KeyError("after")


def twice(made: list[str]) -> Iterator[None]:
    try:
        yield
    except Odd:
        made.append("again")
    yield


def never(made: list[str]) -> Iterator[None]:
    yield from ()


MANAGERS = [plain, cleaning, swallowing, changing, failing_after, twice, never]
RAISED = [None, Odd("x"), StopIteration("x"), RuntimeError("x"), KeyboardInterrupt()]


def around(library: Any, function: Callable[..., Any], error: BaseException | None) -> list[str]:
    """What happens in and after a block."""
    made: list[str] = []
    try:
        with library.contextmanager(function)(made) as given:
            made.append(f"given {given}")
            if error is not None:
                raise error
        made.append("went on")
    except BaseException as raised:
        made.append(f"{type(raised).__name__}{raised is error}")
    return made


@pytest.mark.parametrize("error", RAISED, ids=repr)
@pytest.mark.parametrize("function", MANAGERS)
def test_a_generator_surrounds_a_block(function: Any, error: BaseException | None) -> None:
    assert around(stdlib, function, error) == around(contextlib, function, error)


@pytest.mark.parametrize("error", RAISED, ids=repr)
def test_suppressed_is_what_was_named(error: BaseException | None) -> None:
    def ended(library: Any) -> bool:
        with library.suppress(Odd, RuntimeError), library.nullcontext(3) as three:
            assert three == 3
            if error is not None:
                raise error
        return True

    def outcome(library: Any) -> object:
        try:
            return ended(library)
        except BaseException as raised:
            return raised

    assert outcome(stdlib) == outcome(contextlib)


@pytest.mark.parametrize("error", RAISED, ids=repr)
@pytest.mark.parametrize("functions", [MANAGERS[:2], MANAGERS[1:3], MANAGERS[3:4], MANAGERS[2:5]])
def test_blocks_are_left_together(functions: list[Any], error: BaseException | None) -> None:
    def left(library: Any) -> list[str]:
        made: list[str] = []
        try:
            with library.ExitStack() as stack:
                for function in functions:
                    stack.callback(made.append, f"after {function.__name__}")
                    stack.enter_context(library.contextmanager(function)(made))
                if error is not None:
                    raise error
            made.append("went on")
        except BaseException as raised:
            made.append(repr(raised))
        return made

    assert left(stdlib) == left(contextlib)


# ---------------------------------------------------------------- functools


def test_a_wrapped_function_looks_like_the_one_it_calls() -> None:
    def dressed(library: Any) -> list[object]:
        def inner(name: str, mode: int = 1) -> str:
            """What it does."""
            return name * mode

        inner.__dict__["mark"] = 1
        outer = library.wraps(inner)(lambda *values: inner(*values))
        facts = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "mark")
        return [*(getattr(outer, each) for each in facts), inspect.signature(outer), outer("a", 2)]

    assert dressed(stdlib) == dressed(functools)


def test_what_is_kept_is_asked_once() -> None:
    asked = []

    class Thing:
        @stdlib.cached_property
        def part(self) -> int:
            """A part."""
            asked.append(self)
            return len(asked)

    one, other = Thing(), Thing()
    assert [one.part, one.part, other.part, one.part] == [1, 1, 2, 1]
    assert Thing.part.__doc__ == "A part."
    del one.__dict__["part"]
    assert one.part == 3

    @stdlib.cache
    def doubled(number: int) -> int:
        asked.append(number)
        return 2 * number

    assert [doubled(2), doubled(2), doubled(3)] == [4, 4, 6]
    assert asked[3:] == [2, 3]
    doubled.cache_clear()
    assert doubled(2) == 4 and asked[3:] == [2, 3, 2]


# ---------------------------------------------------------------- json

VALUES = [
    {"a": [1, -2.5, None, True, "é\n\ud800"], "b": {}, 3: (1, []), "": {"x": 10**30}},
    ["", "quoted \"'"],
    "text",
    7,
    float("inf"),
    None,
    [],
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_it_is_what_json_writes(value: object) -> None:
    assert stdlib.dumps(value) == json.dumps(value)


def test_what_json_refuses_is_refused() -> None:
    for write in (stdlib.dumps, json.dumps):
        with pytest.raises(TypeError, match="Object of type object is not JSON serializable"):
            write([object()])


# ---------------------------------------------------------------- threading

LOOK = """
import sys, _thread
from runner.model.stdlib import in_main_thread
{first}
lock = _thread.allocate_lock()
lock.acquire()
seen = []
def look():
    seen.append(in_main_thread())
    lock.release()
_thread.start_new_thread(look, ())
lock.acquire()
print(in_main_thread(), seen, "threading" in sys.modules)
"""


def test_one_thread_is_the_main_one() -> None:
    for first, known in (("", False), ("import threading", True)):
        argv = [sys.executable, "-S", "-c", LOOK.format(first=first)]
        environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
        done = subprocess.run(argv, capture_output=True, text=True, env=environment)
        assert (done.stdout, done.stderr) == (f"True [False] {known}\n", "")
