"""Slots: `__slot__:salt:module.function(args).key ~ text`, evaluated right before the state's look."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from runner.errors import RunnerError
from runner.model import Value

PREFIX = "__slot__:"
_FORM = re.compile(
    r"__slot__:salt:(?P<fun>[\w.]+)\((?P<args>.*)\)(?P<path>(?:\.[\w-]+)*)(?:\s*~\s*(?P<tail>.*))?$", re.S
)


def has_slot(value: Value) -> bool:
    """Whether a value holds a slot at any depth that Salt looks at."""
    if isinstance(value, str):
        return value.startswith(PREFIX)
    if isinstance(value, Mapping):
        return any(has_slot(item) for item in value.values())
    return isinstance(value, list) and any(has_slot(item) for item in value)


def fill(value: Value, call: Callable[..., Any]) -> Value:
    """The value with its slots replaced by what their functions return."""
    if isinstance(value, str) and value.startswith(PREFIX):
        return _evaluate(value, call)
    if isinstance(value, Mapping):
        return {key: fill(item, call) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, call) for item in value]
    return value


def _evaluate(text: str, call: Callable[..., Any]) -> Value:
    form = _FORM.match(text)
    if not form:
        raise RunnerError(f"malformed slot {text!r}", hint="write __slot__:salt:module.function(arguments)")
    positional, named = _arguments(form["args"], text)
    answer = call(form["fun"], *positional, **named)
    for key in form["path"].split(".")[1:]:
        answer = answer.get(key) if isinstance(answer, Mapping) else None
    return f"{answer}{form['tail']}" if form["tail"] is not None else answer


def _arguments(text: str, slot: str) -> tuple[list[Value], dict[str, Value]]:
    try:
        node = ast.parse(f"f({text})", mode="eval").body
        assert isinstance(node, ast.Call)
        return [_literal(argument) for argument in node.args], {
            str(keyword.arg): _literal(keyword.value) for keyword in node.keywords
        }
    except (SyntaxError, ValueError) as error:
        raise RunnerError(f"the arguments of the slot {slot!r} are not literals: {error}") from None


def _literal(node: ast.expr) -> Value:
    """Literals; a bare word is a string, as Salt's command line reads it."""
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)
