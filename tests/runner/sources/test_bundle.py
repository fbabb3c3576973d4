# SPDX-License-Identifier: Apache-2.0
"""`runner bundle`: the same bytes each time, and a runner for any Python in them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from command import ROOT
from starting import PATIENCE
from wheels import SAFELY

from runner.cli.running.exit_codes import NOT_RUN

RUNNER = [sys.executable, "-c", "from runner.cli import main; main()"]
WORDS = ("call", "config.get", "id", "--id", "here", "--out", "json")


def run(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={"PATH": os.environ["PATH"], "HOME": "/", **environment},
    )


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked bundle, beside its tar file."""
    folder = tmp_path_factory.mktemp("bundle")
    done = run(*RUNNER, "bundle", f"{folder}/runner.tar", PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256((folder / "runner.tar").read_bytes()).hexdigest()
    assert done.stdout == f"{digest}  {folder}/runner.tar\n"
    with tarfile.open(folder / "runner.tar") as archive:
        archive.extractall(folder / "unpacked", **SAFELY)
    return folder


def test_the_same_bytes_each_time(bundle: Path, tmp_path: Path) -> None:
    """From another process, with other hashes, umask and folder, and from the bundle itself."""
    argv = ["sh", "-c", 'umask 077; exec "$@"', "sh", f"{bundle}/unpacked/runner", "bundle"]
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # its order names this Python
    assert run(*argv, f"{tmp_path}/again.tar", PYTHONHASHSEED="7", PATH=path).returncode == 0
    assert (tmp_path / "again.tar").read_bytes() == (bundle / "runner.tar").read_bytes()


def test_what_is_in_it(bundle: Path) -> None:
    with tarfile.open(bundle / "runner.tar") as archive:
        members = archive.getmembers()
    names = [member.name for member in members]
    assert names == sorted(names)
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {
        (0, 0, "", "")
    }
    assert {member.mode for member in members} == {0o644, 0o755}
    assert len({member.mtime for member in members}) == 1
    assert not [name for name in names if "__pycache__" in name or name.startswith("lib/rich")]
    licences = {name.split("-")[0] for name in names if "LICENSE" in name and "dist-info" in name}
    assert licences >= {"lib/jinja2", "lib/pyyaml", "lib/networkx", "lib/typer", "lib/markupsafe"}


def test_what_it_lacks_belongs_to_the_python_of_the_system(bundle: Path) -> None:
    """No pip of an environment of its own could bring it."""
    done = run(f"{bundle}/unpacked/runner", "lsp", PATH="/usr/bin:/bin")
    if "not installed" not in done.stderr:
        pytest.skip("the system has it, or a Python that is too old")
    assert "install 'pygls" in done.stderr and "for /usr/bin/python3" in done.stderr


def pythons() -> dict[str, str]:
    """Pythons of this machine that it has to work with, by their versions."""
    found = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    found += [shutil.which("python3", path="/usr/bin")]
    kept_by_pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    found += map(str, sorted(kept_by_pyenv.glob("3.1[1-9]*/bin/python3.[1-9][1-9]")))
    test = "import sys; sys.exit(print(*sys.version_info[:2]) if sys.version_info > (3, 11) else 1)"
    told = {path: run(path, "-c", test) for path in dict.fromkeys(found) if path}
    return {done.stdout: path for path, done in told.items() if done.returncode == 0}


def test_with_or_without_a_python_named(bundle: Path, tmp_path: Path) -> None:
    """A link to it does, too; no library of that Python comes before its own."""
    link = tmp_path / "runner"
    link.symlink_to(f"{bundle}/unpacked/runner")
    (tmp_path / "jinja2.py").write_text("raise SystemExit('a library of the machine')")
    alone = [[sys.executable, "-I", "-S"], []]
    for python in alone:
        done = run(*python, str(link), *WORDS, PYTHONPATH=str(tmp_path))
        assert yaml.safe_load(done.stdout) == {"local": "here"}, done.stderr
    wrong = run(*alone[0], str(link), "call", "--nope")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (
        NOT_RUN,
        "runner: No such option: --nope",
    )


def test_each_python_applies_the_example(bundle: Path, tmp_path: Path) -> None:
    """Twice: a converged run of one Python is that of another. Its own warnings are errors."""
    words = ["highstate", "--config", str(ROOT / "sls_examples/runner.yaml"), "--out", "json"]
    words += ["--pillar", json.dumps({"scratch": f"{tmp_path}/scratch"})]
    others = {path for version, path in pythons().items() if version != "3 11\n"}
    changed = []
    for python in (sys.executable, *sorted(others)):
        argv = [python, "-W", "error", f"{bundle}/unpacked/runner", *words]
        done = run(*argv, "--cachedir", f"{tmp_path}/cache")
        assert (done.returncode, done.stderr) == (0, ""), done
        states = json.loads(done.stdout)["local"].values()
        changed.append(any(state["changes"] for state in states))
    assert changed == [True, *(False for _ in others)]


def test_the_parser_in_c(bundle: Path, tmp_path: Path) -> None:
    """Where that of the bundle is for another Python, that of python3-yaml is taken, if there is
    one; else the one in Python.
    """
    other = tmp_path / "other"
    shutil.copytree(f"{bundle}/unpacked", other)
    for extension in other.glob("lib/yaml/*.so"):
        extension.unlink()
    (tmp_path / "states/_modules").mkdir(parents=True)
    (tmp_path / "states/_modules/which.py").write_text(
        "import yaml\n\ndef parser():\n    return [yaml.__file__, yaml.__with_libyaml__]\n"
    )
    words = ["call", "which.parser", "--out", "json", "--state-tree", str(tmp_path / "states")]
    words += ["--cachedir", str(tmp_path / "cache")]
    system = Path(str(yaml.__file__)).parent.parent
    for folder, environment, expected in (
        (f"{bundle}/unpacked", {}, [f"{bundle}/unpacked/lib/yaml/__init__.py", True]),
        (other, {"PYTHONPATH": str(system)}, [str(system / "yaml/__init__.py"), True]),
        (other, {}, [f"{other}/lib/yaml/__init__.py", False]),
    ):
        done = run(sys.executable, "-S", f"{folder}/runner", *words, **environment)
        assert yaml.safe_load(done.stdout) == {"local": expected}, done.stderr


def test_an_old_python(bundle: Path, tmp_path: Path) -> None:
    """sh asks for each newer one by its name first, and passes over a script that has none."""
    shim = tmp_path / "python3.15"
    shim.write_text("#!/bin/sh\necho pyenv: command not found >&2\nexit 127\n")
    shim.chmod(0o755)
    for name in ("python3", "python3.14"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$2"\n')
        program.chmod(0o755)
    launcher = f"{bundle}/unpacked/runner"
    assert run(launcher, "x", PATH=str(tmp_path)).stdout == "python3.14 x\n"
    (tmp_path / "python3.14").unlink()
    assert run(launcher, "x", PATH=str(tmp_path)).stdout == "python3 x\n"
    (tmp_path / "python3").unlink()
    done = run(launcher, "x", PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (
        1,
        "runner: there is no Python here; it needs 3.11 or newer\n",
    )


def test_it_cannot_be_written(tmp_path: Path) -> None:
    done = run(*RUNNER, "bundle", f"{tmp_path}/none/x.tar", PYTHONPATH=str(ROOT))
    assert done.returncode == NOT_RUN
    assert f"{tmp_path}/none/x.tar cannot be written: No such file" in done.stderr


def test_it_takes_the_place_of_files_only(tmp_path: Path) -> None:
    """Of no device either: `runner bundle /dev/null` by root."""
    os.mkfifo(tmp_path / "pipe")
    for path, why in ((tmp_path / "pipe", "something else than a file"), (tmp_path, "directory")):
        done = run(*RUNNER, "bundle", str(path), PYTHONPATH=str(ROOT))
        assert (done.returncode, done.stdout) == (NOT_RUN, "")
        assert done.stderr.startswith(f"error: {path} cannot be written: ") and why in done.stderr
    assert (tmp_path / "pipe").is_fifo()


def test_it_makes_a_tree_to_begin_with(bundle: Path, tmp_path: Path) -> None:
    done = run(f"{bundle}/unpacked/runner", "init", f"{tmp_path}/new", "--containerfile")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new/.github/workflows/check.yml").is_file()
