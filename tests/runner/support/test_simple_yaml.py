# SPDX-License-Identifier: Apache-2.0
"""Plain YAML that is read without PyYAML: the same values at the same places, or none at all.

tests/properties/test_yaml.py tries texts at random.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from placed import shape

from runner.support.yaml.limits import plain
from runner.support.yaml.load import load
from runner.support.yaml.rendered_text import Rendered
from runner.support.yaml.simple import DEEPEST, NotSimple, parse, parse_json

PLAIN = """
---
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
    - |

      after an empty line
    - 'web*':
        - |
         deep
    -   key: 1
        other: []
    - - nested
      - {}
      - [a, [b], {c: [d e, 'f', {}]}, ]  # a comment
      - [
          a b,  # another
          salt://c
        ]
    flow: {file_roots: {base: [/srv/salt, "/srv/x"]}, 'id': a:b,
           size: 3}
    words: {a: [no, ~, 10.0.0.1/8, $x, x@y.z, Off, "# f"],
  b: 1.2.3, c: d(e)
    } # d
    text: |  # comment
     x
    switches:  # comment
      - yes  # comment
      - NULL # comment
      - # comment
      - 'a # b'  # 'c
      - --plain (text) # comment
      - $(x)
    numbers: [2a, 0.4.c, 16:27:ac]
    others:
      - 16:27:ac:a5:76
      - 3rd of 4
      - <name> <b>
      - + .x y
    # the end
...
""".replace("{file.managed: []}", "x")
# each means something else than a text of these letters, or is a mistake
OTHER = (
    "a: 0644",
    "a: 1.5",
    "a: 1e3",
    "a: 0x1f",
    "a: 1:30",
    "a: &x b",
    "a: *x",
    "a: !t b",
    "a: |\n  b",
    "a: |-\n  b\n",
    "a: |\n",
    "a: >\n  b",
    "a: 'it''s'",
    'a: "\\n"',
    "a: [b",
    "a: [b]]",
    "a: [,]",
    "a: [b\nc: d",
    "a: [b\n  c]",
    "a: [b: c]",
    "a: [b c: d]",
    "a: {b}",
    "a: {b: }",
    "a: {b: c,, d: e}",
    "a: {b:c}",
    "a: {1: b}",
    "a: {b: 1, b: 2}",
    "a: {<<: b}",
    "a: [b] c",
    "a: [b]# c",
    "a: [*b]",
    "a: [b, # c",
    "a: {b: c}\n  d: e",
    "a: [-1]",
    "a: ...",
    "a: [.5]",
    "a: [..a]",
    "a: |\n   b\n  c\n",
    "a: |\n    \n   b\n",
    "a: |\n  b\n c: d\n",
    "a: b\n  c",
    "a: b: c",
    "a: b:",
    "a: 'b' c",
    "a:\tb",
    "a: é",
    "a: =x",
    "<<: a",
    "? a",
    "a: 1\na: 2",
    "yes: a",
    "~: a",
    "a: yEs",
    "a: y",
    "a: 'b' c # d",
    "a: 'b'' # c'",
    "a: b# c\n  d",
    "a: b # c\n  d",
    "a: -.inf",
    "a: 1.2.",
    "a: [b,\n---\nc]",
    "b\n---\na: b",
    "[b]\na: c",
    "--- # c\na: b",
    "1: a",
    "'a' : b",
    "'<<': b",
    "a : b",
    "a",
    "--- a",
    "a: 2001-01-01",
    "a: -1",
    "a: +1",
    "a: .5",
    "a: %b",
    "a: @b",
    "a: `b",
    "a: b\n c: d",
    "a: b\r\n",
    "- a\nb: c",
    "a:\n- b\n c: d",
    "a:\n  b: c\n d: e",
    "a: 'b\n  c'",
    "a: 12345678901234567890",
    "a: 1:30:15",
    "a: 0x1f:a",
    "a: 1_0",
    "a: 2001-01-01T00:00:00Z",
    "a: 2001-01-01 00:00:00 z",
    "a: 1e+3",
    "a: 0b1",
    "a: 16:ac: b",
    "a: 16:",
    "a: <<",
    "a: << b",
    "a: +a",
    "a: + 1",
    "a: b\n...\nc: d",
    "a: b\n... c",
    "a: b\n ...",
    "... a",
    "...",
    "# c\n...\n",
    "- 1a: b",
)


def test_a_plain_tree_is_read_with_its_places() -> None:
    document = Rendered(PLAIN, "x")
    value = parse(PLAIN, document)
    assert value["/etc/motd"]["file.managed"][1] == {"mode": "0644"}
    assert shape(value) == shape(load(PLAIN, document))


@pytest.mark.parametrize("text", OTHER)
def test_what_may_mean_something_else_is_left_to_pyyaml(text: str) -> None:
    with pytest.raises(NotSimple):
        parse(text, Rendered(text, "x"))


@pytest.mark.parametrize(
    "nested",
    [
        lambda levels: "- " * levels + "x\n",
        lambda levels: (
            "".join(f"{' ' * level}a:\n" for level in range(levels - 1))
            + f"{' ' * (levels - 1)}a: x\n"
        ),
        lambda levels: f"a: {'[' * (levels - 1)}x{']' * (levels - 1)}\n",
        lambda levels: f"a: {'{a: ' * (levels - 1)}x{'}' * (levels - 1)}\n",
    ],
)
def test_what_is_deep_is_left_to_pyyaml(nested: Callable[[int], str]) -> None:
    text = nested(DEEPEST)
    assert shape(parse(text, Rendered(text, "x"))) == shape(load(text, Rendered(text, "x")))
    text = nested(DEEPEST + 1)
    with pytest.raises(NotSimple):
        parse(text, Rendered(text, "x"))


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
