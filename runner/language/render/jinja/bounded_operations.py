# SPDX-License-Identifier: Apache-2.0
"""Limits of single operations of a template, which no signal interrupts: what would be far too
large is not begun.
"""

from __future__ import annotations

import functools
import re
from itertools import islice

from jinja2.sandbox import SandboxedEnvironment, SandboxedFormatter

from runner.language.render.jinja.bound import TooMuch
from runner.model.stdlib import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

LARGEST = 64 * 1024 * 1024  # characters of a text that one operation makes
ITEMS = 8 * 1024 * 1024  # items of a list or a mapping
AT_ONCE = 64  # parts of an output, which take more than their text


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
        check_conversions(left, right)


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


def output(parts: Iterable[str]) -> str:
    """The output of a template. Raises TooMuch for one that is far too large."""
    left, texts, size = iter(parts), list[str](), 0
    while some := tuple(islice(left, AT_ONCE)):
        texts.append("".join(some))
        size += len(texts[-1])
        if size > LARGEST:
            hint = "is there a loop without end? A large file is copied without `template`"
            raise TooMuch(f"this puts out more than {LARGEST >> 20} MiB", None, hint, "limit")
    return "".join(texts)


_CONVERSION = pattern(r"[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)", re.DOTALL)
_SPECIFICATION = pattern(r"(?:.?[<>=^])?[-+ ]?z?#?0?(\d*)[,_]?(?:\.(\d+))?", re.DOTALL)


class _Size:
    """How long a text at least becomes."""

    def __init__(self) -> None:
        self._characters = 0

    def add(self, number: Any) -> None:
        if isinstance(number, str):
            number = int(number) if 0 < len(number) < 20 else LARGEST * bool(number)
        if isinstance(number, int):
            self._characters += abs(number)
            if self._characters >= LARGEST:
                raise _far_too_large(f"a format with a width of {number}")


def check_conversions(text: str, values: Any) -> None:
    """Raise TooMuch where widths, precisions and texts make the result of `text % values` far too
    large.
    """
    size = _Size()
    given = iter(values if isinstance(values, tuple) else (values,))
    at = text.find("%") + 1
    while at:
        key, at = _key(text, at)
        found = _CONVERSION.match(text, at)
        if found is None:
            return  # Python complains
        *numbers, kind = found.groups()
        for number in numbers:
            size.add(next(given, None) if number == "*" else number or 0)
        if kind != "%":
            named = values.get(key) if isinstance(values, dict) else None
            value = next(given, None) if key is None else named
            size.add(len(value) if isinstance(value, str) else 0)
        at = text.find("%", found.end()) + 1


def _key(text: str, at: int) -> tuple[str | None, int]:
    """The `(key)` at a place of a format, which may have parentheses in it, and where it ends."""
    if text[at : at + 1] != "(":
        return None, at
    depth = 0
    for end in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if not depth:
            return text[at + 1 : end], end + 1
    return None, len(text)


class _Measuring(SandboxedFormatter):
    """Formats nothing, and adds up how long the result would be at least."""

    def __init__(self, environment: SandboxedEnvironment) -> None:
        super().__init__(environment)
        self._size = _Size()

    def format_field(self, value: Any, format_spec: str) -> Any:
        if isinstance(value, str | int | float | complex):  # others have forms of their own
            found = _SPECIFICATION.match(format_spec)
            for number in found.groups() if found else ():
                self._size.add(number or 0)
        self._size.add(len(value) if isinstance(value, str) else 0)
        return value if isinstance(value, str) else str(value)  # a part of a specification, perhaps


def check_arguments(name: str, values: Any) -> None:
    """Raise TooMuch when a function that fills up texts is given a number that nobody can mean."""
    for value in values:
        if isinstance(value, int) and value > LARGEST:
            raise _far_too_large(f"{name}({value})")


class BoundedEnvironment(SandboxedEnvironment):
    """Jinja's sandbox, whose single operations stay in bounds."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])
    output = staticmethod(output)
    joined = staticmethod(joined)  # for the code that codegen.py makes

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        check_operation(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        # the sandbox has a function of its own in front of `format`
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)
        if isinstance(owner, list | dict | set) and getattr(__obj, "__name__", "") in (
            "extend",
            "update",
        ):
            check_growth(owner, args)
        if isinstance(owner, str):
            name = getattr(__obj, "__name__", "")
            if name in FILLING:
                check_arguments(name, args)
            elif name in ("format", "format_map"):
                __self._check_fields(owner, args, kwargs, name == "format_map")
        return super().call(__context, __obj, *args, **kwargs)

    def _check_fields(self, text: str, args: Any, kwargs: Any, mapped: bool) -> None:
        """Raise TooMuch for a text whose fields would make it far too large."""
        measuring = _Measuring(self)
        try:
            measuring.vformat(text, () if mapped else args, args[0] if mapped else kwargs)
        except TooMuch:
            raise
        except Exception:  # what is wrong with it the real call says
            pass


def _far_too_large(what: str) -> TooMuch:
    return TooMuch(
        f"{what} would be far too large",
        None,
        "write a smaller number, or look where it comes from",
        "limit",
    )


def checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that refuses numbers that nobody can mean, where it fills up texts."""
    if name not in WIDE:
        return function

    @functools.wraps(function)
    def call(value: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "format":
            check_conversions(str(value), kwargs or args)
        else:
            check_arguments(name, [*args, *kwargs.values()])
        return function(value, *args, **kwargs)

    return call


FILLING = frozenset(["center", "expandtabs", "ljust", "rjust", "zfill"])  # methods of texts
WIDE = frozenset(["batch", "center", "format", "indent", "json", "slice", "tojson"])  # filters
