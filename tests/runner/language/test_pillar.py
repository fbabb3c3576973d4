# SPDX-License-Identifier: Apache-2.0
"""Pillar SLS texts in, one mapping out; the answers are those of a real Salt's pillar.items."""

import gc
from collections.abc import Mapping
from typing import Any

import jinja2
import pytest
import yaml

from runner.language.pillar.merge import merge
from runner.language.pillar.sls import Pillar
from runner.model.chunk import SlsFile
from runner.model.errors import CompileError, RunnerError
from runner.model.places import Place, PlacedList, PlacedMap, Untyped
from runner.support.yaml.load import load
from runner.support.yaml.rendered_text import Rendered

PLACE = Place(Untyped("top.sls"), 3, 7)


def pillar(
    files: dict[str, str], *names: str, override: Mapping[str, Any] | None = None, **more: Any
) -> Any:
    def read(sls: str, env: str, variables: Mapping[str, Any] | None = None) -> SlsFile:
        for name, is_init in ((sls, sls.endswith(".init")), (f"{sls}.init", True)):
            if name in files:
                text = jinja2.Template(files[name], undefined=jinja2.StrictUndefined).render(
                    **(variables or {})
                )
                return SlsFile(yaml.safe_load(text), f"{name}.sls", is_init)
        raise RunnerError(f"no {sls}", code="missing-sls")

    def listed(env: str) -> list[str]:
        return sorted(name.removesuffix(".init") for name in files)

    stage = Pillar(read, **{"read_with": read, "names": listed, **more})
    return stage.compile([("base", name, PLACE) for name in names], override or {})


A = "{m: {x: 1, l: [1, 2], d: {a: 1}}, l: [1], s: a, nul: 1, mix: {a: 1}}"
B = "{m: {y: 2, l: [3, 2], d: {b: 1}}, l: [2, 1], s: b, nul: null, mix: 4}"
SMART = {
    "m": {"x": 1, "l": [3, 2], "d": {"a": 1, "b": 1}, "y": 2},
    "l": [2, 1],
    "s": "b",
    "nul": None,
    "mix": 4,
}
OVER = {"m": {"y": 2, "l": [3, 2], "d": {"b": 1}}, "l": [2, 1], "s": "b", "nul": None, "mix": 4}


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("smart", SMART),
        ("recurse", SMART),
        ("none", SMART),
        ("bogus", SMART),
        ("overwrite", OVER),
        ("aggregate", OVER),
    ],
)
def test_strategies(strategy: str, expected: Any) -> None:
    assert pillar({"a": A, "b": B}, "a", "b", strategy=strategy) == expected


def test_lists_are_joined_where_wanted() -> None:
    found = pillar(
        {"a": "l: [3, {a: 1}, 1, 1]", "b": "l: [{a: 1}, 3, 4]"},
        "a",
        "b",
        lists=True,
        override={"l": [7]},
    )
    assert found == {"l": [3, {"a": 1}, 1, 1, 4, 7]}
    assert pillar({"a": "l: [1]", "b": "l: [2]"}, "a", "b", lists=True, strategy="none") == {
        "l": [2]
    }


def test_the_list_strategy_keeps_both() -> None:
    old, new = {"foo": 42, "bar": {"e1": True}}, {"foo": "bar", "bar": {"e2": True}, "baz": "q"}
    assert merge(old, new, "list") == {
        "foo": [42, "bar"],
        "bar": {"e1": True, "e2": True},
        "baz": "q",
    }
    assert old == {"foo": 42, "bar": {"e1": True}}


def test_the_command_line_wins() -> None:
    assert pillar(
        {"a": "m: {l: [1], x: 1, y: 1}"}, "a", override={"m": {"l": [9], "x": 5}, "new": 1}
    ) == {"m": {"l": [9], "x": 5, "y": 1}, "new": 1}


def test_includes_come_first_and_lose() -> None:
    files = {
        "inc": (
            "{include: [i.one, {i.two: {defaults: {v: 7}, key: 'k1:k2'}}, i.one, i.thr*], own: 1,"
            " val: inc}"
        ),
        "i.one": "{one: 1, val: one, lst: [a]}",
        "i.two": "{two: {{ v }}, lst: [b]}",
        "i.three": "{three: {{ v|default('none') }}, lst: [c]}",
    }
    found = pillar(files, "inc")
    assert list(found.items()) == [
        ("one", 1),
        ("val", "inc"),
        ("lst", ["c"]),
        ("k1", {"k2": {"two": 7, "lst": ["b"]}}),
        ("three", 7),
        ("own", 1),
    ]


def test_defaults_hold_for_what_comes_after_and_below() -> None:
    """As in Salt, odd as it is: until other defaults are given, and an include with other defaults
    replaces them.
    """
    files = {
        "inc": "include: [{mid: {defaults: {v: 7, w: 1}}}, leaf3]",
        "mid": "{include: [leaf, {leaf2: {defaults: {w: 2}, key: sub}}], mid: {{ v }}}",
        "leaf": "leaf: {{ v|default('none') }}{{ w|default('none') }}",
        "leaf2": "leaf2: {{ v|default('none') }}{{ w|default('none') }}",
        "leaf3": "leaf3: {{ v|default('none') }}{{ w|default('none') }}",
    }
    assert pillar(files, "inc") == {"leaf": 71, "sub": {"leaf2": "none2"}, "mid": 7, "leaf3": 71}


def test_places_of_the_pillar_are_forgotten_with_the_file_that_they_are_of() -> None:
    """They take more memory than the values."""
    texts = {"a": "include: [c]\nx: {y: [{z: 1}]}", "b": "x: {w: 2}", "c": "v: {u: 3}"}
    documents = {sls: Rendered(text, sls) for sls, text in texts.items()}
    remembered: dict[str, int] = {}

    def read(sls: str, saltenv: str) -> tuple[Any, str, bool]:
        objects = [item for item in gc.get_objects() if type(item) in (PlacedMap, PlacedList)]
        remembered[sls] = sum(item.document is documents["a"] for item in objects)
        return load(texts[sls], documents[sls]), sls, False

    requests = [("base", sls, PLACE) for sls in ("a", "b", "c")]
    compiled = Pillar(read).compile(requests, {})
    assert compiled == {"v": {"u": 3}, "x": {"y": [{"z": 1}], "w": 2}}
    assert remembered == {"a": 0, "c": 1, "b": 1}  # the include


def test_what_is_included_twice_is_a_copy_of_its_own() -> None:
    texts = {"a": "include: [c: {key: one}, c: {key: two}]", "c": "x: [{y: 1}]"}

    def read(sls: str, saltenv: str) -> tuple[Any, str, bool]:
        return load(texts[sls], Rendered(texts[sls], sls)), sls, False

    compiled = Pillar(read).compile([("base", "a", PLACE)], {})
    compiled["one"]["x"][0]["y"] = 2
    assert compiled["two"] == {"x": [{"y": 1}]}


def test_an_sls_is_rendered_once() -> None:
    """With the defaults of the include that comes first."""
    files = {
        "one": "include: [{leaf: {defaults: {v: 1}, key: a}}, {leaf: {defaults: {v: 2}, key: b}}]",
        "leaf": "leaf: {{ v | default('none') }}",
    }
    assert pillar(files, "one") == {"a": {"leaf": 1}, "b": {"leaf": 1}}
    assert pillar(files, "leaf", "one") == {
        "leaf": "none",
        "a": {"leaf": "none"},
        "b": {"leaf": "none"},
    }
    # the top file itself gives no defaults; what is included again brings its own includes no
    # second time
    assert pillar(files, "one", "leaf") == {"leaf": "none", "a": {"leaf": 1}, "b": {"leaf": 1}}
    files = {
        "a": "include: [{x: {key: k}}, {x: {key: l}}]",
        "x": "{include: [y], x: 1}",
        "y": "y: 2",
    }
    assert pillar(files, "a") == {"k": {"y": 2, "x": 1}, "l": {"x": 1}}


@pytest.mark.parametrize(
    ("files", "names", "expected"),
    [
        ({"a": "{include: [a], x: 1}"}, ["a"], {"x": 1}),
        ({"a": "{include: [b], x: 1}", "b": "{include: [a], y: 1}"}, ["a"], {"y": 1, "x": 1}),
        ({"a": "{include: [{x: {key: 'a:b'}}, {x: {key: c}}], o: 1}", "x": "x: 1"}, ["a"], None),
        ({"a": "{include: [x], x: 2}", "x": "x: 1"}, ["a", "x"], {"x": 1}),
        (
            {"n.rel": "include: [.two, n.three]", "n.two": "two: 2", "n.three": "three: 3"},
            ["n.rel"],
            None,
        ),
        ({"n.init": "include: [.two, ..top]", "n.two": "two: 2", "top": "three: 3"}, ["n"], None),
        ({"web.a": "o: [a]", "web.b": "o: [b]", "web.init": "o: [i]"}, ["web.*"], {"o": ["b"]}),
        ({"a": "", "b": "b: 1"}, ["a", "b"], {"b": 1}),
    ],
)
def test_includes(files: dict[str, str], names: list[str], expected: Any) -> None:
    wholes = {"a": {"a": {"b": {"x": 1}}, "c": {"x": 1}, "o": 1}}
    assert pillar(files, *names) == (expected or wholes.get(names[0]) or {"two": 2, "three": 3})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "SLS 'a' does not render to a dictionary"),
        *((text, "SLS 'a' does not render to a dictionary") for text in ("false", "0", "[]", "''")),
        ("abc", "SLS 'a' does not render to a dictionary"),
        ("include: nope", "Include Declaration in SLS 'a' is not formed as a list"),
        ("include: [nope]", "no nope\n  at top.sls:3:7"),
        ("include: ['nope*']", "Specified SLS 'nope*' in environment 'base'"),
        ("include: [{x: {key: k, defualts: {}}}]", "an include has no 'defualts'"),
        ("include: [{x: {key: [a, b]}}]", "the key of an include is a text, not ['a', 'b']"),
        ("include: [{x: {defaults: [1]}}]", "the defaults of an include are not a mapping"),
        ("include: [1]", "1 is not the name of an SLS"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(CompileError) as error:
        pillar({"a": text, "x": "x: 1"}, "a")
    expected = message.replace("top.sls:3:7", "a.sls:1:1") if "nope\n" in message else message
    assert expected in str(error.value)


def test_all_mistakes_at_once_with_the_line_of_the_top_file() -> None:
    with pytest.raises(CompileError) as error:
        pillar({"ok": "ok: 1"}, "one", "ok", "two")
    assert [str(item.source) for item in error.value.diagnostics] == ["top.sls:3:7", "top.sls:3:7"]


def test_a_missing_sls_may_be_ignored() -> None:
    assert pillar(
        {"ok": "ok: 1"}, "gone", "gone*", "ok", optional={("base", "gone"), ("base", "gone*")}
    ) == {"ok": 1}
    with pytest.raises(CompileError, match="no gone"):
        pillar({"a": "include: [gone]"}, "gone", "a", optional={("base", "gone")})
