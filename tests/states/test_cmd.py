# SPDX-License-Identifier: Apache-2.0
"""Commands and functions that react, as a user meets them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import Machine
from needing import may_mount

from runner.support.files import group_commit

REACTS = """
{tmp}/plan:
  file.managed:
    - contents: new
index:
  cmd.wait:
    - name: cat; pwd; exit 3
    - cwd: {tmp}/cache
    - stdin: "read "
    - success_retcodes: 3
    - watch: [{file: "{tmp}/plan"}]
"""
CALLS = """#!py
def add(one, two=0):
    return {"changes": {"sum": one + two}, "comment": "added", "result": True}

def fails():
    return False

def run():
    return {
        "{tmp}/plan": {"file.managed": [{"contents": "new"}]},
        "now": {"cmd.call": [{"func": add}, {"args": [1]}, {"kws": {"two": 2}}]},
        "fails": {"cmd.call": [{"func": fails}]},
        "later": {
            "cmd.wait_call": [{"func": add}, {"args": [3]}, {"watch": [{"file": "{tmp}/plan"}]}]
        },
        "never": {"cmd.wait_call": [{"func": fails}]},
    }
"""


def test_a_command_that_waits_keeps_its_arguments(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(a=REACTS)
    changes = machine.results("sls", "a")["index"]["changes"]
    assert (changes["stdout"], changes["retcode"]) == (f"read {tmp_path}/cache", 0)
    assert not machine.results("sls", "a")["index"]["changes"]


def test_a_script_starts_at_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(a="s.sh: {cmd.script: [{source: 'salt://s.sh'}]}\n")
    (machine.folder / "states/s.sh").write_text("#!/bin/sh\n")
    took = (machine.results("sls", "a")["s.sh"]["duration"] for _ in range(3))
    assert min(took) < group_commit.LONGEST_EDIT * 1000, "its scratch folder was waited for"


@pytest.mark.parametrize("guard", ["onlyif", "unless"])
def test_a_guard_that_is_ended_is_told(tmp_path: Path, guard: str) -> None:
    machine = Machine(tmp_path)
    machine.write(
        a=f"slow: {{cmd.run: [name: 'true', timeout: 0.3, {guard}: sleep 9]}}\n"
        f"fast: {{cmd.run: [name: 'true', timeout: 9, {guard}: 'false']}}\n"
    )
    for words in (("--test",), ()):
        results = machine.results("sls", "a", *words)
        told = results["slow"]["warnings"]
        assert told == ["the guard 'sleep 9' was ended after 0.3 seconds: it counts as failed"]
        assert not results["fast"].get("warnings")


def test_functions_of_an_sls_in_python_are_called(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(a=CALLS)
    dry = machine.results("sls", "a", "--test")
    assert [dry[name]["result"] for name in ("now", "fails", "later", "never")] == [
        None,
        None,
        None,
        True,
    ]
    real = machine.results("sls", "a", code=2)
    assert (real["now"]["changes"], real["now"]["comment"]) == ({"sum": 3}, "added")
    assert (real["fails"]["changes"], real["fails"]["result"]) == ({"retval": False}, False)
    assert real["later"]["changes"] == {"sum": 3}
    assert machine.results("sls", "a", code=2)["later"]["changes"] == {}


def test_arguments_for_windows_are_told(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(a="{tmp}/x:\n  file.managed:\n    - contents: x\n    - win_owner: Adm\n")
    assert "it is for Windows; on Linux it has no effect" in machine("sls", "a").stderr
    assert "it is for Windows; on Linux it has no effect" in machine("check", "a", code=1).stdout


def test_a_command_without_a_folder_runs_at_home(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(
        a=(
            "own: {cmd.run: [{name: pwd}]}\nguarded: {test.nop: [{onlyif: 'test $(pwd) ="
            " {tmp}'}]}\ntold: {test.show_notification: [{text: {{ salt['cmd.run']('pwd') }}}]}\n"
        )
    )
    done = machine.results("sls", "a")
    assert (done["own"]["changes"]["stdout"], done["told"]["comment"]) == (
        str(tmp_path),
        str(tmp_path),
    )
    assert done["guarded"]["comment"] == "Success!"


SCRIPTS = """
{% set done = salt.cmd.script('salt://s.sh', 'x y', template='jinja', context={'word': 'hello'}) %}
s: {test.show_notification: [{text: '{{ done.stdout }} {{ done.retcode }}'}]}
c: {test.show_notification: [{text: "{{ salt.cmd.exec_code('python3', 'print(6 * 7)') }}"}]}
m: {test.show_notification: [{text: "{{ salt.cmd.script('salt://no').cache_error }}"}]}
"""


def test_scripts_and_code_in_templates(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "states/s.sh").write_text("#!/bin/sh\necho {{ word }} $1; exit 3\n")
    machine.write(a=SCRIPTS)
    done = machine.results("sls", "a")
    assert [done[id_]["comment"] for id_ in "scm"] == ["hello x 3", "42", "True"]


def test_commands_speak_no_language(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.environment |= {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}
    show = "echo ${LC_ALL:-none} $LC_MESSAGES $LANGUAGE"
    machine.write(
        a=(
            f"own: {{cmd.run: [{{name: '{show}'}}]}}\n"
            f"given: {{cmd.run: [{{name: '{show}'}}, {{env: [{{LC_ALL: C}}]}}]}}\n"
        )
    )
    done = machine.results("sls", "a")
    assert [done[id_]["changes"]["stdout"] for id_ in ("own", "given")] == ["none C C", "C de"]


SURROUNDINGS = """
command:
  cmd.run:
    - name: "true"
    - {argument}
script:
  cmd.script:
    - name: salt://it.sh
    - {argument}
"""


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("cwd: {tmp}/nowhere", 'Desired working directory "{tmp}/nowhere" is not available'),
        ("runas: nobody-has-this-name", "User 'nobody-has-this-name' is not available"),
        ("group: nobody-has-this-name", "Group 'nobody-has-this-name' is not available"),
        (
            "runas: root\n    - group: nobody-has-this-name",
            "Group 'nobody-has-this-name' is not available",
        ),
        ("shell: {tmp}/sh", "The shell {tmp}/sh is not available"),
    ],
)
def test_what_cannot_be_started_fails_in_a_dry_run_too(
    machine: Machine, argument: str, message: str
) -> None:
    machine.write(a=SURROUNDINGS.replace("{argument}", argument))
    (machine.folder / "states/it.sh").write_text("true\n")
    for words in (["--test"], []):
        comments = {
            each["comment"] for each in machine.results("sls", "a", *words, code=2).values()
        }
        assert comments == {message.replace("{tmp}", str(machine.folder))}


def test_what_a_pending_state_brings_is_promised(machine: Machine) -> None:
    made = "{tmp}/new:\n  file.directory: []\n"
    after = "after:\n  file.managed:\n    - name: {tmp}/new/made/by-command\n"
    machine.write(
        a=made
        + SURROUNDINGS.replace("{argument}", "cwd: {tmp}/new").replace('"true"', "mkdir made")
        + after
    )
    (machine.folder / "states/it.sh").write_text("true\n")
    assert {each["result"] for each in machine.results("sls", "a", "--test").values()} == {None}
    assert {each["result"] for each in machine.results("sls", "a").values()} == {True}


@pytest.mark.parametrize(
    ("guard", "said"), [("onlyif: 'true'", "false"), ("unless: 'false'", "true")]
)
def test_a_guard_without_its_folder_skips_the_state(
    machine: Machine, guard: str, said: str
) -> None:
    argument = f"cwd: {{tmp}}/new\n    - {guard}"
    machine.write(a=SURROUNDINGS.replace("{argument}", argument))
    (machine.folder / "states/it.sh").write_text("true\n")
    for words in (["--test"], []):
        for result in machine.results("sls", "a", *words).values():
            assert (result["result"], result["comment"]) == (
                True,
                f"{guard[:6]} condition is {said}",
            )
            assert result["warnings"] == [
                f"the cwd {machine.folder}/new does not exist: guards that should run in it were"
                " not evaluated"
            ]
    machine.write(
        a="{tmp}/new:\n  file.directory: []\n" + SURROUNDINGS.replace("{argument}", argument)
    )
    dry = machine.results("sls", "a", "--test")["command"]
    assert dry["result"] is None
    told = dry["comment"].rpartition("; ")[2]
    assert told == (
        'Command "true" would have been executed'
        if may_mount()
        else f"decided when file: {machine.folder}/new is done"
    )
    assert machine.results("sls", "a")["command"]["changes"]


WITH_ARGUMENTS = """
named: {cmd.script: [{name: 'any "q r" s'}, {source: 'salt://args.sh'}]}
given: {cmd.script: [{name: 'any q'}, {source: 'salt://args.sh'}, {args: [1, 'd e']}]}
text: {cmd.script: [{name: any}, {source: 'salt://args.sh'}, {args: "'d e' f"}]}
source: {cmd.script: [{name: 'any q'}, {source: 'salt://args.sh z'}]}
both: {cmd.script: [{name: 'salt://args.sh a b'}, {args: c}]}
hostile: {cmd.script: [{source: 'salt://args.sh'}, {args: "a; echo $HOME `id` * > 'x y'"}]}
in a list: {cmd.script: [{source: 'salt://args.sh'}, {args: ['$HOME;', '>x']}]}
spaced: {cmd.script: [{source: 'salt://an odd/name d.sh'}, {args: x}]}
named so: {cmd.script: [{name: 'any $HOME && b'}, {source: 'salt://args.sh'}]}
open: {cmd.script: [{source: 'salt://args.sh'}, {args: "it's"}]}
module:
  test.configurable_test_state:
    - changes: True
    - comment: {{ (salt.cmd.script('salt://args.sh', '$(id) "x y"').stdout
        ~ salt.cmd.script('salt://args.sh', ['|;']).stdout
        ~ salt.cmd.exec_code('sh', 'printf "%s," "$@"', args='a $HOME;')
        ~ salt.cmd.exec_code('sh', 'printf "%s," "$@"', args=['a b', 1])) | yaml_dquote }}
"""


def test_where_a_script_has_its_arguments_from(machine: Machine) -> None:
    machine.write(a=WITH_ARGUMENTS)
    (machine.folder / "states/an odd").mkdir()
    for name in ("args.sh", "an odd/name d.sh"):
        (machine.folder / "states" / name).write_text("#!/bin/sh\nprintf '%s,' \"$@\"\n")
    done = machine.results("sls", "a", code=2)
    assert done.pop("open")["comment"] == 'the arguments "it\'s" have a quote without an end'
    found = {"module": done.pop("module")["comment"]}
    found |= {key: each["changes"]["stdout"] for key, each in done.items()}
    assert found == {
        "named": "q r,s,",
        "given": "1,d e,",
        "text": "d e,f,",
        "source": "z,",
        "both": "a,b,c,",
        "hostile": "a;,echo,$HOME,`id`,*,>,x y,",
        "in a list": "$HOME;,>x,",
        "spaced": "x,",
        "named so": "$HOME,&&,b,",
        "module": "$(id),x y,|;,a $HOME;,a b,1,",
    }
    assert not (machine.folder / "states/x").exists()
    assert "not in the tree" not in machine("check", "a").stdout
    machine.write(b="a: {cmd.script: [{source: 'salt://arg.sh z'}]}")
    assert "salt://arg.sh is not in the tree" in machine("check", "b", code=1).stdout


EMPTY = """
run: {cmd.run: [{name: pwd}, {cwd: ''}, {root: ''}, {runas: ''}]}
script: {cmd.script: [{source: 'salt://where.sh'}, {args: ''}, {cwd: ''}, {template: ''}]}
file: {file.managed: [{name: "{tmp}/file"}, {source: ''}, {mode: ''}]}
both: {file.managed: [{name: "{tmp}/both"}, {source: ''}, {contents: text}]}
tree:
  file.recurse:
    - name: "{tmp}/tree"
    - source: salt://d
    - include_pat: ''
    - exclude_pat: ''
"""


def test_arguments_that_a_template_left_empty_are_not_given(machine: Machine) -> None:
    machine.write(a=EMPTY)
    (machine.folder / "states/where.sh").write_text("#!/bin/sh\npwd\n")
    (machine.folder / "states/d").mkdir()
    (machine.folder / "states/d/f").write_text("text")
    for words in (["--test"], []):
        done = machine.results("sls", "a", *words)
    home = str(machine.folder)
    assert [done[key]["changes"]["stdout"] for key in ("run", "script")] == [home, home]
    assert [(machine.folder / name).read_text() for name in ("file", "both", "tree/f")] == [
        "",
        "text\n",
        "text",
    ]


def test_a_command_without_the_variables_of_the_caller(machine: Machine) -> None:
    (machine.folder / "states/say.sh").write_text("#!/bin/sh\nenv\n")
    more = "[{clean_env: true}, {env: [{A: 5}]}]"
    machine.write(
        a="usual: {cmd.run: [{name: env}]}\n"
        f"env: {{cmd.run: {more}}}\nsalt://say.sh: {{cmd.script: {more}}}\n"
    )
    printed = {
        name: {line.partition("=")[0] for line in result["changes"]["stdout"].splitlines()}
        for name, result in machine.results("sls", "a").items()
    }
    assert {"HOME", "PYTHONPATH"} <= printed["usual"]
    for name in ("env", "salt://say.sh"):
        assert "A" in printed[name] and not {"HOME", "PYTHONPATH"} & printed[name]


def test_variables_as_texts(machine: Machine) -> None:
    command = "{name: 'echo $A $B'}"
    machine.write(
        a=f"text: {{cmd.run: [{command}, {{env: 'A=b=5'}}]}}\n"
        f"listed: {{cmd.run: [{command}, {{env: ['A=5', {{B: 6}}]}}]}}\n"
    )
    found = {key: each["changes"]["stdout"] for key, each in machine.results("sls", "a").items()}
    assert found == {"text": "b=5", "listed": "5 6"}


def test_a_variable_that_is_false_has_this_value(machine: Machine) -> None:
    machine.write(a="a: {cmd.run: [{name: 'echo $A-$B-'}, {env: {A: false, B: null}}]}\n")
    assert machine.results("sls", "a")["a"]["changes"]["stdout"] == "False--"


def test_how_output_is_read(machine: Machine) -> None:
    (machine.folder / "states/say.sh").write_text("#!/bin/sh\nprintf 'gr\\374n \\n'\n")
    more = "{rstrip: false}, {output_encoding: latin-1}"
    machine.write(
        run=f"printf 'gr\\374n \\n': {{cmd.run: [{more}]}}\n",
        script=f"salt://say.sh: {{cmd.script: [{more}]}}\n",
        wait=f"a: {{test.succeed_with_changes: []}}\n"
        f"printf 'gr\\374n \\n': {{cmd.wait: [{more}, {{watch: [{{test: a}}]}}]}}\n",
        usual="printf 'gr\\374n \\n': {cmd.run: []}\n",
        equal='echo foo; exit 3: {cmd.run: [{rstrip: false}, {success_stdout: ["foo\\n"]}]}\n',
        template="{{ salt['cmd.run_stdout'](\"printf 'a \\n'\", rstrip=False, python_shell=True)"
        " | json }}: {test.nop: []}\n",
        wrong="echo: {cmd.run: [{output_encoding: hex}]}\n",
    )
    for name in ("run", "script", "wait"):
        (*_, result) = machine.results("sls", name).values()
        assert result["changes"]["stdout"] == "grün \n", name
    (usual,) = machine.results("sls", "usual").values()
    assert usual["changes"]["stdout"] == "gr\ufffdn"
    machine("sls", "equal")
    assert list(machine.results("sls", "template")) == ["a \n"]
    refused = machine("sls", "wrong", code=1).stderr
    assert "unknown encoding: hex" in refused
    assert "hint: one of Python's: utf-8" in refused


def test_a_text_within_what_a_command_says_counts_as_success(machine: Machine) -> None:
    machine.write(
        a="a: {cmd.run: [{name: 'echo bad; exit 3'}, {success_stdout: [x, ad]}]}\n",
        b="b: {cmd.run: [{name: 'echo bad >&2; exit 3'}, {success_stderr: ba}]}\n",
        c="c: {cmd.run: [{name: 'echo bad; exit 3'}, {success_stdout: BAD}]}\n",
    )
    results = [machine.results("sls", name)[name] for name in "ab"]
    assert [each["changes"]["retcode"] for each in results] == [0, 0]
    machine("sls", "c", code=2)
    called = ("call", "cmd.run_all", "echo {{ 'b' }}ad; exit 3", "template=jinja")
    assert "retcode: 0\nstdout: bad" in machine(*called, "success_stdout=[x, ad]").stdout


def test_a_command_with_the_locale_of_the_run(machine: Machine) -> None:
    machine.environment["LC_TIME"] = "de_DE.UTF-8"
    machine.write(
        a="echo $LC_TIME: {cmd.run: [{reset_system_locale: false}]}\n",
        b="echo $LC_TIME: {cmd.run: []}\n",
    )
    for name, locale in (("a", "de_DE.UTF-8"), ("b", "C")):
        (result,) = machine.results("sls", name).values()
        assert result["changes"]["stdout"] == locale


def test_a_command_that_waits_for_a_change_may_run_in_the_background(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    machine.write(
        a="changed: test.succeed_with_changes\n"
        "cat {tmp}/pipe >{tmp}/out:\n"
        "  cmd.wait: [{bg: true}, {watch: [{test: changed}]}]\n"
    )
    done = machine("sls", "a")  # with the pipe still empty
    assert "has no argument" not in done.stderr and "2 changed" in done.stdout
    (tmp_path / "pipe").write_text("x")


def test_a_script_of_windows_says_what_mends_it(machine: Machine) -> None:
    (machine.folder / "states/dos.sh").write_bytes(b"#!/bin/sh\r\necho hi\r\n")
    machine.write(a="a:\n  cmd.script:\n    - source: salt://dos.sh\n")
    (result,) = machine.results("sls", "a", code=2).values()
    assert "its lines end with carriage returns" in result["comment"], result


SILENT = """
real: {cmd.run: [name: echo no disk >&2; exit 3, stateful: true]}
trial:
  cmd.run:
    - name: exit 4
    - stateful: [test_name: exit 5]
"""


def test_a_stateful_command_that_fails_without_a_word_of_its_own(machine: Machine) -> None:
    machine.write(a=SILENT)
    for words, told in (
        ([], {"real": "exit code 3: no disk", "trial": "exit code 4"}),
        (
            ["--test"],
            {
                "real": 'Command "echo no disk >&2; exit 3" would have been executed',
                "trial": "the command of test_name: exit code 5",
            },
        ),
    ):
        found = machine.results("sls", "a", *words, code=2)
        assert {name: each["comment"] for name, each in found.items()} == told
