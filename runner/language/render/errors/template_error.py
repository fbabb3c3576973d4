# SPDX-License-Identifier: Apache-2.0
"""Errors of the rendering of a template, with the places where they were typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import FrameType
from typing import Any

import jinja2

from runner.api import ChangeNotAllowed, StateFailed
from runner.language.filters import WHERE
from runner.language.render.errors import syntax
from runner.language.render.errors.call_info import Callee, callee_of, change_refused
from runner.language.render.errors.source_lines import (
    call_column,
    frames,
    locals_of,
    row_of,
    tag_column,
    values_of,
    without,
)
from runner.language.render.errors.undefined import undefined
from runner.language.render.jinja.environment import PlacedEnvironment, TreeLoader
from runner.language.render.jinja.environments import RaisedByTemplate
from runner.model.diagnostics import suggestion
from runner.model.errors import RenderError, RunnerError
from runner.model.places import Source
from runner.support.files.text import rows_to_show, text_to_show


def explain(error: Exception, file: str, environment: PlacedEnvironment) -> RenderError:
    """The error of a template for its author: innermost place first, then the calls and imports
    that led there.
    """
    passed = list(frames(error.__traceback__))
    places = list(dict.fromkeys(place for place, _ in reversed(passed)))
    if isinstance(error, jinja2.TemplateSyntaxError):
        return _syntax(error, file, environment, places)
    if isinstance(error, SyntaxError):
        return _misplaced(error, file)
    source = places[0]._replace(via=tuple(places[1:])) if places else Source(file)
    if isinstance(error, RunnerError):
        own = error.source
        if own is not None and own.line and not own.file.startswith("<"):
            source = own._replace(via=(*own.via, *without(places, own.file, own.line)))
        else:
            source = source._replace(column=call_column(source, error.message))
        at_its_place = RenderError(error.message, source, error.hint, error.code)
        at_its_place.missing = error.missing
        return at_its_place
    row = row_of(source)
    if passed:
        source = source._replace(values=values_of(passed[-1][1], row))
    explanation = _explain(error, row, source, passed[-1][1] if passed else None, environment)
    if explanation.source and not explanation.source.column:
        explanation.source = explanation.source._replace(
            column=tag_column(row_of(explanation.source))
        )
    return explanation


def _explain(
    error: Exception,
    row: str,
    source: Source,
    frame: FrameType | None,
    environment: PlacedEnvironment,
) -> RenderError:
    missing = error if isinstance(error, jinja2.UndefinedError) else _given_to_filter(error)
    if missing is not None:
        return undefined(missing, row, source, frame, environment)
    if isinstance(error, jinja2.TemplatesNotFound):
        if not error.templates:
            message = "a template is named by a text, not by none or an empty list"
            return RenderError(message, source, "write its path below the roots in quotes")
        names = ", ".join(map(str, error.templates))
        hint = _template_hint(error.templates[0], environment)
        return RenderError(f"none of these templates exists: {names}", source, hint)
    if isinstance(error, jinja2.TemplateNotFound):
        hint = _template_hint(error.name, environment)
        return RenderError(f"the template {error.name} does not exist", source, hint)
    if isinstance(error, RaisedByTemplate):
        return RenderError(
            str(error).strip("\n"),
            source,
            "the template itself raises this, with `raise(...)`",
            "raised",
        )
    unknown = re.search(r"No test named '([^']*)'", str(error))
    if unknown:
        explanation = syntax.explain(
            str(error), source.line, text_to_show(source.file), (), environment.tests
        )
        source = source._replace(column=explanation.column)
        return RenderError(
            f"Jinja: no test is named '{unknown[1]}'", source, explanation.hint, "jinja"
        )
    if not source.line and "expected str instance" in str(error):
        return _not_text(source)
    call = callee_of(error, row, locals_of(frame), environment)
    if isinstance(error, ChangeNotAllowed):
        return change_refused(str(call or ""), source)
    if isinstance(error, StateFailed):  # refused by a function, in its own words
        return _state_failed(str(error), source, call)
    raised = _raised_in(error)
    text = str(error) if call is None else re.sub(r"^\w+(?=\(\) )", call.name, str(error))
    hint = f"raised in {raised}" if raised else _hint(error, text, call, locals_of(frame))
    reason = f"{call or 'Jinja error'}: {type(error).__name__}: {text}"
    if call and call.frame is None:  # never entered
        reason = f"{call} {text.partition('() ')[2]}"
    return RenderError(reason, source, hint)


def _state_failed(text: str, source: Source, call: Callee | None) -> RenderError:
    message = f"{call}: {text}" if call and call.name not in text else text
    arguments = call.arguments_text() if call else ""
    hint = f"it was given: {arguments}" if arguments else None
    if "Unable to run command" in text:
        hint = "is it installed? `|`, `>` and `$` need a shell: salt['cmd.shell'](...)"
    return RenderError(message, source, hint)


def _not_text(source: Source) -> RenderError:
    """The error for a `{% filter %}` whose value is no text: raised when output is joined, without
    a place.
    """
    for line, row in enumerate(rows_to_show(source.file), 1):
        if re.search(r"\{%[-+]?\s*filter\b", row):
            source = source._replace(line=line)
            break
    return RenderError(
        "a {% filter %} has to make text",
        source,
        "end it with text: `{% filter unique | join %}`",
        "jinja",
    )


# ---------------------------------------------------------------- syntax


def _syntax(
    error: jinja2.TemplateSyntaxError,
    file: str,
    environment: PlacedEnvironment,
    places: list[Source],
) -> RenderError:
    name = error.filename or (environment.file_of(error.name) if error.name else file) or file
    reason = error.message or ""
    text = error.source if isinstance(error.source, str) else text_to_show(name)
    filters = [*environment.filters, *WHERE]
    explanation = syntax.explain(reason, error.lineno, text, filters, environment.tests)
    source = Source(
        name, explanation.line, explanation.column, via=without(places, name, error.lineno)
    )
    message = f"{explanation.message} ({reason})" if explanation.message else reason
    return RenderError(f"Jinja syntax error: {message}", source, explanation.hint, "jinja")


def _misplaced(error: SyntaxError, file: str) -> RenderError:
    """`break` and `continue` outside of a loop, and an argument twice, are found by Python only."""
    name = error.filename if error.filename and "/" in error.filename else file
    twice = re.search(r"duplicate argument 'l_\d+_(\w+)'", str(error.msg))
    if twice:
        pattern = rf"\{{%[-+]?\s*(macro|call)\b[^%]*\b{twice[1]}\b[^%]*\b{twice[1]}\b"
        lines = [
            number for number, row in enumerate(rows_to_show(name), 1) if re.search(pattern, row)
        ]
        message = f"Jinja syntax error: the argument {twice[1]!r} appears twice in a macro"
        return RenderError(message, Source(name, lines[0] if lines else 0), "remove one", "jinja")
    word = "continue" if "continue" in str(error) else "break"
    rows = rows_to_show(name)
    lines = [
        number for number, row in enumerate(rows, 1) if re.search(rf"\{{%[-+]?\s*{word}\b", row)
    ]
    line = lines[0] if lines else 0
    column = tag_column(rows[line - 1]) if line else 0
    hint = "it ends a `{% for %}`: put it inside of one, or use `{% if %}`"
    return RenderError(
        f"Jinja syntax error: {error.msg}", Source(name, line, column), hint, "jinja"
    )


def _template_hint(name: object, environment: PlacedEnvironment) -> str | None:
    assert isinstance(environment.loader, TreeLoader)
    return environment.loader.missing_hint(str(name))


# ---------------------------------------------------------------- other exceptions


def _hint(
    error: Exception, text: str, call: Callee | None, variables: Mapping[str, Any]
) -> str | None:
    macro = re.match(r"macro '(\w+)' takes", text)
    arguments = getattr(variables.get(macro[1]), "arguments", None) if macro else None
    if macro and arguments is not None:
        return f"it takes: {macro[1]}({', '.join(arguments)})"
    if call and call.frame is None:
        near = call.wrong_argument(text)
        asked = f"{suggestion(near)} " if near else ""
        return f"{asked}it takes: {call.signature_text() or call.name + '(...)'}"
    known = next(
        (hint for pattern, hint in _HINTS if re.search(pattern, f"{type(error).__name__}: {text}")),
        "",
    )
    values = call.arguments_text() if call else ""
    if values:
        return f"{known}; it was given: {values}" if known else f"it was given: {values}"
    return known or "look at the values of this line: one is not what the expression takes"


_HINTS = (
    (
        r"SecurityError: access to attribute '_",
        "what begins with an underscore is not for templates, as with Salt",
    ),
    (r"(concatenate|unsupported).*NoneType", "one of the two is None: `| default('', true)`"),
    (r"concatenate|unsupported operand", "`~` joins text (`a ~ b`), `| int` makes a number of it"),
    (r"ZeroDivisionError", "the value on the right is zero: ask for it with `{% if %}` first"),
    (r"not iterable", "a loop and `in` need a list: `| default([])`, or [ ] around the one value"),
    (
        r"not callable",
        "the value before the ( ) is not a function: remove them, or look at its name",
    ),
    (
        r"macro '?\w*'? takes",
        "look at its `{% macro NAME(...) %}`: call it with the arguments that are declared there",
    ),
    (r"not subscriptable", "it has no parts: `| default({})`, or look at the value before the [ ]"),
    (r"'NoneType'", "the value is none: give it one, or use `| default(..., true)`"),
    (
        r"not JSON serializable",
        "JSON has numbers, texts, lists and mappings: `| string` makes a text of one of the values",
    ),
    (r"JSON", "the text is not JSON"),
    (
        r"values to unpack|cannot unpack",
        "loop over `.items()` of a mapping; each item has to have as many parts as there are names",
    ),
    (
        r"non-namespace object",
        "`set a.b` is for a namespace(); for a mapping write `{% do a.update({'b': ...}) %}`",
    ),
    (
        r"RecursionError",
        "templates or macros call each other in a circle: remove one of the calls or imports",
    ),
)


def _raised_in(error: Exception) -> str:
    """The line of a module of the tree that raised an error."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if re.search(r"/_(modules|utils|grains|states)/", file):
            place = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _given_to_filter(error: Exception) -> jinja2.UndefinedError | None:
    """The variable without a value that one of Salt's filters could not work with."""
    trace = error.__traceback__
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__", "")).startswith("runner.language.filters."):
            for value in trace.tb_frame.f_locals.values():
                try:
                    _touch(value)
                except jinja2.UndefinedError as missing:
                    return missing
        trace = trace.tb_next
    return None


def _touch(value: Any, depth: int = 0) -> None:
    """Raises for a variable without a value, also within lists and mappings."""
    if isinstance(value, jinja2.Undefined):
        str(value)
    elif isinstance(value, list | tuple | dict) and depth < 5:
        for item in value.values() if isinstance(value, dict) else value:
            _touch(item, depth + 1)
