# SPDX-License-Identifier: Apache-2.0
"""A web server of this process, for as long as the tests run."""

from __future__ import annotations

import functools
import http.server
import threading


@functools.cache
def served(handler: type[http.server.BaseHTTPRequestHandler]) -> str:
    """The address at which a handler answers."""
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{found.server_port}"
