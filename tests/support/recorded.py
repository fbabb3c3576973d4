# SPDX-License-Identifier: Apache-2.0
"""Execution functions, called with hostile arguments while nothing may be started or written.

What they would start (arguments and input) and would write is printed, a line of JSON each. A
process of its own: an audit hook that forbids cannot be taken away.

    python tests/support/recorded.py
"""

from __future__ import annotations

import importlib
import inspect
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from harness import EFFECTS, HarnessHere

import modules.file
from modules import cmd
from modules._machine import processes
from runner.api import StateFailed, changes_allowed, running
from runner.engine.loader.builtin import library
from runner.engine.loader.registry import Registry

HOSTILE = ("-oHOSTILE", "x\nHOSTILE")
SECONDS = 2  # for a call: some functions wait for what will not come
# what other arguments are, so that a call gets as far as it can
SAMPLES: dict[str, Any] = {
    "user": "root",
    "runas": "root",
    "username": "root",
    "group": "root",
    "cwd": "/",
    "path": "/etc/hostname",
    "file_name": "/etc/hostname",
    "config": "/etc/hostname",
    "dst": "/nowhere/x",
    "home": "/root",
    "shell": "/bin/sh",
    "family": "ipv4",
    "table": "filter",
    "chain": "INPUT",
    "acl_type": "user",
    "perms": "r",
    "clock": "UTC",
    "members_list": "root",
    "sections": {"a": {"b": "c"}},
    "name": "root",
    "mode": "0644",
    "ip": "192.0.2.1",
    "timezone": "UTC",
    "way": "up",
    "kind": "mod",
    "program": "a2enmod",
    "url": "/etc/hostname",
    "alias": "root",
}
LEFT_OUT = {  # what never comes back, or asks other machines
    "cmd",
    "state",
    "test",
    "module",
    "http",
    "saltutil",
    "publish",
    "mine",
    "jinja",
    "slsutil",
    "data",
    "log",
}


class Forbidden(Exception):
    """A call that would change something."""


def main() -> None:
    records: list[dict[str, Any]] = []
    current = HarnessHere()
    silence(records)
    for name, function in functions():
        for parameter in texts(function):
            for value in HOSTILE:
                records.clear()
                error = called(current, function, parameter, value)
                found = {
                    "function": name,
                    "argument": parameter,
                    "value": value,
                    "error": error,
                    "did": records,
                }
                print(json.dumps(found))


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The execution functions that take texts."""
    registry = Registry({})
    for module in sorted(library("modules")):
        if module not in LEFT_OUT:
            vars(importlib.import_module(library("modules")[module])).pop("NEEDS_PROGRAM", None)
            for name in registry.functions(module):
                yield f"{module}.{name}", registry.function(f"{module}.{name}")


def texts(function: Callable[..., Any]) -> list[str]:
    found = inspect.signature(function).parameters.values()
    return [
        each.name
        for each in found
        if "str" in str(each.annotation) or each.annotation in ("Any", "object")
    ]


def called(current: HarnessHere, function: Callable[..., Any], parameter: str, value: str) -> str:
    """Call a function; the name of an exception that is not a message for a user."""
    arguments: dict[str, Any] = {}
    rest: list[Any] = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.VAR_POSITIONAL and each.name == parameter:
            rest = [value]
        elif each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        elif each.name == parameter:
            arguments[each.name] = (
                [value] if str(each.annotation).startswith(("list", "Sequence[")) else value
            )
        elif each.default is each.empty or each.name in ("user", "cwd"):
            arguments[each.name] = sample(each)
    signal.alarm(SECONDS)
    try:
        with (
            running(current),
            changes_allowed(),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
        ):
            if rest:
                function(*arguments.values(), *rest)
            else:
                function(**arguments)
    except (StateFailed, Forbidden):
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    finally:
        signal.alarm(0)
    return ""


def sample(parameter: inspect.Parameter) -> Any:
    kind = str(parameter.annotation)
    if parameter.name in SAMPLES:
        return SAMPLES[parameter.name]
    return (
        1
        if kind.startswith(("int", "float"))
        else ["x"]
        if kind.startswith(("list", "Sequence[", "Iterable"))
        else "x"
    )


def silence(records: list[dict[str, Any]]) -> None:
    """Have everything that would be started or written recorded instead."""

    def run_to_end(argv: list[str], *, stdin: str | None = None, **_: Any) -> processes.Completed:
        records.append({"argv": [str(word)[:100] for word in argv], "stdin": (stdin or "")[:1000]})
        return processes.Completed(0, "", "")

    def write(path: str, data: Any, **_: Any) -> None:
        records.append(
            {
                "writes": path,
                "data": data.decode("utf-8", "replace")[:5000] if isinstance(data, bytes) else "",
            }
        )

    def forbid(event: str, arguments: tuple[Any, ...]) -> None:
        writes = (
            event == "open"
            and isinstance(arguments[2], int)
            and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        )
        if event == "open" and str(arguments[0]).startswith("/tmp/harness-"):
            return
        if event in FORBIDDEN or (writes and arguments[0] != "/dev/null"):
            raise Forbidden(event)

    def late(*_: Any) -> None:
        raise Forbidden("it takes too long")

    signal.signal(signal.SIGALRM, late)
    processes.run_to_end = run_to_end
    for name in modules.file.__load__:
        value = getattr(modules.file, name)
        if getattr(value, "changes_the_machine", False) or name == "write":
            setattr(modules.file, name, write if name == "write" else lambda *a, **k: None)
    cmd.which = lambda name, *a: f"/usr/bin/{name}"
    cmd.has_exec = lambda name, *a: True
    for module in list(sys.modules.values()):
        if getattr(module, "needs", None) is processes.needs:
            module.needs = lambda *a: None
    processes.needs = lambda *a: None
    sys.addaudithook(forbid)


FORBIDDEN = EFFECTS | set("os.fork shutil.rmtree shutil.move socket.getaddrinfo".split())

if __name__ == "__main__":
    main()
