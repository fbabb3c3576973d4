# SPDX-License-Identifier: Apache-2.0
"""Arguments: what a signature asks for is made of a value of YAML, or the value is refused."""

from __future__ import annotations

import datetime
import typing
from typing import Any, Literal

import properties as properties
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from runner.language.arguments.convert import shape
from runner.language.arguments.scalars import FALSE, TRUE, Mismatch

WORDS = st.sampled_from(["yes", "No", " on ", "t", "0", "1", "1.0", "0644", "", "a", "null", "-3"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(-(10**400))  # no float is that large
    | st.floats()
    | st.text(max_size=5)
    | WORDS
    | st.dates()
    | st.binary(max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SCALARS, inner, max_size=3),
    max_leaves=5,
)
SIMPLE: dict[Any, tuple[type, ...]] = {str: (str,), int: (int,), float: (float,), bool: (bool,)}
CHOICES = (Literal["a", "yes", "no"], Literal[1, 2, "auto"])


def annotations(choices: tuple[Any, ...] = CHOICES) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.sampled_from([*SIMPLE, *choices]),
        lambda inner: (
            inner.map(lambda item: list[item])
            | inner.map(lambda item: dict[str, item])
            | inner.map(lambda item: item | None)
            | st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1])
        ),
        max_leaves=3,
    )


# a choice of words that has one of them takes a switch for it: `yes` is true for YAML
NO_SWITCHES = annotations((Literal["a", 2, "auto"],))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)


def fits(value: Any, annotation: Any) -> bool:
    """Return whether a value is what an annotation says."""
    if annotation in SIMPLE:
        return type(value) in SIMPLE[annotation]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return any(value == option and type(value) is type(option) for option in inner)
    if origin is list:
        return isinstance(value, list) and all(fits(item, inner[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(key, inner[0]) and fits(item, inner[1]) for key, item in value.items()
        )
    if inner:
        return any(fits(value, member) for member in inner)
    return annotation is type(None) and value is None


@given(annotations(), VALUES)
@example(bool | CHOICES[0] | None, 0)
def test_a_value_becomes_what_the_signature_says_or_is_refused(annotation: Any, value: Any) -> None:
    try:
        made = shape(annotation).convert(value)
    except Mismatch:
        return
    assert fits(made, annotation)
    assert repr(shape(annotation).convert(made)) == repr(made)


@given(NO_SWITCHES, st.data())
def test_what_is_of_the_type_stays_as_it_is(annotation: Any, data: st.DataObject) -> None:
    value = data.draw(st.from_type(annotation))
    if (made := _converted(annotation, value)) != "surrogates":
        assert fits(value, annotation) and repr(made) == repr(value)


def _converted(annotation: Any, value: Any) -> Any:
    try:
        return shape(annotation).convert(value)
    except Mismatch as problem:
        assert "half a character" in problem.problem
        return "surrogates"


@given(annotations(), JSON)
def test_what_the_schema_allows_is_taken(annotation: Any, value: Any) -> None:
    """An editor that shows no mistake is right."""
    if Draft202012Validator(dict(shape(annotation).schema)).is_valid(value):
        _converted(annotation, value)


@given(SCALARS)
def test_switches_are_written_as_yaml_writers_do(value: Any) -> None:
    word = str(value).strip().lower() if isinstance(value, str) else value
    expected = True if word in TRUE or word == 1 else False if word in FALSE or word == 0 else None
    if expected is None or isinstance(value, bytes | datetime.date):
        with pytest.raises(Mismatch):
            shape(bool).convert(value)
    else:
        assert shape(bool).convert(value) is expected
