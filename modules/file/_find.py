# SPDX-License-Identifier: Apache-2.0
"""file.find: the paths below a folder that meet conditions."""

from __future__ import annotations

import fnmatch
import os
import re
import stat as bits
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BufferedReader
from typing import Any

from modules import _paths
from modules.file._contents.hash import get_hash
from modules.file._look import opened
from modules.file._owners import gid_of, gid_to_group, uid_of, uid_to_user
from runner.api import StateFailed

# folder, name, stat (a link is what it points to)
Test = Callable[[str, str, os.stat_result], bool]

_TYPES = {
    "b": bits.S_IFBLK,
    "c": bits.S_IFCHR,
    "d": bits.S_IFDIR,
    "p": bits.S_IFIFO,
    "f": bits.S_IFREG,
    "l": bits.S_IFLNK,
    "s": bits.S_IFSOCK,
}
_SECONDS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_BYTES = {"b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def find(path: str, *args: str, **kwargs: Any) -> list[Any]:
    """The paths below a folder (or those that a glob matches) that meet all conditions, sorted.
    Raises StateFailed for an unknown condition, and for `delete` and `exec`.

    A link is what it points to; type l means every link. name, iname, regex, iregex: of the last
    part of the path (regex: of the whole). type: letters of bcdpfls. user, group: owner. size:
    "+1m", "-10k". mtime: "-1d" (younger), "+1w" (older). mindepth, maxdepth: levels. grep: a
    regular expression in the file. print: what to answer, such as "path,size,mtime".
    """
    for option in (
        *args,
        *(f"{key}={value}" for key, value in kwargs.items() if key in ("delete", "exec")),
    ):
        key, _, value = option.partition("=")
        kwargs[key] = value
    if "delete" in kwargs or "exec" in kwargs:
        raise StateFailed(
            "file.find only looks here: use the states file.tidied or cmd.run to delete or to"
            " execute"
        )
    low, high = int(kwargs.pop("mindepth", 0)), kwargs.pop("maxdepth", None)
    shown = str(kwargs.pop("print", "path")).split(",")
    tests = [_test(key, value) for key, value in kwargs.items() if not key.startswith("__")]
    results = []
    tops = _paths.glob(os.path.expanduser(path))
    everything = (
        entry for top in tops for entry in _walk(top, None if high is None else int(high))
    )
    for depth, folder, name in everything:
        full = os.path.join(folder, name)
        at = _stat(full)
        if at is None:
            continue
        if depth >= low and all(test(folder, name, at) for test in tests):
            results.append(full if shown == ["path"] else _facts_of(full, at, shown))
    return sorted(results)


def _stat(path: str) -> os.stat_result | None:
    for look in (_paths.stat, _paths.lstat):
        with suppress(OSError):
            return look(path)
    return None


def _walk(top: str, deepest: int | None) -> Iterator[tuple[int, str, str]]:
    """Depth, folder and name of a path and of all below it."""
    yield 0, os.path.dirname(top), os.path.basename(top.rstrip("/")) or "/"
    level = top.rstrip("/").count("/")
    for folder, folders, files in _paths.walk(top):
        depth = folder.rstrip("/").count("/") - level + 1
        if deepest is not None and depth > deepest:
            folders.clear()
            continue
        for name in [*folders, *files]:
            yield depth, folder, name


def _test(key: str, value: Any) -> Test:
    if key not in _TESTS:
        raise StateFailed(f"file.find has no condition {key!r}; it has {', '.join(sorted(_TESTS))}")
    return _TESTS[key](value)


def _name(value: Any) -> Test:
    return lambda folder, name, at: fnmatch.fnmatchcase(name, str(value))


def _iname(value: Any) -> Test:
    pattern = str(value).lower()
    return lambda folder, name, at: fnmatch.fnmatchcase(name.lower(), pattern)


def _regex(value: Any, flags: int = 0) -> Test:
    pattern = re.compile(str(value), flags)
    return lambda folder, name, at: pattern.search(os.path.join(folder, name)) is not None


def _iregex(value: Any) -> Test:
    return _regex(value, re.IGNORECASE)


def _type(value: Any) -> Test:
    letters = [letter for letter in str(value) if letter.isalpha()]
    unknown = [letter for letter in letters if letter not in _TYPES]
    if unknown:
        raise StateFailed(
            f"file.find: there is no type {unknown[0]!r}; expected letters of bcdpfls"
        )
    kinds = {_TYPES[letter] for letter in letters}
    links = bits.S_IFLNK in kinds
    return lambda folder, name, at: (
        bits.S_IFMT(at.st_mode) in kinds or (links and _paths.islink(os.path.join(folder, name)))
    )


def _as_list(value: Any) -> list[Any]:
    return (
        list(value)
        if isinstance(value, list)
        else str(value).split(",")
        if isinstance(value, str)
        else [value]
    )


def _user(value: Any) -> Test:
    wanted = {uid_of(user) for user in _as_list(value)}
    return lambda folder, name, at: at.st_uid in wanted


def _group(value: Any) -> Test:
    wanted = {gid_of(group) for group in _as_list(value)}
    return lambda folder, name, at: at.st_gid in wanted


def _amount(value: Any, units: dict[str, int], default: str) -> tuple[str, float]:
    match = re.fullmatch(r"([+-]?)([\d.]+)([a-zA-Z]?)", str(value).strip())
    unit = (match[3] or default).lower() if match else ""
    if match is None or unit not in units:
        raise StateFailed(
            f"file.find cannot read {value!r}; expected +N, -N or N with one of {''.join(units)}"
        )
    return match[1], float(match[2]) * units[unit]


def _size(value: Any) -> Test:
    sign, amount = _amount(value, _BYTES, "b")
    tests: dict[str, Test] = {
        "+": lambda folder, name, at: at.st_size >= amount,
        "-": lambda folder, name, at: at.st_size <= amount,
        "": lambda folder, name, at: at.st_size == amount,
    }
    return tests[sign]


def _mtime(value: Any) -> Test:
    pieces = re.findall(r"[+-]?[\d.]+[a-zA-Z]?", str(value))
    signs = [_amount(piece, _SECONDS, "d") for piece in pieces]
    edge = time.time() - sum(seconds for _, seconds in signs)
    younger = bool(signs) and signs[0][0] == "-"
    return lambda folder, name, at: (at.st_mtime >= edge) if younger else (at.st_mtime <= edge)


def _grep(value: Any) -> Test:
    pattern = re.compile(str(value).encode())

    def test(folder: str, name: str, at: os.stat_result) -> bool:
        if not bits.S_ISREG(at.st_mode):
            return False
        with BufferedReader(opened(os.path.join(folder, name))) as file:
            return any(pattern.search(line) for line in file)

    return test


_TESTS: dict[str, Callable[[Any], Test]] = {
    "name": _name,
    "iname": _iname,
    "regex": _regex,
    "iregex": _iregex,
    "type": _type,
    "user": _user,
    "owner": _user,
    "group": _group,
    "size": _size,
    "mtime": _mtime,
    "grep": _grep,
}


def _facts_of(path: str, at: os.stat_result, keys: list[str]) -> Any:
    letters = {kind: letter for letter, kind in _TYPES.items()}
    facts: dict[str, Callable[[], Any]] = {
        "path": lambda: path,
        "name": lambda: os.path.basename(path),
        "size": lambda: at.st_size,
        "mtime": lambda: at.st_mtime,
        "mode": lambda: at.st_mode,
        "type": lambda: letters.get(bits.S_IFMT(at.st_mode), "?"),
        "user": lambda: uid_to_user(at.st_uid),
        "group": lambda: gid_to_group(at.st_gid),
        "md5": lambda: get_hash(path, "md5") if bits.S_ISREG(at.st_mode) else "",
    }
    values = [facts[key.strip()]() for key in keys if key.strip() in facts]
    return values[0] if len(values) == 1 else values
