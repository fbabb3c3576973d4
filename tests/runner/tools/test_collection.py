# SPDX-License-Identifier: Apache-2.0
"""The Ansible collection runner.runner, with hosts that are this machine: what a task answers, and
where the pillar is while it runs and afterwards.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import ROOT
from needing import needs_root
from starting import PATIENCE

from runner import __version__
from runner.tools.fleet import collection

pytest.importorskip("ansible")

BIN = Path(sys.executable).parent
REMOTE = ROOT / "ansible/plugins/plugin_utils/remote.py"
TREE = {
    "runner.yaml": "file_roots: {base: [states]}\npillar_roots: {base: [states/pillar]}\n"
    "gitfs_password: of-gitfs\ngit_pillar_privkey: /root/key\nfleet: {forks: 3}\n"
    "cachedir: cache\ngrains: {tier: front}\nsecret_keys: ['*key']\n",
    "states/top.sls": "base: {'*': [web]}",
    "states/pillar/top.sls": "base: {'where:here': [{match: grain}, common]}",
    "states/pillar/common.sls": "web:\n  words: secret of {{ grains.id }} at {{ grains.where }}\n"
    "  key: key-{{ grains.id }}-{{ 'ESROH' | lower | reverse }}\nports: {80: http}\n",
    "states/_grains/where.py": "import os\n\ndef where():\n"
    "    return {'where': os.environ.get('WHERE', 'elsewhere')}\n",
    "states/_modules/spy.py": (ROOT / "tests/support/spy.py").read_text(),
    "states/web.sls": "{tmp}/out/{{ grains.id }}:\n  file.managed:\n    - makedirs: true\n"
    "    - source: salt://files/web.conf\n    - template: jinja\n    - mode: keep\n",
    "states/files/web.conf": "{{ pillar.web.words }} {{ pillar.web.key }} {{ pillar.ports[80] }}"
    " {{ grains.tier }} {{ pillar.get('more') }} {{ salt['spy.seen'](pillar.web.key) }}\n",
    "states/bad.sls": "fails:\n  test.configurable_test_state:\n    - result: False\n"
    "    - changes: False\n    - comment: the key is {{ pillar.web.key }}\n"
    "second:\n  test.nop:\n    - require: [{test: fails}]\n"
    "odd:\n  test.nop:\n    - nonsense: 1\n"
    "kept:\n  test.succeed_with_changes:\n    - noop: true\n"
    "command:\n  cmd.run: [name: echo no disk >&2; exit 3]\n",
    "states/broken.sls": "a:\n  file.nothing: []\n",
    "states/.git/config": "[remote] url = https://user:token@example.org/",
}
TASKS: dict[str, dict[str, Any]] = {
    "planned": {"highstate": {}, "check_mode": True, "diff": True},
    "made": {"highstate": {"pillar": {"more": "released"}}, "diff": True},
    "bad": {"sls": {"name": ["bad"]}},
    "broken": {"sls": {"name": "broken"}},
    "single": {
        "single": {
            "fun": "file.managed",
            "args": {"name": "{tmp}/single", "contents": "{{ '{{' }} a: [b", "mode": "0600"},
        }
    },
    "pillar": {"call": {"fun": "pillar.get", "args": {"key": "web:words"}}},
    "touched": {"call": {"fun": "file.touch", "args": ["{tmp}/touched"]}},
    "touch": {"call": {"fun": "file.touch", "args": ["{tmp}/never"]}, "check_mode": True},
    "wrong": {"call": {"function": "test.ping"}},
    "install": {"bundle": {"folder": "{tmp}/opt", "link": "{tmp}/bin-runner"}},
    "installed": {"bundle": {"folder": "{tmp}/opt", "link": "{tmp}/bin-runner"}},
    "exposed": {"highstate": {"config": "{tmp}/tree/exposed.yaml"}},
}
ON_BOTH = ("made",)  # at once, on one machine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("collection")


def task(name: str, spec: dict[str, Any], folder: Path) -> dict[str, Any]:
    (kind, given), *keywords = spec.items()
    args = {"config": "tree/runner.yaml", "folder": f"{folder}/hosts/{{{{ inventory_hostname }}}}"}
    args = given if kind == "bundle" else {**args, **given}
    made = {f"runner.runner.{kind}": args, "register": f"r_{name}", "ignore_errors": True}
    hosts = "h1, h2" if name in ON_BOTH else "h1"
    return {**made, **dict(keywords), "when": f"inventory_hostname in '{hosts}'"}


def play(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / "ansible-playbook", "-i", "h1,h2", "-c", "local", "play.yml"],
        cwd=folder,
        env={
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": f"{folder}/home",
            "ANSIBLE_REMOTE_TMP": f"{folder}/remote",  # not in root's home
            "ANSIBLE_COLLECTIONS_PATH": collection.path(f"{folder}/collections"),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what each task answered on each host, by `HOST NAME`."""
    for path, text in TREE.items():
        file = folder / "tree" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{tmp}", str(folder)))
    (folder / "tree/states/files/web.conf").chmod(0o640)
    exposed = TREE["runner.yaml"].replace("states/pillar", ".")
    (folder / "tree/exposed.yaml").write_text(exposed)
    (folder / "runner.yaml").write_text("cachedir: tree/cache\n")  # beside the playbook
    tasks = [task(name, spec, folder) for name, spec in TASKS.items()]
    names = {name: f"{{{{ r_{name} }}}}" for name in TASKS}
    keep = {"content": names, "dest": f"{folder}/{{{{ inventory_hostname }}}}.json"}
    plays = [
        {
            "hosts": "all",
            "gather_facts": False,
            "environment": {"WHERE": "here"},
            "vars": {"ansible_python_interpreter": sys.executable},
            "tasks": [*tasks, {"ansible.builtin.copy": keep}],
        }
    ]
    text = json.dumps(plays).replace("{tmp}", str(folder))
    (folder / "play.yml").write_text(text)
    done = play(folder, {})
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "printed").write_text(done.stdout + done.stderr)
    return {
        f"{host} {name}": result
        for host in ("h1", "h2")
        for name, result in json.loads((folder / f"{host}.json").read_text()).items()
    }


def test_a_dry_run(results: dict[str, dict[str, Any]]) -> None:
    result = results["h1 planned"]
    assert (result["changed"], result["failed"], result["exit_code"]) == (True, False, 0)
    (state,) = result["salt"]["local"].values()
    assert state["result"] is None
    assert result["diff"][0]["prepared"].splitlines()[:2] == [state["__id__"], "New file"]


def test_a_highstate(results: dict[str, dict[str, Any]], folder: Path) -> None:
    """The grains were asked on the host, and the secret was in no list of processes."""
    for host in ("h1", "h2"):
        file = folder / "out" / host
        words = f"secret of {host} at here key-{host}-horse http front released []\n"
        assert file.read_text() == words
        assert file.stat().st_mode & 0o777 == 0o640
        made = results[f"{host} made"]
        assert (made["changed"], made["msg"]) == (True, "1 state: 1 changed, 0 failed")
        assert [key.partition("_|-")[0] for key in made["salt"]["local"]] == ["file"]


def test_failures(results: dict[str, dict[str, Any]], folder: Path) -> None:
    bad = results["h1 bad"]
    assert (bad["failed"], bad["changed"], bad["exit_code"]) == (True, True, 2)
    counts, first, *_ = bad["msg"].splitlines()
    assert counts == "5 states: 0 changed, 3 failed", "a failed command is no change as well"
    assert first == "fails: the key is **********"
    assert 'command: Command "echo no disk >&2; exit 3" run: no disk' in bad["msg"].splitlines()
    assert ["nonsense" in text for text in bad["warnings"]] == [True]
    broken = results["h1 broken"]
    assert (broken["failed"], broken["exit_code"]) == (True, 1)
    assert "file.nothing" in broken["msg"]
    assert f"at {folder}/tree/states/broken.sls:2" in broken["msg"]  # as it is called here
    assert f"at {folder}/tree/states/bad.sls:" in bad["warnings"][0]
    assert results["h1 wrong"]["msg"] == "missing required arguments: fun"
    exposed = results["h1 exposed"]["msg"]
    assert "lie in the pillar" in exposed and "each host would get the pillar" in exposed


def test_one_state_and_one_function(results: dict[str, dict[str, Any]], folder: Path) -> None:
    single = results["h1 single"]
    assert (single["changed"], single["failed"]) == (True, False)
    assert (folder / "single").read_text() == "{{ a: [b\n"
    assert results["h1 pillar"]["salt"] == {"local": "secret of h1 at here"}
    assert (results["h1 pillar"]["changed"], "diff" in results["h1 single"]) == (False, False)
    assert results["h1 touched"]["changed"] is True
    assert results["h1 touch"]["changed"] is True
    assert (folder / "touched").exists() and not (folder / "never").exists()


def test_an_installed_bundle(results: dict[str, dict[str, Any]], folder: Path) -> None:
    assert results["h1 install"]["changed"] is True
    assert results["h1 installed"]["changed"] is False
    link = folder / "bin-runner"
    assert os.readlink(link) == results["h1 install"]["program"]
    done = subprocess.run([link, "--version"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.startswith("runner "), done.stderr


def test_what_a_host_has(results: dict[str, dict[str, Any]], folder: Path) -> None:
    """The tree without the pillar, whose folder lies in it; a directory for root alone."""
    host = folder / "hosts/h1"
    assert host.stat().st_mode & 0o777 == 0o700
    (tree,) = (host / "tree").iterdir()
    assert sorted(path.name for path in (tree / "roots/base").iterdir()) == [
        "_grains",
        "_modules",
        "bad.sls",
        "broken.sls",
        "files",
        "top.sls",
        "web.sls",
    ]
    config = yaml.safe_load((tree / "runner.yaml").read_text())
    assert config["grains"] == {"tier": "front"} and "cachedir" not in config
    assert not [key for key in config if key.startswith(("git", "fleet"))]
    assert len(list((host / "bundle").iterdir())) == 1


def test_the_pillar_is_nowhere(results: dict[str, dict[str, Any]], folder: Path) -> None:
    """But for what the states wrote, also as undo keeps it, and what a task asked for."""
    secrets = [f"key-{host}-horse".encode() for host in ("h1", "h2")]
    words = [f"secret of {host} at".encode() for host in ("h1", "h2")]
    for file in folder.rglob("*"):
        inside = str(file.relative_to(folder))
        if file.is_file() and not inside.startswith("out/") and file.suffix != ".contents":
            data = file.read_bytes()
            assert not [text for text in secrets if text in data], file
            asked_for = inside in ("h1.json", "h2.json")
            assert asked_for or not [text for text in words if text in data], file


def test_old_archives_go(tmp_path: Path) -> None:
    """The last three stay, and those that a run holds; what a killed run left goes."""
    remote: Any = runpy.run_path(str(REMOTE))
    names = ["held", "a", "b", "c", "d", f"e.{os.getpid()}.new", "f.4194305.new"]
    for time, name in enumerate(names):
        for kind in ("bundle", "tree"):
            (tmp_path / kind / name).mkdir(parents=True)
            os.utime(tmp_path / kind / name, (time, time))
    descriptor = remote["hold"](str(tmp_path / "tree/held"))
    os.utime(tmp_path / "tree/held", (0, 0))
    remote["remove_old"](str(tmp_path))
    os.close(descriptor)
    stay = ["b", "c", "d", f"e.{os.getpid()}.new"]
    assert sorted(path.name for path in (tmp_path / "bundle").iterdir()) == stay
    assert sorted(path.name for path in (tmp_path / "tree").iterdir()) == [*stay, "held"]


@pytest.mark.parametrize("has_it", [True, False])
def test_the_role_installs_a_python(tmp_path: Path, has_it: bool) -> None:
    """With the package manager, which is recorded here; where that has none, it says so."""
    (tmp_path / "bin").mkdir()
    made = f"/bin/ln -sf '{sys.executable}' {tmp_path}/bin/python3.12"
    made = made if has_it else "echo 'E: none' >&2"
    for name, text in {
        "apt-cache": '[ "$2" != python3.12 ] || echo Package: "$2"',
        "apt-get": f'echo "$@" >>{tmp_path}/asked; [ "$1" = update ] || {made}',
    }.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "bin/grep").symlink_to(str(shutil.which("grep")))
    (tmp_path / "bin/sleep").symlink_to(str(shutil.which("sleep")))
    role = {"role": "runner.runner.bootstrap", "runner_bundle": False}
    plays = [{"hosts": "all", "gather_facts": False, "roles": [role]}]
    (tmp_path / "play.yml").write_text(json.dumps(plays))
    done = play(tmp_path, {"PATH": f"{tmp_path}/bin"})
    assert "install -y -qq python3.12" in (tmp_path / "asked").read_text()
    if has_it:
        assert done.returncode == 0, done.stdout
        assert "changed: [h" in done.stdout
    else:
        assert "This host has no Python 3.11 or newer" in done.stdout
        assert "E: none" in done.stdout


@needs_root("to give a link away")
def test_a_directory_that_others_could_replace(tmp_path: Path) -> None:
    """It is refused: root would start what others put there."""
    remote: Any = runpy.run_path(str(REMOTE))
    (tmp_path / "open").mkdir(mode=0o777)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path)
    os.lchown(tmp_path / "link", 65534, 65534)
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 65534, 65534)
    for path, reason in {
        "open/x": "others can replace",
        "link/x": "a link of another user",
        "theirs": "belongs to user 65534",
        "theirs/x": "others can replace",
    }.items():
        with pytest.raises(remote["Refused"], match=reason):
            remote["own_folder"](str(tmp_path / path))
    assert remote["own_folder"](f"{tmp_path}/mine/x") == f"{tmp_path}/mine/x"
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("mine", "mine/x")] == [0o700] * 2


def test_it_can_be_built(tmp_path: Path) -> None:
    """As Galaxy takes it; each module has its documentation."""
    source = Path(collection.path(str(tmp_path))) / "ansible_collections/runner/runner"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ANSIBLE_COLLECTIONS_PATH": str(tmp_path),
    }
    argv = [BIN / "ansible-galaxy", "collection", "build", "--output-path", tmp_path, source]
    subprocess.run(argv, check=True, env=environment, capture_output=True, timeout=PATIENCE)
    assert (tmp_path / f"runner-runner-{__version__}.tar.gz").exists()
    names = [f"runner.runner.{kind}" for kind in ("highstate", "sls", "single", "call", "bundle")]
    done = subprocess.run(
        [BIN / "ansible-doc", "--json", *names],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert sorted(json.loads(done.stdout)) == sorted(names), done.stderr


def test_the_manual(tmp_path: Path) -> None:
    """Its playbooks are right, and have each module."""
    text = (ROOT / "docs/ansible.md").read_text()
    plays = [
        play
        for block in re.findall(r"```yaml\n(.*?)```", text, re.S)
        for play in yaml.safe_load(block)
    ]
    (tmp_path / "play.yml").write_text(yaml.safe_dump(plays))
    used = {key for play in plays for task in play.get("tasks", ()) for key in task}
    assert used >= {f"runner.runner.{kind}" for kind in ("highstate", "sls", "single", "call")}
    done = subprocess.run(
        [BIN / "ansible-playbook", "--syntax-check", "-i", "all,new,", tmp_path / "play.yml"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "ANSIBLE_COLLECTIONS_PATH": collection.path(str(tmp_path)),
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr


def test_a_wheel_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There it lies beside the module that looks for it."""
    package = tmp_path / "runner/tools/fleet"
    shutil.copytree(collection._source(), package / "collection")
    monkeypatch.setattr(collection, "files", lambda name: package)
    found = Path(collection.path(str(tmp_path / "x")), "ansible_collections/runner/runner")
    assert found.resolve() == package / "collection"
