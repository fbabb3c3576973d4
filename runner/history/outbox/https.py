# SPDX-License-Identifier: Apache-2.0
"""Delivery by HTTPS: the JSON is posted; any answer from 200 to 299 means that it is kept.

The certificate is verified always. No redirection is followed, so that the token is sent to
nobody else; of the answer no more than its status is read.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from runner import __version__
from runner.history.outbox.sending import NotDelivered, Refused, Send
from runner.sources.config.report import Destination

SMALL = 65536  # bytes of an answer up to which its connection is used again
HAS_IT = 409  # a receiver says so of a report that it has already
# what is wrong with this report, and stays so
FOR_EVER = (400, 406, 410, 413, 415, 422)
_PLAIN = "its characters have to be visible ASCII"


@contextmanager
def opened(destination: Destination) -> Iterator[Send]:
    """Send reports over one connection. Raises NotDelivered."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"runner/{__version__}",
        **_authorization(destination),
    }
    try:
        context = ssl.create_default_context(cafile=destination.ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise NotDelivered(
            f"{destination.ca_file}: {error.strerror or error}",
            hint="ca_file has certificates (PEM) of those who may sign the server's",
        ) from None
    connection = http.client.HTTPSConnection(
        destination.host, destination.port or 443, timeout=destination.timeout, context=context
    )

    def send(name: str, data: bytes, report: dict[str, Any]) -> None:
        words = {**headers, "Idempotency-Key": report["id"]}
        try:
            connection.request("POST", destination.path, data, words)
            answer = connection.getresponse()
            if len(answer.read(SMALL)) == SMALL:
                connection.close()
        except ssl.SSLCertVerificationError as error:
            raise NotDelivered(
                f"{destination.address}: its certificate is not trusted: {error.verify_message}",
                hint="ca_file names a file with the certificate of who signed it",
            ) from None
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NotDelivered(f"{destination.address}: {_reason(error)}") from None
        _judge(destination, answer.status, answer.getheader("Location"))

    try:
        yield send
    finally:
        connection.close()


def _reason(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return f"no address of this host is known: {error.strerror}"
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    return str(getattr(error, "strerror", None) or f"{type(error).__name__} {error}".strip())


def _judge(destination: Destination, status: int, location: str | None) -> None:
    """Raises NotDelivered unless an answer means that the report is kept."""
    if 200 <= status < 300 or status == HAS_IT:
        return
    message = f"{destination.address} answered {status}"
    if 300 <= status < 400:
        to = urlsplit(location or "").hostname or "another address"
        way_out = "redirections are not followed; write the address that answers itself"
        raise NotDelivered(f"{message}: look at {to}", way_out)
    if status in FOR_EVER:
        raise Refused(message, answered=True)
    hint = "is token_file right?" if status in (401, 403) else None
    raise NotDelivered(message, hint=hint, answered=status >= 500)


def _authorization(destination: Destination) -> dict[str, str]:
    """The header with the token. Raises NotDelivered."""
    if not destination.token_file:
        return {}
    path = destination.token_file
    try:
        with open(path, encoding="ascii") as file:
            token = file.read(SMALL).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else _PLAIN
        raise NotDelivered(f"the token file {path} cannot be used: {reason}") from None
    if not token or not all(33 <= ord(character) < 127 for character in token):
        reason = _PLAIN if token else "it is empty"
        raise NotDelivered(f"the token file {path} cannot be used: {reason}")
    return {"Authorization": f"Bearer {token}"}
