# SPDX-License-Identifier: Apache-2.0
"""Files that describe repositories of rpm packages (*.repo), for dnf and zypper: sections of
options, in which comments and the order of lines stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from modules import _paths, file
from modules.pkg.package_manager import RepositoryChange, RepositorySettings
from runner.api import Record


class RepositorySection(Record):
    """A section of a file: its ID, its options, the comments in it."""

    path: str
    name: str
    options: dict[str, str]
    comments: tuple[str, ...]


def files(folders: Iterable[str]) -> list[str]:
    """Return the paths of the files in some folders."""
    return [
        f"{folder}/{name}"
        for folder in folders
        if _paths.isdir(folder)
        for name in sorted(_paths.listdir(folder))
        if name.endswith(".repo")
    ]


def repositories(folders: Iterable[str]) -> dict[str, RepositorySection]:
    """Return the repositories in the files of some folders, by their IDs; the first one counts."""
    by_id: dict[str, RepositorySection] = {}
    for path in files(folders):
        for name, lines in _sections(read(path)):
            if name:
                repository = RepositorySection(path, name, _options(lines), _comments(lines))
                by_id.setdefault(name, repository)
    return by_id


def read(path: str) -> str:
    """Return the text of a file; nothing when it does not exist."""
    return file.read_table(path).decode("utf-8", "replace") if file.is_file(path) else ""


def with_repository(
    text: str, name: str, options: Mapping[str, str], comments: Iterable[str] = ()
) -> str:
    """Return a file's text with these options of a repository; "" deletes an option. Other options
    stay. comments: those that have to be there.
    """
    sections = _sections(text)
    if name not in dict(sections):
        if len(sections) > 1 or sections[0][1]:
            sections[-1][1].extend([""] if (sections[-1][1] or [""])[-1].strip() else [])
        sections.append((name, []))
    changed = []
    for section, lines in sections:
        if section == name:
            lines = _changed_lines(lines, options)
            there = _comments(lines)
            lines = [*(f"# {comment}" for comment in comments if comment not in there), *lines]
        changed.append((section, lines))
    return _text(changed)


def removal(name: str, folders: Iterable[str]) -> RepositoryChange:
    """Return what has to be written so that there is no such repository: its file without it, or
    none where that described nothing else.
    """
    present = repositories(folders).get(name)
    if present is None:
        return RepositoryChange(name)
    rest = [(section, lines) for section, lines in _sections(read(present.path)) if section != name]
    contents = _text(rest).encode() if any(section for section, _ in rest) else None
    return RepositoryChange(name, {"repo": name}, {present.path: contents})


def _changed_lines(lines: list[str], options: Mapping[str, str]) -> list[str]:
    """Return the lines of a section with other values; new options come behind the old ones."""
    renewed: list[str] = []
    done: set[str] = set()
    inside = ""  # the option whose value goes on in the next lines
    for line in lines:
        key = _key(line)
        if not key and line[:1].isspace() and line.strip() and inside in options:
            continue
        inside = key or (inside if line[:1].isspace() else "")
        if key not in options:
            renewed.append(line)
        elif key not in done and options[key]:
            renewed.append(_line(key, options[key]))
        done.add(key)
    end = len(renewed)
    while end and not renewed[end - 1].strip():
        end -= 1
    new = [_line(key, value) for key, value in options.items() if value and key not in done]
    return [*renewed[:end], *new, *renewed[end:]]


def _line(key: str, value: str) -> str:
    return f"{key}=" + value.replace("\n", f"\n{' ' * (len(key) + 1)}")


def _key(line: str) -> str:
    """Return the option that a line sets, or ""."""
    is_option = "=" in line and not line[:1].isspace() and line[0] not in "#;"
    return line.partition("=")[0].strip() if is_option else ""


def _options(lines: Iterable[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    inside = ""
    for line in lines:
        if key := _key(line):
            inside, options[key] = key, line.partition("=")[2].strip()
        elif inside and line[:1].isspace() and line.strip() and line.strip()[0] not in "#;":
            options[inside] += f"\n{line.strip()}"
    return {key: value.strip() for key, value in options.items()}


def _comments(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(line[1:].strip() for line in lines if line.startswith("#"))


def _sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the sections of a text with their lines; the first one has no name."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        if line.startswith("[") and "]" in line:
            sections.append((line[1 : line.index("]")], []))
        else:
            sections[-1][1].append(line)
    return sections


def _text(sections: Iterable[tuple[str, list[str]]]) -> str:
    lines: list[str] = []
    for name, own in sections:
        lines += ([f"[{name}]"] if name else []) + own
    return "".join(f"{line}\n" for line in lines)


def given_options(settings: RepositorySettings) -> dict[str, str]:
    """Return what a state says of a repository as options of its file."""
    given: dict[str, Any] = {
        "name": settings.humanname,
        "baseurl": settings.baseurl,
        "mirrorlist": settings.mirrorlist,
        "metalink": settings.metalink,
        "enabled": None if settings.disabled is None else not settings.disabled,
        "gpgcheck": settings.gpgcheck,
        "gpgkey": settings.gpgkey,
        "priority": settings.priority,
        **settings.options,
    }
    return {
        key: str(int(value)) if isinstance(value, bool) else str(value)
        for key, value in given.items()
        if value is not None
    }


_TRUE, _FALSE = ("1", "yes", "true", "on", "enabled"), ("0", "no", "false", "off", "disabled")


def has_same_meaning(old: str, new: str) -> bool:
    """Return whether two values of an option mean the same."""
    words = (_TRUE, _FALSE)
    alike = any(old.lower() in meaning and new.lower() in meaning for meaning in words)
    return alike or old.split() == new.split()
