# SPDX-License-Identifier: Apache-2.0
"""What a state that would change something finds before it does, and what it would leave.

The one place that knows where to look: for files at their paths, for packages, users, groups and
services by the functions that read them. For everything else the changes themselves say it, which
are compared as well.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from runner.history import snapshots
from runner.history.saved_plan.machine_key import MachineKey
from runner.model.records import Record
from runner.model.result import Result

MOST = 5000  # things that one state changes and that are looked at
MOST_BELOW = 100_000  # entries of a folder that are looked at
NO_PATHS = frozenset(["cmd", "module", "test", "environ", "event"])  # states whose names are none
FURTHER = {"file.rename": ("source",), "git": ("target",), "hg": ("target",), "svn": ("target",)}
KEEPS_FOLDER = ("directory", "recurse", "mknod", "accumulated")  # what is in it stays
# state module -> the name of a fact, the function that reads it, and the keys of its answer
READERS: Mapping[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    "pkg": (("version", "pkg.version", ()),),
    "user": (("entry", "user.info", ("uid", "gid", "home", "shell", "groups")),),
    "group": (("entry", "group.info", ("gid", "members")),),
    "service": (("running", "service.status", ()), ("enabled", "service.enabled", ())),
}


class Observation(Record):
    """A thing of this machine and what is known of it. facts: without secrets, contents by their
    keyed hash.
    """

    subject: str
    facts: Mapping[str, str]


def before_state(
    result: Result, call: Callable[..., Any], key: MachineKey
) -> tuple[Observation, ...]:
    """The present state of what a state would change. call: calls an execution function."""
    if result.result is not None:
        return ()
    return tuple(islice(_looked_at(result, call, key), MOST))


def state_after(
    result: Result, call: Callable[..., Any], key: MachineKey
) -> tuple[Observation, ...]:
    """Return what is at the paths of a state right after it, as the file functions see it: in a dry
    run on the planned machine. Changes alone do not say what a new file holds.
    """
    if not result.exact or not (result.changes or result.result is None):
        return ()
    paths = _paths(result)[:MOST] if result.chunk.state == "file" else []
    return tuple(Observation(path, _facts_after(path, call, key)) for path in paths)


def _facts_after(path: str, call: Callable[..., Any], key: MachineKey) -> dict[str, str]:
    try:
        at = call("file.lstat", path)
        if not at:
            return {"type": "none"}
        mode = at["st_mode"]
        kind = snapshots.KINDS.get(stat.S_IFMT(mode), "other")
        facts = {"type": kind, "owner": f"{at['st_uid']}:{at['st_gid']}"}
        if kind == "link":
            return {**facts, "target": key.digest([path, call("file.readlink", path)])}
        facts["mode"] = f"{stat.S_IMODE(mode):04o}"
        if kind == "file" and at["st_size"] <= snapshots.LARGEST:
            facts["contents"] = key.digest([path, call("file.get_sum", path, "sha256")])
    except Exception:  # not readable; the changes are compared all the same
        return {}
    return facts


def _looked_at(result: Result, call: Callable[..., Any], key: MachineKey) -> Iterator[Observation]:
    chunk = result.chunk
    enters = chunk.state == "file" and chunk.fun not in KEEPS_FOLDER
    for path in _paths(result):
        yield Observation(path, _facts_of_path(path, enters, key))
    for name in _names(result) if chunk.state in READERS else ():
        facts: dict[str, str] = {}
        for fact, function, keys in READERS[chunk.state]:
            facts.update(_read(fact, function, keys, name, call))
        yield Observation(f"{chunk.state} {name}", facts)


def _paths(result: Result) -> list[str]:
    chunk = result.chunk
    named = [] if chunk.state in NO_PATHS else [chunk.name]
    for of in (chunk.state, chunk.function):
        named += [str(chunk.args.get(argument, "")) for argument in FURTHER.get(of, ())]
    paths = [path for path in (*named, *result.changes) if path.startswith("/")]
    return list(dict.fromkeys(map(os.path.normpath, paths)))


def _names(result: Result) -> list[str]:
    """The packages, users ... that a state is about: those of its changes, else its name."""
    of_changes = [name for name, change in result.changes.items() if isinstance(change, Mapping)]
    return of_changes if result.chunk.state == "pkg" and of_changes else [result.chunk.name]


def _read(
    fact: str, function: str, keys: tuple[str, ...], name: str, call: Callable[..., Any]
) -> dict[str, str]:
    """Return what a function says of a name; nothing if it cannot, as before any package."""
    try:
        answer = call(function, name)
    except Exception:  # whatever a provider says: the changes are compared all the same
        return {}
    if not keys:
        return {fact: str(answer)}
    if not isinstance(answer, Mapping) or not answer:
        return {fact: "none"}
    return {item: str(answer.get(item)) for item in keys}


def _facts_of_path(path: str, enters: bool, key: MachineKey) -> dict[str, str]:
    at = snapshots.at(path)
    if at.type == "none":
        return {"type": "none"}
    facts = {"type": at.type, "owner": f"{at.uid}:{at.gid}"}
    if at.type == "link":
        return {**facts, "target": key.digest([path, at.target])}
    facts["mode"] = f"{at.mode:04o}"
    if at.type == "file":
        facts["contents"] = key.digest([path, at.content]) if at.content else _size_and_time(path)
    elif at.type == "dir" and enters:
        facts["entries"] = key.digest([path, _entries(path)])
    return facts


def _size_and_time(path: str) -> str:
    try:
        status = os.lstat(path)
    except OSError:
        return "unreadable"
    return f"{status.st_size} bytes of {status.st_mtime_ns}"


def _entries(folder: str) -> str:
    """A hash of what a folder that would go holds: names, kinds, sizes, owners, times."""
    digest = hashlib.sha256()
    paths = (
        os.path.join(root, name)
        for root, folders, files in os.walk(folder)
        for name in sorted([*folders, *files])
    )
    for path in sorted(islice(paths, MOST_BELOW)):
        try:
            status = os.lstat(path)
        except OSError:
            continue
        facts = (status.st_mode, status.st_uid, status.st_gid, status.st_size)
        time = status.st_mtime_ns if not os.path.isdir(path) else 0
        digest.update(f"{path}\0{facts} {time}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
