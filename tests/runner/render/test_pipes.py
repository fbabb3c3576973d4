"""Render pipes: each renderer by its shebang, good and bad."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import Machine


def shown(machine: Machine) -> Any:
    found = json.loads(machine("show", "low-sls", "a", "--out", "json").stdout)["local"]
    return [(chunk["__id__"], chunk["name"]) for chunk in found]


@pytest.mark.parametrize(
    "text",
    [
        "#!jinja|yaml\n{{ 'x' }}:\n  test.nop:\n    - name: n\n",
        "#!yaml\nx:\n  test.nop:\n    - name: n\n",
        '#!json\n{"x": {"test.nop": [{"name": "n"}]}}\n',
        '#!jinja|json\n{"{{ "x" }}": {"test.nop": [{"name": "n"}]}}\n',
        "#!py\ndef run():\n    return {'x': {'test.nop': [{'name': __salt__['test.echo']('n')}]}}\n",
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
        ("#!pyobjects\n", "is one of Salt's that runner does not have", "a.sls:1:3"),
        ("#!json\n{\n  nonsense\n", "the file is no JSON", "a.sls:3:3"),
        ("#!py\ndef run():\n    return 1 / 0\n", "ZeroDivisionError", "a.sls:3"),
        ("#!py\nx = 1\n", "has to define run()", "a.sls:1"),
        ("#!py\ndef run(:\n", "Python:", "a.sls:2"),
        ("#!jinja\nx\n", "end with text", "a.sls:1"),
        ("#!yaml|gpg\nx:\n  test.nop:\n    - name: |\n{message}", "the PGP message cannot be decrypted", "a.sls:4"),
    ],
)
def test_mistakes(machine: Machine, text: str, message: str, place: str) -> None:
    armour = "        -----BEGIN PGP MESSAGE-----\n\n        nonsense\n        -----END PGP MESSAGE-----\n"
    machine.config["gpg_keydir"] = str(machine.folder / "keys")
    (machine.folder / "keys").mkdir(mode=0o700)
    machine.write(a=text.replace("{message}", armour))
    error = machine("sls", "a", code=1).stderr
    assert message in error
    assert place in error


@pytest.mark.skipif(not shutil.which("gpg"), reason="gpg is not installed")
def test_gpg_in_the_pillar_is_decrypted_and_shown_nowhere(machine: Machine) -> None:
    keys = machine.folder / "keys"
    keys.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(keys), "--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"]
    subprocess.run([*gpg, "--quick-generate-key", "runner", "default", "default"], check=True, capture_output=True)
    encrypt = [*gpg, "--trust-model", "always", "--armor", "--encrypt", "--recipient", "runner"]
    done = subprocess.run(encrypt, input="hunter2 by gpg", capture_output=True, text=True, check=True)
    indented = "".join(f"  {line}\n" for line in done.stdout.splitlines())
    machine.config["gpg_keydir"] = str(keys)
    machine.write(
        a="{tmp}/f:\n  file.managed:\n    - contents_pillar: word\n"
        "say:\n  cmd.run:\n    - name: echo {{ pillar.word }}\n",
        pillar__top="base:\n  '*':\n    - p\n",
        pillar__p=f"#!yaml|gpg\nword: |\n{indented}",
    )
    out = machine("sls", "a").stdout
    assert Path(machine.folder / "f").read_text() == "hunter2 by gpg\n"
    assert "hunter2" not in out
    assert "**********" in out
    assert "hunter2" not in machine("show", "low-sls", "a", "--out", "json").stdout
    subprocess.run(["gpgconf", "--homedir", str(keys), "--kill", "all"], check=False)
