"""What reads plain YAML line by line gives what libyaml gives, with the same places, or leaves the text to it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from runner.model import PlacedList, PlacedMap
from runner.render import yaml
from runner.render.linemap import Rendered
from runner.render.plain_yaml import PlainReader, Unusual

DOCUMENT = Rendered("", "x.sls")


def told(value: Any) -> Any:
    """A value with its types and all its places."""
    if isinstance(value, PlacedMap):
        assert value.document is DOCUMENT and len(value) == len(value.keys_at) == len(value.values_at)
        rows = [(told(key), value.keys_at[key], value.values_at[key], told(item)) for key, item in value.items()]
        return "map", value.start, rows
    if isinstance(value, PlacedList):
        return "list", value.start, list(zip(value.items_at, map(told, value), strict=True))
    return type(value), repr(value)


def plainly(text: str) -> Any:
    """What the reader makes of a text; None when it leaves it to libyaml."""
    try:
        return told(PlainReader(text, DOCUMENT, yaml._plain_value).read())
    except Unusual:
        return None


def by_libyaml(text: str) -> Any:
    try:
        return told(yaml.load_with(yaml.Reader, text, DOCUMENT))
    except Exception as error:
        return str(error)


READ = [
    "a: b\n",
    "---\n# comment\nnginx:\n  pkg.installed\n\n\nx: 1\n",
    "web:\n  file.managed:\n    - name: /etc/x  # why\n    - mode: 0644\n    - require:\n      - pkg: web\n",
    "a:\n- b\n- c: 1\n  d: yes\n-   e: f\n",
    "- - a\n  - b: c\n- d\n",
    "a:\nb:\n  c:\nd: null\n",
    "a: {x: 1, 'y z': [1, \"two\", -3, {}, []], z: {p: q r}}  # c\nb: [a b, c/d]\n",
    "a: http://x/y:80\nb: -5\nc: --flag=1\n1.5: true\n'q': \"w\"\n10:30: 0x1F\n",
    "a:\n  - b: |\n      one\n        two\n\n      three\n\n  - c: |-\n      x # no comment\n",
    "a:\n  two words\nb:\n    - |\n     x\n    - y\n",
    'a: it\'s "quoted" & [more] {here}, %x !y\n',
]
LEFT = [
    "",
    "# nothing\n",
    "a: &x 1\nb: *x\n",
    "<<: {a: 1}\n",
    "a: !!str 1\n",
    "a: b\na: c\n",
    "a: one\n  two\n",
    "a: >\n x\n",
]
LEFT += [
    "a: b: c\n",
    "a: 'it''s'\n",
    'a: "x\\n"\n',
    "a: [1,\n 2]\n",
    "a\tb: 1\n",
    "é: 1\n",
    "a: 1\n---\nb: 2\n",
    "... : x\n",
]
LEFT += [
    "-\n  a\n",
    "? a\n",
    "a: {b: 1}}\n",
    "a: [b: 1]\n",
    "a: {b}\n",
    "a : 1\n",
    "a: 1\n  b: 2\n",
    "a: |\n  x",
    "a: @x\n",
]
LEFT += [
    "a: b#c\n",
    "a: 'x'y\n",
    "=: 1\n",
    "a: =\n",
    "a: |\n    x\n  y\n",
    "a: " + "[" * 60 + "]" * 60 + "\n",
    "b:\n a\n c\n",
]


@pytest.mark.parametrize("text", READ)
def test_what_is_plain_is_read_as_libyaml_reads_it(text: str) -> None:
    assert plainly(text) == by_libyaml(text) != None  # noqa: E711


@pytest.mark.parametrize("text", LEFT)
def test_what_is_not_plain_is_left_to_libyaml(text: str) -> None:
    assert plainly(text) is None


def test_texts_that_chance_alters_are_read_as_libyaml_reads_them() -> None:
    chance = random.Random(4)
    lines = [line for text in READ + LEFT for line in text.split("\n") if len(line) < 80]
    marks = [*" :-#'\"|[]{},&*!?%\n\t.0ax<=\\", ": ", "- ", " #", ": |\n", "\n  ", "a: ", "[a, b]", "{a: 1}", "|-"]
    read = 0
    for _ in range(4000):
        text = "\n".join(chance.choices(lines, k=chance.randrange(1, 6))) + chance.choice(["\n", "\n\n", ""])
        if chance.random() < 0.6:
            text = chance.choice(READ)
        for _ in range(chance.randrange(3)):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(marks) + text[at + chance.randrange(2) :]
        found = plainly(text)
        if found is not None:
            read += 1
            assert found == by_libyaml(text), text
    assert read > 500
