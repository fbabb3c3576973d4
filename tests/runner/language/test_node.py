# SPDX-License-Identifier: Apache-2.0
"""Node scope and top scope: master_tops, variables, defaults, and what is set twice."""

from __future__ import annotations

import pytest
from command import Machine

CLASSES = "echo '# for' $1; echo 'classes: [b]'; echo 'parameters: {role: enc, size: 5, grains: 7}'"
TELL = "tell:\n  test.configurable_test_state:\n    - changes: False\n    - comment: >-\n        "


@pytest.fixture
def node(machine: Machine) -> Machine:
    machine.write(
        top=(
            "base:\n  '*':\n    - a\n    - vars: {role: web, pillar: 3, port: 2}\n    - vars:"
            " {more: 1}\n    - defaults:\n        file: {mode: '0644'}\n"
        ),
        b="{tmp}/f:\n  file.managed: []\n",
    )
    command(machine, CLASSES)
    return machine


def command(machine: Machine, text: str) -> None:
    (machine.folder / "tops").write_text(f"#!/bin/sh\n{text}\n")
    (machine.folder / "tops").chmod(0o755)
    machine.config["master_tops"] = "./tops"


def told(machine: Machine, text: str, *words: str) -> str:
    machine.write(a=TELL + text + "\n")
    comment = machine.results(*(words or ("sls", "a")), "--test")["tell"]["comment"]
    assert isinstance(comment, str)
    return comment


def test_the_nearer_scope_wins_and_the_outer_one_can_be_reached(node: Machine) -> None:
    node.config["vars"] = {"port": 1, "conf": "here"}
    text = (
        "{% set port = 9 %}{% set pillar = 8 %}{{ port }} {{ vars.port }} {{ top.port }} {{ role }}"
        " {{ top.role }} "
    )
    text += (
        "{{ size }} {{ conf }} {{ more }} {{ vars.pillar }} {{ grains.id }} {{ top.opts.id }} {{"
        " top.pillar }}"
    )
    assert told(node, text) == "9 2 1 web enc 5 here 1 3 m1 m1 3"


def test_a_tree_that_uses_none_of_it_has_none_of_it(machine: Machine) -> None:
    assert told(machine, "{{ vars is defined }} {{ top is defined }}") == "False False"


def test_master_tops_names_sls_files(node: Machine) -> None:
    assert told(node, "x", "highstate") == "x"
    assert node.answer("show", "top") == {"base": ["a", "b"]}
    node.config["master_tops_first"] = True
    assert node.answer("show", "top") == {"base": ["b", "a"]}
    assert "in this run because of master_tops" in node("why", f"{node.folder}/f").stdout


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("echo [b, c]", {"base": ["a", "b", "c"]}),
        ("echo '{dev: [b], base: [c]}'", {"base": ["a", "c"], "dev": ["b"]}),
        (
            "echo '{classes: {b: {x: 1}, c: }, environment: dev}'",
            {"base": ["a"], "dev": ["b", "c"]},
        ),
        ('echo \'{"parameters": {"x": 1}}\'', {"base": ["a"]}),
        ("true", {"base": ["a"]}),
        ("echo [$1]", {"base": ["a", "m1"]}),
    ],
)
def test_what_the_command_may_print(node: Machine, text: str, wanted: dict[str, list[str]]) -> None:
    command(node, text)
    node.write(a="")
    assert node.answer("show", "top") == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo no such machine >&2; exit 3", "m1` ended with 3: no such machine"),
        ("echo 5", "m1` prints cannot be read\n"),
        ("echo '{base: b}'", "hint: print a list of SLS names, {environment: [names]}"),
        ("echo '[b'", "master_tops: "),
        ("echo '{classes: [b], parameters: [1]}'", "prints cannot be read"),
    ],
)
def test_what_the_command_may_not_print(node: Machine, text: str, message: str) -> None:
    command(node, text)
    error = node("highstate", "--test", code=1).stderr
    assert message in error.replace("  at", "\n")


def test_salts_way_to_write_it(node: Machine) -> None:
    node.config["master_tops"] = {"ext_nodes": "./tops --"}
    command_of = node.config["master_tops"]
    command(node, "echo [$2]")
    node.config["master_tops"] = command_of
    node.write(a="")
    assert node.answer("show", "top") == {"base": ["a", "m1"]}
    node.config["master_tops"] = {"cobbler": {}}
    assert "runner has no master_tops 'cobbler'" in node("show", "top", code=1).stderr


def test_what_is_set_twice_is_told_with_both_places(node: Machine) -> None:
    node.config |= {
        "vars": {"port": 1},
        "pillar": {"more": 2},
        "defaults": {"file": {"mode": "0600", "user": "root"}},
        "ext_pillar": [{"cmd_yaml": "echo 'role: db'"}],
    }
    node.write(a="x:\n  test.nop: []\n")
    error = node("sls", "a", "--test").stderr
    where = f"({node.folder}/runner.yaml:1:"
    for what in (
        (
            "the variable port is set below a target of the top file, and by `vars` of the"
            f" configuration {where}"
        ),
        (
            "the variable more is set below a target of the top file, and by `pillar` of the"
            f" configuration {where}"
        ),
        f"the variable role is set below a target of the top file, and by master_tops {where}",
        f" and the external pillar cmd_yaml {where}",
        (
            "the default of file: mode is set below a target of the top file, and by the"
            f" configuration {where}"
        ),
        "templates have something else called pillar",
        f"at {node.folder}/states/top.sls:4:14",
        f"at {node.folder}/states/top.sls:5:14",
        f"at {node.folder}/states/top.sls:7:16",
    ):
        assert what in error
    assert error.count("warning: ") == 5


def test_why_shows_where_defaults_come_from(node: Machine) -> None:
    node.config["defaults"] = {"file": {"user": "root"}}
    node.write(a="include: [b]\ndefaults:\n  file.managed: {makedirs: True}\n")
    why = node("why", f"{node.folder}/f", "a").stdout
    assert f'mode: "0644"   (defaults of the top file, at {node.folder}/states/top.sls:7:22)' in why
    assert f"user: root   (defaults of the configuration, at {node.folder}/runner.yaml:1:" in why
    assert f"makedirs: true   (defaults of a, at {node.folder}/states/a.sls:3:28)" in why


def test_check_sees_the_variables_too(node: Machine) -> None:
    node.write(
        a=(
            "x:\n  test.configurable_test_state:\n    - comment: {{ port }}{{ size }}\n    -"
            " changes: False\n"
        )
    )
    assert "undefined" not in node("check", code=None).stdout


def test_nothing_leaks_and_what_is_anothers_is_imported(machine: Machine) -> None:
    (machine.folder / "states/lib").mkdir()
    (machine.folder / "states/lib/params.jinja").write_text("{% set confdir = '/etc/lib' %}\n")
    machine.write(
        a="{% set x = 1 %}{% set vars = 2 %}\ninclude: [b]\nend:\n  test.nop: []\n",
        b=TELL.replace("tell", "told") + "{{ x is defined }} {{ vars is defined }}\n",
    )
    assert machine.results("sls", "a")["told"]["comment"] == "False False"
    assert (
        told(machine, "{% import 'lib/params.jinja' as params %}{{ params.confdir }}") == "/etc/lib"
    )


FILE = "/{}:\n  file.managed: []\n"
MODE = "defaults:\n  file: {{mode: '{}'}}\n"


@pytest.mark.parametrize(
    ("lines", "mode", "user"),
    [
        ("a, b", "0001", "root"),  # a is the parent
        ("b, a", "0002", None),  # b is
        ("c, a, b", None, None),  # the top file is
        ("m, b", "0003", "root"),  # m, and behind it a
        ("d", "0004", "root"),  # its own are nearer
    ],
)
def test_the_first_who_brings_an_sls_is_its_parent(
    machine: Machine, lines: str, mode: str | None, user: str | None
) -> None:
    machine.write(
        top=f"base:\n  '*': [{lines}]\n",
        a=MODE.format("0001") + "  file.managed: {user: root}\ninclude: [c]\n",
        b=MODE.format("0002") + "include: [c]\n",
        c=FILE.format("c"),
        m="include: [n]\ndefaults:\n  file: {user: root}\n",
        n=MODE.format("0003") + "include: [c]\n",
        d="include: [o]\ndefaults:\n  file: {user: root, mode: '0001'}\n",
        o=MODE.format("0004") + FILE.format("c"),
    )
    found = machine.answer("show", "lowstate")
    (chunk,) = [each for each in found if each["__id__"] == "/c"]
    assert (chunk.get("mode"), chunk.get("user")) == (mode, user)


def test_a_loop_makes_ids_and_the_chain_that_holds_them(machine: Machine) -> None:
    machine.write(
        a=(
            "{% set names = ['x', 'y'] %}\nlast:\n  test.nop: []\n"
            "{% for name in names %}\n{{ name }}:\n  test.nop: []\n{% endfor %}\n"
            "chain:\n  - 'test: [{{ names | join(', ') }}] -> test: last'\n"
        )
    )
    found = machine.results("sls", "a")
    assert sorted(found, key=lambda name: int(found[name]["__run_num__"])) == ["x", "y", "last"]
