# SPDX-License-Identifier: Apache-2.0
"""SLS files of the pillar that sops encrypted.

The program here stands in for sops: it takes the options that sops documents, and its values are
written backwards. (Tried by hand with sops itself, as well.)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import Machine
from starting import SCRIPT

from runner.language.render.renderers import age, gpg, sops

SOPS = r"""
import json, os, re, sys
import yaml
text = open("/dev/stdin").read()
words = sys.argv[1:]
print(words[2], file=open(os.path.dirname(__file__) + "/asked", "a"))
assert [words[0], words[1], words[3], words[5]] == [
    "--decrypt", "--input-type", "--output-type", "/dev/stdin"
], words
keys = os.environ.get("SOPS_AGE_KEY_FILE"), os.environ.get("SOPS_AGE_SSH_PRIVATE_KEY_FILE")
if not keys[0]:
    print("Failed to get the data key required to decrypt the SOPS file.", file=sys.stderr)
    sys.exit(128)
def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key != "sops"}
    if isinstance(value, list):
        return [plain(item) for item in value]
    pattern = r"ENC\[AES256_GCM,data:(.*),type:(\w+)\]"
    match = isinstance(value, str) and re.match(pattern, value, re.S)
    return {"str": str, "int": int}[match[2]](match[1][::-1]) if match else value
data = plain(json.loads(text) if words[2] == "binary" else yaml.safe_load(text))
print(data["data"] if words[4] == "binary" else json.dumps(data), end="")
"""
META = {"mac": "ENC[AES256_GCM,data:xyz,type:str]", "lastmodified": "2026-01-01T00:00:00Z"}


def enc(value: str, kind: str = "str") -> str:
    return f"ENC[AES256_GCM,data:{value[::-1]},type:{kind}]"


def pillar(machine: Machine, *words: str) -> Any:
    return machine.answer("show", "pillar", *words)


def prepare(machine: Machine) -> None:
    tools = machine.folder / "bin"
    tools.mkdir()
    (tools / "sops").write_text(SCRIPT + SOPS)
    (tools / "sops").chmod(0o755)
    machine.environment["PATH"] = f"{tools}:{machine.environment['PATH']}"
    (machine.folder / "keys.txt").write_text("AGE-SECRET-KEY-1X\n")
    machine.config["age_identities"] = ["keys.txt"]
    machine.write(pillar__top="base: {'*': [values, whole]}\n")
    # as `sops --encrypt --input-type yaml --output-type yaml` writes it
    values = {
        "db": {
            "user_unencrypted": "application",
            "password": enc("{{ no template }}"),
            "port": enc("54321", "int"),
            "names": [enc("one-secret"), {"deep": enc("another")}],
        }
    }
    lines = yaml.safe_dump({**values, "sops": META}, sort_keys=False, width=1000)
    (machine.folder / "pillar/values.sls").write_text(f"#!yaml|sops\n{lines}")
    text = "#!jinja|yaml\nwhole: {{ 'by template' }}\n"
    whole = {"data": enc(text), "sops": META}
    (machine.folder / "pillar/whole.sls").write_text(json.dumps(whole))


def test_files_of_sops(machine: Machine) -> None:
    prepare(machine)
    db = {
        "user_unencrypted": "application",
        "password": "{{ no template }}",
        "port": 54321,
        "names": ["one-secret", {"deep": "another"}],
    }
    assert pillar(machine, "--show-secrets") == {"db": db, "whole": "by template"}
    hidden = "**********"
    shown = {**db, "password": hidden, "port": hidden, "names": [hidden, {"deep": hidden}]}
    (machine.folder / "bin/asked").unlink()
    machine.write(pillar__top="base: {'*': [values, whole], 'I@whole:x': [whole]}\n")
    assert pillar(machine) == {"db": shown, "whole": hidden}
    asked = (machine.folder / "bin/asked").read_text().split()
    assert sorted(asked) == ["binary", "yaml"], "the pillar is read twice, each file decrypted once"


def test_the_command_secret_leaves_files_of_sops_alone(machine: Machine) -> None:
    prepare(machine)
    path = machine.folder / "pillar/values.sls"
    path.write_text(path.read_text() + "# -----BEGIN PGP MESSAGE-----x-----END PGP MESSAGE-----\n")
    before = path.read_text()
    machine.environment["EDITOR"] = "touch"
    for action, command in (("rekey", "sops updatekeys"), ("edit", "sops")):
        error = machine("secret", action, str(path), "--with", "gpg", code=1).stderr
        assert "is encrypted by sops" in error and f"`{command} --input-type yaml" in error
    assert path.read_text() == before


def test_sops_gets_the_keys_of_age_and_gpg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssh").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    (tmp_path / "age").write_text("# created\nAGE-SECRET-KEY-1X\n")
    monkeypatch.setattr(age, "HOST_KEYS", (str(tmp_path / "none"), str(tmp_path / "ssh")))
    names = "SOPS_AGE_SSH_PRIVATE_KEY_FILE", "SOPS_AGE_KEY_FILE", "GNUPGHOME"
    for name in names:
        monkeypatch.delenv(name, raising=False)

    def given(**opts: Any) -> list[str | None]:
        return [sops.environment(opts).get(name) for name in names]

    monkeypatch.setattr(gpg, "KEYDIR", str(tmp_path / "none"))
    monkeypatch.setattr(gpg, "OWN_KEYDIR", str(tmp_path / "none"))
    assert given() == [str(tmp_path / "ssh"), None, None]
    own = {"config_dir": str(tmp_path), "age_identities": ["age"]}
    assert given(**own, gpg_keydir=str(tmp_path)) == [None, str(tmp_path / "age"), str(tmp_path)]
    monkeypatch.setenv("SOPS_AGE_KEY_FILE", "/other")
    assert given(**own) == [None, "/other", None]


def test_what_sops_cannot_decrypt(machine: Machine) -> None:
    prepare(machine)
    values: Path = machine.folder / "pillar/values.sls"
    (machine.folder / "keys.txt").unlink()
    machine.environment["SOPS_AGE_KEY_FILE"] = ""
    error = machine("show", "pillar", code=1).stderr
    assert "sops cannot decrypt the file: Failed to get the data key" in error
    assert f"{values}:1" in error and "age_identities" in error
    (machine.folder / "bin/sops").write_text("#!/bin/sh\necho nonsense\n")
    assert "sops gives no JSON" in machine("show", "pillar", code=1).stderr
    machine.environment["PATH"] = str(machine.folder / "nowhere")
    assert "sops, which is not installed" in machine("show", "pillar", code=1).stderr
    values.write_text("#!yaml|sops\na: 1\n")
    error = machine("show", "pillar", code=1).stderr
    assert "not encrypted by sops: it has no `sops:`" in error and f"{values}:1" in error
    machine.config["renderer_blacklist"] = ["sops"]
    assert "the renderer sops is not allowed" in machine("show", "pillar", code=1).stderr
