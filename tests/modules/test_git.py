# SPDX-License-Identifier: Apache-2.0
"""Looks at real repositories; passwords that no command line shows."""

from __future__ import annotations

import base64
import http.server
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere, own_name
from needing import require

from modules import cmd, git
from runner.api import CommandFailed, StateFailed, changes_allowed, running

REMOTE = """
git init -q -b main r; cd r; echo 1 > f; git add f; git commit -qm one
git tag v1; git tag -a -m v2 v2; git branch dev
cd ..; git clone -q r wt; echo x >> wt/f; echo n > wt/n; git -C wt add n; echo u > wt/u
git -C r worktree add -q ../more dev
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HarnessHere]:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "n")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b")
    monkeypatch.setenv("HOME", str(tmp_path))
    require("git")
    subprocess.run(["sh", "-ec", REMOTE], cwd=tmp_path, check=True, capture_output=True)
    current = HarnessHere(root=tmp_path)
    with running(current):
        yield current


def test_looks(tmp_path: Path) -> None:
    work, head = str(tmp_path / "wt"), git.revision(str(tmp_path / "r"))
    answers: list[tuple[Any, Any]] = [
        (git.current_branch(work), "main"),
        (git.revision(work), head),
        (git.revision(work, short=True), head[:7]),
        (git.rev_parse(work, opts="--show-toplevel"), work),
        (git.list_branches(work), ["main"]),
        (git.list_branches(work, remote=True), ["origin/HEAD", "origin/dev", "origin/main"]),
        (git.list_tags(work), ["v1", "v2"]),
        (git.status(work), {"modified": ["f"], "new": ["n"], "untracked": ["u"]}),
        (git.ls_remote(work, ref="main"), {"refs/heads/main": head}),
        (
            git.ls_remote(remote=str(tmp_path / "r"), opts="--heads").keys(),
            {"refs/heads/dev", "refs/heads/main"},
        ),
        (git.is_worktree(work), False),
        (git.is_worktree(str(tmp_path / "more")), True),
        (git.is_worktree(str(tmp_path / "none")), False),
        (git.remote_get(work), {"fetch": str(tmp_path / "r"), "push": str(tmp_path / "r")}),
        (git.config_get("remote.origin.url", work), str(tmp_path / "r")),
        (git.config_get("remote.origin.url", work, all=True), [str(tmp_path / "r")]),
        (git.config_get("no.such", work), None),
        (git.describe(work), "v2"),
    ]
    for answer, expected in answers:
        assert answer == expected
    assert git.version(versioninfo=True)[0] >= 2


def test_a_detached_head_is_called_so(tmp_path: Path) -> None:
    with changes_allowed():
        git.checkout(str(tmp_path / "wt"), "v1", force=True)
    assert git.current_branch(str(tmp_path / "wt")) == "HEAD"


@pytest.mark.parametrize("function", [git.current_branch, git.revision, git.list_tags, git.status])
def test_what_is_no_repository_fails(tmp_path: Path, function: Any) -> None:
    with pytest.raises(CommandFailed, match="not a git repository"):
        function(str(tmp_path))


def test_changing(tmp_path: Path) -> None:
    with changes_allowed():
        assert git.clone(str(tmp_path), str(tmp_path / "r"), name="again") is True
        assert git.checkout(str(tmp_path / "again"), "dev") != ""
        git.fetch(str(tmp_path / "again"), "origin")
        assert git.pull(str(tmp_path / "again")) == "Already up to date."
        with pytest.raises(CommandFailed, match="did not match any"):
            git.checkout(str(tmp_path / "again"), "nothing")
    assert git.current_branch(str(tmp_path / "again")) == "dev"


class Refusing(http.server.BaseHTTPRequestHandler):
    """Asks for a password and keeps what it is given."""

    given: list[str] = []

    def do_GET(self) -> None:
        header = self.headers.get("Authorization")
        self.send_response(404 if header else 401)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.end_headers()
        if header:
            self.given.append(base64.b64decode(header.removeprefix("Basic ")).decode())

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def server() -> Iterator[str]:
    Refusing.given = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as running_server:
        threading.Thread(target=running_server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running_server.server_port}"
        running_server.shutdown()


def test_a_password_goes_to_its_host_and_to_no_command_line(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    secrets = git.credentials("zoe", "s3cr3t!", f"{server}/r.git")
    with pytest.raises(StateFailed, match="Failed to check remote refs"):
        git.remote_refs(f"{server}/r.git", None, (), secrets)
    assert Refusing.given == ["zoe:s3cr3t!"]
    assert "s3cr3t" not in (tmp_path / "trace").read_text()
    other = git.credentials("zoe", "s3cr3t!", "https://example.org/r.git")
    with pytest.raises(StateFailed, match="Failed to check remote refs"):
        git.remote_refs(f"{server}/r.git", None, (), other)
    assert Refusing.given == ["zoe:s3cr3t!"]


def test_a_key_of_the_tree_is_private(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")
    found = git.keys(["salt://key", "/root/.ssh/other"], None)
    assert found and found[1] == "/root/.ssh/other"
    assert Path(found[0]).read_text() == "secret"
    assert Path(found[0]).stat().st_mode & 0o777 == 0o600
    with pytest.raises(StateFailed, match="identity salt://none not found"):
        git.keys(["salt://none"], None)
    with pytest.raises(StateFailed, match="cannot read the identity"):
        git.keys(["salt://key"], "daemon" if own_name() == "nobody" else "nobody")


CONFIGURATION = """
[user]
	Name = A B
	email
[Color "X.y"]
	uI = 1
	ui = 2
[color]
	ui = auto
[url "https://"]
	insteadOf = git://
	insteadof = "ssh://x\\ny"
"""
KEYS = ("user.name", "USER.nAME", "user.email", "color.ui", "color.X.y.UI", "color.x.y.ui")
KEYS += ("url.https://.insteadOf", "no.such", "nosection", "")
PATTERNS = (r"color\..+", "push.default", "user.na*me", r"[a-z]+\.ui", "User.name", "color.X.y.ui")


def test_one_start_of_git_answers_for_all_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text(CONFIGURATION)

    def said(*words: str) -> list[str]:
        argv = ["git", "config", "--global", "--null", *words]
        return subprocess.run(argv, capture_output=True, text=True).stdout.split("\0")[:-1]

    asked: list[str] = []
    complete = cmd.complete
    monkeypatch.setattr(
        cmd, "complete", lambda argv, **how: (asked.append(argv), complete(argv, **how))[1]
    )
    for key in KEYS:
        assert git.config_values(key, None, None, "global") == said("--get-all", "--", key), key
    assert len(asked) == 1
    for pattern in PATTERNS:
        pairs = [entry.partition("\n") for entry in said("--get-regexp", "--", f"^({pattern})$")]
        found: dict[str, list[str]] = {}
        for key, _, value in pairs:
            found.setdefault(key, []).append(value)
        assert git.config_matching(pattern, None, None, "global") == found, pattern
    before = len(asked)
    with changes_allowed():
        git.config_change([["--replace-all", "user.name", "C"]], None, None, True)
    assert git.config_values("user.name", None, None, "global") == ["C"]
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = somebody else\n")
    assert git.config_values("user.name", None, None, "global") == ["somebody else"]
    assert len(asked) == before + 3
