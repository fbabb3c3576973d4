# SPDX-License-Identifier: Apache-2.0
"""A server that speaks as much of the API of Vault and OpenBao as reading secrets takes: KV stores
of version 1 and 2, tokens, AppRole, namespaces. Written after its documentation.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hvs.tokentokentoken"
ROLE, SECRET_ID = "role-1111-2222", "secret-id-3333-4444"
LOGGED_IN = "hvs.loggedinbyapprole"
STORES = {"secret/": "2", "team/kv/": "2", "old/": "1"}


class VaultServer(ThreadingHTTPServer):
    """secrets: by path, without data/. asked: (method, path, headers). broken: an answer to all."""

    daemon_threads = True

    def __init__(self, secrets: dict[str, Any], namespace: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.secrets = secrets
        self.namespace = namespace
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.broken: tuple[int, dict[str, str], bytes] | None = None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not trust the certificate closes the connection."""


class Answers(BaseHTTPRequestHandler):
    server: VaultServer

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_LIST(self) -> None:
        self._answer("LIST")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _answer(self, method: str) -> None:
        address = urlsplit(self.path)
        path = unquote(address.path).removeprefix("/v1/")
        self.server.asked.append((method, path, {k.lower(): v for k, v in self.headers.items()}))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.server.broken:
            return self._send(*self.server.broken)
        if (self.headers.get("X-Vault-Namespace") or "") != self.server.namespace:
            return self._json(403, {"errors": ["permission denied"]})
        if path == "auth/approle/login":
            given = json.loads(body)
            if (given.get("role_id"), given.get("secret_id")) != (ROLE, SECRET_ID):
                return self._json(400, {"errors": ["invalid role or secret ID"]})
            return self._json(200, {"auth": {"client_token": LOGGED_IN, "lease_duration": 60}})
        token = self.headers.get("X-Vault-Token")
        if token not in (TOKEN, LOGGED_IN) or path.startswith(("forbidden/", "secret/data/no/")):
            return self._json(403, {"errors": ["1 error occurred:\n\t* permission denied\n\n"]})
        if path == "auth/token/lookup-self":
            data = {"id": token, "ttl": 0, "num_uses": 0, "renewable": False, "expire_time": None}
            return self._json(200, {"data": {"creation_time": 1, **data}})
        if path.startswith("sys/internal/ui/mounts/"):
            return self._mount(path.removeprefix("sys/internal/ui/mounts/"))
        query = parse_qs(address.query)
        return self._secret(path, query, method == "LIST" or "list" in query)

    def _mount(self, path: str) -> None:
        for mount, version in STORES.items():
            if f"{path}/".startswith(mount):
                options = {"version": version} if version == "2" else None
                return self._json(
                    200, {"data": {"path": mount, "type": "kv", "uuid": mount, "options": options}}
                )
        return self._json(403, {"errors": ["preflight capability check returned 403"]})

    def _secret(self, path: str, query: dict[str, list[str]], listed: bool) -> None:
        path += "/" if listed and not path.endswith("/") else ""
        mount = next((name for name in STORES if path.startswith(name)), "")
        inner = path.removeprefix(mount)
        kind = "data" if STORES.get(mount) == "1" else inner.partition("/")[0]
        if STORES.get(mount) == "2":
            inner = inner.partition("/")[2]
        if listed and (kind == "metadata" or STORES.get(mount) == "1"):
            folder = f"{mount}{inner}".rstrip("/") + "/"
            below = [name.removeprefix(folder) for name in self.server.secrets]
            names = [name for name in below if f"{folder}{name}" in self.server.secrets]
            keys = sorted({name if "/" not in name else name.split("/")[0] + "/" for name in names})
            return self._json(200, {"data": {"keys": keys}}) if keys else self._json(404, {})
        found = self.server.secrets.get(f"{mount}{inner}") if kind == "data" else None
        if found is None:
            return self._json(404, {"errors": []})
        if STORES[mount] == "1":
            return self._json(200, {"data": found})
        if found == "deleted":
            return self._json(404, {"data": {"data": None, "metadata": {"version": 1}}})
        number = int(query.get("version", ["2"])[0])
        data = found if number == 2 else {"password": "the one before"}
        return self._json(200, {"data": {"data": data, "metadata": {"version": number}}})

    def _json(self, status: int, value: dict[str, Any]) -> None:
        self._send(status, {"Content-Type": "application/json"}, json.dumps(value).encode())

    def _send(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(server: VaultServer, certificate: str = "") -> Iterator[str]:
    """The address of the server while it runs. certificate: a file with it and its key, for TLS."""
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    try:
        yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
