# SPDX-License-Identifier: Apache-2.0
"""The py renderer: an SLS or a template that is a Python program with a function run()."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from runner.api import ChangeNotAllowed
from runner.language.render.errors import call_info, source_lines
from runner.language.render.renderers.plain_salt import PlainSalt
from runner.language.salt import package
from runner.model.errors import RenderError, RunnerError, not_python
from runner.model.places import Source, Value
from runner.model.plain_values import exception

if TYPE_CHECKING:
    from runner.language.render import Scope


_SALT = re.compile(r"^\s*(?:from|import)\s+salt\b", re.M)


def run(text: str, scope: Scope) -> Value:
    """Return the result of run() of a program. Raises RenderError with the line that failed."""
    space = namespace(scope)
    execute(text, scope.path, space)
    if not callable(space.get("run")):
        raise RenderError(
            "a py SLS has to define run()",
            Source(scope.path, 1, 1),
            "write `def run():`, which returns {...}",
        )
    _needs_nothing(space["run"], scope.path)
    try:
        return space["run"]()
    except RunnerError as error:
        raise located(error, scope.path) from None
    except (Exception, SystemExit) as error:
        raise python_error(error, "", scope.path) from None


def written(value: Any, path: str) -> str:
    """The result of run() of a py template, as the text of a file. Raises RenderError for anything
    but text, or bytes in UTF-8.
    """
    try:
        if isinstance(value, str | bytes):
            return value if isinstance(value, str) else value.decode()
    except UnicodeDecodeError:
        pass
    what = f"run() of a py template has to return the text of the file, not {type(value).__name__}"
    raise RenderError(what, Source(path, 1), "return one text, in UTF-8 if it is bytes", "python")


def _needs_nothing(run: Any, path: str) -> None:
    """Refuse a run() that cannot be called without arguments."""
    code = getattr(run, "__code__", None)
    if (
        code is not None
        and code.co_filename == path
        and code.co_argcount > len(run.__defaults__ or ())
    ):
        what = (
            f"run() has to do without arguments: {', '.join(code.co_varnames[: code.co_argcount])}"
        )
        hint = (
            "write `def run():`; what a program needs is in __salt__, __grains__, __pillar__ and"
            " __opts__"
        )
        raise RenderError(what, Source(path, code.co_firstlineno), hint, "python")


def namespace(scope: Scope) -> dict[str, Any]:
    """The globals of a program: the variables of a template, and Salt's dunders."""
    salt = PlainSalt(scope.names["salt"])
    names = {**scope.names, "salt": salt}
    dunders = {
        "__name__": str(names.get("sls") or "sls").rpartition(".")[2],
        "__file__": scope.path,
        "__salt__": salt,
        "__grains__": names["grains"],
        "__pillar__": names["pillar"],
        "__opts__": names["opts"],
        "__env__": scope.saltenv,
        "__sls__": names.get("sls", ""),
    }
    return {**dunders, **names}


def execute(text: str, path: str, space: dict[str, Any]) -> None:
    """Run a program in a namespace. Raises RenderError with the line that failed."""
    if _SALT.search(text):
        package.provide_salt()
    try:
        exec(compile(text, path, "exec", dont_inherit=True), space)
    except SyntaxError as error:
        mistake = not_python(error, path)
        raise RenderError(mistake.message, mistake.source, mistake.hint, "python") from None
    except RunnerError as error:
        raise located(error, path) from None
    except (Exception, SystemExit) as error:
        raise python_error(error, "", path) from None


def located(error: RunnerError, path: str) -> RunnerError:
    """An error of a function that a program called, with the line of the call when it has no place
    of its own.
    """
    if error.source is not None and error.source.line:
        return error
    return RenderError(error.message, Source(path, _line(error, path)), error.hint, error.code)


def python_error(error: BaseException, who: str, path: str) -> RenderError:
    """The error that a program raised, with its line."""
    line = _line(error, path)
    place = Source(path, line) if line or not who else _last(error)
    if isinstance(error, ChangeNotAllowed):
        named = call_info.functions_of(source_lines.row_of(place))
        return call_info.change_refused(named[0] if len(named) == 1 else "", place)
    hint = "the Python code of this file raised it"
    return RenderError(f"{who}: {exception(error)}".removeprefix(": "), place, hint, "python")


def check_takes(
    render: Callable[..., Any], name: str, positional: tuple[Any, ...], more: Mapping[str, Any]
) -> None:
    """Refuse a renderer of the tree that cannot be called as Salt calls it."""
    try:
        inspect.signature(render).bind(*positional, **more)
    except TypeError as error:
        code = inspect.unwrap(render).__code__
        place = Source(code.co_filename, code.co_firstlineno)
        hint = 'write `def render(data, saltenv="base", sls="", **kwargs):`'
        raise RenderError(f"the renderer {name}: render() {error}", place, hint, "python") from None


def _line(error: BaseException, path: str) -> int:
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == path
    ]
    return (lines[-1] or 0) if lines else 0


def _last(error: BaseException) -> Source:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return Source(frame.filename, frame.lineno or 0)
