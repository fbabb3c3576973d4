# SPDX-License-Identifier: Apache-2.0
"""The command `formulas`: formulas of others, pinned by formulas.lock."""

from __future__ import annotations

import os

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import print_text, write_value
from runner.cli.running.options import READING, Common, options_of_tree, with_common
from runner.model.errors import UsageError
from runner.output.text import counted
from runner.sources import formulas as sources_formulas
from runner.sources.formulas import importing, installing, listing, locked, vendoring
from runner.sources.formulas import outdated as formulas_outdated

# each with how many words it takes
ACTIONS = {"lock": 0, "install": 0, "update": 1, "outdated": 0, "list": 0, "vendor": 1, "import": 1}
FILE = "formulas.yml"


@with_common(READING)
def formulas(
    *,
    action: Annotated[
        str, argument(metavar="ACTION", help="One of the words above.", complete=(tuple(ACTIONS),))
    ],
    words: Annotated[
        list[str] | None, argument(metavar="[NAME|DIR|FILE]", help="See above.")
    ] = None,
    locked: Annotated[
        bool, option("--locked", help="Install: refuse where formulas.lock would have to change.")
    ] = False,
    write: Annotated[
        bool, option("--write", help="Import: write formulas.yml where there is none.")
    ] = False,
    common: Common,
) -> int:
    """Lock and install the formulas that a tree uses.

    The file formulas.yml beside the configuration names them.

    \b
    lock           resolve what formulas.lock lacks, and write it
    install        the same, and install what it says, for runs to use
    update [NAME]  resolve all of them, or one, anew; lock and install that
    outdated       list those of which there is something newer
    list           list them, with what is locked and installed
    vendor DIR     copy them into a directory, and note where they are from
    import FILE    print a formulas.yml made of gitfs_remotes, .gitmodules
                   or a Puppetfile

    Example: runner formulas install --locked
    """
    names = words or []
    if action not in ACTIONS:
        raise UsageError(
            f"runner formulas {action}: there is no such action",
            hint="one of " + ", ".join(ACTIONS),
        )
    most = ACTIONS[action]
    if len(names) > most or (action in ("vendor", "import") and not names):
        wanted = {"update": " [NAME]", "vendor": " DIR", "import": " FILE"}.get(action, "")
        raise UsageError(f"the command is: runner formulas {action}{wanted}")
    if (locked and action != "install") or (write and action != "import"):
        raise UsageError("--locked is for `install`, --write for `import`")
    options = options_of_tree(common)
    configuration = options.raw["conf_file"]
    folder = options.formula_folder or os.path.dirname(configuration or os.path.abspath(FILE))
    if action == "import":
        return _import(names[0], folder, write)
    if not os.path.lexists(os.path.join(folder, FILE)):
        raise UsageError(
            f"there is no {FILE} in {folder}",
            hint=f"{FILE} lies beside runner.yaml; `runner formulas import` can begin one",
        )
    if options.tree and action in ("lock", "update"):
        raise UsageError(
            "the tree was pulled: its formulas are locked in its repository",
            hint=f"run `runner formulas {action}` in a clone of it, and commit formulas.lock",
        )
    return _act(common, action, names, folder, options.cachedir, locked or bool(options.tree))


def _act(
    common: Common, action: str, names: list[str], folder: str, cachedir: str, locked: bool
) -> int:
    """Do what is about a formulas.yml that is there."""
    if action == "list":
        _show(common, [item._asdict() for item in listing.listed(folder, cachedir)])
    elif action == "outdated":
        _show(
            common,
            [item._asdict() for item in formulas_outdated.outdated(folder, cachedir)],
            "all are up to date",
        )
    elif action == "vendor":
        _vendor(common, names[0], folder, cachedir)
    else:
        renew = (names or None) if action == "update" else ()
        outcome = installing.synchronise(folder, cachedir, locked, renew)
        changed = [item._asdict() for item in listing.changes(outcome.before, outcome.after)]
        kept = f"formulas.lock is up to date: {counted(len(outcome.after), 'formula')}"
        _show(common, changed, kept)
    return 0


def _show(common: Common, rows: list[dict[str, str]], nothing: str = "") -> None:
    """Print facts: for people as a table, whose columns have their names. nothing: what people read
    where there are none.
    """
    if not common.for_people:
        write_value(common, rows)
    elif rows:
        table = [list(rows[0]), *([*row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for cells in table:
            line = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
            print_text(f"{line.rstrip()}\n")
    elif nothing and not common.quiet:
        print_text(f"{nothing}\n")


def _vendor(common: Common, directory: str, folder: str, cachedir: str) -> None:
    formulas = sources_formulas.install(folder, cachedir)
    vendoring.vendor(formulas, os.path.abspath(directory))
    entries = vendoring.entries(formulas, os.path.abspath(directory), folder)
    if not common.for_people:
        write_value(common, entries)
    elif not common.quiet:
        print_text(f"Copied {counted(len(formulas), 'formula')} into {directory}.\n")
        print_text("To use the copies, let formulas.yml be:\n\n")
        print_text(importing.text_of_entries(entries))


def _import(file: str, folder: str, write: bool) -> int:
    """Print, or write, the formulas.yml that is made of another file."""
    text = importing.imported(file)
    path = os.path.join(folder, FILE)
    if not write:
        print_text(text)
        return 0
    if os.path.lexists(path):
        raise UsageError(
            f"{path} already exists; nothing was written",
            hint=f"runner formulas import {file} prints the lines: take over what you want",
        )
    locked.write_whole(path, text)
    print_text(f"Wrote {path}.\nNext:\n  runner formulas lock\n")
    return 0
