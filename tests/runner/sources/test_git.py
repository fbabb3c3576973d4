# SPDX-License-Identifier: Apache-2.0
"""Copies of repositories: fetched, verified, exported; with the real git, ssh-keygen and gpg."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from repositories import GpgSigner, Repository, SshSigner
from starting import PATIENCE

from runner.sources.git import GitError, Mirror, Remote, Signers, Untrusted, mirror_folder


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "origin")
    repository.commit({"top.sls": "base: {}\n", "web/init.sls": "a: test.nop\n"})
    return repository


@pytest.fixture
def mirror(tmp_path: Path, origin: Repository) -> Mirror:
    remote = Remote(origin.url)
    return Mirror(mirror_folder(str(tmp_path / "cache"), remote), remote)


def test_branches_tags_and_commits(origin: Repository, mirror: Mirror) -> None:
    assert not mirror.exists()
    first = origin.git("rev-parse", "HEAD")
    origin.git("tag", "v1")
    origin.git("tag", "-a", "v2", "-m", "two")
    origin.git("branch", "feature/x")
    second = origin.commit({"new": "n\n"})
    mirror.fetch()
    assert mirror.exists() and time.time() - (mirror.fetched_at() or 0) < 60
    assert mirror.branches() == {"main": second, "feature/x": first}
    assert mirror.tags() == {"v1": first, "v2": first}
    for ref in ("v1", "v2", "feature/x", first, first[:10], "refs/tags/v2"):
        assert mirror.commit_of(ref) == first
    assert mirror.is_ancestor(first, second)
    assert not mirror.is_ancestor(second, first)
    assert not mirror.is_ancestor("0" * 40, first)
    assert sorted(mirror.files(first)) == ["top.sls", "web/init.sls"]
    assert sorted(mirror.files(first, "web")) == ["init.sls"]
    assert mirror.read(first, "web/init.sls") == b"a: test.nop\n"
    assert mirror.tree_hash(first) == origin.git("rev-parse", f"{first}^{{tree}}")
    assert mirror.tree_hash(first, "web") == origin.git("rev-parse", f"{first}:web")
    assert mirror.tree_hash(first, "nothing") == ""
    for wrong in ("mian", "--all", "main~1", "v1^{tree}", "HEAD", "", "deadbeef"):
        with pytest.raises(GitError):
            mirror.commit_of(wrong)
    with pytest.raises(GitError) as error:
        mirror.commit_of("mian")
    assert error.value.hint == "did you mean main?"


def test_a_branch_that_is_called_like_a_commit(origin: Repository, mirror: Mirror) -> None:
    first = origin.git("rev-parse", "HEAD")
    second = origin.commit({"new": "n\n"})
    for kind in ("heads", "tags"):
        origin.git("update-ref", f"refs/{kind}/{first}", second)
    mirror.fetch()
    assert mirror.commit_of(first) == first
    assert mirror.commit_of(f"refs/heads/{first}") == second


def test_what_is_gone_or_moved_there_is_so_here(origin: Repository, mirror: Mirror) -> None:
    origin.git("branch", "old")
    origin.git("tag", "v1")
    mirror.fetch()
    origin.git("branch", "-D", "old")
    origin.git("branch", "old/er")  # a folder where a branch was
    new = origin.commit()
    origin.git("tag", "-f", "v1")
    origin.commit({}, "--amend", message="another history")
    mirror.fetch()
    assert set(mirror.branches()) == {"main", "old/er"}
    assert mirror.tags()["v1"] == new
    assert mirror.branches()["main"] == origin.git("rev-parse", "main")


def test_an_export(
    tmp_path: Path, origin: Repository, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    (origin.folder / "web/run").write_text("#!/bin/sh\n")
    (origin.folder / "web/run").chmod(0o755)
    (origin.folder / "web/latest").symlink_to("run")
    (origin.folder / "up").symlink_to("web/../web/init.sls")
    # neither attributes nor filters of the user change what is written
    origin.commit({".gitattributes": "*.sls filter=upper export-ignore\n", "a b\tc": "odd"})
    (tmp_path / ".gitconfig").write_text('[filter "upper"]\n\tsmudge = tr a-z A-Z\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    mirror.fetch()
    commit = mirror.commit_of("main")
    all_of_it = tmp_path / "all"
    mirror.export(commit, str(all_of_it))
    assert (all_of_it / "top.sls").read_text() == "base: {}\n"
    assert (all_of_it / "a b\tc").read_text() == "odd"
    assert os.access(all_of_it / "web/run", os.X_OK)
    assert os.readlink(all_of_it / "web/latest") == "run"
    assert (all_of_it / "up").read_text() == "a: test.nop\n"
    assert not (all_of_it / ".git").exists()
    mirror.export(commit, str(tmp_path / "root"), root="web")
    assert sorted(os.listdir(tmp_path / "root")) == ["init.sls", "latest", "run"]
    mirror.export(commit, str(tmp_path / "part"), paths=["web/", "top.sls"])
    assert sorted(os.listdir(tmp_path / "part")) == ["top.sls", "web"]
    for words in ({"paths": ["wbe"]}, {"paths": ["*.sls"]}, {"root": "nothing"}):
        with pytest.raises(GitError):
            mirror.export(commit, str(tmp_path / f"wrong-{words}"[:20]), **words)  # type: ignore
    with pytest.raises(GitError, match="File exists"):
        mirror.export(commit, str(all_of_it))


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "d/..", "web/../../x"])
def test_a_link_out_of_the_tree(
    tmp_path: Path, origin: Repository, mirror: Mirror, target: str
) -> None:
    (origin.folder / "d").symlink_to(".")  # `d/..` looks as if it stayed inside
    (origin.folder / "out").symlink_to(target)
    origin.commit()
    mirror.fetch()
    with pytest.raises(GitError, match=r"the link out leads out of the tree"):
        mirror.export(mirror.commit_of("main"), str(tmp_path / "tree"))


@pytest.mark.parametrize("url", ["--upload-pack=false", "", "ext::sh -c true", "a\nb"])
def test_urls_that_git_is_not_given(tmp_path: Path, url: str) -> None:
    with pytest.raises(GitError):
        Mirror(str(tmp_path / "copy.git"), Remote(url))


def test_failures_name_the_repository_and_no_password(tmp_path: Path) -> None:
    with pytest.raises(GitError) as error:
        Mirror(str(tmp_path / "a.git"), Remote(f"file://{tmp_path}/missing")).fetch()
    assert f"file://{tmp_path}/missing" in error.value.message
    assert error.value.hint == "is the URL right?"
    url = "https://me:pa55word@localhost:1/a.git"
    with pytest.raises(GitError) as error:
        Mirror(str(tmp_path / "b.git"), Remote(url)).fetch()
    assert "pa55word" not in str(error.value) and "https://me@localhost:1" in str(error.value)
    with pytest.raises(GitError, match="no such file"):
        Mirror(str(tmp_path / "c.git"), Remote("x@localhost:a", deploy_key="/none")).fetch()


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_server_that_hangs(tmp_path: Path, silent: int) -> None:
    remote = Remote(f"http://127.0.0.1:{silent}/a.git", timeout=0.5)
    with pytest.raises(GitError, match=r"no end after 0\.5 s"):
        Mirror(str(tmp_path / "a.git"), remote).fetch()


def test_the_login_is_given_to_its_server_and_to_nobody_else(tmp_path: Path) -> None:
    """Not in the command line, which all users see, nor to a server that it redirects to."""
    heard: list[str] = []
    other = socket.create_server(("127.0.0.1", 0))
    server = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{other.getsockname()[1]}/b.git/info/refs"

    def serve(listening: socket.socket, answers: list[str]) -> None:
        for answer in answers:
            connection, _ = listening.accept()
            with connection:
                heard.append(connection.recv(65536).decode())
                connection.sendall(answer.encode())

    wants = "HTTP/1.0 401 No\r\nWWW-Authenticate: Basic realm=x\r\n\r\n"
    threads = [
        threading.Thread(
            target=serve,
            args=(server, [wants, f"HTTP/1.0 302 There\r\nLocation: {address}\r\n\r\n"]),
            daemon=True,
        ),
        threading.Thread(target=serve, args=(other, [wants]), daemon=True),
    ]
    for thread in threads:
        thread.start()
    url = f"http://me:pa55word@127.0.0.1:{server.getsockname()[1]}/a.git"
    remote = Remote(url, timeout=PATIENCE)
    assert "pa55word" not in remote.address
    with pytest.raises(GitError) as error:
        Mirror(str(tmp_path / "a.git"), remote).fetch()
    assert "pa55word" not in str(error.value)
    assert "Authorization: Basic bWU6cGE1NXdvcmQ=" in heard[1]
    assert not any("Authorization" in request for request in (heard[0], *heard[2:]))
    server.close()
    other.close()


def test_a_copy_that_was_hurt_is_made_anew(origin: Repository, mirror: Mirror) -> None:
    mirror.fetch()
    stale = Path(mirror.folder, "refs/heads/main.lock")
    stale.parent.mkdir(parents=True, exist_ok=True)
    stale.touch()  # as a killed fetch leaves it
    new = origin.commit()
    mirror.fetch()
    assert mirror.branches()["main"] == new
    Path(mirror.folder, "HEAD").write_text("")
    shutil.rmtree(Path(mirror.folder, "refs"))
    mirror.fetch()
    assert mirror.branches()["main"] == new


@pytest.mark.parametrize("lost", ["main", "main^{tree}", "main:web/init.sls"])
def test_a_copy_that_lost_an_object_is_made_anew(
    tmp_path: Path, origin: Repository, mirror: Mirror, lost: str
) -> None:
    mirror.fetch()
    name = origin.git("rev-parse", lost)
    file = Path(mirror.folder, "objects", name[:2], name[2:])
    file.chmod(0o600)
    file.write_bytes(b"")
    commit = origin.git("rev-parse", "HEAD")
    away = tmp_path / "away"
    os.rename(origin.folder, away)
    with pytest.raises(GitError):
        mirror.export(commit, str(tmp_path / "none"))
    assert Path(mirror.folder, "objects").exists()  # what is left stays
    os.rename(away, origin.folder)
    origin.commit({"new": ""})
    mirror.fetch()
    mirror.export(commit, str(tmp_path / "out"))
    assert (tmp_path / "out/web/init.sls").read_text() == "a: test.nop\n"
    assert not Path(f"{mirror.folder}.damaged").exists()


def test_ssh_signatures(tmp_path: Path, origin: Repository, mirror: Mirror) -> None:
    ann, eve = SshSigner(tmp_path, "ann"), SshSigner(tmp_path, "eve")
    file = tmp_path / "signers"
    file.write_text(ann.line)
    signers = Signers("ssh", str(file))
    origin.git("commit", "--allow-empty", "-q", "-S", "-m", "signed", **ann.variables)
    signed = origin.git("rev-parse", "HEAD")
    origin.git("tag", "-s", "v1", "-m", "one", "HEAD~1", **ann.variables)
    origin.git("update-ref", "refs/tags/v9", "refs/tags/v1")  # an old tag under a new name
    origin.git("tag", "-s", "foreign", "-m", "eve's", **eve.variables)
    origin.git("tag", "plain")
    mirror.fetch()
    assert mirror.verify("main", signers).startswith("ann@example.org (ED25519 key SHA256:")
    assert mirror.verify(signed, signers) and mirror.verify("plain", signers)
    assert mirror.verify("v1", signers), "the tag is signed, its commit is not"
    wrong = {
        "HEAD~1": "is not signed",
        "v9": "moved to another name",
        "foreign": "its key is not there",
    }
    wrong[origin.git("rev-parse", "HEAD~1")] = wrong.pop("HEAD~1")
    for ref, reason in wrong.items():
        with pytest.raises(Untrusted, match=reason):
            mirror.verify(ref, signers)
    keys = tmp_path / "none.gpg"
    keys.write_bytes(b"")
    with pytest.raises(Untrusted, match="an ssh signature; a gpg signature"):
        mirror.verify("main", Signers("gpg", str(keys)))
    with pytest.raises(GitError, match="no such file"):
        mirror.verify("main", Signers("ssh", "/none"))
    # a signature over something else
    text = origin.git("cat-file", "commit", signed).replace("signed", "forged") + "\n"
    forged = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=origin.folder,
        input=text,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    origin.git("branch", "forged", forged)
    mirror.fetch()
    with pytest.raises(Untrusted, match="the signature does not fit"):
        mirror.verify("forged", signers)


def test_gpg_signatures(tmp_path: Path, origin: Repository, mirror: Mirror) -> None:
    ann, eve = GpgSigner(tmp_path, "ann"), GpgSigner(tmp_path, "eve")
    origin.git("commit", "--allow-empty", "-q", "-S", "-m", "signed", **ann.variables)
    mirror.fetch()
    assert mirror.verify("main", Signers("gpg", str(ann.keys))).startswith("ann@example.org (")
    keybox = Path(ann.variables["GNUPGHOME"]) / "pubring.kbx"
    assert mirror.verify("main", Signers("gpg", str(keybox)))
    with pytest.raises(Untrusted, match="its key is not there"):
        mirror.verify("main", Signers("gpg", str(eve.keys)))
    signers = tmp_path / "signers"
    signers.write_text(SshSigner(tmp_path, "ann").line)
    with pytest.raises(Untrusted, match="a gpg signature; an ssh signature"):
        mirror.verify("main", Signers("ssh", str(signers)))
    with pytest.raises(GitError, match="holds no public keys"):
        mirror.verify("main", Signers("gpg", str(signers)))
