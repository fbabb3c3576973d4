# SPDX-License-Identifier: Apache-2.0
"""config.*, match.*, mine.* and publish.*: what a machine without a master answers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from harness import HarnessHere

from modules import config, match, mine, publish
from runner.api import RunnerError, running
from runner.language.targeting import match as targets

OPTS: dict[str, Any] = {
    "id": "m1",
    "custom": {"sub": {"x": 1}},
    "only_opts": 1,
    "mine_functions": {
        "test.ping": [],
        "alias": [{"mine_function": "test.echo"}, "x"],
        "named": {"mine_function": "test.kwarg", "a": 1, "allow_tgt": "*"},
        "test.fails": [],
    },
}
GRAINS = {
    "os": "Debian",
    "roles": ["web", "db"],
    "nest": {"a": "b c"},
    "custom": {"grain": 1},
    "ipv4": ["127.0.0.1"],
}
PILLAR: dict[str, Any] = {
    "custom": {"sub": {"y": 2}, "other": 3},
    "app": {"port": 80},
    "my.host": "h",
    "mine_functions": {"test.false": []},
}


class Here(HarnessHere):
    """With the engine's own matching."""

    def match(self, expression: Any, kind: str = "glob") -> bool:
        return targets.matches(
            expression, kind, id=self.opts["id"], grains=self.grains, pillar=self.pillar
        )


@pytest.fixture(autouse=True)
def here() -> Iterator[HarnessHere]:
    current = Here(
        opts=copy.deepcopy(OPTS), grains=copy.deepcopy(GRAINS), pillar=copy.deepcopy(PILLAR)
    )
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (lambda: config.get("custom"), {"sub": {"x": 1}}),
        (lambda: config.get("custom:sub:y"), 2),
        (lambda: config.get("app:port"), 80),
        (lambda: config.get("app/port", delimiter="/"), 80),
        (lambda: config.get("nope", "d"), "d"),
        (
            lambda: config.get("custom", merge="recurse"),
            {"sub": {"y": 2, "x": 1}, "other": 3, "grain": 1},
        ),
        (
            lambda: config.get("custom", merge=True),
            {"sub": {"y": 2, "x": 1}, "other": 3, "grain": 1},
        ),
        (lambda: config.get("custom", merge="overwrite"), {"sub": {"x": 1}}),
        (lambda: config.get("custom", omit_opts=True), {"grain": 1}),
        (
            lambda: config.get("custom", omit_opts=True, omit_grains=True),
            {"sub": {"y": 2}, "other": 3},
        ),
        (lambda: config.get("app:port", omit_pillar=True), ""),
        (lambda: config.get("id", omit_master=True), "m1"),
        (lambda: config.option("roles"), ["web", "db"]),
        (lambda: config.option("roles", omit_grains=True), ""),
        (lambda: config.option("only_opts", "d", omit_opts=True), "d"),
        (lambda: config.option("app", omit_pillar=True), ""),
        (lambda: config.option("app:port"), ""),
        (lambda: config.option("only*", wildcard=True), {"only_opts": 1}),
        (lambda: config.merge("custom"), {"sub": {"x": 1}, "other": 3}),
        (lambda: config.merge("custom", omit_pillar=True), {"sub": {"x": 1}}),
        (lambda: config.merge("roles", "d"), "d"),
        (lambda: config.dot_vals("my"), {"my.host": "h"}),
        (lambda: config.items()["id"], "m1"),
        (
            lambda: [config.valid_fileproto(each) for each in ("salt://x", "x", "no://x")],
            [True, False, False],
        ),
        (
            lambda: [config.manage_mode(each) for each in ("644", 644, "0644", None)],
            ["0644"] * 3 + [None],
        ),
        (lambda: [config.manage_mode(each) for each in ("4755", 7, "")], ["4755", "0007", "0000"]),
        (lambda: [config.backup_mode(), config.backup_mode("minion")], ["", "minion"]),
    ],
)
def test_config(found: Any, wanted: Any) -> None:
    assert found() == wanted


@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("compound", ("m*",), True),
        ("compound", ("G@os:Debian and not m1",), False),
        ("compound", ("",), False),
        ("compound", ("x1", "x1"), True),
        ("compound", ("not ( x1 or E@y. ) or G@os:Arch", "x1"), False),
        ("compound", ("G@os:Debian and L@x1,x2", "x1"), True),
        ("compound", ("I@app:port:80", "x1"), True),
        ("glob", ("x*",), False),
        ("glob", ("x*", "x1"), True),
        ("pcre", ("m.",), True),
        ("pcre", ("x.", "x1"), True),
        ("list_", ("m1,m2",), True),
        ("list_", (["x", "y"], "y"), True),
        ("list_", ("m",), False),
        ("grain", ("os:deb*",), True),
        ("grain", ("nest|a|b c", "|"), True),
        ("grain_pcre", ("os:Deb.*",), True),
        ("grain_pcre", ("os|x.*", "|"), False),
        ("pillar", ("app:port:80",), True),
        ("pillar", ("app|port|80", "|"), True),
        ("pillar_pcre", ("app:port:8.",), True),
        ("ipcidr", ("127.0.0.0/8",), True),
        ("ipcidr", ("10.0.0.0/8",), False),
        ("data", ("id:m1",), False),
        ("search_by", ({"a": ["x"], "b": ["G@os:Debian", "x"], "c": ["m*"]},), ["b", "c"]),
        ("search_by", ({"a": ["x"]},), None),
        ("search_by", ({"a": ["x1"]}, "compound", "x1"), ["a"]),
        ("search_by", ({"a": ["m.*"]}, "pcre"), ["a"]),
    ],
)
def test_match(name: str, args: tuple[Any, ...], wanted: Any) -> None:
    assert getattr(match, name)(*args) == wanted


@pytest.mark.parametrize(
    ("lookup", "options", "wanted"),
    [
        ({"m*": {"a": 1}, "default": {"b": 2}}, {}, {"a": 1}),
        ({"x*": {"a": 1}, "default": {"b": 2}}, {}, {"b": 2}),
        ({"x*": {"a": 1}, "y": 2}, {"default": "y"}, 2),
        ({"x*": {"a": 1}}, {"merge": {"b": 1}}, None),
        ({"G@os:Debian": 1, "m1": 2}, {}, 1),
        ({"m1": None, "default": 3}, {}, None),
        ({"x1": {"a": 1}}, {"minion_id": "x1"}, {"a": 1}),
        ({"m.": 1}, {"tgt_type": "pcre"}, 1),
        (
            {"m1": {"a": {"x": 1}, "l": [1]}},
            {"merge": {"a": {"y": 2}, "l": [2]}},
            {"a": {"x": 1, "y": 2}, "l": [2]},
        ),
        ({"m1": {"l": [1]}}, {"merge": {"l": [2]}, "merge_lists": True}, {"l": [1, 2]}),
    ],
)
def test_match_filter_by(lookup: dict[str, Any], options: dict[str, Any], wanted: Any) -> None:
    before = copy.deepcopy(lookup)
    assert match.filter_by(lookup, **options) == wanted
    assert lookup == before


def test_match_filter_by_names_what_is_wrong() -> None:
    with pytest.raises(RunnerError, match="must be a dictionary"):
        match.filter_by({"m1": {}}, merge="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (("*", "test.ping"), {"m1": True}),
        (("m1", "alias"), {"m1": "x"}),
        (("*", "named"), {"m1": {"a": 1}}),
        (("*", "test.false"), {"m1": False}),  # the pillar's
        (("*", "test.ping, alias"), {"test.ping": {"m1": True}, "alias": {"m1": "x"}}),
        (("*", ["nope", "test.ping"]), {"test.ping": {"m1": True}}),
        (("other", "test.ping"), {}),
        (("*", "nope"), {}),
        (("*", "test.version"), {}),  # a function, but not in the mine
        (("os:Debian", "test.ping", "grain"), {"m1": True}),
        (("m2,m1", "test.ping", "list"), {"m1": True}),
        ((["m1"], "test.ping", "list"), {"m1": True}),
        (("*", "test.ping", "glob", True), {}),
    ],
)
def test_mine_get(args: tuple[Any, ...], wanted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from modules import test

    monkeypatch.setattr(test, "false", test.false_, raising=False)
    assert mine.get(*args) == wanted


def test_the_mine_until_the_run_ends() -> None:
    assert mine.send("mine", "hello", mine_function="test.echo")
    assert mine.get("*", "mine") == {"m1": "hello"}
    assert mine.valid()["mine"] == {"test.echo": ["hello"]}
    assert mine.valid()["named"] == {"test.kwarg": [{"a": 1}]}
    assert mine.delete("mine")
    assert mine.get("*", "mine") == {}
    assert mine.update(mine_functions={"test.true_": []})
    assert mine.get("*", "test.true_") == {"m1": True}
    assert mine.flush()
    assert mine.update(clear=True)
    assert mine.get("*", "test.true_") == {}
    with pytest.raises(RunnerError, match="no way to match called 'nonsense'"):
        mine.get("*", "test.ping", "nonsense")


@pytest.mark.parametrize(
    ("pairs", "options", "wanted"),
    [
        (("x*", 1, "m*", 2, 3), {}, 2),
        (("x*", 1, 3), {}, 3),
        ((5,), {}, 5),
        ((True, 1, 2), {}, 1),
        (("m*", {"a": 1}, {}), {"merge": {"b": 2}}, {"a": 1, "b": 2}),
        (("m.", 1, 2), {"tgt_type": "pcre"}, 1),
        (("x*", 1, "default", 9, 7), {}, 7),
    ],
)
def test_match_ifelse(pairs: tuple[Any, ...], options: dict[str, Any], wanted: Any) -> None:
    assert match.ifelse(*pairs, **options) == wanted
    with pytest.raises(RunnerError, match="odd number"):
        match.ifelse(*pairs, 1)


def test_nobody_carries_calls_to_others() -> None:
    assert (
        publish.publish("*", "test.ping")
        == {}
        == publish.full_data("web*", "grains.get", ["os"], tgt_type="pcre")
    )
    assert publish.runner("manage.up").startswith("No access to master.")
