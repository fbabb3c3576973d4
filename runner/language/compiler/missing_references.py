# SPDX-License-Identifier: Apache-2.0
"""References of states beyond other states: files of the tree, execution functions, engines."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from runner.model.chunk import COMMAND_GUARDS, Chunk
from runner.model.diagnostics import IGNORED, Diagnostic, similar, suggestion
from runner.model.errors import RunnerError
from runner.model.places import Place, Source, Value, item_place
from runner.model.records import Record
from runner.model.stdlib import pattern
from runner.support.files.text import IS_LOCKED, LOCKED, UNLOCK, text_to_show
from runner.support.yaml import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, Protocol
else:
    Protocol = object

SOURCES = ("source", "sources", "name", "source_hash")
OF_THE_MACHINE = ("file.copy", "file.rename")  # whose `source` is no file of the tree
OF_FILES = ("archive", "file")  # the state modules whose `source` is the address of a file
ENGINES = ("jinja", "mako", "py")


class TreeFiles(Protocol):
    """The file roots."""

    def fetch(self, url: str, saltenv: str) -> str | None: ...
    def find(self, path: str, saltenv: str) -> str | None: ...
    def files(self, prefix: str, saltenv: str) -> list[str]: ...
    def near_file(self, path: str, saltenv: str) -> str | None: ...
    def folders_of(self, saltenv: str) -> list[str]: ...


class FunctionNames(Protocol):
    """The execution functions."""

    def has_function(self, name: str) -> bool: ...
    def function_hint(self, name: str) -> str: ...


class World(Record):
    """The places where references are looked up. takes_folder: whether the source of a state
    function is a folder; takes_words: whether the words after it are arguments of a program;
    is_locked: whether git-crypt has not decrypted a file.
    """

    tree: TreeFiles
    library: FunctionNames
    takes_folder: Callable[[str], bool]
    takes_words: Callable[[str], bool]
    is_locked: Callable[[str], bool]
    strict: bool


def problems(
    referring: Iterable[tuple[Chunk, Iterable[str]]], world: World
) -> Iterator[Diagnostic]:
    """All references that lead nowhere. Salt lets the state fail, and only a strict reader refuses
    the whole run. referring: states, each with the execution functions that it calls by name.
    """
    for chunk, called in referring:
        for key in SOURCES:
            value = chunk.args.get(key) if key != "name" else chunk.name
            if value:
                yield from _sources(chunk, key, value, world)
        yield from _functions(chunk, called, world)
        yield from _engine(chunk)


def _engine(chunk: Chunk) -> Iterator[Diagnostic]:
    engine = chunk.args.get("template")
    if not isinstance(engine, str) or engine in ENGINES or "|" in engine:
        return
    near = similar(engine, ENGINES)
    if near:
        message = f"{chunk.function}: template: there is no template engine {engine!r}"
        yield Diagnostic(
            message,
            _at(chunk, "template").source,
            suggestion(near[0]),
            "argument",
            argument=(chunk.function, "template"),
        )


def _at(chunk: Chunk, key: str) -> Place:
    return chunk.arg_places.get(key, chunk.place)


# ---------------------------------------------------------------- files of the tree


def _sources(chunk: Chunk, key: str, value: Value, world: World) -> Iterator[Diagnostic]:
    place = _at(chunk, key)
    if isinstance(value, str):
        yield from _one(chunk, key, value, place, world)
    elif isinstance(value, list) and key == "sources":
        for index, entry in enumerate(value):
            url = next(iter(entry.values()), None) if isinstance(entry, Mapping) else entry
            if isinstance(url, str):
                yield from _one(chunk, key, url, item_place(value, index, place), world)
    elif isinstance(value, list) and value:
        urls = [next(iter(entry), "") if isinstance(entry, Mapping) else entry for entry in value]
        if all(isinstance(url, str) and url.startswith("salt://") for url in urls):
            if not any(_exists(url, chunk.env, world.tree) for url in urls):
                listed = ", ".join(map(str, urls))
                what = f"{key}: none of {listed} is in the tree"
                yield _missing(world, chunk, what, _looked(chunk, world), place.source, exact=False)


def _one(chunk: Chunk, key: str, url: str, place: Place, world: World) -> Iterator[Diagnostic]:
    tree, env = world.tree, chunk.env
    if not url.startswith("salt://"):
        meant = _meant(url, env, tree) if key == "source" else None
        hint = f"write `- {key}: {meant}`" if meant else None
        if not meant and chunk.state in OF_FILES and _is_relative(url) and key == "source":
            hint = f"write `- {key}: salt://{url.removeprefix('./')}`"
            if chunk.function in OF_THE_MACHINE:
                hint = "write the whole path, from its slash on: no shell reads ~ or $HOME here"
        if hint:
            what = f"{key}: {url} is neither an absolute path nor the address of a file"
            yield _missing(world, chunk, what, hint, place.source)
        return
    if " " in url and world.takes_words(chunk.function) and not tree.fetch(url, env):
        url = url.partition(" ")[0]
    file = tree.fetch(url, env)
    folder = file is None and _is_folder(url, env, tree)
    wants_folder = world.takes_folder(chunk.function)
    if file is None and not folder:
        path = url.removeprefix("salt://").partition("?")[0]
        near = tree.near_file(path, env)
        hint = (
            suggestion(f"salt://{near}")
            if near and not wants_folder
            else _looked(chunk, world, path)
        )
        beside = _is_folder(f"salt://{os.path.dirname(path)}", env, tree)
        exact = beside and "/" in path
        special = _special_file(path, env, tree)
        if special:
            what = f"{key}: {url} is no regular file"
            yield _missing(world, chunk, what, f"looked at {special}", place.source, exact)
            return
        yield _missing(world, chunk, f"{key}: {url} is not in the tree", hint, place.source, exact)
    elif folder and not wants_folder and key == "source":
        hint = "name a file in it, or take file.recurse for the whole folder"
        yield _missing(world, chunk, f"{key}: {url} is a folder", hint, place.source)
    elif file is not None and wants_folder:
        hint = "name the folder, or take file.managed for one file"
        yield _missing(world, chunk, f"{key}: {url} is a file, not a folder", hint, place.source)
    elif file is not None and world.is_locked(file):
        yield _missing(world, chunk, f"{key}: {url} is {IS_LOCKED}", UNLOCK, place.source)


def is_locked(path: str) -> bool:
    """Return whether git-crypt has not decrypted a file."""
    try:
        with open(path, "rb") as opened:
            return opened.read(len(LOCKED)) == LOCKED
    except OSError:  # told by the state that reads it
        return False


def _meant(url: str, env: str, tree: TreeFiles) -> str | None:
    """The address of a file of the tree that was typed without its beginning."""
    path = url.removeprefix("salt:").lstrip("/")
    typed = url.startswith("salt:") or not (url.startswith("/") or "://" in url)
    return f"salt://{path}" if typed and tree.find(path, env) else None


def _is_relative(url: str) -> bool:
    return bool(url) and not url.startswith(("/", "~", "|")) and ":" not in url


def _exists(url: str, env: str, tree: TreeFiles) -> bool:
    return tree.fetch(url, env) is not None or _is_folder(url, env, tree)


def _is_folder(url: str, env: str, tree: TreeFiles) -> bool:
    path, _, query = url.removeprefix("salt://").lstrip("|").partition("?")
    folders = tree.folders_of(query.removeprefix("saltenv=") or env)
    return any(os.path.isdir(os.path.join(folder, path)) for folder in folders)


def _special_file(path: str, env: str, tree: TreeFiles) -> str | None:
    """The pipe, socket or device that has the path of a file of the tree."""
    paths = (os.path.join(folder, path) for folder in tree.folders_of(env))
    return next(
        (
            candidate
            for candidate in paths
            if os.path.exists(candidate) and not os.path.isdir(candidate)
        ),
        None,
    )


def _looked(chunk: Chunk, world: World, path: str = "") -> str:
    folders = ", ".join(os.path.join(folder, path) for folder in world.tree.folders_of(chunk.env))
    return f"looked for {folders}" if path else f"looked in {folders}"


def _missing(
    world: World, chunk: Chunk, what: str, hint: str, source: Source, exact: bool = True
) -> Diagnostic:
    """exact: the tree is at fault, not the pillar that named the file. A state that may be skipped
    need not fail.
    """
    severity = (
        "error"
        if world.strict and not chunk.is_conditional and (exact or source.rendered is None)
        else "warning"
    )
    return Diagnostic(f"{chunk.function}: {what}", source, hint, "missing-file", severity)


# ---------------------------------------------------------------- functions and templates


def _functions(chunk: Chunk, called: Iterable[str], world: World) -> Iterator[Diagnostic]:
    for name in called:
        if not world.library.has_function(name):
            yield _unknown(chunk, name, _at(chunk, name).source, world)
    for key in COMMAND_GUARDS:
        listed = chunk.args.get(key, [])
        for index, entry in enumerate(listed if isinstance(listed, list) else [listed]):
            source = item_place(listed, index, _at(chunk, key)).source
            named = entry.get("fun") if isinstance(entry, Mapping) else entry
            if not isinstance(named, str):
                yield _no_guard(chunk, key, entry, source)
            elif isinstance(entry, Mapping) and not world.library.has_function(named):
                yield _unknown(chunk, named, source, world)


def _no_guard(chunk: Chunk, key: str, entry: Value, source: Source) -> Diagnostic:
    if isinstance(entry, Mapping):
        message = "a mapping needs `fun:`"
        hint = "write `- fun: MODULE.FUNCTION` and its arguments below"
        if len(entry) == 1 and " " in str(command := next(iter(entry.values()))):
            hint = f"write the command alone: `- {key}: {mark.in_quotes(str(command))}`"
    elif isinstance(entry, list):
        message = f"{entry} is not a command"
        hint = f"YAML reads brackets as a list: put the command in quotes, `- {key}: 'COMMAND'`"
    else:
        words = {True: "true", False: "false", None: "null"}
        shown = words[entry] if isinstance(entry, bool | None) else entry
        typed = f"'{shown}'"
        if len(source.values) == 1 and isinstance(entry, bool):  # a template's True is no program
            typed = f"'{{{{ ({source.values[0][0]}) | lower }}}}'"
        message, hint = f"{shown} is not a command", f"write a command as text: `- {key}: {typed}`"
        hint = (entry is None and mark.comment_hint(source)) or hint
    return Diagnostic(
        f"{chunk.function}: {key}: {message}{IGNORED}", source, hint, "ignored", "warning"
    )


def _unknown(chunk: Chunk, name: str, source: Source, world: World) -> Diagnostic:
    message = f"{chunk.function}: there is no execution function {name}"
    return Diagnostic(
        message, source, world.library.function_hint(name), "unknown-function", "warning"
    )


_EXPRESSION = pattern(r"\{\{.*?\}\}")


def used_by_template(tree: TreeFiles) -> Callable[[Chunk, str], bool]:
    """Return whether the template of a state uses a variable; it does when nobody can know (a
    folder, imports).
    """

    def used(chunk: Chunk, name: str) -> bool:
        if not chunk.args.get("template"):
            return False
        source = chunk.args.get("source")
        if source is None:
            return _names(str(chunk.args.get("contents", "")), name)
        urls = source if isinstance(source, list) else [source]
        files = [
            file for url in urls if isinstance(url, str) and (file := tree.fetch(url, chunk.env))
        ]
        return not files or any(_names(text_to_show(file), name) for file in files)

    return used


def _names(text: str, name: str) -> bool:
    return bool(re.search(rf"\b{re.escape(name)}\b|\{{%-?\s*(import|from|include|extends)\b", text))


def template_of(chunk: Chunk, tree: TreeFiles) -> str | None:
    """The file of the Jinja template of the tree that a state renders."""
    source = chunk.args.get("source")
    if chunk.args.get("template") != "jinja":
        return None
    urls = source if isinstance(source, list) else [source]
    of_tree = (url for url in urls if isinstance(url, str) and url.startswith("salt://"))
    return next(filter(None, (tree.fetch(url, chunk.env) for url in of_tree)), None)


def templates(
    chunks: Sequence[Chunk], tree: TreeFiles, read: Callable[[str, str], Any]
) -> Iterator[Diagnostic]:
    """Mistakes in the syntax of the templates that states render. read: (file, environment), raises
    RunnerError.
    """
    seen: set[str] = set()
    for chunk in chunks:
        for file in _templates_of(chunk, tree):
            if file in seen:
                continue
            seen.add(file)
            try:
                read(file, chunk.env)
            except RunnerError as error:
                used = _at(chunk, "source").source
                for problem in error.diagnostics:
                    source = problem.source and Source(
                        problem.source.file, problem.source.line, problem.source.column, (used,)
                    )
                    yield problem._replace(source=source or used)


def _templates_of(chunk: Chunk, tree: TreeFiles) -> Iterator[str]:
    """The templates of the tree that a state renders, unless patterns choose among them."""
    if file := template_of(chunk, tree):
        yield file
    source = chunk.args.get("source")
    chosen = {"include_pat", "exclude_pat"} & chunk.args.keys()
    if chunk.function != "file.recurse" or chunk.args.get("template") != "jinja" or chosen:
        return
    for url in source if isinstance(source, list) else [source]:
        if isinstance(url, str) and url.startswith("salt://") and "?" not in url:
            folder = url.removeprefix("salt://").strip("/")
            found = (tree.find(path, chunk.env) for path in tree.files(folder, chunk.env))
            yield from filter(None, found)


def written(id_: str, declared: Mapping[str, str]) -> tuple[str, str] | None:
    """The SLS whose template may write an ID, and the ID as typed; of several, that with most of
    it. No expression but the first word is several parts of a path.
    """
    typed = [(len(_EXPRESSION.sub("", each)), each) for each in declared]
    for length, each in sorted(typed, reverse=True):
        first, *parts = map(re.escape, _EXPRESSION.split(each))
        begin = first + ("[^/]+" if first else ".+")
        if parts and length > 2 and re.fullmatch(begin + "[^/]+".join(parts), id_):
            return declared[each], each
    return None
