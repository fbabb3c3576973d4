# SPDX-License-Identifier: Apache-2.0
"""A directory with a page over the machines that reports came from, and one of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner import __version__
from runner.history.outbox import overview
from runner.output.run_page import document, fleet
from runner.output.run_page.escaping import escape
from runner.support.files.shared_folder import SharedFolder
from runner.tools.queries.run_page import pages_in, write_index, written

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

RUNS = 100  # on the page of a machine


def write(connection: overview.Connection, path: str) -> int:
    """Write the index, the pages of the machines that have a new report, and remove those of
    machines that have none any more; how many machines' were written.

    Raises psycopg.Error and RunnerError.
    """
    with pages_in(path) as folder:
        over = overview.overview(connection, RUNS)
        changed = 0
        for machine in over.machines:
            name = fleet.page_name(machine["machine"])
            stamp = f"{__version__} {machine['stamp']}"
            if not _is_of(folder, name, stamp):
                folder.write(name, _page(connection, machine, stamp))
                changed += 1
        page = fleet.html(fleet.Fleet(*over, written()))
        write_index(folder, path, page)
        there = {fleet.page_name(machine["machine"]) for machine in over.machines}
        for name in folder.names():
            if fleet.NAME.fullmatch(name) and name not in there:
                folder.remove(name)
    return changed


def _is_of(folder: SharedFolder, name: str, stamp: str) -> bool:
    """Return whether a page is there and was made from the same reports."""
    try:
        start = folder.beginning(name)
    except OSError:
        return False
    return f'{document.MARK} {escape(stamp)}">'.encode() in start


def _page(connection: overview.Connection, machine: Mapping[str, Any], stamp: str) -> bytes:
    runs = overview.runs_of(connection, machine["machine"], RUNS)
    states = overview.states_of(connection, machine)
    return fleet.machine_html(machine, runs, states, written(), stamp).encode()
