# SPDX-License-Identifier: Apache-2.0
"""How states that ask servers, set variables or do nothing are tried. The server is one of this
process.
"""

from __future__ import annotations

import http.server
from pathlib import Path
from typing import Any

from laws import Scenario, scenario
from serving import served


class _Answers(http.server.BaseHTTPRequestHandler):
    """/CODE answers with that code; the text tells what was asked."""

    def do_GET(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        told = (
            f"{self.command} {self.path} {sent} by {self.headers.get('X-Who')}"
            f" {self.headers.get('User-Agent')}"
        )
        self.send_response(int(self.path[1:4]))
        self.end_headers()
        self.wfile.write(f"{told} {self.headers.get('Authorization', '')}".encode())

    do_POST = do_PUT = do_GET

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def with_files(folder: Path) -> None:
    (folder / "body").write_text("whole {{ word }}")
    (folder / "headers").write_text("X-Who: {{ word }}")


def ask(path: str, wait: bool = False, **given: Any) -> Scenario:
    function = "http.wait_for_successful_query" if wait else "http.query"
    return scenario(function, with_files, name=served(_Answers) + path, converges=False, **given)


FILES = {
    "data_file": "{tmp}/body",
    "header_file": "{tmp}/headers",
    "template_dict": {"word": "zoe"},
}
TRUST = {
    "verify_ssl": False,
    "ca_bundle": None,
    "cert": None,
    "backend": "requests",
    "agent": "me",
    "timeout": 5,
}
SCENARIOS = [
    ask("/200", fails="Either match text (match) or a status code (status) is required."),
    ask("/200", status=200, match="GET /200", **TRUST),
    ask("/404", status=200, breaks="Status 200 was not found."),
    ask("/200", match="nope", breaks='Match text "nope" was not found.'),
    ask("/200", match="G.T", match_type="pcre", status="2..", status_type="pcre"),
    ask(
        "/200",
        match="x.z",
        match_type="pcre",
        status="4..",
        status_type="pcre",
        breaks="Match pattern",
    ),
    ask("/404", status=[200, 404], status_type="list", test_url=served(_Answers) + "/200"),
    ask(
        "/500", status=[200, 404], status_type="list", breaks="Statuses [200, 404] were not found."
    ),
    ask("/500", status=200, wait_for=0.2, request_interval=0.1, breaks="Status 200 was not found."),
    ask(
        "/200",
        method="POST",
        data="a=1",
        header_dict={"X-Who": "zoe"},
        match="POST /200 a=1 by zoe",
    ),
    ask("/200", params={"q": "1"}, header_list=["X-Who: kim"], match="/200?q=1  by kim"),
    ask(
        "/200",
        method="PUT",
        data_render=True,
        header_render=True,
        match="whole zoe by zoe",
        **FILES,
    ),
    ask(
        "/200",
        wait=True,
        wait_for=0.2,
        request_interval=0.1,
        method="PUT",
        data_render=True,
        header_render=True,
        match="by zoe",
        **FILES,
    ),
    ask("/200", username="u", password="p", match="Basic dTpw"),
    ask(
        "/200",
        wait=True,
        status=200,
        wait_for=1,
        request_interval=0.1,
        method="POST",
        data="x",
        match="POST",
    ),
    ask(
        "/200",
        wait=True,
        match="G.T",
        match_type="pcre",
        status="2..",
        status_type="pcre",
        params={},
        **TRUST,
    ),
    ask(
        "/200",
        wait=True,
        username="u",
        password="p",
        status=200,
        header_dict={},
        header_list=[],
        test_url="http://x",
    ),
    Scenario("http.query name=http://127.0.0.1:1/ status=200", breaks="refused", converges=False),
    Scenario("environ.setenv name=LAWS_A value=x update_minion=true"),
    Scenario(
        "environ.setenv name=many false_unsets=true", {"value": {"LAWS_B": "1", "LAWS_C": False}}
    ),
    Scenario("environ.setenv name=LAWS_NEVER value=false false_unsets=true", plans=False),
    Scenario("environ.setenv name=LAWS_D value=1", fails="must be string, dict or False"),
    Scenario("environ.setenv name=LAWS_D permanent=true", {"value": "1"}, fails="no registry here"),
    Scenario("environ.setenv name=LAWS_E clear_all=true", {"value": "1"}, machine=True),
]
KINDS = tuple(
    """
    beacons clouds engines executors grains log_handlers matchers modules output outputters
    pillar proxymodules renderers resources returners sdb serializers states thorium tops utils
    wrapper all
    """.split()
)
NEW = {"refresh": True, "extmod_whitelist": ["x"], "extmod_blacklist": ["y"]}
SCENARIOS += [Scenario(f"saltutil.sync_{kind}", NEW, plans=False) for kind in KINDS]
