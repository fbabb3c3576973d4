# SPDX-License-Identifier: Apache-2.0
"""Secrets that are words of the tree, old values beside new ones, what a command line shows."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from command import Machine

from runner.model.highdata import Declaration
from runner.model.places import Place, Untyped
from runner.sources.config.of_tree import combined
from runner.support.redaction import HIDDEN, Secrets
from runner.support.redaction.names import Names

WORDS = """
zabbix_pgsql_user:
  test.succeed_with_changes: []
{tmp}/zabbix/server.conf:
  file.managed:
    - makedirs: true
    - contents: |
        DBName=zabbix
        DBPassword={{ pillar['zabbix']['password'] }}
        password: {{ pillar['zabbix']['password'] }}
        /var/lib/zabbix
conf_x7Kp2q:
  test.nop: []
{{ pillar['other']['password'] }} is hidden:
  test.nop: []
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_what_states_are_called_stays_readable(machine: Machine) -> None:
    secrets = {"zabbix": {"user": "zabbix", "password": "zabbix"}, "typed": {"password": "x7Kp2q"}}
    secrets["other"] = {"password": "Correct0Horse"}
    machine.write(
        zabbix__server=WORDS, pillar__top="base: {'*': [p]}\n", pillar__p=json.dumps(secrets)
    )
    machine.write(top="base: {'*': [zabbix.server]}\n")
    done = machine("sls", "zabbix.server", "-v", "--test")
    assert done.stderr.count("cannot be hidden") == 2
    assert (
        "zabbix:password of the pillar" in done.stderr
        and "typed:password of the pillar" in done.stderr
    )
    for words in (
        ["sls", "zabbix.server", "-v"],
        ["show", "sls", "zabbix.server"],
        ["show", "lowstate"],
    ):
        shown = machine(*words).stdout
        assert "zabbix_pgsql_user" in shown and f"{machine.folder}/zabbix/server.conf" in shown
        assert "conf_x7Kp2q" in shown
        assert "********** is hidden" in shown and "Correct0Horse" not in shown
    results = machine.results("sls", "zabbix.server", "--test")
    assert {"zabbix_pgsql_user", "conf_x7Kp2q"} < results.keys()
    diagnostics = machine.document("check")["diagnostics"]
    assert {each["code"] for each in diagnostics} >= {"secret-in-names"}


def test_a_secret_that_only_a_state_is_given_has_its_place(machine: Machine) -> None:
    machine.write(a="conf_x7Kp2q:\n  test.nop: []\nother:\n  test.nop:\n    - password: x7Kp2q\n")
    said = machine("sls", "a", "-v", "--test").stderr
    assert "the secret password of a state appears in names of this tree" in said
    assert f"{machine.folder}/states/a.sls:5:7" in said


def test_a_word_is_hidden_where_a_key_says_what_it_is(machine: Machine) -> None:
    secrets = {
        "zabbix": {"user": "zabbix", "password": "zabbix"},
        "other": {"password": "Correct0Horse"},
    }
    machine.write(zabbix=WORDS, pillar__top="base: {'*': [p]}\n", pillar__p=json.dumps(secrets))
    machine("sls", "zabbix")
    text = (machine.folder / "zabbix/server.conf").read_text()
    (machine.folder / "zabbix/server.conf").write_text(text.replace("=zabbix", "=different"))
    diff = machine.results("sls", "zabbix")[f"{machine.folder}/zabbix/server.conf"]["changes"][
        "diff"
    ]
    assert "+DBName=zabbix\n" in diff and f"+DBPassword={HIDDEN}\n" in diff
    assert f" password: {HIDDEN}\n" in diff and " /var/lib/zabbix\n" in diff
    pillar = machine.answer("show", "pillar")
    assert pillar["zabbix"] == {"user": "zabbix", "password": HIDDEN}


def test_a_word_that_nothing_is_called_is_hidden(machine: Machine) -> None:
    machine.write(pillar__top="base: {'*': [p]}\n", pillar__p="password: correcthorse\n")
    machine.write(
        a=(
            "x:\n  cmd.run:\n    - name: echo {{ pillar.password }} and http://u:{{ pillar.password"
            " }}@host/\n"
        )
    )
    done = machine("sls", "a", "-v")
    assert "correcthorse" not in done.stdout + done.stderr


def test_random_letters_are_no_word(machine: Machine) -> None:
    machine.write(
        a="named {{ pillar['a']['token'] }}: {test.nop: []}\n"
        "{{ pillar['b']['token'] }}: {test.nop: []}\n",
        pillar__top="base: {'*': [p]}\n",
        pillar__p="a: {token: WdNuyCnQezpAIWWvHkip}\nb: {token: NetworkManager}\n",
    )
    shown = machine("sls", "a", "-v").stdout
    assert "named **********" in shown and "WdNuyCnQezpAIWWvHkip" not in shown
    assert "NetworkManager" in shown


def test_passwords_in_urls_are_secrets(machine: Machine) -> None:
    machine.write(
        a=(
            "x:\n  cmd.run:\n    - name: 'true'\n    - env: {PIP:"
            " 'https://joe:L0ginMark@host/simple'}\n    - unless: echo L0ginMark"
            " https://joe:L0ginMark@host\nsay:\n  cmd.run:\n    - name: echo L0ginMark\nL0ginMark"
            " at https://ann:N4meMark@host/:\n  test.nop: []\n"
        )
    )
    for words in (
        ["sls", "a", "-v"],
        ["sls", "a", "--out", "json"],
        ["history", "show", "1", "--out", "json"],
    ):
        done = machine(*words)
        assert "L0ginMark" not in done.stdout + done.stderr and "N4meMark" not in done.stdout


# ---------------------------------------------------------------- old values


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("pw=old0secret\n", "pw={pw}\n", f"-pw={HIDDEN}\n+pw={HIDDEN}\n"),
        (
            "a=1\npw=old0secret # why\n",
            "a=2\npw={pw} # why\n",
            f"-a=1\n-pw={HIDDEN} # why\n+a=2\n+pw={HIDDEN} # why\n",
        ),
        ("old0secret\n", "{pw}\n", f"-{HIDDEN}\n+{HIDDEN}\n"),
        (
            "  old0secret\nname: x\n",
            "  {pw}\nname: y\n",
            f"-  {HIDDEN}\n-name: x\n+  {HIDDEN}\n+name: y\n",
        ),
        ("pw='old0secret' x=1\n", "pw='{pw}' x=2\n", f"-pw='{HIDDEN}\n+pw='{HIDDEN}' x=2\n"),
        ("pw={pw} x=1\n", "pw={pw} x=2\n", f"-pw={HIDDEN} x=1\n+pw={HIDDEN} x=2\n"),
        ("a: 1\n", "a: 2\npw: {pw}\n", f"-a: 1\n+a: 2\n+pw: {HIDDEN}\n"),
        ("old0secret\nold1secret\n", "{pw}\n", f"-{HIDDEN}\n-{HIDDEN}\n+{HIDDEN}\n"),
        (
            "pw=old0secret\nsame\na=1\n",
            "pw={pw}\nsame\na=2\n",
            f"-pw={HIDDEN}\n+pw={HIDDEN}\n same\n-a=1\n+a=2\n",
        ),
    ],
)
def test_the_old_side_of_a_diff(machine: Machine, old: str, new: str, shown: str) -> None:
    pw = "N3wSecretMark"
    target = machine.folder / "f"
    target.write_text(old.format(pw=pw))
    machine.write(pillar__top="base: {'*': [p]}\n", pillar__p=f"password: {pw}\n")
    contents = json.dumps(new.format(pw="{{ pillar.password }}"))
    machine.write(a="{tmp}/f:\n  file.managed:\n    - contents: " + contents + "\n")
    diff = machine.results("sls", "a", "--test")[str(target)]["changes"]["diff"]
    assert "".join(diff.splitlines(keepends=True)[3:]) == shown


def test_a_secret_of_a_former_run_is_hidden(machine: Machine) -> None:
    machine.write(pillar__top="base: {'*': [p]}\n", pillar__p="password: F1rstSecret\n")
    machine.write(a="say:\n  cmd.run:\n    - name: \"printf 'pw: %s%s' F1rst Secret\"\n")
    machine("sls", "a")
    machine.write(pillar__p="password: S3condSecret\n")
    assert f"pw: {HIDDEN}" in machine("sls", "a", "-v").stdout
    machine.write(pillar__p="nothing: at all\n")
    (machine.folder / "f").write_text("pw: 'F1rstSecret'\n")
    for words in (["call", "file.read"], ["resource", "file"]):
        assert f"pw: '{HIDDEN}'" in machine(*words, str(machine.folder / "f")).stdout
    assert f"pw: {HIDDEN}" in machine("sls", "a", "-v").stdout
    kept = machine.folder / "cache/state/former-secrets"
    assert b"Secret" not in kept.read_bytes() and kept.stat().st_mode & 0o777 == 0o600
    kept.write_bytes(b"broken")
    assert "pw: F1rstSecret" in machine("sls", "a", "-v").stdout, "the test sees it"


def test_a_former_secret_with_spaces_is_hidden_in_a_path(machine: Machine) -> None:
    machine.write(pillar__top="base: {'*': [p]}\n", pillar__p="password: an 0ld pass w0rd\n")
    machine.write(a="{tmp}/g: {file.managed: [contents: 'pw={{ pillar.password }}']}\n")
    machine("sls", "a")
    machine.write(pillar__p="nothing: at all\n")
    (machine.folder / "g").write_text("emptied\n")
    told = machine("history", "file", str(machine.folder / "g")).stdout
    assert f"-pw={HIDDEN}\n" in told and "0ld" not in told
    (machine.folder / "f").write_text("/srv/of/an 0ld pass w0rd\n/srv/an old password\n")
    told = machine("call", "file.read", str(machine.folder / "f")).stdout
    assert told.strip() == f"/srv/of/{HIDDEN}\n/srv/an old password"


# ---------------------------------------------------------------- command lines


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (
            ["sls", "a", "--pillar", '{"token": "T0kenMark", "colour": "blue"}'],
            f"sls a --pillar {HIDDEN}",
        ),
        (["single", "cmd.run", "name=sleep 1000; : T0kenMark"], "single cmd.run ..."),
        (["single", "cmd.run", "sleep 1000; : T0kenMark"], "single cmd.run ..."),
    ],
)
def test_who_holds_the_lock_shows_no_secrets(
    machine: Machine, words: list[str], shown: str
) -> None:
    machine.write(a="x:\n  cmd.run:\n    - name: sleep 1000\n", pillar__top="base: {'*': [p]}\n")
    machine.write(pillar__p="token: T0kenMark\n")
    lock = machine.folder / "cache/state/lock"
    with machine.start(*words, ready=lambda: lock.exists() and lock.read_text()):
        told = machine("sls", "a", code=3).stderr
        assert shown in told and "T0kenMark" not in told + lock.read_text()
    assert "T0kenMark" not in machine("history").stdout


def test_the_command_of_a_run_without_a_pillar_shows_no_secret(machine: Machine) -> None:
    machine.write(a="x: {test.nop: []}\n", pillar__top="base: [\n")
    typed = ["--pillar", "{token: T0kenMark}", "--log-file", str(machine.folder / "T0kenMark")]
    machine("sls", "a", *typed, code=1)
    told = machine("history").stdout + machine("history", "--out", "json").stdout
    assert f"--log-file {machine.folder}/{HIDDEN}" in told and "T0kenMark" not in told


def test_the_command_to_go_on_with_shows_no_secret(machine: Machine) -> None:
    machine.write(a="x:\n  test.succeed_with_changes: []\n")
    shown = machine("sls", "a", "--test", "--pillar", "{token: T0kenMark}").stdout
    assert f"--pillar '{HIDDEN}'" in shown and "T0kenMark" not in shown
    assert f"--pillar {HIDDEN} " in machine("history").stdout, "all of it"
    words = ["--pillar", "{colour: 'https://joe:T0kenMark@host/'}"]
    shown = machine("sls", "a", "--test", *words).stdout + machine("history").stdout
    assert f"joe:{HIDDEN}@host" in shown and "T0kenMark" not in shown
    assert (
        "--pillar '{colour: blue}'"
        in machine("sls", "a", "--test", "--pillar", "{colour: blue}").stdout
    )


def test_the_pillar_of_a_file_and_of_stdin(machine: Machine) -> None:
    given = machine.folder / "given"
    given.write_text("colour: blue\n")
    assert machine("call", "pillar.get", "colour", "--pillar", f"@{given}").stdout == "blue\n"
    argv = machine.argv("call", "pillar.get", "colour", "--pillar", "-")
    done = subprocess.run(
        argv, input="{colour: red}", capture_output=True, text=True, env=machine.environment
    )
    assert done.stdout == "red\n"
    told = machine("show", "pillar", "--pillar", "@/no/such", code=1).stderr
    assert "--pillar @/no/such: No such file or directory" in told
    given.write_text("[]")
    assert "expected a mapping" in machine("show", "pillar", "--pillar", f"@{given}", code=1).stderr
    told = machine("show", "pillar", "--pillar", "@/dev/zero", code=1).stderr
    assert "--pillar @/dev/zero: it is not a regular file" in told
    os.truncate(given, 17 << 20)
    told = machine("show", "pillar", "--pillar", f"@{given}", code=1).stderr
    assert f"--pillar @{given}: this is larger than 16 MiB" in told
    given.write_bytes(b"a: \xff")
    assert "it is not UTF-8" in machine("show", "pillar", "--pillar", f"@{given}", code=1).stderr


def test_resource_shows_secrets_only_when_asked(machine: Machine) -> None:
    machine.write(pillar__top="base: {'*': [p]}\n", pillar__p="password: F1leSecret\n")
    (machine.folder / "f").write_text("pw=F1leSecret\n")
    done = machine("resource", "file", str(machine.folder / "f"))
    assert f"pw={HIDDEN}" in done.stdout and "are shown as" in done.stderr
    assert (
        "pw=F1leSecret"
        in machine("resource", "file", str(machine.folder / "f"), "--show-secrets").stdout
    )


def test_pip_gets_logins_by_its_environment(machine: Machine) -> None:
    pip = machine.folder / "pip"
    pip.write_text(
        '#!/bin/sh\necho "words: $*; index: $PIP_INDEX_URL; more: $PIP_EXTRA_INDEX_URL"\n'
    )
    pip.chmod(0o755)
    urls = [
        "index_url=https://joe:P1pMark@host/a b",
        "extra_index_url=[https://x/, 'https://u:M0reMark@y/']",
    ]
    done = machine(
        "call",
        "pip.install",
        "requests",
        f"bin_env={pip}",
        *urls,
        "proxy=http://p:1",
        "--out",
        "json",
    )
    said = json.loads(done.stdout)["local"]["stdout"]
    assert said.startswith("words: install --proxy http://p:1 -- requests; index: https://joe:")
    assert f"more: https://x/ https://u:{HIDDEN}@y/" in said and "Mark" not in done.stdout


def test_git_gets_the_logins_of_pips_requirements_by_its_environment(machine: Machine) -> None:
    pip = machine.folder / "pip"
    pip.write_text(
        '#!/bin/sh\necho "words: $*"\n'
        "for host in one.invalid two.invalid; do\n"
        '  printf "protocol=https\\nhost=$host\\n\\n" | git credential fill |'
        ' grep -c -e "word=P1p&Mark" -e "word=M0reMark"\ndone\n'
    )
    pip.chmod(0o755)
    wanted = [
        "git+https://u:P1p%26Mark@one.invalid/x.git@v1#egg=x",
        "y @ git+https://w:M0reMark@two.invalid/y",
    ]
    done = machine(
        "call", "pip.install", f"pkgs={json.dumps(wanted)}", f"bin_env={pip}", "--out", "json"
    )
    told = json.loads(done.stdout)["local"]["stdout"].splitlines()
    assert told == [
        "words: install -- git+https://one.invalid/x.git@v1#egg=x y @ git+https://two.invalid/y",
        "1",
        "1",
    ]


def test_no_login_of_a_requirement_is_on_pips_command_line(machine: Machine) -> None:
    """A second login of a host goes to git by its own address; what pip itself fetches is named in
    a file that goes again.
    """
    pip = machine.folder / "pip"
    pip.write_text(
        '#!/bin/sh\necho "words: $*" | sed "s,/[^ ]*/requirements,FILE,"\n'
        "for path in x.git=P1pMark y.git=M0reMark; do\n"
        '  printf "protocol=https\\nhost=one.invalid\\npath=${path%=*}\\n\\n" |'
        ' git credential fill | grep -c "word=${path#*=}$"\ndone\n'
        'while [ "$1" != --requirement ]; do shift; done; stat -c %a "$2"; cat "$2"; echo "$2" >'
        f" {machine.folder}/place\n"
    )
    pip.chmod(0o755)
    wanted = [
        "git+https://u:P1pMark@one.invalid/x.git@v1#egg=x",
        "y @ git+https://w:M0reMark@one.invalid/y.git@main",
        "https://u:WheelMark@host.invalid/x-1.0-py3-none-any.whl",
        "z @ https://u:OtherMark@host.invalid/z.whl",
        "hg+https://u:MercMark@host.invalid/h#egg=h",
        "plain==1",
    ]
    done = machine(
        "call", "pip.install", f"pkgs={json.dumps(wanted)}", f"bin_env={pip}", "--out", "json"
    )
    assert json.loads(done.stdout)["local"]["stdout"].splitlines() == [
        "words: install --requirement FILE -- git+https://one.invalid/x.git@v1#egg=x"
        " y @ git+https://one.invalid/y.git@main plain==1",
        "1",
        "1",
        "700",
        f"https://u:{HIDDEN}@host.invalid/x-1.0-py3-none-any.whl",
        f"z @ https://u:{HIDDEN}@host.invalid/z.whl",
        f"hg+https://u:{HIDDEN}@host.invalid/h#egg=h",
    ]
    assert not Path((machine.folder / "place").read_text().strip()).exists()


@pytest.mark.parametrize(
    ("id_", "text", "is_name"),
    [
        ("host-4f9a8b7c6d", "host-4f9a8b7c6d: {test.nop: []}", True),
        ("host-4f9a8b7c6d", "host-{{ pillar.number }}: {test.nop: []}", False),
        ("host-other", "# 4f9a8b7c6d", False),
    ],
)
def test_a_part_of_a_name_that_is_no_word_stands_in_the_sls(
    tmp_path: Path, id_: str, text: str, is_name: bool
) -> None:
    (tmp_path / "a.sls").write_text(text)
    names = Names(lambda key: False)
    names.learn(ids=[Declaration(id_, "a", "base", Place(Untyped(str(tmp_path / "a.sls"))))])
    assert names.has("4f9a8b7c6d") is is_name
    (tmp_path / "a.sls").unlink()
    names.learn()
    assert not names.has("4f9a8b7c6d")


def test_a_line_that_is_shown_hides_the_password_of_an_address(machine: Machine) -> None:
    machine.write(a="a: {file.managed: [source: 'https://joe:Zq7Kd2x9@host/f', ]]}\n")
    for words in (["sls", "a"], ["sls", "a", "--out", "json"], ["check", "a"]):
        done = machine(*words, code=1)
        assert "https://joe:**********@host/f" in done.stdout + done.stderr
        assert "Zq7Kd2x9" not in done.stdout + done.stderr, words
    assert "Zq7Kd2x9" not in machine("history", "show", "last").stdout


def test_a_report_hides_what_was_typed_and_what_is_pending(machine: Machine) -> None:
    machine.config["report"] = {"to": "file:reports"}
    (machine.folder / "reports").mkdir()
    machine.write(
        a="c: {test.succeed_with_changes: []}\n"
        "r {{ pillar.password }}: {cmd.wait: [name: 'false', watch: [test: c]]}\n",
        pillar__top="base: {'*': [p]}\n",
        pillar__p="password: geheim42\n",
    )
    log = str(machine.folder / "geheim42")
    machine("sls", "a", "--pillar", "{my_token: typed-42}", "--log-file", log, code=2)
    (report,) = (path.read_text() for path in (machine.folder / "reports").iterdir())
    assert json.loads(report)["pending_reactions"]
    assert not [text for text in ("geheim42", "typed-42", "my_token") if text in report]


def test_things_of_the_machine_keep_names_that_are_plain_words(machine: Machine) -> None:
    machine.write(pillar__top="base: {'*': [p]}\n", pillar__p="password: zabbixword\n")
    (machine.folder / "zabbixword").write_text("password=zabbixword\n")
    done = machine("resource", "file", str(machine.folder / "zabbixword"))
    assert (
        done.stdout.startswith(f"{machine.folder}/zabbixword:")
        and f"password={HIDDEN}" in done.stdout
    )


def test_events_of_a_state_with_no_log_have_no_data(machine: Machine) -> None:
    machine.write(a="told:\n  event.send:\n    - data: {word: UnkeyedMark}\n    - no_log: true\n")
    lines = machine("sls", "a", "--events", "-").stdout
    assert "custom_event" in lines and "UnkeyedMark" not in lines


def test_secrets_of_the_configuration_are_hidden(machine: Machine) -> None:
    machine.config["report"] = {"to": "postgresql://joe@127.0.0.1:9/x", "password": "0fReports"}
    machine.config["otel_headers"] = {"x-key": "0fTraces"}
    told = machine("call", "file.read", str(machine.config_file)).stdout
    assert f'"password": "{HIDDEN}"' in told and f'"x-key": "{HIDDEN}"' in told


def test_events_with_the_environment_have_no_secrets_of_it(machine: Machine) -> None:
    machine.environment["DB_PASSWORD"] = "T0kenMark"
    machine.write(a="told:\n  event.send:\n    - with_env: [DB_PASSWORD]\n")
    lines = machine("sls", "a", "--events", "-").stdout
    assert f'"DB_PASSWORD": "{HIDDEN}"' in lines and "T0kenMark" not in lines


def test_secrets_that_threads_add_are_hidden_at_once(machine: Machine) -> None:
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/keys.py").write_text(
        "from runner.api import here\n\n\ndef make(number):\n   "
        " here.secret(f'Made{number:04d}Mark')\n    return f'Made{number:04d}Mark'\n"
    )
    states = "".join(
        f"x{number}:\n  module.run:\n    - keys.make: [{{number: {number}}}]\n    - parallel:"
        " true\n"
        for number in range(60)
    )
    machine.write(a=states)
    done = machine("sls", "a", "--out", "json", "--events", f"{machine.folder}/events")
    assert "Mark" not in done.stdout + (machine.folder / "events").read_text()
    assert done.stdout.count(HIDDEN) >= 60


# ---------------------------------------------------------------- cost


def test_a_thousand_secrets_cost_no_more_than_one() -> None:
    text = "".join(
        f"line {number} of a file that has words, numbers like {number:032x} and so on\n"
        for number in range(3000)
    )
    taken = []
    for count in (1, 1000):
        secrets = Secrets()
        for number in range(count):
            secrets.add(f"S3cret{number:05d}Mark")
        began = time.process_time()
        assert secrets.mask(text) == text
        taken.append(time.process_time() - began)
    assert taken[1] < 10 * taken[0] + 1, taken


@pytest.mark.parametrize(
    "word", ["a" * 60, "ab-" * 20 + "!", "&" * 40, "0123456789abcdef" * 4, "$" * 6]
)
def test_masking_is_linear_in_the_text(word: str) -> None:
    secrets = Secrets()
    secrets.add(word)
    secrets.collect({"password": "a-b.c&d'e/f", "other": "a" * 100})
    taken = []
    for size in (2000, 20000):
        for text in (
            "a" * size,
            "&" * size,
            "0a " * (size // 3),
            "-a\n+b\n" * (size // 6),
            (word[:-1] + "\n") * (size // len(word)),
        ):
            began = time.process_time()
            secrets.mask(text)
            taken.append(time.process_time() - began)
    assert sum(taken[5:]) < 30 * sum(taken[:5]) + 1, taken


def test_many_secrets_at_once_are_found_where_they_stand() -> None:
    """More secrets than are searched one by one: spelled, encoded, adjacent and far apart."""
    values = [f"{number:x}-{number * 7919:08x}'{number * 104729:09d}z" for number in range(300)]
    secrets = Secrets()
    for value in values:
        secrets.add(value)
    told = "".join(
        f"{value}{value} {value.replace(chr(39), '&#39;')}"
        f" {base64.b64encode(f'{at}:{value}'.encode()).decode()}\n"
        for at, value in enumerate(values)
    )
    shown = secrets.mask(told)
    assert not [value for value in values if value[-10:] in shown or value in shown]
    assert shown.count(HIDDEN) == 4 * len(values)


# ---------------------------------------------------------------- names of secrets

SECRET = "K7!zQ-4mWx9"
MEANING_A_SECRET = (
    "password",
    "db_passwd",
    "passphrase",
    "pass",
    "Pass",
    "mysql_pass",
    "smtp-pass",
    "pwd",
    "db_pwd",
    "mysqlpwd",
    "psk",
    "wifi_psk",
    "wpa-psk",
    "auth_key",
    "tailscale_authkey",
    "auth_keys",
    "my_auth_key_1",
    "secret",
    "client_secret",
    "secrets",
    "secretkey",
    "secret_access_key",
    "SECRET_KEY_BASE",
    "app_secret_v2",
    "api_token",
    "credentials",
)
MEANING_NONE = (
    "passive",
    "bypass",
    "compass",
    "passenger",
    "password_file",
    "secretary",
    "secretaries",
    "secretary_name",
    "secret_name",
    "tls_secret_name",
    "secrets_file",
    "secret_path",
    "secret_user",
    "secretsmanager_region",
    "fastcgi_pass",
    "uwsgi_pass",
    "pass_through",
    "cwd",
    "tpsk_level",
    "authorized_keys",
    "author_key",
    "user",
    "keys",
)


@pytest.mark.parametrize("key", MEANING_A_SECRET)
def test_names_that_mean_a_secret(key: str) -> None:
    secrets = Secrets()
    secrets.collect({"outer": [{key: SECRET}]})
    assert secrets.mask({"x": f"<{SECRET}>"}) == {"x": f"<{HIDDEN}>"}


@pytest.mark.parametrize("key", MEANING_NONE)
def test_names_that_mean_none(key: str) -> None:
    secrets = Secrets()
    secrets.collect({"outer": [{key: SECRET, "password": "other value"}]})
    assert secrets.mask({"x": SECRET}) == {"x": SECRET}


@pytest.mark.parametrize(
    "value",
    [
        "/etc/ssl/private/db.key",
        "salt://keys/db",
        "salt://id_ed25519",
        "salt://keys/db?saltenv=prod",
        "http://backend:8080",
        "unix:/run/php/fpm.sock",
        "True",
        "no",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN4lVDyQVjxaoQzomNux9CrXMPCdYpfUDSQa19RF3Aoj ann@x",
    ],
)
def test_values_that_are_none_under_any_name(value: str) -> None:
    secrets = Secrets()
    secrets.collect(dict.fromkeys(MEANING_A_SECRET, value))
    assert secrets.mask({"x": value}) == {"x": value}


def test_what_belongs_to_a_secret_stays_readable() -> None:
    pillar = {"secrets": {"user": "dbuser01", "host": "db1.example.org", "mysql": {"pass": SECRET}}}
    secrets = Secrets()
    secrets.collect(pillar)
    shown = secrets.mask(pillar)
    assert shown == {
        "secrets": {"user": "dbuser01", "host": "db1.example.org", "mysql": {"pass": HIDDEN}}
    }


def test_the_configuration_takes_names_away_and_a_tree_only_adds() -> None:
    secrets = Secrets()
    secrets.collect({"api_version": "v2-2026-11", "api_code": SECRET}, ["api_*", "!*version"])
    assert secrets.mask(["v2-2026-11", SECRET]) == ["v2-2026-11", HIDDEN]
    both = combined({}, {"secret_keys": ["!*password", "secretary", "pin"]})["secret_keys"]
    secrets = Secrets()
    secrets.collect({"password": SECRET, "secretary": "Ann-4711-Lee"}, both)
    assert secrets.mask([SECRET, "Ann-4711-Lee"]) == [HIDDEN, HIDDEN]


def test_a_secret_by_its_short_name_is_in_no_output(machine: Machine) -> None:
    values = {
        "db": {"pass": "Short0Mark"},
        "wifi": {"home_psk": "Psk0Mark", "pwd": "Pwd0Mark"},
        "vpn": {"tailscale_auth_key_1": "Auth0Mark"},
        "app": {"secret_key_base": "Base0Mark"},
    }
    machine.write(pillar__top="base: {'*': [p]}\n", pillar__p=json.dumps(values))
    machine.write(
        a="""
{tmp}/f:
  file.managed:
    - contents: {{ pillar | json | yaml_dquote }}
    - mode: '0600'
x:
  cmd.run:
    - name: echo {{ pillar.db.pass }} {{ pillar.wifi.pwd }}; false
"""
    )
    for words, code in (
        (["sls", "a", "--test", "-v"], None),
        (["sls", "a", "--out", "json"], None),
        (["history", "show", "1", "--out", "json"], 0),
        (["history", "show", "1"], 0),
        (["show", "pillar"], 0),
        (["show", "pillar", "--out", "json"], 0),
        (["show", "sls", "a"], 0),
        (["show", "lowstate"], None),
    ):
        done = machine(*words, code=code)
        assert "0Mark" not in done.stdout + done.stderr, words
    assert "Short0Mark" in (machine.folder / "f").read_text()


def test_a_secret_in_names_of_another_part_of_the_tree_is_named_where_it_was_typed(
    machine: Machine,
) -> None:
    machine.write(
        a="u:\n  file.managed:\n    - name: /tmp/a\n    - context: {password: postfix}\n",
        b="postfix_b:\n  test.nop: []\n",
        c="postfix_c:\n  test.nop: []\n",
        top="base: {'*': [a]}\n",
    )
    diagnostics = machine.document("check")["diagnostics"]
    told = [each for each in diagnostics if each["code"] == "secret-in-names"]
    assert [(each["line"], each["message"][:36]) for each in told] == [
        (4, "the secret context:password of a sta")
    ]
