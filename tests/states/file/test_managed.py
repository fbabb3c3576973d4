# SPDX-License-Identifier: Apache-2.0
"""file.managed beyond the laws: contents, sources, comments, and what failures leave behind."""

from __future__ import annotations

import base64
import filecmp
import functools
import http.server
import os
import ssl
import subprocess
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere, apply, look
from needing import needs, needs_root
from serving import served

from modules import cp
from runner.api import Done, Plan, StateFailed, changes_allowed, running
from states.file.append import append
from states.file.managed import managed

SHA = "4a1e67f2fe1d1cc7b31d0ca2ec441da4778203a036a77da10344c85e24ff0f92"  # of "hello\nworld\n"


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "plain").write_text("hello\nworld\n")
    (root / "t.j2").write_text(
        "{{ name }}|{{ source }}|{{ user }}|{{ mode }}|{{ x }}|{{ y }}|{{ saltenv }}"
    )
    return root


def here(roots: Path, **values: Any) -> HarnessHere:
    return HarnessHere(roots, **values)


CONTENTS: list[tuple[Any, dict[str, Any], bytes]] = [
    ("abc", {}, b"abc\n"),
    ("abc\n\n\n", {}, b"abc\n\n\n"),
    ("abc\n\n\n", {"contents_newline": False}, b"abc"),
    ("", {}, b""),
    (["a\n", "b"], {}, b"a\nb\n"),
    ("a\r\nb\r\n\r\n", {"contents_newline": False}, b"a\nb"),  # pasted from Windows
    ("a\fb\u2028c\x85", {}, "a\fb\u2028c\x85\n".encode()),  # they end no line
    (["a\r\nb", "c\r"], {}, b"a\nb\nc\n"),
    ([1.5, True, None, "x"], {}, b"1.5\nTrue\nNone\nx\n"),
    (12, {}, b"12\n"),
    (True, {}, b"True\n"),
    (b"abc", {}, b"abc\n"),  # what is text counts as text, as with Salt
    (b"abc\n\n", {"contents_newline": False}, b"abc"),
    (b"\xff\x00", {}, b"\xff\x00"),
    ([b"abc", "x"], {}, b"abc\nx\n"),
    ("grüß€", {"encoding": "latin-1", "encoding_errors": "replace"}, b"gr\xfc\xdf?\n"),
    ("{{ x }}", {"template": "jinja", "context": {"x": 1}, "defaults": {"x": 2}}, b"1"),
]


@pytest.mark.parametrize(("contents", "more", "written"), CONTENTS)
def test_contents(tmp_path: Path, contents: Any, more: dict[str, Any], written: bytes) -> None:
    apply(managed, str(tmp_path / "f"), contents=contents, **more)
    assert (tmp_path / "f").read_bytes() == written


PILLAR = {"text": "hello\n", "list": ["a", "b"], "deep": {"er": [{"x": "found"}]}}


@pytest.mark.parametrize(
    ("keys", "written"),
    [
        (["text"], b"hello\n"),
        (["list"], b"a\nb\n"),
        (["text", "list"], b"hello\na\nb\n"),
        (["deep:er:0:x"], b"found\n"),
    ],
)
def test_contents_of_the_pillar(tmp_path: Path, keys: list[str], written: bytes) -> None:
    apply(managed, str(tmp_path / "f"), contents_pillar=keys, current=HarnessHere(pillar=PILLAR))
    assert (tmp_path / "f").read_bytes() == written


@pytest.mark.parametrize("before", [None, b"x"])
def test_a_key_without_a_value_says_nothing_of_the_contents(
    tmp_path: Path, before: bytes | None
) -> None:
    if before is not None:
        (tmp_path / "f").write_bytes(before)
    current = HarnessHere(pillar={"key": None})
    arguments = {"contents_pillar": ["key"], "allow_empty": False, "mode": "0600"}
    apply(managed, str(tmp_path / "f"), current=current, **arguments)
    assert (tmp_path / "f").read_bytes() == (before or b"")
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("value", [0, False, "", [], {}])
def test_a_value_that_is_false_is_empty_where_that_is_not_allowed(
    tmp_path: Path, value: Any
) -> None:
    with pytest.raises(StateFailed, match="contents_pillar key value would result in empty"):
        apply(
            managed,
            str(tmp_path / "f"),
            contents_pillar=["key"],
            allow_empty=False,
            current=HarnessHere(pillar={"key": value}),
        )


def test_a_template_sees_the_arguments_and_the_context_wins(tmp_path: Path, roots: Path) -> None:
    target = str(tmp_path / "f")
    arguments = {
        "source": ["salt://t.j2"],
        "template": "jinja",
        "mode": "0600",
        "defaults": {"x": 1, "y": 2},
    }
    apply(managed, target, **arguments, context={"x": 3}, current=here(roots))
    assert Path(target).read_text() == f"{target}|salt://t.j2|None|0600|3|2|base"
    apply(managed, target, **arguments, context={"name": "mine"}, current=here(roots))
    assert Path(target).read_text().startswith("mine|")


DIFFS: list[tuple[bytes | None, Any, dict[str, Any], str]] = [
    (b"old\nworld\n", "hello\nworld", {}, "--- \n+++ \n@@ -1,2 +1,2 @@\n-old\n+hello\n world\n"),
    (b"tt", "x", {}, "--- \n+++ \n@@ -1 +1 @@\n-tt+x\n"),
    (None, "x", {}, "New file"),
    (None, "x", {"new_file_diff": True}, "--- \n+++ \n@@ -0,0 +1 @@\n+x\n"),
    (None, "x", {"show_changes": False, "new_file_diff": True}, "New file"),
    (b"old", "x", {"show_changes": False}, "<show_changes=False>"),
    (b"a\0b", b"\0", {}, "Replace binary file"),
    (b"a\0b", "x", {}, "Replace binary file with text file"),
    (b"text", b"\0", {}, "Replace text file with binary file"),
]


@pytest.mark.parametrize(("old", "new", "more", "diff"), DIFFS)
def test_diffs_in_both_runs(
    tmp_path: Path, old: bytes | None, new: Any, more: dict[str, Any], diff: str
) -> None:
    if old is not None:
        (tmp_path / "f").write_bytes(old)
    plan = look(managed, str(tmp_path / "f"), contents=new, **more)
    done = apply(managed, str(tmp_path / "f"), contents=new, **more)
    assert plan.changes == done.changes == {"diff": diff}


@pytest.mark.parametrize(
    ("arguments", "mode", "told"),
    [
        ({"contents": "x"}, "0644", None),
        ({"contents": "x", "mode": "0644"}, "0644", "0644"),
        ({"contents": "x", "mode": "0600"}, "0600", None),
        ({"source": ["salt://plain"]}, "0644", "0644"),
        ({"source": ["salt://plain"], "mode": "0600"}, "0600", None),
        ({}, "0644", None),
    ],
)
def test_the_mode_of_a_new_file(
    tmp_path: Path, roots: Path, arguments: dict[str, Any], mode: str, told: str | None
) -> None:
    done = apply(managed, str(tmp_path / "f"), **arguments, current=here(roots))
    assert (
        f"{(tmp_path / 'f').stat().st_mode & 0o7777:04o}",
        (done.changes or {}).get("mode"),
    ) == (mode, told)


COMMENTS: list[tuple[str, dict[str, Any], str, str]] = [
    ("f", {"contents": "new"}, "set to be changed", "File {f} updated"),
    (
        "f",
        {"contents": "old"},
        "File {f} is in the correct state",
        "File {f} is in the correct state",
    ),
    (
        "f",
        {},
        "exists with proper permissions",
        "File {f} exists with proper permissions. No changes made.",
    ),
    ("f", {"mode": "0600"}, "updated with permissions 0600 from its current state of 0640", ""),
    ("n", {}, "set to be changed", "Empty file"),
    (
        "n",
        {"contents": "x", "create": False},
        "not set for creation",
        "File {f} is not present and is not set",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "dry", "real"), COMMENTS)
def test_comments(
    tmp_path: Path, name: str, arguments: dict[str, Any], dry: str, real: str
) -> None:
    (tmp_path / "f").write_text("old\n")
    (tmp_path / "f").chmod(0o640)
    path = str(tmp_path / name)
    planned = look(managed, path, **arguments).comment
    comment = apply(managed, path, **arguments).comment
    assert dry.format(f=path) in planned
    assert comment.startswith(real.format(f=path))
    assert bool(comment) is bool(real)


def test_what_is_missing_may_come_from_another_state(tmp_path: Path) -> None:
    for arguments, missing in (
        ({"name": f"{tmp_path}/no/f", "contents": "x"}, ("file", f"{tmp_path}/no")),
        ({"name": f"{tmp_path}/f", "source": [f"{tmp_path}/src"]}, ("file", f"{tmp_path}/src")),
        (
            {"name": f"{tmp_path}/f", "contents": "x", "user": "no-one-here"},
            ("user", "no-one-here"),
        ),
        (
            {"name": f"{tmp_path}/f", "contents": "x", "group": "no-one-here"},
            ("group", "no-one-here"),
        ),
    ):
        with pytest.raises(StateFailed) as failure:
            look(managed, **arguments)
        assert failure.value.missing == (missing,)


def test_a_plan_provides_the_file_and_its_folders(tmp_path: Path) -> None:
    plan = look(managed, f"{tmp_path}/a/b/f", contents="x", makedirs=True)
    assert isinstance(plan, Plan)
    assert set(plan.provides) == {
        ("file", f"{tmp_path}/a/b/f"),
        ("file", f"{tmp_path}/a"),
        ("file", f"{tmp_path}/a/b"),
    }


def test_folders_above_get_the_mode_with_x(tmp_path: Path) -> None:
    apply(managed, f"{tmp_path}/a/b/f", contents="x", makedirs=True, mode="0640")
    assert [
        f"{(tmp_path / path).stat().st_mode & 0o7777:04o}" for path in ("a", "a/b", "a/b/f")
    ] == ["0750", "0750", "0640"]


# ---------------------------------------------------------------- check_cmd


def test_contents_that_a_check_refuses_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    with pytest.raises(StateFailed, match="check_cmd execution failed\nbad words") as failure:
        apply(managed, f"{tmp_path}/f", contents="x", check_cmd="sh -c 'echo bad words; exit 3'")
    assert failure.value.changes == {}
    assert (tmp_path / "f").read_text() == "old"


def test_a_check_gets_the_new_contents(tmp_path: Path) -> None:
    script = tmp_path / "check"
    script.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/seen\necho "$1" > {tmp_path}/path\n')
    script.chmod(0o755)
    apply(
        managed,
        f"{tmp_path}/f",
        contents="x",
        check_cmd=str(script),
        tmp_dir=str(tmp_path),
        tmp_ext=".conf",
    )
    path = (tmp_path / "path").read_text().strip()
    assert (tmp_path / "seen").read_text() == "x\n"
    assert path.startswith(f"{tmp_path}/") and path.endswith(".conf") and not os.path.exists(path)


def test_a_check_that_cannot_run_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # a folder that cannot be read is another error
    with pytest.raises(StateFailed, match="cannot be run: No such file") as failure:
        apply(managed, f"{tmp_path}/f", contents="x", check_cmd="no-such-program -t")
    assert failure.value.missing[0] == ("command", "no-such-program")
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"check_cmd": "echo 'x"}, "No closing quotation"),
        ({"check_cmd": "true", "tmp_dir": "/no/such"}, "tmp_dir"),
    ],
)
def test_a_check_that_cannot_be_tried(tmp_path: Path, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(StateFailed, match=told) as failure:
        apply(managed, f"{tmp_path}/f", contents="x", **arguments)
    assert failure.value.changes == {} and not (tmp_path / "f").exists()


# ---------------------------------------------------------------- http


class _Server(http.server.SimpleHTTPRequestHandler):
    asked: list[str] = []
    logins: list[str] = []

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.logins.append(self.headers.get("Authorization", ""))
        super().do_GET()


@pytest.fixture
def web(roots: Path) -> Iterator[SimpleNamespace]:
    handler = functools.partial(_Server, directory=str(roots))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        _Server.asked.clear()
        yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", asked=_Server.asked)
        server.shutdown()


def test_http_with_a_hash(tmp_path: Path, web: SimpleNamespace) -> None:
    arguments: dict[str, Any] = {"source": [f"{web.url}/plain"], "source_hash": f"sha256={SHA}"}
    assert isinstance(look(managed, f"{tmp_path}/f", **arguments), Plan)
    assert not (tmp_path / "f").exists()
    apply(managed, f"{tmp_path}/f", **arguments)
    assert (tmp_path / "f").read_text() == "hello\nworld\n"
    web.asked.clear()
    assert isinstance(look(managed, f"{tmp_path}/f", **arguments), Done)
    assert not web.asked, "a file that has the hash is not fetched again"


def test_http_without_a_hash(tmp_path: Path, web: SimpleNamespace) -> None:
    with pytest.raises(StateFailed, match="please set source_hash"):
        look(managed, f"{tmp_path}/f", source=[f"{web.url}/plain"])
    apply(
        managed, f"{tmp_path}/f", source=[f"{web.url}/plain"], skip_verify=True, keep_source=False
    )
    assert isinstance(
        look(managed, f"{tmp_path}/f", source=[f"{web.url}/plain"], skip_verify=True), Done
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": ["{url}/plain"], "source_hash": "0" * 64}, "does not match actual checksum"),
        ({"source": ["{url}/no"], "skip_verify": True}, "HTTP 404"),
        (
            {"source": ["http://127.0.0.1:1/x"], "skip_verify": True},
            "Failed to cache http://127.0.0.1:1/x",
        ),
    ],
)
def test_http_failures(
    tmp_path: Path, web: SimpleNamespace, arguments: dict[str, Any], message: str
) -> None:
    arguments = {
        **arguments,
        "source": [url.replace("{url}", web.url) for url in arguments["source"]],
    }
    with pytest.raises(StateFailed, match=message):
        look(managed, f"{tmp_path}/f", **arguments)


class _Circle(http.server.BaseHTTPRequestHandler):
    """Sends everybody on to where they came from."""

    def do_GET(self) -> None:
        self.send_response(302)
        self.send_header("Location", self.path)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@needs("openssl")
def test_what_keeps_a_download_away_is_told_in_plain_words(machine: Machine) -> None:
    pem = machine.folder / "pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x"
    made = ["openssl", *words.split(), "-keyout", pem, "-out", machine.folder / "crt"]
    subprocess.run(made, check=True, capture_output=True)
    pem.write_text(pem.read_text() + (machine.folder / "crt").read_text())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Circle) as secure:
        secure.socket = context.wrap_socket(secure.socket, server_side=True)
        threading.Thread(target=secure.serve_forever, daemon=True).start()
        urls = {
            f"https://127.0.0.1:{secure.server_port}/": "certificate is not trusted: self-signed ce"
            "rtificate; add who signed it to the certificates of the system, or say `verify_ssl: F",
            f"{served(_Circle)}/": "HTTP 302: its redirections lead in a circle",
            "http://127.0.0.1:1/": "reading http://127.0.0.1:1/: Connection refused",
        }
        for url, told in urls.items():
            words = f"file.managed name={machine.folder}/f source={url} skip_verify=true"
            said = machine.results("single", *words.split(), code=2)
            comment = next(iter(said.values()))["comment"]
            assert told in comment and "Errno" not in comment and "_ssl.c" not in comment
        secure.shutdown()


def test_a_login_in_the_address(tmp_path: Path, web: SimpleNamespace) -> None:
    url = web.url.replace("://", "://zoe:s3cret%21@")
    apply(managed, f"{tmp_path}/f", source=[f"{url}/plain"], skip_verify=True)
    assert (tmp_path / "f").read_text() == "hello\nworld\n"
    assert base64.b64encode(b"zoe:s3cret!").decode() in _Server.logins[-1]
    for arguments in ({"skip_verify": True}, {}, {"source_hash": f"{url}/no.sha256"}):
        with pytest.raises(StateFailed) as failed:
            look(managed, f"{tmp_path}/g", source=[f"{url}/no"], **arguments)
        assert "s3cret" not in failed.value.message
    assert f"reading {web.url}/no.sha256" in failed.value.message


def test_no_copy_is_kept_without_keep_source(tmp_path: Path, web: SimpleNamespace) -> None:
    here = HarnessHere()
    url = f"{web.url}/plain"
    for keep in (True, False):
        apply(
            managed,
            f"{tmp_path}/f{keep}",
            source=[url],
            skip_verify=True,
            keep_source=keep,
            current=here,
        )
        with running(here):
            assert bool(cp.is_cached(url)) is keep


def test_a_template_cannot_replace_itself(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("{{ 1 }}\n")
    with pytest.raises(StateFailed, match="Source file cannot be the same as destination"):
        look(managed, f"{tmp_path}/f", source=[f"{tmp_path}/f"], template="jinja")


def test_diffs_of_what_is_no_utf8(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    (tmp_path / "g").write_bytes("räksmörgås, bread and butter\n".encode("latin-1"))
    done = apply(managed, f"{tmp_path}/f", source=[f"{tmp_path}/g"])
    assert "+räksmörgås, bread and butter" in done.changes["diff"]


def test_the_first_source_that_answers(tmp_path: Path, web: SimpleNamespace) -> None:
    sources = ["salt://no", {f"{web.url}/no": SHA}, {f"{web.url}/plain": SHA}]
    apply(managed, f"{tmp_path}/f", source=sources)
    assert (tmp_path / "f").read_text() == "hello\nworld\n"


def test_a_hash_beside_a_source_is_one_text(machine: Machine) -> None:
    machine.write(
        a="/f: {file.managed: [{source: [{salt://a.sls: [{source_hash: md5=0}]}]}]}",
        b="/f: {file.append: [{sources: [{salt://a.sls: md5=0, salt://b.sls: md5=1}]}]}",
    )
    said = machine("sls", "a", code=1).stderr
    assert "source[0]['salt://a.sls']: expected text, got a list" in said
    said = machine("sls", "b", code=1).stderr
    assert "sources[0]: expected one source and its hash, got 2" in said


# ---------------------------------------------------------------- owners


@needs_root("to give files away")
def test_owners_are_reported_as_written_and_set(tmp_path: Path) -> None:
    done = apply(managed, f"{tmp_path}/f", contents="x", user="daemon", group=1, mode="4755")
    assert done.changes == {"diff": "New file", "user": "daemon", "group": 1, "mode": "4755"}
    at = (tmp_path / "f").stat()
    assert (at.st_uid, at.st_gid, at.st_mode & 0o7777) == (1, 1, 0o4755)
    done = apply(managed, f"{tmp_path}/f", contents="x", user="root")
    assert done.changes == {"user": "root"}
    assert (tmp_path / "f").stat().st_mode & 0o7777 == 0o4755


def test_a_large_source_is_never_in_memory(tmp_path: Path, roots: Path) -> None:
    """bench/memory.py measures more."""
    with (roots / "large").open("wb") as file:
        file.write(b"text\n" * 20)
        file.truncate(32 << 20)
    arguments: dict[str, Any] = {"source": ["salt://large"]}
    apply(managed, str(tmp_path / "small"), source=["salt://plain"], current=here(roots))  # imports
    tracemalloc.start()
    try:
        apply(managed, str(tmp_path / "f"), **arguments, current=here(roots))
        assert apply(managed, str(tmp_path / "f"), **arguments, current=here(roots)).changes == {}
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert filecmp.cmp(tmp_path / "f", roots / "large", shallow=False)


def test_the_difference_of_large_texts_is_not_shown(tmp_path: Path, roots: Path) -> None:
    (roots / "large").write_text("".join(f"new {number:0100}\n" for number in range(45_000)))
    (tmp_path / "f").write_text("old\n")
    plan = look(
        managed, str(tmp_path / "f"), source=["salt://large"], current=here(roots, dry=True)
    )
    assert plan.changes == {"diff": "The difference is not shown: 4.5 MiB instead of 4 bytes"}


def test_a_source_that_changes_between_look_and_write(tmp_path: Path, roots: Path) -> None:
    current = here(roots)
    with running(current):
        outcome = managed(str(tmp_path / "f"), source=["salt://plain"])
        next(outcome)  # type: ignore[arg-type]
        os.utime(roots / "plain", (1, 1))
        with (
            changes_allowed(),
            pytest.raises(StateFailed, match="was changed while it was being read"),
        ):
            next(outcome)  # type: ignore[arg-type]
    assert not (tmp_path / "f").exists()


def test_what_is_edited_has_a_limit(tmp_path: Path, roots: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.truncate(3 << 20)
    with pytest.raises(
        StateFailed,
        match=r"it has 3\.0 MiB, at most 2 MiB are read; `edit_size_limit` \(MiB\) in the",
    ):
        look(
            append,
            str(tmp_path / "f"),
            text=["x"],
            current=here(roots, dry=True, opts={"edit_size_limit": 2}),
        )
    for limit in (3, 0):
        current = here(roots, dry=True, opts={"edit_size_limit": limit})
        assert isinstance(look(append, str(tmp_path / "f"), text=["x"], current=current), Plan)
