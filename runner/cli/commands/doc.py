# SPDX-License-Identifier: Apache-2.0
"""The command `doc`: the manual."""

from __future__ import annotations

import os
from collections.abc import Mapping

from runner.cli.parsing import command_manual
from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running import state_functions
from runner.cli.running.answers import write_value
from runner.cli.running.options import READING, Common, options_of_tree, with_common
from runner.cli.running.streams import answer_alone
from runner.model.errors import RunnerError, UsageError
from runner.output.manual import codes, language
from runner.output.manual import markdown as manual_markdown
from runner.output.manual import reference as manual_reference
from runner.output.manual import text as manual
from runner.output.manual.pages import ALL_PAGES, NO_PAGE
from runner.output.text import terminal_width
from runner.sources.config import key_manual
from runner.sources.config.options import Options
from runner.tools.queries import explain, search

CONFIG = "config"  # the keys of the configuration; functions of this module are `config.NAME`


@with_common(READING)
def doc(
    *,
    names: Annotated[
        list[str] | None,
        argument(
            metavar="[NAME | WORD... | config [KEY]]",
            help="A module, a function, a word of the language, `arguments`, or words to search for"
            " (default: a list).",
            complete=("pages", "configuration-keys"),
        ),
    ] = None,
    markdown: Annotated[bool, option("--markdown", help="The page as Markdown.")] = False,
    reference: Annotated[
        str | None,
        option("--reference", metavar="DIR", help="Write the whole manual there, as Markdown."),
    ] = None,
    missing: Annotated[
        bool,
        option(
            "--missing",
            help="What Salt has and runner lacks (of names that begin so), and what to write"
            " instead.",
        ),
    ] = False,
    common: Common,
) -> int:
    """Show the manual page of a state, a function or a word of SLS.

    It knows those of the tree, too. `runner doc` lists all, `runner doc arguments` shows what every
    state takes, `runner doc watch` what that does, `runner doc config` the keys of the
    configuration. `runner doc pillar.` is the module of that name. What is no name is searched for.

    Example: runner doc mail
    """
    name, more = (names[0], names[1:]) if names else (None, [])
    if name == CONFIG and len(more) < 2:
        return _show_keys(common, more[0] if more else None, markdown)
    if missing and not more:
        return _show_missing(common, name or "")
    if reference is not None:
        with answer_alone():
            pages = explain.reference(options_of_tree(common))
        commands = {
            "commands.md": f"{manual_reference.OWN_NOTE.format('`--help`')}{command_manual.page()}"
        }
        return _write_reference(reference, {**pages, **commands})
    options = options_of_tree(common)
    if more:
        return _show_found(common, options, names or [])
    if name in language.names():
        return _show_word(common, options, name, markdown)
    try:
        return _show_page(common, options, name, markdown)
    except RunnerError as problem:
        if problem.code != NO_PAGE or name is None:
            raise
        if part := codes.part(name):
            return _show_text(common, name, part, "check", markdown)
        return _show_found(common, options, [name], problem)


def _show_found(
    common: Common, options: Options, words: list[str], problem: RunnerError | None = None
) -> int:
    """Print what the manual has about some words. problem: what there is to say if that is
    nothing.
    """
    with answer_alone():
        contents = explain.manual(options, None)
    names = [f"{module}.{function}" for module in contents for function in contents[module]]
    answer = search.search(words, names)
    if not answer.entries and not answer.hint:
        about = " ".join(words)
        raise problem or RunnerError(f"the manual has nothing about {about}", hint=ALL_PAGES)
    if common.for_people:
        print(manual.found(answer, terminal_width()), end="")
    else:
        hint = [search.Entry("hint", answer.words, answer.hint)] if answer.hint else []
        write_value(common, [entry._asdict() for entry in (*answer.entries, *hint)])
    return 0


def show_doc(common: Common, name: str | None) -> int:
    """Print a page of the manual, or its contents."""
    return _show_page(common, options_of_tree(common), name, False)


def _show_page(common: Common, options: Options, name: str | None, markdown: bool) -> int:
    with answer_alone():
        pages = explain.manual(options, name)  # without a name their list
        modules = explain.manual_of_modules(options) if name is None else {}
    width = terminal_width()
    if not common.for_people:
        write_value(common, pages if name is None else [manual.as_data(page) for page in pages])
    elif name is None:
        print(manual.contents(pages, modules, width), end="")
    else:
        print(manual.as_markdown(pages) if markdown else manual.as_text(pages, width), end="")
    return 0


def _show_word(common: Common, options: Options, name: str, markdown: bool) -> int:
    """Print the page of a word of the language."""
    page = language.page(name)
    with answer_alone():
        modules = explain.modules(options)
    if any(name in listed for listed in modules.values()):
        page += f"\n`runner doc {name}.` shows the functions of the module {name}.\n"
    return _show_text(common, name, page, "language", markdown)


def _show_text(common: Common, name: str, page: str, kind: str, markdown: bool) -> int:
    if not common.for_people:
        write_value(common, [{"name": name, "kind": kind, "text": page}])
    else:
        width = min(terminal_width(), 100)
        print(page if markdown else manual_markdown.as_text(page, kind, width), end="")
    return 0


def _show_keys(common: Common, name: str | None, markdown: bool) -> int:
    """Print the entry of a key of the configuration, or their list."""
    width = terminal_width()
    if not common.for_people:
        chosen = key_manual.entries(name) if name else key_manual.keys().values()
        write_value(common, [key._asdict() for key in chosen])
    elif name is None:
        print(key_manual.page() if markdown else key_manual.contents(width), end="")
    else:
        shown = key_manual.as_markdown(name) if markdown else key_manual.as_text(name, width)
        print(shown, end="")
    return 0


def _show_missing(common: Common, prefix: str) -> int:
    commands = {*state_functions.SHOWS, *(f"state.{name}" for name in state_functions.FUNCTIONS)}
    options = options_of_tree(common)
    with answer_alone():
        lacking = explain.missing(options, prefix, commands)
    if common.for_people:
        width = min(terminal_width(), 100)
        named = {kind: {name.split(".")[0] for name in advice} for kind, advice in lacking.items()}
        partly = named if prefix else explain.modules(options)
        print(manual.missing(lacking, partly, width), end="")
    else:
        write_value(common, lacking)
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
