# SPDX-License-Identifier: Apache-2.0
"""A real redis with a password, a replica and a sentinel; Salt's functions on it."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from debian import Debian

LAYER = "databases"
OPTIONS = "--daemonize yes --dir /tmp --requirepass 's3 cret\"é'"
START = f"""
redis-server --port 6379 {OPTIONS} --logfile /tmp/one
redis-server --port 6380 {OPTIONS} --logfile /tmp/two --masterauth 's3 cret"é'
printf 'sentinel monitor mymaster 192.0.2.1 6379 1\\n' >/tmp/sentinel.conf
redis-server /tmp/sentinel.conf --sentinel --port 26379 --daemonize yes --logfile /tmp/three
"""
SITE = r"""
"app 'mode'\\":
  redis.string:
    - value: "several\r\nlines é"
gone:
  redis.absent:
    - keys: [one, two, three]
ends:
  redis.string:
    - value: 5
    - expireat: 4102444800
    - db: 2
replica:
  redis.slaveof:
    - name: mymaster
    - port: 6380
"""


@pytest.fixture
def server(debian: Debian) -> Debian:
    debian.write(
        "/etc/runner/runner.yaml", "redis.password: 's3 cret\"é'\nsecret_keys: [redis.password]\n"
    )
    return debian


def call(debian: Debian, *lines: str) -> list[Any]:
    """Return what looks answer in a template."""
    text = "\n".join(f"- {{{{ (salt['redis.{line}) | json }}}}" for line in lines)
    words = ["string=" + text, "default_renderer=jinja|yaml"]
    answers: list[Any] = json.loads(
        debian.runner("call", "slsutil.renderer", *words, "--out", "json").stdout
    )["local"]
    return answers


def test_a_site(server: Debian) -> None:
    server.tree(site=SITE)
    lacking = server.results("sls", "site", code=2)
    assert {result["comment"].partition(":")[0] for result in lacking.values()} == {
        "redis at 127.0.0.1"
    }
    server.run(START)
    server.until("redis-cli ping && redis-cli -p 26379 ping")
    client = "redis-cli --no-auth-warning -a " + shlex.quote('s3 cret"é')
    server.run(f"{client} mset one 1 two 2")
    dry = server.results("sls", "site", "--test")
    assert {result["result"] for result in dry.values()} == {None}
    real = server.results("sls", "site")
    assert [result["changes"] for result in real.values()] == [
        {"app 'mode'\\": "Value updated"},
        {"deleted": ["one", "two"]},
        {"ends": "Value updated", "expireat": "Key expires at 4102444800"},
        {
            "old": {"master_host": "", "master_port": ""},
            "new": {"master_host": "192.0.2.1", "master_port": 6379},
        },
    ]
    again = server.results("sls", "site")
    assert not [name for name, result in again.items() if result["changes"]]
    assert "s3 cret" not in str([lacking, dry, real, again])
    assert call(
        server,
        "get_key']('app \\'mode\\'\\\\')",
        "exists']('one')",
        "get_key']('ends', db=2)",
        "keys']('*')",
        "key_type']('one')",
        "ping']()",
        "ping'](port=1)",
        "dbsize'](db=2)",
        "config_get']('maxmemory')",
        "info']().redis_mode",
    ) == [
        "several\r\nlines é",
        False,
        "5",
        ["app 'mode'\\"],
        "none",
        True,
        False,
        1,
        {"maxmemory": "0"},
        "standalone",
    ]
    for function, *words in (["hset", "h", "f", "1"], ["hincrby", "h", "f"], ["expire", "h", "99"]):
        server.runner("call", f"redis.{function}", *words)
    assert call(server, "hgetall']('h')", "hmget']('h', 'f', 'g')") == [{"f": "2"}, ["2", None]]
    wrong = server.runner("call", "redis.get_key", "h", code=1)
    assert "redis: WRONGTYPE" in wrong.stderr
    wrong = server.runner("call", "redis.get_key", "h", "password=wrong", code=1)
    assert "redis: WRONGPASS" in wrong.stderr
