"""why, doc, schema, init and the forms of check, through the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from command import Machine

WEB = (
    "defaults:\n  file: {mode: '0640'}\ninclude: [base]\nconf:\n  file.managed:\n    - name: {tmp}/conf\n"
    "    - contents: x\nreload:\n  cmd.wait:\n    - name: 'true'\n    - watch:\n      - file: conf\n"
)


def test_why(machine: Machine) -> None:
    machine.write(top="base:\n  'm*':\n    - web\n", web=WEB, base="{tmp}/d:\n  file.directory: []\n")
    machine("highstate")
    (found,) = json.loads(machine("why", "conf", "--run", "--out", "json").stdout)["local"]
    assert found["declared"].endswith("web.sls:5:3")
    assert found["top"].startswith("m* at ")
    assert found["arguments"]["mode"]["place"].endswith("web.sls:2:16"), "a default has its place"
    assert found["waited_for_by"][0]["state"] == "cmd: reload"
    assert found["last_run"]["result"] is True
    (below,) = json.loads(machine("why", f"file: {machine.folder}/d", "--out", "json").stdout)["local"]
    assert below["included_by"] == ["web"]
    text = machine("why", "reload", "web").stdout
    assert "waits for file: conf (watch" in text
    assert "did you mean conf?" in machine("why", "cnof", code=1).stderr


def test_init_makes_a_tree_that_passes_check_and_applies(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    argv = machine.argv("init", str(folder))[:5]
    subprocess.run(argv, env=machine.environment, check=True, capture_output=True)
    (folder / "pillar/motd.sls").write_text(f"motd:\n  path: {tmp_path}/motd\n  text: Hello\n")
    where = ["--config", str(folder / "runner.yaml"), "--cachedir", str(tmp_path / "c")]
    for command in (["check"], ["highstate", "--test"], ["highstate"]):
        done = subprocess.run([*argv[:3], *command, *where], env=machine.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "motd").read_text() == "Hello\n"
    again = subprocess.run(argv, env=machine.environment, capture_output=True, text=True)
    assert again.returncode == 1
    assert "nothing was written" in again.stderr


LINT = (
    "a:\n  cmd.run:\n    - name: 'true'\nb:\n  cmd.run: # runner: ignore[cmd-unguarded]\n    - name: 'true'\n"
    "/etc/x.pem:\n  file.managed:\n    - watch:\n      - cmd: a\n"
    "c:\n  test.nop:\n    - order: 1\n    - require:\n      - test: d\nd:\n  test.nop:\n    - order: 5\n"
)


def test_check_warns_of_what_is_probably_not_meant(machine: Machine) -> None:
    machine.write(a=LINT)
    found = json.loads(machine("check", "--out", "json").stdout)["diagnostics"]
    places = {(each["code"], each["line"]) for each in found}
    assert places == {("cmd-unguarded", 2), ("secret-mode", 8), ("watch-no-reaction", 10), ("order-overridden", 13)}
    assert {each["severity"] for each in found} == {"warning"}


@pytest.mark.parametrize("form", ["sarif", "github", "json", "pretty"])
def test_check_speaks_to_programs(machine: Machine, form: str) -> None:
    machine.write(a="x:\n  file.managed:\n    - name: /x\n    - modee: '0644'\n")
    out = machine("check", "--out", form, code=1).stdout
    assert "modee" in out
    if form == "sarif":
        (result,) = json.loads(out)["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4
    if form == "github":
        assert out.startswith(f"::error file={machine.folder}/states/a.sls,line=4,col=7::")
    assert machine("check", "--out", form, "--lenient").stdout


def test_check_for_another_machine(machine: Machine, tmp_path: Path) -> None:
    machine.write(a="{% if grains['os'] == 'Plan9' %}\nx:\n  nosuch.state: []\n{% endif %}\n")
    machine("check")
    (tmp_path / "grains.yaml").write_text("os: Plan9\n")
    assert "nosuch.state" in machine("check", "--grains", str(tmp_path / "grains.yaml"), code=1).stdout
    assert "--grains /none" in machine("check", "--grains", "/none", code=1).stderr
