# SPDX-License-Identifier: Apache-2.0
"""How keys of redis are tried: with a server of few commands that answers as redis 7 does and keeps
its keys in the scenario's folder. tests/machine/test_redis.py has a real one.
"""

from __future__ import annotations

import functools
import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import Scenario, scenario


class Keeper(socketserver.ThreadingTCPServer):
    """The server. file: its keys, each with its value and when it ends."""

    daemon_threads = True
    allow_reuse_address = True
    file = Path("/nonexistent")

    def answer(self, command: str, *words: str) -> str:
        keys = json.loads(self.file.read_text())
        before = json.dumps(keys)
        reply = getattr(self, f"on_{command.lower().replace('-', '_')}")(keys, *words)
        if json.dumps(keys) != before:
            self.file.write_text(json.dumps(keys))
        return str(reply)

    def on_auth(self, keys: Any, password: str) -> str:
        return "+OK" if password == "s3cret" else "-WRONGPASS invalid username-password pair"

    def on_select(self, keys: Any, db: str) -> str:
        return "+OK" if db == "1" else "-ERR DB index is out of range"

    def on_get(self, keys: Any, key: str) -> str:
        if key == "list":
            return "-WRONGTYPE Operation against a key holding the wrong kind of value"
        return f"${len(keys[key][0].encode())}\r\n{keys[key][0]}" if key in keys else "$-1"

    def on_pttl(self, keys: Any, key: str) -> str:
        end = keys.get(key, [0, None])[1]
        return f":{int(end * 1000 - time.time() * 1000)}" if end else ":-1"

    def on_time(self, keys: Any) -> str:
        seconds, fraction = divmod(time.time(), 1)
        parts = [str(int(seconds)), str(int(fraction * 1e6))]
        return "*2" + "".join(f"\r\n${len(part)}\r\n{part}" for part in parts)

    def on_set(self, keys: Any, key: str, value: str) -> str:
        keys[key] = [value, None]
        return "+OK"

    def on_expire(self, keys: Any, key: str, seconds: str) -> str:
        keys[key][1] = time.time() + int(seconds)
        return ":1"

    def on_expireat(self, keys: Any, key: str, end: str) -> str:
        keys[key][1] = int(end)
        return ":1"

    def on_exists(self, keys: Any, key: str) -> str:
        return f":{int(key in keys)}"

    def on_del(self, keys: Any, *names: str) -> str:
        return f":{sum(keys.pop(name, None) is not None for name in names)}"

    def on_info(self, keys: Any) -> str:
        text = "# Replication\r\nrole:master\r\n"
        if "master" in keys:
            text = "role:slave\r\nmaster_host:{}\r\nmaster_port:{}\r\n".format(*keys["master"])
        return f"${len(text)}\r\n{text}"

    def on_slaveof(self, keys: Any, host: str, port: str) -> str:
        keys["master"] = [host, port]
        return "+OK"

    def on_sentinel(self, keys: Any, _: str, name: str) -> str:
        return "*2\r\n$9\r\n192.0.2.1\r\n$4\r\n6379" if name == "mymaster" else "*-1"


class Talk(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while line := self.rfile.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(size + 2)[:-2].decode(errors="surrogateescape"))
            assert isinstance(self.server, Keeper)
            self.wfile.write(self.server.answer(*words).encode(errors="surrogateescape") + b"\r\n")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


PORT = free_port()


@functools.cache
def server() -> Keeper:
    """The server, started for the first scenario that runs."""
    keeper = Keeper(("127.0.0.1", PORT), Talk)
    threading.Thread(target=keeper.serve_forever, daemon=True).start()
    return keeper


END = int(time.time()) + 9999
KEYS = {"mode": ["old é", None], "ends": ["x", END]}


def having(keys: dict[str, list[Any]]) -> Callable[[Path], None]:
    def setup(tmp: Path) -> None:
        server().file = tmp / "keys"
        server().file.write_text(json.dumps(keys))

    return setup


with_keys = having(KEYS)
with_master = having({"master": ["192.0.2.1", "6379"]})


def on(function: str, setup: Callable[[Path], None] = with_keys, **given: Any) -> Scenario:
    usual = {"port": PORT, "converges": "expire" not in given, "stays": ["keys"]}
    return scenario(f"redis.{function}", setup, **{**usual, **given})


FULL = {"host": "127.0.0.1", "db": 1, "password": "s3cret"}
AT = {"sentinel_host": "127.0.0.1", "sentinel_port": PORT, "sentinel_password": "s3cret"}
SCENARIOS = [
    on("string", name="mode", value="new\r\n$3\r\nline", **FULL),
    on("string", name="mode", value="old é", plans=False),
    on("string", name="number", value=5),
    on("string", name="mode", value="old é", expire=60),
    on("string", name="mode", value="new", expireat=END),
    on("string", name="ends", value="x", expireat=END, plans=False),
    on("string", name="ends", value="x", expireat=END + 60),
    on("string", name="list", value="x", fails="redis: WRONGTYPE Operation against"),
    on("string", name="mode", value="x", password="no", fails="redis: WRONGPASS invalid"),
    on("string", name="mode", value="x", db=99, fails="redis: ERR DB index is out of range"),
    on("string", name="x", value="x", port=1, fails="redis at 127.0.0.1:1: Connection refused"),
    on("absent", name="mode", **FULL),
    on("absent", name="x", keys=["mode", "other", "ends"]),
    on("absent", name="other", plans=False),
    on("absent", name="x", keys=["other"], plans=False),
    on("slaveof", name="mymaster", **FULL, **AT),
    on("slaveof", with_master, name="mymaster", **AT, plans=False),
    on("slaveof", name="other", **AT, fails="redis: the sentinel knows no master other"),
]
