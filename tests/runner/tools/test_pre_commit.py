# SPDX-License-Identifier: Apache-2.0
"""pre-commit itself, with the hook of .pre-commit-hooks.yaml as one of the tree's own repository:
what installs the hook elsewhere needs a network.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from command import ROOT

pytest.importorskip("pre_commit", reason="the extra `dev` brings it")

TREE = {
    "runner.yaml": "file_roots: {base: [states]}\ncachedir: ../cache\nstate_dir: ../state\n",
    "states/web.sls": "include: [users]\n\n/tmp/nginx.conf:\n  file.managed:\n"
    "    - source: salt://nginx.conf\n    - template: jinja\n",
    "states/users.sls": "a: {test.nop: []}\n",
    "states/nginx.conf": "{% for port in [80] %}listen {{ port }};{% endfor %}\n",
    "README": "A tree.\n",
}
Commit = Callable[[], subprocess.CompletedProcess[str]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree in git whose hook has found no mistake."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    own = {**hook, "language": "system", "args": ["--config", "runner.yaml"]}
    hooks = {"repos": [{"repo": "local", "hooks": [own]}]}
    tree = tmp_path / "tree"
    for name, text in {**TREE, ".pre-commit-config.yaml": yaml.safe_dump(hooks)}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


@pytest.fixture
def commit(tree: Path, tmp_path: Path) -> Commit:
    """Commit all that was changed, by way of the hook."""
    programs = Path(sys.executable).parent
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def call(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv, cwd=tree, env=environment, capture_output=True, text=True, check=False
        )

    def commit() -> subprocess.CompletedProcess[str]:
        call("git", "add", "--all")
        return call("git", "-c", "user.name=me", "-c", "user.email=me@x", "commit", "-mx")

    call("git", "init", "-q")
    assert call("pre-commit", "install").returncode == 0
    done = commit()
    assert done.returncode == 0 and "Passed" in done.stderr, done.stderr
    return commit


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("states/users.sls", None, "users"),
        ("states/nginx.conf", "{% for port in [80] %}\n", "nginx.conf:1"),
        ("states/web.sls", "a: {test.nop: [{b: 1}]}\n", "web.sls:1"),
    ],
)
def test_a_commit_that_breaks_the_tree_is_refused(
    tree: Path, commit: Commit, name: str, text: str | None, message: str
) -> None:
    if text is None:
        (tree / name).unlink()
    else:
        (tree / name).write_text(text)
    done = commit()
    assert done.returncode == 1 and "Failed" in done.stderr
    assert message in done.stderr


def test_another_commit_is_not(tree: Path, commit: Commit) -> None:
    (tree / "README").write_text("The tree.\n")
    assert commit().returncode == 0
