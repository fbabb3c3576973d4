# SPDX-License-Identifier: Apache-2.0
"""Redis: keys, settings and replication of a server, with Salt's functions."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import IO, Annotated, Any

from runner.api import (
    CommandFailed,
    Group,
    Line,
    Record,
    Secret,
    changer,
    for_states,
    here,
    refuse_unforeseen,
)

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

    def ask(self, *words: object) -> Any:
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


def _pairs(answer: Answer) -> dict[str, Any]:
    """The mapping of an answer in which names and values follow each other."""
    values = answer if isinstance(answer, list) else []
    return dict(zip(values[::2], values[1::2], strict=False))


# ---------------------------------------------------------------- keys


def get_key(key: str, server: Connection = RedisServer()) -> str | None:
    """The value of a key; None when it is not there.

    {{ salt['redis.get_key']('app:version', db=1) }}
    """
    value: str | None = server.ask("GET", key)
    return value


@changer(touches=[])
def set_key(key: str, value: Any, server: Connection = RedisServer()) -> bool:
    """Give a key a value, which lasts.

    runner call redis.set_key app:version 1.2
    """
    return bool(server.ask("SET", key, value) == "OK")


@changer(touches=[])
def delete(*keys: str, server: Connection = RedisServer()) -> int:
    """Remove keys: how many there were.

    runner call redis.delete app:version app:name
    """
    return int(server.ask("DEL", *keys))


def exists(key: str, server: Connection = RedisServer()) -> bool:
    """Return whether there is a key."""
    return bool(server.ask("EXISTS", key))


def key_type(key: str, server: Connection = RedisServer()) -> str:
    """The type of a key: string, list, set, zset, hash, stream, or none."""
    return str(server.ask("TYPE", key))


def keys(pattern: str = "*", server: Connection = RedisServer()) -> list[str]:
    """The keys that a pattern matches, sorted.

    {{ salt['redis.keys']('app:*') | json }}
    """
    return sorted(server.ask("KEYS", pattern))


@changer(touches=[])
def expire(key: str, seconds: int, server: Connection = RedisServer()) -> bool:
    """Let a key end in some seconds; False when it is not there."""
    return bool(server.ask("EXPIRE", key, seconds))


@changer(touches=[])
def expireat(key: str, timestamp: int, server: Connection = RedisServer()) -> bool:
    """Let a key end at a time, in seconds since 1970; False when it is not there."""
    return bool(server.ask("EXPIREAT", key, timestamp))


@for_states
def value_and_end(key: str, server: RedisServer) -> tuple[str | None, int | None]:
    """The value of a key, and when it ends, in seconds since 1970 (None: never)."""
    value, milliseconds, now = server.ask_all([("GET", key), ("PTTL", key), ("TIME",)])
    left = int(str(milliseconds))
    seconds, micro = [int(number) for number in now] if isinstance(now, list) else [0, 0]
    end = round(seconds + micro / 1e6 + left / 1e3) if left >= 0 else None
    return (None if value is None else str(value)), end


# ---------------------------------------------------------------- hashes, lists, sets


def hget(key: str, field: str, server: Connection = RedisServer()) -> str | None:
    """The value of a field of a hash; None when it is not there."""
    value: str | None = server.ask("HGET", key, field)
    return value


def hgetall(key: str, server: Connection = RedisServer()) -> dict[str, str]:
    """The fields of a hash with their values.

    {{ salt['redis.hgetall']('app:settings') | json }}
    """
    return _pairs(server.ask("HGETALL", key))


def hmget(key: str, *fields: str, server: Connection = RedisServer()) -> list[str | None]:
    """The values of some fields of a hash."""
    return list(server.ask("HMGET", key, *fields))


def hexists(key: str, field: str, server: Connection = RedisServer()) -> bool:
    """Return whether a hash has a field."""
    return bool(server.ask("HEXISTS", key, field))


def hlen(key: str, server: Connection = RedisServer()) -> int:
    """The number of fields of a hash."""
    return int(server.ask("HLEN", key))


def hvals(key: str, server: Connection = RedisServer()) -> list[str]:
    """The values of a hash."""
    return list(server.ask("HVALS", key))


@changer(touches=[])
def hset(key: str, field: str, value: Any, server: Connection = RedisServer()) -> bool:
    """Give a field of a hash a value: whether it is a new field."""
    return bool(server.ask("HSET", key, field, value))


@changer(touches=[])
def hsetnx(key: str, field: str, value: Any, server: Connection = RedisServer()) -> bool:
    """Give a field of a hash a value, unless it has one: whether it had none."""
    return bool(server.ask("HSETNX", key, field, value))


@changer(touches=[])
def hdel(key: str, *fields: str, server: Connection = RedisServer()) -> int:
    """Remove fields of a hash: how many there were."""
    return int(server.ask("HDEL", key, *fields))


@changer(touches=[])
def hincrby(key: str, field: str, increment: int = 1, server: Connection = RedisServer()) -> int:
    """Add to a field of a hash: its new value."""
    return int(server.ask("HINCRBY", key, field, increment))


def llen(key: str, server: Connection = RedisServer()) -> int:
    """The length of a list."""
    return int(server.ask("LLEN", key))


def lrange(key: str, start: int, stop: int, server: Connection = RedisServer()) -> list[str]:
    """The elements of a list between two places, -1 for the last one."""
    return list(server.ask("LRANGE", key, start, stop))


def smembers(key: str, server: Connection = RedisServer()) -> list[str]:
    """The members of a set, sorted."""
    return sorted(server.ask("SMEMBERS", key))


def zcard(key: str, server: Connection = RedisServer()) -> int:
    """The number of members of a sorted set."""
    return int(server.ask("ZCARD", key))


def zrange(key: str, start: int, stop: int, server: Connection = RedisServer()) -> list[str]:
    """The members of a sorted set between two places, -1 for the last one."""
    return list(server.ask("ZRANGE", key, start, stop))


# ---------------------------------------------------------------- the server


def ping(server: Connection = RedisServer()) -> bool:
    """Return whether a server answers; False where none can be reached."""
    try:
        return bool(server.ask("PING") == "PONG")
    except CommandFailed as failure:
        if failure.missing:
            return False
        raise


def info(server: Connection = RedisServer()) -> dict[str, str]:
    """The facts that a server tells about itself, by name."""
    lines = str(server.ask("INFO")).splitlines()
    pairs = [line.partition(":") for line in lines if ":" in line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def dbsize(server: Connection = RedisServer()) -> int:
    """The number of keys of a database."""
    return int(server.ask("DBSIZE"))


def lastsave(server: Connection = RedisServer()) -> int:
    """The time of the last save, in seconds since 1970."""
    return int(server.ask("LASTSAVE"))


def time(server: Connection = RedisServer()) -> int:
    """The server's time, in seconds since 1970."""
    return int(server.ask("TIME")[0])


def config_get(pattern: str = "*", server: Connection = RedisServer()) -> dict[str, str]:
    """The settings that a pattern matches, with their values."""
    return _pairs(server.ask("CONFIG", "GET", pattern))


@changer(touches=[])
def config_set(name: str, value: Any, server: Connection = RedisServer()) -> bool:
    """Change a setting, until the server starts again.

    runner call redis.config_set maxmemory 100mb
    """
    return bool(server.ask("CONFIG", "SET", name, value) == "OK")


@changer(touches=[])
def save(server: Connection = RedisServer()) -> bool:
    """Save the data, and wait for it."""
    return bool(server.ask("SAVE") == "OK")


@changer(touches=[])
def bgsave(server: Connection = RedisServer()) -> str:
    """Have the data saved in the background: what the server says."""
    return str(server.ask("BGSAVE"))


@changer(touches=[])
def bgrewriteaof(server: Connection = RedisServer()) -> str:
    """Have the append-only file rewritten in the background: what the server says."""
    return str(server.ask("BGREWRITEAOF"))


@changer(touches=[])
def flushdb(server: Connection = RedisServer()) -> bool:
    """Remove all keys of a database."""
    return bool(server.ask("FLUSHDB") == "OK")


@changer(touches=[])
def flushall(server: Connection = RedisServer()) -> bool:
    """Remove all keys of all databases."""
    return bool(server.ask("FLUSHALL") == "OK")


# ---------------------------------------------------------------- replication


def get_master_ip(server: Connection = RedisServer()) -> dict[str, Any]:
    """The master of a server: master_host and master_port, empty when it has none."""
    facts = info(server)
    port = facts.get("master_port", "")
    return {
        "master_host": facts.get("master_host", ""),
        "master_port": int(port) if port.isdigit() else "",
    }


def sentinel_get_master_ip(
    master: str, host: str | None = None, port: int | None = None, password: str | None = None
) -> dict[str, Any]:
    """The address that a sentinel knows of a master: master_host and master_port.

    runner call redis.sentinel_get_master_ip mymaster host=10.0.0.5
    """
    # what the configuration says of the server is not meant for the sentinel
    server = RedisServer(host or "127.0.0.1", port or 26379, 0, password or "")
    answer = server.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master)
    if not isinstance(answer, list) or len(answer) != 2:
        raise CommandFailed(f"redis: the sentinel knows no master {master}")
    return {"master_host": str(answer[0]), "master_port": int(answer[1])}


@changer(touches=[])
def slaveof(
    master_host: str | None = None,
    master_port: int | None = None,
    server: Connection = RedisServer(),
) -> bool:
    """Make a server the replica of another one, or of none without master_host.

    runner call redis.slaveof 10.0.0.5 6379
    """
    words = (master_host, master_port or 6379) if master_host else ("NO", "ONE")
    return bool(str(server.ask("SLAVEOF", *words)).startswith("OK"))
