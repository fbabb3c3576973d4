# SPDX-License-Identifier: Apache-2.0
"""What PostgreSQL and MariaDB would refuse, or take otherwise than it was meant: a dry run says so
as the run does, and nothing is made.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from debian import Debian

LAYER = "databases"
POSTGRES = """
UTF9 is not a valid encoding name:
  postgres_database.present: [{name: a, encoding: UTF9}]
'invalid locale name: "xx_XX.UTF-8"; locale.present generates it':
  postgres_database.present: [{name: b, lc_collate: xx_XX.UTF-8, template: template0}]
template database "none" does not exist:
  postgres_database.present: [{name: c, template: none}]
tablespace "none" does not exist:
  postgres_database.present: [{name: d, tablespace: none}]
directory "/srv/none" does not exist:
  postgres_tablespace.present: [{name: e, directory: /srv/none}]
"""
OWNED = """
CREATE ROLE keeper;
CREATE TABLESPACE filled LOCATION '/srv/filled';
CREATE DATABASE kept OWNER keeper TABLESPACE filled;
\\c kept
CREATE SCHEMA full_one CREATE TABLE t (a int);
"""
STAYS = """
role "keeper" cannot be dropped because some objects depend on it:
  postgres_user.absent: [{name: keeper}]
database "kept" is being accessed by other users:
  postgres_database.absent: [{name: kept}]
cannot drop a template database:
  postgres_database.absent: [{name: template1}]
cannot drop schema full_one because other objects depend on it:
  postgres_schema.absent: [{name: full_one, dbname: kept}]
tablespace "filled" is not empty:
  postgres_tablespace.absent: [{name: filled}]
"""
GOES = """
busy: {service.dead: []}
kept: {postgres_database.absent: [{require: [{service: busy}]}]}
keeper: postgres_user.absent
filled: postgres_tablespace.absent
"""
TAKEN = """
a table that comes later:
  mysql_grants.present: [{grant: 'create,select', database: mysql.none, user: root}]
/srv/space:
  file.directory: [{user: postgres, mode: 700}]
space:
  postgres_tablespace.present: [{directory: /srv/space}]
model:
  postgres_database.present: []
copy:
  postgres_database.present:
    - template: model
    - tablespace: space
    - encoding: utf-8
    - lc_collate: C.UTF-8
    - lc_ctype: C.UTF-8
"""
MARIADB = """
"Unknown character set: 'utf9'":
  mysql_database.present: [{name: a, character_set: utf9}]
There is no table mysql.none:
  mysql_grants.present: [{grant: select, database: mysql.none, user: root}]
There is no procedure mysql.none:
  mysql_grants.present: [{grant: execute, database: procedure mysql.none, user: root}]
"COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET 'latin1'":
  mysql_database.present: [{name: b, character_set: latin1, collate: utf8mb4_bin}]
"""
ACCOUNTS = """
anywhere:
  mysql_user.present: [{host: "", password: x}]
modern:
  mysql_user.present: [{password: x, auth_plugin: ed25519}]
app:
  mysql_database.present: [{character_set: utf8, collate: utf8_bin}]
root:
  mysql_user.present: [{password: s3cret-of-root}]
"""


@pytest.fixture
def servers(debian: Debian) -> Iterator[Debian]:
    debian.run("systemctl start mariadb postgresql@15-main")
    yield debian
    debian.run("systemctl stop mariadb postgresql@15-main")


def test_what_a_server_would_refuse_fails_a_dry_run_too(servers: Debian) -> None:
    servers.tree(wrong=POSTGRES + STAYS + MARIADB, goes=GOES)
    servers.run("install -d -o postgres /srv/filled; runuser -u postgres psql", stdin=OWNED)
    servers.run(
        "systemd-run -q --unit busy -p User=postgres sh -c 'sleep 999 | psql kept'; until runuser"
        " -u postgres -- psql -c 'SELECT datname FROM pg_stat_activity' | grep kept; do sleep 0.1;"
        " done"
    )
    for arguments in (["--test"], []):
        results = servers.results("sls", "wrong", *arguments, code=2)
        unlike = {name: it["comment"] for name, it in results.items() if name not in it["comment"]}
        assert unlike == {}
        assert not [name for name, it in results.items() if it["changes"]]
    for arguments, result in ((["--test"], None), ([], True)):
        gone = servers.results("sls", "goes", *arguments)
        assert {it["result"] for it in gone.values()} == {result}, gone


def test_what_it_takes_is_made_and_found_again(servers: Debian) -> None:
    servers.tree(right=TAKEN)
    assert {it["result"] for it in servers.results("sls", "right", "--test").values()} == {None}
    assert {it["result"] for it in servers.results("sls", "right").values()} == {True}
    again = servers.results("sls", "right")
    assert not [name for name, it in again.items() if it["changes"]]


def test_a_name_that_a_server_would_cut_off_is_refused(debian: Debian) -> None:
    """It would be made under another name, and the next run would fail."""
    role, database = "ü" * 32, "d" * 65
    debian.tree(long=f"{role}: postgres_user.present\n{database}: mysql_database.present\n")
    told = debian.runner("check", "long", code=1).stdout
    assert "expected a name of up to 63 bytes, and this has 64" in told
    assert "expected a name of up to 64 characters, and this has 65" in told


def test_an_account_that_is_otherwise_than_it_looks(servers: Debian) -> None:
    """No host is any host; a plugin that is not used, and an account that loses its socket, are
    told.
    """
    servers.tree(accounts=ACCOUNTS)
    dry, real = servers.results("sls", "accounts", "--test"), servers.results("sls", "accounts")
    for results in (dry, real):
        assert "ed25519 is not used on MariaDB" in str(results["modern"]["warnings"])
        assert "no longer log in by the socket" in str(results["root"]["warnings"])
    again = servers.results("sls", "accounts", code=2)
    assert "connection_user and connection_pass say how to log in" in again["root"]["comment"]
    servers.write("/root/login.yaml", "mysql.user: root\nmysql.pass: s3cret-of-root\n")
    words = ("--config", "/root/login.yaml", "--state-tree", "/srv/runner/states")
    again = servers.results("sls", "accounts", *words)
    assert not [name for name, it in again.items() if it["changes"]]
