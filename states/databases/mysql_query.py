# SPDX-License-Identifier: Apache-2.0
"""Queries of MariaDB and MySQL that are run in each run."""

from __future__ import annotations

from typing import Any, Literal

from modules import file
from modules.databases import mysql
from modules.databases.mysql import Connection, MysqlServer
from modules.grains import static
from runner.api import OPEN, Line, OneOrMany, Plan, Planned, Record, StateFailed, here
from runner.api.kinds import comes_after
from states.databases._mysql import SERVER

NON_IDEMPOTENT = {
    "run": "it runs the query in each run, unless its output is there and overwrite is False",
    "run_file": "it runs the file in each run, unless its output is there and overwrite is False",
}
WHY = "what a query answers and changes is known when it has run"


def run(
    name: Line,
    database: Line,
    query: str,
    output: Line | None = None,
    grain: Line | None = None,
    key: Line | None = None,
    overwrite: bool = True,
    check_db_exists: bool = True,
    client_flags: OneOrMany[Literal["multi_statements", "multi_results"]] | None = None,
    server: Connection = MysqlServer(),
) -> Planned:
    """Run a query in a database.

    name: Names the state.
    database: The database that the query runs in.
    query: The statement, or several.
    output: What takes the answer: the path of a file, or `grain`; without it the comment of the
      result has it.
    grain: The grain that takes the answer.
    key: The key in the grain that takes the answer.
    overwrite: False makes no query where the file, the grain or the key is there already.
    check_db_exists: Fail where there is no such database; false does not look.
    client_flags: `multi_statements` and `multi_results`, which are on in any case; further options
      of the client are in the file that connection_default_file names.

        count users:
          mysql_query.run:
            - database: app
            - query: SELECT COUNT(*) AS users FROM users
            - output: /var/lib/app/users.txt
    """
    if check_db_exists:
        _require_database(server, database)
    target = AnswerTarget(output, grain, key)
    return (yield from _executed(server.within(database), query, target, overwrite))


def run_file(
    name: Line,
    database: Line,
    query_file: Line | None = None,
    output: Line | None = None,
    grain: Line | None = None,
    key: Line | None = None,
    overwrite: bool = True,
    saltenv: Line | None = None,
    check_db_exists: bool = True,
    client_flags: OneOrMany[Literal["multi_statements", "multi_results"]] | None = None,
    server: Connection = MysqlServer(),
) -> Planned:
    """Run the statements of a file in a database.

    name: Names the state, or without query_file the file.
    database: The database that the statements run in.
    query_file: The file with the statements (salt://, a path).
    output, grain, key, overwrite, check_db_exists: as of mysql_query.run.
    saltenv: The environment that a salt:// file comes from.
    client_flags: `multi_statements` and `multi_results`, which are on in any case; further options
      of the client are in the file that connection_default_file names.

        salt://db/schema.sql:
          mysql_query.run_file:
            - database: app
    """
    text = mysql.script_text(query_file or name, saltenv or here.saltenv)
    if check_db_exists:
        _require_database(server, database)
    target = AnswerTarget(output, grain, key)
    return (yield from _executed(server.within(database), text, target, overwrite))


class AnswerTarget(Record):
    """The place that takes the answer: as the arguments output, grain and key say it."""

    output: str | None = None
    grain: str | None = None
    key: str | None = None

    @property
    def title(self) -> str:
        if self.output != "grain":
            return f"file: {self.output}" if self.output else ""
        return f"grain: {self.grain}" + (f":{self.key}" if self.key else "")

    def taken(self) -> bool:
        """Return whether there is an answer already. Raises StateFailed for what takes none."""
        if self.output is None:
            return False
        if self.output == "grain":
            if not self.grain:
                raise StateFailed("Error: output type 'grain' needs the grain parameter")
            there = {**here.grains, **static.read()}.get(self.grain, _NOTHING)
            if self.key is None:
                return there is not _NOTHING
            return isinstance(there, dict) and self.key in there
        if not self.output.startswith("/"):
            raise StateFailed(f"output: expected grain or an absolute path, not {self.output}")
        return file.is_file(self.output)

    def take(self, answer: dict[str, Any]) -> None:
        """Store an answer."""
        if self.output == "grain":
            place = f"{self.grain}:{self.key}" if self.key else str(self.grain)
            static.put(static.with_value(place, answer, force=True))
        elif self.output:
            rows = answer.get("results")
            pairs = [pair for row in rows for pair in row.items()] if rows else answer.items()
            lines = "".join(f"{column}:{value}\n" for column, value in pairs)
            file.write(self.output, lines.encode())


_NOTHING: Any = object()


def _require_database(server: MysqlServer, database: str) -> None:
    if database not in mysql.databases(server, database):
        raise StateFailed(
            f"Database {database} is not present", missing=("mysql_database", database)
        )


def _executed(server: MysqlServer, text: str, target: AnswerTarget, overwrite: bool) -> Planned:
    there = target.taken()
    if there and not overwrite:
        title = target.title.replace("grain: ", "Grain ").replace("file: ", "File ")
        return f"No execution needed. {title} already set"
    into = target.title.removeprefix("file: ")
    changes = {"query": f"Executed. Output into {into}" if into else "Executed"}
    where = f"storing result in {target.title}" if into else "not storing result"
    yield Plan(changes, f"Query would execute, {where}", exact=False, why=WHY, provides=OPEN)
    answer = mysql.executed(server, text)
    if "results" in answer:
        columns = answer["columns"]
        answer["results"] = [dict(zip(columns, row, strict=True)) for row in answer["results"]]
    target.take(answer)
    return str(answer)


autorequire = comes_after(
    "A query comes after the server and the database.", *SERVER, database="mysql_database"
)
