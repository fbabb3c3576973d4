"""Commands that explain: why, doc, schema."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from typing import Annotated

from runner.cli.option_spec import argument, option
from runner.cli.options import READING, Common, options_of, with_common, write_value
from runner.model.errors import UsageError

SlsNames = Annotated[
    list[str] | None, argument(metavar="[NAME...]", help="SLS files; without: the highstate.")
]


@with_common(READING)
def why(
    *,
    wanted: Annotated[str, argument(metavar="ID", help="An ID, a name, or `state: name`.")],
    names: SlsNames = None,
    run_too: Annotated[
        bool, option("--run", help="What became of it in the last run, too.")
    ] = False,
    common: Common,
) -> int:
    """Tell why a state is in the run and stands where it does.

    It names what brought the state in, where each argument comes from, and what waits for what.

    Example: runner why nginx --run
    """
    from runner.output import why as printed
    from runner.queries import explain

    found = explain.why(options_of(common), wanted, names or (), run_too)
    if common.out == "pretty":
        print(printed.text(found), end="")
    else:
        write_value(common, found)
    return 0


@with_common(READING)
def doc(
    *,
    name: Annotated[
        str | None,
        argument(metavar="[NAME]", help="A module, a function, or `arguments`; without: a list."),
    ] = None,
    markdown: Annotated[bool, option("--markdown", help="The page as Markdown.")] = False,
    reference: Annotated[
        str | None,
        option("--reference", metavar="DIR", help="Write the whole manual there, as Markdown."),
    ] = None,
    common: Common,
) -> int:
    """Show the manual page of a state or an execution function.

    It knows those of the tree, too. `runner doc` lists all, `runner doc arguments` tells what every
    state takes.

    Example: runner doc file.managed
    """
    if reference is not None:
        from runner.queries import explain

        return _write_reference(reference, explain.reference(options_of(common)))
    return show_doc(common, name, markdown)


def show_doc(common: Common, name: str | None, markdown: bool = False) -> int:
    """Print a page of the manual, or its contents."""
    from runner.manual import text as manual
    from runner.queries import explain

    options = options_of(common)
    found = explain.manual(options, name)
    width = shutil.get_terminal_size().columns
    if common.out != "pretty":
        write_value(common, found if name is None else [manual.as_data(page) for page in found])
    elif name is None:
        print(manual.contents(found, explain.manual_of_modules(options), width), end="")
    else:
        print(manual.as_markdown(found) if markdown else manual.as_text(found, width), end="")
    return 0


def _write_reference(folder: str, files: Mapping[str, str]) -> int:
    for name, text in files.items():
        path = os.path.join(folder, name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"--reference: {path} cannot be written: {error.strerror}") from None
    print(f"Wrote {len(files)} files below {folder}.")
    return 0


@with_common(READING)
def schema(*, common: Common) -> int:
    """Print the JSON Schema of SLS files, for editors.

    An editor with a YAML language server completes and checks SLS files with it. The states of the
    tree are in it.

    Example: runner schema > sls.schema.json
    """

    from runner.queries import explain

    print(json.dumps(explain.schema(options_of(common)), separators=(",", ":")))
    return 0
