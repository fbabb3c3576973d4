# SPDX-License-Identifier: Apache-2.0
"""What collected reports say of all machines, and of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.model.records import Record

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

Row = Mapping[str, Any]
# stamp: what its page goes by, its last run and which runs it lists
MACHINES = """
    SELECT machine, jid, started, finished, test, outcome, failed, revision, dirty, tree, counts,
        drifted, errors, pending, pending_reactions, runner, age > overdue_after AS overdue,
        report || ' ' || newest || ' ' || oldest || ' ' || reports AS stamp
    FROM runner_machines AS m CROSS JOIN LATERAL (
        SELECT max(started) AS newest, min(started) AS oldest, count(*) AS reports
        FROM (
            SELECT started FROM runner_reports AS r WHERE r.machine = m.machine
            ORDER BY started DESC LIMIT %s
        ) AS listed
    ) AS listed, runner_settings ORDER BY machine
"""
# what a command printed is asked for beside the view: that of an earlier runner may have to do
FAILED = """
    SELECT machine, state, left(comment, 1000) AS comment, f.errors,
        CASE WHEN comment LIKE 'Command "%%" run' THEN (
            SELECT return -> state FROM salt_returns AS r WHERE r.jid = m.jid AND r.id = machine
        ) END AS command
    FROM runner_failed AS f JOIN (SELECT machine, jid FROM runner_machines) AS m USING (machine)
    ORDER BY machine, state
"""
DRIFTING = "SELECT machine, last_drift, runs, states FROM runner_drifting ORDER BY machine"
DAYS = """
    SELECT (started AT TIME ZONE 'UTC')::date AS day, count(*) AS runs,
        count(*) FILTER (WHERE failed) AS failed, count(*) FILTER (WHERE drifted > 0) AS drifted
    FROM runner_reports WHERE started > now() - interval '14 days' GROUP BY day ORDER BY day DESC
"""
RUNS = """
    SELECT run, started, duration AS took, command, test, outcome, revision, dirty, counts, drifted
    FROM runner_reports WHERE machine = %s ORDER BY started DESC LIMIT %s
"""
_STATES = "SELECT return FROM salt_returns WHERE jid = %s AND id = %s LIMIT 1"


class Overview(Record):
    """All machines, each with the last run of its tree; and what needs somebody's attention."""

    machines: Sequence[Row]
    failed: Sequence[Row]
    drifting: Sequence[Row]
    days: Sequence[Row]


def overview(connection: Connection, most: int) -> Overview:
    """Read it. most: runs that the page of a machine lists. Raises psycopg.Error."""
    machines = _rows(connection, MACHINES, most)
    return Overview(machines, *(_rows(connection, query) for query in (FAILED, DRIFTING, DAYS)))


def runs_of(connection: Connection, machine: str, most: int) -> Sequence[Row]:
    """The last runs of a machine, the newest first. Raises psycopg.Error."""
    return _rows(connection, RUNS, machine, most)


def states_of(connection: Connection, machine: Row) -> Mapping[str, Any]:
    """The states of the last run of a machine, as Salt's JSON has them. Raises psycopg.Error."""
    row = connection.execute(_STATES, (machine["jid"], machine["machine"])).fetchone()
    return row[0] if row and isinstance(row[0], dict) else {}


def _rows(connection: Connection, query: str, *values: Any) -> Sequence[Row]:
    from psycopg.rows import dict_row

    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query, values).fetchall()
