# SPDX-License-Identifier: Apache-2.0
"""slsutil.* and defaults.*: merging, data as text, the tree, rendering, banners."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness import HarnessHere

from modules import defaults, slsutil
from runner.api import RunnerError, StateFailed, running
from runner.language.salt.utils import dictupdate

A = {"a": 1, "l": [1, 2], "d": {"x": 1, "y": [1]}, "n": None}
B = {"b": 2, "l": [2, 3], "d": {"x": 9, "z": 2, "y": [2]}, "n": {"q": 1}}
SMART = {"a": 1, "l": [2, 3], "d": {"x": 9, "y": [2], "z": 2}, "n": {"q": 1}, "b": 2}
LISTS = {"a": 1, "l": [1, 2, 3], "d": {"x": 9, "y": [1, 2], "z": 2}, "n": {"q": 1}, "b": 2}
OVERWRITTEN = {"a": 1, "l": [2, 3], "d": {"x": 9, "z": 2, "y": [2]}, "n": {"q": 1}, "b": 2}
LISTED = {"a": 1, "l": [A["l"], B["l"]], "d": [A["d"], B["d"]], "n": [None, {"q": 1}]}


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[HarnessHere]:
    files = {
        "a.sls": "x: {test.nop: []}",
        "sub/f.txt": "hello {{ who }}",
        "sub/deep/d.yaml": "a: {{ who }}",
        "j.json": '#!jinja|json\n{"a": {{ 1 + 1 }} }',
        "form/defaults.yaml": "port: 1\nnest: {a: 1}",
        "other/defaults.json": '{"port": 3}',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    current = HarnessHere(root=tmp_path, pillar={"form": {"port": 2}})
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("strategy", "lists", "wanted"),
    [
        ("smart", False, SMART),
        ("smart", True, LISTS),
        ("recurse", False, SMART),
        ("recurse", True, LISTS),
        ("unknown", True, SMART),
        ("overwrite", True, OVERWRITTEN),
        ("aggregate", True, OVERWRITTEN),
        ("list", True, LISTED),
    ],
)
def test_merge(strategy: str, lists: bool, wanted: Any) -> None:
    first, second = copy.deepcopy(A), copy.deepcopy(B)
    found = slsutil.merge(first, second, strategy=strategy, merge_lists=lists)
    assert (found, list(found)) == (wanted, list(wanted))
    assert (first, second) == (A, B)  # neither is changed


def test_merge_all_and_update() -> None:
    assert slsutil.merge_all([A, B, {"d": {"x": 5}}])["d"] == {"x": 5, "y": [2], "z": 2}
    assert slsutil.merge_all([]) == slsutil.merge_all([A, B], strategy="list") == {}
    assert slsutil.merge([1, 2], [2, 3], strategy="aggregate") == [1, 2, 3]
    assert slsutil.merge(A, B, renderer="yamlex") == OVERWRITTEN
    dest = copy.deepcopy(A)
    inner = dest["d"]
    assert slsutil.update(dest, B, merge_lists=True) is dest
    assert (dest, dest["d"] is inner) == (LISTS, True)
    assert slsutil.update({"d": {"x": 1}}, {"d": {"y": 2}}, recursive_update=False) == {
        "d": {"y": 2}
    }


@pytest.mark.parametrize("strategy", ["smart", "recurse", "list", "overwrite"])
@pytest.mark.parametrize(("first", "second"), [(None, B), (A, None), ("a", B), ([1], [2])])
def test_only_mappings_are_merged(strategy: str, first: Any, second: Any) -> None:
    with pytest.raises(TypeError, match="only mappings can be laid over each other"):
        slsutil.merge(first, second, strategy=strategy)


@pytest.mark.parametrize(
    ("kind", "value", "options", "text"),
    [
        ("yaml", {"b": [1, {"x": 2}], "a": "ü"}, {}, 'a: "\\xFC"\nb:\n- 1\n- {x: 2}'),
        ("yaml", {"b": [1]}, {"default_flow_style": False, "allow_unicode": False}, "b:\n- 1"),
        ("yaml", {"b": 1, "a": 2}, {"sort_keys": False}, "{b: 1, a: 2}"),
        ("yaml", "x", {}, "x"),
        ("yaml", {}, {}, "{}"),
        ("json", {"b": 1, "a": [2]}, {}, '{"b": 1, "a": [2]}'),
        ("json", {"b": 1}, {"indent": 2}, '{\n  "b": 1\n}'),
        ("configparser", {"a": {"b": 1}}, {}, "[a]\nb = 1\n\n"),
    ],
)
def test_serialize(kind: str, value: Any, options: dict[str, Any], text: str) -> None:
    assert slsutil.serialize(kind, value, **options) == text


def test_deserialize() -> None:
    assert slsutil.deserialize("yaml", "a: [1]") == {"a": [1]}
    assert slsutil.deserialize("json", '{"a": 1}') == {"a": 1}
    for kind, text in (("json", "{"), ("yaml", "a: {"), ("no_such_kind", "")):
        with pytest.raises(StateFailed, match=kind):
            slsutil.deserialize(kind, text)


@pytest.mark.parametrize(
    ("path", "file", "folder"),
    [
        ("a.sls", True, False),
        ("sub", False, True),
        ("sub/deep", False, True),
        ("sub/deep/d.yaml", True, False),
        ("su", False, False),
        ("sub/", False, False),
        ("/a.sls", False, False),
        ("sub/../a.sls", False, False),
        ("", False, False),
    ],
)
def test_the_tree(path: str, file: bool, folder: bool) -> None:
    assert (slsutil.file_exists(path), slsutil.dir_exists(path)) == (file, folder)
    assert slsutil.path_exists(path) is (file or folder)


@pytest.mark.parametrize(
    ("start", "names", "wanted"),
    [
        ("sub/deep", "f.txt", "sub/f.txt"),
        ("sub/deep", "a.sls", "a.sls"),
        ("sub/deep", ["nope", "a.sls"], "a.sls"),
        ("sub/deep", ["f.txt", "d.yaml"], "sub/deep/d.yaml"),
        ("sub/deep/d.yaml", "a.sls", "a.sls"),
        ("sub/", "deep", "sub/deep"),
        ("", "a.sls", "a.sls"),
        (None, "a.sls", "a.sls"),
    ],
)
def test_findup(start: str | None, names: str | list[str], wanted: str) -> None:
    assert slsutil.findup(start, names) == wanted


def test_findup_names_what_is_wrong() -> None:
    for start in ("nope", "/sub", "sub/nope"):
        with pytest.raises(
            RunnerError, match=f"Starting path not found in the state tree: {start}"
        ):
            slsutil.findup(start, "a.sls")
    nothing: tuple[str | list[str], ...] = ("nope", [])
    for names in nothing:
        with pytest.raises(StateFailed, match="not found in path ancestry"):
            slsutil.findup("sub/deep", names)
    with pytest.raises(RunnerError, match="a name or a list of names"):
        slsutil.findup("sub", {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "options", "wanted"),
    [
        (("salt://sub/deep/d.yaml",), {"who": "me"}, {"a": "me"}),
        (("salt://j.json",), {}, {"a": 2}),
        (("salt://sub/f.txt",), {"who": "me", "default_renderer": "jinja"}, "hello me"),
        (("salt://nope",), {}, {}),
        (
            (),
            {"string": "a: {{ 1 + 1 }}\nb: 2020-01-01\nc: 010"},
            {"a": 2, "b": "2020-01-01", "c": 10},
        ),
        ((), {"string": "# nothing"}, {}),
        ((), {"string": "{{ sls }}{{ slsdotpath }}", "default_renderer": "jinja"}, ""),
        ((), {"string": "- &x [1]\n- *x\n- {<<: {a: 1}, b: 2}"}, [[1], [1], {"a": 1, "b": 2}]),
    ],
)
def test_renderer(args: tuple[str, ...], options: dict[str, Any], wanted: Any) -> None:
    assert slsutil.renderer(*args, **options) == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Must pass path or string"),
        ({"path": "salt://a.sls", "string": "x"}, "Must not pass both"),
        ({"string": "a: 1\na: 2"}, "found conflicting ID 'a'"),
        ({"string": "a: {"}, "flow node"),
        ({"string": "? [1]\n: 2"}, "unhashable key"),
    ],
)
def test_renderer_names_what_is_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RunnerError, match=message):
        slsutil.renderer(**options)


def test_banner() -> None:
    box = slsutil.banner(
        width=20,
        title="T",
        text="some text that goes on",
        blockstart="/*",
        blockend="*/",
        newline=True,
    )
    assert (
        box
        == "/*\n####################\n#                  #\n#        T         #\n#                "
        "  #\n# some text that   #\n# goes on          #\n####################\n*/\n"
    )
    assert (
        slsutil.banner(
            commentchar="//", borderchar="*", width=12, title="T", text="x"
        ).splitlines()[0]
        == "//********//"
    )
    assert {len(line) for line in slsutil.banner().splitlines()} == {72}
    with pytest.raises(RunnerError, match="a width of 4 is too small"):
        slsutil.banner(width=4)


def test_boolstr() -> None:
    assert [slsutil.boolstr(value, "on", "off") for value in (True, 0, "no", "")] == [
        "on",
        "off",
        "on",
        "off",
    ]


MERGES = [slsutil.update, slsutil.merge, defaults.merge, dictupdate.update, dictupdate.merge]


@pytest.mark.parametrize("merge", MERGES)
def test_joined_lists_share_no_element_with_the_list_that_was_there(merge: Any) -> None:
    shared = [{"name": "x"}]
    groups = {"a": {"l": shared}, "b": {"l": shared}}
    merged = merge(groups, {"a": {"l": [1]}, "b": {"l": [2]}}, merge_lists=True)
    assert merged == {"a": {"l": [*shared, 1]}, "b": {"l": [*shared, 2]}}
    assert "&" not in yaml.dump(merged)
    merged["a"]["l"][0]["name"] = "y"
    assert shared == merged["b"]["l"][:1] == [{"name": "x"}]


# ---------------------------------------------------------------- defaults


def test_defaults_merge() -> None:
    dest: dict[str, Any] = {"d": {"x": 1}, "l": [1]}
    assert defaults.merge(dest, {"d": {"y": 2}, "l": [2]}, merge_lists=True) is dest
    assert dest == {"d": {"x": 1, "y": 2}, "l": [1, 2]}
    assert defaults.merge(dest, None) is dest
    kept = copy.deepcopy(dest)
    assert defaults.merge(dest, {"d": {"x": 3}}, in_place=False)["d"] == {"x": 3, "y": 2}
    assert dest == kept
    assert defaults.merge(None, {"a": 1}, in_place=False) == {"a": 1}
    for first, second, options in (
        (None, {}, {}),
        ({}, None, {"convert_none": False}),
        ("x", {}, {}),
        ({}, "x", {}),
    ):
        with pytest.raises(TypeError, match="laid over"):
            defaults.merge(first, second, **options)


def test_defaults_update() -> None:
    hosts: dict[str, Any] = {"h1": {"l": [1]}, "h2": None}
    assert defaults.update(hosts, {"l": [2], "b": 3}) is hosts
    assert hosts == {"h1": {"l": [2, 1], "b": 3}, "h2": {"l": [2], "b": 3}}
    assert defaults.update({"h": {"l": [1]}}, {"l": [2]}, merge_lists=False) == {"h": {"l": [1]}}
    assert defaults.update(None, {}, in_place=False) == {}
    with pytest.raises(TypeError, match="in place of None"):
        defaults.update(None, {})


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("form:port", 1),  # the file's, not the pillar's
        ("form:nest:a", 1),
        ("form", {"port": 1, "nest": {"a": 1}}),
        ("other:port", 3),
        ("form:nope", "dflt"),
        ("nope:x", "dflt"),
        ("nope", "dflt"),
    ],
)
def test_defaults_get(key: str, wanted: Any) -> None:
    assert defaults.get(key, "dflt") == wanted


def test_an_unknown_strategy_is_told(caplog: pytest.LogCaptureFixture) -> None:
    assert slsutil.merge({"a": {"b": 1}}, {"a": {"c": 2}}, strategy="none") == {
        "a": {"b": 1, "c": 2}
    }
    assert not caplog.records
    assert slsutil.merge({"a": {"b": 1}}, {"a": {"c": 2}}, strategy="smrt") == {
        "a": {"b": 1, "c": 2}
    }
    assert [each.message for each in caplog.records] == [
        "Unknown merging strategy 'smrt', fallback to recurse"
    ]
