# SPDX-License-Identifier: Apache-2.0
"""The order of a run: definition, `order`, requisites; each expectation is what Salt 3008 does with
the same tree.
"""

from __future__ import annotations

import pytest
from command import Machine
from compiling import compile_tree, gather, order

from runner.language.compiler import ordering
from runner.language.compiler.high import as_data


def tree(*lines: str) -> str:
    """`a require=b,c order=3` -> a state a."""
    text = ""
    for line in lines:
        name, *arguments = line.split()
        text += f"{name}:\n  test.nop:\n    - name: {name}\n"
        for argument in arguments:
            key, _, value = argument.partition("=")
            if key == "order":
                text += f"    - order: {value}\n"
            else:
                text += (
                    f"    - {key}:"
                    f" [{', '.join(f'{{test: {each}}}' for each in value.split(','))}]\n"
                )
    return text


CASES = {
    "definition": (("b", "a", "c"), "b a c"),
    "numbers first": (
        ("a", "b order=5", "c order=last", "d order=-2", "e order=first"),
        "e b a d c",
    ),
    "negative counts from the end": (
        ("a order=-1", "c order=-5", "d order=last", "f order=0", "h"),
        "f h c a d",
    ),
    "what others need comes before them": (
        ("a require=d", "b", "c", "d require=f", "e", "f"),
        "b c f d a e",
    ),
    "pulled one step up": (("a require=d,c", "b require=c", "c", "d", "e"), "c d a b e"),
    "a low number pulls": (("p", "x", "s", "y", "z order=2 require=s"), "s z p x y"),
    "a negative number pulls all the way": (
        ("s0 order=-1 require=s1", "s1", "s4 order=1"),
        "s1 s4 s0",
    ),
    "last does not pull": (("s0 order=last require=s1", "s1", "s4 order=1"), "s4 s1 s0"),
    "the strongest kind decides": (
        ("s9 order=100", "a order=60 watch=s9", "b order=30 require=s9", "f order=40"),
        "f s9 b a",
    ),
    "a weaker kind that was defined before pulls": (
        ("x", "p order=1 onfail=x", "k watch_any=x", "d order=5"),
        "x p d k",
    ),
    "a weaker kind that was defined later does not": (
        ("x", "k watch_any=x", "p order=1 onfail=x", "d order=5"),
        "d x p k",
    ),
    "as strong as require": (
        ("x", "k require=x", "p order=1 onfail_all=x", "d order=5"),
        "d x p k",
    ),
    "stronger than require": (
        ("x", "k require=x", "p order=1 require_any=x", "d order=5"),
        "x p d k",
    ),
    "what a prereq looks at pulls": (("d order=5", "p prereq=x", "x order=1"), "p x d"),
    "what a prereq looks at pulls by its real number": (
        ("p prereq=x", "d", "q prereq=x", "x order=-1"),
        "p d q x",
    ),
    "a stronger kind stops what a prereq looks at": (
        ("d order=5", "k watch_any=p", "p prereq=x", "x order=1"),
        "d p x k",
    ),
    "prereq runs before what it looks at": (("a prereq=b", "b require=c", "c", "d"), "c a b d"),
    "prereq chain": (("c", "b prereq=c", "a prereq=b"), "a b c"),
    "listen does not order": (("a listen=c", "b", "c"), "a b c"),
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_order(case: str) -> None:
    lines, expected = CASES[case]
    assert order(tree(*lines)) == expected.split()


LOOKS = {
    "a look at what is looked at already waits for its own look": (
        ("a prereq=b", "b prereq=x", "x"),
        "x b a b x",
    ),
    "a look before its own prereq is known does not": (
        ("b prereq=x", "a prereq=b", "x"),
        "b a x b x",
    ),
}


@pytest.mark.parametrize("case", LOOKS, ids=str)
def test_where_the_looks_stand(case: str) -> None:
    lines, expected = LOOKS[case]
    assert order(tree(*lines), looks=True) == expected.split()


def test_looks_at_looks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "LOOKS", 3)
    row = tree("a prereq=b", "b prereq=c", "c prereq=d", "d", "e prereq=b")
    assert order(row) == ["a", "e", "b", "c", "d"]
    assert order(row + tree("z prereq=a")) == [
        "more than 3 states look at each other in a row with prereq"
    ]


def test_lexicographic() -> None:
    assert order(tree("b", "a", "c"), auto_order=False) == ["a", "b", "c"]


def test_order_of_names() -> None:
    text = (
        "n:\n  test.nop:\n    - order: 3\n    - names:\n      - x\n      - y:\n        - order: 1\n"
        "      - z\n"
    )
    assert order(text) == ["y", "x", "z"]


def test_a_name_of_its_own_is_meant_before_one_of_several() -> None:
    text = (
        "a: {test.nop: [names: [x, y]]}\nb: {test.nop: [name: x]}\nc: {test.nop: [require_in:"
        " [test: x]]}\nd: {test.nop: [require_in: [test: y]]}\n"
    )
    assert order(text) == ["d", "x", "y", "c", "x"]


def test_cycle_names_every_edge() -> None:
    (message,) = order(tree("a require=b", "b watch=c", "c require=a", "d"))
    assert message.startswith("Recursive requisites were found: ({'SLS': 'main', 'ID': ")
    for line in ("a has require on test: b", "b has watch on test: c", "c has require on test: a"):
        assert line in message


CIRCLES = {
    ("a require=b", "b require=a"): "b require a, a require b",
    ("a prereq=b", "b prereq=a"): "b prereq a, a prereq b",
    ("a", "b", "c require=b prereq=a,b"): "c require b, b prereq c",
    ("a require=b", "b", "c prereq=a,b"): "a require b, c prereq a, b prereq c",
    ("a require=b", "b require=d", "c prereq=a,b", "d"): "a require b, c prereq a, b require c",
    ("a require=b watch=b", "b onfail=a onchanges=a"): "b onfail a, a require b",
    (
        "a require=c",
        "b watch=a",
        "c require=b,d",
        "d require=a",
    ): "b watch a, c require b, a require c",
}


@pytest.mark.parametrize("lines", CIRCLES, ids=str)
def test_a_cycle_begins_with_salts_words(lines: tuple[str, ...]) -> None:
    (message,) = order(tree(*lines))
    said = [each.split() for each in CIRCLES[lines].split(", ")]
    shown = {name: str({"SLS": "main", "ID": name}) for name in "abcd"}
    salts = [f"({shown[then]}, '{kind}', {shown[first]})" for then, kind, first in said]
    assert message.split("\n")[0] == f"Recursive requisites were found: {', '.join(salts)}"


def test_use_hands_on_what_stands_in_the_tree_only() -> None:
    """What a state has by `use` itself is not used again, and of several the last one counts."""
    text = (
        "a:\n  test.nop:\n    - name: A\n    - order: 4\n    - x: 1\nb:\n  test.nop:\n    - x: 2\n "
        "   - y: 3\n"
    )
    text += (
        "c:\n  test.nop:\n    - use: [{test: a}, {test: b}]\nd:\n  test.nop:\n    - use: [{test:"
        " c}]\n"
    )
    low = {chunk.id: chunk.args for chunk in compile_tree(text)[0]}
    assert (low["c"]["x"], low["c"]["y"], low["d"].get("x")) == (2, 3, None)


def test_use_hands_on_an_order_where_there_is_none() -> None:
    text = (
        "s11: {test.nop: []}\ns4: {test.nop: []}\ns1: {test.nop: [order: -2, use_in: [test:"
        " s11]]}\n"
    )
    assert order({"main": text}, auto_order=False) == ["s4", "s11", "s1"]
    assert order({"main": text}) == ["s11", "s4", "s1"]


def test_includes_come_first() -> None:
    files = {
        "d.init": "include: [.e]\nd: test.nop",
        "d.e.init": "include: [.f, ..g]\ne: test.nop",
        "d.e.f": "f: test.nop",
        "d.g": "g: test.nop",
    }
    assert order(files, "d", "d.e.f") == ["f", "g", "e", "d"]


def test_in_forms_and_extend() -> None:
    files = {
        "t": (
            "include: [x]\na:\n  test.nop:\n    - require_in: [{test: b}, {test: x1}]\nb:"
            " test.nop\nextend:\n  x1:\n    test:\n      - name: new\n      - require: [{test:"
            " x2}]\n"
        ),
        "x": "x1: test.nop\nx2: test.nop\nx3: test.nop",
    }
    assert order(files) == ["x2", "a", "new", "x3", "b"]


NAMED = {
    "a bare requisite means names too": (
        (
            "a: {test.nop: [require: [x]]}\nb: {test.nop: [name: x], cmd.run: [name: x]}\nx:"
            " test.nop\n"
        ),
        "x x x a",
    ),
    "a name alone": ("a: {test.nop: [require: [x]]}\nb: {test.nop: [name: x]}\n", "x a"),
    "a bare glob": (
        "a: {test.nop: [onchanges: ['x*']]}\nb: {test.nop: [name: x1]}\nx: test.nop\n",
        "x1 x a",
    ),
    "a glob means what it begins with, too": (
        "x: test.nop\na: {test.nop: [require: [test: 'x*']]}\n",
        "x a",
    ),
    "an alias of a whole state": ("b: &s {test.nop: [x: 1]}\na: *s\n", "b a"),
    "onfail_stop is not a requisite": ("a: {test.nop: [onfail_stop: false]}\n", "a"),
    "an order behind another argument counts for nothing": (
        "a: test.nop\nb: {test.nop: [{x: 1, order: 1}]}\nc: {test.nop: [{order: 1, x: 1}]}\n",
        "c a b",
    ),
}


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_what_is_named(case: str) -> None:
    text, expected = NAMED[case]
    assert order(text) == expected.split()


@pytest.mark.parametrize(
    ("said", "extended", "expected"),
    [
        ("require: [{test: y}]", "require: [{test: z}]", ["x", "y", "z", "a"]),
        ("require_in: [{test: x}]", "require_in: [{test: y}]", ["x", "a", "y", "z"]),
        ("require_in: [{test: x}]", "require: [{test: z}]", ["y", "z", "a", "x"]),
        ("require_in: [{test: x}]", "require_in: [{sls: nothing}]", ["x", "y", "z", "a"]),
    ],
)
def test_extend_adds_to_requisites_and_replaces_the_in_forms(
    said: str, extended: str, expected: list[str]
) -> None:
    files = {
        "t": f"include: [nothing, s]\nextend: {{a: {{test: [{{{extended}}}]}}}}\n",
        "s": f"x: test.nop\ny: test.nop\nz: test.nop\na: {{test.nop: [{{{said}}}]}}",
        "nothing": "",
    }
    assert order(files) == expected


MISTAKES = {
    "x: {test.nop: [{require_in: [{test: a}]}]}\na: test.nop\nexclude: [{id: x}]": (
        "Referenced state does not exist "
        "for requisite [require: (test: x)] in state [a] in SLS [main]"
    ),
    "a: {test.nop: [{require: [{test: b}], x: 1}]}\nb: test.nop": (
        "Multiple dictionaries defined in argument of state 'a' in SLS 'main'"
    ),
    "a: {test.nop: [{name: x}, {require: [x]}]}": "Recursive requisites were found",
    "a: 3": "ID a in SLS main is not a dictionary",
    "3: test.nop": (
        "ID '3' in SLS 'main' is not formed as a string, but is type int. It may need to be quoted."
    ),
    "a: {test: [nop, fail]}": (
        "Too many functions declared in state 'a' in SLS 'main'. "
        "Please choose one of the following: nop, fail"
    ),
    "a: {test: []}": "No function declared in state 'a' in SLS 'main'",
    "a: {test.nop: {x: 1}}": "State 'a' in SLS 'main' is not formed as a list",
    "a: {test: nop}": "State 'a' in SLS 'main' is not formed as a list",
    "a: {test.nop: }": (
        "ID 'a' in SLS 'main' contains a short declaration (test.nop) with a trailing colon"
    ),
    "a: {test.nop: [name, null]}": "Too many functions declared in state 'a' in SLS 'main'",
    "a: {test.nop: [], test.fail: []}": (
        "ID 'a' in SLS 'main' contains multiple state declarations of the same type"
    ),
    "a: {test.nop: [{require: b}]}\nb: test.nop": (
        "The require statement in state 'a' in SLS 'main' needs to be formed as a list"
    ),
    "a: {test.nop: [{require: [{test: b}]}]}": (
        "Referenced state does not exist for requisite [require: (test: b)] "
        "in state [a] in SLS [main]"
    ),
    "a: {test.nop: [{listen: [{test: b}]}]}": (
        "Referenced state does not exist for requisite [listen: (test: b)] "
        "in state [a] in SLS [main]"
    ),
    "a: {test.nop: [{require: ['zz*']}]}": (
        "Referenced state does not exist for requisite [require: (id: zz*)] "
        "in state [a] in SLS [main]"
    ),
    "a: {test.nop: [{require: [{test: [b]}]}]}": (
        'Illegal requisite "[\'b\']" in SLS "main", please check your syntax.'
    ),
    "include: x": "Include Declaration in SLS main is not formed as a list",
    "include: [nope]": "Specified SLS nope in saltenv base is not available",
    **dict.fromkeys(["false", "0", "[]", "''"], "SLS main does not render to a dictionary"),
    "[a, b]": "SLS main does not render to a dictionary",
    "extend: 3": "Extension value in SLS 'main' is not a dictionary",
    "extend: {b: {test: [{x: 1}]}}": (
        "Cannot extend ID 'b' in 'base:main'. It is not part of the high state.\nThis is likely due"
        " to a missing include statement or an incorrectly typed ID.\nEnsure that a state with an"
        " ID of 'b' is available\nin environment 'base' and to SLS 'main'"
    ),
}


@pytest.mark.parametrize("text", MISTAKES, ids=str)
def test_mistakes_have_salts_words(text: str) -> None:
    (message,) = order(text)
    assert message.startswith(MISTAKES[text])


def test_conflicting_ids_name_both_files() -> None:
    (message,) = order({"t": "include: [x]\na: test.nop", "x": "a: test.nop"})
    assert "The conflicting ID is 'a'" in message
    assert "base:t" in message
    assert "base:x" in message


def test_sls_glob_without_match_is_no_error() -> None:
    assert order("a: {test.nop: [{require: [{sls: 'zz*'}]}]}") == ["a"]


@pytest.mark.parametrize(
    ("said", "other", "expected"),
    [
        (
            "extend: {x: {test: [{name: new}]}}\nexclude: [{id: x}]",
            "x: test.nop\ny: test.nop",
            ["y"],
        ),
        (
            "extend: {x: {test: [{name: new}]}}\nexclude: [{sls: s}]\na: test.nop",
            "x: test.nop",
            ["a"],
        ),
        ("a: {test.nop: [{require_in: [{test: x}]}]}\nexclude: [{id: x}]", "x: test.nop", ["a"]),
        ("a: test.nop\nexclude: [{sls: s}]", "x: {test.nop: [{require_in: [{test: a}]}]}", ["a"]),
        (
            "a: test.nop\nexclude: [{sls: s}]",
            "x: test.nop\nextend: {a: {test: [{name: new}]}}",
            ["a"],
        ),
    ],
)
def test_what_is_excluded_can_be_extended_and_says_nothing(
    said: str, other: str, expected: list[str]
) -> None:
    assert order({"t": f"include: [s]\n{said}", "s": other}) == expected


def test_exclude_takes_globs_of_sls_files_and_no_globs_of_ids() -> None:
    files = {
        "a": "include: [b, c]\nexclude: [{id: 'x*'}, {sls: 'c*'}]\nxa: test.nop\n",
        "b": "xb: test.nop",
        "c": "y: test.nop",
    }
    assert order(files, "a") == ["xb", "xa"]


def test_of_an_empty_list_of_names_the_id_is_the_name() -> None:
    assert order("a: {test.nop: [{names: []}]}\nb: {test.nop: [{require: [{test: a}]}]}\n") == [
        "a",
        "b",
    ]


def test_arguments_that_states_share_by_an_alias_are_those_of_each() -> None:
    text = "a:\n  test.nop: &args\n    - name: n\nb:\n  test.nop: *args\n"
    assert [(chunk.id, chunk.name) for chunk in compile_tree(text)[0]] == [("a", "n"), ("b", "n")]


def test_excludes_are_shown_as_they_were_written() -> None:
    gatherer = gather({"a": "exclude: [b, {sls: c}, {id: d}]\nx: test.nop\n"}, "a")
    assert as_data(gatherer.high)["__exclude__"] == ["b", {"sls": "c"}, {"id": "d"}]


def test_includes_tell_who_brought_an_sls(machine: Machine) -> None:
    """As Salt does: the same way first, then others; none that leads back to where it came from."""
    machine.write(
        m="include: [n, o]\nm: test.nop\n",
        n="include: [n]\nn: test.nop\n",
        o="include: [n, p]\no: test.nop\n",
        p="include: [m, n]\np: test.nop\n",
    )
    shown = machine.answer("show", "low-sls", "m")
    brought = {each["name"]: each.get("__sls_included_from__") for each in shown}
    assert brought == {"m": None, "n": ["m"], "o": ["m"], "p": ["o", "m"]}
