# SPDX-License-Identifier: Apache-2.0
"""The command `completion`: scripts for shells, and the words that they ask for."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any

from runner.cli.parsing.option_spec import (
    COMMANDS,
    Annotated,
    CliArgument,
    Option,
    argument,
    command_named,
    parameters_of,
    text_about,
)
from runner.cli.running import logs
from runner.cli.running.options import Common, overrides
from runner.model import other_tools
from runner.model.errors import UsageError
from runner.model.records import Record
from runner.model.text_tables import text_beside
from runner.output.manual import language
from runner.sources.config import key_manual, load
from runner.tools.queries import completion_names

SHELLS = ("bash", "zsh", "fish")
Named = tuple[str, str]
FILES, FOLDERS = (":files", ""), (":folders", "")


def completion(
    shell: Annotated[str, argument(metavar="bash|zsh|fish", help="The shell.", complete=(SHELLS,))],
    words: Annotated[list[str] | None, argument(hidden=True)] = None,
) -> int:
    """Print a script for the Tab completion of a shell.

    It completes commands, options and their values, SLS names, IDs, functions and their arguments.

    \b
    bash: source <(runner completion bash)       in ~/.bashrc
    zsh:  source <(runner completion zsh)        in ~/.zshrc, after compinit
    fish: runner completion fish | source        in ~/.config/fish/config.fish

    Example: runner completion bash > /etc/bash_completion.d/runner
    """
    if shell == "candidates":
        # a person is typing: nothing is better than a message in the line
        with suppress(Exception):
            _print(words or [])
        return 0
    if shell not in SHELLS:
        raise UsageError(
            f"there is no completion for {shell!r}", hint=f"one of {', '.join(SHELLS)}"
        )
    print(text_beside("runner.cli", f"completion/runner.{shell}"), end="")
    return 0


def _print(words: list[str]) -> None:
    shell, *typed = words
    if shell == "bash":
        line, quote = typed[0], ""
        typed, quote = _split(line)
        for value, _ in candidates(typed[1:], described=False):
            print(_for_bash(value, typed[-1], quote))
    else:
        for value, description in candidates(typed):
            print(f"{value}\t{description}" if description else value)


def _split(line: str) -> tuple[list[str], str]:
    """The words of an unfinished line (the last one is empty after a blank), and the quote that is
    open.
    """
    for quote in ("", "'", '"'):
        with suppress(ValueError):
            words = shlex.split(line + quote)
            fresh = not quote and line[-1:].isspace() and not line.endswith("\\ ")
            return [*words, ""] if fresh or not words else words, quote
    return [""], ""


def _for_bash(value: str, typed: str, quote: str) -> str:
    """bash takes `:` and `=` for the ends of words, unless they are quoted; and quotes nothing by
    itself.
    """
    if quote or value.startswith(":"):
        return value
    done = max(typed.rfind(mark) for mark in ":=") + 1
    rest = value[done:]
    return "".join(char if char.isalnum() or char in "_@%+=:,./-" else f"\\{char}" for char in rest)


# ---------------------------------------------------------------- the words


def candidates(typed: list[str], described: bool = True) -> Iterator[Named]:
    """The words that fit where the last one stands. described: commands, too, for which their
    files are read.
    """
    *before, current = typed or [""]
    if not before:
        words: Iterable[Named] = _commands(current, described)
    else:
        words = _of_command(before[0], before[1:], current)
    seen = set()
    for value, description in words:
        if (
            value.startswith((current, ":files", ":folders"))
            and value not in seen
            and not any(char < " " for char in value)  # which neither a line nor a list can hold
        ):
            seen.add(value)
            yield value, " ".join(description.split())


def _commands(beginning: str, described: bool) -> Iterator[Named]:
    """The commands that begin so, each with the first sentence about it."""
    for name in COMMANDS:
        if name.startswith(beginning):
            about = text_about(name) if described else ""
            yield name, re.split(r"(?<=\.)\s", about)[0]
    yield from (("--help", ""), ("--version", ""))


def _declared(name: str) -> Iterator[tuple[Any, Option | CliArgument]]:
    """The options and arguments of a command, each with its type."""
    for parameter in parameters_of(command_named(name)).values():
        kind, spec = parameter.annotation
        yield kind, spec


def _of_command(name: str, before: list[str], current: str) -> Iterable[Named]:
    if name not in COMMANDS:
        return ()
    declared = [(kind, spec) for kind, spec in _declared(name) if isinstance(spec, Option)]
    options = {flag: option for _, option in declared for flag in option.names}
    with_value = {flag for kind, option in declared if kind is not bool for flag in option.names}
    if current.startswith("--") and "=" in current:
        flag = current.partition("=")[0]
        values = _of_option(name, options.get(flag), before)
        return (
            (f"{flag}={value}" if not value.startswith(":") else value, description)
            for value, description in values
        )
    if current.startswith("-"):
        return [
            (flag, option.help)
            for flag, option in options.items()
            if flag.startswith("--") and not option.hidden
        ] + [("--help", "")]
    if before and before[-1] in with_value:
        return _of_option(name, options[before[-1]], before)
    return _of_argument(name, TypedLine(_arguments(before, with_value), before, current))


def _arguments(before: list[str], with_value: Collection[str]) -> list[str]:
    """The words that are neither options nor their values."""
    arguments, skip = [], False
    for word in before:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in with_value
        else:
            arguments.append(word)
    return arguments


def _of_option(name: str, option: Option | None, before: list[str]) -> Iterable[Named]:
    if option is None:
        return ()
    metavar = option.metavar or ""
    if metavar.startswith("FILE"):
        return [FILES]
    if metavar == "FORM":
        return [(form.name, form.description) for form in command_named(name).forms]  # type: ignore[attr-defined]
    tables: dict[str, Callable[[], Iterable[Named]]] = {
        "DIR": lambda: [FOLDERS],
        "LEVEL": lambda: [(level, "") for level in logs.LEVELS],
        "ID": lambda: completion_names.ids(_options(before)),
        "ENV": lambda: completion_names.environments(_options(before)),
    }
    return tables[metavar]() if metavar in tables and "--id" not in option.names else ()


class TypedLine(Record):
    """An unfinished line behind its command: the arguments and all words before the last one."""

    arguments: list[str]
    before: list[str]
    current: str


def _of_argument(name: str, line: TypedLine) -> Iterable[Named]:
    """The words that the next argument of a command may be, as its signature declares."""
    place = len(line.arguments)
    declared = [(kind, spec) for kind, spec in _declared(name) if isinstance(spec, CliArgument)]
    for index, (kind, spec) in enumerate(declared):
        listed = "list[" in str(kind)
        if spec.complete and (place == index or (listed and place > index)):
            source = spec.complete[min(place - index, len(spec.complete) - 1)]
            return SOURCES[source](line) if isinstance(source, str) else _words(source)
    return ()


def _of_names(kind: str, **settings: Any) -> Callable[[TypedLine], Iterable[Named]]:
    """A source that reads the tree or the history. kind: its function in `completion_names`."""

    def source(line: TypedLine) -> Iterable[Named]:
        names: Iterable[Named] = getattr(completion_names, kind)(_options(line.before), **settings)
        return names

    return source


def _functions(kind: str) -> Callable[[TypedLine], Iterable[Named]]:
    return lambda line: _of_names(kind, typed=line.current)(line)


def _pages(line: TypedLine) -> list[Named]:
    words = ("arguments", "config", *language.names())
    theirs = [
        (word, ", ".join(row.names) or row.text)
        for word, row in other_tools.beginning(line.current, *other_tools.KINDS)
    ]
    return [*SOURCES["states"](line), *SOURCES["functions"](line), *_words(words), *theirs]


def _configuration_keys(line: TypedLine) -> list[Named]:
    """The keys of the configuration, after `doc config`."""
    if line.arguments[0] != "config":
        return []
    return [(key.name, key.about) for key in key_manual.keys().values()]


def _arguments_of(state: bool) -> Callable[[TypedLine], Iterable[Named]]:
    """The arguments of the function before, but for those that stand there."""

    def source(line: TypedLine) -> Iterable[Named]:
        function, *words = line.arguments
        typed = {word.partition("=")[0] for word in words}
        names = completion_names.arguments(_options(line.before), function, state)
        return [(name, about) for name, about in names if name.rstrip("=") not in typed]

    return source


def _listed(line: TypedLine) -> Iterator[Named]:
    """SLS names after the last comma."""
    done = line.current.rpartition(",")[0]
    for name, description in SOURCES["sls"](line):
        yield (f"{done},{name}" if done else name), description


# what an argument names as its `complete`
SOURCES: dict[str, Callable[[TypedLine], Iterable[Named]]] = {
    "sls": _of_names("sls"),
    "sls-list": _listed,
    "ids": _of_names("ids"),
    "runs": _of_names("runs"),
    "modules": _of_names("modules"),
    "states": _functions("states"),
    "functions": _functions("functions"),
    "state-arguments": _arguments_of(state=True),
    "function-arguments": _arguments_of(state=False),
    "pages": _pages,
    "configuration-keys": _configuration_keys,
    "folders": lambda line: [FOLDERS],
    "new-file": lambda line: [FILES],
}


def _words(words: Iterable[str]) -> list[Named]:
    return [(word, "") for word in words]


def _options(before: list[str]) -> Any:
    """The configuration that the line so far means."""
    lists = ("state_tree", "pillar_tree")
    settings: dict[str, Any] = {}
    for name in (*lists, "config", "saltenv", "cachedir", "id"):
        flags = [f"--{name.replace('_', '-')}", *(["-c"] if name == "config" else [])]
        values = [value for flag in flags for value in _values(before, flag)]
        if values:
            settings[name] = values if name in lists else values[-1]
    common = Common(**settings)
    return load.load(common.config, overrides(common), os.environ, fetch=False)[0]


def _values(before: list[str], flag: str) -> Iterator[str]:
    for index, word in enumerate(before):
        if word == flag and index + 1 < len(before):
            yield before[index + 1]
        elif word.startswith(f"{flag}="):
            yield word.partition("=")[2]
