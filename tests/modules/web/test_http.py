# SPDX-License-Identifier: Apache-2.0
"""http.*: what is asked, and what is made of the answer."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere
from starting import PATIENCE

from modules._machine import resolver
from modules._texts.url import ascii_url
from modules.web import http as web
from runner.api import RunnerError, StateFailed, running

BODIES = {
    "/xml": ("text/xml", b'<r><a>1</a><b c="2"><d>x</d></b><e/></r>'),
    "/yaml": ("application/x-yaml", b"a: 1\n"),
    "/plain": ("text/plain", b"hello"),
    "/bad": ("application/json", b"{nope"),
    "/latin": ("text/html; charset=iso-8859-1", "ü".encode("latin-1")),
    "/entity": ("text/xml", b'<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>'),
}


class Server(http.server.BaseHTTPRequestHandler):
    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        path = self.path.partition("?")[0]
        code = {"/404": 404, "/away": 302, "/near": 302}.get(path, 200)
        headers = {key.lower(): value for key, value in self.headers.items()}
        echo = {"method": self.command, "path": self.path, "body": body, "headers": headers}
        kind, data = BODIES.get(path, ("application/json", json.dumps(echo).encode()))
        self.send_response(code)
        if code == 302:
            host = "localhost" if path == "/away" else "127.0.0.1"
            self.send_header("Location", f"http://{host}:{self.server.server_port}/x")  # type: ignore[attr-defined]
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(
            target=server.serve_forever, daemon=True, kwargs={"poll_interval": 0.01}
        ).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[HarnessHere]:
    for name in "http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY".split():
        monkeypatch.delenv(name, raising=False)
    current = HarnessHere()
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, {"method": "GET", "path": "/x", "body": ""}),
        ({"method": "put", "data": '{"a": 1}'}, {"method": "PUT", "body": '{"a": 1}'}),
        ({"method": "POST", "data": {"k": "v", "l": "x y"}}, {"body": "k=v&l=x+y"}),
        ({"params": {"b": 2, "c": "x y"}}, {"path": "/x?b=2&c=x+y"}),
        ({"params": {"b": "ö"}}, {"path": "/x?b=%C3%B6"}),
        ({"backend": "requests", "verify_ssl": False, "timeout": 5}, {"path": "/x"}),
    ],
)
def test_what_is_asked(url: str, options: dict[str, Any], wanted: dict[str, Any]) -> None:
    found = web.query(f"{url}/x", decode=True, **options)["dict"]
    assert {key: found[key] for key in wanted} == wanted


def test_an_address_that_is_no_ascii(url: str) -> None:
    found = web.query(f"{url}/ä b%20c?x=ö", decode=True)["dict"]
    assert found["path"] == "/%C3%A4%20b%20c?x=%C3%B6"
    assert ascii_url("http://u:p@bücher.example:80/x") == "http://u:p@xn--bcher-kva.example:80/x"


def test_headers(url: str, tmp_path: Path) -> None:
    (tmp_path / "h").write_text("X-File: {{ y }}\nno header\n")
    options: dict[str, Any] = {
        "header_dict": {"X-A": 1, "X-B": "first"},
        "header_list": ["X-B: second"],
        "header_file": str(tmp_path / "h"),
        "header_render": True,
        "template_dict": {"y": "Z"},
        "username": "u",
        "password": "p",
        "agent": "me",
    }
    sent = web.query(f"{url}/x", decode=True, **options)["dict"]["headers"]
    wanted = {
        "x-a": "1",
        "x-b": "second",
        "x-file": "Z",
        "authorization": "Basic dTpw",
        "user-agent": "me",
    }
    assert {key: sent[key] for key in wanted} == wanted
    (tmp_path / "d").write_text("{{ y }}")
    found = web.query(f"{url}/x", method="POST", data_file=str(tmp_path / "d"), decode=True)
    assert found["dict"]["body"] == "{{ y }}"
    with pytest.raises(StateFailed, match="cannot be read"):
        web.query(f"{url}/x", data_file="/no/such")


@pytest.mark.parametrize(
    ("path", "options", "wanted"),
    [
        ("/plain", {}, {"body": "hello"}),
        (
            "/plain",
            {"status": True, "text": True},
            {"body": "hello", "status": 200, "text": "hello"},
        ),
        ("/plain", {"decode": True}, {"body": "hello", "text": "hello"}),
        ("/yaml", {"decode": True}, {"body": "a: 1\n", "dict": {"a": 1}}),
        ("/plain", {"decode": True, "decode_type": "yaml"}, {"body": "hello", "dict": "hello"}),
        ("/latin", {}, {"body": "ü"}),
        ("/plain", {"test": True, "test_url": "x"}, None),
        ("/plain", {"test": True}, {}),
    ],
)
def test_what_is_answered(url: str, path: str, options: dict[str, Any], wanted: Any) -> None:
    if "test_url" in options:
        options, wanted = (
            {"test": True, "test_url": f"{url}/yaml"},
            {"test": True, "body": "a: 1\n"},
        )
    assert web.query(url + path, **options) == wanted


def test_xml_and_headers(url: str) -> None:
    assert web.query(f"{url}/xml", decode=True)["dict"] == [
        {"a": "1"},
        {"b": [{"d": "x"}]},
        {"e": None},
    ]
    assert web.query(f"{url}/plain", headers=True)["headers"]["Content-Type"] == "text/plain"
    with pytest.raises(StateFailed, match="not XML: it declares entities"):
        web.query(f"{url}/entity", decode=True)


def test_codes_from_400_on(url: str) -> None:
    found = web.query(f"{url}/404")
    assert (found["status"], found["error"]) == (404, "HTTP 404: Not Found")
    assert "body" in found
    found = web.query(f"{url}/404", raise_error=False, status=True, decode=True)
    assert (found["status"], found["dict"]["path"], "error" in found) == (404, "/404", False)


def test_redirections_take_no_login_to_another_server(url: str) -> None:
    asked: Any = {"username": "u", "password": "p", "header_dict": {"X-Api-Key": "k", "X-Own": 1}}
    near = web.query(f"{url}/near", decode=True, **asked)["dict"]["headers"]
    away = web.query(f"{url}/away", decode=True, **asked)["dict"]["headers"]
    assert near["authorization"] and near["x-api-key"] == "k"
    assert away["x-own"] == "1" and not {"authorization", "x-api-key"} & away.keys()


def test_an_answer_without_end_is_not_read(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "LARGEST", 4)
    with pytest.raises(StateFailed, match="the answer is larger than"):
        web.query(f"{url}/plain")


def test_no_answer() -> None:
    assert web.query("http://127.0.0.1:1/") == {"error": "[Errno 111] Connection refused"}
    assert web.query("http://127.0.0.1:1/", status=True) == {
        "status": 0,
        "error": "[Errno 111] Connection refused",
    }
    for bad in ("rubbish", "", "file:///etc/hostname", "ftp://127.0.0.1/"):
        with pytest.raises(StateFailed, match=f"Unsupported url scheme: {bad}"):
            web.query(bad)


def test_a_name_that_nobody_resolves_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "resolve", lambda host, version=None: [])
    assert web.query("https://user@example.invalid:99/") == {
        "error": "[Errno -2] Name or service not known"
    }


def test_wrong_arguments_are_named(url: str) -> None:
    with pytest.raises(StateFailed, match="the answer is not JSON"):
        web.query(f"{url}/bad", decode=True)
    assert (
        "Invalid decode_type" in web.query(f"{url}/plain", decode=True, decode_type="nope")["error"]
    )
    with pytest.raises(RunnerError, match="text_out is not supported"):
        web.query(f"{url}/plain", text_out="/tmp/x")


def test_waiting(url: str) -> None:
    assert web.wait_for_successful_query(f"{url}/plain") == {"body": "hello"}
    assert web.wait_for_successful_query(f"{url}/404", status=404)["status"] == 404
    began = time.monotonic()
    found = web.wait_for_successful_query(f"{url}/404", wait_for=0.05, request_interval=0.01)
    assert (found["error"], time.monotonic() - began < PATIENCE) == ("HTTP 404: Not Found", True)
