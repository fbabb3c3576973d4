# SPDX-License-Identifier: Apache-2.0
"""The filter, test or execution function of a line that could not work, and what it was given."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import jinja2

from runner.language.filters import WHERE
from runner.language.render.jinja.environment import PlacedEnvironment
from runner.model.diagnostics import similar
from runner.model.errors import RenderError, RunnerError
from runner.model.places import Source
from runner.model.records import Record
from runner.support.yaml.rendered_text import brief

_SALT_CALL = re.compile(r"""salt(?:__)?(?:\[\s*['"]([\w.]+)['"]\s*\]|\.(\w+\.\w+))\s*\(""")
_OF_JINJA = ("environment", "env", "eval_ctx", "context")
_COUNTED = re.compile(r"(\w+)\(\) (missing|got an unexpected|takes|got multiple|argument)")
_SHORT = 60
_SECRET = re.compile(r"(?i)(passw(or)?d|passphrase|secret|token|api_?key|secret_?key)$")


class Callee(Record):
    """The callee of a line: a filter, a test or an execution function."""

    kind: str  # "filter", "test" or "function"
    name: str
    function: Callable[..., Any] | None
    frame: FrameType | None  # where it came to; None if it was never entered

    def __str__(self) -> str:
        return self.name if self.kind == "function" else f"the {self.kind} {self.name}"

    def signature_text(self) -> str:
        """Its signature, as a person reads it."""
        shown = ", ".join(str(parameter).partition(":")[0] for parameter in self._parameters())
        return f"{self.name}({shown})" if shown or self.function else ""

    def arguments_text(self) -> str:
        """The arguments of the call, as far as a person can read them."""
        if self.frame is None:
            return ""
        code, values = self.frame.f_code, self.frame.f_locals
        count, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
        names = [
            name for name in code.co_varnames[:named] if name in values and name not in _OF_JINJA
        ]
        plain = {parameter.name: parameter.default for parameter in self._parameters()}
        shown = [
            _argument_text(name, values[name])
            for name in names[:1]
            if name in code.co_varnames[:count]
        ]
        rest = names[len(shown) :]
        if code.co_flags & inspect.CO_VARARGS:
            shown += map(_short, values.get(code.co_varnames[named], ()))
        if self.kind != "function":  # Jinja's own fill in what is None
            rest = [name for name in rest if plain.get(name, ...) is not None]
        if code.co_flags & inspect.CO_VARKEYWORDS:
            more = values.get(
                code.co_varnames[named + bool(code.co_flags & inspect.CO_VARARGS)], {}
            )
            values = {**values, **more}
            rest += more
        shown += [
            f"{name}={_argument_text(name, values[name])}"
            for name in rest
            if not _is_same(values[name], plain.get(name, ...))
        ]
        if self.kind == "function":
            return f"{self.name}({', '.join(shown)})"
        first = (
            f"{shown[0]} {'|' if self.kind == 'filter' else 'is'} {self.name}"
            if shown
            else self.name
        )
        return first + (f"({', '.join(shown[1:])})" if shown[1:] else "")

    def wrong_argument(self, text: str) -> str | None:
        """The argument that was probably meant."""
        wrong = re.search(r"keyword argument '(\w+)'", text)
        names = [parameter.name for parameter in self._parameters()]
        return next(iter(similar(wrong[1], names, 1, 0.5)), None) if wrong else None

    def _parameters(self) -> list[inspect.Parameter]:
        try:
            parameters = (
                inspect.signature(self.function).parameters.values() if self.function else ()
            )
        except (TypeError, ValueError):
            return []
        return [parameter for parameter in parameters if parameter.name not in _OF_JINJA]


def callee_of(
    error: Exception, row: str, variables: Mapping[str, Any], environment: PlacedEnvironment
) -> Callee | None:
    """The callee of a line when it failed; None if the expression itself has no value."""
    frame = _entered(error)
    name = frame.f_code.co_name if frame else ""
    if frame is None:
        counted = _COUNTED.match(str(error))
        if counted is None:
            return None
        name = counted[1]
    module = str(frame.f_globals.get("__name__", "")) if frame else ""
    if not module or module.startswith(("runner.language.filters", "jinja2.")):
        call = _of_jinja(name, frame, row, environment)
        if call or module:
            return call
    call = _function(name, frame, row, variables)
    value = environment.globals.get(name) if call is None and frame is None else None
    return Callee("function", name, value, None) if callable(value) else call


def _of_jinja(
    name: str, frame: FrameType | None, row: str, environment: PlacedEnvironment
) -> Callee | None:
    """The filter or test of a line, by the name that it has there; a text that is in no file has no
    lines.
    """
    known = [filter_name for filter_name, (_, real) in WHERE.items() if real == name]
    for kind, more in (("filter", known), ("test", [])):
        table: Mapping[str, Any] = environment.filters if kind == "filter" else environment.tests
        words = re.findall(r"\w+", row) or ([name, *table] if frame else [])
        for word in dict.fromkeys([*words, *more]):
            if word in table and _is_code_of(table.get(word), name, frame):
                return Callee(kind, word, table.get(word), frame)
    return None


def _entered(error: Exception) -> FrameType | None:
    """The frame of what the innermost template called."""
    trace, inside = error.__traceback__, None
    while trace is not None:
        space = trace.tb_frame.f_globals
        module = str(space.get("__name__", ""))
        if isinstance(space.get("__jinja_template__"), jinja2.Template):
            inside = None
        elif inside is None and not _between(module):
            inside = trace.tb_frame
        trace = trace.tb_next
    return inside


def _between(module: str) -> bool:
    """Return whether code only hands calls on."""
    if module.startswith("jinja2."):
        return module not in ("jinja2.filters", "jinja2.tests")
    return module.startswith("runner.language.render.")


def _is_code_of(function: Any, name: str, frame: FrameType | None) -> bool:
    """Return whether a frame belongs to this function; without one, whether it has this name."""
    inner = inspect.unwrap(function) if callable(function) else None
    if frame is None:
        return getattr(inner, "__name__", "") == name
    return (
        getattr(function, "__code__", ...) is frame.f_code
        or getattr(inner, "__code__", ...) is frame.f_code
    )


def _function(
    name: str, frame: FrameType | None, row: str, variables: Mapping[str, Any]
) -> Callee | None:
    """The execution function of a line: the only one, or that of this name."""
    typed = {typed_name: _look_up(variables, typed_name) for typed_name in functions_of(row)}
    names = (name, name.rstrip("_"), name.removeprefix("salt_"))
    alike = [
        typed_name
        for typed_name, got in typed.items()
        if typed_name.partition(".")[2] in names or _is_code_of(got, name, frame)
    ]
    chosen = alike or (list(typed) if frame is not None else [])
    package, _, rest = (
        str(frame.f_globals.get("__name__", "")).partition(".") if frame else ("", "", "")
    )
    if not row and package == "modules":
        return Callee("function", f"{rest.partition('.')[0]}.{names[2]}", None, frame)
    return Callee("function", chosen[0], typed[chosen[0]], frame) if len(chosen) == 1 else None


def _look_up(variables: Mapping[str, Any], name: str) -> Callable[..., Any] | None:
    try:
        function: Callable[..., Any] = variables["salt"][name]
    except (KeyError, TypeError, RunnerError):
        return None
    return function


def functions_of(row: str) -> list[str]:
    """The execution functions that a line calls."""
    return list(dict.fromkeys(one or other for one, other in _SALT_CALL.findall(row)))


def _argument_text(name: str, value: Any) -> str:
    """The value of an argument, unless its name says that it is a secret."""
    return "**********" if value and _SECRET.search(name) else _short(value)


def _short(value: Any) -> str:
    if value is None:
        return "none"
    try:
        text = brief(value)
    except jinja2.UndefinedError:
        return "undefined"
    # whole or not at all: a part of a secret would not be found and hidden
    return text if len(text) <= _SHORT else f"<{type(value).__name__} of {len(text)} characters>"


def _is_same(value: Any, other: Any) -> bool:
    try:
        return value is other or bool(value == other)
    except Exception:
        return False


def change_refused(name: str, source: Source) -> RenderError:
    """The error for a call, in a template or program of the tree, that would change the machine."""
    what = name or "this function"
    return RenderError(
        f"{what} changes the machine, and a file that is being rendered only looks",
        source,
        f"declare a state for it; `module.run:` with `- {name or 'MODULE.FUNCTION'}: [...]` calls"
        " it in its turn",
        "changes",
    )
