# SPDX-License-Identifier: Apache-2.0
"""Cycles are told so that they can be mended; a random order finds requisites that are missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Machine

LARGE = "".join(f"a{n}:\n  test.nop:\n    - require: [{{test: a{n + 1}}}]\n" for n in range(12))
NAMES = [f"s{n}" for n in range(8)]
SHUFFLED = (
    "".join(f"{name}:\n  test.nop: []\n" for name in NAMES)
    + "last:\n  test.nop:\n    - order: last\nafter:\n  test.nop:\n    - require: [{test: s0}]\n"
    "{tmp}/d/f:\n  file.managed: []\n{tmp}/d:\n  file.directory: []\n"
)


def test_a_large_cycle_is_folded_by_sls(machine: Machine) -> None:
    machine.write(
        a="include: [b]\n" + LARGE + "a12:\n  test.nop:\n    - require: [{test: b0}]\n",
        b=(
            "b0:\n  test.nop:\n    - require: [{test: b1}]\nb1:\n  test.nop:\n    - require:\n     "
            " - test: a0\n"
        ),
    )
    error = machine("sls", "a", code=1).stderr
    assert "Recursive requisites were found: 15 of them make one circle" in error
    assert "within SLS a: 12 requisites from test: a0 to test: a12" in error
    assert f"test: b1 has require on test: a0 ({machine.folder}/states/b.sls:7:9)" in error
    assert f"test: b0 has require on test: b1 ({machine.folder}/states/b.sls:3:17)" in error
    (graph,) = (machine.folder / "cache/graphs").iterdir()
    assert f"the whole graph is drawn in {graph}" in error
    assert "A cycle: 15 states depend on each other" in graph.read_text()


def test_the_lines_of_a_very_large_cycle_are_bounded(machine: Machine) -> None:
    size = 40
    for n in range(size):
        following = f"b{n + 1}" if n < size - 1 else "a0"
        machine.write(
            **{
                f"b{n}": f"include: [{following[0]}{n + 1}]\n" * (n < size - 1)
                + f"b{n}:\n  test.nop:\n    - require: [{{test: {following}}}]\n"
            }
        )
    one = "".join(f"a{n}: {{test.nop: [require: [test: a{n + 1}]]}}\n" for n in range(size))
    machine.write(a=f"include: [b0]\n{one}a{size}: {{test.nop: [require: [test: b0]]}}\n")
    error = machine("sls", "a", code=1).stderr
    assert "81 of them make one circle" in error
    assert f"/a.sls:2,3,4,5,6,...,{size - 3},{size - 2},{size - 1},{size},{size + 1})" in error
    assert "(32 more lines)" in error and "test: b0 has require on test: b1" in error
    assert len(error) < 3000


def cycle_hints(machine: Machine) -> list[str]:
    told = machine.document("check", code=1)["diagnostics"]
    return [each["hint"] for each in told if each["code"] == "cycle"]


def test_each_cycle_has_a_page_of_its_own(machine: Machine) -> None:
    """Two mistakes of one answer, and the same again: a page is what the message beside it says."""
    for sls in ("north", "south"):
        first, second = f"{sls}-1", f"{sls}-2"
        text = (
            f"{first}: {{test.nop: [require: [test: {second}]]}}\n{second}: {{test.nop: [require:"
            f" [test: {first}]]}}"
        )
        machine.write(**{sls: text})
    hints = cycle_hints(machine)
    pages = [Path(hint.rpartition(" is drawn in ")[2]).read_text() for hint in hints]
    assert [("north-1" in page, "south-1" in page) for page in pages] == [
        (True, False),
        (False, True),
    ]
    assert cycle_hints(machine) == hints


def test_of_a_large_tree_the_cycle_is_drawn(machine: Machine) -> None:
    many = "".join(f"s{number}: test.nop\n" for number in range(600))
    machine.write(
        a=(
            f"{many}a1: {{test.nop: [require: [test: a2]]}}\na2: {{test.nop: [require: [test:"
            " a1]]}\n"
        )
    )
    error = machine("sls", "a", code=1).stderr
    page = Path(error.rpartition("; it is drawn in ")[2].strip()).read_text()
    assert ("A cycle: 2 states depend on each other" in page, "s17" in page) == (True, False)


def test_a_cycle_of_a_glob_names_the_line_of_the_chain(machine: Machine) -> None:
    machine.write(
        a=(
            "x1:\n  test.nop: []\nx2:\n  test.nop:\n    - require:\n      - test: x1\n      - test:"
            " y\ny:\n  test.nop: []\nchain:\n  - 'test: x* -> test: y'\n"
        )
    )
    error = machine("check", "a", code=1).stdout
    assert (
        f"test: y has require on test: x2 ({machine.folder}/states/a.sls:11:5, by the chain"
        in error
    )
    assert f"test: x2 has require on test: y ({machine.folder}/states/a.sls:7:9)" in error
    assert "at " + str(machine.folder / "states/a.sls:11:5") in error
    assert "that chain's glob matches more than intended" in error


def test_two_sources_of_one_requisite_keep_their_places(machine: Machine) -> None:
    machine.write(
        a="include: [b]\nx:\n  test.nop:\n    - require:\n      - test: y\n",
        b="y:\n  test.nop: []\nz:\n  test.nop:\n    - require_in:\n      - test: x\n",
    )
    why = machine("why", "x", "a").stdout
    assert "depends on test: y (require, " + str(machine.folder / "states/a.sls:5:9") in why
    assert "depends on test: z (require, " + str(machine.folder / "states/b.sls:6:9") in why


def order(machine: Machine, *words: str) -> list[str]:
    found = machine.results("sls", "a", "--test", *words)
    ran = sorted(found, key=lambda name: int(found[name]["__run_num__"]))
    return [name.removeprefix(str(machine.folder)) for name in ran]


def test_shuffle(machine: Machine) -> None:
    machine.write(a=SHUFFLED)
    plain = order(machine)
    seven = order(machine, "--shuffle", "7")
    assert seven == order(machine, "--shuffle", "7")
    for shuffled in (seven, order(machine, "--shuffle", "8")):
        assert sorted(shuffled) == sorted(plain)
        assert shuffled != plain
        assert shuffled.index("s0") < shuffled.index("after")
        assert shuffled.index("/d") < shuffled.index("/d/f"), "automatic relationships hold, too"
        assert shuffled[-1] == "last"


@pytest.mark.parametrize("words", [["--shuffle"], ["--shuffle", "42"]])
def test_shuffle_tells_its_seed(machine: Machine, words: list[str]) -> None:
    machine.write(a="s:\n  test.nop: []\n")
    told = machine("sls", "a", *words).stderr
    assert "shuffled with seed 42" in told if "42" in words else "gives this order again" in told


def test_the_graph_shows_automatic_relationships_dotted(machine: Machine) -> None:
    machine.write(top="base:\n  '*': [a]\n", a=SHUFFLED)
    graph = machine("show", "graph").stdout
    assert graph.count("style=dotted") == 1
    assert '[label="autorequire", style=dotted]' in graph
    assert '[label="require"]' in graph


def test_the_graph_shows_what_comes_after_all_others_of_its_module(machine: Machine) -> None:
    machine.write(a="all:\n  pkg.declared: []\none:\n  pkg.installed: []\n")
    graph = machine("show", "graph", "a").stdout
    assert 'n1 -> n0 [label="COMES_LAST", style=dotted]' in graph
