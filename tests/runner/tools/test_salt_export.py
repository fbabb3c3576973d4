# SPDX-License-Identifier: Apache-2.0
"""What `runner fleet export salt` writes; tests/machine/test_salt_master.py uses it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from runner.model.errors import UsageError
from runner.sources.config.load import load
from runner.sources.config.options import Options
from runner.tools.fleet.salt_export import MARK, export, left_out

SETTINGS = {
    "id": "web1",
    "file_roots": {"base": ["states"], "dev": ["dev"]},
    "pillar_roots": {"base": ["pillar"]},
    "nodegroups": {"webs": "web*"},
    "ext_pillar": [{"cmd_yaml": "cat /x"}],
    "failhard": True,
    "gitfs_remotes": ["https://git.example.org/x"],
    "vars": {"colour": "red"},
    "strict": True,
    "saltenv": "dev",
    "grains": {"shelf": 3},
    "prometheus_textfile": "/x.prom",
    "mysql.pass": "secret",
}


@pytest.fixture
def options(tmp_path: Path) -> Options:
    (tmp_path / "runner.yaml").write_text(yaml.safe_dump(SETTINGS))
    return load(str(tmp_path / "runner.yaml"), {}, {})[0]


def test_the_master_gets_what_is_a_masters(options: Options, tmp_path: Path) -> None:
    folder = tmp_path / "salt"
    written = export(options, str(folder))
    assert written == export(options, str(folder))  # again: what is its own is replaced
    assert sorted(written) == sorted(str(path) for path in folder.rglob("*") if path.is_file())
    master = yaml.safe_load((folder / "master").read_text())
    assert master == {
        "file_roots": {
            "base": [f"{tmp_path}/states", f"{folder}/modules"],
            "dev": [f"{tmp_path}/dev"],
        },
        "pillar_roots": {"base": [f"{tmp_path}/pillar"]},
        "roster_file": f"{folder}/roster",
        **{key: SETTINGS[key] for key in ("nodegroups", "ext_pillar", "failhard", "gitfs_remotes")},
    }
    own = json.loads((folder / "modules" / "runner_options.json").read_text())
    assert own == {"strict": True, "vars": {"colour": "red"}}
    modes = {path.name: oct(path.stat().st_mode)[-3:] for path in map(Path, written)}
    assert modes["master"] == modes["roster"] == "600" and modes["runner.py"] == "644"


def test_what_a_master_has_not_is_told(options: Options, tmp_path: Path) -> None:
    told = {problem.subject: problem for problem in left_out(options)}
    assert list(told) == sorted(told, key=list(options.raw).index) and set(told) == {
        "vars",
        "strict",
        "saltenv",
        "grains",
        "prometheus_textfile",
        "mysql.pass",
    }
    assert all(problem.source and problem.source.line for problem in told.values())
    assert "secret" not in str(list(told.values()))
    assert "`state.apply` does not know it" in told["vars"].message
    assert "belongs to the minions" in told["grains"].message


def test_the_roster_has_no_passwords(options: Options, tmp_path: Path) -> None:
    variables: dict[str, Any] = {
        "ansible_host": "10.0.0.1",
        "ansible_user": "admin",
        "ansible_port": 2222,
        "ansible_become": True,
        "ansible_ssh_private_key_file": "/key",
        "ansible_password": "secret",
    }
    hosts = {"web1": variables, "db1": {}}
    export(options, str(tmp_path / "salt"), hosts)
    roster = yaml.safe_load((tmp_path / "salt" / "roster").read_text())
    assert roster == {
        "web1": {"host": "10.0.0.1", "user": "admin", "port": 2222, "priv": "/key", "sudo": True},
        "db1": {"host": "db1"},
    }
    assert "the roster has no password of web1" in str(left_out(options, hosts)[-1])


def test_the_command_line(options: Options, tmp_path: Path) -> None:
    (tmp_path / "hosts.ini").write_text("web1 ansible_host=10.0.0.1 ansible_password=x\n")
    line = [sys.executable, "-c", "from runner.cli import main; main()", "fleet", "export", "salt"]
    line += ["-i", f"{tmp_path}/hosts.ini", "--config", f"{tmp_path}/runner.yaml"]
    done = subprocess.run([*line, f"{tmp_path}/salt"], capture_output=True, text=True)
    names = ["master", "roster", "modules/_modules/runner.py", "modules/runner_options.json"]
    assert done.stdout.splitlines() == [f"{tmp_path}/salt/{name}" for name in names], done.stderr
    roster = yaml.safe_load((tmp_path / "salt" / "roster").read_text())
    assert roster == {"web1": {"host": "10.0.0.1"}}
    assert "vars is not a key of Salt" in done.stderr
    assert "the roster has no password of web1" in done.stderr


def test_a_file_of_others_stays(options: Options, tmp_path: Path) -> None:
    (tmp_path / "roster").write_text("mine: {}\n")
    with pytest.raises(UsageError, match="was not written by"):
        export(options, str(tmp_path))
    assert not (tmp_path / "master").exists()
    (tmp_path / "roster").unlink()
    (tmp_path / "modules").write_text("")
    with pytest.raises(UsageError, match="cannot be"):
        export(options, str(tmp_path))


def test_the_module_is_plain(options: Options, tmp_path: Path) -> None:
    """Salt's own Python may be older, and has no runner."""
    (module,) = (path for path in export(options, str(tmp_path / "salt")) if path.endswith(".py"))
    text = Path(module).read_text()
    assert text.startswith(MARK)
    tree = ast.parse(text, feature_version=(3, 9))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {str(node.module).split(".")[0] for node in imported} == {"__future__", "salt", "typing"}
