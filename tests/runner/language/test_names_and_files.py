# SPDX-License-Identifier: Apache-2.0
"""`names`, `exclude`, `include`, `use` and references; each expectation is what Salt 3008 does with
the same tree.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Machine


def lowstate(machine: Machine, *names: str) -> list[dict[str, Any]]:
    machine.write(top=f"base: {{'*': [{', '.join(names) or 'web'}]}}\n")
    answer = machine("show", "lowstate", "--out", "json")
    found: list[dict[str, Any]] = json.loads(answer.stdout)["local"]
    return found


def orders(machine: Machine, text: str) -> list[tuple[Any, float]]:
    machine.write(web=text)
    return [(low["name"], low["order"]) for low in lowstate(machine)]


NAMES = {
    "equal ones are one state": ("names: [x, x, y, x]", [("x", 10000.0001), ("y", 10000.0002)]),
    "equal ones with equal arguments, too": (
        "names: [{x: [{order: 3}]}, {x: [{order: 3}]}, {x: [{order: 4}]}]",
        [("x", 4.0002)],
    ),
    "a null stands for no name": ("names: [x, null]", [("x", 10000.0001), (None, 10000.0002)]),
    "a number stays one": ("names: [7]", [(7, 10000.0001)]),
    "first and last of one name": (
        (
            "names: [a, {b: [{order: first}]}, {c: [{order: last}]}, {d: [{order: -1}]}, {e:"
            " [{order: 2}]}]"
        ),
        [("b", 0.0002), ("e", 2.0005), ("a", 10000.0001), ("d", 1010099.0004), ("c", 1010100.0003)],
    ),
    "the last of one name counts": (
        "names: [x, {x: [{order: 3}]}, y, {y: [{order: 1}]}, {y: [{order: 2}]}]",
        [("y", 2.0005), ("x", 3.0002)],
    ),
    "the name of one name": ("names: [{a: [{name: b}]}]", [("b", 10000.0001)]),
}


@pytest.mark.parametrize("case", NAMES, ids=str)
def test_names(machine: Machine, case: str) -> None:
    said, expected = NAMES[case]
    assert orders(machine, f"n: {{test.nop: [{said}]}}\n") == expected


def test_first_of_one_name_is_no_mistake(machine: Machine) -> None:
    machine.write(web="n: {test.nop: [names: [a, {b: [{order: first}]}]]}\n")
    answer = machine("check", "web")
    assert (answer.returncode, "is not a number" in answer.stdout + answer.stderr) == (0, False)


def test_an_order_that_is_none_pulls_as_one_at_the_end(machine: Machine) -> None:
    """What it needs comes before what is declared to be last."""
    text = (
        "n: {test.nop: [order: {}, require: [test: l]]}\nl: {test.nop: [order: last]}\nm:"
        " {test.nop: [order: -3]}\n"
    )
    machine.write(web=text.replace("{}", "null"))
    assert [low["name"] for low in lowstate(machine)] == ["l", "n", "m"]


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("- null", "a null among the names of state 'n' is not a name"),
        ("- [a, b]", "['a', 'b'] among the names of state 'n' in SLS 'web' is not a name"),
        ("- {}", "{} among the names of state 'n' in SLS 'web' is not a name"),
        (
            "- a: [failhard]",
            "'failhard' below 'a' among the names of state 'n' in SLS 'web' is not an argument",
        ),
    ],
)
def test_what_is_no_name_is_a_mistake_at_its_place(machine: Machine, said: str, cause: str) -> None:
    machine.write(web=f"n:\n  test.nop:\n    - names:\n      {said}\n")
    answer = machine("sls", "web", code=1)
    assert cause in answer.stderr
    assert "web.sls:4:" in answer.stderr


def test_the_second_name_of_one_entry_is_told(machine: Machine) -> None:
    machine.write(web="n: {test.nop: [names: [{a: [], b: []}]]}\n")
    answer = machine("sls", "web")
    assert "only 'a' counts; the rest is ignored" in answer.stderr


def test_a_name_that_stands_twice_with_other_arguments_is_told(machine: Machine) -> None:
    machine.write(
        web=(
            "n:\n  test.show_notification:\n    - text: a\n    - names:\n      - x\n      - x:"
            " [{text: b}]\n"
        )
    )
    answer = machine("sls", "web", "-v")
    assert (
        "'x' appears twice among the names of state 'n'" in answer.stderr
        and "web.sls:5" in answer.stderr
    )
    assert "1 state: 1 unchanged" in answer.stdout


EXCLUDES = {
    "a plain name is an SLS": ("[inc]", []),
    "a plain glob, too": ("['i*']", []),
    "a plain name is not an ID": ("[a]", ["a", "b"]),
    "beside an ID": ("[{id: a}, b]", ["b"]),
    "an ID has no globs": ("[{id: '*'}]", ["a", "b"]),
}


@pytest.mark.parametrize("case", EXCLUDES, ids=str)
def test_exclude(machine: Machine, case: str) -> None:
    said, expected = EXCLUDES[case]
    machine.write(
        web=f"include: [inc]\nexclude: {said}\nw: test.nop\n", inc="a: test.nop\nb: test.nop\n"
    )
    assert [low["name"] for low in lowstate(machine)] == [*expected, "w"]


@pytest.mark.parametrize("excluded", ["sls: inc", "sls: 'in*'"])
def test_an_excluded_sls_takes_only_its_own_words_about_others_along(
    machine: Machine, excluded: str
) -> None:
    """Salt keeps one SLS for all that `x_in` and `use` say about an ID: with it everything goes, or
    nothing.
    """
    machine.write(
        inc=(
            "i: {test.nop: [require_in: [test: b, test: c]]}\nextend: {c: {test: [failhard:"
            " true]}}\n"
        ),
        web=(
            f"include: [inc]\nexclude: [{excluded}]\na: {{test.nop: [require_in: [test: b], onlyif:"
            " 'true']}\nb: test.nop\nc: {test.nop: [use: [test: a]]}\n"
        ),
    )
    found = {low["name"]: low for low in lowstate(machine)}
    assert list(found) == ["a", "b", "c"]
    assert found["b"]["require"] == [{"test": "a"}]
    assert (found["c"]["onlyif"], "require" in found["c"], "failhard" in found["c"]) == (
        "true",
        False,
        False,
    )


def test_a_plain_name_that_is_an_id_is_told_with_the_right_form(machine: Machine) -> None:
    machine.write(web="exclude: [a]\na: test.nop\n")
    answer = machine("sls", "web")
    assert "exclude names the SLS 'a', which is not in this run; it is ignored" in answer.stderr
    assert "an ID is excluded by `- id: a`" in answer.stderr


@pytest.mark.parametrize("said", ["require_in", "watch_in", "onchanges_in", "prereq_in", "exclude"])
def test_an_sls_that_is_not_in_this_run(machine: Machine, said: str) -> None:
    """It is passed over, as by Salt; what is no file of the tree at all is told."""
    other = "exclude: [sls: {0}]" if said == "exclude" else "a: {{test.nop: [{1}: [sls: {0}]]}}"
    text = f"{other.format('NAME', said)}\nb: test.nop\n"
    machine.write(
        web=text.replace("NAME", "elsewhere"),
        wrong=text.replace("NAME", "nowhere"),
        elsewhere="x: test.nop",
    )
    assert "elsewhere" not in machine("sls", "web").stderr
    told = machine("sls", "wrong").stderr
    assert f"{said} names the SLS 'nowhere', which is not in this run; it is ignored" in told


def test_a_dot_beside_an_init_sls_is_that_file(machine: Machine) -> None:
    machine.write(
        **{
            "web/app": "include: ['.']\napp: {test.nop: [require: [sls: web.]]}\n",
            "web/init": "init: test.nop\n",
            "deep/web/init": "include: ['..']\nweb: test.nop\n",
            "deep/init": "deep: test.nop\n",
        }
    )
    found = [(low["name"], low["__sls__"]) for low in lowstate(machine, "web.app", "deep.web")]
    assert found == [("init", "web."), ("app", "web.app"), ("deep", "deep."), ("web", "deep.web")]


def test_a_dot_in_an_init_sls_is_a_mistake(machine: Machine) -> None:
    machine.write(**{"web/init": "include:\n  - .\nw: test.nop\n"})
    answer = machine("sls", "web", code=1)
    assert "The include '.' in SLS web names that SLS itself" in answer.stderr


def test_a_dot_in_the_pillar(machine: Machine) -> None:
    machine.write(
        **{
            "pillar/top": "base: {'*': [web.app]}\n",
            "pillar/web/app": "include: ['.']\n",
            "pillar/web/init": "x: 1\n",
        }
    )
    assert machine.answer("show", "pillar") == {"x": 1}


def test_a_bare_reference_of_an_in_form_means_the_first_state(machine: Machine) -> None:
    machine.write(
        web=(
            "a: {test.nop: [require_in: [two, own]]}\nb: {test.nop: [name: own]}\n"
            "two: {test.nop: [], file.exists: [name: /]}\n"
        )
    )
    found = {(low["state"], low["name"]): low.get("require") for low in lowstate(machine)}
    assert found["test", "two"] == [{"test": "a"}] * 2
    assert found["test", "own"] == [{"test": "a"}]
    assert found["file", "/"] is None


def test_several_uses_join_what_they_require(machine: Machine) -> None:
    machine.write(
        web=(
            "x: test.nop\ny: test.nop\na: {test.nop: [require_any: [test: x]]}\n"
            "b: {test.nop: [require_any: [test: y]]}\n"
            "c: {test.nop: [use: [test: a, test: b]]}\n"
        )
    )
    found = {low["name"]: low.get("require_any") for low in lowstate(machine)}
    assert found["c"] == [{"test": "x"}, {"test": "y"}]
    assert (found["a"], found["b"]) == ([{"test": "x"}], [{"test": "y"}])


def test_what_is_looked_at_and_looks_itself_has_both_marks(machine: Machine) -> None:
    machine.write(
        web="a: {test.nop: [prereq: [test: b]]}\nb: {test.nop: [prereq: [test: c]]}\nc: test.nop\n"
    )
    marks = {
        low["name"]: [mark for mark in ("__prereq__", "__prerequiring__") if mark in low]
        for low in lowstate(machine)
    }
    assert marks == {
        "a": ["__prerequiring__"],
        "b": ["__prereq__", "__prerequiring__"],
        "c": ["__prereq__"],
    }


def test_arguments_of_one_name_as_a_mapping(machine: Machine) -> None:
    assert orders(machine, "n: {test.nop: [names: [a: {order: 3}, b]]}\n") == [
        ("a", 3.0001),
        ("b", 10000.0002),
    ]


def test_a_reference_of_an_in_form_to_one_of_names_means_all_of_them(machine: Machine) -> None:
    machine.write(
        web="a: {test.nop: [require_in: [test: y]]}\nn: {test.nop: [names: [x, y: [{order: 1}]]]}\n"
    )
    assert [low["name"] for low in lowstate(machine) if low.get("require") == [{"test": "a"}]] == [
        "y",
        "x",
    ]


def test_what_a_glob_excludes_says_nothing(machine: Machine) -> None:
    machine.write(
        web="include: [inc]\nexclude: [sls: 'i*']\na: test.nop\n",
        inc="b: {test.nop: [require_in: [test: a]]}\nextend: {a: {test: [failhard: true]}}\n",
    )
    (low,) = lowstate(machine)
    assert {"require", "failhard"} & set(low) == set()


def test_an_exclude_with_two_keys_is_a_mistake(machine: Machine) -> None:
    machine.write(web="exclude:\n  - sls: a\n    id: b\nw: test.nop\n")
    assert (
        "Invalid exclude {'sls': 'a', 'id': 'b'} in SLS web" in machine("sls", "web", code=1).stderr
    )


def test_a_listener_that_cannot_react_does_nothing(machine: Machine) -> None:
    machine.write(
        web=(
            "a: {test.succeed_with_changes: []}\ng: {grains.exists: [name: id, listen: [test:"
            " a]]}\n"
        )
    )
    assert list(machine.results("sls", "web")) == ["a", "g"]


def test_a_guard_with_a_function_is_asked_each_time(machine: Machine) -> None:
    machine.write(
        web=(
            "p: {test.nop: [prereq: [test: s]]}\ns: {test.succeed_with_changes: [onlyif: [fun:"
            " test.false]]}\nr: {test.succeed_with_changes: [onlyif: [fun: test.false], retry:"
            " {attempts: 2, interval: 0}]}\n"
        )
    )
    found = machine.results("sls", "web")
    assert {found[each]["comment"].rpartition("onlyif ")[2] for each in "sr"} == {
        "condition is false"
    }


def test_a_listen_of_one_name_is_of_that_name(machine: Machine) -> None:
    machine.write(
        web="c: test.succeed_with_changes\nn: {test.nop: [names: [x, y: [listen: [test: c]]]]}\n"
    )
    found = machine.answer("sls", "web")
    assert [key for key in found if "listener" in key] == ["test_|-listener_n_|-y_|-mod_watch"]


def test_a_failed_requisite_that_a_prereq_looked_at_is_named(machine: Machine) -> None:
    machine.write(
        web=(
            "f: {test.configurable_test_state: [result: false]}\n"
            "p: {test.nop: [prereq: [test: f]]}\nr: {test.nop: [require: [test: f]]}\n"
        )
    )
    assert (
        machine.results("sls", "web", code=2)["r"]["comment"]
        == "One or more requisite failed: web.f"
    )


def test_twins_run_in_the_order_of_their_ids(machine: Machine) -> None:
    """The same function, name and order number: as Salt they are compared as in the tag of a
    result.
    """
    twin = "{cmd.wait: [name: 'true', order: %s]}"
    waits = twin[:-2] + ", require: [test: z]]}"
    machine.write(
        web=(
            f"b: {twin % 5}\na: {waits % 5}\nB: {twin % 5}\nb-1: {twin % 5}\nb_c: {twin % 5}\n"
            f"y: {twin % 'last'}\nx: {twin % 'last'}\nz: {{test.nop: [order: 1]}}\n"
        )
    )
    assert [low["__id__"] for low in lowstate(machine)] == [
        "z",
        "B",
        "a",
        "b-1",
        "b_c",
        "b",
        "x",
        "y",
    ]


def test_a_watch_that_cannot_react_does_not_stand_in_for_an_onfail(machine: Machine) -> None:
    """With an onchanges and a watch that changed Salt asks no more whether something failed; here
    there is no watch.
    """
    machine.write(
        web=(
            "c: test.succeed_with_changes\nd: test.succeed_with_changes\ng: {grains.exists: [name:"
            " id, watch: [test: c], onchanges: [test: d], onfail: [test: d]]}\nt: {test.nop:"
            " [watch: [test: c], onchanges: [test: d], onfail: [test: d]]}\n"
        )
    )
    found = machine.results("sls", "web")
    assert found["g"]["comment"] == "State was not run because onfail req did not change"
    assert found["t"]["comment"] == "Watch statement fired."


def test_a_watch_that_cannot_react_joins_what_any_is_required_of(machine: Machine) -> None:
    """`watch_any` of a state without mod_watch is a require_any, and one met is enough for both."""
    machine.write(
        web=(
            "bad: test.fail_without_changes\ngood: test.nop\n"
            "g: {grains.exists: [name: id, require_any: [test: bad], watch_any: [test: good]]}\n"
            "t: {test.nop: [require_any: [test: bad], watch_any: [test: good]]}\n"
        )
    )
    found = machine.results("sls", "web", code=2)
    assert found["g"]["comment"] == "Grain exists"
    assert found["t"]["comment"] == "One or more requisite failed: web.bad"


def test_an_empty_entry_of_use_and_the_carried_requisites_is_ignored(machine: Machine) -> None:
    machine.write(
        web=(
            "a: {test.nop: [watch_in: [{}, {test: b}], listen_in: [{}], use: [{}]]}\n"
            "b: {test.nop: []}\n"
        )
    )
    done = machine("sls", "web")
    for key in ("watch_in", "listen_in", "use"):
        assert f"an entry of {key} in state a names nothing; it is ignored" in done.stderr
    machine.write(web="a: {test.nop: [require: [{}]]}\n")
    assert "not formed as a single key dictionary" in machine("sls", "web", code=1).stderr


@pytest.mark.parametrize("kind", ["watch", "watch_in", "listen_in", "require_in", "prereq_in"])
def test_an_item_with_two_states_is_an_error_in_every_form(kind: str, machine: Machine) -> None:
    machine.write(web=f"a: {{test.nop: [{kind}: [{{test: b, cmd: c}}]]}}\nb: {{test.nop: []}}\n")
    done = machine("sls", "web", code=1)
    assert "is not formed as a single key dictionary" in done.stderr
    assert "put each on a line of its own: `- test: b`, `- cmd: c`" in done.stderr


def test_a_look_in_a_chain_of_prereqs_stands_where_salt_has_it(machine: Machine) -> None:
    """What a look at one of `names` has brought up counts with its place among them."""
    machine.write(
        inc="s05: {test.nop: [prereq: [test: s07]]}\n",
        web=(
            "include: [inc]\n"
            "s07: {test.nop: [names: [n0, {n1: [prereq: [test: s09]]}]]}\n"
            "s09: {test.nop: [names: [{n2: [onchanges_any: [test: s05]]}]]}\n"
        ),
        top="base: {'*': [web]}\n",
    )
    shown = machine.answer("show", "lowstate")
    assert [low["name"] for low in shown] == ["n0", "n1", "s05", "n0", "n2", "n1", "n2"]
