# SPDX-License-Identifier: Apache-2.0
"""Accounts of a MySQL, whose answers are recorded: no free distribution of Debian has one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Machine

CLIENT = """#!/bin/sh
read -r statement
case "$statement" in
*VERSION*) cat {answer} ;;
*) echo "$statement" >>{log} ;;
esac
"""
VERSION = (
    '<resultset statement="v"><row><field name="v">8.0.36</field>'
    '<field name="c">MySQL Community Server - GPL</field></row></resultset>'
)
USER = (
    '<resultset statement="u"><row><field name="User">app</field><field name="Host">localhost'
    '</field><field name="plugin">{}</field><field name="authentication_string">{}</field></row>'
    "</resultset>"
)
SHA2 = "caching_sha2_password"
KEPT = "$A$005$" + "s" * 20 + "h" * 43


def server(machine: Machine, plugin: str = "", kept: str = "") -> Path:
    """A client of a MySQL with an account, if it has a plugin; where its statements are noted."""
    answer, log = machine.folder / "answer.xml", machine.folder / "log"
    rows = USER.format(plugin, kept) if plugin else '<resultset statement="u"></resultset>'
    answer.write_text(VERSION + rows)
    machine.program("mariadb", CLIENT.format(answer=answer, log=log))
    return log


def present(machine: Machine, *words: str, code: int = 0, **more: object) -> dict[str, object]:
    arguments = [{key: value} for key, value in more.items()]
    machine.write(a=json.dumps({"app": {"mysql_user.present": arguments}}))
    (result,) = machine.results("sls", "a", *words, code=code).values()
    return dict(result)


def test_an_account_keeps_its_plugin_where_none_is_wanted(machine: Machine) -> None:
    """Salt, too: the default of auth_plugin is for new accounts."""
    log = server(machine, SHA2, KEPT)
    for words in (["--test"], []):
        result = present(machine, *words, password="secret")
        assert result["result"] is True and not result["changes"]
        assert result["warnings"] == [
            f"whether the password is the wanted one cannot be told, as {SHA2} keeps it:"
            " password_hash is compared"
        ]
    assert not present(machine, password_hash=KEPT)["changes"]
    assert not log.exists()
    assert present(machine, password_hash=KEPT[:-1] + "x")["changes"]
    assert f"ALTER USER 'app'@'localhost' IDENTIFIED WITH '{SHA2}' AS" in log.read_text()


@pytest.mark.parametrize("plugin", [None, SHA2])
def test_a_new_account_gets_the_plugin_that_is_wanted(machine: Machine, plugin: str | None) -> None:
    log = server(machine)
    chosen = {"auth_plugin": plugin} if plugin else {}
    assert present(machine, "--test", password="secret", **chosen)["result"] is None
    present(machine, password="secret", **chosen)
    assert log.read_text() == (
        f"CREATE USER 'app'@'localhost' IDENTIFIED WITH '{plugin or 'mysql_native_password'}'"
        " BY 'secret';\n"
    )


def test_another_plugin_is_set(machine: Machine) -> None:
    log = server(machine, "mysql_native_password", "*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9")
    assert present(machine, password="secret", auth_plugin=SHA2)["changes"]
    assert log.read_text() == (
        f"ALTER USER 'app'@'localhost' IDENTIFIED WITH '{SHA2}' BY 'secret';\n"
    )


def test_the_socket(machine: Machine) -> None:
    log = server(machine)
    by_socket = {"allow_passwordless": True, "unix_socket": True}
    for words in (["--test"], []):
        result = present(machine, *words, code=2, host="%", **by_socket)
        assert result["comment"] == "unix_socket is for the host localhost, not for %"
    assert not log.exists()
    present(machine, **by_socket)
    assert log.read_text() == "CREATE USER 'app'@'localhost' IDENTIFIED WITH 'auth_socket';\n"
    server(machine, "auth_socket")
    assert not present(machine, **by_socket)["changes"]
