# SPDX-License-Identifier: Apache-2.0
"""What states are given for secret, in all that a run says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Machine

SECRET = "S3cretMark"
STATE = """
def go(name, password=None):
    raise ValueError(f"cannot log in with {password}")
"""
TREE = """
silent:
  cmd.run:
    - names: [echo S3cretMark, echo S3cretMark 2]
    - no_log: true
classic:
  login.go: [{password: S3cretMark}]
environment:
  cmd.run:
    - name: echo $DB_PASSWORD; false
    - env: [{DB_PASSWORD: S3cretMark}]
/etc/keys/a.pem:
  test.nop: [{private_key: /etc/keys/a.pem}]
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    made = Machine(tmp_path_factory.mktemp("secrets"))
    (made.folder / "states/_states").mkdir()
    (made.folder / "states/_states/login.py").write_text(STATE)
    made.write(t=TREE)
    made("sls", "t", code=2)  # run 1 of the history
    return made


@pytest.mark.parametrize(
    "words",
    [
        *(
            ["sls", "t", *more]
            for more in ([], ["--out", "json"], ["--out", "junit"], ["--events", "-"], ["--test"])
        ),
        *(["history", "show", "1", *more] for more in ([], ["--out", "json"])),
        *(["why", id_, "t", "--run"] for id_ in ("silent", "classic", "environment")),
    ],
    ids=" ".join,
)
def test_a_secret_is_in_no_output(machine: Machine, words: list[str]) -> None:
    done = machine(*words, code=None)
    assert done.stdout and SECRET not in done.stdout + done.stderr
    assert "**********" in done.stdout


def test_states_stay_apart(machine: Machine) -> None:
    answer = machine.answer("sls", "t", code=2)
    assert [key for key in answer if "silent" in key] == [
        "cmd_|-silent_|-**********_|-run",
        "cmd_|-silent_|-********** 1_|-run",
    ]
    # a path is no secret
    assert answer["test_|-/etc/keys/a.pem_|-/etc/keys/a.pem_|-nop"]["result"] is True


def test_show_hides_passwords(machine: Machine) -> None:
    shown = machine("show", "low-sls", "t").stdout
    assert "password: '**********'" in shown and "DB_PASSWORD: '**********'" in shown
    assert SECRET in machine("show", "low-sls", "t", "--show-secrets").stdout
    shown = machine("show", "sls", "t").stdout
    assert "password: '**********'" in shown and "DB_PASSWORD: '**********'" in shown


def test_the_line_of_a_mistake(machine: Machine, tmp_path: Path) -> None:
    machine.write(bad=f"a:\n  user.present:\n    - password: [{SECRET}]\n")
    told = machine("sls", "bad", code=1).stderr
    assert "- password: **********" in told and SECRET not in told


@pytest.mark.parametrize(
    "words", [["sls", "bad"], ["check", "bad"], ["check", "bad", "--out", "json"]], ids=" ".join
)
def test_a_mistake_in_a_state_with_no_log_shows_neither_value_nor_line(
    machine: Machine, words: list[str]
) -> None:
    arguments = ["makedirs: typedMark", "mode: {{ pw }}", "nosuch: {{ pw }}", "no_log: true"]
    lines = "".join(f"    - {each}\n" for each in arguments)
    machine.write(bad=f"{{% set pw = '{SECRET}' %}}\n/x:\n  file.managed:\n{lines}")
    done = machine(*words, code=1)
    told = done.stdout + done.stderr
    assert "makedirs" in told and "nosuch" in told and "**********" in told
    assert SECRET not in told and "typedMark" not in told


def test_names_of_what_is_owed(machine: Machine) -> None:
    machine.write(pillar__top="base:\n  '*': [s]\n", pillar__s=f"password: {SECRET}\n")
    machine.write(
        owes=(
            "changes:\n  test.succeed_with_changes\n{{ pillar.password }}:\n  cmd.wait:\n    -"
            " name: 'false'\n    - watch:\n      - test: changes\n"
        )
    )
    machine("sls", "owes", code=2)
    told = machine("show", "pending").stdout
    assert "cmd_|-**********_|-false_|-wait" in told and SECRET not in told
    assert SECRET in machine("show", "pending", "--show-secrets").stdout
    machine.write(pillar__s="password: [\n")
    assert "changes" in machine("show", "pending").stdout, "a broken pillar is no obstacle"
    machine.write(pillar__s=f"password: {SECRET}\n")
    told = machine("forget", SECRET).stdout
    assert "forgotten: watch" in told and SECRET not in told


# ---------------------------------------------------------------- hashes


NO_HASHES = """
ann:
  user.present:
    - password: Plain0Mark
bob:
  user.present:
    - password: Plain0Mark
    - hash_password: false
carl:
  mysql_user.present:
    - password_hash: Plain0Mark
dora:
  postgres_user.present:
    - password: SCRAM-SHA-256$4096:cut-0Mark
"""
SQL_HASH = "*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9"
SCRAM = f"SCRAM-SHA-256$4096:c2FsdA==${'A' * 43}=:{'B' * 43}="
HASHES = f"""
ann: {{user.present: [password: Plain0Mark, hash_password: true]}}
bob: {{user.present: [password: '*']}}
bea: {{user.present: [password: '']}}
ben: {{user.present: [password: null]}}
bert: {{user.present: [password: '!$6$salt${"x" * 86}']}}
carl: {{mysql_user.present: [password_hash: '{SQL_HASH}']}}
cora: {{mysql_user.present: [password: Plain0Mark]}}
dora: {{postgres_user.present: [password: '{SCRAM}']}}
dirk: {{postgres_user.present: [password: Plain0Mark, encrypted: false]}}
"""


def test_a_word_is_not_taken_for_a_hash(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(a=NO_HASHES, top="base: {'*': [a]}\n")
    for words in (["check"], ["sls", "a"], ["sls", "a", "--test"]):
        done = machine(*words, "--out", "json", code=1)
        assert "0Mark" not in done.stdout + done.stderr
    found = json.loads(machine("check", "--out", "json", code=1).stdout)["diagnostics"]
    assert [(each["line"], each["severity"], each["code"]) for each in found] == [
        (line, "error", "argument") for line in (4, 7, 11, 14)
    ]
    assert "user.present: password: expected the hash of a password" in found[0]["message"]
    assert "hash_password: true" in found[0]["hint"] and found[0]["message"] == found[1]["message"]
    machine.write(a=HASHES)
    done = machine("check", "--out", "json")
    assert json.loads(done.stdout)["diagnostics"] == []
    told = machine("call", "shadow.set_password", "nobody-here", "Plain0Mark", code=1).stderr
    assert "the password of nobody-here: expected the hash" in told and "0Mark" not in told


def test_the_command_that_makes_the_changes_can_be_given(machine: Machine) -> None:
    words = ["x", "hash_password=True", f"password={SECRET}"]
    shown = machine("single", "test.configurable_test_state", *words, "--test", code=None).stdout
    assert "hash_password=True" in shown and SECRET not in shown


WARNING = """
from runner.api import here


def go(password):
    here.warn(f"cannot log in with {password}")
    return True
"""


def test_what_a_function_takes_for_secret_is_so_whatever_the_keys(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.config["secret_keys"] = ["nothing"]
    machine.write(
        a="{% set word = 'Zq7' ~ 'Kd2x9' %}\nsays: {cmd.run: [name: echo {{ word }}]}\n"
        "asks: {http.query: [name: 'http://127.0.0.1:9/', password: {{ word }}]}\n"
    )
    said = machine("sls", "a", code=2).stdout
    assert "echo **********" in said and "Zq7Kd2x9" not in said


def test_what_a_called_function_warns_of_has_no_secret(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/login.py").write_text(WARNING)
    told = machine("call", "login.go", "password=S3cretMark").stderr
    assert "cannot log in with **********" in told and SECRET not in told


@pytest.mark.parametrize(
    "state",
    [
        "DB_PASSWORD: {environ.setenv: [value: S3cretMark]}",
        "{tmp}/f: {file.keyvalue: [key: the_token, value: S3cretMark, separator: '=', "
        "create_if_missing: true, append_if_not_found: true]}",
    ],
)
def test_a_value_is_a_secret_where_what_it_is_called_says_so(tmp_path: Path, state: str) -> None:
    machine = Machine(tmp_path)
    machine.write(a=state)
    for words in (["--test"], []):
        done = machine("sls", "a", "--out", "json", *words)
        assert SECRET not in done.stdout + done.stderr and "**********" in done.stdout


def test_what_runner_check_says_shows_no_line_of_a_state_with_no_log(tmp_path: Path) -> None:
    """Neither where that is typed which it speaks of, nor above it."""
    machine = Machine(tmp_path)
    machine.write(
        a="{tmp}/f:\n  file.managed:\n    - no_log: true\n    - contents: |\n        S3cretMark\n"
        "other: {file.append: [name: {tmp}/f, text: S3cretMark too, no_log: true]}\n",
        b="{tmp}/g:\n  file.managed:\n    - no_log: true\n    - contents: |\n        S3cretMark\n"
        "again: {file.append: [name: {tmp}/g, text: x]}\n",
    )
    done = machine("check")
    assert SECRET not in done.stdout + done.stderr
    assert done.stdout.count("[undone]") + done.stderr.count("[undone]") == 2


@pytest.mark.parametrize("what", ["sls", "low-sls", "highstate", "lowstate"])
def test_what_a_state_with_no_log_is_given_is_not_shown(tmp_path: Path, what: str) -> None:
    machine = Machine(tmp_path)
    machine.write(
        top="base: {'*': [a]}",
        a="own: {cmd.run: [name: echo S3cretMark, env: [X: S3cretMark], no_log: true,"
        " require: [test: other]]}\nother: {test.nop: []}\n",
    )
    words = ["show", what, *(["a"] if "sls" in what else []), "--out", "json"]
    shown = machine(*words).stdout
    assert SECRET not in shown and '"env": "**********"' in shown and '"other"' in shown
    assert SECRET in machine(*words, "--show-secrets").stdout


def test_events_say_of_a_silent_state_what_it_is_and_no_more(machine: Machine) -> None:
    machine.write(
        a="silent: {cmd.run: [name: echo hushed, no_log: true]}\n"
        "{tmp}/f: {file.managed: [contents: hushed, no_log: true]}\n"
        "{tmp}/g: {file.managed: [contents: spoken]}\n"
    )
    log = machine.folder / "events"
    machine("sls", "a", "--events", str(log))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    comments = [event["comment"] for event in events if event["event"] == "state_planned"]
    assert comments[:2] == ["**********"] * 2 and "/g is set to be changed" in comments[2]
    assert "hushed" not in log.read_text()
    assert f"file_|-{machine.folder}/f_|-{machine.folder}/f_|-managed" in log.read_text()


def test_the_values_of_variables_beside_a_mistake_hide_secrets(machine: Machine) -> None:
    machine.write(
        a="{% for word in [pillar.password] %}\nx: {{ word.nope.y }}\n{% endfor %}\n",
        pillar__top="base: {'*': [p]}",
        pillar__p=f"password: {SECRET}",
    )
    told = machine("sls", "a", code=1).stderr
    assert "with word = '**********'" in told and SECRET not in told
