"""Commands that explain: why, doc, schema."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from runner.cli.common import READING, Common, options_of, with_common, write_value

SlsNames = Annotated[list[str] | None, typer.Argument(metavar="[NAME...]", help="SLS files; without: the highstate.")]


@with_common(READING)
def why(
    *,
    wanted: Annotated[str, typer.Argument(metavar="ID", help="An ID, a name, or `state: name`.")],
    names: SlsNames = None,
    run_too: Annotated[bool, typer.Option("--run", help="What became of it in the last run, too.")] = False,
    common: Common,
) -> int:
    """Tell why a state is in the run, where its arguments come from, and why it stands where it does.

    Example: runner why nginx --run
    """
    from runner import asking
    from runner import why as whys

    found = asking.why(options_of(common), wanted, names or (), run_too)
    if common.out == "pretty":
        print(whys.as_text(found), end="")
    else:
        write_value(common, found)
    return 0


@with_common(READING)
def doc(
    *,
    name: Annotated[str | None, typer.Argument(metavar="[STATE[.FUN]]", help="Without: all state modules.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="For the web.")] = False,
    common: Common,
) -> int:
    """Show the manual page of a state or an execution function, those of the tree included.

    Example: runner doc file.managed
    """
    from runner import asking, manual

    found = asking.manual(options_of(common), name)
    if common.out != "pretty":
        write_value(common, found if name is None else [page._asdict() for page in found])
    elif name is None:
        for module, functions in found.items():
            print(f"{module}: {', '.join(functions)}")
    else:
        print(manual.as_markdown(found) if markdown else manual.as_text(found), end="")
    return 0


@with_common(READING)
def schema(*, common: Common) -> int:
    """Print the JSON Schema of SLS files, for editors that complete and check YAML.

    Example: runner schema > sls.schema.json
    """

    from runner import asking

    print(json.dumps(asking.schema(options_of(common)), indent=1))
    return 0
