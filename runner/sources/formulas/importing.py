# SPDX-License-Identifier: Apache-2.0
"""formulas.yml from what other tools have: `gitfs_remotes` of a Salt minion's or master's file,
.gitmodules, the list of a Puppetfile.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.model.records import Record
from runner.sources.formulas.declared import (
    CODE,
    KEYS,
    NEWEST,
    load,
    text_of,
    without_login,
    wrong_name,
)
from runner.sources.formulas.locked import scalar
from runner.sources.formulas.naming import likely_name
from runner.sources.git import GitError
from runner.sources.git.program import ask_git

_MODULE = re.compile(r"^(?:mod|formula)\s*\(?\s*['\"]([^'\"]+)['\"](.*)$", re.S)
_OPTION = re.compile(r":?(\w+)\s*(?:=>|:)\s*(?:['\"]([^'\"]*)['\"]|(:\w+|\w+))")
_SUBMODULE = re.compile(r'\[submodule "(.*)"\]\s*')
_SETTING = re.compile(r'\s*(\w[\w-]*)\s*=\s*"?(.*?)"?\s*')
_SECRET = ("password", "passphrase", "user", "privkey", "pubkey")  # of gitfs: of one machine
_KINDS = "gitfs_remotes of a minion or master file, .gitmodules, `mod` lines of a Puppetfile"


class Import(Record):
    """A formula that another file names. notes: what of it is not taken over."""

    name: str
    src: str = ""  # empty: it has no repository
    version: str = ""
    root: str = ""
    notes: tuple[str, ...] = ()


def imported(file: str) -> str:
    """The text of a formulas.yml with what a file names. Raises RunnerError for a file that cannot
    be read, or names nothing.
    """
    text = text_of(file)
    if os.path.basename(file) == ".gitmodules" or re.search(r"^\[submodule ", text, re.M):
        found = list(_submodules(text, os.path.dirname(os.path.abspath(file))))
    elif re.search(r"^\s*(mod|formula)\s*\(?\s*['\"]", text, re.M):
        found = list(_modules(text))
    else:
        found = list(_remotes(load(file), file))
    if not found:
        raise RunnerError(f"{file} names no formulas", Source(file), f"it may have {_KINDS}", CODE)
    lines = [f"# From {os.path.basename(file)} by `runner formulas import`.", "formulas:"]
    return "\n".join([*lines, *(line for item in _named(found) for line in _lines(item))]) + "\n"


def _named(found: Iterable[Import]) -> Iterator[Import]:
    """The same with names that are names, each but once."""
    taken: set[str] = set()
    for item in found:
        base = item.name if not wrong_name(item.name) else likely_name(item.name)
        name, number = base, 2
        while name in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name)
        yield item._replace(name=name)


def _lines(item: Import) -> Iterator[str]:
    for note in item.notes:
        yield f"  # {item.name}: {note if note.isprintable() else ascii(note)}"
    if not item.src:
        return
    src = without_login(item.src)
    if src != item.src:
        yield f"  # {item.name}: the login in its URL; git's credential helper can have it"
    facts = item._replace(src=src, version=item.version or NEWEST)._asdict()
    yield _line(facts)


def _line(facts: Mapping[str, str]) -> str:
    keys = [key for key in dict.fromkeys(("name", *KEYS)) if facts.get(key)]
    return "  - {" + ", ".join(f"{key}: {scalar(facts[key])}" for key in keys) + "}"


def text_of_entries(entries: Iterable[Mapping[str, str]]) -> str:
    """The text of a formulas.yml with these entries."""
    return "\n".join(["formulas:", *map(_line, entries)]) + "\n"


# ---------------------------------------------------------------- gitfs_remotes


def _remotes(value: Any, file: str) -> Iterator[Import]:
    """The remotes of a minion or master file. Raises RunnerError for what is none."""
    if not isinstance(value, Mapping):
        return
    for remote in _listed(value.get("gitfs_remotes")):
        url, given = next(iter(remote.items())) if isinstance(remote, Mapping) else (remote, None)
        if not isinstance(url, str):
            raise RunnerError(
                f"gitfs_remotes of {file}: {url!r} is no URL of a repository",
                Source(file),
                code=CODE,
            )
        pairs = [pair for pair in _listed(given) if isinstance(pair, Mapping)]
        settings = {str(key): item for pair in pairs for key, item in pair.items()}
        base = settings.pop("base", value.get("gitfs_base")) or "master"
        root = settings.pop("root", value.get("gitfs_root")) or ""
        name = str(settings.pop("name", "") or likely_name(str(url)))
        notes = tuple(
            f"{key}{'' if key in _SECRET else f': {item}'} is not taken over"
            for key, item in settings.items()
        )
        src = re.sub(r"^file:///", "/", str(url))
        yield Import(name, src, str(base), str(root).strip("/"), notes)


def _listed(value: Any) -> list[Any]:
    """The items of a list that are something; a single value is the only one."""
    return [item for item in (value if isinstance(value, list) else [value]) if item]


# ---------------------------------------------------------------- .gitmodules


def _submodules(text: str, folder: str) -> Iterator[Import]:
    """The submodules, each with its branch, or else the commit that the repository around has."""
    modules: list[tuple[str, dict[str, str]]] = []
    for line in text.splitlines():
        if head := _SUBMODULE.fullmatch(line):
            modules.append((head[1], {}))
        elif modules and (setting := _SETTING.fullmatch(line)):
            modules[-1][1][setting[1]] = setting[2]
    for title, settings in modules:
        url, branch = settings.get("url", ""), settings.get("branch", "")
        notes = ["it has no url"] if not url else []
        version = branch if branch != "." else ""
        if not version:
            version = _pinned(folder, settings.get("path", title))
        if not version:
            notes.append("which commit it has is not known: this is the newest release")
        if url.startswith(("./", "../")):
            notes.append(f"its url {url} is relative to where this repository is from: name it")
            url = ""
        yield Import(likely_name(url or title), url, version, "", tuple(notes))


def _pinned(folder: str, path: str) -> str:
    """The commit of a submodule, as the index of the repository around has it; empty without."""
    words = ["-C", folder, "ls-files", "--stage", "--", f":(literal){path}"]
    try:
        answer = ask_git(words, folder)
    except GitError:
        return ""
    fields = answer.output.split()
    return fields[1].decode() if answer.status == 0 and fields[:1] == [b"160000"] else ""


# ---------------------------------------------------------------- a Puppetfile


def _modules(text: str) -> Iterator[Import]:
    """The modules of a Puppetfile; a statement goes on after a comma."""
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    statements = re.sub(r",\s*\n\s*", ", ", "\n".join(lines)).split("\n")
    for statement in statements:
        match = _MODULE.match(statement)
        if match is None:
            continue
        name = match[1].replace("/", "-").split("-", 1)[-1]
        options = {key: text or word for key, text, word in _OPTION.findall(match[2])}
        src = options.get("git", "")
        versions = (options.get(key, "") for key in ("tag", "commit", "ref", "branch"))
        version = next(filter(None, versions), options.get("default_branch", ""))
        notes = [] if src else ["it is not from a git repository, and left out"]
        if version.startswith(":"):
            notes, version = [*notes, f"its version is {version}: name one"], ""
        yield Import(name, src, version, options.get("subdir", ""), tuple(notes))
