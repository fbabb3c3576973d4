# SPDX-License-Identifier: Apache-2.0
"""The page of a run, from the history, and a directory of such pages with their index."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from runner import __version__
from runner.history.query import run_for_page, runs_for_index
from runner.model.errors import RunnerError
from runner.output import run_page
from runner.output.run_page import document, index
from runner.sources.config.options import Options
from runner.support.files.shared_folder import SharedFolder
from runner.tools.queries import show as queries_show

# a page, by the ID of its run, which begins with its time; one that a kill left unfinished, too
OURS = re.compile(r"\.?runner-(\d{14}-[0-9a-f]{6})\.html(\.[0-9a-f]{12})?")
Runs = Sequence[Mapping[str, Any]]
Reactions = Sequence[Mapping[str, str]]


class OthersIndex(RunnerError):
    """There is an index that runner did not write; the pages are written all the same."""


def html(options: Options, number: str, pending: Reactions | None = None, above: str = "") -> str:
    """The page. number: of the run, its ID, or "last". pending: the reactions that are due; None
    for those of now. above: what the link to the index says. Raises RunnerError where there is no
    such run.
    """
    if pending is None:
        pending = queries_show.show(options, "pending")
    with run_for_page(options.state_dir, number) as kept:
        page = run_page.Page(
            machine=options.id,
            run=kept.run,
            took=kept.took,
            results=kept.results,
            requisites=kept.graph,
            left_by=kept.left_by,
            pending=pending,
            written=written(),
            above=above,
        )
        return run_page.html(page)


def written() -> str:
    """When a page is written, and by what."""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S%z')} by runner {__version__}"


def write(options: Options, path: str, run: str = "", pending: Reactions | None = None) -> int:
    """Write the index of a directory and the pages that it lacks, and remove those of older runs;
    how many pages were written. run: the only one that is written, by its ID.

    Raises RunnerError.
    """
    if pending is None:
        pending = queries_show.show(options, "pending")
    most = options.html_report_runs or sys.maxsize
    with pages_in(path) as folder:
        ours = [found for found in map(OURS.fullmatch, folder.names()) if found]
        there = {found[1] for found in ours if found[0] == index.page_name(found[1])}
        history = runs_for_index(options.state_dir, most)
        lacking = [run] if run else _lacking(history.runs, there)
        for each in lacking:
            page = html(options, each, pending, above="All runs")
            folder.write(index.page_name(each), page.encode())
        kept, older = _newest(history.runs, there | {*lacking}, most)
        names = {*map(index.page_name, kept)}
        over = index.Index(options.id, history.runs, history.failed, pending, names, written())
        try:
            write_index(folder, path, index.html(over))
        finally:
            for found in ours:
                if older and found[1] not in kept and found[1] <= max(older):
                    folder.remove(found[0])
    return len(lacking)


@contextmanager
def pages_in(path: str) -> Iterator[SharedFolder]:
    """Open a directory of pages. Raises RunnerError for whatever cannot be done in it."""
    try:
        with closing(SharedFolder(path)) as folder:
            yield folder
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and not os.path.lexists(path)
        hint = f"make it: mkdir -p {shlex.quote(path)}" if missing else None
        raise RunnerError(f"{path}: {error.strerror}", hint=hint) from None


def _newest(
    runs: Runs, pages: Collection[str], most: int
) -> tuple[Collection[str], Collection[str]]:
    """The IDs of the newest pages, and of the others. Which of two runs of one second was the later
    one, only the history knows.
    """
    known = [each["run"] for each in runs if each["run"] in pages]
    ordered = [*known, *sorted({*pages} - {*known}, reverse=True)]
    return {*ordered[:most]}, {*ordered[most:]}


def _lacking(runs: Runs, there: Collection[str]) -> list[str]:
    """The IDs of the runs that have ended and no page."""
    ended = [each["run"] for each in runs if each["finished"] or each["outcome"] == "killed"]
    return [each for each in ended if each not in there and OURS.fullmatch(index.page_name(each))]


def write_index(folder: SharedFolder, path: str, page: str) -> None:
    """Write the index of a directory, unless that has one of somebody else. Raises OSError, and
    OthersIndex.
    """
    if document.INDEX in folder.names():
        try:
            ours = document.MARK.encode() in folder.beginning(document.INDEX)
        except OSError:  # a link, which is not followed
            ours = False
        if not ours:
            message = f"{path}/{document.INDEX} is not one that runner wrote"
            raise OthersIndex(message, hint="move it away, or name another directory")
    folder.write(document.INDEX, page.encode())
