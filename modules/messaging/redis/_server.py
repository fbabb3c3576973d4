# SPDX-License-Identifier: Apache-2.0
"""Talking to a redis server in its own protocol (RESP 2), over one connection for each call."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import IO, Annotated, Any

from runner.api import CommandFailed, Group, Line, Record, Secret, here, refuse_unforeseen

CONNECT_SECONDS = 5
ANSWER_SECONDS = 60
SERVICES = ("redis-server", "redis", "valkey-server", "valkey")
_MOST = 256 << 20  # bytes of an answer

Answer = str | int | None | list[Any]


class RedisServer(Record):
    """Where a server is.

    host: The server; without it redis.host of the configuration, else 127.0.0.1.
    port: The port of the server; without it redis.port of the configuration, else 6379.
    db: The number of the database; without it redis.db of the configuration, else 0.
    password: The password of the server; without it redis.password of the configuration.
    """

    host: Line | None = None
    port: int | None = None
    db: int | None = None
    password: Secret[Line] | None = None

    def ask(self, *words: object) -> Answer:
        """The answer to a command. Raises CommandFailed with what the server says."""
        return self.ask_all([words])[0]

    def ask_all(self, commands: Sequence[Sequence[object]]) -> list[Answer]:
        """The answers to several commands. Raises CommandFailed with what the server says."""
        password = self.password if self.password is not None else _option("password")
        db = self.db if self.db is not None else _option("db")
        first: list[tuple[object, ...]] = [("AUTH", password)] if password else []
        first += [("SELECT", db)] if db else []
        host, port = str(self.host or _option("host") or "127.0.0.1"), self._port()
        refuse_unforeseen(host)
        try:
            with socket.create_connection((host, port), CONNECT_SECONDS) as connection:
                connection.settimeout(ANSWER_SECONDS)
                with connection.makefile("rb") as answers:
                    whole = []
                    for words in (*first, *commands):
                        connection.sendall(_request(words))
                        whole.append(_read(answers))
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            if isinstance(error, UnicodeError):
                reason = "no host has such a name"
            raise CommandFailed(
                f"redis at {host}:{port}: {reason}",
                missing=[("service", name) for name in SERVICES],
            ) from None
        return whole[len(first) :]

    def _port(self) -> int:
        port = self.port or _option("port") or 6379
        try:
            return int(port)
        except ValueError:
            raise CommandFailed(f"redis: {port!r} is no port") from None


Connection = Annotated[RedisServer, Group()]


def _option(name: str) -> Any:
    return here.opts.get(f"redis.{name}")


def _request(words: Sequence[object]) -> bytes:
    texts = [str(word).encode("utf-8", "surrogateescape") for word in words]
    parts = b"".join(b"$%d\r\n%b\r\n" % (len(text), text) for text in texts)
    return b"*%d\r\n%b" % (len(texts), parts)


def _read(answers: IO[bytes]) -> Answer:
    """One answer. Raises CommandFailed for an error, and for what is no answer of redis."""
    line = answers.readline(1 << 16)
    kind, text = line[:1], line[1:].rstrip(b"\r\n").decode("utf-8", "replace")
    if kind == b"-":
        raise CommandFailed(f"redis: {text}")
    if kind == b"+":
        return text
    if not line.endswith(b"\r\n") or kind not in b":$*" or not text.removeprefix("-").isdigit():
        raise CommandFailed("redis: what answers is no redis server, or closed the connection")
    number = int(text)
    if kind == b":":
        return number
    if number < 0:
        return None
    if kind == b"*":
        return [_read(answers) for _ in range(number)]
    if number > _MOST:
        raise CommandFailed(f"redis: an answer has more than {_MOST >> 20} MB")
    return answers.read(number + 2)[:-2].decode("utf-8", "surrogateescape")
