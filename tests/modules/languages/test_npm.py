# SPDX-License-Identifier: Apache-2.0
"""A real npm, with archives of packages and without a network."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

from command import Machine
from needing import needs

from modules.languages.npm import _is_of


def pack(path: Path, **package: object) -> None:
    """What `npm pack` makes."""
    data = json.dumps(package).encode()
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("package/package.json")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))


PROJECT = '"{tmp}/app": {npm.bootstrap: []}'
AGAIN = """
demo@^1.0: {npm.installed: [{dir: "{tmp}/app"}]}
"{tmp}/demo.tgz": {npm.installed: [{dir: "{tmp}/app"}]}
nosuch: {npm.installed: [{dir: "{tmp}/app"}]}
demo: {npm.removed: [{dir: "{tmp}/app"}]}
"""


@needs("npm")
def test_a_project_with_an_archive(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.environment["npm_config_offline"] = "true"
    pack(tmp_path / "demo.tgz", name="demo", version="1.2.0")
    app = tmp_path / "app"
    app.mkdir()
    (app / "package.json").write_text('{"dependencies": {"demo": "file:../demo.tgz"}}')
    machine.write(project=PROJECT, again=AGAIN)
    assert machine.results("sls", "project", "--test")[str(app)]["result"] is None
    assert [*app.iterdir()] == [app / "package.json"] and not [*tmp_path.glob(".npm/_logs")]
    assert machine.results("sls", "project")[str(app)]["changes"] == {str(app): "Bootstrapped"}
    assert (app / "node_modules/demo/package.json").exists()
    again = machine.results("sls", "again", code=2)
    satisfied = "Package(s) '{}' satisfied by {}"
    assert [result["comment"] for result in again.values()][:2] == [
        satisfied.format("demo@^1.0", "demo@1.2.0"),
        satisfied.format(f"{tmp_path}/demo.tgz", f"{tmp_path}/demo.tgz"),
    ]
    assert "Error installing 'nosuch': npm install: request to" in again["nosuch"]["comment"]
    assert again["demo"]["changes"] == {"demo": "Removed"}
    assert not (app / "node_modules/demo").exists()


NPM = """#!/bin/sh
case "$*" in
*--dry-run*) echo '{"added": 1, "add": [{"name": "demo", "version": "1.2.0"}]}' ;;
*) echo '{}' ;;
esac
"""
PLANNED = """
demo@^1: {npm.installed: [{dir: "{tmp}"}]}
two: {npm.installed: [{pkgs: [demo, demo@1.2.0]}, {dir: "{tmp}"}]}
three: {npm.installed: [{name: demo@^1.1}, {dir: "{tmp}"}]}
elsewhere: {npm.installed: [{name: demo}]}
gone: {npm.removed: [{name: demo}, {dir: "{tmp}"}]}
four: {npm.removed: [{name: demo}, {dir: "{tmp}"}]}
"""


def test_planned_packages_are_seen(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.program("npm", NPM)
    machine.write(planned=PLANNED)
    dry = machine.results("sls", "planned", "--test")
    assert {name: result["result"] for name, result in dry.items()} == {
        "demo@^1": None,
        "two": True,
        "three": None,
        "elsewhere": None,
        "gone": None,
        "four": True,
    }
    assert dry["two"]["comment"].endswith("satisfied by demo@1.2.0, demo@1.2.0")
    assert dry["three"]["comment"] == "Whether npm takes what is planned of demo for demo@^1.1"
    assert dry["four"]["comment"] == "Package 'demo' is not installed"


def test_keys_of_the_cache_belong_to_a_package() -> None:
    of = "make-fetch-happen:request-cache:https://registry.npmjs.org/"
    assert _is_of(f"{of}demo", "demo") and _is_of(f"{of}demo/-/demo-1.0.0.tgz", "demo")
    assert _is_of(f"{of}@a%2fb", "@a/b") and _is_of(f"{of}@a/b/-/b-1.0.0.tgz", "@a/b")
    assert not _is_of(f"{of}demos", "demo") and not _is_of(f"{of}@a/demo", "demo")
