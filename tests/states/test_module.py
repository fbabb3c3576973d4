# SPDX-License-Identifier: Apache-2.0
"""module.run: how arguments reach functions, and what their answers mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import Machine

PROBE = """
def named(name, names=("x", "y")): return {"name": name, "names": list(names)}
def answer(what=None): return what
def two(first, second, **kwargs): return [first, second, sorted(kwargs)]
def many(*names): return list(names)
def only(first, *, word): return first
def fun(fun, saltenv="base"): return [fun, saltenv]
def boom(): raise ValueError("kaboom")
def more(first, *args, **kwargs): return [first, args, kwargs]
"""
NEW: dict[str, tuple[Any, bool, str, Any]] = {
    "a text": ({"probe.answer": ["a"]}, True, "probe.answer: a", {"probe.answer": "a"}),
    "nothing": ({"probe.answer": None}, True, "probe.answer: None", {"probe.answer": None}),
    "no": ({"probe.answer": [False]}, False, "'probe.answer': False", {}),
    "zero is not a failure": ({"probe.answer": [0]}, True, "probe.answer: 0", {"probe.answer": 0}),
    "one function twice": (
        {"probe.answer:1": ["a"], "probe.answer:2": ["b"], "probe.answer:3": [False]},
        False,
        "'probe.answer:3': False, probe.answer:1: a, probe.answer:2: b",
        {"probe.answer:1": "a", "probe.answer:2": "b"},
    ),
    "a mapping": (
        {"probe.answer": [{"what": {"a": 1}}]},
        True,
        "probe.answer: Success",
        {"probe.answer": {"a": 1}},
    ),
    "its comment": (
        {"probe.answer": [{"what": {"result": True, "comment": "hi"}}]},
        True,
        "probe.answer: hi",
        {"probe.answer": {"result": True, "comment": "hi"}},
    ),
    "a result": (
        {"probe.answer": [{"what": {"result": False}}]},
        False,
        "'probe.answer' failed: (error message N/A)",
        {},
    ),
    "a retcode": (
        {"probe.answer": [{"what": {"retcode": 3, "comment": "broken"}}]},
        False,
        "'probe.answer' failed: broken",
        {},
    ),
    "one deep inside": (
        {"probe.answer": [{"what": {"changes": {"ret": {"web": {"result": False}}}}}]},
        False,
        "'probe.answer' failed: (error message N/A)",
        {},
    ),
    "missing": ({"probe.two": ["a"]}, False, "'probe.two' failed: Missing arguments: second", {}),
    "missing word": (
        {"probe.only": ["a"]},
        False,
        "'probe.only' failed: only() missing 1 required keyword-only argument: 'word'",
        {},
    ),
    "unexpected": (
        {"probe.many": [{"a": 1}]},
        False,
        "'probe.many' failed: many() got an unexpected keyword argument 'a'",
        {},
    ),
    "both ways": (
        {"probe.two": [1, {"second": 2}, {"third": 3}]},
        True,
        "probe.two: [1, 2, ['third']]",
        {"probe.two": [1, 2, ["third"]]},
    ),
    "several": (
        {"probe.answer": [False], "probe.many": [1], "probe.two": []},
        False,
        (
            "'probe.answer': False, 'probe.two' failed: Missing arguments: first, second,"
            " probe.many: [1]"
        ),
        {"probe.many": [1]},
    ),
    "one breaks": (
        {"probe.answer": [1], "probe.boom": [], "probe.many": []},
        False,
        "probe.answer: 1, 'probe.boom' failed: kaboom",
        {"probe.answer": 1},
    ),
    "unknown": ({"probe.nope": []}, False, "Unavailable function: probe.nope.", {}),
}
DONE = "Module function probe.{} executed"
OLD: dict[str, tuple[str, Any, bool, str, Any]] = {
    "m_name": (
        "named",
        {"m_name": "a", "m_names": ["b"]},
        True,
        DONE,
        {"ret": {"name": "a", "names": ["b"]}},
    ),
    "m_fun": ("fun", {"m_fun": "f", "m_saltenv": "dev"}, True, DONE, {"ret": ["f", "dev"]}),
    "places": ("many", {"m_names": ["a", "b"]}, True, DONE, {"ret": ["a", "b"]}),
    "no list": ("many", {"m_names": "a"}, False, "'names' must be a list.", {}),
    "rest": (
        "more",
        {"first": 1, "args": [2], "kwargs": {"a": 3}},
        True,
        DONE,
        {"ret": [1, [2], {"a": 3}]},
    ),
    "absent": (
        "two",
        {"kwargs": {}},
        False,
        "The following arguments are missing: first second",
        {},
    ),
    "false": ("answer", {"what": False}, False, DONE, {"ret": False}),
    "code": ("answer", {"what": {"retcode": 1}}, False, DONE, {"ret": {"retcode": 1}}),
    "raises": (
        "boom",
        {},
        False,
        "Module function probe.{} threw an exception. Exception: kaboom",
        {},
    ),
    "nowhere": ("nope", {}, False, "Module function probe.{} is not available", {}),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    machine = Machine(tmp_path_factory.mktemp("module"))
    modules: Path = machine.folder / "states" / "_modules"
    modules.mkdir()
    (modules / "probe.py").write_text(PROBE)
    states: dict[str, Any] = {
        key: {"module.run": [{f: a} for f, a in case[0].items()]} for key, case in NEW.items()
    }
    for key, (function, given, *_) in OLD.items():
        words = [{"name": f"probe.{function}"}, *({k: v} for k, v in given.items())]
        states[key] = {"module.run": words}
    states["ignored"] = {"module.run": [{"name": "probe.many"}, {"nonsense": 1}]}
    import json

    machine.write(a=json.dumps(states))
    return machine.results("sls", "a", code=2)


@pytest.mark.parametrize("key", NEW)
def test_functions_with_their_arguments_as_a_list(results: dict[str, Any], key: str) -> None:
    _, result, comment, changes = NEW[key]
    assert (results[key]["result"], results[key]["comment"], results[key]["changes"]) == (
        result,
        comment,
        changes,
    )
    assert results[key]["name"] == key


@pytest.mark.parametrize("key", OLD)
def test_one_function_with_its_arguments_beside_it(results: dict[str, Any], key: str) -> None:
    function, _, result, comment, changes = OLD[key]
    assert results[key]["result"] is result
    assert results[key]["comment"] == comment.format(function)
    assert results[key]["changes"] == changes


def test_an_argument_that_the_function_does_not_have_is_told(results: dict[str, Any]) -> None:
    assert results["ignored"]["result"] is True
    assert results["ignored"]["warnings"] == ["probe.many has no nonsense: not given to it"]
