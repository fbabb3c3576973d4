# SPDX-License-Identifier: Apache-2.0
"""A receiver of reports by HTTPS, with a certificate of its own that nobody else knows."""

from __future__ import annotations

import datetime
import http.server
import json
import ssl
import threading
import time
from pathlib import Path
from typing import Any

HUGE = 10_000_000_000


def certificate(folder: Path) -> Path:
    """A file with a new key and its certificate for 127.0.0.1."""
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "receiver")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.PrivateFormat.PKCS8
    pem = key.private_bytes(serialization.Encoding.PEM, plain, serialization.NoEncryption())
    path = folder / "certificate.pem"
    path.write_bytes(pem + made.public_bytes(serialization.Encoding.PEM))
    return path


class Receiver:
    """Takes reports at /STATUS and answers with that status; /hang answers nothing for long, /huge
    10 GB. It keeps what it gets.
    """

    def __init__(self, folder: Path) -> None:
        self.reports: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.elsewhere = "https://192.0.2.1/other"  # where 302 leads
        self.arrived = threading.Event()
        self.delay = 0.0
        self.sent = 0  # of what is huge
        self.pem = certificate(folder)
        handler = type("Handler", (_Handler,), {"receiver": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.pem)
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, path: str) -> str:
        return f"https://127.0.0.1:{self._server.server_port}/{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    receiver: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        receiver = self.receiver
        receiver.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        receiver.headers.append(dict(self.headers))
        receiver.arrived.set()
        time.sleep(receiver.delay)
        if self.path == "/hang":
            time.sleep(1000)
        huge = self.path == "/huge"
        self.send_response(200 if huge else int(self.path[1:]))
        if self.path == "/302":
            self.send_header("Location", receiver.elsewhere)
        self.send_header("Content-Length", str(HUGE if huge else 0))
        self.end_headers()
        try:
            for _ in range(HUGE // 10**6 if huge else 0):
                self.wfile.write(b"x" * 10**6)
                receiver.sent += 10**6
        except OSError:
            self.close_connection = True

    def log_message(self, *words: object) -> None:
        """Nothing: the tests look at what came."""
