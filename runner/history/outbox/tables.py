# SPDX-License-Identifier: Apache-2.0
"""The tables in PostgreSQL, and the rows of a report in them.

`jids`, `salt_returns` and `salt_events` are those of Salt's returner pgjsonb, so that what reads
them goes on to work; `runner_reports` has what Salt does not know, and the views are made of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

TABLES = ("jids", "salt_returns", "salt_events", "runner_reports", "runner_settings")
LOCK = 0x72756E6E6572  # of those who make them, so that two at once do not collide
VERSION = 2  # of the schema: a later one is more; what is older is brought up to date
MADE_BY = "tables of runner, version {}"
# whoever writes reports begins with this table: who waits for it holds nothing that they need
WAIT_FOR_WRITERS = """
DO $$ BEGIN
    IF to_regclass('runner_reports') IS NOT NULL THEN
        LOCK TABLE runner_reports IN SHARE ROW EXCLUSIVE MODE;
    END IF;
END $$
"""
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS jids (jid varchar(255) NOT NULL PRIMARY KEY, load jsonb NOT NULL)",
    """
    CREATE TABLE IF NOT EXISTS salt_returns (
        fun varchar(50) NOT NULL, jid varchar(255) NOT NULL, return jsonb NOT NULL,
        id varchar(255) NOT NULL, success varchar(10) NOT NULL, full_ret jsonb NOT NULL,
        alter_time timestamp with time zone DEFAULT now()
    )
    """,
    "CREATE INDEX IF NOT EXISTS idx_salt_returns_id ON salt_returns (id)",
    "CREATE INDEX IF NOT EXISTS idx_salt_returns_jid ON salt_returns (jid)",
    "CREATE INDEX IF NOT EXISTS idx_salt_returns_fun ON salt_returns (fun)",
    "CREATE SEQUENCE IF NOT EXISTS seq_salt_events_id",
    """
    CREATE TABLE IF NOT EXISTS salt_events (
        id bigint NOT NULL UNIQUE DEFAULT nextval('seq_salt_events_id'),
        tag varchar(255) NOT NULL, data jsonb NOT NULL,
        alter_time timestamp with time zone DEFAULT now(), master_id varchar(255) NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS idx_salt_events_tag ON salt_events (tag)",
    """
    CREATE TABLE IF NOT EXISTS runner_reports (
        id uuid PRIMARY KEY, machine text NOT NULL, run text NOT NULL, jid text NOT NULL,
        started timestamptz NOT NULL, finished timestamptz NOT NULL,
        received timestamptz NOT NULL DEFAULT now(), duration double precision NOT NULL,
        command text NOT NULL, fun text NOT NULL, of_tree boolean NOT NULL, test boolean NOT NULL,
        outcome text NOT NULL, failed boolean NOT NULL, revision text, dirty boolean, tree text,
        counts jsonb NOT NULL, drifted integer NOT NULL, errors jsonb NOT NULL,
        pending_reactions jsonb NOT NULL, dropped integer NOT NULL, rejected integer NOT NULL,
        runner text
    )
    """,
    """
    CREATE INDEX IF NOT EXISTS runner_reports_by_machine
    ON runner_reports (machine, of_tree, test, started DESC)
    """,
    "CREATE INDEX IF NOT EXISTS runner_reports_by_time ON runner_reports (started)",
    """
    CREATE INDEX IF NOT EXISTS runner_reports_of_machine ON runner_reports (machine, started DESC)
    """,
    """
    CREATE INDEX IF NOT EXISTS runner_reports_drifted
    ON runner_reports (started) INCLUDE (machine, drifted) WHERE drifted > 0
    """,
    # one row, for people to change
    """
    CREATE TABLE IF NOT EXISTS runner_settings (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        overdue_after interval NOT NULL DEFAULT '1 day',
        drift_window interval NOT NULL DEFAULT '7 days'
    )
    """,
    "INSERT INTO runner_settings DEFAULT VALUES ON CONFLICT DO NOTHING",
    # the last real run of its tree; of a machine that has only dry runs, the last of these: found
    # machine by machine in the indexes, however many reports there are
    """
    CREATE OR REPLACE VIEW runner_machines AS
    WITH RECURSIVE names AS (
        (SELECT machine FROM runner_reports ORDER BY machine LIMIT 1)
        UNION ALL
        SELECT (
            SELECT machine FROM runner_reports WHERE machine > n.machine ORDER BY machine LIMIT 1
        ) FROM names AS n WHERE n.machine IS NOT NULL
    )
    SELECT r.machine, id AS report, jid, started, finished,
        now() - finished AS age, test, outcome, failed, revision, dirty, tree, counts, drifted,
        errors, jsonb_array_length(pending_reactions) AS pending, pending_reactions, runner
    FROM names CROSS JOIN LATERAL (
        SELECT * FROM runner_reports WHERE machine = names.machine AND of_tree
        ORDER BY test, started DESC LIMIT 1
    ) AS r
    """,
    """
    CREATE OR REPLACE VIEW runner_overdue AS
    SELECT machine, finished AS last_report, age, test, outcome, revision FROM runner_machines
    WHERE age > (SELECT overdue_after FROM runner_settings)
    """,
    """
    CREATE OR REPLACE VIEW runner_failed AS
    SELECT m.machine, m.started, m.test, m.outcome, m.revision, m.tree, m.errors, s.key AS state,
        s.value ->> 'comment' AS comment
    FROM runner_machines AS m
    LEFT JOIN salt_returns AS r ON r.jid = m.jid AND r.id = m.machine
    LEFT JOIN LATERAL (
        SELECT key, value
        FROM jsonb_each(CASE jsonb_typeof(r.return) WHEN 'object' THEN r.return ELSE '{}' END)
        WHERE value -> 'result' = 'false'
    ) AS s ON true
    WHERE m.failed
    """,
    """
    CREATE OR REPLACE VIEW runner_drifting AS
    SELECT machine, max(started) AS last_drift, count(*) AS runs, sum(drifted) AS states
    FROM runner_reports
    WHERE drifted > 0 AND started > now() - (SELECT drift_window FROM runner_settings)
    GROUP BY machine
    """,
    """
    CREATE OR REPLACE VIEW runner_pending AS
    SELECT m.machine, p.value ->> 'reactor' AS reactor, p.value ->> 'kind' AS kind,
        p.value ->> 'source' AS source, p.value ->> 'time' AS since, m.started AS last_run
    FROM runner_machines AS m, jsonb_array_elements(m.pending_reactions) AS p
    """,
    """
    CREATE OR REPLACE VIEW runner_revisions AS
    SELECT revision, dirty, count(*) AS machines, count(*) FILTER (WHERE failed) AS failed,
        min(finished) AS oldest, max(finished) AS newest
    FROM runner_machines GROUP BY revision, dirty
    """,
)
VIEWS = ("machines", "overdue", "failed", "drifting", "pending", "revisions")
_REPORT = tuple(
    """
    id machine run jid started finished duration command fun of_tree test outcome failed revision
    dirty tree counts drifted errors pending_reactions dropped rejected runner
    """.split()
)
INSERT_REPORT = (
    f"INSERT INTO runner_reports ({', '.join(_REPORT)})"
    f" VALUES ({', '.join(['%s'] * len(_REPORT))}) ON CONFLICT DO NOTHING"
)
INSERT_JID = "INSERT INTO jids (jid, load) VALUES (%s, %s) ON CONFLICT DO NOTHING"
INSERT_RETURN = (
    "INSERT INTO salt_returns (fun, jid, return, id, success, full_ret, alter_time)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s)"
)
INSERT_EVENT = "INSERT INTO salt_events (tag, data, master_id, alter_time) VALUES (%s, %s, %s, %s)"


def are_missing(connection: Connection) -> bool:
    """Return whether a table or a view is not there."""
    names = [*TABLES, *(f"runner_{view}" for view in VIEWS)]
    query = "SELECT count(*) FROM unnest(%s::text[]) AS name WHERE to_regclass(name) IS NULL"
    row = connection.execute(query, (names,)).fetchone()
    return row is not None and row[0] > 0


def are_older(connection: Connection) -> bool:
    """Return whether an earlier runner made the tables and views that are there."""
    query = "SELECT obj_description(to_regclass('runner_settings'), 'pg_class')"
    row = connection.execute(query).fetchone()
    made = re.fullmatch(MADE_BY.format(r"(\d+)"), (row and row[0]) or "")
    return made is None or int(made[1]) < VERSION


def create(connection: Connection) -> None:
    """Make the tables and views that are not there, and those of an earlier runner as they are
    here. Raises psycopg.Error.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute("SET LOCAL statement_timeout = 0")  # an index of many rows takes long
        connection.execute(WAIT_FOR_WRITERS)
        for statement in SCHEMA:
            connection.execute(statement)
        said = MADE_BY.format(VERSION)
        connection.execute(f"COMMENT ON TABLE runner_settings IS '{said}'")


def store(connection: Connection, reports: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Write the rows of reports, all or none; of each, whether it was not there before. Raises
    psycopg.Error.

    It needs no more than the right to insert. Statements go out in a pipeline: as quick as COPY,
    which can neither leave out what is there already nor keep to policies of rows.
    """
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(INSERT_REPORT, [_report(one) for one in reports], returning=True)
        new = [bool(cursor.rowcount)]
        while cursor.nextset():
            new.append(bool(cursor.rowcount))
        written = [one for one, is_new in zip(reports, new, strict=True) if is_new]
        for insert, row in ((INSERT_JID, _jid), (INSERT_RETURN, _return), (INSERT_EVENT, _event)):
            cursor.executemany(insert, [row(one) for one in written])
    return new


def _report(report: Mapping[str, Any]) -> list[Any]:
    row = {**report, **_columns(report)}
    return [_value(row.get(name)) for name in _REPORT]


def _jid(report: Mapping[str, Any]) -> tuple[Any, ...]:
    jid = report["jid"]
    load = {"jid": jid, "fun": report["fun"], "tgt": report["machine"], "tgt_type": "glob"}
    load |= {"user": "runner", "arg": _arguments(report), "cmd": "publish"}
    return jid, _value(load)


def _return(report: Mapping[str, Any]) -> tuple[Any, ...]:
    about = _about(report)
    # most of a report: written once, and put into the other text as it is
    returned = _value(report["states"] or report["errors"])
    full = f'{_value({**about, "cmd": "_return"})[:-1]}, "return": {returned}}}'
    success, finished = str(about["success"]), datetime.fromisoformat(report["finished"])
    return report["fun"], report["jid"], returned, report["machine"], success, full, finished


def _event(report: Mapping[str, Any]) -> tuple[Any, ...]:
    tag = f"salt/job/{report['jid']}/ret/{report['machine']}"[:255]
    return tag, _value(_about(report)), "runner", datetime.fromisoformat(report["finished"])


def _about(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Salt's tables say of a job that returned."""
    return {
        "id": report["machine"],
        "jid": report["jid"],
        "fun": report["fun"],
        "fun_args": _arguments(report),
        "success": not _columns(report)["failed"],
        "retcode": report["exit_code"],
        "_stamp": report["finished"],
    }


def _arguments(report: Mapping[str, Any]) -> list[str]:
    return ["test=True"] if report["test"] else []


def _columns(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the table has and a report has not, or differently."""
    lost, fun = report.get("lost", {}), report["fun"]
    return {
        "started": datetime.fromisoformat(report["started"]),
        "finished": datetime.fromisoformat(report["finished"]),
        "of_tree": (fun.startswith("state.") and fun != "state.single") or fun == "runner.apply",
        "failed": report["exit_code"] != 0 or report.get("tree") == "refused",
        "dropped": lost.get("dropped", 0),
        "rejected": lost.get("rejected", 0),
    }


def _value(value: Any) -> Any:
    is_json = isinstance(value, dict | list)
    return json.dumps(value, ensure_ascii=False) if is_json else value
