# SPDX-License-Identifier: Apache-2.0
"""A machine as a tree of its own: SLS files by role, what they need beside them, a top file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from runner.api import Resource
from runner.model.errors import UsageError
from runner.support.files.links import open_output
from runner.support.files.permissions import others_write
from runner.tools.queries import inventory
from runner.tools.queries.resources import CONTENTS, Described

CONFIGURATION = """\
# The tree beside this file describes one machine. Paths are relative to this file.
file_roots:
  base: [states]
strict: true
# packages are installed in one transaction
state_aggregate: [pkg]
"""
SHORT = 200  # characters of contents that stand in the SLS itself


def files(described: Iterable[Described]) -> dict[str, bytes]:
    """The files of the tree by their paths in it."""
    sources: dict[str, bytes] = {}
    described = list(described)
    groups = [with_sources(one.resources, sources) for one in described]
    names = [re.sub(r"\W", "_", one.role) for one in described]
    texts = dict(zip(names, inventory.texts(groups), strict=True))
    listed = "".join(f"    - {name}\n" for name in texts)
    top = f"base:\n  '*':\n{listed}" if listed else "{}\n"
    made = {f"states/{name}.sls": text.encode() for name, text in texts.items()}
    return {
        "runner.yaml": CONFIGURATION.encode(),
        "states/top.sls": top.encode(),
        **made,
        **{f"states/{path}": data for path, data in sources.items()},
    }


def with_sources(items: Iterable[Resource], sources: dict[str, bytes]) -> list[Resource]:
    """The resources with long contents in files, which are added to the sources."""
    return [_with_source(item, sources) for item in items]


def _with_source(item: Resource, sources: dict[str, bytes]) -> Resource:
    """The resource with its contents in a file beside the SLS, where they are long."""
    text = item.arguments.get("contents")
    if item.source is None or (isinstance(text, str) and len(text) <= SHORT):
        return item
    path = _free(re.sub(r"[^A-Za-z0-9._/+@-]", "_", item.name), sources)
    sources[path] = item.source
    rest = {key: value for key, value in item.arguments.items() if key not in CONTENTS}
    return item._replace(arguments={"source": f"salt://{path}", **rest}, note="")


def _free(path: str, taken: Mapping[str, bytes]) -> str:
    """A path below `files`, or below files2 ..., that no other file has, nor a directory of one."""
    number, candidate = 1, f"files{path}"
    while _stands_in_the_way(candidate, taken):
        number += 1
        candidate = f"files{number}{path}"
    return candidate


def _stands_in_the_way(path: str, taken: Mapping[str, bytes]) -> bool:
    parts = path.split("/")
    above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return any(part in taken for part in above) or any(
        other.startswith(f"{path}/") for other in taken
    )


def write(folder: str, contents: Mapping[str, bytes]) -> None:
    """Write a tree into a directory that is empty or not there, for nobody else to read. Raises
    UsageError.
    """
    try:
        if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
            raise UsageError(
                f"{folder} exists and is no empty directory; nothing was written",
                hint="name another directory",
            )
        os.makedirs(folder, mode=0o700, exist_ok=True)
        about = os.stat(folder)
        if about.st_uid != os.geteuid() or others_write(about):
            raise UsageError(
                f"others can write {folder}; nothing was written", hint="name another directory"
            )
        for path, data in contents.items():
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb", opener=open_output) as file:
                file.write(data)
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder} cannot be written: {error.strerror}"
        ) from None
