# SPDX-License-Identifier: Apache-2.0
"""Keys of a redis server, and whose replica it is."""

from __future__ import annotations

from modules import network
from modules.messaging import redis
from modules.messaging.redis import Connection, RedisServer
from runner.api import Done, Line, NonEmptyLine, Plan, Planned, Secret, StateFailed
from runner.api.kinds import comes_after

DECIDES = {"string": "value"}
TOLD_APART_BY = "host port db"

NON_IDEMPOTENT = {"string": "with expire the time begins anew in each run"}


def string(
    name: NonEmptyLine,
    value: str | int | float,
    expire: int | None = None,
    expireat: int | None = None,
    server: Connection = RedisServer(),
) -> Planned:
    """Make sure that a key has a value.

    name: The key.
    value: The text of the key.
    expire: Seconds after which it goes, counted from each run.
    expireat: The time at which it goes, in seconds since 1970.

        app:mode:
          redis.string:
            - value: production
    """
    text = str(value)
    old, end = redis.value_and_end(name, server)
    changes: dict[str, str] = {}
    if old != text:
        changes[name] = "Value updated"
    if expire:
        changes["expire"] = f"Key expires in {expire} seconds"
    elif expireat and (changes or end != expireat):
        changes["expireat"] = f"Key expires at {expireat}"
    if not changes:
        return "Key already set to defined value"
    yield Plan(changes, f"Key {name} would be set")
    if name in changes:
        redis.set_key(name, text, server)
    if expire:
        redis.expire(name, expire, server)
    elif expireat and "expireat" in changes:
        redis.expireat(name, expireat, server)
    return "Key updated to new value" if name in changes else "Key already set to defined value"


def absent(
    name: NonEmptyLine, keys: list[Line] | None = None, server: Connection = RedisServer()
) -> Planned:
    """Make sure that keys are not there.

    name: The key.
    keys: Several keys instead.

        app:mode:
          redis.absent: []
    """
    present = [key for key in keys or [name] if redis.exists(key, server)]
    if not present:
        return "Key(s) specified already absent" if keys else "Key already absent"
    yield Plan({"deleted": present}, f"Key(s) {', '.join(present)} would be deleted")
    redis.delete(*present, server=server)
    return "Keys deleted" if keys else "Key deleted"


def slaveof(
    name: Line,
    sentinel_host: Line | None = None,
    sentinel_port: int | None = None,
    sentinel_password: Secret[Line] | None = None,
    server: Connection = RedisServer(),
) -> Planned:
    """Make sure that a server is the replica of the master that a sentinel knows, unless this
    machine is that master.

    name: The name that the sentinel has for the master.
    sentinel_host: The sentinel; without it 127.0.0.1.
    sentinel_port: The port of the sentinel; without it 26379.
    sentinel_password: The password of the sentinel.

        mymaster:
          redis.slaveof:
            - sentinel_host: 10.0.0.5
    """
    master = redis.sentinel_get_master_ip(name, sentinel_host, sentinel_port, sentinel_password)
    if master["master_host"] in network.ip_addrs():
        return f"Minion is the master: {name}"
    old = redis.get_master_ip(server)
    if old == master:
        return f"Minion already slave of master: {name}"
    yield Plan(
        {"old": old, "new": master},
        f"Minion will be made a slave of {name}: {master['master_host']}",
    )
    redis.slaveof(**master, server=server)
    new = redis.get_master_ip(server)
    if new != master:
        raise StateFailed(f"The server is no slave of {name}: {new['master_host'] or 'of none'}")
    return Done(f"Minion successfully connected to master: {name}", {"old": old, "new": new})


autorequire = comes_after(
    "Keys come after the server.",
    *(("service", name) for name in redis.SERVICES),
    *(("pkg", name) for name in ("redis-server", "redis", "valkey")),
)
