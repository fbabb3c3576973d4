# SPDX-License-Identifier: Apache-2.0
"""How MariaDB's accounts, databases, rights and queries are tried: on a real server, in a copy of
the machine.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario, on_machine
from starting import starts

ANSWERS = "mariadb --no-defaults -e 'SELECT 1'"
START = (
    "mkdir -p /run/mysqld; chown mysql /run/mysqld;"
    + starts("mariadbd", "--user=mysql", ready=ANSWERS)
    + r"""
mariadb --no-defaults <<'X'
CREATE USER admin@'%' IDENTIFIED BY 'p"q'; GRANT ALL ON *.* TO admin@'%' WITH GRANT OPTION;
CREATE DATABASE app_1; CREATE TABLE app_1.t (a int, b int); INSERT INTO app_1.t VALUES (1, 2);
CREATE PROCEDURE app_1.p() SELECT 1;
CREATE USER zoe@localhost IDENTIFIED BY 'one';
CREATE USER sock@localhost IDENTIFIED VIA unix_socket;
GRANT SELECT, UPDATE (b) ON app_1.t TO zoe@localhost;
GRANT SELECT, INSERT ON `app\_1`.* TO zoe@localhost WITH GRANT OPTION;
GRANT ALL ON `app%`.* TO sock@localhost; GRANT REPLICATION CLIENT ON *.* TO sock@localhost;
X
printf '[client]\npassword=wrong\n' >/root/options.cnf
mkdir -p /srv/sql; echo 'CREATE TABLE IF NOT EXISTS u (a int); SELECT a, b FROM t' >/srv/sql/q.sql
"""
)
# over the network, with a password that is stronger than that of the option file
NETWORK = {
    "connection_host": "127.0.0.1",
    "connection_port": 3306,
    "connection_user": "admin",
    "connection_pass": 'p"q',
    "connection_db": "mysql",
    "connection_unix_socket": "/run/mysqld/mysqld.sock",
    "connection_default_file": "/root/options.cnf",
    "connection_default_group": "client_app",
    "connection_charset": "utf8mb4",
}
HASH = "*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9"
ON_APP = {"database": "app_1.*", "user": "zoe"}
HOSTILE = "we'ir`d_%\\\" é"


server = on_machine("mysql_", START, layer="databases")


def on(function: str, **given: Any) -> Scenario:
    """A scenario with the server that START makes."""
    converges = not function.startswith("query.") or "overwrite" in f"{function}{[*given]}"
    return server(function, converges=converges, **given)


SCENARIOS = [
    on("user.present host=%", name="new ", password="p'w\\", **NETWORK),
    on("user.present password_column=Password", name=HOSTILE, password_hash=HASH),
    on("user.present name=zoe host=localhost password=one", plans=False),
    on("user.present name=new host=Web.Example password=x"),
    on("user.present name=zoe password=two auth_plugin=mysql_native_password"),
    on("user.present name=zoe allow_passwordless=true"),
    on("user.present name=zoe allow_passwordless=true unix_socket=true"),
    on("user.present name=sock allow_passwordless=true unix_socket=true", plans=False),
    on("user.present name=sock allow_passwordless=true", plans=False),
    on(
        "user.present name=new host=% allow_passwordless=true unix_socket=true",
        fails="unix_socket is for the host localhost",
    ),
    on("user.present name=zoe", fails="unless allow_passwordless is True"),
    on(
        "user.present name=zoe password=x connection_user=nobody",
        fails="MySQL Error 1698: Access denied for user 'nobody'",
    ),
    on("user.absent name=zoe host=localhost", **NETWORK),
    on("user.absent name=zoe host=%", plans=False),
    on("database.present character_set=utf8mb4 collate=utf8mb4_bin", name=HOSTILE, **NETWORK),
    on("database.present name=app_1 character_set=latin1"),
    on("database.present name=app_1 collate=utf8mb4_general_ci", plans=False),
    on("database.absent name=app_1", **NETWORK),
    on("database.absent name=app%", plans=False),
    on("grants.present grant='all privileges' host=localhost", **ON_APP, **NETWORK),
    on("grants.present grant=insert,SELECT grant_option=true", plans=False, **ON_APP),
    on("grants.present grant=select revoke_first=true", **ON_APP),
    on(
        "grants.present grant='update (`b`), insert(a, b)' database=app_1.t user=zoe",
        ssl_option=[{"SUBJECT": "/CN=it's"}, {"CIPHER": "AES"}],
    ),
    on("grants.present grant=usage database=*.* user=zoe ssl_option=[X509]"),
    on("grants.present grant=drop database=`app%`.* user=sock escape=false", plans=False),
    on("grants.present grant=drop database=app%.* user=sock"),
    on("grants.present grant='replication client' database=*.* user=sock", plans=False),
    on("grants.present grant='select; DROP'", **ON_APP, fails="Invalid grant: select; DROP"),
    on("grants.present grant=select database=app user=zoe", fails="expected db.table"),
    on("grants.present grant=select database=a.*", user="no", fails="no user no@localhost"),
    on("grants.present grant=execute database='procedure app_1.p' user=zoe"),
    on(
        "grants.present grant=process database=app_1.* user=zoe",
        fails="PROCESS is a right on the whole server: write `- database: '*.*'`",
    ),
    on(
        "grants.present grant=select,execute database=app_1.t user=zoe",
        fails="EXECUTE is no right on a table, but on a whole database",
    ),
    on("grants.absent grant=insert,delete host=localhost", **ON_APP, **NETWORK),
    on("grants.absent grant=insert host=LocalHost", **ON_APP),
    on("grants.absent grant=all grant_option=true", **ON_APP),
    on("grants.absent grant=update database=app_1.t user=zoe"),
    on("grants.absent grant=drop database=`app%`.* user=sock escape=false"),
    on("grants.absent grant=drop", plans=False, **ON_APP),
    on(
        "query.run database=app_1 query='INSERT INTO t VALUES (1, 3)' check_db_exists=true"
        " client_flags=[multi_statements]",
        **NETWORK,
    ),
    on("query.run database=app_1 query='SELECT * FROM t' output=/root/answers overwrite=false"),
    on("query.run database=app_1 query='SELECT * FROM t' output=grain grain=answers key=all"),
    on("query.run database=no_such query='SELECT 1'", fails="Database no_such is not present"),
    on(
        "query.run_file database=app_1 query_file=/srv/sql/q.sql saltenv=base"
        " client_flags=[multi_statements] check_db_exists=false",
        **NETWORK,
    ),
    on("query.run_file name=/srv/sql/q.sql database=app_1 output=/root/answers overwrite=false"),
    on("query.run_file name=/srv/sql/q.sql database=app_1 output=grain grain=answers key=all"),
    on("query.run_file name=/srv/no.sql database=app_1", fails="There is no file"),
]
