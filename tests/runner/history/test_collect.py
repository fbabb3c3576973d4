# SPDX-License-Identifier: Apache-2.0
"""Reports in PostgreSQL: collected from files, and written by the machines themselves."""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import postgres_server
import pytest
import yaml
from command import ROOT, Machine, prestarted_server
from pages import Parsed
from run_pages import ATTACK

from runner.history.outbox import collecting, overview, tables
from runner.history.outbox.collecting import Collector
from runner.history.outbox.document import ReportFacts, document, parsed, text_of
from runner.history.outbox.postgresql import connected
from runner.history.outbox.tables import VIEWS
from runner.sources.config.report import KEYS, destination, mistakes

OK = {"name": "x", "result": True, "changes": {}, "comment": "", "__id__": "x"}
GRANTS = """
CREATE ROLE machines LOGIN;
GRANT INSERT ON jids, salt_returns, salt_events, runner_reports TO machines;
GRANT USAGE ON SEQUENCE seq_salt_events_id TO machines;
"""


@pytest.fixture
def database() -> Iterator[str]:
    """The name of an empty database."""
    name = f"reports_{uuid.uuid4().hex[:8]}"
    postgres_server.sql(f"CREATE DATABASE {name}")
    yield name
    postgres_server.sql(f"DROP DATABASE {name} WITH (FORCE)")


def address(database: str, user: str = "postgres") -> str:
    where = f"host={postgres_server.FOLDER}&port={postgres_server.PORT}"
    return f"postgresql://{user}@/{database}?{where}"


def rows(database: str, query: str) -> list[str]:
    return postgres_server.sql(query, database=database).splitlines()


def made(machine: str, ago: timedelta = timedelta(), **more: Any) -> dict[str, Any]:
    """A report of a machine. more: other values of it."""
    moment = (datetime.now(UTC) - ago).timestamp()
    facts = ReportFacts(
        machine, "r1", moment - 2, moment, 2.0, "runner highstate", "state.highstate", False,
        "done", 0, "0", "abc", False, "used",
    )  # fmt: skip
    return {**document(facts, {"file_|-x_|-x_|-managed": OK}, {"unchanged": 1}, [], []), **more}


def put(folder: Path, report: dict[str, Any]) -> str:
    folder.mkdir(exist_ok=True)
    name = f"{report['jid']}-{report['id']}.json"
    (folder / name).write_bytes(text_of(report))
    return name


def collect(machine: Machine, database: str, code: int = 0, folder: str = "drop") -> str:
    """Return what `runner collect` says."""
    words = ["collect", str(machine.folder / folder), "--to", address(database)]
    done = called(machine, *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def called(machine: Machine, *words: str) -> Any:
    """A run of runner without a configuration."""
    return prestarted_server().run([*words], machine.environment, 60)


def test_reports_are_collected_once(machine: Machine, database: str) -> None:
    drop = machine.folder / "drop"
    fallen = {**OK, "result": False, "comment": 'it\'s "broken"; DROP TABLE jids; --%s\0\udcff'}
    pending = {
        "reactor": "a",
        "kind": "watch",
        "source": "b",
        "run": "r0",
        "time": "t",
        "place": "",
    }
    put(drop, made("good"))
    put(drop, made("late", timedelta(days=2), revision="old"))
    put(drop, made("bad", outcome="failed", exit_code=2, states={"cmd_|-x_|-x_|-run": fallen}))
    put(drop, made("broken", errors=["a mistake"], states={}, exit_code=1))
    put(drop, made("drifting", drifted=2))
    put(drop, made("misled", tree="refused"))
    put(drop, made("owing", pending_reactions=[pending]))
    put(drop, made("healed", timedelta(hours=1), outcome="failed", exit_code=2))
    put(drop, made("healed"))
    put(drop, made("healed", test=True, exit_code=2))
    put(drop, made("healed", fun="state.single", exit_code=2))
    put(drop, made("audited", test=True))
    put(drop, made("it's; DROP TABLE jids; --"))
    twice = made("again")
    put(drop, twice)
    (drop / "other-name").write_bytes(text_of(twice))
    assert "14 taken, 1 known already, 0 rejected." in collect(machine, database)
    assert [*drop.iterdir()] == []
    put(drop, twice)
    assert "0 taken, 1 known already" in collect(machine, database)

    def machines(view: str, more: str = "") -> list[str]:
        return rows(database, f"SELECT machine{more} FROM runner_{view} ORDER BY machine")

    assert machines("machines") == [
        "again",
        "audited",
        "bad",
        "broken",
        "drifting",
        "good",
        "healed",
        "it's; DROP TABLE jids; --",
        "late",
        "misled",
        "owing",
    ]
    assert machines("overdue") == ["late"]
    assert machines("failed", ", state, errors") == [
        "bad|cmd_|-x_|-x_|-run|[]",
        'broken||["a mistake"]',
        "misled||[]",
    ]
    assert machines("drifting", ", runs, states") == ["drifting|1|2"]
    assert machines("pending", ", reactor, kind, source") == ["owing|a|watch|b"]
    revisions = "SELECT revision, machines, failed FROM runner_revisions ORDER BY revision"
    assert rows(database, revisions) == ["abc|10|3", "old|1|0"]
    (comment,) = rows(database, "SELECT comment FROM runner_failed WHERE machine = 'bad'")
    assert comment == fallen["comment"].replace("\0\udcff", "\N{REPLACEMENT CHARACTER}" * 2)
    # what reads Salt's tables goes on to work
    salt = "SELECT fun, success, full_ret ->> 'retcode' FROM salt_returns WHERE id = 'bad'"
    assert rows(database, salt) == ["state.highstate|False|2"]
    joined = "SELECT count(*) FROM jids JOIN salt_returns USING (jid) WHERE return IS NOT NULL"
    assert rows(database, joined) == ["14"]
    event = "SELECT data ->> 'id' FROM salt_events WHERE tag LIKE 'salt/job/%/ret/bad'"
    assert rows(database, event) == ["bad"]


def test_what_is_no_report_is_rejected_and_the_rest_goes_on(
    machine: Machine, database: str
) -> None:
    drop, secret = machine.folder / "drop", machine.folder / "secret"
    secret.write_text("very-private")
    good = put(drop, made("good"))
    report = made("x")
    bad: dict[str, bytes] = {
        "half": text_of(report)[:-20],
        "empty": b"",
        "latin": b'{"a": "\xe9"}',
        "list": b"[]",
        "deep": b"[" * 100_000,
        "no-id": text_of({**report, "id": "../../etc"}),
        "no-zone": text_of({**report, "started": "2026-01-01T00:00:00"}),
        "long": text_of({**report, "machine": "m" * 300}),
        "number": text_of({**report, "drifted": 2**40}),
        "nan": text_of(report).replace(b'"duration": 2.0', b'"duration": NaN'),
        "states": text_of({**report, "states": {"x": 1}}),
        "very long name " + "n" * 200: b"{",
    }
    for name, data in bad.items():
        (drop / name).write_bytes(data)
    (drop / "link").symlink_to(secret)
    (drop / "folder").mkdir()
    os.mkfifo(drop / "pipe")
    (drop / "large").touch()
    os.truncate(drop / "large", 64 * 1024 * 1024)
    (drop / ".unfinished").write_text("{")
    said = collect(machine, database, code=2)
    assert f"1 taken, 0 known already, {len(bad) + 4} rejected." in said
    assert "'link' is rejected: it is no regular file" in said
    rejected = drop / "rejected"
    assert not (drop / good).exists()
    assert sorted(path.name for path in drop.iterdir()) == [".unfinished", "rejected"]
    reasons = {path.name: path.read_text() for path in rejected.glob("*.reason")}
    assert reasons["half.reason"] == "it is not JSON, or its end is missing\n"
    assert reasons["large.reason"] == "it has more than 32 MiB\n"
    assert "very-private" not in said + str(reasons)
    assert secret.read_text() == "very-private"
    assert len(reasons) == len(bad) + 4
    assert rows(database, "SELECT machine FROM runner_reports") == ["good"]
    (drop / "half").write_bytes(b"{")
    collect(machine, database, code=2)
    assert (rejected / "half.1").exists(), "one of the same name is kept, too"


def test_who_may_deliver_cannot_stop_the_collection(machine: Machine, database: str) -> None:
    drop, elsewhere = machine.folder / "drop", machine.folder / "elsewhere"
    elsewhere.mkdir()
    good = put(drop, made("good"))
    (drop / "bad").write_text("{")
    (drop / "rejected").symlink_to(elsewhere)
    assert "it cannot be moved to rejected" in collect(machine, database, code=2)
    assert [*elsewhere.iterdir()] == []
    assert not (drop / good).exists()
    assert rows(database, "SELECT machine FROM runner_reports") == ["good"]
    (drop / "rejected").unlink()
    (drop / "rejected").mkdir()
    os.mkfifo(drop / "rejected/bad.reason")
    (elsewhere / "f").write_text("mine")
    os.link(elsewhere / "f", drop / "rejected/bad.1.reason")
    assert "'bad' is rejected: it is not JSON" in collect(machine, database, code=2)
    assert (drop / "rejected/bad.2.reason").is_file()
    assert (elsewhere / "f").read_text() == "mine"


def test_a_large_report_keeps_what_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**OK, "changes": {"diff": "x" * 300}}
    report = made("m", states={"a": OK, "b": changed, "c": {**OK, "result": False}})
    whole = len(text_of(report))
    monkeypatch.setattr("runner.history.outbox.document.LARGEST", whole - 1)
    assert [*parsed(text_of(report))["states"]] == ["b", "c"]
    monkeypatch.setattr("runner.history.outbox.document.LARGEST", whole - 200)
    short = parsed(text_of(report))
    assert [state["result"] for state in short["states"].values()] == [True, True, False]
    assert "changes" not in short["states"]["b"]
    odd = parsed(text_of(made("m", states={"a": {**OK, "changes": {"n": float("nan")}}})))
    assert odd["states"]["a"]["changes"] == {"n": "NaN"}


def test_what_postgresql_cannot_hold_becomes_text(machine: Machine, database: str) -> None:
    odd = {**OK, "comment": "MARK", "changes": {"n": "NUMBER", "path": "C:\\u0000"}}
    data = text_of(made("m", states={"a": odd}))
    drop = machine.folder / "drop"
    drop.mkdir()
    odd_data = data.replace(b"MARK", rb"a\u0000\ud800\u00e9").replace(b'"NUMBER"', b"-1e999")
    (drop / "report").write_bytes(odd_data)
    assert "1 taken" in collect(machine, database)
    (comment,) = rows(database, "SELECT return -> 'a' ->> 'comment' FROM salt_returns")
    assert comment == "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}\u00e9"
    (changes,) = rows(database, "SELECT full_ret -> 'return' -> 'a' -> 'changes' FROM salt_returns")
    assert json.loads(changes) == {"n": "-1e999", "path": "C:\\u0000"}


def test_no_file_is_lost_before_it_is_committed(machine: Machine, database: str) -> None:
    drop = machine.folder / "drop"
    put(drop, made("a"))
    collect(machine, database)
    put(drop, made("b"))
    # the last of a report's rows fails: nothing of it is there, and the file stays
    postgres_server.sql("ALTER TABLE salt_events RENAME TO away", database=database)
    postgres_server.sql("CREATE VIEW salt_events AS SELECT 1 AS tag", database=database)
    assert "error:" in collect(machine, database, code=1)
    assert len([*drop.iterdir()]) == 1
    assert rows(database, "SELECT machine FROM runner_reports") == ["a"]
    postgres_server.sql("DROP VIEW salt_events", database=database)
    postgres_server.sql("ALTER TABLE away RENAME TO salt_events", database=database)
    assert "1 taken" in collect(machine, database)
    assert [*drop.iterdir()] == []


def test_one_that_the_server_refuses_takes_no_other_with_it(
    machine: Machine, database: str
) -> None:
    called(machine, "collect", "--init", "--to", address(database))
    check = "ALTER TABLE salt_returns ADD CHECK (id <> 'evil')"
    postgres_server.sql(check, database=database)
    drop = machine.folder / "drop"
    reports = {name: made(name) for name in ("a", "evil", "z")}
    for report in (*reports.values(), reports["a"]):
        put(drop, report)
    (drop / "again").write_bytes(text_of(reports["z"]))
    assert "2 taken, 1 known already, 1 rejected." in collect(machine, database, code=2)
    for table, column in (("runner_reports", "machine"), ("salt_returns", "id")):
        assert rows(database, f"SELECT {column} FROM {table} ORDER BY 1") == ["a", "z"]
    assert "check constraint" in (*(drop / "rejected").glob("*.reason"),)[0].read_text()


def test_what_is_killed_before_it_removes_files_stores_none_twice(
    machine: Machine, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(collector: Collector, file: object) -> None:
        raise KeyboardInterrupt

    called(machine, "collect", "--init", "--to", address(database))
    drop = machine.folder / "drop"
    for number in range(5):
        put(drop, made(f"m{number}"))
    monkeypatch.setattr(collecting, "TOGETHER", 3)
    monkeypatch.setattr(Collector, "_remove", killed)
    to = destination({"to": address(database)})
    with connected(to) as connection:
        collector = Collector(str(drop), connection, to.address)
        with pytest.raises(KeyboardInterrupt):
            collector()
    os.close(collector._folder)
    assert len([*drop.iterdir()]) == 5
    assert rows(database, "SELECT count(*) FROM runner_reports") == ["3"]
    assert "2 taken, 3 known already" in collect(machine, database)
    for table in ("runner_reports", "salt_returns", "salt_events", "jids"):
        assert rows(database, f"SELECT count(*) FROM {table}") == ["5"], table


# ---------------------------------------------------------------- tables of an earlier runner

EARLIER = """
CREATE OR REPLACE VIEW runner_machines AS
SELECT DISTINCT ON (machine) machine, id AS report, jid, started, finished,
    now() - finished AS age, test, outcome, failed, revision, dirty, tree, counts, drifted,
    errors, jsonb_array_length(pending_reactions) AS pending, pending_reactions, runner
FROM runner_reports WHERE of_tree ORDER BY machine, test, started DESC;
DROP INDEX runner_reports_of_machine, runner_reports_drifted;
COMMENT ON TABLE runner_settings IS NULL;
CREATE VIEW mine AS SELECT machine, report FROM runner_machines WHERE NOT failed;
UPDATE runner_settings SET overdue_after = '3 hours';
"""
STANDING = """
SELECT (SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'runner_reports_%%'),
    pg_get_viewdef('runner_machines') LIKE '%%RECURSIVE%%'
"""


def test_tables_of_an_earlier_runner_are_brought_up_to_date(
    machine: Machine, database: str
) -> None:
    drop = machine.folder / "drop"
    put(drop, made("a", timedelta(hours=4)))
    collect(machine, database)
    new = rows(database, STANDING)
    postgres_server.sql(EARLIER, database=database)
    assert rows(database, STANDING) != new
    put(drop, made("b", timedelta(hours=4)))
    assert "1 taken" in collect(machine, database)
    assert rows(database, STANDING) == new
    assert rows(database, "SELECT machine FROM mine ORDER BY 1") == ["a", "b"]
    assert rows(database, "SELECT machine FROM runner_overdue ORDER BY 1") == ["a", "b"]
    later = f"COMMENT ON TABLE runner_settings IS '{tables.MADE_BY.format(tables.VERSION + 1)}'"
    postgres_server.sql(f"{EARLIER.partition('CREATE VIEW')[0]}{later}", database=database)
    before = rows(database, STANDING)
    assert collect(machine, database).startswith("0 taken")
    assert rows(database, STANDING) == before, "a later runner's tables are left alone"


def test_who_may_not_change_the_tables_goes_on_with_those_of_an_earlier_runner(
    machine: Machine, database: str
) -> None:
    called(machine, "collect", "--init", "--to", address(database))
    postgres_server.sql(EARLIER, database=database)
    postgres_server.sql("DROP ROLE IF EXISTS machines", database=database)
    postgres_server.sql(GRANTS, database=database)
    folder = machine.folder / "drop"
    put(folder, made("a"))
    try:
        to = address(database, "machines")
        done = called(machine, "collect", str(folder), "--to", to)
        assert done.returncode == 0 and done.stdout.startswith("1 taken")
        assert "warning: tables of an earlier runner: " in done.stderr
        assert "must be owner" in done.stderr or "permission denied" in done.stderr
        assert "runner collect --init" in done.stderr
    finally:
        postgres_server.sql("DROP OWNED BY machines; DROP ROLE machines", database=database)


def test_a_changed_schema_has_a_new_version() -> None:
    text = " ".join(" ".join(tables.SCHEMA).split())
    made_of = (tables.VERSION, hashlib.sha256(text.encode()).hexdigest()[:12])
    assert made_of == (2, "692c3ae1b780"), "raise VERSION, so that tables that are there follow"


def test_the_index_reads_few_reports_of_each_machine(machine: Machine, database: str) -> None:
    """Whatever number of reports there is, so that its queries stay quick."""
    put(machine.folder / "drop", made("a"))
    collect(machine, database)
    columns = "run, jid, duration, command, fun, of_tree, test, outcome, failed, counts, errors,"
    columns += " pending_reactions, dropped, rejected"
    multiplied = f"""
    INSERT INTO runner_reports (id, machine, started, finished, drifted, {columns})
    SELECT gen_random_uuid(), machine, started - number * interval '1 minute', finished, 0,
        {columns} FROM runner_reports, generate_series(1, 1000) AS number
    """
    postgres_server.sql(multiplied, "ANALYZE", database=database)
    to = destination({"to": address(database)})
    with connected(to) as connection:
        for way in ("seqscan", "bitmapscan"):  # better for a table as small as this one
            connection.execute(f"SET enable_{way} = off")
        for query, values in ((overview.MACHINES, (100,)), (overview.DRIFTING, ())):
            explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {query}"
            row = connection.execute(explain, values).fetchone()
            assert row is not None
            assert max(read(row[0][0]["Plan"])) <= 100, query


def read(plan: dict[str, Any]) -> Iterator[int]:
    """How many reports each step of a plan has read."""
    if plan.get("Relation Name") == "runner_reports":
        yield (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    for step in plan.get("Plans", ()):
        yield from read(step)


def test_machines_write_the_same_rows_themselves(machine: Machine, database: str) -> None:
    machine.write(site="{tmp}/motd:\n  file.managed:\n    - contents: hello\n")
    machine.config["report"] = {"to": address(database)}
    done = machine("sls", "site")
    assert "the tables are not there" in done.stderr
    assert "runner collect --init" in done.stderr
    assert called(machine, "collect", "--init", "--to", address(database)).returncode == 0
    postgres_server.sql("DROP ROLE IF EXISTS machines", database=database)
    postgres_server.sql(GRANTS, database=database)
    machine.config["report"] = {"to": address(database, "machines")}
    try:
        machine("report", "send")
        assert machine("sls", "site", "--test").stderr == ""
        query = "SELECT machine, test, counts ->> 'changed' FROM runner_reports ORDER BY started"
        assert rows(database, query) == ["m1|f|1", "m1|t|0"]
        states = "SELECT jsonb_object_keys(return) FROM salt_returns LIMIT 1"
        assert rows(database, states)[0].startswith("file_|-")
        machine.config["report"] = {"to": address(database, "nobody-there")}
        assert 'role "nobody-there" does not exist' in machine("sls", "site").stderr
    finally:
        postgres_server.sql("DROP OWNED BY machines; DROP ROLE machines", database=database)


def test_wrong_lines(machine: Machine, database: str) -> None:
    for words, message in (
        (["collect", "drop"], "--to has to be postgresql://"),
        (["collect", "drop", "--to", "https://x/y"], "--to has to be postgresql://"),
        (["collect", "--to", address(database)], "name the directory"),
        (["collect", "--html", "/no/such", "--to", address(database)], "/no/such: No such file"),
        (["collect", "/no/such", "--to", address(database)], "/no/such cannot be used"),
        (["collect", "x", "--to", "postgresql://joe:pw12345@127.0.0.1:9/x"], "joe@127.0.0.1:9/x"),
        (["collect", "x", "--to", "postgresql://joe:pw12345@host"], "names no database"),
    ):
        done = called(machine, *words)
        assert done.returncode == 1
        assert message in done.stderr
        assert "pw12345" not in done.stderr


# ---------------------------------------------------------------- pages over many machines


def shown(machine: Machine, database: str) -> dict[str, Parsed]:
    """The pages that are written, the index and one for each machine."""
    folder = machine.folder / "fleet"
    folder.mkdir(exist_ok=True)
    done = called(machine, "collect", "--html", str(folder), "--to", address(database))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    parsed = {path.name: Parsed(path.read_text()) for path in folder.iterdir()}
    for name, page in parsed.items():
        assert page.wrong == [] and page.open == [], name
        files = {link for link in page.links if link[0] != "#"}
        assert files <= parsed.keys(), "no link leads nowhere"
    return parsed


def words(page: Parsed) -> str:
    return " ".join(" ".join(page.text).split())


def test_pages_over_many_machines(machine: Machine, database: str) -> None:
    drop, fallen = machine.folder / "drop", {**OK, "__id__": "fill"}
    fallen |= {"result": False, "comment": "no room\nleft"}
    drifted = {**OK, "changes": {"mode": "0644"}, "__origin__": "drift"}
    reaction = {"reactor": "cmd_|-reload_|-x_|-run", "kind": "watch", "source": "b", "time": "t"}
    put(drop, made("good"))
    put(drop, made("late", timedelta(days=2), revision="old", runner="0.1"))
    put(drop, made("bad", timedelta(hours=1)))
    failed = {"outcome": "failed", "exit_code": 2, "states": {"cmd_|-fill_|-x_|-run": fallen}}
    put(drop, made("bad", **failed, counts={"failed": 1, "would_change": 2}))
    put(drop, made("broken", errors=["line 3 is wrong"], states={}, exit_code=1))
    put(drop, made("drifting", drifted=2, states={"file_|-x_|-/x_|-managed": drifted}))
    put(drop, made("misled", tree="refused"))
    put(drop, made("owing", pending_reactions=[reaction]))
    command = {**OK, "name": "mount /x", "result": False, "comment": 'Command "mount /x" run'}
    command["changes"] = {"pid": 7, "retcode": 32, "stdout": "", "stderr": "a\nno disk\n"}
    alike = failed | {"states": {"cmd_|-mnt_|-mount /x_|-run": command}}
    for number in range(12):
        put(drop, made(f"like{number:02}", **alike))
    collect(machine, database)
    pages = shown(machine, database)
    assert len(pages) == 20
    index, text = pages["index.html"], words(pages["index.html"])
    assert "19 machines 1 overdue 15 failed" in text
    assert "like08 , like09 and 2 more cmd.run mnt exit code 32: no disk bad" in text
    assert "bad cmd.run fill no room broken line 3 is wrong misled a new tree was refused" in text
    assert "late last at" in text.partition("Overdue Nothing came")[2]
    assert "drifting 2 states in 1 run, last at" in text
    assert "owing cmd: reload (watch) of b, since" in text
    assert (
        "abc : 18 machines, 15 failed old : 1 machine runner 0: 18 machines runner 0.1: 1" in text
    )
    assert "failed bad abc" not in text and "failed bad 1 failed, 2 would change of 3" in text
    days = text.partition("last two weeks.")[2].partition("Versions")[0]
    assert sum(map(int, re.findall(r": (\d+) runs?", days))) == 20, "one machine has two"
    assert sum(map(int, re.findall(r"(\d+) failed", days))) == 15 and "1 drifted" in days
    assert {"failed", "overdue", "drift", "pending", "states", "days", "versions"} <= set(index.ids)
    (bad,) = (name for name in pages if name.startswith("machine-bad-"))
    assert "All machines Failed States Runs" in words(pages[bad])
    assert "cmd.run fill no room" in words(pages[bad])
    assert words(pages[bad]).count("runner highstate") == 2, "its earlier run, too"
    (owing,) = (name for name in pages if name.startswith("machine-owing-"))
    assert "cmd: reload (watch) of b, since t" in words(pages[owing])
    (drifting,) = (name for name in pages if name.startswith("machine-drifting-"))
    assert "mode: 0644" in words(pages[drifting]) and "drift" in pages[drifting].ids


def test_only_what_has_a_new_report_is_written_anew(machine: Machine, database: str) -> None:
    drop, folder = machine.folder / "drop", machine.folder / "fleet"
    for name in ("a", "b", "gone"):
        put(drop, made(name, timedelta(hours=1)))
    collect(machine, database)
    shown(machine, database)
    before = written(folder)
    put(drop, made("b"))
    put(drop, made("a", fun="state.single"))
    put(drop, made("new"))
    collect(machine, database)
    postgres_server.sql("DELETE FROM runner_reports WHERE machine = 'gone'", database=database)
    (folder / "machine-others.html").write_text("")
    called(machine, "collect", "--html", str(folder), "--to", address(database))
    assert (folder / "machine-others.html").exists(), "only pages of runner are removed"
    after = written(folder)
    assert sorted(after) == ["a", "b", "index.html", "new", "others.html"]
    put(drop, made("b"))
    collect(machine, database)
    called(machine, "collect", "--html", str(folder), "--to", address(database))
    again = written(folder)
    assert {name for name in after if after[name] != before.get(name)} >= {"a", "b", "new"}
    assert {name for name in again if again[name] != after[name]} == {"b", "index.html"}
    removed = "DELETE FROM runner_reports WHERE machine = 'a' AND fun = 'state.single'"
    postgres_server.sql(removed, database=database)
    called(machine, "collect", "--html", str(folder), "--to", address(database))
    fewer = written(folder)
    assert {name for name in fewer if fewer[name] != again[name]} == {"a", "index.html"}


def written(folder: Path) -> dict[str, int]:
    """When each page was written, by machine."""
    paths = folder.iterdir()
    return {[*path.name.split("-"), ""][1] or path.name: path.stat().st_mtime_ns for path in paths}


def test_what_others_delivered_stays_text(machine: Machine, database: str) -> None:
    drop = machine.folder / "drop"
    odd = {
        "x": {"result": False, "comment": ["a"], "changes": "b", "duration": "c"},
        ATTACK: dict.fromkeys(("__id__", "name", "comment", "__sls__", "__origin__"), ATTACK),
        f"{ATTACK}_|-{ATTACK}_|-{ATTACK}_|-{ATTACK}": {"result": False, "changes": {ATTACK: 1}},
        "n": {"duration": 1e300, "__run_num__": {}, "__cause__": 7, "changes": [1]},
    }
    bad = {
        "states": odd,
        "errors": [ATTACK, 3, None],
        "pending_reactions": [3, {"reactor": ATTACK}],
    }
    text = dict.fromkeys(("command", "outcome", "revision", "tree", "runner", "run"), ATTACK)
    put(drop, made(ATTACK, exit_code=2, drifted=9, counts={ATTACK: 3}, **bad, **text))
    names = ("../../../etc/passwd", "/", ".", "", "a b", "a_b", "m" * 255, "\u00e4\n")
    for name in names:
        put(drop, made(name))
    collect(machine, database)
    pages = shown(machine, database)
    assert len(pages) == len(names) + 2
    for page in pages.values():
        assert not any(name.startswith("on") or name == "style" for name in page.attributes)
        assert page.tags.isdisjoint({"img", "iframe"})
    folder = machine.folder / "fleet"
    assert all(path.read_text().count("<script") == 1 for path in folder.iterdir())
    (folder / "index.html").write_text("mine")
    done = called(machine, "collect", "--html", str(folder), "--to", address(database))
    assert done.returncode == 1 and "is not one that runner wrote" in done.stderr


def test_the_page_on_reports_is_true(machine: Machine, database: str) -> None:
    page = (ROOT / "docs/reports.md").read_text()
    assert called(machine, "collect", "--init", "--to", address(database)).returncode == 0
    postgres_server.sql("DROP ROLE IF EXISTS machines", database=database)
    try:
        for statements in re.findall(r"```sql\n(.*?)```", page, re.S):
            postgres_server.sql(statements, database=database)
    finally:
        postgres_server.sql("DROP OWNED BY machines; DROP ROLE machines", database=database)
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.S)
    assert [*mistakes(yaml.safe_load(example)["report"])] == []
    assert all(f"`{key}`" in page for keys in KEYS.values() for key in keys)
    views = set(re.findall(r"^\| `runner_(\w+)` \|", page, re.M))
    assert views == set(VIEWS)
