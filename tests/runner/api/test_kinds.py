# SPDX-License-Identifier: Apache-2.0
"""Kinds: what results say of their steps; orders that follow from arguments."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from harness import apply, look

from runner.api import (
    CURRENT,
    OPEN,
    WANTED,
    Done,
    Kind,
    Plan,
    Planned,
    Property,
    StateFailed,
    Wording,
    comes_after,
)
from runner.engine.loader.registry import Registry

MADE = Wording(
    "{Title} is there",
    "{Title} would be made for {owner}",
    "The {title} was made",
    "Failed to make {title}",
    {"{name}": {"made": True, "owner": "{owner}"}},
    {"entry": "{name}", "file": "/srv/{name}"},
)
ENTRY = Kind(
    "entry {name}",
    MADE,
    Wording(
        "",
        "{Title}: {differences}",
        "{Title} has {differences}",
        "Failed to change {title}",
        {"{name}": {"old": CURRENT, "new": WANTED}},
    ),
    Wording("No {title}", "{Title} would go", "{Title} went", "{Title} stays", {"gone": "{name}"}),
)
BRACES = "{name}"  # a name is no text of a wording


def present(now: Any, log: list[Any], name: str = "a", **wanted: Any) -> Planned:
    properties = [Property(key, value, set=log.append) for key, value in wanted.items()]
    return ENTRY.present(
        now, lambda: log.append("made"), properties, name=name, owner=wanted.get("owner")
    )


def refuse(*_: object) -> object:
    raise StateFailed("the disk is full", changes={"half": 1}, missing=("pkg", "disk"))


@pytest.mark.parametrize("now", [None, False, lambda: None])
def test_a_missing_thing_is_made(now: Any) -> None:
    log: list[Any] = []
    planned = look(present, now, log, owner="zoe")
    assert isinstance(planned, Plan) and log == []
    assert planned.changes == {"a": {"made": True, "owner": "zoe"}}
    assert planned.comment == "Entry a would be made for zoe"
    assert planned.provides == [("entry", "a"), ("file", "/srv/a")]
    assert apply(present, now, log, owner="zoe").comment == "The entry a was made"
    assert log == ["made"]


def test_names_are_no_templates() -> None:
    planned = look(present, None, [], name=BRACES, owner="{title}")
    assert isinstance(planned, Plan)
    assert planned.changes == {BRACES: {"made": True, "owner": "{title}"}}
    assert planned.comment == "Entry {name} would be made for {title}"


def test_what_differs_is_altered() -> None:
    log: list[Any] = []
    now = {"owner": "max", "size": 1, "mode": 7}
    wanted = {"owner": "zoe", "size": 1, "mode": None}
    planned = look(present, now, log, **wanted)
    assert isinstance(planned, Plan) and log == []
    assert planned.changes == {"a": {"old": {"owner": "max"}, "new": {"owner": "zoe"}}}
    assert planned.comment == "Entry a: owner changed from max to zoe"
    assert apply(present, now, log, **wanted).comment == "Entry a has owner changed from max to zoe"
    assert log == ["zoe"]
    assert look(present, {"owner": "zoe"}, log, owner="zoe") == Done("Entry a is there", {})


def test_a_thing_goes() -> None:
    log: list[Any] = []

    def absent(now: Any) -> Planned:
        return ENTRY.absent(now, lambda: log.append("gone"), name="a")

    planned = look(absent, True)
    assert isinstance(planned, Plan) and log == []
    assert (planned.changes, planned.comment, planned.provides) == (
        {"gone": "a"},
        "Entry a would go",
        [],
    )
    assert apply(absent, lambda: True).comment == "Entry a went" and log == ["gone"]
    assert look(absent, False) == Done("No entry a", {})


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (lambda: ENTRY.present(False, refuse, name="a", owner=""), "Failed to make entry a"),
        (lambda: ENTRY.present(refuse, refuse, name="a", owner=""), "Failed to make entry a"),
        (
            lambda: ENTRY.present({"k": 1}, refuse, [Property("k", 2)], refuse, name="a"),
            "Failed to change entry a",
        ),
        (lambda: ENTRY.absent(True, refuse, name="a"), "Entry a stays"),
    ],
)
def test_failures_say_what_failed(state: Any, message: str) -> None:
    with pytest.raises(StateFailed) as failure:
        apply(state)
    assert failure.value.message == f"{message}: the disk is full"
    assert (failure.value.changes, failure.value.missing) == ({"half": 1}, (("pkg", "disk"),))


def test_reasons_in_words_of_their_own() -> None:
    with pytest.raises(StateFailed, match=r"^Failed to make entry a \(the disk is full\)$"):
        apply(lambda: ENTRY._replace(reason=" ({reason})").present(None, refuse, name="a", owner=0))
    with pytest.raises(StateFailed, match=r"^the disk is full$"):
        apply(lambda: Kind().present(None, refuse, name="a"))


def test_steps_that_know_more() -> None:
    def made(outcome: object) -> Done:
        return apply(lambda: ENTRY.present(None, lambda: outcome, name="a", owner=""))

    assert made(Done("", {"a": 1})) == Done("The entry a was made", {"a": 1})
    assert made(Done("Well done", {"a": 1})) == Done("Well done", {"a": 1})
    assert made("what a program prints").comment == "The entry a was made"
    opening = Kind(created=MADE._replace(provides=OPEN))
    planned = look(lambda: opening.present(None, refuse, name="a", owner=""))
    assert isinstance(planned, Plan) and planned.provides is OPEN


def test_what_states_come_after() -> None:
    after = comes_after("After sql.", ("pkg", "sql"), owner="user", groups="group", home="file")
    assert [*after(name="a", owner="zoe", groups=["x", "y"], home=None)] == [
        ("pkg", "sql"),
        ("user", "zoe"),
        ("group", "x"),
        ("group", "y"),
    ]
    assert [*after(name="a")] == [("pkg", "sql")] and after.__doc__ == "After sql."


def test_states_leave_the_reason_of_a_failure_to_the_kind() -> None:
    library = Registry({})
    functions = [
        library.state(f"{module}.{name}").function
        for module in library.state_modules()
        for name in library.state_functions(module)
    ]
    homes = {function.__module__: inspect.unwrap(function).__globals__ for function in functions}
    kinds = {
        f"{module}.{name}": value
        for module, names in homes.items()
        for name, value in names.items()
        if isinstance(value, Kind)
    }
    assert "states.databases.postgres_schema.SCHEMA" in kinds and len(kinds) > 10
    for name, kind in kinds.items():
        wordings = (kind.created, kind.changed, kind.removed)
        assert not any("{reason}" in text for each in wordings for text in each[:4]), name
        assert kind.reason in (": {reason}", " ({reason})"), name
