# SPDX-License-Identifier: Apache-2.0
"""What other tools call states, arguments and ideas, and what to write here: other_tools.txt, which
the hints of unknown functions, arguments, variables and options, of wrong shapes, `runner doc
WORDS`, completion, and the tables of docs/coming-from-*.md read.

To add a word, add it to a line of its kind. tests/runner/model/test_other_tools.py holds the table
to the functions that there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from runner.model import text_tables
from runner.model.diagnostics import suggestion
from runner.model.records import Record

TABLE = "other_tools.txt"
# IDEA: what stands for no single word of an SLS. COMMAND: programs and their options. FUNCTION: a
# module, or a module and its function. ARGUMENT: what stands beside a state in those tools.
# VALUE: what stands behind `state:`, `ensure:` and `action:`. VARIABLE: of templates (`ansible_*`:
# each that begins so). FILTER: filters, tests, functions. SUBJECT: what people look for.
KINDS = IDEA, COMMAND, FUNCTION, ARGUMENT, VALUE, VARIABLE, FILTER, SUBJECT = (
    "idea",
    "command",
    "function",
    "argument",
    "value",
    "variable",
    "filter",
    "subject",
)
WRITTEN = FUNCTION, ARGUMENT, VALUE, FILTER  # whose names stand in an SLS
SOME_STATE = "service.running"  # stands for the state that was written where none was
ADVICE = ("it is", "leave", "the value", "there is")  # how a text begins that is nothing to write


_COLLECTION = re.compile(r"\w+\.\w+\.\w+")  # a module of Ansible's, with its collection


class Word(Record):
    """Words of other tools that mean the same.

    kind: of KINDS. words: as people write them, by the tool whose they are (`-`: nobody's). names:
    what does it here, the likeliest first; of functions and arguments what is written in an SLS, of
    others entries of the manual. text: what else there is to say, in the words of an SLS;
    {function} is the state that was written.
    """

    kind: str
    names: tuple[str, ...]
    text: str
    words: Mapping[str, tuple[str, ...]]

    def tools(self, word: str, more: str = "") -> list[str]:
        """Whose a word is, in the singular or plural. more: a pattern of what may follow it."""
        one = re.escape(word.removesuffix("s"))
        spoken = re.compile(f"`?(?:{re.escape(word)}|{one}s?)(?:{more})`?", re.I)
        return [tool for tool, words in self.words.items() if any(map(spoken.fullmatch, words))]

    @property
    def all_words(self) -> dict[str, None]:
        """The words, without the backquotes that pages show."""
        return {word.strip("`"): None for words in self.words.values() for word in words}

    def is_of(self, module: str) -> bool:
        """Return whether what is to be written is a state of a module."""
        return bool(self.names) and self.names[0].startswith(f"{module}.")

    def hint(self, word: str, function: str = "", value: object = None) -> str:
        """The cure for a word that somebody wrote. function: the state that it stands in; value:
        what is said of it.
        """
        if len(self.names) == 1 and not self.text and self.kind in WRITTEN:
            return suggestion(self.names[0])
        return self.advice(word, function, value)

    def advice(self, word: str, function: str = "", value: object = None) -> str:
        """Whose a word is, and what to write, as of `hint`."""
        names = self.names if self.kind in WRITTEN else ()
        tools = [f"{tool}'s" for tool in self.tools(word) if tool != "-"]
        whose = " and ".join(filter(None, [", ".join(tools[:-1]), *tools[-1:]]))
        said = f"`{word}` is {whose}: " if tools else ""
        if self.kind not in (IDEA, COMMAND) and not self.text.startswith(ADVICE):
            said += "write "
        listed = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        text = self.text.replace("{function}", _function_of(value, function or SOME_STATE))
        return said + ("; " if text and len(names) > 1 else " ").join(filter(None, [listed, text]))


@cache
def table() -> tuple[Word, ...]:
    """All rows."""
    return tuple(_words())


def _words() -> Iterator[Word]:
    for kind, (names, said, *tools) in text_tables.rows("runner.model", TABLE):
        pairs = (tool.split(": ", 1) for tool in tools)
        words = {tool: tuple(listed.split(", ")) for tool, listed in pairs}
        yield Word(kind, tuple(names.split()), said, words)


@cache
def _by_word(kind: str) -> Mapping[str, Word]:
    return {word: row for row in table() if row.kind == kind for word in row.all_words}


def rows(word: str) -> list[Word]:
    """The rows of a word, of any kind but VALUE, which is about too much; else those of words that
    it begins (`apt-get install`). A module of Ansible may have its collection before it
    (`ansible.builtin.copy`).
    """
    if _COLLECTION.fullmatch(word):
        word = word.rpartition(".")[2]
    asked = [row for row in table() if row.kind != VALUE]
    found = [row for row in asked if row.tools(word)]
    return found or [row for row in asked if row.tools(word, "[ :].*")]


def program(line: str) -> str:
    """What of a command line the table has as words of shells (`usermod -aG x` has `usermod`,
    `curl -s URL | sh` has `curl pipe sh`); empty where it has none.
    """
    plain = " ".join(word for word in line.split() if "://" not in word)
    bare = " ".join(word for word in plain.split() if not word.startswith("-"))
    for words in (text.replace("|", "pipe").split() for text in (plain, bare)):
        for count in range(len(words), 0, -1):
            beginning_ = " ".join(words[:count])
            if any("shell" in row.tools(beginning_) for row in table() if row.kind != VALUE):
                return beginning_
    return ""


def beginning(typed: str, *kinds: str) -> Iterator[tuple[str, Word]]:
    """The words of some kinds that begin so, with their rows; none before something is typed."""
    for row in table() if typed else ():
        if row.kind in kinds:
            yield from ((word, row) for word in row.all_words if word.startswith(typed))


def function_word(name: str, here: bool = False) -> Word | None:
    """The row of a state function; None where nothing is known of it. here: its module is there."""
    words = _by_word(FUNCTION)
    module, _, function = name.partition(".")
    row = words.get(name)
    if not function:
        return None if row and row.is_of(module) else row  # `user` is called so here, too
    within = words.get(function)
    if row or (within and within.is_of(module)):  # file.lineinfile
        return row or within
    if here:
        return None
    return words.get(f"{module_of(module)}.{function}") or words.get(module)


def collection_word(name: str) -> Word | None:
    """The row of a module of Ansible's that has its collection before it."""
    row = _by_word(FUNCTION).get(name.rpartition(".")[2]) if _COLLECTION.fullmatch(name) else None
    return row if row and "Ansible" in row.words else None


def argument_word(name: str) -> Word | None:
    """The row of an argument, or of what stands in other tools beside a state."""
    return _by_word(ARGUMENT).get(name)


def _function_of(value: object, function: str) -> str:
    """The function that `state: VALUE` means in a state; its own where none is known."""
    row = _by_word(VALUE).get(str(value))
    begin = f"{function.partition('.')[0]}."
    return next((name for name in (row.names if row else ()) if name.startswith(begin)), function)


def variable_word(name: str) -> Word | None:
    """The row of a variable of a template."""
    words = {**_by_word(FILTER), **_by_word(VARIABLE)}
    return words.get(name) or words.get(f"{name.partition('_')[0]}_*")


def filter_word(name: str) -> Word | None:
    """The row of a filter or a test of a template; Ansible's may have its collection before it."""
    return _by_word(FILTER).get(name.rpartition(".")[2])


def option_word(name: str) -> Word | None:
    """The row of an option of a command line."""
    return _by_word(COMMAND).get(name)


def task_hint(entry: object) -> str | None:
    """Return what to write for a task of a playbook, which is a mapping; None for anything else."""
    if not isinstance(entry, Mapping):
        return None
    if "hosts" in entry and {"tasks", "roles"} & entry.keys():
        return (
            "a playbook is Ansible's: its tasks become states of an SLS, its `hosts:` a target of"
            " top.sls"
        )
    for key in entry:
        row = _by_word(FUNCTION).get(str(key).rpartition(".")[2])
        if row and row.names:
            id_ = entry.get("name") or "ID"
            return (
                f"a list of tasks is Ansible's: write `{id_}:` and below it, indented,"
                f" `{row.names[0]}:` with `- ` before each argument"
            )
    return None


def resource_hint(text: str) -> str | None:
    """Return what to write for a resource of Puppet, `package { 'vim':`; None for anything else."""
    resource = re.match(r"""\s*(\w+) *\{ *['"]([^'"]+)""", text)
    if not resource:
        return None
    row = function_word(resource[1])
    function = row.names[0] if row and row.names else "module.function"
    return f"that is Puppet's way: write `{resource[2]}:` and below it, indented, `{function}: []`"


def module_of(word: str) -> str:
    """The state module that another tool calls by a word; the word itself where none is known."""
    row = _by_word(FUNCTION).get(word)
    return row.names[0].partition(".")[0] if row and row.names else word
