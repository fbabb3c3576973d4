# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL as a site uses it: a role, its database, its contents, and rights; a real server."""

from __future__ import annotations

import json
from pathlib import Path

import postgres_server as server
import pytest
from command import Machine
from harness import look

from modules.databases.postgres import _server
from states.databases import (
    postgres_extension,
    postgres_language,
    postgres_schema,
    postgres_user,
)

SITE = """
{% set server = {'db_host': '{socket}', 'db_port': {port}, 'db_user': 'postgres'} %}
defaults:
  postgres_user: {{ server | json }}
  postgres_group: {{ server | json }}
  postgres_database: {{ server | json }}
  postgres_schema: {{ server | json }}
  postgres_extension: {{ server | json }}
  postgres_privileges: {{ server | json }}
readers may read:
  postgres_privileges.present:
    - name: site_readers
    - object_name: reports
    - object_type: schema
    - privileges: [USAGE]
    - maintenance_db: site
site:
  postgres_database.present:
    - owner: site_app
reports:
  postgres_schema.present:
    - dbname: site
    - owner: site_app
citext:
  postgres_extension.present:
    - maintenance_db: site
site_app:
  postgres_user.present:
    - password: s3cret
    - encrypted: scram-sha-256
    - groups: site_readers
site_readers:
  postgres_group.present: []
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    assert server.started()
    return Machine(tmp_path)


def roles() -> str:
    return server.sql(
        "SELECT rolname, rolcanlogin FROM pg_roles UNION SELECT datname, true FROM pg_database"
        " ORDER BY 1"
    )


def test_a_site(machine: Machine) -> None:
    machine.write(
        site=SITE.replace("{socket}", str(server.FOLDER)).replace("{port}", str(server.PORT))
    )
    before = roles()
    dry = machine.results("sls", "site", "--test")
    assert {each["result"] for each in dry.values()} == {None}
    rights = dry.pop("readers may read")
    assert "There is no schema reports (depends on " in rights["comment"], "it may be the owner"
    assert not [each["comment"] for each in dry.values() if "(depends on " in each["comment"]]
    assert roles() == before, "a dry run changes nothing"
    real = machine.results("sls", "site")
    assert {each["result"] for each in real.values()} == {True}
    assert real["site_app"]["changes"] == {"site_app": "Present"}
    assert {name: each["changes"] for name, each in dry.items()} == {
        name: real[name]["changes"] for name in dry
    }
    assert (
        server.sql(
            "SELECT has_schema_privilege('site_readers', 'reports', 'USAGE')", database="site"
        )
        == "t\n"
    )
    assert "s3cret" not in str(real)
    again = machine.results("sls", "site")
    assert not any(each["changes"] for each in again.values())


def test_a_planned_database_has_what_each_new_one_has(machine: Machine) -> None:
    login = f"{{db_host: {server.FOLDER}}}, {{db_port: {server.PORT}}}, {{db_user: postgres}}"
    inside = f"{login}, {{maintenance_db: fresh}}"
    machine.write(
        a=f"fresh: {{postgres_database.present: [{login}]}}\n"
        f"plpgsql: {{postgres_extension.present: [{inside}]}}\n"
        f"language: {{postgres_language.present: [{{name: plpgsql}}, {inside}]}}\n"
        f"public: {{postgres_schema.present: [{login}, {{dbname: fresh}}]}}\n"
        f"citext: {{postgres_extension.present: [{inside}]}}\n"
    )
    dry = machine.results("sls", "a", "--test")
    assert {name: each["result"] for name, each in dry.items()} == {
        "fresh": None,
        "plpgsql": True,
        "language": True,
        "public": True,
        "citext": None,
    }


def test_a_planned_server_has_what_each_new_one_has(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_server, "is_new", lambda programs, data: True)
    looks = [
        look(postgres_extension.present, "plpgsql"),
        look(postgres_language.present, "plpgsql", "new"),
        look(postgres_schema.present, "new", "public"),
        look(postgres_user.present, "postgres"),
        look(postgres_extension.present, "citext"),
        look(postgres_user.present, "zoe"),
    ]
    assert [bool(each.changes) for each in looks] == [*[False] * 4, True, True]


def test_no_server_and_no_client_are_told(machine: Machine) -> None:
    machine.write(a="zoe:\n  postgres_user.present:\n    - db_host: /no/such/server\n")
    done = machine("sls", "a", code=2)
    assert "Is the server running locally and accepting connections on that socket?" in done.stdout
    machine.environment["PATH"] = "/nowhere"
    assert "psql is not installed" in machine("sls", "a", code=2).stdout


def test_the_client_may_come_in_the_run_itself(machine: Machine) -> None:
    machine.write(
        a=(
            "client:\n  cmd.run:\n    - name: env true\nzoe:\n  postgres_user.present:\n    -"
            " require: [cmd: client]\n"
        )
    )
    machine.environment["PATH"] = "/nowhere"
    dry = machine.results("sls", "a", "--test")
    assert dry["zoe"]["result"] is None


def test_salts_functions(machine: Machine) -> None:
    """Looks in templates, changes by `runner call`; without a client templates have neither."""
    connection = {"host": str(server.FOLDER), "port": server.PORT, "user": "postgres"}

    def call(function: str, *words: str, code: int = 0) -> str:
        said = [f"{key}={value}" for key, value in connection.items()]
        return machine(
            "call", f"postgres.{function}", *words, *said, "--out", "json", code=code
        ).stdout

    assert "true" in call("group_create", "fn_readers")
    assert "true" in call(
        "user_create",
        "fn_app",
        "createdb=true",
        "groups=fn_readers",
        "rolepassword=x",
        "encrypted=md5",
    )
    assert "false" in call("user_create", "fn_app")
    assert "true" in call("user_update", "fn_app", "createdb=false", "valid_until=2040-01-01")
    found = json.loads(call("role_get", "fn_app"))["local"]
    assert (found["login"], found["createdb"], found["groups"]) == (True, False, ["fn_readers"])
    assert "true" in call(
        "db_create", "fn_site", "owner=fn_app", "template=template0", "encoding=UTF8"
    )
    looks = "schema_list('fn_site', ** c).keys() | sort", "tablespace_exists('pg_default', ** c)"
    looks += (
        "language_exists('plpgsql', 'fn_site', ** c)",
        "is_installed_extension('plpgsql', ** c)",
    )
    looks += "is_available_extension('nope', ** c)", "schema_exists('fn_site', 'nope', ** c)"
    shown = "".join(
        f"    - {number}: {{{{ salt.postgres.{look} }}}}\n" for number, look in enumerate(looks)
    )
    machine.write(a=f"{{% set c = {connection!r} %}}\nx:\n  test.nop:\n{shown}")
    (chunk,) = machine.answer("show", "low-sls", "a")
    assert "public" in chunk["0"]
    assert [chunk[str(number)] for number in range(1, 6)] == [True, True, True, False, False]
    assert "true" in call("db_remove", "fn_site")
    assert "true" in call("user_remove", "fn_app")
    assert "false" in call("user_remove", "fn_app")
    machine.write(
        a="x: {test.nop: [{v: {{ salt['postgres.user_create'] | default(none) is callable }}}]}"
    )
    assert "'v': True" in str(machine.document("show", "low-sls", "a"))
    machine.environment["PATH"] = "/nowhere"
    assert "'v': False" in str(machine.document("show", "low-sls", "a"))


def test_looks_of_templates_find_nothing_where_there_is_no_server(machine: Machine) -> None:
    looks = {
        "version()": None,
        "db_list()": {},
        "db_exists('x')": False,
        "user_list()": False,
        "user_list(return_password=True)": False,
        "user_exists('x')": False,
        "role_get('x', return_password=True)": None,
        "psql_query('SELECT 1')": [],
        "tablespace_list()": {},
        "tablespace_exists('x')": False,
        "language_list('x')": {},
        "available_extensions()": {},
        "installed_extensions()": {},
        "is_installed_extension('x')": False,
        "schema_list('x')": {},
        "schema_get('x', 'y')": None,
    }
    values = [
        f"    - v{number}: {{{{ salt.postgres.{look} | json }}}}\n"
        for number, look in enumerate(looks)
    ]
    machine.write(a=f"x:\n  test.nop:\n{''.join(values)}")
    for said in (
        {"host": "/no/such/folder"},
        {"host": "127.0.0.1", "port": 1},
        {"host": "no.such.invalid"},
    ):
        machine.config |= {f"postgres.{key}": value for key, value in said.items()}  # type: ignore[dict-item]
        (chunk,) = machine.answer("show", "low-sls", "a")
        assert {look: chunk[f"v{number}"] for number, look in enumerate(looks)} == looks
    machine.config |= {"postgres.host": str(server.FOLDER), "postgres.port": server.PORT}  # type: ignore[dict-item]
    machine.write(
        a="x: {test.nop: [{v: {{ salt['postgres.psql_query']('SELECT nonsense') | json }}}]}"
    )
    assert "nonsense" in machine("show", "low-sls", "a", code=1).stderr, (
        "a mistake is not taken for an absent server"
    )
    machine.write(
        a="x: {test.nop: [{v: {{ salt['postgres.schema_exists']('no_such_database', 'public') }}}]}"
    )
    assert "'v': False" in str(machine.document("show", "low-sls", "a"))


def test_functions_are_not_there_without_their_program(machine: Machine) -> None:
    machine.environment["PATH"] = "/nowhere"
    names = ("postgres.db_list", "cron.list_tab", "firewalld.list_zones", "dig.A")
    values = "".join(f"    - {name}: {{{{ '{name}' in salt }}}}\n" for name in names)
    machine.write(a=f"x:\n  test.nop:\n{values}")
    (chunk,) = machine.answer("show", "low-sls", "a")
    assert {name: chunk[name] for name in names} == dict.fromkeys(names, False)
    for name in names:
        assert name in machine("doc", name).stdout, "the manual knows them all the same"
    assert machine("call", "cron.list_tab", "root", code=1).stderr.endswith(
        "crontab is not installed (yet)\n"
    )
    for call in ("salt['cron.list_tab']('root')", "salt.cron.list_tab('root')"):
        machine.write(a=f"x: {{{{ {call} }}}}\n")
        told = machine("show", "low-sls", "a", code=1).stderr
        assert told.endswith("hint: the program crontab is not installed (yet)\n")
