# SPDX-License-Identifier: Apache-2.0
"""Plain YAML that is read without PyYAML: the same values at the same places, or none at all."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from runner.support.yaml.limits import plain
from runner.support.yaml.load import load
from runner.support.yaml.rendered_text import Rendered
from runner.support.yaml.simple import NotSimple, parse, parse_json

PLAIN = """
    a file: {file.managed: []}
    # a comment
    /etc/motd:
      file.managed:
        - contents: Hello, [you] and {them}
        - mode: '0644'
        - makedirs: true
        - ports: [80, 'x y', true]
        - text: |
            # no comment

              further in
            end

        - require:
          - pkg: nginx
          -
          - test
        - context:
            port: 80
            url: http://x.example/a#b
            nothing:
    again:  # a comment
    - "x: y"
    - 'web*':
        - |
         deep
    -   key: 1
        other: []
    - - nested
      - {}
""".replace("{file.managed: []}", "x")
# each means something else than a text of these letters, or is a mistake
OTHER = (
    *("a: yes", "a: Off", "a: null", "a: ~", "a: 0644", "a: 1.5", "a: 1e3", "a: 0x1f", "a: 1:30"),
    *(
        "a: &x b",
        "a: *x",
        "a: !t b",
        "a: |\n  b",
        "a: |-\n  b\n",
        "a: |\n",
        "a: >\n  b",
        "a: 'it''s'",
        'a: "\\n"',
        "a: [b:c]",
    ),
    *("a: [b,]", "a: [b", "a: [b, [c]]", "a: [no]", "a: [b]]", "a: [,]", "a: [b c]", "a: [-1]"),
    *("a: ...", "a: [.5]", "a: [..a]"),
    *("a: |\n   b\n  c\n", "a: |\n    \n   b\n", "a: |\n  b\n c: d\n"),
    *(
        "a: {b: c}",
        "a: b # c",
        "a: b\n  c",
        "a: b: c",
        "a: b:",
        "a: 'b' c",
        "a:\tb",
        "a: é",
        "a: =x",
    ),
    *(
        "<<: a",
        "? a",
        "a: 1\na: 2",
        "yes: a",
        "1: a",
        "'a' : b",
        "'<<': b",
        "a : b",
        "a",
        "--- a",
        "---\na: b",
    ),
    *(
        "a: 2001-01-01",
        "a: -1",
        "a: +1",
        "a: .5",
        "a: %b",
        "a: @b",
        "a: `b",
        "a: b\n c: d",
        "a: b\r\n",
    ),
    *("- a\nb: c", "a:\n- b\n c: d", "a:\n  b: c\n d: e", "a: 'b\n  c'", "a: 12345678901234567890"),
)
PARTS = [
    "a",
    "x y",
    "/b",
    "true",
    "no",
    "1",
    "007",
    "'q r'",
    '"s"',
    "[]",
    "{}",
    "c:d",
    "e: f",
    "g #h",
    "|",
    "[a, 1]",
    "[ 'b' ,c-d ]",
    "../a",
    ".b",
    ".Inf",
    "# comment",
    "[.]",
]


def shape(value: Any) -> Any:
    """A value with its types and places."""
    if isinstance(value, dict):
        inner = [(key, shape(item)) for key, item in value.items()]
        return inner, getattr(value, "start", None), getattr(value, "at", None)
    if isinstance(value, list):
        places = getattr(value, "start", None), getattr(value, "items_at", None)
        return [shape(item) for item in value], *places
    return type(value), value


def test_a_plain_tree_is_read_with_its_places() -> None:
    document = Rendered(PLAIN, "x")
    value = parse(PLAIN, document)
    assert value["/etc/motd"]["file.managed"][1] == {"mode": "0644"}
    assert shape(value) == shape(load(PLAIN, document))


@pytest.mark.parametrize("text", OTHER)
def test_what_may_mean_something_else_is_left_to_pyyaml(text: str) -> None:
    with pytest.raises(NotSimple):
        parse(text, Rendered(text, "x"))


def line(chance: random.Random) -> str:
    key, word = chance.choice(PARTS), chance.choice(PARTS)
    form = chance.choice(
        [f"{key}: {word}", f"{key}:", f"- {word}", f"- {key}: {word}", "-", word, ""]
    )
    return " " * chance.choice([0, 0, 2, 2, 3, 4]) + form


def test_random_texts_have_the_same_values_and_places() -> None:
    chance, read = random.Random(22), 0
    for _ in range(4000):
        text = "\n".join(line(chance) for _ in range(chance.randint(1, 6)))
        text += chance.choice(["", "\n", "\n\n"])
        document = Rendered(text, "x")
        try:
            value = parse(text, document)
        except NotSimple:
            continue
        read += 1
        assert shape(value) == shape(load(text, document)), text
    assert read > 300


def test_json_without_escapes_is_read_as_such() -> None:
    value = {"file_roots": {"base": ["/srv"]}, "id": "x", "strict": True, "n": 3, "no": None}
    for text in (
        json.dumps(value),
        json.dumps(value, indent=2),
        json.dumps(value, separators=",:"),
    ):
        assert parse_json(text) == value == plain(text)
    for text in ('{"a": 1.5}', '{"a": "\\u00e4"}', '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": -1}'):
        with pytest.raises(NotSimple):
            parse_json(text)
