# SPDX-License-Identifier: Apache-2.0
"""Top files in, SLS names out; the answers are those of a real Salt's state.show_top and
pillar.items.
"""

import json
from typing import Any

import pytest
import yaml
from command import Machine

from runner.language.targeting import top
from runner.language.targeting.top import Top
from runner.model.errors import CompileError, RunnerError

BASE = """
base:
  '*': [a, w.*, a, {ignore_missing: True}]
  web1: [b]
  'os:Debian':
    - match: grain
    - g
  'db*': [never]
  'l,web1':
    - match: list
    - l
dev:
  '*': [fromdev]
  'web*': [b]
"""
DEV = """
dev:
  '*': [devtop]
base:
  '*': [basefromdev]
third:
  '*': [z]
"""
TRUE = {
    ("*", "compound"),
    ("web1", "compound"),
    ("web*", "compound"),
    ("os:Debian", "grain"),
    ("l,web1", "list"),
}
OWN = ["a", "w.*", "a", "b", "g", "l"]


def matches(expression: str, kind: str) -> bool:
    if kind not in ("compound", "grain", "list", "glob"):
        raise RunnerError(f"no kind {kind}", hint="grain")
    return (expression, kind) in TRUE


def names(files: dict[str, str], envs: tuple[str, ...] = ("base", "dev"), **more: Any) -> Top:
    def read(env: str) -> Any:
        return yaml.safe_load(files[env]) if env in files else None

    return top.names(read, envs, matches, **more)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"base": OWN, "dev": ["fromdev", "b"]}),
        ({"strategy": "same"}, {"base": OWN, "dev": ["devtop"]}),
        (
            {"strategy": "merge_all"},
            {"base": [*OWN[:3], "basefromdev", *OWN[3:]], "dev": ["fromdev", "devtop", "b"]},
        ),
        ({"saltenv": "dev"}, {"dev": ["devtop"]}),
        ({"saltenv": "base"}, {"base": OWN}),
        ({"state_top_saltenv": "dev"}, {"dev": ["devtop"]}),
        (
            {"strategy": "merge_all", "env_order": ["dev", "base"]},
            {"dev": ["devtop", "fromdev", "b"], "base": ["basefromdev", *OWN]},
        ),
        ({"env_order": ["dev"]}, {"dev": ["devtop"]}),
    ],
)
def test_several_environments(settings: dict[str, Any], expected: dict[str, list[str]]) -> None:
    dev = (
        DEV.replace("third:\n  '*': [z]\n", "") if settings.get("strategy") == "merge_all" else DEV
    )
    assert names({"base": BASE, "dev": dev}, **settings).as_data() == expected


def test_env_order_puts_environments_first() -> None:
    found = names({"base": "{base: {'*': [a]}}", "dev": "{dev: {'*': [b]}}"})
    assert [env for env, _, _ in found.requests()] == ["base", "dev"]
    assert [env for env, _, _ in found.requests(["dev"])] == ["dev", "base"]


def test_base_silences_a_whole_environment() -> None:
    files = {
        "base": "{base: {'*': [a]}, dev: {'x*': [q]}}",
        "dev": "{dev: {'*': [r]}, base: {'web1': [s]}}",
    }
    assert names(files).as_data() == {"base": ["a"]}


def test_default_top_speaks_for_those_without_one() -> None:
    files = {"base": "{base: {'*': [a]}, dev: {'*': [d]}}"}
    assert names(files, strategy="same").as_data() == {"base": ["a"], "dev": ["d"]}
    assert names(files, strategy="same", default_top="dev").as_data() == {"base": ["a"]}


def test_pillar_tops() -> None:
    """The later file replaces a target's lines; `order` counts (in state tops it does not)."""
    files = {
        "base": "{base: {'*': [b1]}, dev: {'*': [d1]}}",
        "dev": "{dev: {'*': [d2], 'web*': [d3, d1]}, base: {'*': [b2], 'web*': [b3]}}",
    }
    assert names(files, pillar=True).as_data() == {"base": ["b2", "b3"], "dev": ["d2", "d3", "d1"]}
    text = (
        "base: {'*': [a], 'web*': [{order: 1}, b], 'web1': [{order: -1}, c], 'os:Debian': [{match:"
        " grain}, d]}"
    )
    assert names({"base": text}, pillar=True).as_data() == {"base": ["c", "a", "d", "b"]}
    assert names({"base": text}).as_data() == {"base": ["a", "b", "c", "d"]}
    assert names({"base": "base: {'*': [a], web1: {}}"}, pillar=True).as_data() == {"base": ["a"]}


def test_requests_are_each_once_and_by_environment() -> None:
    found = names({"base": BASE})
    assert [(env, sls) for env, sls, _ in found.requests()] == [
        *[("base", sls) for sls in ("a", "w.*", "b", "g", "l")],
        *[("dev", sls) for sls in ("fromdev", "b")],
    ]
    assert found.optional == {("base", "a"), ("base", "w.*")}


def test_an_sls_of_another_environment() -> None:
    text = "base: {'*': [a, {dev: q}, {dev: [r]}, {nope: z}]}"
    assert names({"base": text}).as_data() == {"base": ["a"], "dev": ["q", "r"]}


def test_no_top_file() -> None:
    assert names({}).as_data() == {}
    assert names({"base": ""}).as_data() == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]", "not a mapping of environments (got list)"),
        ("'*': [a]", "saltenv '*' is not a mapping of targets (got list)"),
        ("base: {'*': a}", "for matcher '*' in saltenv 'base' are not formed as a list (got str)"),
        ("base: {'*': null}", "not formed as a list (got NoneType)"),
        ("base: {'*': {}}", "not formed as a list (got dict)"),
        ("base: {'*': [1]}", "holds 1, which is not the name of an SLS"),
        ("base: {'*': ['']}", "holds an empty SLS name"),
        ("base: {'*': [{match: bogus}, a]}", "no kind bogus"),
        ("nope: {'*': [a]}", "No matching salt environment for environment 'nope' found"),
        ("bsae: {'*': [a]}", "did you mean base?"),
        ("base: {'*': [{order: x}, a]}", "order: 'x' is not a number"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(CompileError) as error:
        names({"base": text})
    assert message in str(error.value)


def test_all_mistakes_at_once() -> None:
    with pytest.raises(CompileError) as error:
        names({"base": "base: {'*': a, 'web1': [1], 'x': [{match: bogus}]}"})
    assert len(error.value.diagnostics) == 3


def test_places() -> None:
    render = pytest.importorskip("runner.support.yaml.load")
    from runner.model.places import Untyped

    text = "base:\n  '*':\n    - a\n  'web1':\n    - match: bogus\n    - b\n"
    value = render.load(text, Untyped("/srv/top.sls"))
    found = top.names(
        lambda env: value if env == "base" else None, ["base"], lambda expression, kind: True
    )
    assert [str(place.source) for _, _, place in found.requests()] == [
        "/srv/top.sls:3:7",
        "/srv/top.sls:6:7",
    ]
    with pytest.raises(CompileError) as error:
        top.names(lambda env: value, ["base"], matches)
    assert "/srv/top.sls:4:3" in str(error.value)


def test_show_top_tells_which_line_matched(machine: Machine) -> None:
    machine.write(
        top=(
            "base:\n  '*':\n    - a\n  'web* or (':\n    - b\n  'os:None':\n    - match: grain\n   "
            " - c\n"
        )
    )
    lines = machine("show", "top").stdout.splitlines()
    top = machine.folder / "states" / "top.sls"
    assert lines[:3] == ["base:", f"- a  # '*', {top}:3", lines[2]]
    assert lines[2].startswith(f"# not this machine: 'web* or (', {top}:4: the compound expression")
    assert lines[3] == f"# not this machine: 'os:None' (grain), {top}:6"


def test_what_is_no_name_below_a_target_of_other_machines(machine: Machine) -> None:
    """Salt stops there only on the machines that the target means."""
    text = "base:\n  'other*':\n    - no\n    - b: {}\n  '*':\n    - a\n"
    (machine.folder / "pillar").mkdir(exist_ok=True)
    (machine.folder / "pillar/top.sls").write_text(text)
    (machine.folder / "pillar/a.sls").write_text("x: 1\n")
    machine.write(top=text, a="a: {test.nop: []}", broken="a:\n  test.nop:\n  - b: c: d\n")
    done = machine("highstate", "--out", "json")
    assert "test_|-a_|-a_|-nop" in json.loads(done.stdout)["local"]
    told = "'other*' in saltenv 'base' holds an empty SLS name [match]"
    assert done.stderr.count(told) == 2 and "'b' is not a setting" in done.stderr
    found = machine("check", code=1).stdout
    for name in ("pillar/top.sls:3", "states/top.sls:3", "states/broken.sls:3"):
        assert f"{machine.folder}/{name}:" in found
    machine.write(top=text.replace("other*", "m*"))
    failed = machine("highstate", code=1).stderr
    assert "error: Malformed top file: 'm*' in saltenv 'base' holds an empty SLS name" in failed


def test_what_is_no_top_file_is_named(machine: Machine) -> None:
    machine.write(a="x: {test.nop: []}\n")
    for root in ("states", "pillar"):
        (machine.folder / root / "top.sls").symlink_to("nothing")
    link = f"{machine.folder}/{{}}/top.sls is a link to nothing"
    assert link.format("states") in machine("highstate", code=1).stderr
    for words in (("sls", "a"), ("check", "a")):
        done = machine(*words)
        assert f"the pillar has no top file: {link.format('pillar')}" in done.stdout + done.stderr


def test_a_file_root_that_is_not_there_is_named(machine: Machine) -> None:
    machine.config["file_roots"] = {"base": ["sates"]}
    hint = f"{machine.folder}/sates: there is no such folder"
    assert hint in machine("highstate", code=1).stderr


def test_an_environment_whose_top_file_is_another_ones_is_named(machine: Machine) -> None:
    """With an environment chosen only its own top file is read, as with Salt."""
    machine.write(top="base: {'*': [a]}\ndev: {'*': [a]}", a="a: test.nop")
    machine.config["file_roots"] = {"base": ["states"], "dev": ["states/dev"]}
    (machine.folder / "states/dev").mkdir()
    told = machine("highstate", "--test", "--saltenv", "dev", code=1).stderr
    assert "dev has no top.sls" in told and "that of base does not count" in told
