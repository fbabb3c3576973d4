# SPDX-License-Identifier: Apache-2.0
"""Secrets that nothing decrypted: mistakes with a place, and never in a file."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from needing import needs

from runner.language.pillar.undecrypted import form_of

WHOLE = "age:" + base64.b64encode(b"age-encryption.org/v1\n-> X25519 a\n" + b"x" * 200).decode()
PGP = "-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n"
ENCRYPTED = (
    WHOLE,
    WHOLE[:24],
    f"host=x password={WHOLE}",
    "-----BEGIN AGE ENCRYPTED FILE-----\nabc\n",
    PGP,
    PGP[:40],
    "ENC[AES256_GCM,data:AbC=,iv:x,tag:y,type:str]",
    "ENC[PKCS7,MIIBeQYJKoZI",
    "password=ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAxggEh]",
    "DEC(3)::AGE[plain]!",
    "DEC::PKCS7[plain]!",
    "$ANSIBLE_VAULT;1.1;AES256\n61626364\n",
    "vault:v1:8SDd3WHDOjf7mq69CyCqYjBXAiQQAVZRkFM13ok481zoCmHnSeDX9g==",
    "vault:secret/data/app#password",
    "ref+vault://secret/app#/password",
    "sdb://osenv/DB_PASSWORD",
)
PLAIN = (
    "age: 30",
    "age:30",
    "age:young",
    "image:YWdlLWVuY3J5cHRpb24ub3Jn",
    "average:" + "a" * 190,
    "see ENC[...]",
    "ENC[PKCS7,...]",
    "ENC[1]",
    "$ANSIBLE_VAULT",
    "DEC 24",
    "DEC[1]",
    "INDEC::A[x]!",
    "vault:8200",
    "https://vault:8200/v1",
    "vault:secret/app",
    "vault: a/b#c d",
    "sdb://",
    "/dev/sdb",
    "-----BEGIN CERTIFICATE-----\nabc",
    "-----BEGIN PGP PUBLIC KEY BLOCK-----",
    "a sdb://x/y b",
)


@pytest.mark.parametrize("text", ENCRYPTED)
def test_what_is_encrypted(text: str) -> None:
    assert form_of(text) is not None


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_not(text: str) -> None:
    assert form_of(text) is None


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.write(pillar__top="base: {'*': [p]}\n", top="base: {'*': [a]}\n")
    made.write(
        a="{tmp}/f:\n  file.managed:\n    - contents: {{ pillar.db.password | yaml_dquote }}\n"
        "    - mode: '0600'\n"
    )
    return made


def mistakes(machine: Machine, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = machine.document("check", *words, code=1)["diagnostics"]
    return found


@pytest.mark.parametrize("text", [text for text in ENCRYPTED if not text.startswith("sdb://")])
def test_it_is_in_no_file(machine: Machine, text: str) -> None:
    machine.write(pillar__p=f"user: ann\ndb:\n  password: {json.dumps(text)}\n")
    for words in (["sls", "a"], ["sls", "a", "--test"], ["highstate"], ["show", "pillar"]):
        told = machine(*words, code=1).stderr
        assert "db:password: " in told and f"{machine.folder}/pillar/p.sls:3:13" in told
        assert "plain]" not in told
    (found,) = mistakes(machine)
    assert (found["code"], found["line"], found["column"]) == ("undecrypted", 3, 13)
    assert "decrypt_pillar: [{'db:password': none}]" in found["hint"]
    assert not (machine.folder / "f").exists()


@pytest.mark.parametrize(
    ("head", "text", "cure"),
    [
        ("", WHOLE, "write `#!jinja|yaml|age` as the first line"),
        ("#!yaml\n", WHOLE, "write `#!yaml|age` as the first line"),
        ("#!yaml|gpg\n", WHOLE, "write `#!yaml|gpg|age` as the first line"),
        ("#!yaml|age\n", WHOLE[:60], "the message is not whole: copy all of it"),
        ("", PGP, "write `#!jinja|yaml|gpg` as the first line"),
        ("", PGP[:50], "the message is not whole"),
        ("", ENCRYPTED[6], "has lost its `sops:`"),
        ("", "DEC::AGE[x]!", "`runner secret edit`"),
    ],
)
def test_the_cure_is_named(machine: Machine, head: str, text: str, cure: str) -> None:
    machine.write(pillar__p=f"{head}db: {{password: {json.dumps(text)}}}\n")
    (found,) = mistakes(machine, "a")
    assert cure in found["hint"]


def test_from_elsewhere_than_a_file_of_the_pillar(machine: Machine) -> None:
    machine.write(pillar__p="{}\n")
    given = json.dumps({"db": {"password": WHOLE}})
    assert "db:password: an age message" in machine("sls", "a", "--pillar", given, code=1).stderr
    machine.config["ext_pillar"] = [{"cmd_json": f"echo '{given}'"}]
    told = machine("sls", "a", code=1).stderr
    assert "db:password: an age message" in told and "runner.yaml" in told
    assert "`decrypt_pillar: [{'db:password': age}]` decrypts it" in told


def test_what_is_decrypted_is_written(machine: Machine) -> None:
    tools = machine.folder / "bin"
    tools.mkdir()
    (tools / "age").write_text("#!/bin/sh\nprintf Plain0Mark\n")
    (tools / "age").chmod(0o755)
    machine.environment["PATH"] = f"{tools}:{machine.environment['PATH']}"
    machine.write(pillar__p=f"#!yaml|age\ndb: {{password: '{WHOLE}'}}\n")
    machine("sls", "a")
    assert (machine.folder / "f").read_text() == "Plain0Mark\n"
    machine.write(pillar__p=f"db: {{password: '{WHOLE}'}}\n")
    machine.config["decrypt_pillar"] = [{"db": "age"}]
    machine("sls", "a")


def test_what_is_to_stay_encrypted_is_named(machine: Machine) -> None:
    machine.write(pillar__p=f"db: {{password: '{WHOLE}'}}\n")
    for path in ("db:password", "db"):
        machine.config["decrypt_pillar"] = [{path: "none"}]
        machine("check")
        machine("sls", "a")
    assert (machine.folder / "f").read_text() == f"{WHOLE}\n"
    machine.config["decrypt_pillar"] = [{"db:pass": "none"}]
    machine("sls", "a", code=1)


def test_the_pillar_of_other_machines_is_checked(machine: Machine) -> None:
    machine.write(pillar__top="base: {other: [p]}\n", pillar__p=f"x:\n  - '{WHOLE}'\n", a="{}")
    (found,) = mistakes(machine)
    assert (found["code"], found["line"]) == ("undecrypted", 2)


# ---------------------------------------------------------------- where it would be used


def test_states_are_not_given_it(machine: Machine) -> None:
    machine.write(
        pillar__p="{}\n",
        a=f"""
{{tmp}}/f:
  file.managed:
    - contents: '{WHOLE}'
{{tmp}}/g:
  file.serialize:
    - dataset: {{db: {{password: 'sdb://a/b', other: 'sdb://a/b'}}}}
echo:
  cmd.run:
    - name: "echo {WHOLE}"
    - env: [{{TOKEN: 'vault:secret/app#token'}}]
    - require: [{{file: '{{tmp}}/f'}}]
""",
    )
    found = mistakes(machine, "a")
    assert [(each["code"], each["line"]) for each in found if each["severity"] == "error"] == [
        ("undecrypted", line) for line in (4, 7, 10, 11)
    ]
    machine("sls", "a", code=1)
    assert not (machine.folder / "f").exists()


SDB = "db: {password: 'sdb://env/DB_PASSWORD'}\n"


def test_a_store_is_asked_or_the_state_fails(machine: Machine) -> None:
    machine.config["env"] = {"driver": "env"}
    machine.environment["DB_PASSWORD"] = "Plain0Mark"
    machine.write(pillar__p=SDB)
    (found,) = mistakes(machine, "a")
    assert "sdb.get" in found["hint"] and found["line"] == 3
    read = "{{ salt['config.get']('db:password') }}"
    machine.write(a=f"{{tmp}}/f:\n  file.managed:\n    - contents: '{read}'\n    - mode: '0600'\n")
    machine("sls", "a")
    assert (machine.folder / "f").read_text() == "Plain0Mark\n"
    machine.write(a="{tmp}/f:\n  file.managed:\n    - contents_pillar: db:password\n")
    assert "contents_pillar: a reference to a store" in machine("sls", "a", code=1).stderr
    (machine.folder / "states/t").write_text("pw={{ pillar['db']['password'] }}\n")
    machine.write(a="{tmp}/f:\n  file.managed: [source: salt://t, template: jinja, mode: '0600']\n")
    for words in (["sls", "a"], ["sls", "a", "--test"]):
        result = machine.results(*words, code=None)[f"{machine.folder}/f"]
        assert result["result"] is False
        assert "the template prints db:password of the pillar: a reference" in result["comment"]
    assert (machine.folder / "f").read_text() == "Plain0Mark\n"


def test_nothing_that_earlier_runs_know_gets_around_it(machine: Machine) -> None:
    (machine.folder / "states/t").write_text("pw={{ pillar['db']['password'] }}\n")
    given = "{tmp}/g: {file.managed: [contents: '{{ pillar.db.password }}']}\n"
    machine.write(
        pillar__p=SDB,
        a="{tmp}/f: {file.managed: [source: salt://t, template: jinja]}\n",
        b=given,
        top="base: {'*': [b]}",
    )
    machine.config["decrypt_pillar"] = [{"db": "none"}]
    for _ in range(3):  # the second notes what they render to
        machine("sls", "a")
        machine("highstate")
    del machine.config["decrypt_pillar"]
    result = machine.results("sls", "a", code=None)[f"{machine.folder}/f"]
    assert "the template prints db:password" in result["comment"]
    assert "contents: a reference to a store" in machine("highstate", code=1).stderr


def test_a_plan_that_is_kept_is_not_given_it(machine: Machine) -> None:
    machine.write(
        pillar__p="db: {password: plain}\n",
        b="{tmp}/g: {file.managed: [contents_pillar: 'db:password']}\n",
        top="base: {'*': [b]}",
    )
    for _ in range(3):
        machine("highstate")
    machine.write(pillar__p=SDB)
    assert "contents_pillar: a reference to a store" in machine("highstate", code=1).stderr
    assert (machine.folder / "g").read_text() == "plain\n"


@needs("gpg")
def test_a_message_that_gpg_need_not_decrypt(machine: Machine) -> None:
    """gpg_decrypt_must_succeed: false is for machines without the key, which write nothing."""
    machine.config["gpg_decrypt_must_succeed"] = False
    machine.config["gpg_keydir"] = str(machine.folder / "keys")
    (machine.folder / "keys").mkdir(mode=0o700)
    machine.write(pillar__p=f"#!yaml|gpg\nok: 1\ndb: {{password: {json.dumps(PGP)}}}\n")
    machine.write(b="x:\n  test.nop: [{text: '{{ pillar.ok }}'}]\n")
    machine("sls", "b")
    (found,) = mistakes(machine, "a")
    assert found["code"] == "undecrypted" and found["line"] == 3
