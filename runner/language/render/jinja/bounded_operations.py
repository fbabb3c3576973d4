# SPDX-License-Identifier: Apache-2.0
"""Limits of single operations of a template, which no signal interrupts: what would be far too
large is not begun.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jinja2.sandbox import SandboxedEnvironment

from runner.language.render.jinja.bound import TooMuch

LARGEST = 64 * 1024 * 1024  # characters of a text that one operation makes
ITEMS = 8 * 1024 * 1024  # items of a list or a mapping


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
