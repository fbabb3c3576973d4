# SPDX-License-Identifier: Apache-2.0
"""`show graph`: the picture as data, its layout, and the languages it is drawn in."""

from __future__ import annotations

import json
import random
import re
from typing import Any
from xml.etree import ElementTree

from command import Machine
from compiling import compile_tree

from runner.language.compiler import ordering
from runner.support.drawing import dot_mermaid, page, picture, single
from runner.support.drawing.layout import arranged, telling

NASTY = '<script>"&]]>\a\n`|#{%'


def drawn(text: str) -> dict[str, Any]:
    chunks, relations, errors = compile_tree(text)
    assert not errors
    cyclic_edges = ordering.cyclic_edges(chunks, relations)
    return picture(
        chunks,
        relations,
        () if cyclic_edges else ordering.arrange(ordering.sequence(chunks, relations)),
        cyclic_edges,
    )


def test_layout_puts_no_box_over_another_and_waiters_to_the_right() -> None:
    rng = random.Random(7)
    for count in (1, 2, 9, 60):
        sizes = [(rng.uniform(40, 300), 42.0) for _ in range(count)]
        pairs = [
            (a, b) for a in range(count) for b in range(a + 1, count) if rng.random() < 2 / count
        ]
        back = [(b, a) for a, b in pairs[:2]]
        found = arranged(sizes, [*pairs, *back, (0, 0)])
        assert len(found.boxes) == count
        for n, a in enumerate(found.boxes):
            assert a.width >= sizes[n][0]
            assert a.x >= 0
            assert a.x + a.width <= found.width + 0.01
            assert a.y >= -0.01
            assert a.y + a.height <= found.height + 0.01
            for b in found.boxes[:n]:
                assert (
                    a.x >= b.x + b.width
                    or b.x >= a.x + a.width
                    or a.y >= b.y + b.height
                    or b.y >= a.y + a.height
                )
        for a, b in pairs:
            if (a, b) not in [(y, x) for x, y in back]:
                assert found.boxes[a].x < found.boxes[b].x
            assert found.routes[a, b][0][0] in (
                found.boxes[a].x,
                found.boxes[a].x + found.boxes[a].width,
            )


def test_arrows_that_follow_from_others_are_left_out() -> None:
    chain = [(n, n + 1) for n in range(1500)]
    assert telling(1501, [*chain, (0, 2), (3, 900), (0, 1500), (5, 5)]) == set(chain)
    assert telling(3, [(0, 1), (1, 2), (2, 0), (0, 2)]) >= {(0, 1), (1, 2), (2, 0)}, (
        "what leads back is kept"
    )


def test_requisites_on_whole_sls_files_stay_readable(machine: Machine) -> None:
    names = [f"q{n}" for n in range(20)]
    for n, name in enumerate(names):
        needs = (
            f"    - require: [{', '.join(f'{{sls: {other}}}' for other in names[:n])}]\n"
            if n
            else ""
        )
        machine.write(
            **{
                name: "".join(
                    f"{name}_{k}:\n  test.nop:\n    - name: n{n}_{k}\n{needs}" for k in range(5)
                )
            }
        )
    machine.write(top=f"base:\n  '*': [{', '.join(names)}]\n")
    html = machine("show", "graph", "--out", "html").stdout
    assert "Arrows that follow from others are left out" in html
    overview = html[html.index("<h2>The SLS files") : html.index("<h2>The states")]
    assert overview.count('class="arrow') == 19
    assert "each of these 5 states" in html
    assert "require 5 states of q0" in html
    assert html.count('class="arrow') < 600, "of 4750 relationships"


def test_a_cycle_is_marked_and_nothing_else_is() -> None:
    text = (
        "a:\n  test.nop:\n    - require: [{test: b}]\nb:\n  test.nop:\n    - watch: [{test:"
        " c}]\nc:\n  test.nop:\n    - require_in: [{test: d}]\n    - require: [{test: a}]\nd:\n "
        " test.nop: []\n"
    )
    found = drawn(text)
    assert [state["id"] for state in found["states"] if state["cycle"]] == ["a", "b", "c"]
    assert [edge["cycle"] for edge in found["edges"]].count(True) == 3
    assert len(found["cycles"]) == 1
    html = page.html(found, "x")
    assert "A cycle: 3 states depend on each other" in html
    assert html.count('class="arrow require cycle"') >= 2
    assert "style=dotted" not in dot_mermaid.dot(found)
    assert dot_mermaid.dot(found).count("penwidth") == 3
    assert "linkStyle" in dot_mermaid.mermaid(found)


def test_what_runs_first_is_where_the_arrow_begins() -> None:
    text = (
        "b:\n  test.nop:\n    - prereq: [{test: a}]\na:\n  test.nop: []\nc:\n  test.nop:\n    -"
        " listen: [{test: a}]\n"
    )
    found = drawn(text)
    ids = [state["id"] for state in found["states"]]
    pairs = {(ids[edge["first"]], ids[edge["then"]], edge["kind"]) for edge in found["edges"]}
    assert pairs == {("b", "a", "prereq"), ("a", "c", "listen")}


def test_nothing_in_an_id_breaks_the_languages() -> None:
    found = drawn(
        json.dumps({NASTY: {"test.nop": []}, "b": {"test.nop": [{"require": [{"test": NASTY}]}]}})
    )
    ElementTree.fromstring(page.svg(found))
    assert "var(" not in page.svg(found), "not every program knows variables"
    html = page.html(found, NASTY)
    assert html.count("<script>") == 1, "our own"
    assert '\\n`|#{%"' in dot_mermaid.dot(found)
    for line in dot_mermaid.mermaid(found).split("\n"):
        assert re.fullmatch(r'[^"]*("[^"<>&`|#]*(#\d+;[^"<>&`|#]*)*"[^"]*)*', line), line


def test_many_states_are_folded_by_sls(machine: Machine) -> None:
    for part in ("one", "two"):
        states = "".join(
            (
                f"{part}{n}:\n  test.nop:\n    - require: [{{test: {part}{n - 1}}}]\n"
                if n
                else f"{part}0:\n  test.nop: []\n"
            )
            for n in range(50)
        )
        machine.write(**{part: states})
    machine.write(
        top="base:\n  '*': [one, two, files]\n",
        files="{tmp}/d:\n  file.directory: []\n{tmp}/d/f: file.managed\n",
    )
    mermaid = machine("show", "graph", "--out", "mermaid").stdout
    assert 'n0["one (50)"]' in mermaid
    assert "one49" not in mermaid
    assert "one49" in machine("show", "graph", "one", "--out", "mermaid").stdout
    html = machine("show", "graph", "--out", "html").stdout
    assert html.count("<details ") == 3
    assert all(f"{part}{n}<" in html for part in ("one", "two") for n in range(50))
    assert 'class="arrow automatic"' in html, "a file after its folder"
    svg = machine("show", "graph", "--out", "svg").stdout
    assert len(ElementTree.fromstring(svg).findall(".//{*}rect")) == 3
    assert "there is no such form" in machine("show", "graph", "--out", "pdf", code=1).stderr
    assert "is for `runner show graph`" in machine("show", "top", "--out", "svg", code=1).stderr


def test_a_cycle_is_shown_and_told(machine: Machine) -> None:
    machine.write(
        a=(
            "x:\n  test.nop:\n    - require: [{test: y}]\ny:\n  test.nop:\n    - require: [{test:"
            " x}]\n"
        )
    )
    done = machine("show", "graph", "a", "--out", "json")
    assert "Recursive requisites" in done.stderr
    found = json.loads(done.stdout)["local"]
    assert found["cycles"] == [[0, 1]]
    assert found["edges"][0]["place"].endswith("a.sls:3:17")


def test_two_cycles_through_one_state_are_drawn() -> None:
    """A look at a state may wait in one circle and the state itself in another."""
    text = (
        "s11: test.nop\ns7:\n  test.nop:\n    - require: [{test: s11}]\ns1: test.nop\n"
        "s0:\n  test.nop:\n    - prereq: [{test: s11}, {test: s7}]\n    - watch: [{test: s1}]\n"
        "s13:\n  test.nop:\n    - prereq: [{test: s1}, {test: s0}]\n"
    )
    assert page.html(drawn(text), "all").count("A cycle:") == 2


def test_of_a_dense_cycle_a_part_is_told_and_the_rest_counted() -> None:
    """Twenty states on each of twenty, and back."""
    text = "".join(
        f"{one}{n}: {{test.nop: [require: [{{test: '{other}*'}}]]}}\n"
        for one, other in ("ab", "ba")
        for n in range(20)
    )
    html = page.html(drawn(text), "all")
    told = html[html.index("A cycle: 40 states") : html.index("<h2>The states</h2>")]
    assert told.count("<li>") == page.MOST_TOLD + 1
    assert f"<li>and {800 - page.MOST_TOLD} more</li>" in told
    assert told.count('class="arrow') == 0  # one SLS has none between its like


def test_any_graph_is_laid_out() -> None:
    """Two arrows between the same boxes in both directions once counted a box twice."""
    for seed in range(300):
        dice = random.Random(seed)
        count = dice.randint(2, 9)
        pairs = [(dice.randrange(count), dice.randrange(count)) for _ in range(dice.randint(1, 40))]
        found = arranged([(10.0, 10.0)] * count, pairs)
        assert len(found.boxes) == count
        assert set(found.routes) == {(a, b) for a, b in pairs if a != b}


def test_the_states_of_names_are_told_apart(machine: Machine) -> None:
    machine.write(
        a="n: {test.nop: [names: [x, y]]}\no: {test.nop: [name: oo, require: [test: n]]}\n",
        circle=(
            "n: {test.nop: [names: [x, y: [{require: [test: x]}]], watch: [test: o]]}\n"
            "o: {test.nop: [require: [test: y]]}\n"
        ),
    )
    dot = machine("show", "graph", "a", "--out", "dot").stdout
    assert [line.split('"')[1] for line in dot.splitlines() if "test.nop" in line] == [
        "test.nop: n (x)",
        "test.nop: n (y)",
        "test.nop: o",
    ]
    assert "n (y)" in machine("show", "graph", "a", "--out", "html").stdout
    told = machine("check", "circle", code=1)
    assert "test: n (x) has watch on test: o" in told.stdout + told.stderr


def test_many_states_that_need_the_same_others_are_drawn_by_way_of_a_point() -> None:
    """One requisite on each of many states, and a `prereq`, whose arrow leads the other way."""
    count = 60
    text = "".join(f"a{n}: test.nop\n" for n in range(count)) + "".join(
        f"b{n}: {{test.nop: [{kind}: [{{test: 'a*'}}]]}}\n"
        for kind, numbers in (("require", range(count - 1)), ("prereq", range(count - 1, count)))
        for n in numbers
    )
    data = drawn(text)
    assert len(data["edges"]) == count and [len(each) for each in data["sets"]] == [count, count]
    lines = dot_mermaid.dot(data).splitlines()
    assert len(lines) < 6 * count
    arrows = [(line.split()[0], line.split()[2].rstrip(";")) for line in lines if " -> " in line]
    after: dict[str, set[str]] = {}
    for first, then in arrows:
        after.setdefault(first, set()).add(then)
    reached = {
        (first, end)
        for first in after
        if first.startswith("n")
        for then in after[first]
        for end in ([then] if then.startswith("n") else after[then])
    }
    each = single(data)
    assert reached == {(f"n{edge['first']}", f"n{edge['then']}") for edge in each["edges"]}
    assert len(each["edges"]) == count * count
    assert f"{count * count} relationships" in page.html(data, "x")
    assert dot_mermaid.mermaid(data).count("\n") < 5


def test_a_page_of_many_states_on_whole_files_is_as_long_as_the_tree(machine: Machine) -> None:
    def page_of(count: int) -> str:
        names = [f"f{number}" for number in range(20)]
        for number, name in enumerate(names):
            asked = f"    - require: [{{sls: f{number - 1}}}]\n" if number else "    - order: 1\n"
            text = f"include: [f{number - 1}]\n" if number else ""
            text += "".join(f"{name}_{n}:\n  test.nop:\n{asked}" for n in range(count))
            machine.write(**{name: text})
        return machine("show", "graph", "f19", "--out", "html").stdout

    few, many = page_of(12), page_of(24)
    assert len(many) < 2.1 * len(few)
    own = many[many.index('<details id="sls-19"') :]
    assert "Each of these states: require 24 states of f0, require 24 states of f1, " in own
    assert "require 168 states of 7 other SLS files</p>" in own
    assert "19 others" in own and "each of these 24 states" in own, "one box for all"
    assert "109440 relationships" in many, "24 * 24 * 19 * 20 / 2"
