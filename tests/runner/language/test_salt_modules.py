# SPDX-License-Identifier: Apache-2.0
"""`salt.modules`, `salt.state` and `salt.utils.dictdiffer` in the code of a tree."""

from __future__ import annotations

import json

import pytest
from command import Machine

from runner.language.salt.more import module_of
from runner.language.salt.utils.dictdiffer import DictDiffer, deep_diff, recursive_diff

GRAINS = """
from salt.modules import file
import salt.modules.network as net
from salt.modules.file import dirname as above

def main():
    return {"there": file.file_exists("/etc"), "loop": net.is_loopback("127.0.0.1")}

def folder():
    return {"folder": above("/a/b")}
"""
MODULE = """
import salt.state
import salt.utils.dictdiffer
from salt.modules import file as files

def diff():
    return salt.utils.dictdiffer.deep_diff({"a": 1}, {"a": 2})

def own(**kwargs):
    return sorted(key for key in kwargs if key not in salt.state.STATE_INTERNAL_KEYWORDS)

def lacking():
    return files.no_such_function()
"""


def test_code_of_a_tree_calls_execution_modules(machine: Machine) -> None:
    for folder, name, text in (("_grains", "own", GRAINS), ("_modules", "mine", MODULE)):
        (machine.folder / "states" / folder).mkdir()
        (machine.folder / "states" / folder / f"{name}.py").write_text(text)

    def called(*words: str) -> object:
        done = machine("call", *words, "--out", "json")
        assert done.stderr == ""
        return json.loads(done.stdout)["local"]

    assert called("grains.item", "there", "loop", "folder") == {
        "there": False,
        "loop": True,
        "folder": "/a",
    }
    assert called("mine.diff") == {"old": {"a": 1}, "new": {"a": 2}}
    assert called("mine.own", "cwd=/", "require=x", "onfail_stop=1", "__id__=x", "a=1") == [
        "a",
        "cwd",
    ]
    assert "runner has no file.no_such_function" in machine("call", "mine.lacking", code=1).stderr


def test_words_of_states_are_those_of_salt() -> None:
    state = module_of("salt.state")
    assert state is not None
    words = state.STATE_INTERNAL_KEYWORDS
    assert {"__pub_user", "check_cmd", "listen_in", "prerequired", "watch_any", "use"} <= words
    assert not {"name", "env", "cwd", "timeout", "user"} & words
    assert words >= state.STATE_REQUISITE_IN_KEYWORDS


OLD = {"a": 1, "b": {"c": 1, "d": 2}, "e": 5, "n": None}
NEW = {"a": 2, "b": {"c": 1, "d": 3}, "f": "x", "n": 1}


def test_differences_are_those_of_salt() -> None:
    assert deep_diff(OLD, NEW) == {
        "old": {"a": 1, "b": {"d": 2}, "e": 5, "n": None},
        "new": {"a": 2, "b": {"d": 3}, "f": "x", "n": 1},
    }
    assert deep_diff({"g": {}}, {"g": {"h": 1}}) == {"old": {"g": {}}, "new": {"g": {"h": 1}}}
    assert deep_diff(OLD, OLD) == {} and deep_diff({"a": 1}, {"a": 2}, ignore=["a"]) == {}
    found = recursive_diff(OLD, NEW, False)
    assert found.diffs["b"] == {"d": {"new": 3, "old": 2}}
    assert found.diffs["f"] == {"new": "x", "old": "<_null_>"}
    assert (found.added(), found.removed()) == (["f"], ["e"])
    assert (found.changed(), found.unchanged()) == (["a", "b.d", "n"], ["b.c"])
    assert found.changes_str == (
        "a from 1 to 2\nb:\n  d from 2 to 3\ne from 5 to nothing\nf from nothing to 'x'\n"
        "n from None to 1"
    )
    assert recursive_diff(OLD, NEW).removed() == []
    found.ignore_unset_values = False
    assert found.changed() == ["a", "b.d", "e", "f", "n"]
    assert found.new_values["b"] == {"d": 3} and found.old_values["e"] == 5
    flat = DictDiffer(NEW, OLD)
    assert (flat.added(), flat.removed()) == ({"f"}, {"e"})
    assert (flat.changed(), flat.unchanged()) == ({"a", "b", "n"}, set())


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("salt_version.less_than Phosphorus", False),
        ("salt_version.less_than potassium", True),
        ("salt_version.greater_than Phosphorus", True),
        ("salt_version.greater_than Fluorine", True),
        ("salt_version.equal Argon", True),
        ("salt_version.equal nobody", False),
        ("salt_version.get_release_number Fluorine", "2019.2"),
        ("salt_version.get_release_number nobody", None),
        ("saltutil.cmd m1 test.echo arg=hi", {"m1": {"ret": "hi", "retcode": 0, "success": True}}),
        ("saltutil.cmd other test.ping", {}),
    ],
)
def test_functions_that_templates_call(machine: Machine, call: str, answer: object) -> None:
    assert machine.answer("call", *call.split()) == answer


def test_temporary_files_are_made_by_a_real_run_alone(machine: Machine) -> None:
    machine.write(
        a="{% set made = salt['temp.file']('.x', 'y', '{tmp}') %}"
        "{% set folder = salt['temp.dir'](parent='{tmp}') %}"
        "x: {test.show_notification: [{text: {{ made }} {{ folder }}}]}\n"
        "{% set now = salt['system.get_system_date_time']('+0130') %}"
        "y: {test.show_notification: [{text: {{ now }}}]}\n"
        "z: {test.show_notification: [{text: {{ salt['system.get_system_date']() }}}]}\n"
    )
    dry = machine.results("sls", "a", "--test")["x"]["comment"]
    assert not [path for path in dry.split() if (machine.folder / path).exists()]
    real = machine.results("sls", "a")
    made, folder = real["x"]["comment"].split()
    assert (machine.folder / made).is_file() and made.endswith(".x")
    assert (machine.folder / folder).is_dir() and folder.startswith(str(machine.folder))
    assert len(real["y"]["comment"]) == 19 and len(real["z"]["comment"]) == 14


def test_versions_of_packages_are_compared(machine: Machine) -> None:
    machine.write(
        a="{% for oper in ['==', '!=', '>=', '<=', '>', '<'] %}"
        "'{{ oper }} {{ salt['pkg_resource.version_compare']('1:3.5', oper, '3.5', True) }}':"
        " test.nop\n{% endfor %}"
    )
    told = [*machine.results("sls", "a")]
    assert told == ["== True", "!= False", ">= True", "<= True", "> False", "< False"]
    machine.write(a="{{ salt['pkg_resource.version_compare']('1', '=>', '2') }}")
    assert "'=>' is none of the operators" in machine("sls", "a", code=1).stderr
