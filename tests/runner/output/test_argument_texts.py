# SPDX-License-Identifier: Apache-2.0
"""What the manual says of the arguments of the library's states: each has a sentence of its own."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Callable, Container
from functools import cache
from pathlib import Path
from typing import Any

from runner.engine.loader.registry import Registry
from runner.language.arguments.schema import schema_of
from runner.output.manual import pages
from runner.output.manual.descriptions import REFERENCE, describe, describe_reaction, parameters_of
from runner.output.manual.docstring import SENTENCE
from runner.output.manual.pages import Page
from runner.output.manual.text import as_markdown, as_text
from states import cmd

LIBRARY = Registry({})
STATES = [f"{module}.{name}" for module, names in pages.contents(LIBRARY).items() for name in names]


@cache
def library_pages() -> list[Page]:
    return [pages.state_page(LIBRARY, name) for name in STATES]


def problems(page: Page, alike: frozenset[str]) -> list[str]:
    """Return what is wrong with the descriptions of a page. alike: arguments declared so."""
    listed = []
    users = defaultdict(list)
    for argument in page.arguments:
        if not argument.description:
            listed.append(f"{page.name}: {argument.name} is not described")
        elif REFERENCE.fullmatch(argument.description):
            listed.append(f"{page.name}: {argument.name}: {argument.description} is not there")
        for sentence in set(SENTENCE.split(argument.description)) - {""}:
            if not sentence.startswith("Needs a provider with "):
                users[sentence.rstrip(".")].append(argument)
    for sentence, arguments in users.items():
        names = [argument.name for argument in arguments]
        if len(names) == 1:
            continue
        if not alike.issuperset(names):
            listed.append(f"{page.name}: {', '.join(names)} share: {sentence}")
        elif len({(argument.type, argument.default) for argument in arguments}) > 1:
            listed.append(f"{page.name}: {', '.join(names)} are not alike: types or defaults")
    return listed


def test_each_argument_has_a_sentence_of_its_own() -> None:
    wrong = [
        problem for page in library_pages() for problem in problems(page, declared_alike(page.name))
    ]
    assert not wrong, "\n".join(wrong)


def declared_alike(name: str) -> frozenset[str]:
    reacting = describe_reaction(LIBRARY, name).alike
    return describe(LIBRARY, name).alike | reacting


def test_functions_with_open_arguments_say_what_these_are() -> None:
    silent = [
        page.name
        for page in library_pages()
        if schema_of(LIBRARY.state(page.name).function).open
        and "Any other argument " not in " ".join(page.before)
    ]
    assert not silent


# read from the states of the run, not handed on; one word only may be said
READ_ELSEWHERE = {
    "pkg.declared.keep",
    "file.decode.encoding_type",
    "mysql_query.run.client_flags",
    "mysql_query.run_file.client_flags",
}


def test_what_a_function_does_not_look_at_is_said_to_be_ignored() -> None:
    wrong = []
    for page in library_pages():
        function = LIBRARY.state(page.name)
        reaction = reaction_arguments(function.mod_watch)
        read = names_read(function.function)
        own = inspect.signature(inspect.unwrap(function.function)).parameters
        for key, parameter in parameters_of(function.function).items():
            known = key == "name" or key in reaction or f"{page.name}.{key}" in READ_ELSEWHERE
            known |= parameter.name not in own  # a decorator reads it: `validate`
            effect = next(item.effect for item in page.arguments if item.name == key)
            if not known and not effect and parameter.name not in read:
                wrong.append(f"{page.name}: {key} has no effect")
    assert not wrong, "\n".join(wrong)


def names_read(function: Callable[..., Any]) -> Container[str]:
    """The names that the body of a function reads."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    assert isinstance(tree, ast.FunctionDef)
    nodes = [node for statement in tree.body for node in ast.walk(statement)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    groups = schema_of(function).groups.items()
    return names.union(*(group.names for name, group in groups if name in names))


def reaction_arguments(mod_watch: Callable[..., Any] | None) -> Container[str]:
    """The arguments that a reaction takes; of `**arguments` those of what it calls."""
    if mod_watch is None:
        return ()
    taken = {*parameters_of(mod_watch)}
    return (
        {*taken, *parameters_of(cmd.run), *parameters_of(cmd.script), *parameters_of(cmd.call)}
        if mod_watch is cmd.mod_watch
        else taken
    )


CRANE = """
from runner.api import Planned

REACTS = ("up",)

def up(name: str, minute: int = 0, hour: int = 0, user: str = "", speed: int = 1) -> Planned:
    '''Lift something.

    name: what is lifted.
    minute, hour alike: a field of the time.
    user: as of file.managed.
    speed: ignored; a crane has one speed.

        box: {crane.up: []}
    '''
    return "x"

def down(name: str, minute: int = 0, rope: str = "") -> Planned:
    '''Lower something.

    name, minute: as of crane.up.
    rope: as of crane.nothing.

        box: {crane.down: []}
    '''
    return "x"

def mod_watch(name: str, sfun: str, slowly: bool = False) -> Planned:
    '''Lift it again.

    slowly: take care.
    '''
    return "x"
"""


def test_how_arguments_are_shown(tmp_path: Path) -> None:
    (tmp_path / "crane.py").write_text(CRANE)
    library = Registry({"states": [str(tmp_path)]})
    up, down = pages.pages(library, "crane")[::-1]
    text, markdown = as_text([up]), as_markdown([up])
    assert "    minute, hour (a whole number, default 0)\n        A field of the time.\n" in text
    assert "| `minute`, `hour` | a whole number | `0` | A field of the time. |" in markdown
    assert "        The owner; without it as it is, or for a new file the caller.\n" in text
    assert "        When it reacts to a change: take care.\n" in text
    assert "It reacts when a state that it watches changed something." in text
    assert "  Ignored or refused:\n    speed (a whole number, default 1)\n" in text
    title = '<details markdown="1">\n<summary>Ignored or refused</summary>\n\n'
    above, _, fold = markdown.partition(title)
    assert "speed" not in above
    assert "| `speed` | a whole number | `1` | Ignored; a crane" in fold.partition("</details>")[0]
    assert [argument.name for argument in down.arguments] == ["name", "minute", "rope"]
    assert "It does not react to what it watches; crane.up can." in as_text([down])
    assert problems(down, frozenset()) == ["crane.down: rope: As of crane.nothing. is not there"]
    assert "Since" not in text, "what a tree brings has no release"
