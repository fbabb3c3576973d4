# SPDX-License-Identifier: Apache-2.0
"""A real Salt master drives runner: the same tree, the same changes, in Salt's own words."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from real_salt import Client, RealSalt, environment_or_skip

from runner import __version__
from runner.sources.config.load import load
from runner.tools.fleet.salt_export import export

ROOT = Path(__file__).parent.parent.parent
TREE = ROOT / "tests" / "salt_tree"
FORMULAS = ("timesync", "rotation", "shell")
VOLATILE = ("start_time", "duration", "pid", "warnings", "stdout_lines")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with a short path: Salt's sockets lie below it."""
    with tempfile.TemporaryDirectory(prefix="salt-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def scratch(folder: Path) -> Path:
    """Below it lies all that the states write."""
    return folder / "scratch"


@pytest.fixture(scope="module")
def salt(folder: Path, scratch: Path) -> Iterator[RealSalt]:
    """A master of the exported tree, and a minion."""
    programs = environment_or_skip()
    pillar = folder / "pillar"
    pillar.mkdir()
    (pillar / "scratch.sls").write_text(
        f"scratch: {scratch}\nnumbers: {{80: yes, a: 'gr\u00fc\u00df \U0001f600'}}\n"
    )
    states = folder / "states"
    states.mkdir()
    (states / "failing.sls").write_text(
        "a: test.fail_without_changes\nb: {test.nop: [require: [test: a]]}\n"
    )
    (states / "colour.sls").write_text("{{ colour }}-{{ grains.shelf }}: test.nop\n")
    formulas = [str(states), *(f"{TREE}/{name}-formula" for name in FORMULAS)]
    settings = {
        "id": "web1.example.org",
        "file_roots": {"base": [str(TREE), f"{ROOT}/sls_examples", *formulas]},
        "pillar_roots": {"base": [f"{TREE}/pillar", f"{ROOT}/sls_examples/pillar", str(pillar)]},
        "vars": {"colour": "red"},
    }
    config = folder / "runner.yaml"
    config.write_text(yaml.safe_dump(settings))
    export(load(str(config), {}, {})[0], str(folder / "exported"), {"web1.example.org": {}})
    salt = RealSalt(programs, folder, str(folder / "exported"))
    salt.minion |= {
        "runner.program": str(Path(sys.executable).parent / "runner"),
        "runner.options": {"cachedir": str(folder / "cache"), "strict": True},
        "grains": {"shelf": 3},
    }
    try:
        salt.start()
        yield salt
    finally:
        salt.stop()


@pytest.fixture(scope="module")
def client(salt: RealSalt) -> Iterator[Client]:
    with salt.client() as client:
        yield client


def essence(results: Any) -> Any:
    """Results without what differs from run to run."""
    if isinstance(results, dict):
        return {key: essence(value) for key, value in results.items() if key not in VOLATILE}
    return results


def contents(folder: Path) -> dict[str, Any]:
    """Return what lies below a folder: kind, mode and text of each path."""
    return {
        str(path.relative_to(folder)): (
            oct(path.lstat().st_mode),
            os.readlink(path) if path.is_symlink() else path.is_file() and path.read_text(),
        )
        for path in folder.rglob("*")
    }


def changed(results: Any) -> list[str]:
    return [key for key, state in results.items() if state["changes"]]


def test_runner_and_salt_make_the_same_changes(
    salt: RealSalt, client: Client, scratch: Path
) -> None:
    """The order matters: each engine begins once, and finds nothing to do after the other."""
    assert client.run("saltutil.sync_modules") == (["modules.runner"], 0)
    done = salt.program("salt", "*", "runner.highstate", "test=True", "--out", "json", "--show-jid")
    job, _, printed = done.stdout.partition("\n")
    (dry,) = json.loads(printed).values()
    assert done.returncode == 0 and not scratch.exists()
    assert len(changed(dry)) > 20 and {dry[key]["result"] for key in changed(dry)} == {None}

    assert client.kept(job.split()[-1]) == dry

    by_runner, code = client.run("runner.highstate")
    assert code == 0 and {state["result"] for state in by_runner.values()} == {True}
    made = contents(scratch)
    assert made["home/alice/bin/hello"][0] == oct(stat.S_IFREG | 0o755)
    assert made["restarts"][1] == "restarted timesync\n"
    again, code = client.run("state.apply")
    assert (changed(again), code) == ([], 0) and contents(scratch) == made

    shutil.rmtree(scratch)
    by_salt, code = client.run("state.apply")
    assert code == 0 and contents(scratch) == made
    assert essence(by_runner) == essence(by_salt)
    again, code = client.run("runner.highstate")
    assert (changed(again), code) == ([], 0) and contents(scratch) == made


def test_failures_and_single_calls_are_jobs_like_others(
    salt: RealSalt, client: Client, folder: Path
) -> None:
    assert client.run("runner.version") == (__version__, 0)
    failed, code = client.run("runner.sls", "failing")
    assert code == 2 and [state["result"] for state in failed.values()] == [False, False]
    problems, code = client.run("runner.sls", ["nonesuch"])
    assert code == 1 and "No matching sls found for 'nonesuch'" in problems[0]
    (named,), code = client.run("runner.sls", "colour", test=True)
    assert code == 0 and named == "test_|-red-3_|-red-3_|-nop"

    text = '- a\n"b"\n'
    made, code = client.run("runner.single", "file.managed", f"{folder}/one", contents=text)
    assert code == 0 and changed(made) and (folder / "one").read_text() == text
    values, code = client.run("runner.call", "pillar.get", "numbers", pillar={"numbers": {"b": 1}})
    assert (values, code) == ({"80": True, "a": "gr\u00fc\u00df \U0001f600", "b": 1}, 0)
    echoed = client.run("runner.call", "test.arg", "- x", 1, more=[1, {"a": None}])
    assert echoed == ({"args": ["- x", 1], "kwargs": {"more": [1, {"a": None}]}}, 0)

    (folder / "states" / "colour.sls").unlink()
    problems, code = client.run("runner.sls", "colour")
    assert code == 1 and "No matching sls found for 'colour'" in problems[0]
    config = stat.S_IMODE((salt.minion_config / "runner.yaml").stat().st_mode)
    assert config == 0o600
