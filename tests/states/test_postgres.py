"""PostgreSQL as a site uses it: a role, its database, what is in it, and rights; on a real server."""

from __future__ import annotations

from pathlib import Path

import postgres_server as server
import pytest
from command import Machine

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
        "SELECT rolname, rolcanlogin FROM pg_roles UNION SELECT datname, true FROM pg_database ORDER BY 1"
    )


def test_a_site(machine: Machine) -> None:
    machine.write(site=SITE.replace("{socket}", str(server.FOLDER)).replace("{port}", str(server.PORT)))
    before = roles()
    dry = machine.results("sls", "site", "--test")
    assert {each["result"] for each in dry.values()} == {None}, "what is not there yet depends on what makes it"
    assert roles() == before, "a dry run changes nothing"
    real = machine.results("sls", "site")
    assert {each["result"] for each in real.values()} == {True}
    assert real["site_app"]["changes"] == {"site_app": "Present"}
    assert server.sql("SELECT has_schema_privilege('site_readers', 'reports', 'USAGE')", database="site") == "t\n"
    assert "s3cret" not in str(real)
    again = machine.results("sls", "site")
    assert not any(each["changes"] for each in again.values())


def test_no_server_and_no_client_are_told(machine: Machine) -> None:
    machine.write(a="zoe:\n  postgres_user.present:\n    - db_host: /no/such/server\n")
    done = machine("sls", "a", code=2)
    assert "Is the server running locally and accepting connections on that socket?" in done.stdout
    machine.environment["PATH"] = "/nowhere"
    assert "psql is not installed" in machine("sls", "a", code=2).stdout


def test_the_client_may_come_in_the_run_itself(machine: Machine) -> None:
    machine.write(
        a="client:\n  cmd.run:\n    - name: 'true'\nzoe:\n  postgres_user.present:\n    - require: [cmd: client]\n"
    )
    machine.environment["PATH"] = "/nowhere"
    dry = machine.results("sls", "a", "--test")
    assert dry["zoe"]["result"] is None
