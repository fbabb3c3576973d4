# SPDX-License-Identifier: Apache-2.0
"""pillar.* and grains.*: looking values up, merging, choosing by them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere

from modules import grains, pillar
from runner.api import RunnerError, running

PILLAR: dict[Any, Any] = {
    "app": {
        "port": 80,
        "names": ["a", "b"],
        "nest": {"x": 1, "y": [1, 2]},
        "none": None,
        "empty": "",
        False: "off",
    },
    "lst": [{"name": "one", "v": 1}, {"name": "two", "v": 2}],
    "deep": [[{"a": 1}], {"b": [{"c": 2}, {"c": 3}]}, "x"],
    "keys": {1: "int", "2": "str", 1.5: "float", None: "null", 10: "ten", "03": "z"},
    "s": "text",
}
GRAINS = {
    "id": "m1",
    "fqdn": "m1.example.com",
    "os_family": "Debian",
    "roles": ["web", "db"],
    "nest": {"a": {"b": "c"}, "l": [1, 2]},
    "empty": "",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[HarnessHere]:
    (tmp_path / "data.sls").write_text("a: 1")
    opts = {"pillar_roots": {"base": [str(tmp_path)], "dev": []}}
    current = HarnessHere(pillar=copy.deepcopy(PILLAR), grains=copy.deepcopy(GRAINS), opts=opts)
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("app:port", 80),
        ("app:none", None),
        ("app:empty", ""),
        ("app:nope", "dflt"),
        ("app:port:x", "dflt"),
        ("app:names:1", "b"),
        ("app:names:-1", "b"),
        ("app:names:5", "dflt"),
        ("app:no", "off"),  # no is False in YAML
        ("lst:0:name", "one"),
        ("lst:name", "one"),
        ("lst:one", "dflt"),
        ("deep:b:1", {"c": 3}),
        ("deep:0:0:a", 1),
        ("keys:1", "int"),
        ("keys:2", "str"),
        ("keys:'2'", "str"),
        ("keys:1.5", "float"),
        ("keys:~", "null"),
        ("keys:10", "ten"),
        ("keys:03", "z"),
        ("keys:3", "dflt"),
        ("keys:[1]", "dflt"),
        ("keys:{", "dflt"),
        ("s:0", "dflt"),
        ("", "dflt"),
        (["app", "port"], 80),
        (1, "dflt"),
    ],
)
def test_get(key: Any, wanted: Any) -> None:
    assert pillar.get(key, "dflt") == wanted


def test_what_is_not_there(here: HarnessHere) -> None:
    assert pillar.get("nope") == ""
    assert pillar.get("nope", None) is None
    assert pillar.get("app/port", delimiter="/") == pillar.fetch("app:port") == 80
    here.opts = {"pillar_raise_on_missing": True}
    assert pillar.get("nope", "d") == "d"
    with pytest.raises(RunnerError, match="Pillar key not found: nope"):
        pillar.get("nope")


def test_merging(here: HarnessHere) -> None:
    default = {"port": 1, "new": 2, "nest": {"x": 0, "y": [9], "z": 3}}
    before = copy.deepcopy(default)
    found = pillar.get("app", default, merge=True)
    assert list(found) == ["port", "new", "nest", "names", "none", "empty", False]
    assert (found["port"], found["new"], found["nest"]) == (80, 2, {"x": 1, "y": [1, 2], "z": 3})
    assert pillar.get("app", default, merge=True, merge_nested_lists=True)["nest"]["y"] == [9, 1, 2]
    here.opts = {"pillar_merge_lists": True}
    assert pillar.get("app", default, merge=True)["nest"]["y"] == [9, 1, 2]
    assert pillar.get("app", default, merge=True, merge_nested_lists=False)["nest"]["y"] == [1, 2]
    here.opts = {"pillar_source_merging_strategy": "overwrite"}
    assert pillar.get("app", default, merge=True)["nest"] == {"x": 1, "y": [1, 2]}
    assert (default, here.pillar) == (before, PILLAR)
    assert pillar.get("app:names", ["z", "a"], merge=True) == ["z", "a", "b"]
    assert pillar.get("app:names", {"z": 1}, merge=True) == ["a", "b"]
    assert pillar.get("nope", {"a": 1}, merge=True) == {"a": 1}


def test_several_values() -> None:
    assert pillar.items() == pillar.data() == pillar.raw() == PILLAR
    assert pillar.items("s", "nope") == {"s": "text"}
    assert pillar.item("app:port", "nope", default="d") == {"app:port": 80, "nope": "d"}
    assert (pillar.ls(), pillar.ls("s", "nope")) == (list(PILLAR), ["s", "nope"])
    assert (pillar.raw("s"), pillar.raw("app:port")) == ("text", {})
    assert pillar.keys("app:nest") == ["x", "y"]
    assert pillar.obfuscate("s", "lst") == {
        "s": "<str>",
        "lst": [{"name": "<str>", "v": "<int>"}] * 2,
    }
    for key, message in (("nope", "not found: nope"), ("s", "key s is not a dict")):
        with pytest.raises(RunnerError, match=message):
            pillar.keys(key)


def test_files_of_the_pillar(tmp_path: Path) -> None:
    assert pillar.file_exists("data.sls")
    assert pillar.file_exists("data.sls", saltenv="base")
    assert not pillar.file_exists("data.sls", saltenv="dev")
    assert not pillar.file_exists("data")
    assert not pillar.file_exists("")


# ---------------------------------------------------------------- grains


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (lambda: grains.get("nest:a:b"), "c"),
        (lambda: grains.get("nest/l/1", delimiter="/"), 2),
        (lambda: grains.get("roles:0"), "web"),
        (lambda: grains.get("nope"), ""),
        (lambda: grains.get("nope", None), None),
        (lambda: grains.item("id", "nope"), {"id": "m1", "nope": ""}),
        (lambda: grains.item("id", sanitize=True), {"id": "MINION.DOMAINNAME"}),
        (lambda: grains.items(), GRAINS),
        (lambda: grains.items(sanitize=True)["fqdn"], "MINION.DOMAINNAME"),
        (lambda: grains.ls(), sorted(GRAINS)),
        (lambda: grains.has_value("empty"), True),
        (lambda: grains.has_value("nest:a:b"), True),
        (lambda: grains.has_value("nope"), False),
        (lambda: grains.equals("nest:a:b", "c"), True),
        (lambda: grains.equals("nope", "x"), False),
        (lambda: grains.fetch("nope", "d"), "d"),
    ],
)
def test_grains(found: Any, wanted: Any) -> None:
    assert found() == wanted


@pytest.mark.parametrize(
    ("lookup", "options", "wanted"),
    [
        ({"Debian": {"a": 1}, "RedHat": {"a": 2}}, {}, {"a": 1}),
        ({"RedHat": {"a": 2}}, {}, None),
        ({"RedHat": {"a": 2}, "default": {"d": 1}}, {}, {"d": 1}),
        ({"RedHat": {"a": 2}, "x": {"d": 1}}, {"default": "x"}, {"d": 1}),
        ({"Debian": None, "default": {"d": 1}}, {}, {"d": 1}),
        ({"Debian": {}, "default": {"d": 1}}, {}, {}),
        ({"Deb*": {"a": 1}}, {}, {"a": 1}),
        ({"deb*": {"a": 1}}, {}, None),
        ({"*": {"a": 1}, "Debian": {"a": 2}}, {}, {"a": 1}),  # the first key that fits
        ({"db": {"r": 2}, "web": {"r": 1}}, {"grain": "roles"}, {"r": 1}),  # the first role
        ({"c": {"r": 2}}, {"grain": "nest:a:b"}, {"r": 2}),
        ({"Debian": {"a": {"x": 1}}}, {"merge": {"a": {"y": 2}}}, {"a": {"x": 1, "y": 2}}),
        ({"Debian": {"l": [1, 2]}}, {"merge": {"l": [3]}}, {"l": [3]}),
        ({"Debian": {"a": 1}}, {"merge": None}, {"a": 1}),
        ({"RedHat": {"a": 1}}, {"merge": {"b": 1}}, {"b": 1}),
        (
            {"Debian": {"n": {"x": 1}}, "base": {"z": 9, "n": {"y": 2}}},
            {"base": "base"},
            {"z": 9, "n": {"y": 2, "x": 1}},
        ),
        ({"RedHat": {"a": 1}, "base": {"z": 9}}, {"base": "base"}, {"z": 9}),
        ({"Debian": {"a": 1}, "base": "text"}, {"base": "base"}, {"a": 1}),
        ({"Debian": {"a": 1}}, {"base": "nope"}, {"a": 1}),
    ],
)
def test_filter_by(lookup: dict[str, Any], options: dict[str, Any], wanted: Any) -> None:
    before = copy.deepcopy(lookup)
    assert grains.filter_by(lookup, **options) == wanted
    assert lookup == before


def test_filter_by_pillar() -> None:
    assert pillar.filter_by(
        {"te*": {"b": 2}, "base": {"z": 1}}, pillar="s", base="base", merge={"m": 1}
    ) == {"z": 1, "b": 2, "m": 1}
    assert pillar.filter_by({"x": 1, "default": 7}, pillar="nope") == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"merge": "text"}, "merge argument must be a dictionary"),
        ({"base": "base"}, "must both be dictionaries"),
    ],
)
def test_filter_by_names_what_is_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RunnerError, match=message):
        grains.filter_by({"Debian": "text", "base": {"z": 9}}, **options)
