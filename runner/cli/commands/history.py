# SPDX-License-Identifier: Apache-2.0
"""The command `history`: what earlier runs did."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running import scheduled_runs
from runner.cli.running.answers import print_text, write
from runner.cli.running.options import READING, ROOTED, Common, options_without_tree, with_common
from runner.history import disabled as history_disabled
from runner.language.grains import reboot_required
from runner.model.errors import UsageError
from runner.output import history as printed
from runner.output import text
from runner.output.formats import PAST
from runner.tools.queries import run_page, show


@with_common(READING, ROOTED, answer=PAST)
def history(
    *,
    words: Annotated[
        list[str] | None,
        argument(
            metavar="[show [RUN] | diff RUN RUN | file PATH]",
            help="RUN: its number, or `last`.",
            complete=(("show", "diff", "file"), "runs"),
        ),
    ] = None,
    limit: Annotated[
        int, option("--limit", "-n", metavar="N", help="How many runs to list.", show_default=True)
    ] = 20,
    pages: Annotated[
        str | None,
        option("--html", metavar="DIR", help="Write a page for each run there, and their index."),
    ] = None,
    common: Common,
) -> int:
    """List the runs of this machine, or show what they did.

    `show` shows one, the last if none is named, `diff` compares two, `file` shows all versions of a
    file, each with the command that restores it. Dry runs and undos are marked. `show RUN --out
    html` is a page for a browser; `--html DIR` writes those that DIR lacks, and an index over all.

    Example: runner history show
    """
    words = words or []
    if words == ["show"]:
        words = ["show", "last"]
    shapes = {(): 0, ("show",): 1, ("diff",): 2, ("file",): 1}
    if shapes.get(tuple(words[:1])) != len(words[1:]):
        raise UsageError(
            "runner history, runner history show [RUN], runner history diff RUN RUN, or"
            " runner history file PATH"
        )
    if limit < 1:
        raise UsageError(f"--limit {limit}: expected a number from 1")
    if common.form.past and words[:1] != ["show"]:
        raise UsageError("--out html is for one run: runner history show RUN --out html")
    options = options_without_tree(common)
    if pages is not None:
        if words:
            raise UsageError("--html DIR is for all runs: runner history --html DIR")
        return _write_pages(common, options, pages)
    if common.form.past:
        print_text(run_page.html(options, words[1]))
        return 0
    runs: Any = show.past(options, words, limit)
    stopped = None if words else history_disabled.disabled(options.state_dir)
    if common.for_people:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        print(printed.text(runs, words[0] if words else "list", width), end="")
        if not words and not runs and os.geteuid():
            print("root has its own history: sudo runner history")
        if stopped:
            print(text.safe(f"Now: {stopped}", sys.stdout))
        why = "" if words or options.root else reboot_required.why()
        if why:
            print(f"Now: this machine has to be restarted: {why}")
    else:
        write(common, scheduled_runs.as_answer(runs, stopped))
    return 0


def _write_pages(common: Common, options: Any, folder: str) -> int:
    written = run_page.write(options, folder)
    if common.for_people:
        print(f"{text.counted(written, 'page')} written, and {folder}/index.html.")
    else:
        write(common, {"local": {"written": written}})
    return 0
