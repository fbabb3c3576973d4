# SPDX-License-Identifier: Apache-2.0
"""Hints for a wrong shape of an SLS: the words for mistakes that sls.py and high.py find."""

from __future__ import annotations

from collections.abc import Mapping

from runner.model import other_tools
from runner.model.chunk import RESERVED
from runner.model.diagnostics import ODD_SPACES, nearest, odd_space_hint, suggestion
from runner.model.global_arguments import COMMAND, DOCUMENTED
from runner.model.places import Value
from runner.model.requisite_kinds import REQUISITE_KEYS
from runner.model.stdlib import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from runner.model.highdata import Item

FUNCTION = pattern(r"[a-z_]\w*\.[a-z_]\w*")
# what belongs among the arguments and is often written beside the function
BESIDE = frozenset(
    name
    for name, argument in DOCUMENTED.items()
    if argument.stage is not COMMAND  # some of those are called like state modules
)


def kind(value: Value) -> str:
    """The type of a value, for people."""
    if value is None:
        return "nothing"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text"}
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list) else names.get(type(value), type(value).__name__)


def argument(text: str) -> str | None:
    """Return how a text that is not an argument was probably meant to be written."""
    match = pattern(r"-?\s*([\w.-]+)\s*(?:[:：=]|\s)\s*(\S.*)").fullmatch(text)
    if not match or FUNCTION.fullmatch(text):
        return None
    reason = "a colon needs a space after it: " if pattern(r"[\w.-]+:\S").match(text) else ""
    return f"{reason}write `- {match[1]}: {match[2]}`"


def sls_hint(value: Value) -> str:
    """The cure for an SLS that is not a mapping of IDs."""
    tasks = other_tools.task_hint(value[0]) if isinstance(value, list) and value else None
    return tasks or "write `ID:` without indentation and below it, indented, `module.function:`"


def beside_hint(id_: str, value: str) -> str:
    """The cure for arguments that stand on the line of a function: `user.present name=bob`."""
    function, *words = value.split()
    pairs = [word.split("=", 1) for word in words]
    written = ", ".join(
        f"`- {': '.join(pair if len(pair) > 1 else ['name', *pair])}`" for pair in pairs
    )
    return f"write `{id_}:`, below it, indented, `{function}:` and below that {written}"


def body_hint(id_: str, value: Value) -> str:
    """The cure for an ID whose value is not a mapping of states."""
    theirs = other_tools.argument_word(id_)
    if theirs and theirs.text:
        return theirs.hint(id_, "module.function")
    if resource := other_tools.resource_hint(id_):
        return resource
    if id_ == "chain" and isinstance(value, list | str) and value:
        link: Value = value if isinstance(value, str) else value[0]
        if isinstance(link, Mapping) and link:
            link = ": ".join(map(str, next(iter(link.items()))))
        return f"a chain is a list of texts in quotes: write `chain:` and below it `- '{link}'`"
    first = value[0] if isinstance(value, list) and value else None
    if first and (near := nearest(id_, ("include", "exclude", "extend"), 0.7)):
        return suggestion(near)
    if isinstance(first, str) and FUNCTION.fullmatch(first):
        return f"a function has no dash: write `{first}: []`, or `{id_}: {first}`"
    if isinstance(value, list) and value and isinstance(value[0], Mapping) and value[0]:
        return f"remove the dash: `{next(iter(value[0]))}:`; only arguments have dashes"
    if isinstance(value, str) and FUNCTION.match(value) is None and "." in value:
        return f"write `{id_}:` and below it, indented, `{value.strip('-: ')}:`"
    return f"write `{id_}:` and below it, indented, `module.function:`, `file.managed:` say"


def list_hint(value: Value, state: str = "") -> str:
    """The cure for arguments that are no list. state: what they stand below, if it names no
    function.
    """
    if cure := of_another_tool(state) or mistyped_dash(state, value):
        return cure
    if isinstance(value, Mapping) and value:
        key, first = next(iter(value.items()))
        name = str(key)
        shown = (
            first if isinstance(first, str | int | float) and not isinstance(first, bool) else "..."
        )
        return mistyped_dash(name, shown) or (f"put `- ` before each argument: `- {name}: {shown}`")
    if isinstance(value, str):
        if state and pattern(r"[a-z_]\w*").fullmatch(value):
            return f"write `{state}.{value}: []`, or `{state}: [{value}]`"
        given = argument(value) if pattern(r"-?\s*[\w.-]+\s*[:=]").match(value) else None
        return given or f"arguments are a list below the function: `- name: {value}`"
    return "put `- ` before each argument"


def mistyped_dash(key: str | None, value: Value) -> str | None:
    """The cure for a key that a dash is part of: `-name: x`."""
    space = rf"([\s{''.join(ODD_SPACES)}]*)"
    dash = pattern(rf"{space}([-–—−]){space}(.*)").match(str(key))
    if not dash:
        return None
    written = f"`- {dash[4].lstrip('-')}: {value}`"
    if odd := next((sign for sign in dash[1] + dash[3] if sign in ODD_SPACES), None):
        return f"a space that is none (U+{ord(odd):04X}) beside the dash: write {written}"
    if dash[2] != "-":
        return f"{dash[2]} is a typographic dash, which YAML takes for a letter: write {written}"
    return f"a dash needs a space after it: {written}"


def of_another_tool(word: str) -> str | None:
    """The cure for a word of another tool that stands where a function belongs."""
    if word in BESIDE:
        return f"`{word}` is an argument: indent it and put `- ` before it, below the function"
    function, beside = other_tools.function_word(word), other_tools.argument_word(word)
    if function and function.names:
        return f"write `{function.names[0]}:`, and `- ` before each argument below it"
    if beside and beside.text:
        return beside.hint(word, "module.function")
    if beside:
        return f"write it as an argument, `- {beside.names[0]}: ...`, below the function"
    return None


def is_of_top_file(key: str, entries: Value) -> bool:
    """Return whether that is a target with its SLS files, where a state belongs."""
    assert isinstance(entries, list)
    names = [entry for entry in entries if isinstance(entry, str)]
    others = [entry for entry in entries if not isinstance(entry, str)]
    marked = any(mark in key for mark in "*?@:") and bool(names)
    named = sum("." in name for name in names) > 1  # no function has a dot there
    return (marked or named) and all(
        isinstance(entry, Mapping) and "match" in entry for entry in others
    )


def no_list(key: str, id_: str, sls: str, listed: Value) -> str:
    """The message about a requisite that is no list."""
    more = "; there is nothing below it" if listed is None else ""
    return f"The {key} statement in state '{id_}' in SLS '{sls}' needs to be formed as a list{more}"


def not_indented(item: Item, items: Sequence[Item]) -> str | None:
    """The cure for an item of a list that stands beside the argument whose list it is."""
    above = items[items.index(item) - 1]
    if above.key is None or above.value is not None:
        return None
    return f"indent it, if it belongs to the list of `{above.key}` above it"


def no_function_hint(state: str) -> str:
    """The cure for a state without a function."""
    parts = pattern(r"[/:\s]").split(state)
    dashed = pattern(r"([a-z_]+)-([a-z_]+)").fullmatch(state)
    if dashed:
        parts = list(dashed.groups())
    if len(parts) == 2 and all(parts):
        return f"write `{parts[0]}.{parts[1]}:`"
    theirs = of_another_tool(state)
    if theirs:
        return theirs
    return (
        f"write `{state}.FUNCTION:`, or add the function to the list: `runner doc {state}` has them"
    )


def collection_hint(name: str) -> str | None:
    """The cure for a module of Ansible's with its collection before it; None for anything else."""
    row = other_tools.collection_word(name)
    return of_another_tool(name.rpartition(".")[2]) or row.hint(name) if row else None


def reactor_hint() -> str:
    """The cure for a state that is to react and is nowhere: it may be a handler of Ansible's."""
    handlers = other_tools.argument_word("handlers")
    assert handlers
    return f"name the ID of a state, or include its SLS; a handler of Ansible's is {handlers.text}"


def top_level(key: str, value: Value) -> str | None:
    """The meaning that a key at the margin was to have, when it is not an ID."""
    if hint := odd_space_hint(key):
        return hint
    if key in REQUISITE_KEYS and isinstance(value, list):
        return (
            "a requisite belongs among the arguments of a state: indent it below a function, with"
            " `- ` before it"
        )
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        near = "include" if key == "import" else nearest(key, RESERVED, 0.75)
        return suggestion(f"`{near}:`") if near else None
    return None


def first_key(value: Value) -> str:
    """The first key in a list of mappings; ID where there is none."""
    first = next(iter(value), None) if isinstance(value, list) else None
    return str(next(iter(first), "ID")) if isinstance(first, Mapping) else "ID"


def include_hint(entry: Any) -> str:
    """The cure for an include that is not a name."""
    if isinstance(entry, list):
        return "one name on each line: `- NAME`, without brackets"
    if isinstance(entry, Mapping) and entry:
        return (
            f"`- ENVIRONMENT: NAME` takes one from another environment, `- {next(iter(entry))}`"
            " from this one"
        )
    if entry in (None, ""):
        return "write the name of an SLS after the dash, or remove the dash"
    return f"write the name of an SLS; a number needs quotes: `- '{entry}'`"
