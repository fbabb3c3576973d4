"""Execution functions that templates call."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from harness import HarnessHere

from modules import dnsutil, environ, hashutil, mine, random
from modules import http as web
from runner.api import running


@pytest.fixture(autouse=True)
def here() -> Iterator[HarnessHere]:
    current = HarnessHere(
        opts={"id": "m1", "mine_functions": {"test.ping": [], "alias": [{"mine_function": "test.echo"}, "x"]}}
    )
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (lambda: dnsutil.check_ip("127.0.0.1"), True),
        (lambda: dnsutil.check_ip("x"), False),
        (lambda: dnsutil.A("127.0.0.1"), ["127.0.0.1"]),
        (lambda: hashutil.digest("abc"), "900150983cd24fb0d6963f7d28e17f72"),
        (lambda: hashutil.base64_b64encode("get salted"), "Z2V0IHNhbHRlZA=="),
        (lambda: hashutil.base64_b64decode("Z2V0IHNhbHRlZA=="), "get salted"),
        (lambda: len(random.get_str(12, chars="a")), 12),
        (lambda: random.seed(10) == random.seed(10), True),
        (lambda: random.rand_int(3, 3), 3),
        (lambda: random.hash_("abc", "md5"), "900150983cd24fb0d6963f7d28e17f72"),
        (lambda: random.str_encode("abc"), "YWJj\n"),
        (lambda: environ.get("NO_SUCH_VARIABLE", "d"), "d"),
        (lambda: environ.has_value("PATH"), True),
        (lambda: mine.get("*", "test.ping"), {"m1": True}),
        (lambda: mine.get("*", "alias"), {"m1": "x"}),
        (lambda: mine.get("other", "test.ping"), {}),
        (lambda: mine.get("*", "no.such"), {}),
    ],
)
def test_answers(found: Any, wanted: Any) -> None:
    assert found() == wanted


def test_http_query() -> None:
    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code = 200 if self.path == "/ok?a=1" else 404
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b'{"x": 1}')

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        answer = web.query(f"{base}/ok", params={"a": 1}, decode=True, status=True)
        assert (answer["dict"], answer["status"], answer["body"]) == ({"x": 1}, 200, '{"x": 1}')
        assert web.query(f"{base}/none")["error"] == "HTTP 404: Not Found"
        server.shutdown()
    assert "error" in web.query("http://127.0.0.1:1/")
