# SPDX-License-Identifier: Apache-2.0
"""Facts from files and programs that an administrator puts into a folder.

What other tools read is read as they do: `facts.d` of Ansible, whose facts are below
`ansible_local`, and of Puppet's Facter, whose facts are grains of their own.
"""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from runner.model.diagnostics import Diagnostic
from runner.model.json_text import parse_json
from runner.model.places import Source
from runner.support.files.permissions import flaw
from runner.support.programs import running

Facts = dict[str, Any]
ANSIBLE = "/ansible/facts.d"  # how the folder ends whose facts are below `ansible_local`
SECONDS = 10.0  # that a program may take
LARGEST = 1024 * 1024  # bytes of what it prints, and of a file
IGNORED = (".bak", ".orig", ".dpkg-dist", ".dpkg-old", ".rpmnew", ".rpmsave", "~")
_LINE = re.compile(r"\s*([\w.:-]+)\s*=(.*)")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Unusable(Exception):
    """A file or program has no facts, and why."""


def external_facts(folders: tuple[str, ...], report: Callable[[Diagnostic], None]) -> Facts:
    """The facts of all folders, the first one's first; of a folder, in the order of the names.

    report: gets what cannot be used: a file that others can write, or that is not understood.
    """
    facts: Facts = {}
    for folder in dict.fromkeys(folders):
        of_ansible = folder.endswith(ANSIBLE)
        for path in _files(folder, report):
            try:
                found = _facts_of(path, of_ansible)
            except (Unusable, OSError) as error:
                report(_problem(path, str(getattr(error, "strerror", None) or error)))
                continue
            if of_ansible:
                name = os.path.basename(path).removesuffix(".fact")
                facts.setdefault("ansible_local", {}).setdefault(name, found)
            else:
                for key, value in found.items():
                    facts.setdefault(str(key), value)
    return facts


def _problem(path: str, why: str) -> Diagnostic:
    return Diagnostic(
        f"the facts of {path} are missing: {why}",
        Source(path),
        "the run continues without them",
        "grains",
        "warning",
    )


def _files(folder: str, report: Callable[[Diagnostic], None]) -> Iterator[str]:
    """The files of a folder that nobody else can write."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    if why := _distrusted(folder):
        report(_problem(folder, why))
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith(".") or name.endswith(IGNORED) or os.path.isdir(path):
            continue
        if folder.endswith(ANSIBLE) and not name.endswith(".fact"):
            continue
        if why := _distrusted(path):
            report(_problem(path, why))
        else:
            yield path


def _distrusted(path: str) -> str:
    try:
        problem = flaw(path, os.lstat(path), path) or flaw(path, os.stat(path), path)
    except OSError as error:
        return str(error.strerror)
    return f"{problem.message}; {problem.remedy}" if problem else ""


def _facts_of(path: str, of_ansible: bool) -> Any:
    """Raises Unusable, and OSError."""
    if os.access(path, os.X_OK):
        text, ending = _printed(path), ".fact" if of_ansible else ""
    else:
        text, ending = _read(path), os.path.splitext(path)[1]
    facts = _parsed(text, ending)
    if not isinstance(facts, dict) and not of_ansible:
        raise Unusable(f"it has to be a mapping of names, not {type(facts).__name__}")
    return facts


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return _text(file.read(LARGEST + 1))


def _printed(path: str) -> str:
    with tempfile.TemporaryFile() as output:
        try:
            with running(
                [path],
                children_may_stay=False,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": _PATH, "LC_ALL": "C.UTF-8", "HOME": os.path.expanduser("~")},
            ) as program:
                status = program.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise Unusable(f"it did not end in {SECONDS:g} s") from None
        if status:
            raise Unusable(f"it ended with {status}")
        output.seek(0)
        return _text(output.read(LARGEST + 1))


def _text(data: bytes) -> str:
    if len(data) > LARGEST:
        raise Unusable(f"it is larger than {LARGEST // 1024} KiB")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unusable("it is not UTF-8") from None


def _parsed(text: str, ending: str) -> Any:
    """Return what a text says, by the ending of its file; empty for what a program has printed."""
    try:
        if ending == ".json":
            return parse_json(text)
        if ending in (".yaml", ".yml"):
            return _yaml(text)
    except ValueError as error:
        raise Unusable(str(error)) from None
    if ending == ".txt":
        return _lines(text)
    if ending == ".ini":
        return _ini(text)
    with suppress(ValueError):
        return parse_json(text)
    if ending == ".fact":
        return _ini(text)
    if ending:
        raise Unusable(
            "its name has to end in .json, .yaml, .txt or .ini, or it has to be a program"
        )
    return _lines(text) if _is_lines(text) else _yaml_of_program(text)


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        raise ValueError(f"{getattr(error, 'problem', None) or error}{line}") from None


def _yaml_of_program(text: str) -> Any:
    try:
        return _yaml(text) if text.strip() else {}
    except ValueError:
        raise Unusable("it prints neither JSON nor YAML nor lines NAME=VALUE") from None


def _is_lines(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(map(_LINE.fullmatch, lines))


def _lines(text: str) -> Facts:
    """Lines NAME=VALUE; others are left out, as Facter does."""
    found = filter(None, map(_LINE.fullmatch, text.splitlines()))
    return {match[1]: match[2].strip() for match in found}


def _ini(text: str) -> Facts:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise Unusable(" ".join(str(error).split())) from None
    return {section: dict(parser.items(section)) for section in parser.sections()}
