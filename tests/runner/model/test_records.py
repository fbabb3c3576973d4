# SPDX-License-Identifier: Apache-2.0
"""Record does what typing.NamedTuple does."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import pytest

from runner.model.places import Source
from runner.model.plain_values import plain
from runner.model.records import OFTEN, Record


class Mine(Record):
    """A point."""

    x: int
    y: int
    name: str = ""
    more: tuple[str, ...] = ()

    @property
    def sum(self) -> int:
        return self.x + self.y


class Theirs(NamedTuple):
    x: int
    y: int
    name: str = ""
    more: tuple[str, ...] = ()

    @property
    def sum(self) -> int:
        return self.x + self.y


class Often(Mine):
    """A class with the constructor of its own that it gets when it is made often."""

    x: int
    y: int
    name: str = ""
    more: tuple[str, ...] = ()


for number in range(OFTEN):
    Often(number, 2)
Mine.__often__ = 0  # type: ignore[attr-defined]  # it never gets one, however often tests make it
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1, 2), {}),
    ((1, 2, "a"), {}),
    ((1, 2, "a", ("b",)), {}),
    ((1,), {"y": 2}),
    ((), {"y": 2, "x": 1}),
    ((1, 2), {"more": ("b",)}),
    ((), {"x": 1, "name": "n", "y": 3}),
]
WRONG: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1,), {"name": "a"}),
    ((1, 2, "a", (), 5), {}),
    ((1, 2), {"z": 1}),
    ((1, 2), {"x": 1}),
    ((1, 2, "a", ()), {"name": "b"}),
    ((1,), {"x": 1, "y": 2}),
]


@pytest.mark.parametrize("kind", [Mine, Often])
@pytest.mark.parametrize(("values", "named"), CALLS)
def test_it_is_made_as_a_named_tuple_is(
    values: tuple[Any, ...], named: dict[str, Any], kind: type[Mine]
) -> None:
    mine, theirs = kind(*values, **named), Theirs(*values, **named)
    assert (
        tuple(mine) == tuple(theirs)
        and mine.sum == theirs.sum
        and mine._asdict() == theirs._asdict()
    )
    assert (mine.x, mine.y, mine.name, mine.more) == tuple(theirs)
    assert (
        repr(mine) == repr(theirs).replace("Theirs", kind.__name__)
        and mine._fields == theirs._fields
    )


@pytest.mark.parametrize("kind", [Mine, Often])
@pytest.mark.parametrize(("values", "named"), WRONG)
def test_it_is_refused_as_a_named_tuple_is(
    values: tuple[Any, ...], named: dict[str, Any], kind: type[Mine]
) -> None:
    with pytest.raises(TypeError):
        Theirs(*values, **named)
    with pytest.raises(TypeError, match=kind.__name__):
        kind(*values, **named)


def test_a_class_that_is_made_often_gets_a_constructor_of_its_own() -> None:
    assert "lambda" in repr(Often.__new__.__code__) and "lambda" not in repr(Mine.__new__.__code__)


def test_it_does_not_change() -> None:
    point: Any = Mine(1, 2)
    with pytest.raises(AttributeError):
        point.x = 3
    with pytest.raises(AttributeError):
        point.z = 3
    assert point._replace(y=5, name="n") == (1, 5, "n", ())
    assert point == (1, 2, "", ()) and hash(point) == hash((1, 2, "", ()))
    with pytest.raises((TypeError, ValueError)):
        point._replace(z=1)


def test_it_can_be_copied_kept_and_matched() -> None:
    point = Mine(1, 2, more=("a",))
    for other in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert other == point and type(other) is Mine
    match point:
        case Mine(x, y, name="", more=(first,)):
            assert (x, y, first) == (1, 2, "a")
        case _:
            raise AssertionError


def test_answers_show_its_names() -> None:
    assert plain([Mine(1, 2)]) == [{"x": 1, "y": 2, "name": "", "more": []}]


def test_a_class_of_it_may_have_its_own_text() -> None:
    assert str(Source("a.sls", 3)) == "a.sls:3" and repr(Source("a.sls")).startswith(
        "Source(file='a.sls', line=0"
    )
