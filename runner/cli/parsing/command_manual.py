# SPDX-License-Identifier: Apache-2.0
"""The commands and their options as a page of the reference, of what `--help` says."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import typer

from runner.cli.parsing.app import build

COMMON = 15  # commands that share an option: it is said once then


def page() -> str:
    """The page, as Markdown."""
    group: Any = typer.main.get_command(build())  # type: ignore[arg-type]
    commands: dict[str, Any] = group.commands
    counted = Counter(row for command in commands.values() for row in _rows(command))
    shared = [row for row, times in counted.items() if times >= COMMON]
    listed = "".join(
        f"| [{name}](#runner-{name}) | {_summary(command.help)} |\n"
        for name, command in commands.items()
    )
    parts = [
        f"| runner ... | what it does |\n|---|---|\n{listed}",
        f"## Options of most commands\n\n{_table(shared)}",
    ]
    for name, command in commands.items():
        own = [row for row in _rows(command) if row not in shared]
        usage = command.collect_usage_pieces(command.make_context(name, [], resilient_parsing=True))
        about = "\n\n".join(_paragraphs(command.help))
        parts.append(
            f"## runner {name}\n\n    runner {name} {' '.join(usage)}\n\n{about}\n"
            + (f"\n{_table(own)}" if own else "")
        )
    return "# Commands\n\n" + "\n".join(parts)


def _summary(text: str) -> str:
    return re.split(r"\.\s", inspect.cleandoc(text))[0].rstrip(".")


def _rows(command: Any) -> Iterator[str]:
    """A row of a table for each argument and option."""
    context = command.make_context(command.name, [], resilient_parsing=True)
    for one in command.params:
        if getattr(one, "hidden", False):
            continue
        value = "" if getattr(one, "is_flag", False) else one.make_metavar(context)
        flags = one.opts if one.param_type_name == "option" else []
        term = f"{', '.join(flags)} {value}".strip()
        yield "| `{}` | {} |\n".format(
            *(each.replace("|", "\\|") for each in (term, one.help or ""))
        )


def _table(rows: list[str]) -> str:
    return f"| option | what it does |\n|---|---|\n{''.join(rows)}"


def _paragraphs(text: str) -> Iterator[str]:
    """Those of a help text; lines that are to stay as they are stay so."""
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if block.startswith("\b"):
            yield "\n".join(f"    {line}" for line in block.lstrip("\b\n").split("\n"))
        else:
            yield block if block.startswith("  ") else " ".join(block.split())
