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
    shown = json.loads(machine("show", *words.split(), "--out", "json").stdout)["local"]
    expected = STAGES["sls a" if words == "highstate" else words]
    assert json.dumps(shown) == json.dumps(expected)  # in the same order
