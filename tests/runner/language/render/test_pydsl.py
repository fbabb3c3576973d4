# SPDX-License-Identifier: Apache-2.0
"""`#!pydsl`: the states of a Python program, good and bad; what is expected is what Salt 3007
renders.
"""

from __future__ import annotations

from typing import Any

import pytest
from command import Machine


def low(machine: Machine, *keys: str, sls: str = "a") -> list[tuple[Any, ...]]:
    found = machine.answer("show", "low-sls", sls)
    return [tuple(chunk.get(key) for key in ("__id__", "fun", *keys)) for chunk in found]


def test_states_and_their_arguments(machine: Machine) -> None:
    machine.write(
        a="""#!pydsl
assert state('x') is state('x') and state('x').test is state('x').test
state('x').test.nop('first', n=1)
state('x').test('nop', 'named', n=[2, (3,)])
assert state('x').test.nop is state('x').test.nop
state('y').test.nop(name=__sls__ + __grains__['id'] + __salt__['test.echo']('!'))
state('x').cmd.run('true', cwd='/')
state('list').test.nop(names=['n1', {'n2': [{'n': 5}]}])
state('unused')
only_named = state('z').test.nop
state().test.nop()
state().test.nop('last')
"""
    )
    assert low(machine, "name", "n", "cwd") == [
        ("x", "nop", "named", [2, [3]], None),
        ("x", "run", "true", None, "/"),
        ("y", "nop", "am1!", None, None),
        ("list", "nop", "n1", None, None),
        ("list", "nop", "n2", 5, None),
        ("z", "nop", "z", None, None),
        (".a:1", "nop", ".a:1", None, None),
        (".a:2", "nop", "last", None, None),
    ]


def test_all_requisites_of_a_state_count(machine: Machine) -> None:
    machine.write(
        b="elsewhere:\n  test.nop: []\n",
        a="""#!pydsl
include('b', delayed=True)
for id in 'cde':
    state(id).test.nop()
s = state('x')
s.cmd.require(state('c').test, test='d').watch(test='e').require(state('elsewhere').test)
s.cmd.run('true').require(test='d').onchanges_in(test='y')
state('y').test.nop(require=[{'test': 'c'}]).require(state('d').test.nop()).require_any(test='e')
""",
    )
    assert low(machine, "require", "watch", "onchanges_in", "require_any")[4:] == [
        (
            "x",
            "run",
            [{"test": "c"}, {"test": "d"}, {"test": "elsewhere"}],
            [{"test": "e"}],
            [{"test": "y"}],
            None,
        ),
        ("y", "nop", [{"test": "c"}, {"test": "d"}], None, None, [{"test": "e"}]),
    ]


def test_an_ordered_sls(machine: Machine) -> None:
    machine.write(
        a="""#!pydsl
state('free').test.nop()
__pydsl__.set(ordered=True)
for i in '012':
    state(i).test.nop(n=i)
state('1').test.nop(n='one')
state('end').test.nop().require(test='0')
"""
    )
    assert low(machine, "n", "require") == [
        ("free", "nop", None, None),
        ("0", "nop", "0", None),
        ("1", "nop", "one", [{"test": "0"}]),
        ("2", "nop", "2", [{"test": "1"}]),
        ("end", "nop", None, [{"test": "2"}, {"test": "0"}]),
    ]


LIBRARY = """#!pydsl
import os
state('lib').test.nop()
MADE = []
def make(id):
    MADE.append(id)
    return state(id).test.nop(n=len(MADE))
"""


def test_included_programs_are_modules(machine: Machine) -> None:
    machine.write(
        plain="plain:\n  test.nop: []\n",
        lib=LIBRARY,
        b=(
            "#!pydsl\nimport types\nassert include('plain', delayed=True) is"
            " None\ninclude('lib').make('of b')\n"
        ),
        a="""#!pydsl
none, lib, b = include('plain', '.lib', 'b')
assert none is None and lib.__name__ == 'lib' and lib.MADE == ['of b']
lib.make('of a').require(test='lib')
""",
    )
    assert low(machine, "__sls__", "n") == [
        ("plain", "nop", "plain", None),
        ("lib", "nop", "lib", None),
        ("of b", "nop", "b", 1),
        ("of a", "nop", "a", 2),
    ]


def test_what_includes_itself(machine: Machine) -> None:
    machine.write(
        a="#!pydsl\nNAME = 'x'\nstate(include('b').NAME).test.nop()\n",
        b="#!pydsl\nNAME = include('a').NAME\n",
    )
    assert low(machine) == [("x", "nop")]


def test_extend(machine: Machine) -> None:
    machine.write(
        b="one:\n  test.nop: []\ntwo:\n  test.nop: []\n",
        a="""#!pydsl
include('b')
one = state('one').test.nop(name='changed')
extend(one, state('two').test.require(test='x'))
extend(state('two').test.nop(name='second').require(test='y'))
__pydsl__.set(ordered=True)
state('x').test.nop()
state('y').test.nop()
""",
    )
    machine.write(top="base: {'*': [a]}")
    found = machine.answer("show", "lowstate")
    assert [(chunk["name"], chunk.get("require")) for chunk in found] == [
        ("changed", None),
        ("x", None),
        ("y", [{"test": "x"}]),
        ("second", [{"test": "x"}, {"test": "y"}]),
    ]


def test_a_python_function_is_called_when_its_state_runs(machine: Machine) -> None:
    machine.write(
        a="""#!pydsl
def greet(what, *args, **kws):
    open('{tmp}/greeting', 'w').write(f'{what}{args}{kws}')
    return True
state().cmd.call(greet, 'x', 1, y=2).require(test='before')
state('before').test.nop()
"""
    )
    machine("sls", "a", "--test")
    assert not (machine.folder / "greeting").exists()
    machine("sls", "a")
    assert (machine.folder / "greeting").read_text() == "x(1,){'y': 2}"


def test_with_other_renderers(machine: Machine) -> None:
    machine.write(
        b="#!jinja|pydsl\nstate('{{ sls }}').test.nop()\n",
        a="""#!pydsl|stateconf -ps
include('b')
extend(state('.start').stateconf.require(test='b'))
state('.x').test.nop()
state('.y').test.nop().require(test='.x')
""",
    )
    assert low(machine, "name", "require") == [
        ("b", "nop", "b", None),
        ("a::x", "nop", "x", None),
        ("a::y", "nop", "y", [{"test": "a::x"}]),
        ("a::start", "set", "a::start", None),
        (
            "a::goal",
            "set",
            "a::goal",
            [{"test": "a::x"}, {"test": "a::y"}, {"stateconf": "a::start"}],
        ),
    ]


@pytest.mark.parametrize(
    ("program", "message", "line", "hint"),
    [
        (
            "s = state('x')\ns.test.nop()\ns()",
            "state('x')() would execute states",
            4,
            "remove the call",
        ),
        ("state('x').test.nop('n', 'm')", "takes one argument by its place", 2, "nop('NAME'"),
        ("state('x').test()", "needs the name of a function", 2, ".FUNCTION()"),
        ("\nstate('x').test", "state('x').test names no function", 3, "state('x').test.FUNCTION()"),
        (
            "state('x').test.nop()\nstate('x').test.fail()",
            "the function nop already",
            3,
            "another ID",
        ),
        (
            "state('x').test.nop().requires(test='y')",
            "'requires' is not a requisite",
            2,
            "did you mean require",
        ),
        ("state('x').test.nop().require('y')", "'y' names no state", 2, "state('ID').pkg"),
        ("state('x').test.nop().require(test=['y', 'z'])", "names no state", 2, "once more"),
        ("state('x').test.nop().require(test='nosuch')", "nosuch", 2, ""),
        ("state('x').test.nop(n=print)", "the argument n is a function", 2, "texts"),
        (
            "state('x').test.nop(n=state('y').pkg)",
            "the argument n is the state state('y').pkg",
            2,
            ".require(",
        ),
        ("state(5).test.nop()", "is a text, not 5", 2, "state('5')"),
        ("state('x', 'y')", "state() takes from 0 to 1 positional arguments", 2, ""),
        (
            "extend(state('x'))",
            "extend() takes functions of states, not state('x')",
            2,
            "extend(state('ID')",
        ),
        ("__pydsl__.set(order=True)", "no setting 'order'", 2, "ordered"),
        ("include(['b'])", "include() takes names of SLS files", 2, "include('web'"),
        ("\ninclude('nosuch')", "Specified SLS nosuch", 3, "looked for"),
        ("\nstate('x').nosuch.nop()", "nosuch.nop", 3, ""),
        ("state('x').test.nop(\n  n=1 / 0)", "ZeroDivisionError", 3, "Python code"),
        ("include('lib')\nstate('lib').test.nop()", "conflicting ID", 3, ""),
        ("include('lib').make('x')(n=print)", "the argument n", 2, ""),
    ],
)
def test_mistakes(machine: Machine, program: str, message: str, line: int, hint: str) -> None:
    machine.write(lib=LIBRARY, a=f"#!pydsl\n{program}\n")
    error = machine("sls", "a", code=1).stderr
    assert message in error
    assert f"a.sls:{line}" in error
    assert hint in error
    assert "Traceback" not in error


def test_a_mistake_in_an_included_program_is_told_with_its_own_line(machine: Machine) -> None:
    machine.write(a="#!pydsl\ninclude('b')\n", b="#!pydsl\n\n\n1 / 0\n")
    assert "b.sls:4" in machine("sls", "a", code=1).stderr
