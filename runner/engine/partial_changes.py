# SPDX-License-Identifier: Apache-2.0
"""The changes of a state that failed, and what is said of an exception."""

from __future__ import annotations

import errno
import inspect
import opcode
import traceback
from collections.abc import Generator
from types import FunctionType

from runner.language.arguments import scalars, schema
from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.model.plain_values import exception, text_of
from runner.model.stdlib import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from runner.api import Plan
    from runner.model.places import Value


def made(plan: Plan, look: Callable[[], object]) -> Mapping[str, Value]:
    """The planned changes that a second look does not plan any more; all of them where it
    cannot tell.
    """
    if not plan.exact:
        return plan.changes
    try:
        outcome = look()
        if not isinstance(outcome, Generator):
            return plan.changes
        left = next(outcome).changes
        outcome.close()
    except Exception:
        return plan.changes
    return {
        key: value for key, value in plan.changes.items() if key not in left or left[key] != value
    }


NOT_THE_STATES = (KeyboardInterrupt, GeneratorExit)  # they end a run, or a look


def apology(error: BaseException, is_built_in: bool = False) -> str:
    """The comment of a state that an exception ended. is_built_in: the state is of the library; the
    author of one of the tree is told what Python said, and where.
    """
    if cause := _cause(error):
        return cause
    if isinstance(error, OSError) and error.strerror and is_built_in:
        return _refusal(error)
    if isinstance(error, UnicodeDecodeError) and is_built_in:
        return f"A text that was read is not {error.encoding.upper()}: byte {error.start + 1}"
    frames = traceback.extract_tb(error.__traceback__)
    last = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    if is_built_in:
        return (
            f"This state met something that it does not expect, which is a mistake of runner:"
            f" {text_of(error)}{last}"
        )
    return f"An exception occurred in this state: {exception(error)}{last}"


def _cause(error: BaseException) -> str:
    """Return what is behind an exception that any code may meet; empty for others."""
    if isinstance(error, RecursionError):
        return (
            "This goes too deep: folders or values are nested in each other more often than can be"
            " followed"
        )
    if isinstance(error, MemoryError):
        return "There is not enough memory for this"
    if isinstance(error, ValueError) and "embedded null" in text_of(error):
        return "A path or an argument contains a NUL character, which the system does not take"
    if isinstance(error, UnicodeEncodeError):
        half = ascii(error.object[error.start])
        return (
            f"A path or an argument contains {half}, half a character, which the system does not"
            " take"
        )
    return ""


_SCRATCH = pattern(r"/.*/scratch-\w+/")  # a folder of the state, of which nobody knows

# what the system's words leave open
_CURES = {
    errno.EROFS: "what lies there is mounted read-only",
    errno.ENOSPC: "the disk is full",
    errno.ELOOP: "links lead in a circle",
    errno.ENAMETOOLONG: "the path, or a name in it, is longer than the system takes",
    errno.ENOTDIR: "something on the way to it is no folder",
    errno.EISDIR: "it is a folder",
}


def _refusal(error: OSError) -> str:
    """Return what the system did not do, with the path."""
    path = error.filename2 if error.filename2 is not None else error.filename
    if isinstance(path, bytes):
        path = path.decode("utf-8", "surrogateescape")
    where = "the system" if path is None or isinstance(path, int) else str(path)
    where = _SCRATCH.sub("", where)
    cure = f" ({_CURES[error.errno]})" if error.errno in _CURES else ""
    return f"{where}: {error.strerror}{cure}"


def of_call(
    name: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    error: Exception,
) -> Exception:
    """An exception of a call as the mistake that it is: arguments that the function does not take,
    values that it cannot use, code of the tree; the exception itself for a bug of ours.
    """
    try:
        given = named_arguments(name, function, args, kwargs)
    except RunnerError as refused:
        return refused
    code = getattr(inspect.unwrap(function), "__code__", None)
    lines = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if code and frame.filename == code.co_filename
    ]
    handed_on = _HANDED_ON.fullmatch(text_of(error)) if isinstance(error, TypeError) else None
    if handed_on and handed_on[2] in kwargs:
        message = f"Passed invalid arguments to {name}: {handed_on[1]}"
        return RunnerError(message, hint=f"`runner doc {name}` shows what it takes")
    of_system = _refusal(error) if isinstance(error, OSError) and error.strerror else ""
    if getattr(function, "__module__", "").startswith("runner_tree_"):
        message = f"{name}: {of_system or exception(error)}"
        if lines:
            return RunnerError(message, Source(lines[-1].filename, lines[-1].lineno or 0))
        return RunnerError(message) if of_system or isinstance(error, OF_VALUES) else error
    if of_system:
        return RunnerError(f"{name}: {of_system}")
    problem = _cause(error) or _own_words(error) or _misfit(function, given)
    if not problem and isinstance(error, OF_VALUES):
        problem = "it cannot use these values"
    hint = f"look at the values; `runner doc {name}` shows what it takes"
    return RunnerError(f"{name}: {problem}", hint=hint) if problem else error


# of another function, to which one with open arguments hands them on
_HANDED_ON = pattern(r".*\(\) (got an unexpected keyword argument '(.*)')")
OF_VALUES = (TypeError, ValueError, LookupError, AttributeError)


def _own_words(error: Exception) -> str:
    """Return what an exception says that a `raise` of ours made: Python's words are for nobody who
    does not see the code.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not isinstance(error, OF_VALUES):
        return ""
    code = last.tb_frame.f_code.co_code
    is_raised = code[last.tb_lasti] == opcode.opmap["RAISE_VARARGS"]
    room = last.tb_frame.f_globals.get("__name__", "").partition(".")[0]
    return text_of(error) if is_raised and room in ("runner", "modules", "states") else ""


def _misfit(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """Return what is wrong with the first value that is none of its argument's type; empty where
    all are.
    """
    for key, parameter in schema.schema_of(schema.flat(function)).parameters.items():
        value, shape = given.get(parameter.name, parameter.default), parameter.shape
        if value == parameter.default or (value is None and shape.nullable):
            continue
        expected = f"{key}: expected {shape.title}"
        problem = expected if shape.hidden else f"{expected}, got {scalars.show(value)}"
        try:
            taken = shape.convert(value)
        except scalars.Mismatch as mismatch:
            return problem if shape.hidden or mismatch.path else f"{key}: {mismatch.problem}"
        except ValueError:  # half a character
            return problem
        if taken != (list(value) if isinstance(value, tuple) else value):
            return problem
    return ""


def named_arguments(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of an execution function by their names, those that are given by their places
    too. Raises RunnerError for what it does not take.
    """
    plain = _plainly_named(function, args, kwargs)
    if plain is not None:
        return plain
    signature = inspect.signature(function)
    try:
        return {**signature.bind(*args, **kwargs).arguments, **kwargs}
    except TypeError as error:
        shown = ", ".join(
            str(parameter).partition(":")[0] for parameter in signature.parameters.values()
        )
        raise RunnerError(
            f"Passed invalid arguments to {name}: {error}", hint=f"it takes: {name}({shown})"
        ) from None


def _plainly_named(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The same without `inspect`, which takes longer than most functions; None where that has to
    look: at a mistake, at what `**` takes.
    """
    while hasattr(function, "__wrapped__") and not hasattr(function, "__signature__"):
        function = function.__wrapped__
    if not isinstance(function, FunctionType) or hasattr(function, "__signature__"):
        return None
    code = function.__code__
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount + 1]
    given = dict(zip(names[:count], args, strict=False))
    known = {*names[: count + code.co_kwonlyargcount]}
    needed = known - schema.defaults_of(function).keys()
    if (
        code.co_posonlyargcount
        or (len(args) > count and not code.co_flags & 0x04)  # CO_VARARGS
        or not given.keys().isdisjoint(kwargs)
        or not needed <= given.keys() | kwargs.keys() <= known
    ):
        return None
    if len(args) > count:
        given[names[-1]] = tuple(args[count:])
    return {**given, **kwargs}
