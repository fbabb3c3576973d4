# SPDX-License-Identifier: Apache-2.0
"""Reports of many machines at once: delivered by https, collected into PostgreSQL, and killed.

    python bench/reports.py [--machines 1000] [--states 100] [--kills 100] [--reports 0]

Each simulated machine has an outbox of its own with one report and delivers it by the code of a
run; all begin together. The receiver is a threaded server in a process of its own that keeps
nothing. Then the same reports are collected from files by `runner collect`. Then real runs are
killed at random moments while they write and deliver. At last `--reports 100000` are collected, of
all machines in turn, and shown: how many a second, and how long each query of the page over all
machines takes. Exits with 1 where a report is lost, stored twice, or torn. It needs PostgreSQL's
server.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/support")]

import postgres_server  # noqa: E402
from receiving import Receiver  # noqa: E402

from runner.history.outbox import overview  # noqa: E402
from runner.history.outbox.delivery import deliver  # noqa: E402
from runner.history.outbox.document import ReportFacts, document, text_of  # noqa: E402
from runner.history.outbox.postgresql import connected  # noqa: E402
from runner.history.outbox.store import Outbox  # noqa: E402
from runner.sources.config.report import destination  # noqa: E402

RUNNER = [sys.executable, "-c", "from runner.cli import main; main()"]
# the same, and the peak memory of that process on stderr (that of a child counts its parent's)
MEASURED = """
import atexit, re, sys
def peak():
    print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
atexit.register(peak)
from runner.cli import main
main()
"""
STATE = {
    "changes": {"diff": "--- \n+++ \n@@ -1 +1 @@\n-old\n+new\n"},
    "result": True,
    "comment": "File /etc/x updated",
    "duration": 3.1,
    "start_time": "10:00:00.000000",
    "__sls__": "site",
}


def report(machine: str, states: int) -> dict[str, Any]:
    """A report of a run, in which every tenth state changed something."""
    now = time.time()
    facts = ReportFacts(
        machine,
        f"run-{machine}",
        now - 3,
        now,
        3.0,
        "runner highstate",
        "state.highstate",
        False,
        "done",
        0,
        "0",
        "0" * 40,
        False,
    )
    results = {
        f"file_|-/etc/{number}_|-/etc/{number}_|-managed": {
            **STATE,
            "name": f"/etc/{number}",
            "__id__": f"/etc/{number}",
            "__run_num__": number,
            "changes": {} if number % 10 else STATE["changes"],
        }
        for number in range(states)
    }
    return document(facts, results, {"changed": states // 10, "unchanged": states}, [], [])


def megabytes(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def serve(folder: str, pipe: Any) -> None:
    """A receiver until the other side asks for what it got: ids and peak memory."""
    receiver = Receiver(Path(folder))
    pipe.send((receiver.url("200"), str(receiver.pem)))
    pipe.recv()
    pipe.send(([each["id"] for each in receiver.reports], megabytes(resource.RUSAGE_SELF)))


def posted(folder: Path, count: int, states: int) -> list[dict[str, Any]]:
    """All machines at once, by https."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(str(folder), there), daemon=True
    )
    server.start()
    url, pem = here.recv()
    to = destination({"to": url, "ca_file": pem, "timeout": 60})
    reports = [report(f"m{number}", states) for number in range(count)]
    for made in reports:
        Outbox(str(folder / made["machine"])).add(made)
    barrier = threading.Barrier(count + 1)
    sent: list[int] = []

    def machine(name: str) -> None:
        barrier.wait()
        outcome = deliver(str(folder / name), to)
        sent.append(outcome.sent)
        if outcome.problem:
            print(f"{name}: {outcome.problem}")

    threads = [threading.Thread(target=machine, args=(made["machine"],)) for made in reports]
    for thread in threads:
        thread.start()
    barrier.wait()
    began = time.monotonic()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    here.send("end")
    ids, peak = here.recv()
    size = sum(len(text_of(made)) for made in reports) / 1e6
    print(
        f"https: {sum(sent)} of {count} reports ({size:.1f} MB) in {seconds:.1f} s; the receiver"
        f" had {peak:.0f} MB, all machines together {megabytes(resource.RUSAGE_SELF):.0f} MB"
    )
    check(sorted(ids) == sorted(made["id"] for made in reports), "each arrived once")
    return reports


def database() -> tuple[str, str]:
    """A new database: its name and its address."""
    name = f"bench_{uuid.uuid4().hex[:8]}"
    postgres_server.sql(f"CREATE DATABASE {name}")
    where = f"host={postgres_server.FOLDER}&port={postgres_server.PORT}"
    return name, f"postgresql://postgres@/{name}?{where}"


def collected(folder: Path, reports: list[dict[str, Any]]) -> None:
    """The same reports from files; then all of them once more."""
    name, address = database()
    drop = folder / "drop"
    drop.mkdir()
    for what in ("new", "known already"):
        for made in reports:
            (drop / f"{made['jid']}-{made['id']}.json").write_bytes(text_of(made))
        began, before = time.monotonic(), os.times()
        argv = [sys.executable, "-c", MEASURED, "collect", str(drop), "--to", address]
        done = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True)
        seconds, after = time.monotonic() - began, os.times()
        own = after.children_user + after.children_system
        own -= before.children_user + before.children_system
        print(
            f"collect: {len(reports)} files, {what}, in {seconds:.1f} s ({own:.1f} s of its own on"
            f" a processor) with {int(done.stderr) / 1024:.0f} MB"
        )
        check(not any(drop.iterdir()), "all files are taken")
    count = postgres_server.sql("SELECT count(*) FROM runner_machines", database=name)
    check(int(count) == len(reports), "each machine is there")
    began = time.monotonic()
    for view in ("machines", "overdue", "failed", "drifting", "pending", "revisions"):
        postgres_server.sql(f"SELECT count(*) FROM runner_{view}", database=name)
    print(f"all six views: {time.monotonic() - began:.2f} s")


def killed(folder: Path, kills: int) -> None:
    """Runs that are killed at random moments; then all is delivered, and collected twice."""
    (folder / "site").mkdir()
    (folder / "site/a.sls").write_text("x:\n  test.succeed_with_changes: []\n")
    drop = folder / "delivered"
    drop.mkdir()
    settings = {"file_roots": {"base": ["site"]}, "cachedir": "cache", "id": "k"}
    config = folder / "runner.yaml"
    config.write_text(json.dumps({**settings, "report": {"to": f"file:{drop}"}}))
    began = time.monotonic()
    runner("sls", "a", "-q", "--config", str(config))
    whole = time.monotonic() - began
    for _ in range(kills):
        argv = [*RUNNER, "sls", "a", "-q", "--config", str(config)]
        silent = subprocess.DEVNULL
        running = subprocess.Popen(argv, cwd=ROOT, stdout=silent, stderr=silent)
        time.sleep(whole * random.uniform(0.7, 1.3))
        running.kill()
        running.wait()
    runner("report", "send", "-q", "--config", str(config))
    files = [path for path in drop.iterdir() if not path.name.startswith(".")]
    ids = [json.loads(path.read_text())["id"] for path in files]
    print(f"kills: {kills} runs were killed, {len(ids)} reports delivered")
    check(len(ids) == len(set(ids)), "none is there twice")
    name, address = database()
    runner("collect", str(drop), "--to", address)
    count = postgres_server.sql("SELECT count(*) FROM runner_reports", database=name)
    check(int(count) == len(ids), "all were collected")


TOGETHER = 10_000  # files that are there at once
SHORT = 20  # states of each of many reports


def many(folder: Path, machines: int, count: int) -> None:
    """Many reports: collected, and shown. A machine in thirty fails, a run in twenty drifted."""
    name, address = database()
    drop, pages = folder / "many", folder / "pages"
    drop.mkdir()
    pages.mkdir()
    spent = 0.0
    for first in range(0, count, TOGETHER):
        for number in range(first, min(first + TOGETHER, count)):
            made = report(f"m{number % machines}", SHORT)
            made |= {
                "exit_code": int(number % machines % 30 == 0),
                "drifted": int(number % 20 == 0),
            }
            (drop / f"{made['jid']}-{made['id']}.json").write_bytes(text_of(made))
        began = time.monotonic()
        runner("collect", str(drop), "--to", address)
        spent += time.monotonic() - began
    there = int(postgres_server.sql("SELECT count(*) FROM runner_reports", database=name))
    check(there == count, "each report is there once")
    size = postgres_server.sql("SELECT pg_database_size(current_database())", database=name)
    print(
        f"many: {count} reports of {SHORT} states in {spent:.0f} s, {count / spent:.0f} a second;"
        f" {int(size) / 1e6:.0f} MB"
    )
    to = destination({"to": address})
    with connected(to) as connection:
        for what, query, values in (
            ("all machines", overview.MACHINES, (100,)),
            ("failures", overview.FAILED, ()),
            ("drift", overview.DRIFTING, ()),
            ("runs of one machine", overview.RUNS, ("m7", 100)),
        ):
            began = time.monotonic()
            rows = len(connection.execute(query, values).fetchall())
            print(f"query of {what}: {rows} rows in {time.monotonic() - began:.3f} s")
    for what in ("all", "no"):
        began = time.monotonic()
        runner("collect", "--html", str(pages), "--to", address)
        print(f"--html, {what} machines' pages anew: {time.monotonic() - began:.1f} s")


def runner(*words: str) -> None:
    subprocess.run([*RUNNER, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def check(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"it does not hold that {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--machines", type=int, default=1000)
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--reports", type=int, default=0)
    asked = parser.parse_args()
    threading.stack_size(256 * 1024)
    os.environ.pop("RUNNER_NO_REPORTS", None)
    with tempfile.TemporaryDirectory() as folder:
        reports = posted(Path(folder), asked.machines, asked.states)
        collected(Path(folder), reports)
        killed(Path(folder), asked.kills)
        if asked.reports:
            many(Path(folder), asked.machines, asked.reports)


if __name__ == "__main__":
    main()
