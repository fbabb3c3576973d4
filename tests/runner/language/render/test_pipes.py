# SPDX-License-Identifier: Apache-2.0
"""Render pipes: each renderer by its shebang, good and bad."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from gpg_keys import key_of_runner
from needing import needs


def shown(machine: Machine) -> Any:
    found = machine.answer("show", "low-sls", "a")
    return [(chunk["__id__"], chunk["name"]) for chunk in found]


@pytest.mark.parametrize(
    "text",
    [
        "#!jinja|yaml\n{{ 'x' }}:\n  test.nop:\n    - name: n\n",
        "#!yaml\nx:\n  test.nop:\n    - name: n\n",
        '#!json\n{"x": {"test.nop": [{"name": "n"}]}}\n',
        '#!jinja|json\n{"{{ "x" }}": {"test.nop": [{"name": "n"}]}}\n',
        (
            "#!yamlex\nx: !aggregate\n  test.nop:\n    - name: m\nx: !reset\n  test.nop:\n    -"
            " name: n\n"
        ),
        '#!jinja|toml\n[x]\n"test.nop" = [{name = "{{ "n" }}"}]\n',
        (
            "#!py\ndef run():\n    return {'x': {'test.nop': [{'name':"
            " __salt__['test.echo']('n')}]}}\n"
        ),
        "#!jinja|py\ndef run():\n    return {'{{ sls }}x'[1:]: {'test.nop': [{'name': 'n'}]}}\n",
    ],
)
def test_pipes(machine: Machine, text: str) -> None:
    machine.write(a=text)
    assert shown(machine) == [("x", "n")]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("#!jinjaa|yaml\n", "there is no renderer 'jinjaa'", "a.sls:1:3"),
        ("#!wempy\n", "is one of Salt's that runner does not have", "a.sls:1:3"),
        ("#!json\n{\n  nonsense\n", "this is not JSON", "a.sls:3:3"),
        ("#!toml\n[x\n", "this is not TOML: Expected ']'", "a.sls:2:3"),
        ("#!py\ndef run():\n    return 1 / 0\n", "ZeroDivisionError", "a.sls:3"),
        ("#!py\nx = 1\n", "has to define run()", "a.sls:1"),
        ("#!py\ndef run(:\n", "Python:", "a.sls:2"),
        ("#!jinja\nx\n", "end with text", "a.sls:1"),
        ("#!pyobjects\n\nTest.nop('x', y=1 / 0)\n", "ZeroDivisionError", "a.sls:3"),
        (
            "#!pyobjects\nTest.nop('x')\nTest.nop('x')\n",
            "there is already a state test.nop",
            "a.sls:3",
        ),
        ("#!pyobjects\n\nTest.nop()\n", "a state takes one ID by its place", "a.sls:3"),
        (
            "#!pyobjects\n\nimport salt://nosuch.sls\n",
            "salt://nosuch.sls does not exist",
            "a.sls:3",
        ),
        ("#!pyobjects\n\nNope.nop('x')\n", "State 'nope.nop' was not found", "a.sls:3"),
        ("#!stateconf -x\nx: {}\n", "has no option -x", "a.sls:1"),
        (
            "#!stateconf -o\n.x:\n  test.nop:\n    - require:\n      - test: .y\n.y:\n  test.nop\n",
            "written after this state",
            "a.sls:4:7",
        ),
        ("#!stateconf\n.goal: test.nop\n", "stateconf makes this state itself", "a.sls:2:1"),
        ("#!stateconf\na::x: test.nop\n.x: test.nop\n", "ID a::x is declared too", "a.sls:3:1"),
        ("#!broken|yaml\nx: {}\n", "the renderer broken: KeyError", "broken.py:2"),
        (
            "#!yaml|gpg\nx:\n  test.nop:\n    - name: |\n{message}",
            "the PGP message cannot be decrypted",
            "a.sls:4",
        ),
    ],
)
def test_mistakes(machine: Machine, text: str, message: str, place: str) -> None:
    armour = (
        "        -----BEGIN PGP MESSAGE-----\n\n        nonsense\n        -----END PGP"
        " MESSAGE-----\n"
    )
    machine.config["gpg_keydir"] = str(machine.folder / "keys")
    (machine.folder / "keys").mkdir(mode=0o700)
    folder = machine.folder / "states" / "_renderers"
    folder.mkdir()
    (folder / "broken.py").write_text(
        "def render(data, saltenv='base', sls='', **kwargs):\n    return {}['x']\n"
    )
    machine.write(a=text.replace("{message}", armour))
    error = machine("sls", "a", code=1).stderr
    assert message in error
    assert place in error


def test_a_renderer_that_only_the_configuration_names(machine: Machine) -> None:
    machine.config["renderer"] = "nosuch"
    machine.write(a="x:\n  test.nop: []\n")
    told = machine("show", "low-sls", "a", code=1).stderr
    assert "there is no renderer 'nosuch', which `renderer` of the configuration names" in told
    del machine.config["renderer"]
    assert "takes no name" in machine("show", "pillar", "x", code=1).stderr
    assert "needs the name of an SLS" in machine("show", "low-sls", ",", code=1).stderr
    machine.config |= {"state_top": "nope.sls"}
    assert "looked for nope.sls in" in machine("show", "lowstate", code=1).stderr
    machine.config |= {"saltenv": "dev"}
    assert (
        "there is no environment 'dev' in file_roots; there is: base"
        in machine("show", "lowstate", code=1).stderr
    )


@pytest.fixture
def encrypted(machine: Machine) -> Iterator[Callable[[str], str]]:
    with key_of_runner(machine.folder / "keys") as encrypted:
        yield encrypted


@needs("gpg")
def test_gpg_in_the_pillar_is_decrypted_and_shown_nowhere(
    machine: Machine, encrypted: Callable[[str], str]
) -> None:
    keys = machine.folder / "keys"
    message = encrypted("hunter2 by gpg")
    indented = "".join(f"  {line}\n" for line in message.splitlines())
    machine.config["gpg_keydir"] = str(keys)
    machine.write(
        a=(
            "{tmp}/f:\n  file.managed:\n    - contents_pillar: word\n"
            "say:\n  cmd.run:\n    - name: echo {{ pillar.word }}\n"
        ),
        pillar__top="base:\n  '*':\n    - p\n",
        pillar__p=(
            f"#!yaml|gpg\nword: |\n{indented}\nfolded: >\n{indented}\n"
            f"literal: '{message.strip().replace(chr(10), chr(92) + 'n')}'\n"
        ),
    )
    out = machine("sls", "a").stdout
    assert Path(machine.folder / "f").read_text() == "hunter2 by gpg\n"
    assert "hunter2" not in out
    assert "**********" in out
    assert "hunter2" not in machine("show", "low-sls", "a", "--out", "json").stdout
    whole = machine.answer("show", "pillar", "--show-secrets")
    assert whole == dict.fromkeys(["word", "folded", "literal"], "hunter2 by gpg")
    machine.config["gpg_recipients"] = ["runner"]
    file = machine.folder / "pillar/p.sls"
    old = file.read_text()
    machine("secret", "rekey", str(file), "--with", "gpg")
    assert file.read_text() != old and len(file.read_text()) == len(old)
    machine.environment["EDITOR"] = "sh -c 'echo new: DEC::GPG[mackerel by gpg]! >> $0'"
    machine("secret", "edit", str(file))
    whole = machine.answer("show", "pillar", "--show-secrets")
    assert whole.pop("new") == "mackerel by gpg"
    assert whole == dict.fromkeys(["word", "folded", "literal"], "hunter2 by gpg")
    (machine.folder / "m.asc").write_text(encrypted("swordfish by gpg"))
    call = f"gpg.decrypt filename={machine.folder}/m.asc gnupghome={keys}"
    assert machine("call", *call.split(), "bare=True").stdout == "swordfish by gpg\n"
    machine("call", *call.split(), f"output={machine.folder}/plain")
    plain = machine.folder / "plain"
    assert plain.read_text() == "swordfish by gpg" and plain.stat().st_mode & 0o777 == 0o600
    machine.write(
        a=(
            "say:\n  cmd.run:\n    - name: echo {{"
            f" salt['gpg.decrypt'](filename='{machine.folder}/m.asc', gnupghome='{keys}').comment"
            " }}\n"
        )
    )
    out = machine("sls", "a").stdout
    assert "swordfish" not in out and "**********" in out
    template = "word: {{ 'sword' }}fish alone\n"  # decrypted before Jinja compiles it
    machine.write(pillar__p=f"#!gpg|jinja|yaml\n{encrypted(template)}")
    assert "swordfish alone" in machine("show", "pillar", "--show-secrets").stdout
    kept = [path for path in (machine.folder / "cache").rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if b"fish alone" in path.read_bytes()]


OWN = """
import io
import salt.utils.stringio

def render(data, saltenv="base", sls="", argline="", **kwargs):
    assert salt.utils.stringio.is_readable(data)
    return io.StringIO(data.read().replace("ME", __grains__["id"] + sls + argline))
"""


def low(machine: Machine, sls: str, *keys: str) -> list[tuple[Any, ...]]:
    found = machine.answer("show", "low-sls", sls)
    return [tuple(chunk.get(key) for key in ("__id__", "fun", *keys)) for chunk in found]


def test_a_renderer_of_the_tree(machine: Machine) -> None:
    (machine.folder / "states" / "_renderers").mkdir()
    (machine.folder / "states" / "_renderers" / "me.py").write_text(OWN)
    machine.write(a="#!me -x|jinja|yaml\n{{ 'ME' }}:\n  test.nop: []\n")
    assert low(machine, "a") == [("m1a-x", "nop")]


PYOBJECTS = """#!pyobjects
import salt://lib.sls
from salt://lib.sls import twice as double

class Names(Map):
    merge = "names"
    class M1:
        __grain__ = "id"
        __match__ = "m1"
        one, two, _own = "mine", "2", 3
    class m1:
        __grain__ = "host_number"
        __match__ = 1
        one = "number 1"
    class Wrong:
        __grain__ = "id"
        __match__ = "m*"
        one = "no globs"

include("b")
with Test.nop("x", n=[Names.one, Names.two]):
    Test.nop("y", n=double(lib.FOUR), require=Test("z"))
    with Cmd("c", "watch_in"):
        Cmd.run("c", cwd=pillar("names:two"))
Test.nop(extend("b"), require=[Test("x")])
Test.nop("z")
"""


def test_pyobjects(machine: Machine) -> None:
    machine.write(
        a=PYOBJECTS,
        b="b:\n  test.nop: []\n",
        lib="#!pyobjects\nFOUR = 4\ndef twice(x): return 2 * x\n",
    )
    machine.write(pillar__top="base: {'*': [p]}", pillar__p="names: {two: theirs}")
    machine.config["grains"] = {"host_number": 1}
    assert low(machine, "a", "n", "cwd", "require", "watch_in") == [
        ("b", "nop", None, None, None, None),
        ("x", "nop", ["number 1", "theirs"], None, None, None),
        ("z", "nop", None, None, None, None),
        ("y", "nop", 8, None, [{"test": "z"}, {"test": "x"}], None),
        ("c", "run", None, "theirs", [{"test": "x"}], [{"cmd": "c"}]),
    ]


STATECONF = """#!stateconf
.params:
  stateconf.set:
    - port: 80
    - host: h
# --- end of state config ---
.x:
  test.nop:
    - n: {{ params.host }}:{{ params.port }}
    - require:
      - stateconf: .params
"""
INCLUDES = """#!stateconf -G
include:
  - .web
extend:
  .web::params:
    stateconf:
      - port: 8080
.y:
  test.nop:
    - require:
      - stateconf: .web::goal
"""


def test_stateconf(machine: Machine) -> None:
    machine.write(web=STATECONF, a=INCLUDES)
    assert low(machine, "web", "name", "n", "require") == [
        ("web::params", "set", "web::params", None, None),
        ("web::x", "nop", "x", "h:80", [{"stateconf": "web::params"}]),
        ("web::goal", "set", "web::goal", None, [{"stateconf": "web::params"}, {"test": "web::x"}]),
    ]
    found = low(machine, "a", "n")
    assert ("web::x", "nop", "h:8080") in found
    assert found[-1][0] == "a::y"
    machine("sls", "a")
    machine.write(top="base: {'*': [a]}")
    high = machine.answer("show", "lowstate")
    assert [chunk["port"] for chunk in high if chunk["__id__"] == "web::params"] == [8080]


def test_what_is_imported_as_data_is_each_importers_own(machine: Machine) -> None:
    importing = (
        "{% import_yaml 'd.yaml' as d %}{% import_text 'd.yaml' as t %}{% do d.l.append(sls) %}"
    )
    body = "\n{{ sls }}:\n  test.nop:\n    - d: {{ d }}\n    - t: {{ t | json }}\n"
    machine.write(a="include: [b, c]" + importing + body, b=importing + body, c=importing + body)
    (machine.folder / "states" / "d.yaml").write_bytes(b"k: &x [1]\r\nl: [2]\nm: *x\n")
    text = "k: &x [1]\nl: [2]\nm: *x"
    assert low(machine, "a", "d", "t") == [
        (name, "nop", {"k": [1], "l": [2, name], "m": [1]}, text) for name in ("b", "c", "a")
    ]
    (machine.folder / "states" / "d.yaml").write_text("k: 1\nl: [2\n")
    machine.write(c="x: {}\n")
    error = machine("show", "low-sls", "b", code=1).stderr
    assert "d.yaml:2" in error
    assert "called from" in error
    (error,) = machine.answer("sls", "b", code=1)
    assert "states/d.yaml:2" in error and "states/b.sls:1" in error.partition("called from")[2]


YAMLEX = """#!yamlex
spread: {foo: !aggregate {foo: 42}}
spread: {foo: !aggregate {bar: null}}
list: !aggregate [1, 2]
list: !aggregate [2, 3]
scalars: !aggregate 1
scalars: !aggregate two
later: !aggregate [1]
later: 5
reset: !aggregate {a: !aggregate [1]}
reset: !reset {b: !aggregate [2]}
deep: !aggregate {a: !aggregate [1], b: [1]}
deep: !aggregate {a: !aggregate [2], b: [2]}
plain: {a: 1}
plain: {b: 2}
empty: !aggregate
text: !aggregate "1"
"""


def test_yamlex(machine: Machine) -> None:
    second = "#!yamlex\nlist: !aggregate [9]\nplain: {c: 3}\nspread: {foo: !aggregate {z: 1}}\n"
    machine.write(pillar__top="base: {'*': [one, two]}", pillar__one=YAMLEX, pillar__two=second)
    shared = {
        "scalars": [1, "two"],
        "later": 5,
        "reset": {"b": [2]},
        "deep": {"a": [1, 2], "b": [2]},
    }
    shared |= {"empty": [], "text": ["1"]}
    found = machine.answer("show", "pillar")
    spread = {"foo": {"foo": 42, "bar": None, "z": 1}}
    assert found == {**shared, "list": [9], "plain": {"b": 2, "c": 3}, "spread": spread}
    machine.config["renderer"] = "jinja|yamlex"  # then the strategy smart is aggregate
    found = machine.answer("show", "pillar")
    assert found == {**shared, "list": [1, 2, 3, 9], "plain": {"c": 3}, "spread": spread}


def test_stateconf_ids_with_dots(machine: Machine) -> None:
    """As with Salt: the last dot ends the name of an SLS."""
    machine.write(
        a=(
            "#!stateconf -G\n.f-.vimrc: test.nop\n.b:\n  test.nop:\n    - require:\n      - test:"
            " .f-.vimrc\n"
        )
    )
    assert low(machine, "a", "name", "require") == [
        ("a.f-::vimrc", "nop", "f-.vimrc", None),
        ("a::b", "nop", "b", [{"test": "a.f-::vimrc"}]),
    ]


LIBRARY = """#!pyobjects
def made(id, **more):
    return File.managed(id, contents='x', **more).requisite
def also(id):
    return Test.nop(id)
"""


def test_pyobjects_hands_states_on_and_imports_in_order(machine: Machine) -> None:
    using = (
        "from salt://lib.sls import made, also as lib\nimport salt://lib.sls\nfrom salt://lib.sls"
        " import also\n"
    )
    body = (
        "one = made('{tmp}/f')\nTest.nop('x', require=[one, also('y').requisite],"
        " name=lib.made.__name__)\n"
    )
    machine.write(lib=LIBRARY, a="#!pyobjects\n" + using + body)
    required = [{"file": str(machine.folder / "f")}, {"test": "y"}]
    assert ("x", "nop", "made", required) in low(machine, "a", "name", "require")


DUMPED = """#!{pipe}
import yaml
def states():
    p = {get}
    text = yaml.dump(p)
    p['a'].append(2)
    return text
"""


@pytest.mark.parametrize(
    "get", ["__salt__['pillar.get']('deep')", "salt.pillar.item('deep')['deep']"]
)
def test_the_pillar_that_programs_get_is_plain_and_their_own(machine: Machine, get: str) -> None:
    py = (
        DUMPED.format(pipe="py", get=get)
        + "def run():\n    return {'x': {'test.nop': [{'name': states()}]}}\n"
    )
    objects = DUMPED.format(pipe="pyobjects", get=get) + "Test.nop('y', name=states())\n"
    machine.write(a="include: [b, c]", b=py, c=objects)
    more = ("--pillar", "{deep: {a: [{b: 1}], c: {d: e}}}")
    found = machine.answer("show", "low-sls", "a", *more)
    assert [chunk["name"] for chunk in found] == ["a:\n- b: 1\nc:\n  d: e\n"] * 2


def test_programs_may_import_salts_exceptions(machine: Machine) -> None:
    program = (
        "#!py\nfrom salt.exceptions import SaltRenderError\nimport salt\n{more}\ndef run():\n   "
        " {does}\n"
    )
    machine.write(a=program.format(more="", does="raise SaltRenderError('no home')"))
    error = machine("show", "low-sls", "a", code=1).stderr
    assert "no home" in error
    assert "a.sls:6" in error
    machine.write(a=program.format(more="import salt.client", does="return {}"))
    error = machine("show", "low-sls", "a", code=1).stderr
    assert "runner is not Salt" in error
    assert "a.sls:4" in error


SHORT = """#!stateconf -so
.p:
  stateconf.set:
    - name: n
    - order: 5
# --- end of state config ---
.a:
  test.nop:
    - x: {{ p.name }}{{ p.order }}
b: test.nop
.c: {test: [nop]}
"""


def test_stateconf_in_the_order_as_written(machine: Machine) -> None:
    machine.write(t__u=SHORT)
    found = machine.answer("show", "sls", "t.u")
    bodies = {
        name: next(value for key, value in body.items() if key[:2] != "__")
        for name, body in found.items()
    }
    assert {name: body[:-1] for name, body in bodies.items()} == {
        "b": [{"require": [{"test": "t.u::a"}]}, "nop"],
        "t.u::p": [{"name": "n"}, {"order": 5}],
        "t.u::a": [{"name": "a"}, {"x": "n5"}, {"require": [{"stateconf": "t.u::p"}]}, "nop"],
        "t.u::c": ["nop", {"name": "c"}, {"require": [{"test": "b"}]}],
        "t.u::start": [{"require_in": [{"stateconf": "t.u::p"}]}, "set"],
        "t.u::goal": [
            {
                "require": [
                    {"stateconf": "t.u::p"},
                    {"test": "t.u::a"},
                    {"test": "b"},
                    {"test": "t.u::c"},
                ]
                + [{"stateconf": "t.u::start"}]
            },
            "set",
        ],
    }


MAKO = """#!mako|yaml
<%namespace name="lib" file="/d/lib.mako"/>
<%include file="inc.mako"/>
% for number in range(2):
${lib.named(number)}:
  test.nop:
    - v: ${salt['test.echo']('e')} ${grains['id']} ${pillar.get('x', 'none')} \
${opts['id']} ${tpldir}
% endfor
"""


def test_mako(machine: Machine) -> None:
    machine.environment["PYTHONPATH"] = ":".join([machine.environment["PYTHONPATH"], *sys.path])
    machine.write(
        d__a=MAKO,
        b="#!mako|yaml\n\n${nope}\n",
        c='#!mako|yaml\n<%include file="salt://d/bad.mako"/>\n',
    )
    folder = machine.folder / "states" / "d"
    (folder / "lib.mako").write_text('<%def name="named(x)">n${x}</%def>\n')
    (folder / "inc.mako").write_text("inc-${sls}: {test.nop: []}\n")
    (folder / "bad.mako").write_text("\n\n${1 / 0}\n")
    assert low(machine, "d.a", "v") == [
        ("inc-d.a", "nop", None),
        *[(f"n{number}", "nop", "e m1 none m1 d") for number in range(2)],
    ]
    assert "d/bad.mako:3" in machine("sls", "c", code=1).stderr
    told = machine("sls", "b", code=1).stderr
    assert "the variable 'nope' has no value" in told and "b.sls:3" in told


def test_mako_refuses_a_variable_without_a_value_wherever_it_stands(machine: Machine) -> None:
    """As Salt does: whether the variable is used or not."""
    machine.write(
        unused=(
            "#!mako|yaml\n% if context.get('no', 1):\ny: test.nop\n% endif\nx: ${nada if False else"
            " 'test.nop'}\n"
        ),
        inside="#!mako|yaml\n\n<%include file='part.mako'/>\n",
        never="#!mako|yaml\n<%def name='f()'>${nada}</%def>\nx: test.nop\n",
    )
    (machine.folder / "states/part.mako").write_text("a:\n  test.nop:\n    - v: ${nada}\n")
    for name, place in (("unused", "unused.sls:5"), ("inside", "part.mako:3")):
        told = machine("sls", name, code=1).stderr
        assert "the variable 'nada' has no value" in told and place in told
    machine("sls", "never")
