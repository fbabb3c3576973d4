# SPDX-License-Identifier: Apache-2.0
"""Salt's `state.*` and `sys.*`, as people who come from a masterless Salt type them."""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import Any

import pytest
from command import Machine

from runner.engine import partial_changes
from runner.model.errors import RunnerError


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    made = Machine(tmp_path_factory.mktemp("machine"))
    made.write(
        top="base: {'*': [web, other]}",
        web__init="include: [.sub]\na: {test.nop: [{require: [{test: b}]}]}",
        web__sub="b: {test.succeed_with_changes: []}",
        other="c: {test: [nop]}",
    )
    return made


def called(machine: Machine, *words: str, code: int = 0) -> Any:
    return machine.answer("call", *words, code=code)


def ran(machine: Machine, *words: str) -> list[tuple[str, bool | None]]:
    return [(each["__id__"], each["result"]) for each in called(machine, *words).values()]


def test_looking(machine: Machine) -> None:
    assert called(machine, "state.show_states") == ["web.sub", "web", "other"]
    assert called(machine, "state.show_top") == {"base": ["web", "other"]}
    assert [chunk["__id__"] for chunk in called(machine, "state.show_low_sls", "web")] == ["b", "a"]
    assert called(machine, "state.sls_exists", "web,other") is True
    assert called(machine, "state.sls_exists", "nope", code=1) is False
    assert called(machine, "state.id_exists", "a,b", "web") is True
    assert called(machine, "state.id_exists", "a,c", "web") is False
    assert called(machine, "state.running") == []


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["state.sls_id", "b", "web"], [("b", True)]),
        (["state.sls_id", "a", "web", "test=True"], [("b", None), ("a", True)]),
        (["state.top", "top.sls", "exclude=a"], [("b", True), ("c", True)]),
        (["state.test", "mods=web"], [("b", None), ("a", True)]),
        (["state.template_str", "x{{ pillar.n }}: test.nop", "pillar={n: 5}"], [("x5", True)]),
        (["state.high", "{y: {test: [nop]}, z: {test.nop: []}}"], [("y", True), ("z", True)]),
    ],
)
def test_running(machine: Machine, words: list[str], wanted: list[tuple[str, bool | None]]) -> None:
    assert ran(machine, *words) == wanted


def test_one_chunk(machine: Machine) -> None:
    found = called(machine, "state.low", "{state: test, fun: nop, name: n, __id__: i}")
    assert (found["__id__"], found["name"], found["result"]) == ("i", "n", True)


def test_a_file_that_is_in_no_tree(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "one.sls").write_text("include: [other]\nx: {test.nop: [{require: [{test: c}]}]}\n")
    assert ran(machine, "state.template", str(tmp_path / "one.sls")) == [("c", True), ("x", True)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["state.slz"], "did you mean state.sls?"),
        (["state.sls"], "no SLS file is named"),
        (["state.sls_id"], "id_ is missing"),
        (["state.low", "{state: test}"], 'Missing "fun" data'),
        (["state.low", "x"], "state.low takes one chunk"),
        (["state.high", "x"], "High data is not a dictionary and is invalid"),
        (
            ["state.template", "/no/such/file"],
            "Specified SLS /no/such/file on local filesystem cannot be found.",
        ),
        (["state.apply", "web", "pillar=x"], "pillar=: expected a mapping"),
        (["state.template_str", "x: ["], "template_str.sls:1:4"),
        (
            ["test.echo"],
            "Passed invalid arguments to test.echo: missing a required argument: 'text'",
        ),
        (["test.echo", "x", "y=1"], "it takes: test.echo(text)"),
        (
            ["composer.install", "/x", "nodev=1"],
            "composer.install(directory, composer, php, runas,",
        ),
        (
            ["slsutil.merge", "{a: 1}", "5"],
            "slsutil.merge: only mappings can be laid over each other",
        ),
        (["saltutil.runner", "state.orch"], "the runner 'state.orch' is a Salt master's"),
    ],
)
def test_mistakes(machine: Machine, words: list[str], says: str) -> None:
    done = machine("call", *words, code=1)
    assert says in done.stdout + done.stderr


def test_arguments_get_the_names_that_python_gives_them() -> None:
    def many(x: int, y: int = 1, *others: int, k: int, m: int = 2, **more: int) -> None: ...
    def by_place(x: int, /, y: int = 2) -> None: ...
    def by_name(*, k: int = 1) -> None: ...

    draw = random.Random(5)
    outcomes = set()
    for _ in range(500):
        function = draw.choice([many, by_place, by_name])
        args = [draw.randrange(9) for _ in range(draw.randrange(4))]
        kwargs = {draw.choice("xykmz"): draw.randrange(9) for _ in range(draw.randrange(4))}
        try:
            bound = inspect.signature(function).bind(*args, **kwargs).arguments | kwargs
        except TypeError:
            bound = None
        try:
            found = partial_changes.named_arguments("f", function, args, kwargs)
        except RunnerError:
            found = None
        assert found == bound
        outcomes.add((function, bound is None))
    assert len(outcomes) == 6


def test_the_command_that_makes_the_changes(machine: Machine) -> None:
    shown = machine("call", "state.sls", "web", "test=True").stdout
    assert "\n  runner call state.sls web " in shown


def test_sys(machine: Machine) -> None:
    machine.write(x="x: {test.nop: [{v: {{ salt['sys.list_functions']('test.ec*') }}}]}")
    (machine.folder / "states/_modules").mkdir(exist_ok=True)
    (machine.folder / "states/_modules/own.py").write_text(
        "def f(a, b=1, *args, **kwargs):\n    'What f does.'\n"
    )
    assert called(machine, "state.show_low_sls", "x")[0]["v"] == ["test.echo"]
    assert called(machine, "sys.list_functions", "own", "test.ec*") == ["own.f", "test.echo"]
    assert called(machine, "sys.list_modules", "tes*", "sysc*") == ["sysctl", "test"]
    assert called(machine, "sys.list_state_functions", "file.*ged") == ["file.managed"]
    assert called(machine, "sys.list_state_modules", "te*") == ["test"]
    assert called(machine, "sys.list_renderers", "j*") == ["jinja", "json"]
    assert called(machine, "sys.doc", "own.f") == {"own.f": "What f does."}
    spec = {"args": ["a", "b"], "defaults": [1], "varargs": True, "kwargs": True}
    assert called(machine, "sys.argspec", "own.f") == {"own.f": spec}
    assert called(machine, "sys.state_argspec", "file.absent")["file.absent"]["args"] == ["name"]
    decorated = called(machine, "sys.state_argspec", "file.comment")["file.comment"]
    assert (decorated["args"][-1], decorated["defaults"][-1]) == ("validate", None)
    grouped = called(machine, "sys.state_argspec", "redis.absent")["redis.absent"]
    assert grouped["args"] == ["name", "keys", "host", "port", "db", "password"]
    assert grouped["defaults"] == [None] * 5
    grouped = called(machine, "sys.argspec", "composer.selfupdate")["composer.selfupdate"]
    assert grouped["args"] == ["composer", "php", "runas", "quiet", "composer_home"]
    assert "nothing exists" in called(machine, "sys.state_doc", "file.absent")["file.absent"]
    assert called(machine, "sys.argspec", "nope") == {}
    assert called(machine, "sys.reload_modules") is None


def test_what_a_master_would_be_asked(machine: Machine) -> None:
    assert called(machine, "saltutil.runner", "salt.cmd", "arg=[test.echo, 5]") == 5
    assert called(machine, "saltutil.runner", "manage.up") == ["m1"]
    assert called(machine, "saltutil.runner", "cache.grains")["m1"]["id"] == "m1"
    assert called(machine, "saltutil.runner", "pillar.show_pillar") == {}
    assert called(machine, "saltutil.running") == []


def test_a_password_given_by_its_place_is_hidden(machine: Machine) -> None:
    (machine.folder / "states/_modules").mkdir(exist_ok=True)
    (machine.folder / "states/_modules/logins.py").write_text(
        "def try_(user, password=None):\n    return f'{user} has {password}'\n"
    )
    said = machine("call", "logins.try", "ann", "8fullWord").stdout
    assert "ann has" in said and "8fullWord" not in said


def test_a_call_from_a_state_gives_the_arguments_of_a_group(
    machine: Machine, tmp_path: Path
) -> None:
    program = tmp_path / "composer"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    machine.write(
        x=f"""
        by place: {{module.run: [composer.install: [{tmp_path}, {program}, no_dev: true]]}}
        wrong: {{module.run: [composer.install: [{tmp_path}, nodev: true]]}}
        """
    )
    placed, wrong = called(machine, "state.sls", "x", code=2).values()
    assert "--no-dev --working-dir" in placed["changes"]["composer.install"]["stdout"]
    assert "unexpected keyword argument 'nodev'" in wrong["comment"]
