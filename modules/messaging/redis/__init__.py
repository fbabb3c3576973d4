# SPDX-License-Identifier: Apache-2.0
"""Redis: keys, settings and replication of a server, with Salt's functions."""

from __future__ import annotations

from typing import Any

from modules.messaging.redis._server import SERVICES as SERVICES
from modules.messaging.redis._server import Answer
from modules.messaging.redis._server import Connection as Connection
from modules.messaging.redis._server import RedisServer as RedisServer
from runner.api import CommandFailed, changer, for_states


def _ask(server: RedisServer, *words: object) -> Any:
    return server.ask(*words)


def _pairs(answer: Answer) -> dict[str, Any]:
    """The mapping of an answer in which names and values follow each other."""
    values = answer if isinstance(answer, list) else []
    return dict(zip(values[::2], values[1::2], strict=False))


# ---------------------------------------------------------------- keys


def get_key(key: str, server: Connection = RedisServer()) -> str | None:
    """The value of a key; None when it is not there.

    {{ salt['redis.get_key']('app:version', db=1) }}
    """
    value: str | None = _ask(server, "GET", key)
    return value


@changer(touches=[])
def set_key(key: str, value: Any, server: Connection = RedisServer()) -> bool:
    """Give a key a value, which lasts.

    runner call redis.set_key app:version 1.2
    """
    return bool(_ask(server, "SET", key, value) == "OK")


@changer(touches=[])
def delete(*keys: str, server: Connection = RedisServer()) -> int:
    """Remove keys: how many there were.

    runner call redis.delete app:version app:name
    """
    return int(_ask(server, "DEL", *keys))


def exists(key: str, server: Connection = RedisServer()) -> bool:
    """Return whether there is a key."""
    return bool(_ask(server, "EXISTS", key))


def key_type(key: str, server: Connection = RedisServer()) -> str:
    """The type of a key: string, list, set, zset, hash, stream, or none."""
    return str(_ask(server, "TYPE", key))


def keys(pattern: str = "*", server: Connection = RedisServer()) -> list[str]:
    """The keys that a pattern matches, sorted.

    {{ salt['redis.keys']('app:*') | json }}
    """
    return sorted(_ask(server, "KEYS", pattern))


@changer(touches=[])
def expire(key: str, seconds: int, server: Connection = RedisServer()) -> bool:
    """Let a key end in some seconds; False when it is not there."""
    return bool(_ask(server, "EXPIRE", key, seconds))


@changer(touches=[])
def expireat(key: str, timestamp: int, server: Connection = RedisServer()) -> bool:
    """Let a key end at a time, in seconds since 1970; False when it is not there."""
    return bool(_ask(server, "EXPIREAT", key, timestamp))


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
    value: str | None = _ask(server, "HGET", key, field)
    return value


def hgetall(key: str, server: Connection = RedisServer()) -> dict[str, str]:
    """The fields of a hash with their values.

    {{ salt['redis.hgetall']('app:settings') | json }}
    """
    return _pairs(_ask(server, "HGETALL", key))


def hmget(key: str, *fields: str, server: Connection = RedisServer()) -> list[str | None]:
    """The values of some fields of a hash."""
    return list(_ask(server, "HMGET", key, *fields))


def hexists(key: str, field: str, server: Connection = RedisServer()) -> bool:
    """Return whether a hash has a field."""
    return bool(_ask(server, "HEXISTS", key, field))


def hlen(key: str, server: Connection = RedisServer()) -> int:
    """The number of fields of a hash."""
    return int(_ask(server, "HLEN", key))


def hvals(key: str, server: Connection = RedisServer()) -> list[str]:
    """The values of a hash."""
    return list(_ask(server, "HVALS", key))


@changer(touches=[])
def hset(key: str, field: str, value: Any, server: Connection = RedisServer()) -> bool:
    """Give a field of a hash a value: whether it is a new field."""
    return bool(_ask(server, "HSET", key, field, value))


@changer(touches=[])
def hsetnx(key: str, field: str, value: Any, server: Connection = RedisServer()) -> bool:
    """Give a field of a hash a value, unless it has one: whether it had none."""
    return bool(_ask(server, "HSETNX", key, field, value))


@changer(touches=[])
def hdel(key: str, *fields: str, server: Connection = RedisServer()) -> int:
    """Remove fields of a hash: how many there were."""
    return int(_ask(server, "HDEL", key, *fields))


@changer(touches=[])
def hincrby(key: str, field: str, increment: int = 1, server: Connection = RedisServer()) -> int:
    """Add to a field of a hash: its new value."""
    return int(_ask(server, "HINCRBY", key, field, increment))


def llen(key: str, server: Connection = RedisServer()) -> int:
    """The length of a list."""
    return int(_ask(server, "LLEN", key))


def lrange(key: str, start: int, stop: int, server: Connection = RedisServer()) -> list[str]:
    """The elements of a list between two places, -1 for the last one."""
    return list(_ask(server, "LRANGE", key, start, stop))


def smembers(key: str, server: Connection = RedisServer()) -> list[str]:
    """The members of a set, sorted."""
    return sorted(_ask(server, "SMEMBERS", key))


def zcard(key: str, server: Connection = RedisServer()) -> int:
    """The number of members of a sorted set."""
    return int(_ask(server, "ZCARD", key))


def zrange(key: str, start: int, stop: int, server: Connection = RedisServer()) -> list[str]:
    """The members of a sorted set between two places, -1 for the last one."""
    return list(_ask(server, "ZRANGE", key, start, stop))


# ---------------------------------------------------------------- the server


def ping(server: Connection = RedisServer()) -> bool:
    """Return whether a server answers; False where none can be reached."""
    try:
        return bool(_ask(server, "PING") == "PONG")
    except CommandFailed as failure:
        if failure.missing:
            return False
        raise


def info(server: Connection = RedisServer()) -> dict[str, str]:
    """The facts that a server tells about itself, by name."""
    lines = str(_ask(server, "INFO")).splitlines()
    pairs = [line.partition(":") for line in lines if ":" in line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def dbsize(server: Connection = RedisServer()) -> int:
    """The number of keys of a database."""
    return int(_ask(server, "DBSIZE"))


def lastsave(server: Connection = RedisServer()) -> int:
    """The time of the last save, in seconds since 1970."""
    return int(_ask(server, "LASTSAVE"))


def time(server: Connection = RedisServer()) -> int:
    """The server's time, in seconds since 1970."""
    return int(_ask(server, "TIME")[0])


def config_get(pattern: str = "*", server: Connection = RedisServer()) -> dict[str, str]:
    """The settings that a pattern matches, with their values."""
    return _pairs(_ask(server, "CONFIG", "GET", pattern))


@changer(touches=[])
def config_set(name: str, value: Any, server: Connection = RedisServer()) -> bool:
    """Change a setting, until the server starts again.

    runner call redis.config_set maxmemory 100mb
    """
    return bool(_ask(server, "CONFIG", "SET", name, value) == "OK")


@changer(touches=[])
def save(server: Connection = RedisServer()) -> bool:
    """Save the data, and wait for it."""
    return bool(_ask(server, "SAVE") == "OK")


@changer(touches=[])
def bgsave(server: Connection = RedisServer()) -> str:
    """Have the data saved in the background: what the server says."""
    return str(_ask(server, "BGSAVE"))


@changer(touches=[])
def bgrewriteaof(server: Connection = RedisServer()) -> str:
    """Have the append-only file rewritten in the background: what the server says."""
    return str(_ask(server, "BGREWRITEAOF"))


@changer(touches=[])
def flushdb(server: Connection = RedisServer()) -> bool:
    """Remove all keys of a database."""
    return bool(_ask(server, "FLUSHDB") == "OK")


@changer(touches=[])
def flushall(server: Connection = RedisServer()) -> bool:
    """Remove all keys of all databases."""
    return bool(_ask(server, "FLUSHALL") == "OK")


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
    return bool(str(_ask(server, "SLAVEOF", *words)).startswith("OK"))
