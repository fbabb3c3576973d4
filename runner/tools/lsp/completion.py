# SPDX-License-Identifier: Apache-2.0
"""What may be typed at a place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from runner.engine.loader.registry import Registry
from runner.model import other_tools
from runner.model.errors import RunnerError
from runner.model.global_arguments import DOCUMENTED
from runner.model.records import Record
from runner.tools.lsp.cursor import Cursor, cursor_at
from runner.tools.lsp.documents import OpenDocument
from runner.tools.lsp.outline import REQUISITES
from runner.tools.lsp.project import Project
from runner.tools.queries import completion_names

MOST = 1000  # of one answer; an editor asks again when more is typed
TOP_KEYS = ("include", "extend", "exclude", "chain", "defaults")
_DATA = re.compile(
    r"\b(?:salt\[?['\".]+)?(?P<kind>pillar|grains)"
    r"(?:(?P<get>(?:\.get)['\"]?\]?\(\s*['\"])(?P<path>[^'\"]*)$|(?P<steps>[\w.\[\]'\"]*)$)"
)
_CALL = re.compile(r"\bsalt(?:\[['\"]|\.)(?P<name>[\w.]*)$")
_FILE = re.compile(r"\b(?:from|import|include|extends)\s+['\"](?P<path>[^'\"]*)$")
_SALT = re.compile(r"salt://(?P<path>[^\s'\"]*)$")


class Candidate(Record):
    """Something that may be typed. kind: state, argument, id, sls, file, key, function, keyword,
    value. start: of the characters that it replaces. found_by: what finds it; its text where empty.
    """

    text: str
    kind: str
    start: int
    about: str = ""
    found_by: str = ""


async def completions(project: Project, document: OpenDocument, offset: int) -> list[Candidate]:
    """All that may be typed at a place, at most MOST."""
    cursor = cursor_at(document, offset)
    in_tree = Completer(project, document)
    salt = _SALT.search(document.text, max(0, offset - 500), offset)
    if salt:
        made: Iterable[Candidate] = in_tree.files(salt["path"], salt.start("path"))
    elif cursor.expression:
        made = in_tree.expression(cursor)
    elif cursor.requisite and not project.is_top(document):
        made = await in_tree.requisites(cursor)
    else:
        made = in_tree.yaml(cursor)
    fitting = (
        candidate for candidate in made if _fits(candidate, document.text[candidate.start : offset])
    )
    return list(islice(dict.fromkeys(fitting), MOST))


def _fits(candidate: Candidate, typed: str) -> bool:
    return typed.lower() in (candidate.found_by or candidate.text).lower()


class Completer:
    """What a tree offers for one text."""

    def __init__(self, project: Project, document: OpenDocument) -> None:
        self._project, self._document = project, document
        self._registry: Registry = project.session.registry

    # -------------------------------------------------- YAML

    def yaml(self, cursor: Cursor) -> Iterator[Candidate]:
        """Keys and values."""
        path, start = cursor.path, cursor.start
        if self._project.is_top(self._document):
            if len(path) >= 2 and cursor.item:
                yield from self._sls(start, path[0])
            return
        if self._project.tree_of(self._document.path) is not self._project.session.tree:
            if path == ("include",):  # of the pillar
                yield from self._sls(start, self._project.env_of(self._document.path))
            return
        if path[:1] == ("extend",):
            path = path[1:]
            if not path:
                yield from (Candidate(id_, "id", start, about) for id_, about in self._ids())
                return
        if not path:
            yield from (Candidate(f"{key}:", "keyword", start) for key in TOP_KEYS)
        elif path == ("include",) or (path == ("exclude",) and cursor.key in ("", "sls")):
            yield from self._sls(start, self._project.env_of(self._document.path))
        elif path == ("exclude",):
            yield from (Candidate(id_, "id", start, about) for id_, about in self._ids())
        elif len(path) == 1 and not cursor.item:
            yield from self._states(cursor)
        elif len(path) == 2 and cursor.item:
            yield from self._of_state(cursor, path[1])

    def _sls(self, start: int, env: str) -> Iterator[Candidate]:
        tree = self._project.tree_of(self._document.path)
        for sls in self._project.sls_files(tree):
            if sls.env == env:
                yield Candidate(sls.name, "sls", start)

    def _states(self, cursor: Cursor) -> Iterator[Candidate]:
        typed = cursor.word
        modules = self._registry.state_modules()
        if "." not in typed:
            yield from (Candidate(f"{module}.", "state", cursor.start) for module in modules)
            modules = [module for module in modules if typed and module.startswith(typed)]
            for word, row in other_tools.beginning(typed, other_tools.FUNCTION):
                for name in row.names:
                    yield Candidate(f"{name}:", "state", cursor.start, row.hint(word), word)
        else:
            modules = [module for module in modules if module == typed.partition(".")[0]]
        for module in modules:
            for name, about in _offered(self._registry, "states", module):
                yield Candidate(f"{module}.{name}:", "state", cursor.start, about)

    def _of_state(self, cursor: Cursor, function: str) -> Iterator[Candidate]:
        """Arguments; below `file:` functions too."""
        start = cursor.start
        if "." not in function:
            for name, about in _offered(self._registry, "states", function):
                yield Candidate(name, "function", start, about)
            function = self._function(function)
        if cursor.key:
            if "true or false" in self._arguments(function).get(cursor.key, ""):
                yield from (Candidate(word, "value", start) for word in ("True", "False"))
            return
        own = self._arguments(function)
        for name, about in own.items():
            yield Candidate(f"{name}:", "argument", start, about)
        for word, row in other_tools.beginning(cursor.word, other_tools.ARGUMENT):
            for name in row.names:
                if name in own or name in DOCUMENTED:
                    yield Candidate(f"{name}:", "argument", start, row.hint(word), word)
        for name, argument in DOCUMENTED.items():
            yield Candidate(f"{name}:", "argument", start, argument.description)
        for name in sorted(REQUISITES - DOCUMENTED.keys()):
            yield Candidate(f"{name}:", "argument", start)

    def _arguments(self, function: str) -> dict[str, str]:
        with suppress(RunnerError):
            return dict(completion_names.arguments_of(self._registry, function, state=True))
        return {}

    def _function(self, module: str) -> str:
        """The function of `file:` with `- managed` below it, as far as the text shows it."""
        states = (
            state
            for declaration in self._document.outline.declarations
            for state in declaration.states
        )
        full = (state.function for state in states if state.key.value == module)
        return next(full, f"{module}.")

    # -------------------------------------------------- requisites

    async def requisites(self, cursor: Cursor) -> list[Candidate]:
        """States and their IDs for a list of requisites."""
        if cursor.key == "sls":
            env = self._project.env_of(self._document.path)
            return list(self._sls(cursor.start, env))
        declared = {(id_, about) for id_, about in self._ids()}
        async for document in self._project.documents():
            for declaration in document.outline.declarations:
                for state in () if declaration.extends else declaration.states:
                    names = [declaration.id.value, *state.names]
                    declared |= {(name, state.function) for name in names}
        written = [(id_, about) for id_, about in sorted(declared) if "{{" not in id_]
        if cursor.key:
            fitting = [pair for pair in written if pair[1].startswith(f"{cursor.key}.")]
            return [Candidate(id_, "id", cursor.start, about) for id_, about in fitting]
        targets = [
            Candidate(f"{about.partition('.')[0]}: {id_}", "id", cursor.start, about)
            for id_, about in written
        ]
        return [*targets, Candidate("sls: ", "keyword", cursor.start, "a whole SLS file")]

    def _ids(self) -> Iterator[tuple[str, str]]:
        """The IDs and names of states as the last check has rendered them, with their functions."""
        for declared in self._project.analysis.declared:
            yield declared.id, declared.function
            yield declared.name, declared.function

    # -------------------------------------------------- paths and templates

    def files(self, typed: str, start: int) -> Iterator[Candidate]:
        """The files below salt://, folder by folder."""
        tree = self._project.session.tree
        folder = typed.rpartition("/")[0]
        begin = f"{folder}/" if folder else ""
        env = self._project.env_of(self._document.path)
        with suppress(RunnerError):
            paths = [path for path in tree.files(folder, env) if path.startswith(begin)]
            parts = dict.fromkeys(path[len(begin) :].partition("/")[:2] for path in paths)
            for name, slash in parts:
                yield Candidate(f"{begin}{name}{slash}", "file", start)

    def expression(self, cursor: Cursor) -> Iterator[Candidate]:
        """Names in the expressions of a template."""
        text, end = cursor.expression, cursor.start + len(cursor.word)
        data, call, file = _DATA.search(text), _CALL.search(text), _FILE.search(text)
        if call:
            yield from self._functions(call["name"], end - len(call["name"]))
        elif data:
            yield from self._keys(data, end)
        elif file:
            yield from self.files(file["path"], end - len(file["path"]))

    def _keys(self, typed: re.Match[str], end: int) -> Iterator[Candidate]:
        analysis = self._project.analysis
        keys: Any = analysis.pillar if typed["kind"] == "pillar" else analysis.grains
        written = typed["path"] if typed["get"] else typed["steps"]
        *above, last = (
            written.split(":") if typed["get"] else re.split(r"[.\[\]'\"]+", written)[1:] or [""]
        )
        for part in above:
            keys = keys.get(part) if isinstance(keys, Mapping) else None
        for key, below in keys.items() if isinstance(keys, Mapping) else ():
            about = f"{len(below)} keys" if isinstance(below, Mapping) else ""
            yield Candidate(key, "key", end - len(last), about)

    def _functions(self, typed: str, start: int) -> Iterator[Candidate]:
        modules = self._registry.modules()
        if "." not in typed:
            yield from (Candidate(f"{module}.", "function", start) for module in modules)
            return
        module = typed.partition(".")[0]
        for name, about in _offered(self._registry, "modules", module):
            yield Candidate(f"{module}.{name}", "function", start, about)


def _offered(registry: Registry, kind: str, module: str) -> Iterator[tuple[str, str]]:
    """The functions of a module with the first lines of their documentation; none of a module that
    cannot work here.
    """
    with suppress(RunnerError):
        for name, about in completion_names.offered(registry, kind, module):
            if name != "mod_watch":
                yield name, about
