# SPDX-License-Identifier: Apache-2.0
"""The command `collect`: reports that were delivered as files, into PostgreSQL."""

from __future__ import annotations

import sys

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import write_value
from runner.cli.running.exit_codes import DONE, FAILED
from runner.cli.running.options import Common, with_common
from runner.history.outbox import collecting, delivery, postgresql, tables
from runner.history.outbox.sending import NotDelivered
from runner.model.errors import UsageError
from runner.sources.config import report
from runner.tools.queries import fleet_pages

ANSWERING = {"out": str}


@with_common(ANSWERING)
def collect(
    *,
    folder: Annotated[
        str | None, argument(metavar="[DIR]", help="The directory that machines deliver to.")
    ] = None,
    to: Annotated[
        str | None, option("--to", metavar="ADDRESS", help="postgresql://USER@HOST/DATABASE")
    ] = None,
    passfile: Annotated[
        str | None,
        option("--passfile", metavar="FILE", help="PostgreSQL's file of passwords (~/.pgpass)."),
    ] = None,
    init: Annotated[
        bool, option("--init", help="Create the tables and views that are missing, and views anew.")
    ] = False,
    pages: Annotated[
        str | None,
        option("--html", metavar="DIR", help="Write a page over all machines there, and of each."),
    ] = None,
    common: Common,
) -> int:
    """Take delivered reports into PostgreSQL, and show them.

    Each file is removed once it is committed; a report that is known already counts once. What is
    no report is moved to DIR/rejected, with the reason beside it, and the exit code is 2. Missing
    tables and views are created, and those of an earlier runner brought up to date. `--html DIR`
    writes pages for a browser: an index of all machines, and a page of each that has new reports.

    Example: runner collect /srv/reports --to postgresql://runner@db.example.org/runner
    """
    if not to or not to.startswith(("postgresql:", "postgres:")):
        raise UsageError("runner collect: --to has to be postgresql://USER@HOST/DATABASE")
    if folder is None and pages is None and not init:
        raise UsageError("name the directory that machines deliver to, or use --init or --html DIR")
    there = report.destination({"to": to, **({"passfile": passfile} if passfile else {})})
    there = there._replace(timeout=delivery.EACH)
    with postgresql.connected(there) as connection:
        _prepare(connection, there.address, init)
        done = collecting.Collected()
        if folder is not None:
            done = collecting.Collector(folder, connection, there.address)()
        if pages is not None:
            with postgresql.failures(there.address):
                fleet_pages.write(connection, pages)
    for name, reason in done.rejected:
        print(f"warning: {name!r} is rejected: {reason}", file=sys.stderr)
    if folder is not None and common.for_people:
        print(f"{done.taken} taken, {done.known} known already, {len(done.rejected)} rejected.")
    elif folder is not None:
        counts = {"taken": done.taken, "known": done.known, "rejected": dict(done.rejected)}
        write_value(common, counts)
    return FAILED if done.rejected else DONE


def _prepare(connection: postgresql.Connection, address: str, init: bool) -> None:
    """Make what is missing. Tables of an earlier runner are good enough for who may not change
    them.
    """
    with postgresql.failures(address):
        if init or tables.are_missing(connection):
            return tables.create(connection)
        if not tables.are_older(connection):
            return None
    try:
        with postgresql.failures(address):
            return tables.create(connection)
    except NotDelivered as error:
        hint = "`runner collect --init`, as their owner, brings them up to date"
        print(f"warning: tables of an earlier runner: {error.message}; {hint}", file=sys.stderr)
