# SPDX-License-Identifier: Apache-2.0
"""What `runner show` says of a tree with a bit of everything: keys, shapes and order as Salt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Machine

A = """
include: [b]
exclude: [{id: gone}]
extend:
  b:
    test:
      - require: [{test: a}]
a:
  test.nop:
    - names: [x, {y: [{k: 1}]}]
    - order: 5
    - prereq: [{test: c}]
    - watch: [{test: b2}]
c:
  test.nop: [{order: last}]
first: {test.nop: [{order: first}]}
half: {test.nop: [{order: 2.5}]}
back: {test.nop: [{order: -1}]}
use: {test.nop: [{use: [{test: half}]}, {require_in: [{test: c}]}]}
"""
B = """
b: {test.nop: []}
b2: {cmd.run: [{name: 'true'}, {unless: 'false'}], test.nop: []}
gone: {test.nop: []}
edge: {test.nop: [{order: 10104}]}
"""
STAGES = json.loads(Path(__file__).with_name("shown_stages.json").read_text())


@pytest.mark.parametrize("words", [*STAGES, "highstate"])
def test_each_stage_is_shown_as_salt_has_it(machine: Machine, words: str) -> None:
    machine.write(a=A, b=B, top="base: {'*': [a]}\n")
    shown = machine.answer("show", *words.split())
    expected = STAGES["sls a" if words == "highstate" else words]
    assert json.dumps(shown) == json.dumps(expected)  # in the same order


@pytest.mark.parametrize(
    ("references", "times"),
    [
        ("{sls: b}, {sls: b}", 2),
        ("{sls: b}, {sls: c}", 1),
        ("{test: b}, {test: c}, {test: b}", 4),
        ("{sls: b}, {test: b}, {sls: c}, {test: c}", 3),
    ],
)
def test_a_requisite_of_others_is_repeated_as_salt_repeats_it(
    references: str, times: int, machine: Machine
) -> None:
    text = f"include: [b, c]\na: {{test.nop: [require_in: [{references}]]}}\n"
    machine.write(a=text, b="b: test.nop\n", c="c: test.nop\n", top="base: {'*': [a]}\n")
    shown = machine.answer("show", "lowstate")
    assert {low["__id__"]: low.get("require") for low in shown}["b"] == [{"test": "a"}] * times


def test_of_very_many_requisites_a_person_is_shown_the_first(machine: Machine) -> None:
    listed = [{"test": f"a{number}"} for number in range(60)]
    text = f"include: [a]\nb: {{test.nop: [require: {json.dumps(listed)}]}}\n"
    machine.write(a="".join(f"a{n}: test.nop\n" for n in range(60)), b=text, top="base: {'*': [b]}")
    shown = machine("show", "lowstate").stdout
    assert "  - test: a49\n  - and 10 more (--verbose shows them)\n" in shown
    assert "test: a50" not in shown
    for whole in (("--verbose",), ("--out", "yaml")):
        shown = machine("show", "lowstate", *whole).stdout
        assert "- test: a59\n" in shown and "more" not in shown
