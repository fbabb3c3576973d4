# SPDX-License-Identifier: Apache-2.0
"""Each execution function, given what it does not take: nobody sees Python's words."""

from __future__ import annotations

import inspect
import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from command import Machine

from runner.api import running
from runner.engine.context import Current
from runner.model.errors import RunnerError
from runner.pipeline.calling import answered
from runner.pipeline.session import Session
from runner.sources.config import load

PYTHONS = re.compile(
    r"\b(?!Traceback)[A-Z]\w*(?:Error|Exception)\b|Traceback|object has no attribute|NoneType"
    r"|unhashable|not subscriptable|not iterable|invalid literal|unsupported operand"
    r"|expected string or bytes|must be str|out of range|codec can't"
)
VALUES: tuple[Any, ...] = ("x", 1, None, "a\0\udcff", ["a"], {"a": 1})
LEFT_OUT = ("test.sleep", "sysfs.interfaces")  # they wait, or read all of /sys


def refuse(*_: object, **__: object) -> NoReturn:
    raise FileNotFoundError(2, "No such file or directory", "nothing")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A dry run that starts no program, connects to nothing and waits for nothing."""
    config = tmp_path / "runner.yaml"
    config.write_text(json.dumps({"file_roots": {"base": []}, "cachedir": str(tmp_path / "c")}))
    session = Session(load.load(str(config), {}, {})[0]._replace(test=True))
    monkeypatch.chdir(tmp_path)
    with session.opened():
        _ = session.current().grains
        monkeypatch.setattr(subprocess, "Popen", refuse)
        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        yield session


def given(function: Any) -> Iterator[tuple[Any, ...]]:
    """Arguments by their places: for all, for those that it needs, for one of these."""
    places = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    needed = sum(parameter.default is parameter.empty for parameter in places)
    for value in VALUES:
        for count in {needed, len(places)}:
            yield (value,) * count
        for place in range(needed if needed > 1 else 0):
            yield tuple(value if place == each else "x" for each in range(needed))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["file.basename", "5"], "file.basename: path: expected text, got 5"),
        (["file.get_hash", "{tmp}/none"], "{tmp}/none: No such file or directory"),
        (["cmd.run", "x", "foo=1"], "arguments to cmd.run: got an unexpected keyword argument"),
        (["file.get_hash", '"a\0b"'], "contains a NUL character"),
        (["test.kwarg", "5"], "Passed invalid arguments to test.kwarg"),
        (["random.rand_int", "x", "y"], "random.rand_int: start: expected a whole number, got 'x'"),
    ],
)
def test_mistakes(machine: Machine, words: list[str], says: str) -> None:
    done = machine("call", *(word.format(tmp=machine.folder) for word in words), code=1)
    assert says.format(tmp=machine.folder) in done.stderr and "Error" not in done.stderr


def test_no_function_shows_words_of_python(session: Session) -> None:
    registry = session.registry
    names = [
        f"{module}.{fun}" for module in registry.modules() for fun in registry.functions(module)
    ]
    assert len(names) > 1000
    shown, direct = {}, Current(session.run, called_directly=True)
    for name in names:
        if name in LEFT_OUT or not registry.has_function(name):
            continue
        function = registry.function(name)
        called = getattr(function, "as_changer", function)
        for args in given(function):
            # twice: a process or a device of other tests may go while it is looked at
            message = said(direct, name, called, args) and said(direct, name, called, args)
            if message:
                shown[name] = (args, message)
    assert not shown


def said(direct: Current, name: str, called: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """What a function says in Python's words; empty where it does not."""
    try:
        with running(direct):
            answered(name, called, args, {})
    except RunnerError as error:
        return error.message if PYTHONS.search(error.message) else ""
    except Exception as error:
        return f"a bug: {error!r}"
    return ""
