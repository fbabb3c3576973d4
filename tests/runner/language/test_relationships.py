# SPDX-License-Identifier: Apache-2.0
"""Puppet's relationships, chains and scope, through the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Machine

from runner.model.requisite_kinds import ALIASES, CARRIED, USE

NOPS = (
    "{{% for each in {names!r} %}}\n{{{{ each }}}}:\n  test.succeed_with_changes: []\n{{% endfor"
    " %}}\n"
)
REACT = "react:\n  cmd.wait:\n    - name: 'true'\n"


def nops(names: str) -> str:
    return NOPS.format(names=names.split())


def order(machine: Machine, *names: str) -> str:
    done = machine("sls", *(names or ("a",)), "--out", "json", code=None)
    found: dict[str, Any] = json.loads(done.stdout)["local"]
    assert isinstance(found, dict), found
    return " ".join(
        item["__id__"] for item in sorted(found.values(), key=lambda item: item["__run_num__"])
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (nops("a b") + "c:\n  test.nop:\n    - before:\n      - test: a\n", "c a b"),
        (nops("a b") + "c:\n  test.nop:\n    - before: {test: b}\n", "a c b"),
        (nops("a") + REACT + "    - subscribe:\n      - test: a\n", "a react"),
        (
            REACT
            + nops("a")
            + "b:\n  test.succeed_with_changes:\n    - notify:\n      - cmd: react\n",
            "b react a",
        ),
        ("chain:\n  - 'test: c -> test: b -> test: a'\n" + nops("a b c"), "c b a"),
        ("chain: ['[test: c, test: b] -> test: a']\n" + nops("a b c"), "b c a"),
        ("chain: ['test: [c, b] -> a']\n" + nops("a b c"), "b c a"),
        ("chain: ['test: x* -> test: a']\n" + nops("a x2 b x1"), "x2 x1 a b"),
        ("chain: ['test: a ~> cmd: react']\n" + REACT + nops("a"), "a react"),
        (
            "chain: ['[test: c, [test: b, test: d]] -> [test: e] -> a']\n" + nops("a b c d e"),
            "b c d e a",
        ),
        (
            (
                "chain: [\"test: 'x -> y' -> id: don't -> test: 'p, q'\"]\n\"don't\":"
                ' test.nop\n"p, q": test.nop\n"x -> y": test.nop\nend: test.nop\n'
            ),
            "x -> y don't p, q end",
        ),
        (
            "chain: ['test: n -> test: a', 'test: z -> test: two']\na: test.nop\n"
            "n: {test.nop: [{names: [one, two]}]}\n" + nops("z"),
            "z n n a",
        ),
        (nops("a b c") + "d:\n  test.nop:\n    - before:\n      - test: [b, c]\n", "a d b c"),
        (nops("a b c") + "d:\n  test.nop:\n    - before: [{test: b, id: c}]\n", "a d b c"),
        (
            "include: [.b]\nd:\n  test.nop:\n    - before:\n      - sls: a.*\n" + nops("e"),
            "d b1 b2 e",
        ),
        ("x-sls:\n  test.nop: []\nd:\n  test.nop:\n    - before: [x-sls]\n", "d x-sls"),
        (
            "chain: ['test: x* -> test: a']\na: test.nop\nn: {test.nop: [name: 5]}\nx1: test.nop\n",
            "x1 a n",
        ),
        ("chain: ['sls: a.b -> sls: self']\ninclude: [.b]\n" + nops("z"), "b1 b2 z"),
        (
            (
                "chain: ['cmd: * where cwd=/ -> test: a']\na:\n  test.nop: []\n"
                "x:\n  cmd.wait:\n    - cwd: /\ny:\n  cmd.wait:\n    - cwd: /tmp\n"
            ),
            "x a y",
        ),
    ],
)
def test_order_and_reactions(machine: Machine, text: str, wanted: str) -> None:
    machine.write(a__init=text, a__b=nops("b1 b2"))
    assert order(machine) == wanted
    if "react" in wanted:
        (machine.folder / "cache/state/history.sqlite").unlink()
        assert machine.results("sls", "a")["react"]["changes"]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (
            "chain:\n  - 'test: a -> test: missing'\n",
            "'test: missing' in a chain matches nothing",
            2,
        ),
        ("chain:\n  - 'test: a'\n", "links nothing", 2),
        ("chain:\n  - 'test: a -> '\n", "links nothing", 2),
        ("chain:\n  - 'sls: nowhere -> test: a'\n", "'sls: nowhere' in a chain matches nothing", 2),
        ("x:\n  test.nop:\n    - require:\n      - Package[nginx]\n", "write `- pkg: nginx`", 4),
        ("x:\n  test.nop:\n    - before:\n      - Package['nginx']\n", "write `- pkg: nginx`", 4),
        ("x:\n  test.nop:\n    - require: Exec[x]\n", "`- cmd: x`", 3),
        ("chain:\n  - Package['x'] -> Service['y']\n", "write `pkg: x`", 2),
        ("chain:\n  - Yumrepo <| |> -> Package <| provider == yum |>\n", "write `pkgrepo: *`", 2),
        (
            "chain:\n  - 'test: a -> Package <| provider == yum |>'\n",
            "write `pkg: * where provider=yum`",
            2,
        ),
        ("chain:\n  - 'test: a -> cmd: a'\n", "there is test: a", 2),
        ("chain:\n  - 'test: a -> test: \"a*\"'\n", "matches nothing", 2),
        *(
            (
                f"p:\n  pkg.installed:\n    - {member}\n" + text,
                "nginx is a member of pkg: p; refer to that",
                line,
            )
            for member in ("pkgs: [{nginx: '1'}]", "sources: [{nginx: /x.deb}]")
            for text, line in (
                ("x:\n  test.nop:\n    - require:\n      - pkg: nginx\n", 7),
                ("x:\n  test.nop:\n    - before:\n      - pkg: nginx\n", 7),
                ("chain:\n  - 'pkg: nginx -> test: a'\n", 5),
            )
        ),
        ("x:\n  test.nop:\n    - before:\n      - test: missing\n", "missing", 4),
    ],
)
def test_mistakes_have_their_place(machine: Machine, text: str, message: str, line: int) -> None:
    machine.write(a=text + "a:\n  test.nop: []\n")
    error = machine("sls", "a", code=1).stderr
    assert message in error
    assert f"a.sls:{line}" in error


def test_a_chain_that_points_left_works_and_is_told(machine: Machine) -> None:
    machine.write(a="chain: ['test: a <- test: b']\n" + nops("a b"))
    assert order(machine) == "b a"
    assert "reads from right to left" in machine("sls", "a").stderr


def test_a_sls_without_states_passes_on_what_came_before(machine: Machine) -> None:
    machine.write(
        a="include: [empty]\nchain: ['test: b -> sls: empty -> test: a']\n" + nops("a b"), empty=""
    )
    assert order(machine) == "b a"


def test_a_whole_sls_reacts_and_is_reacted_to(machine: Machine) -> None:
    react = "{}:\n  cmd.wait:\n    - name: 'true'\n"
    machine.write(
        a="include: [b, d, e]\n"
        + react.format("own")
        + "    - subscribe:\n      - sls: b\n"
        + react.format("all")
        + "    - watch:\n      - sls: b\n"
        "z:\n  test.succeed_with_changes:\n    - notify:\n      - sls: d\n      - sls: e\n",
        b="include: [c]\nb1: test.nop\n",
        c=nops("c1"),
        d=react.format("d1") + react.format("d2"),
        e="",
    )
    found = machine.results("sls", "a")
    reacted = {name for name, each in found.items() if each["changes"].get("retcode") == 0}
    assert reacted == {"d1", "d2", "all"}, (
        "subscribe takes b's own states, Salt's watch also what b includes"
    )
    machine.write(b="include: [c]\n" + nops("b1"))
    assert machine.results("sls", "a")["own"]["changes"]["retcode"] == 0


@pytest.mark.parametrize("kind", ["watch_in", "notify"])
def test_a_requisite_that_stands_there_twice_grows_all_the_same(
    machine: Machine, kind: str
) -> None:
    machine.write(
        a=(
            "a:\n  test.nop:\n    - watch: [{test: d}]\n    - watch: [{test: c}]\n"
            f"b:\n  test.succeed_with_changes:\n    - {kind}: [{{test: a}}]\n"
        )
        + nops("c d")
    )
    found = machine.results("sls", "a")["a"]
    assert found["changes"] == {"Requisites with changes": ["test: c", "test: b"]}


def test_ids_of_these_names_are_ids(machine: Machine) -> None:
    machine.write(a="chain:\n  test.nop: []\ndefaults:\n  test.nop: []\n")
    assert order(machine) == "chain defaults"


def test_an_argument_of_that_name_is_an_argument(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "from runner.api import Planned\ndef made(name: str, before: str) -> Planned:\n    return"
        " before\n"
    )
    machine.write(a="x:\n  box.made:\n    - before: noon\n")
    assert machine.results("sls", "a")["x"]["comment"] == "noon"


def test_an_argument_given_twice_with_one_value_loses_nothing(machine: Machine) -> None:
    machine.write(
        a=(
            "x:\n  test.nop:\n    - order: 4\n    - require: [y]\n    - require: [y]\n    - order:"
            " 4\ny: test.nop\n"
        )
    )
    assert "given twice" not in machine("check").stdout


DEFAULTS = (
    "defaults:\n  file: {mode: '0640', user: nobody-here, group: 7}\n  file.managed: {user: root}\n"
)


def low(machine: Machine, name: str = "a") -> dict[str, Any]:
    found = machine.answer("show", "low-sls", name)
    return {chunk["__id__"]: chunk for chunk in found}


def test_defaults_of_an_sls(machine: Machine) -> None:
    machine.write(
        a=DEFAULTS
        + "include: [b]\n/x:\n  file.managed:\n    - group: 0\n/y:\n  file.absent: []\nz:\n "
        " test.nop: []\n",
        b="defaults:\n  file: {mode: '0600'}\n/b:\n  file.managed: []\n",
    )
    found = low(machine)
    assert {key: found["/x"][key] for key in ("mode", "user", "group")} == {
        "mode": "0640",
        "user": "root",
        "group": 0,
    }
    assert found["/b"]["mode"] == "0600", "nearer wins"
    assert found["/b"]["user"] == "root", "the includer's hold, too"
    assert "mode" not in found["/y"], "only arguments that the function has"
    assert "mode" not in found["z"]
    assert "user" not in low(machine, "b")["/b"], "not without the includer"


def test_defaults_and_variables_of_the_top_file_and_the_configuration(machine: Machine) -> None:
    machine.config["defaults"] = {"file": {"mode": "0600", "makedirs": True}}
    machine.write(
        top=(
            "base:\n  '*':\n    - a\n    - vars: {port: 80, name: x}\n"
            "  'm1':\n    - vars: {port: 81}\n    - defaults:\n        file: {mode: '0644'}\n"
        ),
        a=(
            "/{{ vars.name }}{{ port }}:\n  file.managed:\n    - contents: '{% set port = 1 %}"
            "{{ port }} {{ top.port }}'\n"
        ),
    )
    for words in (["lowstate"], ["low-sls", "a"]):
        (chunk,) = machine.answer("show", *words)
        assert (chunk["name"], chunk["mode"], chunk["makedirs"]) == ("/x81", "0644", True)
        assert chunk["contents"] == "1 81"


def test_noop_by_default_of_an_sls(machine: Machine) -> None:
    files = "{tmp}/f:\n  file.managed: []\n{tmp}/g:\n  file.managed:\n    - noop: False\n"
    machine.write(a="defaults:\n  file: {noop: True}\n" + files)
    machine("sls", "a")
    assert not (machine.folder / "f").exists()
    assert (machine.folder / "g").exists()


def test_defaults_that_can_never_be_one_are_told(machine: Machine) -> None:
    machine.config["defaults"] = {"cron": {"usr": "bob", "user": "bob"}}
    machine.write(
        a=(
            "defaults:\n  fiel: {user: root}\n  file.managd: {mode: '0644'}\n  file:\n    moed: 3\n"
            "    recurse: [user]\n    require: [{test: x}]\n    name: y\n    noop: False\n "
            " file.line: {before: x}\nx:\n  test.nop: []\n{tmp}/f:\n  file.managed: []\n"
        )
    )
    told = machine("sls", "a").stderr
    for message, line in (
        ("there is no state fiel", 2),
        ("there is no state file.managd", 3),
        ("file has no argument 'moed'", 5),
        ("require has no defaults", 7),
        ("name has no defaults", 8),
    ):
        assert f"warning: defaults: {message}; it is ignored" in told
        assert f"a.sls:{line}:" in told
    assert "cron has no argument 'usr'; it is ignored" in told
    assert told.count("it is ignored") == 6
    assert "error: defaults: there is no state fiel" in machine("check", "a", code=1).stdout


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("chain:\n  - test: x -> x\n", "below it `- 'test: x -> x'`"),
        ("chain: 'test: x -> test: x'\n", "a chain is a list of texts in quotes"),
    ],
)
def test_a_chain_without_quotes(machine: Machine, text: str, hint: str) -> None:
    machine.write(a=text + "x:\n  test.nop: []\n")
    assert hint in machine("sls", "a", code=1).stderr


def test_an_empty_chain_links_nothing(machine: Machine) -> None:
    machine.write(a="chain: []\nx:\n  test.nop: []\n")
    assert order(machine) == "x"


def test_a_watch_without_mod_watch_is_a_require(machine: Machine) -> None:
    """In what is shown, in the order of a run and in Salt's words for a cycle."""
    states = {
        "n": "test.nop: []",
        "s": "test.nop: [order: 3]",
        "f": "file.managed: [name: /f, order: 4, require: [s], watch: [n]]",
        "c": "file.managed: [name: /c, order: 2, require_any: [n]]",
        "t": "test.nop: [watch: [n]]",
        "u": "file.managed: [name: /u, watch_any: [t]]",
        "z": "module.that_is_none: [watch: []]",
    }
    machine.write(a="".join(f"{name}:\n  {said}\n" for name, said in states.items()))
    found = low(machine)
    kinds = ("require", "require_any", "watch", "watch_any")
    said = {
        name: {key: chunk[key] for key in kinds if key in chunk} for name, chunk in found.items()
    }
    assert said["f"] == {"require": ["s", "n"]} and said["u"] == {"require_any": ["t"]}
    assert said["t"] == {"watch": ["n"]} and said["z"] == {"watch": []}
    assert "".join(found) == "ncsftuz"
    machine.write(
        a="/f:\n  file.managed:\n    - watch: [s]\ns:\n  test.nop:\n    - require: [/f]\n"
    )
    error = machine("sls", "a", code=1).stderr
    assert "'ID': '/f'}, 'require', " in error and "file: /f has watch on test: s" in error


@pytest.mark.parametrize("key", [*CARRIED, *ALIASES, *USE, "require", "listen"])
def test_a_reference_of_any_type_is_a_mistake_with_its_place(machine: Machine, key: str) -> None:
    values = (
        "{test: }",
        "{test: [z]}",
        "{test: {z: a}}",
        "{5: 6}",
        "{sls: }",
        "[[]]",
        "[{test: }]",
    )
    states = [f"a{n}:\n  test.nop:\n    - {key}: {value}\n" for n, value in enumerate(values)]
    machine.write(a="".join(states))
    done = machine("sls", "a", "--test", code=None)
    told = done.stdout + done.stderr
    places = [f"a.sls:{3 * n + 3}:" for n in range(len(values))]
    assert "bug" not in told and all(place in told for place in places), told
