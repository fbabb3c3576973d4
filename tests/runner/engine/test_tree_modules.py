# SPDX-License-Identifier: Apache-2.0
"""Python files of a tree: the names they go by, what they add to built-in modules, what they may
import.
"""

from __future__ import annotations

import json
import os
import py_compile
from pathlib import Path

import pytest
from command import Machine

STATE = """
def {name}(name, **kwargs):
    return {{"name": name, "changes": {{}}, "result": True, "comment": "{said}"}}
"""


def put(machine: Machine, files: dict[str, str]) -> None:
    """Write states/_modules/x.py for `_modules/x`."""
    for name, text in files.items():
        path = machine.folder / "states" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def rendered(machine: Machine, **texts: str) -> dict[str, str]:
    """Return what templates make of texts."""
    states = {
        name: {"test.show_notification": [{"text": f"<{text}>"}]} for name, text in texts.items()
    }
    machine.write(rendered=json.dumps(states))
    done = machine.results("sls", "rendered")
    return {name: done[name]["comment"][1:-1] for name in texts}


@pytest.mark.parametrize("virtual", ["", "def __virtual__():\n    return __virtualname__\n"])
def test_a_module_of_the_name_of_a_built_in_one_adds_to_it(machine: Machine, virtual: str) -> None:
    code = (
        f"__virtualname__ = 'test'\n{virtual}def own():\n    return 'own'\ndef ping():\n    return"
        " 'pong'\n"
    )
    put(machine, {"_modules/override_test": code})
    found = rendered(
        machine,
        own="{{ salt['test.own']() }} {{ salt.test.own() }}",
        overridden="{{ salt['test.ping']() }}",
        built_in="{{ salt['test.echo']('x') }} {{ 'test.arg' in salt }}",
        listed="{{ 'test.own' in salt['sys.list_functions']('test') }}",
        engine="{{ salt['test.echo'](salt['cp.list_states']()) }}",
    )
    assert found == {
        "own": "own own",
        "overridden": "pong",
        "built_in": "x True",
        "listed": "True",
        "engine": "['rendered']",
    }


def test_a_state_module_of_the_name_of_a_built_in_one_adds_to_it(machine: Machine) -> None:
    own = STATE.format(name="own", said="own") + STATE.format(name="nop", said="overridden")
    put(machine, {"_states/more_tests": f"def __virtual__():\n    return 'test'\n{own}"})
    machine.write(
        t=(
            "a: {test.own: []}\nb: {test.nop: []}\nc: {test.succeed_with_changes: []}\n"
            "d:\n  test.nop: [{name: x}, {watch: [{test: c}]}]\n"
        )
    )
    done = machine.results("sls", "t")
    assert [done[name]["comment"] for name in "ab"] == ["own", "overridden"]
    assert done["c"]["changes"]
    # the built-in module's mod_watch, as with Salt
    assert done["d"]["comment"] == "Watch statement fired."


def test_a_state_module_in_a_file_of_the_built_in_name_has_its_own_hooks(machine: Machine) -> None:
    put(machine, {"_states/test": STATE.format(name="own", said="own")})
    machine.write(t="a: {test.own: [{watch: [{test: b}]}]}\nb: {test.succeed_with_changes: []}\n")
    done = machine.results("sls", "t")
    assert done["a"]["comment"] == "own" and done["b"]["changes"]


def test_several_files_of_one_name_add_up(machine: Machine) -> None:
    named = "def __virtual__():\n    return 'box'\n"
    put(
        machine,
        {
            "_modules/aaa": f"{named}def both():\n    return 'first'\ndef one():\n    return 1\n",
            "_modules/bbb": f"{named}def both():\n    return 'second'\ndef two():\n    return 2\n",
            "_modules/ccc": (
                "__virtualname__ = 'box'\n"
                "def __virtual__():\n    return False, 'no client'\ndef three(): pass\n"
            ),
            "_grains/a": "__virtualname__ = 'g'\ndef f():\n    return {'first': 1}\n",
            "_grains/b": "__virtualname__ = 'g'\ndef f():\n    return {'second': 2}\n",
        },
    )
    found = rendered(
        machine,
        calls=(
            "{{ salt['box.both']() }} {{ salt['box.one']() }} {{ salt['box.two']() }} {{"
            " 'box.three' in salt }}"
        ),
        grains="{{ grains.first }} {{ grains.second }}",
    )
    assert found == {"calls": "first 1 2 False", "grains": "1 2"}
    assert "no client" in machine("call", "box.three", code=1).stderr


def test_what_a_file_of_the_tree_may_import(machine: Machine) -> None:
    put(
        machine,
        {
            "_grains/backend": "import sub.deep\ndef value():\n    return sub.deep.VALUE\n",
            "_grains/sub/__init__": "",
            "_grains/sub/deep": "VALUE = 'deep'\n",
            "_grains/facts": "import backend\ndef f():\n    return {'fact': [backend.value()]}\n",
            "_utils/shared": "VALUE = 'shared'\n",
            "_modules/box": "import shared\ndef f():\n    return shared.VALUE\n",
        },
    )
    assert rendered(machine, a="{{ grains.fact }} {{ salt['box.f']() }}") == {
        "a": "['deep'] shared"
    }
    assert not list(machine.folder.glob("states/**/__pycache__"))
    # nor is one of somebody else used, from an edit before that of the same second
    box = machine.folder / "states/_modules/box.py"
    text, at = box.read_text(), box.stat().st_mtime_ns
    box.write_text(text.replace("shared.VALUE", "'outdated'  "))
    os.utime(box, ns=(at, at))
    py_compile.compile(str(box))
    box.write_text(text)
    os.utime(box, ns=(at, at))
    assert rendered(machine, a="{{ salt['box.f']() }}") == {"a": "shared"}


BROKEN = {
    "old": "def f():\n    print 'x'\n",
    "raising": "VALUES = {}\nVALUES['x']\n",
    "lacking": "import no_such_module\n",
    "ending": "import sys\nsys.exit(3)\n",
    "failing": "def f():\n    return 1 / 0\n",
    "unsure": "def __virtual__():\n    raise OSError('no bus')\n",
}
LINES = {"old": 2, "raising": 2, "lacking": 1, "ending": 2, "failing": 2, "unsure": 2}


def test_a_broken_grains_file_is_reported_and_the_run_goes_on(machine: Machine) -> None:
    put(machine, {f"_grains/{name}": code for name, code in BROKEN.items()})
    put(machine, {"_grains/good": "def f():\n    return {'good': 'yes'}\n"})
    machine.write(
        t="x:\n  test.show_notification: [{text: '{{ grains.good }}'}]\n",
        other="y: {test.nope: []}\n",
    )
    done = machine("sls", "t", "--out", "json")
    assert '"comment": "yes"' in done.stdout
    for name, line in LINES.items():
        (said,) = [each for each in done.stderr.splitlines() if f"the grains of {name}" in each]
        assert f"_grains/{name}.py:{line}" in said, said
    problems = machine.document("check", code=1)["diagnostics"]
    places = {
        each["file"].rpartition("/")[2]: (each["severity"], each["line"])
        for each in problems
        if each["file"]
    }
    assert {name: places[f"{name}.py"][1] for name in LINES} == LINES
    assert {name for name in BROKEN if places[f"{name}.py"][0] == "error"} == {"old"}
    assert places["other.sls"][0] == "error", (
        "a broken file of grains does not hide what else is wrong"
    )


def test_what_a_called_function_wrote_aside_is_gone_afterwards(machine: Machine) -> None:
    folder = machine.folder / "states/_modules"
    folder.mkdir(parents=True)
    (folder / "aside.py").write_text(
        "import os\nfrom runner.api import here\n"
        "def folder():\n    path = here.scratch()\n    assert os.path.isdir(path)\n"
        "    return path\n"
    )
    path = machine.answer("call", "aside.folder")
    assert "scratch-" in path
    assert not Path(path).exists()


def test_virtual_aliases_are_further_names_of_a_module(machine: Machine) -> None:
    code = (
        "from salt.utils.decorators import memoize\n"
        "__virtual_aliases__ = (\n    'second',\n    'third',\n)\n"
        "@memoize\ndef count(words):\n    return len(words)\n"
    )
    put(machine, {"_modules/first": code})
    names = ("first", "second", "third")
    found = rendered(machine, **{name: f"{{{{ salt['{name}.count'](['a']) }}}}" for name in names})
    assert found == dict.fromkeys(names, "1")


def test_what_a_module_calls_like_salts_own_names_does_not_hide_them(machine: Machine) -> None:
    code = (
        "__opts__ = {'mine': 5}\n__salt__ = None\n__grains__ = {}\n__context__ = {}\n"
        "def f():\n    __context__['n'] = __context__.get('n', 0) + 1\n"
        "    return [__opts__['mine'], __opts__.get('id'), __salt__['test.echo']('e'),\n"
        "            __grains__.get('id'), __context__['n']]\n"
    )
    other = "__opts__ = {}\ndef f():\n    return __opts__['id'], __context__['n']\n"
    put(machine, {"_modules/box": code, "_modules/other": other})
    found = rendered(machine, a="{{ salt['box.f']() }} {{ salt['other.f']() }}")
    assert found == {"a": "[5, 'm1', 'e', 'm1', 1] ('m1', 1)"}


def test_an_exception_with_info_tells_it(machine: Machine) -> None:
    code = (
        "from salt.exceptions import CommandExecutionError\n"
        "INFO = {'errors': ['one', ['two']], 'changes': {'bash': {'old': '1', 'new': None}}}\n"
        "def fail():\n    raise CommandExecutionError('it broke', info=INFO)\n"
        "def tell():\n    try:\n        fail()\n    except CommandExecutionError as exc:\n"
        "        return [exc.error, exc.message == exc.strerror == str(exc),\n"
        "                exc.strerror_without_changes, exc.info == INFO]\n"
    )
    put(machine, {"_modules/box": code})
    found = rendered(machine, a="{{ (salt['box.tell']() | join('; ')).split() | join(' ') }}")
    less = "it broke. Additional info follows: errors: - one |_ - two"
    assert found == {"a": f"it broke; True; {less}; True"}
    machine.write(fails="a: {module.run: [box.fail: []]}")
    assert machine.results("sls", "fails", code=2)["a"]["comment"] == (
        "'box.fail' failed: it broke. Additional info follows:\n\nchanges:\n    ----------\n"
        "    bash:\n        ----------\n        new:\n            None\n        old:\n"
        "            1\nerrors:\n    - one\n    |_\n      - two"
    )
