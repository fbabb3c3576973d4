# SPDX-License-Identifier: Apache-2.0
"""Write the man pages: runner(1), one a command, runner-salt-call(1), runner.yaml(5) and
runner-states(7).

Each text is what the program itself says: the help of its commands, its manual, its table of keys.

    python packaging/man_pages.py DIR        # DIR/man1/runner.1, ...
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from runner import __version__
from runner.cli import salt_call
from runner.cli.parsing.app import build
from runner.engine.loader.registry import Registry
from runner.output.manual import pages
from runner.sources.config import key_manual

FILES = (
    ("/etc/runner/runner.yaml", "the configuration; runner.yaml(5) has its keys"),
    ("/srv/runner/states, /srv/runner/pillar", "the tree"),
    ("/var/lib/runner", "history, pending reactions, what `runner undo` restores"),
    ("/var/cache/runner", "what can be made anew: templates, downloads, repositories"),
)


def roff(text: str) -> str:
    """A text as roff has it; what stands in backquotes is bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha")
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text).replace("`", "\\(ga").replace("~", "\\(ti")
    return re.sub(r"^(?=\.)", r"\\&", text, flags=re.M)


def paragraphs(text: str) -> Iterator[str]:
    """Blocks of a help text or docstring; an indented one stays as it is."""
    for number, block in enumerate(re.split(r"\n\s*\n", inspect.cleandoc(text))):
        if block.startswith(("  ", "\b")):  # click's mark of lines that stay as they are
            yield from (".PP", ".nf", ".RS", roff(block.lstrip("\b\n")), ".RE", ".fi")
        else:
            yield from ([] if number == 0 else [".PP"])
            yield roff(" ".join(block.split()))


def item(term: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield f"\\fB{roff(term)}\\fR"
    yield from paragraphs(text or "See above.")


def page(name: str, section: int, summary: str, body: Iterator[str]) -> str:
    head = f'.TH "{name.upper()}" {section} "" "runner {__version__}" "runner"'
    return "\n".join([head, ".SH NAME", f"{roff(name)} \\- {roff(summary)}", *body]) + "\n"


def see_also(*names: str) -> Iterator[str]:
    """References such as `runner.yaml(5)`."""
    yield ".SH SEE ALSO"
    yield ", ".join(roff(name).replace("(", "\\fR(").join(("\\fB", "")) for name in names)


# ---------------------------------------------------------------- commands


def options(command: Any) -> Iterator[str]:
    context = command.make_context(command.name, [], resilient_parsing=True)
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    for heading, kind in (("ARGUMENTS", "argument"), ("OPTIONS", "option")):
        own = [one for one in shown if one.param_type_name == kind]
        if own:
            yield f".SH {heading}"
        for one in own:
            metavar = one.make_metavar(context)
            flags = ", ".join([*one.opts, *one.secondary_opts])
            is_flag = getattr(one, "is_flag", False)
            term = metavar if kind == "argument" else flags if is_flag else f"{flags} {metavar}"
            yield from item(term, one.help or "")


def command_page(group: Any, name: str) -> str:
    command = group.commands[name]
    summary, _, rest = inspect.cleandoc(command.help).partition("\n")
    usage = command.collect_usage_pieces(command.make_context(name, [], resilient_parsing=True))

    def body() -> Iterator[str]:
        yield ".SH SYNOPSIS"
        yield f"\\fBrunner {name}\\fR {roff(' '.join(usage))}"
        yield ".SH DESCRIPTION"
        yield from paragraphs(summary + "\n" + rest)
        yield from options(command)
        yield from see_also("runner(1)", "runner.yaml(5)", "runner-states(7)")

    return page(f"runner-{name}", 1, summary.partition(". ")[0].rstrip("."), body())


def overview(group: Any) -> str:
    summary, _, rest = inspect.cleandoc(group.help).partition("\n")

    def body() -> Iterator[str]:
        yield ".SH SYNOPSIS"
        yield "\\fBrunner\\fR COMMAND [OPTIONS] [ARGS]..."
        yield ".SH DESCRIPTION"
        yield from paragraphs(summary + "\n" + rest)
        yield ".SH COMMANDS"
        for name, command in group.commands.items():
            yield from item(f"runner-{name}(1)", inspect.cleandoc(command.help).partition("\n")[0])
        yield ".SH FILES"
        for path, text in FILES:
            yield from item(path, text)
        yield from see_also("runner.yaml(5)", "runner-states(7)")

    return page("runner", 1, summary.rstrip("."), body())


def salt_call_page() -> str:
    summary, _, example = salt_call.ABOUT.partition("\n")
    usage, _, rest = salt_call.parser().format_help().partition("\n\n")

    def body() -> Iterator[str]:
        yield ".SH SYNOPSIS"
        yield f"\\fBrunner-salt-call\\fR {roff(' '.join(usage.split()[2:]))}"
        yield ".SH DESCRIPTION"
        yield from paragraphs(f"{summary}\n{example}")
        yield ".SH OPTIONS"
        yield from (".nf", roff(rest.partition("\n\n")[2].partition("\n\n")[2]), ".fi")
        yield from see_also("runner(1)", "runner-call(1)")

    return page("runner-salt-call", 1, summary.rstrip("."), body())


# ---------------------------------------------------------------- configuration and states


def configuration() -> str:
    def body() -> Iterator[str]:
        yield ".SH DESCRIPTION"
        yield from paragraphs(
            "Read from the file that `--config` or `$RUNNER_CONFIG` names, else runner.yaml in the"
            " current directory, ~/.config/runner/runner.yaml (not for root) or"
            f" /etc/runner/runner.yaml.\n\n{key_manual.FROM_SALT}"
        )
        group = ""
        for key in key_manual.keys().values():
            if key.group != group:
                group = key.group
                yield f".SH {roff(group.upper())}"
            kind = ", ".join(filter(None, (key.type, key.unit)))
            yield from item(key.name, f"{key.about} ({kind}; default: {key.default})")
        yield from see_also("runner(1)")

    return page("runner.yaml", 5, "configuration of runner", body())


def states() -> str:
    library = Registry({})

    def body() -> Iterator[str]:
        yield ".SH DESCRIPTION"
        yield from paragraphs(
            "What an SLS file may declare. `runner doc STATE` shows the page of one, `runner doc"
            " arguments` what every state takes."
        )
        for module, functions in pages.contents(library).items():
            yield f".SH {roff(module.upper())}"
            for function in functions:
                name = f"{module}.{function}"
                yield from item(name, pages.state_page(library, name).summary)
        yield from see_also("runner(1)", "runner-doc(1)")

    return page("runner-states", 7, "states of runner", body())


def main(folder: str) -> None:
    os.environ["COLUMNS"] = "80"  # how argparse breaks lines
    group: Any = typer.main.get_command(build())  # type: ignore[arg-type]
    texts = {f"runner-{name}.1": command_page(group, name) for name in group.commands}
    texts |= {"runner.1": overview(group), "runner-salt-call.1": salt_call_page()}
    texts["runner.yaml.5"] = configuration()
    texts["runner-states.7"] = states()
    for name, text in texts.items():
        path = Path(folder, f"man{name[-1]}", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
