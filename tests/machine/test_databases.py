# SPDX-License-Identifier: Apache-2.0
"""MariaDB as a site uses it: accounts, databases, rights and queries on a server that really runs;
Salt's functions on it; and a machine that is yet to start it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any
from unittest.mock import ANY

import pytest
from debian import Debian

LAYER = "databases"
SITE = r"""
app may:
  mysql_grants.present:
    - grant: select, insert
    - database: "app_'%`x\\.*"
    - user: "zo'e\\"
    - ssl_option: [{SUBJECT: "/CN=a'b"}, {CIPHER: AES}]
"app_'%`x\\":
  mysql_database.present:
    - character_set: utf8mb4
"zo'e\\":
  mysql_user.present:
    - password: "s3cr'et\\\"é%"
    - require: [service: server]
numbers:
  mysql_query.run:
    - database: "app_'%`x\\"
    - query: "CREATE TABLE t (a int, b varchar(9)); INSERT INTO t VALUES (1, 'a\\'b'), (2, NULL);
        SELECT * FROM t;"
    - output: /root/numbers
    - overwrite: False
answers:
  mysql_query.run:
    - database: mysql
    - query: SELECT 1 AS one
    - output: grain
    - grain: answers
    - key: of this test
    - overwrite: False
server:
  service.running:
    - name: mariadb
"""


@pytest.fixture
def server(debian: Debian) -> Iterator[Debian]:
    debian.run("systemctl start mariadb")
    yield debian
    debian.run("systemctl stop mariadb")


def sql(debian: Debian, text: str) -> str:
    """Return what the server answers, by the client itself."""
    answer: str = debian.run("mariadb", "--no-defaults", "-N", "-r", stdin=text).stdout
    return answer.strip()


def call(debian: Debian, function: str, *words: str) -> Any:
    """Return what an execution function answers."""
    done = debian.runner("call", f"mysql.{function}", *words, "--out", "json")
    return json.loads(done.stdout)["local"]


def test_a_site_whose_server_does_not_run_yet(debian: Debian) -> None:
    debian.run("systemctl stop mariadb")
    debian.tree(site=SITE, alone="zoe:\n  mysql_user.present:\n    - password: x\n")
    alone = debian.results("sls", "alone", "--test", code=2)
    assert "MySQL Error 2002: Can't connect to local server" in alone["zoe"]["comment"]
    assert debian.results("sls", "alone", code=2)["zoe"]["comment"] == alone["zoe"]["comment"]
    dry = debian.results("sls", "site", "--test")
    assert {result["result"] for result in dry.values()} == {None}
    assert debian.read("systemctl is-active mariadb || true") == "inactive"
    real = debian.results("sls", "site")
    assert {result["result"] for result in real.values()} == {True}
    assert "s3cr" not in str(real)
    assert sql(debian, "SELECT user, host, db FROM mysql.db") == (
        "zo'e\\\tlocalhost\tapp\\_'\\%`x\\\\"
    )
    assert "SPECIFIED\t/CN=a'b" in sql(debian, "SELECT ssl_type, x509_subject FROM mysql.user")
    assert debian.read("cat /root/numbers") == "a:1\nb:a'b\na:2\nb:None"
    again = debian.results("sls", "site")
    assert not [name for name, result in again.items() if result["changes"]]
    debian.run("systemctl stop mariadb")


NEW = """
server:
  file.managed: [{name: /usr/sbin/mariadbd, contents: "", mode: 755}]
shop:
  mysql_database.present: [{require: [file: server]}]
zoe:
  mysql_user.present: [{password: x}]
zoe may:
  mysql_grants.present: [{grant: select, database: shop.*, user: zoe}]
"""


def test_a_server_that_is_yet_to_come_has_nothing(debian: Debian) -> None:
    """Where its data are there already, it has to be asked."""
    debian.tree(new=NEW)
    debian.run("systemctl stop mariadb; mv /usr/sbin/mariadbd /usr/sbin/mysqld /root")
    unreachable = "Can't connect to local server"
    dry = debian.results("sls", "new", "--test", code=2)
    assert all(unreachable in dry[name]["comment"] for name in ("shop", "zoe", "zoe may"))
    debian.run("mv /var/lib/mysql /root/data")
    dry = debian.results("sls", "new", "--test")
    assert [(result["result"], result["changes"]) for result in [*dry.values()][1:]] == [
        (None, {"shop": "Present"}),
        (None, {"zoe": "Present"}),
        (None, {"zoe may": "Present"}),
    ]
    assert "depends on" not in str(dry)
    debian.run("mv /root/mariadbd /root/mysqld /usr/sbin; mv /root/data /var/lib/mysql")


def test_a_password_is_in_no_argument_and_opens_the_account(server: Debian) -> None:
    """The client is a script that shows its arguments and hands over to the real one."""
    server.write(
        "/usr/local/bin/mariadb",
        '#!/bin/sh\necho "$@" >>/root/arguments\nexec /usr/bin/mariadb "$@"\n',
        0o755,
    )
    server.write("/root/options.cnf", "[client]\npassword=wrong\n")
    password = 's3cret-w0rd\\r"et é'
    assert call(server, "user_create", "ann", f"password={json.dumps(password)}") is True
    given = ["connection_user=ann", f"connection_pass={json.dumps(password)}"]
    for more in ([], ["connection_default_file=/root/options.cnf"]):
        assert "information_schema" in call(server, "db_list", *given, *more)
    assert "s3cret-w0rd" not in server.read("cat /root/arguments")
    server.run("rm /usr/local/bin/mariadb")
    own = "/var/cache/runner /var/lib/runner /tmp -xdev -type f"  # a checkout in /tmp is a mount
    assert server.read(f"find {own} -exec grep -l s3cret-w0rd {{}} +; true") == ""


def looks(debian: Debian, *expressions: str) -> list[Any]:
    """Return what looks answer in a template: user_list(), db_get('app'), ..."""
    calls = (text.partition("(") for text in expressions)
    lines = [f"- {{{{ (salt['mysql.{name}']({rest}) | json }}}}" for name, _, rest in calls]
    words = ["string=" + "\n".join(lines), "default_renderer=jinja|yaml"]
    done = debian.runner("call", "slsutil.renderer", *words, "--out", "json")
    answers: list[Any] = json.loads(done.stdout)["local"]
    return answers


def test_salts_functions(server: Debian) -> None:
    for function, *words in (
        ["db_create", "fn_db", "character_set=latin1"],
        ["alter_db", "fn_db", "collate=latin1_bin"],
        ["user_create", "fn", "password=one"],
        ["user_chpass", "fn", "password=two"],
        ["grant_add", "select", "fn_db.*", "fn", "grant_option=true"],
    ):
        assert call(server, function, *words) is True
    assert call(server, "db_create", "fn_db") is False
    changed = call(server, "query", "fn_db", "CREATE TABLE t AS SELECT 1 AS a UNION SELECT 2")
    assert changed["rows affected"] == 2
    assert looks(
        server,
        "version()",
        "status().keys() | length > 100",
        "db_get('fn_db')",
        "db_tables('fn_db')",
        "user_exists('fn', password='one')",
        "user_exists('fn', password='two')",
        "user_info('fn').plugin",
        "grant_exists('SELECT', 'fn_db.*', 'fn', grant_option=True)",
        "grant_exists('SELECT,INSERT', 'fn_db.*', 'fn')",
        "user_grants('fn')",
        "user_grants('nobody')",
        "quote_identifier('a`_b', for_grants=True)",
    ) == [
        ANY,
        True,
        {"character_set": "latin1", "collate": "latin1_bin"},
        ["t"],
        False,
        True,
        "mysql_native_password",
        True,
        False,
        [
            "GRANT USAGE ON *.* TO `fn`@`localhost`",
            "GRANT SELECT ON `fn\\_db`.* TO `fn`@`localhost` WITH GRANT OPTION",
        ],
        False,
        "`a``\\_b`",
    ]
    rows = call(server, "query", "fn_db", "SELECT a, NULL AS b, '<&\\'' AS c FROM t LIMIT 1")
    assert (rows["columns"], rows["results"]) == (["a", "b", "c"], [["1", None, "<&'"]])
    server.write("/srv/q.sql", "DELETE FROM t;\n-- all of them\n")
    assert call(server, "file_query", "fn_db", "/srv/q.sql")["rows affected"] == 2
    assert call(server, "grant_revoke", "select", "fn_db.*", "fn", "grant_option=true") is True
    assert call(server, "user_remove", "fn") is True
    assert call(server, "db_remove", "fn_db") is True
    assert looks(server, "db_exists('fn_db')", "user_list() | length", "user_exists('fn')") == [
        False,
        ANY,
        False,
    ]


def test_what_the_server_refuses(server: Debian) -> None:
    done = server.run("runner call mysql.query nowhere " + shlex.quote("SELECT 1"), code=1)
    assert "MySQL Error 1049: Unknown database 'nowhere'" in done.stderr
    results = server.results(
        "single", "mysql_database.present", "name=odd", "character_set=nosuch", code=2
    )
    (result,) = results.values()
    assert "Failed to create database odd (MySQL Error 1115" in result["comment"]
