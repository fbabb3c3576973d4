"""Limits of rendering one file: endless loops and texts that grow without end are errors that name
their place.
"""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from jinja2.sandbox import SandboxedEnvironment

from runner.model.errors import RenderError
from runner.model.places import Source

# of the processor, for one file with all that it imports (`render_limit` of the configuration)
SECONDS = 5.0
MEGABYTES = 512  # that the process may grow after the first look
LARGEST = 64 * 1024 * 1024  # characters of a text that one operation makes
ITEMS = 8 * 1024 * 1024  # items of a list or a mapping
TICK = 0.1  # seconds of the processor between two looks


class TooMuch(RenderError):
    """A template costs more than it may."""


class Bound:
    """The share of the limits that the current file has used."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ticks = 0
        self._at_first = 0.0

    def tick(self) -> None:
        """Look after another TICK. Raises TooMuch."""
        self._ticks += 1
        if self._ticks == 1:
            self._at_first = _resident()
        self.check(self._ticks * TICK)

    def check(self, used: float) -> None:
        """Raise TooMuch when the file has used more. used: seconds of the processor."""
        if used >= self._seconds:
            hint = (
                "is there a loop without end? `render_limit: 60` in the configuration allows more"
            )
            raise TooMuch(
                f"this takes more than {self._seconds:g} s of the processor", None, hint, "limit"
            )
        if _resident() - self._at_first > MEGABYTES:
            raise TooMuch(f"this takes more than {MEGABYTES} MB of memory", None, None, "limit")


_bounds: list[Bound] = []  # of the file that is being rendered
_listening: list[
    bool
] = []  # whether ticks are heard: a handler is set once, which costs more than many a file


@contextmanager
def bounded(file: str, seconds: float | None = None) -> Iterator[None]:
    """Raise TooMuch in what runs inside when it takes too much. What it starts (commands) is not
    counted.

    seconds: 0 for no limit. Inside of another bound that one holds.
    """
    limit = SECONDS if seconds is None else seconds
    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        from runner.render.jinja.thread_limits import thread_limited

        with thread_limited(Bound(limit)) if limit else nullcontext():
            yield
        return
    if not limit or _bounds:
        yield
        return
    if not _listening:
        signal.signal(signal.SIGPROF, _tick)
        _listening.append(True)
    _bounds.append(Bound(limit))
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    try:
        yield
    except TooMuch as error:
        raise (
            error
            if error.source
            else RenderError(error.message, Source(file), error.hint, error.code)
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _bounds.pop()


def _tick(number: int, frame: Any) -> None:
    """Look at what was used; a tick that was on its way when the timer was stopped finds nothing to
    look at.
    """
    for bound in _bounds:
        bound.tick()


def _resident() -> float:
    """Megabytes of memory."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(file, 200).split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1048576
        finally:
            os.close(file)
    except (OSError, IndexError, ValueError):
        return 0.0


# -------------------------------------------------- single operations, which no signal interrupts


def check_operation(operator: str, left: Any, right: Any) -> None:
    """Raise TooMuch for a sum, product, power or `%` whose result would be far too large."""
    if operator == "*":
        for many, times in ((left, right), (right, left)):
            if (
                isinstance(many, str | list | tuple)
                and isinstance(times, int)
                and len(many) * times > _most(many)
            ):
                raise _far_too_large(f"{type(many).__name__} * {times}")
    elif operator == "**":
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > LARGEST:
            raise _far_too_large(f"a number ** {right}")
    elif operator == "+":
        if (
            isinstance(left, str | list)
            and isinstance(right, str | list)
            and len(left) + len(right) > _most(left)
        ):
            raise _far_too_large(f"{type(left).__name__} + {type(right).__name__}")
    elif isinstance(left, str):
        check_format(left)


def _most(value: str | list[Any] | tuple[Any, ...]) -> int:
    """The largest size of a result made of a value."""
    return LARGEST if isinstance(value, str) else ITEMS


def check_growth(container: Any, values: Any) -> None:
    """Raise TooMuch when a method of a list, mapping or set is given so much that this would be far
    too large.
    """
    if len(container) + sum(len(value) for value in values if hasattr(value, "__len__")) > ITEMS:
        raise _far_too_large(f"this {type(container).__name__}")


def joined(parts: tuple[Any, ...]) -> str:
    """The result of `~`. Raises TooMuch for a text that is far too large."""
    texts = [str(part) for part in parts]
    if sum(map(len, texts)) > LARGEST:
        raise _far_too_large("~")
    return "".join(texts)


def check_format(text: str) -> None:
    """Raise TooMuch for a format with a width that nobody can mean."""
    wide = re.search(r"\d{8,}|\*", text) if "%" in text or "{" in text else None
    if wide:
        raise _far_too_large(f"a format with a width of {wide[0]}")


def check_arguments(name: str, values: Any) -> None:
    """Raise TooMuch when a function of texts is given a number that nobody can mean."""
    for value in values:
        if isinstance(value, int) and value > LARGEST:
            raise _far_too_large(f"{name}({value})")


class BoundedEnvironment(SandboxedEnvironment):
    """Jinja's sandbox, whose single operations stay in bounds."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])
    joined = staticmethod(joined)  # for the code that codegen.py makes

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        check_operation(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, list | dict | set) and getattr(__obj, "__name__", "") in (
            "extend",
            "update",
        ):
            check_growth(owner, args)
        if isinstance(owner, str):  # a method of a text
            check_arguments(getattr(__obj, "__name__", ""), args)
            if __obj.__name__.startswith("format"):
                check_format(__obj.__self__)
        return super().call(__context, __obj, *args, **kwargs)


def _far_too_large(what: str) -> TooMuch:
    return TooMuch(
        f"{what} would be far too large",
        None,
        "write a smaller number, or look where it comes from",
        "limit",
    )


def checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that refuses numbers that nobody can mean."""
    import functools

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        check_arguments(name, [*args, *kwargs.values()])
        if name == "format":
            check_format(str(args[0]))
        return function(*args, **kwargs)

    return call


WIDE = ("batch", "center", "format", "indent", "slice", "tojson")
