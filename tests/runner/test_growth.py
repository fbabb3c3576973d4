"""The cost of a run grows in proportion to the work: counted in lines carried out, not in time."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner import pipeline
from runner.config import load as config
from runner.model.errors import CompileError


def states(count: int, *requisites: str, first: int = 0) -> str:
    return "".join(
        f"s{n}:\n  test.nop:\n    - order: {n}\n"
        + "".join(each.format(n=n, next=n + 1) for each in requisites)
        for n in range(first, count)
    )


def listed(name: str, count: int) -> str:
    return f"c:\n  test.succeed_with_changes:\n    - {name}:\n" + "".join(
        f"      - test: s{n}\n" for n in range(count)
    )


LOADS: dict[str, Callable[[int], str]] = {
    "require": lambda n: states(n, "    - require: [{{test: s{next}}}]\n") + f"s{n}: test.nop\n",
    "require_in": lambda n: (
        states(n, "    - require_in: [{{test: s{next}}}]\n") + f"s{n}: test.nop\n"
    ),
    "one list of require": lambda n: listed("require", n) + states(n),
    "one list of require_in": lambda n: listed("require_in", n) + states(n),
    "one list of listen_in": lambda n: listed("listen_in", n) + states(n),
    "listen": lambda n: (
        "c: test.succeed_with_changes\n" + states(n, "    - listen: [{{test: c}}]\n")
    ),
    "watch": lambda n: "c: test.succeed_with_changes\n" + states(n, "    - watch: [{{test: c}}]\n"),
    "prereq": lambda n: "c: test.nop\n" + states(n, "    - prereq: [{{test: c}}]\n"),
    "globs": lambda n: (
        states(n, "    - require: [{{test: 'g{n}*'}}]\n")
        + "".join(f"g{k}_x: test.nop\n" for k in range(n))
    ),
    "a chain": lambda n: (
        states(n) + "chain:\n  - '" + " -> ".join(f"test: s{k}" for k in range(n)) + "'\n"
    ),
    "chains": lambda n: (
        states(n)
        + "chain:\n"
        + "".join(f"  - 'test: s{k} -> test: s{k + 1}'\n" for k in range(n - 1))
    ),
    "extend": lambda n: (
        "extend:\n" + "".join(f"  s{k}: {{test: [x: 1]}}\n" for k in range(n)) + states(n)
    ),
    "names": lambda n: (
        "c:\n  test.nop:\n    - names: [" + ", ".join(f"n{k}" for k in range(n)) + "]\n"
    ),
    "a loop": lambda n: f"{{% for k in range({n}) %}}\ns{{{{ k }}}}: test.nop\n{{% endfor %}}\n",
    "unknown arguments": lambda n: states(n, "    - nmae: x\n"),
}


def counted(load: str, folder: Path) -> int:
    """The lines of the engine, states and modules that a run of a load carries out."""
    folder.mkdir()
    (folder / "a.sls").write_text(load)
    (folder / "runner.yaml").write_text(
        json.dumps({"file_roots": {"base": [str(folder)]}, "id": "m"})
    )
    options, _ = config.load(
        str(folder / "runner.yaml"), {"cachedir": str(folder / "cache"), "quiet": True}, {}
    )
    ours = tuple(
        os.path.dirname(os.path.abspath(pipeline.__file__)).replace("runner", name)
        for name in ("runner", "states")
    )
    lines = 0

    def line(frame: Any, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return line

    def call(frame: Any, event: str, argument: object) -> Any:
        return line if frame.f_code.co_filename.startswith(ours) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        pipeline.sls(options, ["a"])
    except CompileError as error:
        raise AssertionError(error) from None
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("name", LOADS)
def test_the_cost_is_in_proportion(name: str, tmp_path: Path) -> None:
    few, some, many = (
        counted(LOADS[name](count), tmp_path / str(count)) for count in (60, 90, 180)
    )
    assert many - some < 3.5 * (some - few), f"60: {few}, 90: {some}, 180: {many} lines"
