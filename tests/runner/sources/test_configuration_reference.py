# SPDX-License-Identifier: Apache-2.0
"""The reference of the configuration: complete, true, and what `runner doc config` shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import ROOT, Machine

from modules._machine.fetching import MOST_MEGABYTES, MOST_SECONDS
from modules.file._contents.limits import EDITED
from runner.cli.commands.fleet import FORKS
from runner.language.render.jinja.bound import SECONDS
from runner.language.render.renderers import CIPHERS
from runner.language.render.renderers.age import HOST_KEYS
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.sources.config import key_descriptions, key_manual, keys
from runner.sources.config.file import read_settings, safe_load
from runner.sources.config.options import Options
from runner.sources.config.report import KEYS as REPORT_KEYS
from runner.sources.gitfs import settings as repositories
from runner.sources.trees import source
from runner.support.files.text import LARGEST

KEYS = key_manual.keys()
PAGES = key_descriptions.pages()
OF_MODULES = [name for name, page in PAGES.items() if page.group == key_descriptions.MODULES]


def test_each_key_that_the_program_reads_is_described() -> None:
    assert set(keys.SETTINGS) <= PAGES.keys()
    assert all(keys.is_known(name) for name in PAGES)
    assert {key_descriptions.MODULES, key_descriptions.REPOSITORIES} <= {
        page.group for page in PAGES.values()
    }
    for parent, below in (
        ("tree", source.KEYS),
        ("report", {"to", "timeout"}.union(*REPORT_KEYS.values())),
    ):
        documented = {name.partition(".")[2] for name in PAGES if f"{parent}." in name}
        assert documented == set(below)
    settings = {*repositories.GITFS, *repositories.GIT_PILLAR}
    assert set(key_descriptions.of_repositories()) == settings


@pytest.mark.parametrize("module", ["docker", "mysql", "postgres", "redis"])
def test_settings_of_modules_are_described(module: str) -> None:
    texts = "".join(path.read_text() for path in (ROOT / "modules").glob(f"*/{module}/*.py"))
    read = set(re.findall(r"\boption\([\"'](\w+)[\"']\)", texts.replace("_option", "option")))
    assert read and {f"{module}.{name}" for name in read} == {
        key for key in OF_MODULES if key.startswith(f"{module}.")
    }


def test_types_and_defaults_are_said_once() -> None:
    options = Options()
    for name, page in PAGES.items():
        if page.type:
            assert not keys.types(name), name
        if page.default and name not in ("default_include", "backup_mode"):
            assert keys.DEFAULTS.get(name) is None, name
            assert not getattr(options, name, None), name


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("render_limit", SECONDS),
        ("sls_size_limit", LARGEST),
        ("edit_size_limit", EDITED),
        ("fleet.forks", FORKS),
        ("age_identities", list(HOST_KEYS)),
        ("decrypt_pillar_renderers", list(CIPHERS)),
        ("tree.keep", 3),
        ("foresee.size", MOST_MEGABYTES),
        ("foresee.seconds", MOST_SECONDS),
        ("tree.fetch_timeout", 60),
        ("history_runs", 500),
        ("gitfs_update_interval", 60),
    ],
)
def test_defaults_are_those_of_the_program(name: str, default: Any) -> None:
    shown = yaml.safe_load(KEYS[name].default)
    assert shown == default


def test_examples_are_taken_without_a_complaint(tmp_path: Path) -> None:
    file = tmp_path / "runner.yaml"
    for name, key in KEYS.items():
        example = yaml.safe_load(key.example)
        value = example
        for part in [name] if name in OF_MODULES else name.split("."):
            value = value[part]
        # what its parent cannot do without
        if name.startswith("tree."):
            example["tree"].setdefault("remote", "/srv/x.git")
        elif name.startswith("report."):
            example["report"].setdefault("to", REPORTS.get(name))
        if name == "include":  # its files are not there
            continue
        file.write_text(yaml.safe_dump(example))
        warnings: list[Diagnostic] = []
        read_settings(str(file), safe_load, warnings, [])
        assert [each for each in warnings if each.code != "unused-key"] == [], name


REPORTS = {
    "report.timeout": "file:/srv/reports",
    **dict.fromkeys(("report.password", "report.passfile"), "postgresql://r@db/runs"),
    **dict.fromkeys(("report.token_file", "report.ca_file"), "https://db/runs"),
    **dict.fromkeys(("report.key_file", "report.known_hosts_file"), "ssh://r@db/runs"),
}


def test_doc_config(machine: Machine) -> None:
    listed = machine("doc", "config").stdout
    assert "tree" in listed and "tree.verify" not in listed
    shown = machine("doc", "config", "tree.keep").stdout
    assert "  Type: a whole number\n  Unit: trees\n  Default: 3\n  Since: 0.1.0\n" in shown
    below = machine.answer("doc", "config", "report")
    assert [key["name"] for key in below][:2] == ["report", "report.to"]
    assert "### `wait`" in machine("doc", "config", "wait", "--markdown").stdout
    assert "config.get  (execution function)" in machine("doc", "config.get").stdout


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("failhart", "there is no configuration key failhart\n  hint: did you mean failhard?"),
        ("tree.remot", "did you mean tree.remote?"),
        ("state_output", "is a key of Salt without effect in runner\n  hint: it may stay; `-v`"),
        (
            "master_port",
            "without effect in runner\n  hint: it may stay; templates see it in `opts`",
        ),
        ("schedule", "without effect in runner\n  hint: `runner schedule install`"),
        ("mysq.host", "did you mean mysql.host?"),
        ("crowd.url", "a module of yours may read it: `runner doc crowd`"),
    ],
)
def test_keys_that_are_not_described(key: str, message: str) -> None:
    with pytest.raises(RunnerError) as problem:
        key_manual.entries(key)
    assert message in f"{problem.value.message}\n  hint: {problem.value.hint}"


def test_only_config_has_keys(machine: Machine) -> None:
    told = machine("doc", "file.managed", "tree", code=1).stderr
    assert "nothing about file.managed tree" in told
    assert "hint: did you mean failhard?" in machine("doc", "config", "failhart", code=1).stderr
