# SPDX-License-Identifier: Apache-2.0
"""`runner-salt-call`: what scripts that call salt-call write."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from starting import PATIENCE

from runner import __version__
from runner import cli as app
from runner.cli import salt_call
from runner.cli.running.values import arguments_of, mapping, yaml_value
from runner.model.errors import RunnerError
from runner.support.yaml import simple

Ask = Callable[..., tuple[int, str, str]]
TREE = {
    "top": "base: {'*': [one]}",
    "one": "include: [two]\na: {test.nop: [{require: [{test: b}]}]}",
    "two": (
        "b: {test.configurable_test_state: [{changes: true}, {result: true}]}\n"
        "c:\n  cmd.run: [{name: touch {tmp}/c}]"
    ),
    "bad": "d: test.fail_without_changes",
}


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    (tmp_path / "states").mkdir()
    for name, text in TREE.items():
        (tmp_path / f"states/{name}.sls").write_text(text.replace("{tmp}", str(tmp_path)))
    (tmp_path / "minion").write_text(
        json.dumps({"id": "m1", "file_roots": {"base": [str(tmp_path / "states")]}})
    )

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            salt_call.main(
                ["--local", "-c", str(tmp_path), "--cachedir", str(tmp_path / "cache"), *words]
            )
        streams = capsys.readouterr()
        return int(stop.value.code or 0), streams.out, streams.err

    return run


def answer(ask: Ask, *words: str, code: int = 0) -> Any:
    done = ask("--out", "json", *words)
    assert done[0] == code, done
    return json.loads(done[1])["local"]


def test_options_of_a_cron_line(ask: Ask, tmp_path: Path) -> None:
    line = (
        "--state-output=changes --state_verbose=False --log-file-level=quiet --no-color"
        " --hard-crash --master x"
    )
    code, out, _ = ask(*line.split(), "--out=quiet", "state.apply", "-t", "5")
    assert (code, out) == (0, "") and (tmp_path / "c").exists()
    assert ask("--output-file", str(tmp_path / "out"), "--out=txt", "test.echo", "a")[:2] == (0, "")
    assert ask("--out-file-append", f"--out-file={tmp_path}/out", "--out=raw", "test.ping")[:2] == (
        0,
        "",
    )
    assert (tmp_path / "out").read_text() == "local: a\n{'local': True}\n"
    assert "Is a directory" in ask(f"--out-file={tmp_path}", "test.ping")[2]
    os.mkfifo(tmp_path / "pipe")  # of somebody who wants root to wait
    assert "--out-file" in ask(f"--out-file={tmp_path}/pipe", "test.ping")[2]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--out=txt", "cmd.run", "echo a; echo b"], "local: a\nlocal: b\n"),
        (["--out=newline_values_only", "test.arg", "a", "[b, 1]"], "a\nb\n1\n"),
        (["--out=pprint", "test.echo", "x"], "{'local': 'x'}\n"),
        (["--out=json", "--out-indent=-1", "test.echo", "x"], '{"local": "x"}\n'),
        (
            ["--no-parse=a", "--out=raw", "test.kwarg", "a=1", "b=1"],
            "{'local': {'a': '1', 'b': 1}}\n",
        ),
        (["--version"], f"runner {__version__}\n"),
    ],
)
def test_forms(ask: Ask, words: list[str], shown: str) -> None:
    assert ask(*words)[:2] == (0, shown)


def test_json_of_a_failed_run_has_what_salt_has_alone(ask: Ask) -> None:
    code, out, _ = ask("--out", "json", "state.apply", "bad")
    assert (code, [*json.loads(out)]) == (2, ["local"])


def test_answers_look_as_salt_prints_them(ask: Ask) -> None:
    assert ask("test.ping")[1] == "local:\n    True\n"
    words = ("test.arg", "[1, [2], {x: ''}, []]", "a\nb")
    lines = ["local:", "-" * 10, "args:", "|_", "  - 1", "  |_", "    - 2", "  |_"]
    lines += ["    " + "-" * 10, "    x:", "  |_", "- a", "  b", "kwargs:", "-" * 10]
    margins = [0, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 8]
    assert ask(*words)[1].splitlines() == [
        " " * margin + line for margin, line in zip(margins, lines, strict=True)
    ]


RUN = """local:
----------
          ID: b
    Function: test.configurable_test_state
      Result: True
     Comment: 
     Started: TIME
    Duration: TOOK
     Changes:   
              ----------
              testing:
                  ----------
                  new:
                      Something pretended to change
                  old:
                      Unchanged
----------
          ID: c
    Function: cmd.run
        Name: false
      Result: False
     Comment: Command "false" run
     Started: TIME
    Duration: TOOK
     Changes:   
              ----------
              retcode:
                  1
----------
          ID: a
    Function: test.nop
      Result: True
     Comment: Success!
     Started: TIME
    Duration: TOOK
     Changes:   

Summary for local
------------
Succeeded: 2 (changed=2)
Failed:    1
------------
Total states run:     3
Total run time: TOOK
"""  # noqa: W291  # as Salt prints it
TERSE = {
    "b": "  Name: b - Function: test.configurable_test_state - Result: Changed - TIMES",
    "c": "  Name: false - Function: cmd.run - Result: Failed - TIMES",
    "a": "  Name: a - Function: test.nop - Result: Clean - TIMES",
}


@pytest.mark.parametrize(
    ("options", "terse"),
    [
        (["--out=highstate"], ""),
        (["--state-output=full"], ""),
        (["--state-output=terse"], "bca"),
        (["--state_output", "mixed"], "ba"),
        (["--state-output=changes", "--out=highstate"], "a"),
    ],
)
def test_a_run_as_salt_prints_it(ask: Ask, tmp_path: Path, options: list[str], terse: str) -> None:
    sls = TREE["two"].replace("touch {tmp}/c", "'false'")
    (tmp_path / "states/two.sls").write_text(sls + "\na: test.nop")
    _, shown, _ = ask(*options, "state.apply", "two")
    shown = re.sub(r"Started: [\d:.]+ - Duration: [\d.]+ ms", "TIMES", shown)
    shown = re.sub(r"(Started:) [\d:.]+", r"\1 TIME", shown)
    shown = re.sub(r"(Duration|run time): +[\d.]+ m?s", r"\1: TOOK", shown)
    shown = re.sub(r" +pid:\n +\d+\n", "", shown)
    shown = re.sub(r" +std(out|err):\n", "", shown)
    whole, _, summary = RUN.partition("\nSummary")
    head, *states = whole.split("-" * 10 + "\n          ID: ")
    wanted = head + "".join(
        f"{TERSE[state[0]]}\n" if state[0] in terse else f"{'-' * 10}\n          ID: {state}"
        for state in states
    )
    assert shown == f"{wanted}\nSummary{summary}"


def test_what_of_a_run_is_left_out_or_refused(ask: Ask) -> None:
    shown = ask("state.apply", "one", "--state-verbose=False")[1]
    assert "ID: b" in shown and "ID: a" not in shown and "Total states run:     3" in shown
    assert "expected full, terse" in ask("--state-output=loud", "state.apply", "one")[2]
    code, shown, _ = ask("--out=highstate", "state.apply", "nosuch")
    assert code == 1 and shown.startswith(
        "local:\n    Data failed to compile:\n----------\n    No "
    )


def test_looking_options(ask: Ask) -> None:
    assert answer(ask, "-g")["id"] == "m1"
    assert "test.ping" in ask("-d", "test.ping")[1]
    assert "no function is named" in ask()[2]


def test_the_exit_code_of_a_command(ask: Ask) -> None:
    assert ask("cmd.run", "exit 3")[0] == 2
    assert ask("--retcode-passthrough", "cmd.run", "exit 3")[0] == 3
    assert ask("--retcode-passthrough", "cmd.run", "exit 3", "success_retcodes=[3]")[0] == 0
    assert ask("state.sls", "bad")[0] == 2


def test_a_mistyped_argument_is_not_passed_over(ask: Ask, tmp_path: Path) -> None:
    code, _, told = ask("state.apply", "tset=True")
    assert code == 1 and "did you mean test=?" in told and not (tmp_path / "c").exists()
    assert ask("state.highstate", "one")[0] == 1
    assert "not YAML: the bracket { is not closed" in ask("state.apply", 'pillar={"a": 1')[2]
    assert not (tmp_path / "c").exists()


def test_mock_calls_nothing(ask: Ask, tmp_path: Path) -> None:
    done = answer(ask, "state.apply", "mock=True", "queue=True")
    assert {each["comment"] for each in done.values()} == {"Not called, mocked"} and len(done) == 3
    assert {each["result"] for each in done.values()} == {True} and not (tmp_path / "c").exists()


def test_exclude(ask: Ask) -> None:
    def ids(said: str) -> list[str]:
        return [
            each["__id__"]
            for each in answer(ask, "state.apply", "test=True", f"exclude={said}").values()
        ]

    assert ids("[{id: c}]") == ["b", "a"]
    assert ids("[{sls: c}]") == ["b", "c", "a"]
    assert ids("two") == ["a"], "what requires a state that is left out runs, too"


def test_states_without_an_sls(ask: Ask, tmp_path: Path) -> None:
    done = answer(
        ask, "state.low", "{state: test, fun: nop, name: n, __id__: i, order: 3, __env__: base}"
    )
    assert (done["name"], done["__id__"], done["__sls__"], done["comment"]) == (
        "n",
        "i",
        None,
        "Success!",
    )
    assert answer(ask, "state.low", "{state: test, name: n}", code=1)[0].startswith(
        'Missing "fun" data'
    )
    for words in (
        ["state.single", "test.nop", "n"],
        ["state.high", "{n: {test: [nop]}}"],
        ["state.template_str", "n: test.nop"],
    ):
        (done,) = answer(ask, *words).values()
        assert (done["__id__"], done["__sls__"]) == ("n", None)
    path = str(tmp_path / "states/two.sls")
    assert {each["__sls__"] for each in answer(ask, "state.template", path).values()} == {path}
    assert answer(ask, "state.single", "no.such", "n", code=1)[0].startswith(
        "Specified state 'no.such' was not found\n"
    )


def test_what_is_in_the_tree(ask: Ask) -> None:
    assert answer(ask, "state.show_state_usage") == {
        "base": {
            "used": ["one"],
            "unused": ["bad", "two"],
            "count_all": 3,
            "count_used": 1,
            "count_unused": 2,
        }
    }
    assert answer(ask, "state.sls_exists", "nope", code=1) is False
    assert answer(ask, "state.sls", "nope,one,no*", code=1)[0].startswith(
        "No matching sls found for 'nope' in env 'base'\n"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0640", 640),
        ("-5", -5),
        ("1.5", 1.5),
        ("yes", True),
        ("None", None),
        ("~", None),
        ("'1'", "1"),
        ("[a, 1]", ["a", 1]),
        ("{a: 1}", {"a": 1}),
        ("a: b", "a: b"),
        ("- a", "- a"),
        ("a # b", "a # b"),
        ("#", "#"),
        ("", ""),
        (" a ", " a "),
        ("1_000", "1_000"),
        ("2020-01-01", "2020-01-01"),
        ("*x", "*x"),
        ("{a", "{a"),
        ("--- 5", 5),
        ("a\n- b", "a\n- b"),
    ],
)
def test_values_of_the_command_line(
    text: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for read in (simple.read, simple.parse):  # where PyYAML was imported before, and where not
        monkeypatch.setattr(simple, "read", read)
        assert yaml_value(text) == value and type(yaml_value(text)) is type(value)


def test_a_mapping_that_is_none() -> None:
    for text, why in {
        "{a": "not YAML: the bracket { is not closed",
        "[1]": "expected a mapping",
    }.items():
        with pytest.raises(RunnerError, match=re.escape(why)):
            mapping(text, "--pillar")


def test_only_a_word_with_one_equals_sign_is_a_pair() -> None:
    words = ["Zm9v==", "a=1", "b==2", "c=d=e", "=x"]
    assert arguments_of(words) == (["Zm9v==", "b==2", "=x"], {"a": 1, "c": "d=e"})


def test_test_false_counts_more_than_the_configuration_and_the_pillar(
    ask: Ask, tmp_path: Path
) -> None:
    (tmp_path / "pillar").mkdir()
    (tmp_path / "pillar/top.sls").write_text("base: {'*': [p]}")
    (tmp_path / "pillar/p.sls").write_text("test: true")
    minion = json.loads((tmp_path / "minion").read_text())
    minion |= {"test": True, "pillar_roots": {"base": [str(tmp_path / "pillar")]}}
    (tmp_path / "minion").write_text(json.dumps(minion))
    answer(ask, "state.apply")
    assert not (tmp_path / "c").exists()
    answer(ask, "state.apply", "test=False")
    assert (tmp_path / "c").exists()


def test_another_top_file_is_that_of_the_states_alone(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "pillar").mkdir()
    (tmp_path / "pillar/top.sls").write_text("base: {'*': [p]}")
    (tmp_path / "pillar/p.sls").write_text("role: web")
    (tmp_path / "states/other.sls").write_text("base: {'role:web': [{match: pillar}, bad]}")
    minion = json.loads((tmp_path / "minion").read_text()) | {
        "pillar_roots": {"base": [str(tmp_path / "pillar")]}
    }
    (tmp_path / "minion").write_text(json.dumps(minion))
    assert list(answer(ask, "state.top", "other.sls", code=2)) == [
        "test_|-d_|-d_|-fail_without_changes"
    ]


def test_without_a_configuration_of_its_own_it_takes_salts(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, path in {"SYSTEM": "none", "SALT_MINION": "minion"}.items():
        monkeypatch.setattr(f"runner.sources.config.load.{name}", str(tmp_path / path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        salt_call.main(
            ["--local", "--cachedir", str(tmp_path / "cache"), "state.show_states", "--out=json"]
        )
    streams = capsys.readouterr()
    assert json.loads(streams.out)["local"] == ["two", "one"] and streams.err == ""


def typed(machine: Machine, *words: str) -> subprocess.CompletedProcess[str]:
    """salt-call's command line in a process of its own."""
    argv = machine.argv(*words)
    config = argv.index("--config")
    argv[2:3] = ["from runner.cli.salt_call import main; main()"]
    argv[config : config + 2] = ["-c", str(machine.folder / "runner.yaml")]
    return subprocess.run(
        argv, capture_output=True, text=True, env=machine.environment, timeout=PATIENCE
    )


def test_the_next_command_and_the_history_have_the_program_that_was_called(
    machine: Machine,
) -> None:
    machine.write(web="{tmp}/f: {file.managed: [contents: x]}", top="base: {'*': [web]}")
    for words in (["state.apply", "web", "test=True"], ["state.highstate", "test=true"]):
        command = typed(machine, "--local", *words).stdout.splitlines()[-1].split()
        assert command[:-4] == ["runner-salt-call", "--local", *words[:-1]]
    assert typed(machine, *command[1:-4]).returncode == 0 and (machine.folder / "f").exists()
    assert "  runner-salt-call --local state.highstate test=true -c " in machine("history").stdout
    assert (
        machine("single", "file.absent", f"name={machine.folder}/f", "--test")
        .stdout.splitlines()[-1]
        .startswith("  runner single file.absent name=")
    )


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"x": "a:\n  - b\n c"}, ["Rendering SLS 'base:x' failed: "]),
        (
            {"x": "{{ nope() }}"},
            ["Rendering SLS 'base:x' failed: Jinja variable 'nope' is undefined"],
        ),
        ({"x": "{% if %}"}, ["Rendering SLS 'base:x' failed: "]),
        (
            {"x": "include: [other]", "other": "{{ nope() }}"},
            ["Rendering SLS 'base:other' failed: Jinja variable"],
        ),
        (
            {"x": "include: [gone]"},
            ["Specified SLS gone in saltenv base is not available on the salt master"],
        ),
        (
            {
                "x": "a: {test.nop: []}",
                "pillar__top": "base: {'*': [p]}",
                "pillar__p": "a: {{ nope() }}",
            },
            [
                "Pillar failed to render with the following messages:",
                "Rendering SLS 'p' failed: Jinja variable",
            ],
        ),
        (
            {"x": "a: {test.nop: []}", "pillar__top": "base: {'*': [gone]}"},
            ["Pillar failed to render with the following messages:", "Specified SLS gone"],
        ),
    ],
)
def test_compile_errors_begin_with_salts_words(
    machine: Machine, files: dict[str, str], said: list[str]
) -> None:
    machine.write(**files)
    done = typed(machine, "--local", "state.apply", "x", "--out", "json")
    found = json.loads(done.stdout)["local"]
    assert done.returncode == 1 and len(found) == len(said)
    assert all(text.startswith(start) for text, start in zip(found, said, strict=True)), found
    assert f"error: {said[0]}" in typed(machine, "--local", "state.apply", "x").stderr


def test_documentation_is_text(machine: Machine) -> None:
    shown = typed(machine, "--local", "sys.doc", "pkg.install").stdout
    start = f"local:\n    {'-' * 10}\n    pkg.install:\n        Install packages"
    assert shown.startswith(start) and "\\n" not in shown
    assert shown.count("\n") > 5


def test_that_salts_configuration_is_not_used_is_said_until_the_first_run(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, path in {"SYSTEM": "none", "SALT_MINION": "minion"}.items():
        monkeypatch.setattr(f"runner.sources.config.load.{name}", str(machine.folder / path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(machine.folder))
    monkeypatch.chdir(machine.folder)
    (machine.folder / "minion").write_text("id: m1\n")
    machine.write(a="x: {test.nop: []}")
    said = []
    sls = ["sls", "a", "--state-tree", str(machine.folder / "states")]
    for words in (["doc", "file.managed"], ["history"], sls, sls, ["history"], ["history", "-v"]):
        with pytest.raises(SystemExit):
            app.main([*words, "--cachedir", str(machine.folder / "cache")])
        said.append("is not used automatically" in capsys.readouterr().err)
    assert said == [False, False, True, False, False, True]


def test_a_random_hash_is_of_the_kind_that_salt_makes(ask: Ask) -> None:
    lengths = [len(answer(ask, "test.random_hash", *words)) for words in ((), ("9", "md5"))]
    assert lengths == [64, 32]


def test_an_environment_may_be_called_by_a_number(ask: Ask, tmp_path: Path) -> None:
    minion = {"id": "m1", "file_roots": {"2024": [str(tmp_path / "states")]}}
    (tmp_path / "minion").write_text(json.dumps(minion))
    assert list(answer(ask, "state.apply", "one", "saltenv=2024"))
