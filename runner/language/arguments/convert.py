# SPDX-License-Identifier: Apache-2.0
"""Types of a signature -> what a value from an SLS has to look like, and how it becomes one.

A Shape is built once for each annotation; its `convert` returns the value to use or raises
Mismatch.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterable, Mapping

from runner.api import argtypes
from runner.api.argtypes import (
    Check,
    CheckUnless,
    Expected,
    Form,
    Group,
    Hidden,
    Munge,
    Named,
    NameVar,
    NotAbsolute,
    NotEmpty,
    Pattern,
    Spelled,
)
from runner.language.arguments.scalars import (
    FALSE,
    SIMPLE,
    TRUE,
    Mismatch,
    Shape,
    show,
    spelled,
    wrong,
)
from runner.model.chunk import SLOT
from runner.model.errors import RunnerError
from runner.model.places import PlacedList, PlacedMap
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import enum
    from collections.abc import Callable
    from typing import Any

_shapes: dict[Any, Shape] = {}


def shape(annotation: Any) -> Shape:
    """The shape of a type; built once."""
    # `Literal["b", "a"]` equals `Literal["a", "b"]`, but is described in this order
    key = (annotation, getattr(annotation, "__args__", None))
    try:
        known = _shapes.get(key)
    except TypeError:  # an annotation with unhashable metadata
        return _build(annotation)
    if known is None:
        known = _shapes[key] = _build(annotation)
    return known


def _build(annotation: Any) -> Shape:
    if isinstance(annotation, type | None) and annotation in SIMPLE:
        return SIMPLE[annotation]
    if hasattr(annotation, "__metadata__"):
        return _annotated(annotation.__origin__, *annotation.__metadata__)
    args = getattr(annotation, "__args__", ())
    kind = getattr(annotation, "__origin__", annotation)
    # of what nobody has imported it is nothing
    typing = sys.modules.get("typing")
    own = isinstance(annotation, types.UnionType | argtypes.Alternatives)
    if own or (typing and kind is typing.Union):
        return _union(args)
    if typing and kind is typing.Literal:
        return _literal(args)
    if isinstance(kind, type):
        if "enum" in sys.modules and issubclass(kind, sys.modules["enum"].Enum):
            return _enum(kind)
        if issubclass(kind, Mapping):
            return _mapping(*(args or (object, object)))
        if issubclass(kind, Iterable) and not issubclass(kind, str | bytes | Record):
            return _sequence((args or (object,))[0])
    return SIMPLE[object]


# ---------------------------------------------------------------- choices


def _literal(options: tuple[Any, ...]) -> Shape:
    title = (
        "one of " + ", ".join(show(option) for option in options)
        if len(options) > 1
        else show(options[0])
    )
    by_text = {
        spelled(option).lower() if option is not None else "none": option for option in options
    }

    def convert(value: Any) -> Any:
        for option in options:
            if value == option and type(value) is type(option):
                return option
        # YAML reads yes and on as true: a choice of words that has one of them means it
        words = (
            (TRUE if value else FALSE) if isinstance(value, bool) else (str(value).strip().lower(),)
        )
        matches = [
            by_text[word] for word in sorted(words, key=len, reverse=True) if word in by_text
        ]
        if not matches or isinstance(value, dict | list):
            raise wrong(title, value)
        return matches[0]

    return Shape(title, convert, {"enum": list(options)}, (), nullable=None in options)


def _enum(kind: type[enum.Enum]) -> Shape:
    inner = _literal(tuple(member.value for member in kind))
    return inner._replace(convert=lambda value: kind(inner.convert(value)))


# 1.0 is text where text will do; "1" is 1 where a number will, and "yes" is true
ORDER = ("string", "integer", "number", "boolean", "array", "object")


def _in_order(shapes: Iterable[Shape]) -> list[Shape]:
    """Sort the alternatives of a union: choices of words, then by what they are in JSON.

    The order of the author would not do: of unions that are equal, typing may give the one that it
    met first, and which that is depends on what was imported, and on the Python.

    >>> shape(bool | int | str).title, shape(int | bool | str).title
    ('text or a whole number or true or false', 'text or a whole number or true or false')
    """
    return sorted(shapes, key=lambda item: (_position(item.schema), item.title))


def _position(schema: Mapping[str, Any]) -> int:
    if "anyOf" in schema:
        return max(_position(item) for item in schema["anyOf"])
    if "enum" in schema:
        return -1
    kind = schema.get("type")
    return ORDER.index(kind) if kind in ORDER else len(ORDER)


def _union(members: tuple[Any, ...]) -> Shape:
    shapes = _in_order(shape(member) for member in members)
    some = [item for item in shapes if item is not SIMPLE[type(None)]]
    nullable = any(item.nullable for item in shapes)
    if len(some) == 1:
        optional = _or_nothing(some[0].convert, some[0].filled)
        return some[0]._replace(convert=optional, nullable=True)
    title = " or ".join(dict.fromkeys(item.title for item in some))

    def convert(value: Any) -> Any:
        if nullable and _says_nothing(value, any(item.filled for item in some)):
            return None
        mismatch: Mismatch | None = None
        for item in sorted(some, key=lambda item: _rank(item, value)):
            try:
                return item.convert(value)
            except Mismatch as problem:
                is_of_it = problem.path or problem.hint or _holds(item, value)
                mismatch = problem if is_of_it else mismatch
        raise mismatch or wrong(title, value)

    return Shape(
        title,
        convert,
        {"anyOf": [dict(item.schema) for item in shapes]},
        tuple(kind for item in some for kind in item.exact),
        nullable,
        any(item.hidden for item in shapes),
        any(item.identifies for item in shapes),
    )


def _holds(item: Shape, value: Any) -> bool:
    """Return whether the type is that of a list or mapping, whose contents are wrong then."""
    kind = "array" if isinstance(value, list) else "object" if isinstance(value, dict) else ""
    return item.schema.get("type") == kind


def _rank(item: Shape, value: Any) -> int:
    """A switch is tried first for what is one; then literals (`_in_order`) and types that the value
    has, then those that it can become.
    """
    if isinstance(value, bool) and bool in item.exact:
        return -1
    return 0 if "enum" in item.schema or type(value) in _with_placed(item.exact) else 1


def _with_placed(exact: tuple[type, ...]) -> set[type]:
    return {
        *exact,
        *([PlacedMap] if dict in exact else []),
        *([PlacedList] if list in exact else []),
    }


def _or_nothing(convert: Callable[[Any], Any], filled: bool) -> Callable[[Any], Any]:
    return lambda value: None if _says_nothing(value, filled) else convert(value)


def _says_nothing(value: Any, filled: bool) -> bool:
    """Return whether an optional argument is not given; an empty text says so where none may be."""
    return value is None or (filled and value == "")


# ---------------------------------------------------------------- containers


def _inside(convert: Callable[[Any], Any], key: Any, value: Any) -> Any:
    try:
        return convert(value)
    except Mismatch as problem:
        raise Mismatch(
            problem.problem, (key, *problem.path), problem.subject, problem.hint, problem.expected
        ) from None


def _several(title: str) -> str:
    """`a whole number or text` -> `whole numbers or text`."""
    parts = [
        f"{part[2:]}s" if part.startswith("a ") and " of " not in part else part
        for part in title.split(" or ")
    ]
    return " or ".join(parts)


def _sequence(item: Any) -> Shape:
    inner = shape(item)
    title = "a list" if inner.title == "anything" else f"a list of {_several(inner.title)}"

    def convert(value: Any) -> Any:
        if not isinstance(value, list | tuple | set | frozenset):
            if isinstance(value, str) and value.startswith(SLOT):
                return value
            raise wrong(title, value)
        return [_inside(inner.convert, index, element) for index, element in enumerate(value)]

    return Shape(
        title,
        convert,
        {"type": "array", "items": dict(inner.schema)},
        (list, tuple),
        False,
        inner.hidden,
    )


def _mapping(key: Any, item: Any) -> Shape:
    keys, inner = shape(key), shape(item)

    def convert(value: Any) -> Any:
        if isinstance(value, list) and all(
            isinstance(entry, dict) and len(entry) == 1 for entry in value
        ):
            value = {name: content for entry in value for name, content in entry.items()}
        if not isinstance(value, Mapping):
            if isinstance(value, str) and value.startswith(SLOT):
                return value
            raise wrong("a mapping", value)
        return {
            keys.convert(name): _inside(inner.convert, name, content)
            for name, content in value.items()
        }

    schema = {"type": "object", "additionalProperties": dict(inner.schema)}
    return Shape("a mapping", convert, schema, (dict,), False, inner.hidden)


# ---------------------------------------------------------------- Annotated


def _annotated(base: Any, *extras: Any) -> Shape:
    if hasattr(base, "__metadata__"):  # typing's around one of `argtypes`
        return _annotated(base.__origin__, *base.__metadata__, *extras)
    if any(isinstance(extra, Group) for extra in extras):
        raise RunnerError(f"a group of arguments has a {base.__name__} as its default")
    inner = shape(base)
    forms = [extra for extra in extras if isinstance(extra, Form)]
    steps = [_step(extra) for extra in extras if isinstance(extra, Form)]
    steps.append(inner.convert)
    conditional = tuple(extra for extra in extras if isinstance(extra, CheckUnless))
    steps += [
        _step(extra)
        for extra in extras
        if isinstance(extra, Check | Pattern) and extra not in conditional
    ]
    steps += [_step(extra) for extra in extras if isinstance(extra, Munge)]

    def convert(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(SLOT):
            return value
        for step in steps:
            value = step(value)
        return value

    patterns = [extra for extra in extras if isinstance(extra, Pattern)]
    title = next(
        iter([*(form.title for form in forms), *(form.title for form in patterns), inner.title])
    )
    if title == "one or a list":
        one = shape((getattr(base, "__args__", ()) or (object,))[0]).title
        title = one if one == "anything" else f"{one} or {inner.title}"
    return inner._replace(
        title=title,
        convert=convert if len(steps) > 1 else inner.convert,
        schema=_form_schema(inner, forms, patterns),
        names=next((extra.known for extra in extras if isinstance(extra, Named)), inner.names),
        every=next((extra.every for extra in extras if isinstance(extra, Named)), inner.every),
        hidden=inner.hidden or any(isinstance(extra, Hidden) for extra in extras),
        spelled=inner.spelled or any(isinstance(extra, Spelled) for extra in extras),
        filled=inner.filled or any(isinstance(extra, NotEmpty) for extra in extras),
        identifies=inner.identifies
        or any(isinstance(extra, NameVar) or extra is NameVar for extra in extras),
        unless=(*inner.unless, *conditional),
    )


def _form_schema(inner: Shape, forms: list[Form], patterns: list[Pattern]) -> Mapping[str, Any]:
    if patterns:
        return {**inner.schema, "pattern": f"^(?:{patterns[0].expression})$"}
    if not forms:
        return inner.schema
    if forms[0].title == "one or a list":
        return {"anyOf": [dict(inner.schema), dict(inner.schema["items"])]}
    schema = {**inner.schema, "description": forms[0].title}
    return {**schema, "type": ["string", "integer"]} if forms[0].title == "file mode" else schema


def _step(extra: Form | Check | Munge | Pattern) -> Callable[[Any], Any]:
    change: Callable[[Any], Any] | None = None
    if isinstance(extra, Form | Munge):
        change = extra.parse if isinstance(extra, Form) else extra.convert

    def run(value: Any) -> Any:
        try:
            if change is not None:
                return change(value)
            if isinstance(extra, Pattern):
                if re.fullmatch(extra.expression, value) is None:
                    raise wrong(extra.title, value)
            elif isinstance(extra, Check) and (problem := extra.problem(value)):
                raise Mismatch(problem, hint=extra.hint)
            return value
        except Mismatch:
            raise
        except ValueError as problem:
            subject = ""
            if isinstance(problem, NotAbsolute):
                subject = f"~{problem.user}" if problem.user else "path"
            expected = problem.title if isinstance(problem, Expected) else ""
            raise Mismatch(str(problem), subject=subject, expected=expected) from None

    return run
