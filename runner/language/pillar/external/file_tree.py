# SPDX-License-Identifier: Apache-2.0
"""The external pillar file_tree: a folder for each machine or node group, whose files are values.

    ext_pillar:
      - file_tree:
          root_dir: /srv/ext_pillar    # holds hosts/ID/... and nodegroups/NAME/...

Behaviour: Salt's documentation.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping
from typing import Any

from runner.language.pillar.external.tools import Tools

OPTIONS: Mapping[str, Any] = {
    "root_dir": None,
    "follow_dir_links": False,
    "debug": False,
    "keep_newline": False,
    "render_default": None,
    "renderer_blacklist": None,
    "renderer_whitelist": None,
    "template": False,
}


def look(tools: Tools, pillar: Any, settings: Any) -> dict[str, Any]:
    """The values of this machine's node groups, and over them its own."""
    options = {**OPTIONS, **(settings if isinstance(settings, Mapping) else {"root_dir": settings})}
    for name in options.keys() - OPTIONS.keys():
        raise tools.problem(
            f"the external pillar file_tree has no option {name!r}", f"it has {', '.join(OPTIONS)}"
        )
    data: dict[str, Any] = {}
    for root in _roots(tools, options["root_dir"]):
        groups = tools.opts.get("nodegroups") or {}
        for group in sorted(groups):
            folder = os.path.join(root, "nodegroups", group)
            if os.path.isdir(folder) and tools.matches(group, "nodegroup"):
                _merge_into(data, _folder(folder, tools, options))
        _merge_into(data, _folder(os.path.join(root, "hosts", tools.id), tools, options))
    return data


def _roots(tools: Tools, settings: Any) -> list[str]:
    if isinstance(settings, Mapping):
        settings = settings.get(tools.env, [])
    named = settings if isinstance(settings, list) else [settings]
    for root in named:
        if not isinstance(root, str) or not root:
            raise tools.problem(f"the external pillar file_tree needs a root_dir, not {root!r}")
    roots = [os.path.normpath(os.path.join(tools.folder, root)) for root in named]
    for root in roots:
        if not os.path.isdir(root) or not os.access(root, os.X_OK):
            why = "cannot be read" if os.path.isdir(root) else "is not a folder"
            raise tools.problem(
                f"the external pillar file_tree: {root} {why}", "name the folder that holds hosts/"
            )
    return roots


def _folder(
    folder: str, tools: Tools, options: Mapping[str, Any], inside: str = "."
) -> dict[str, Any]:
    """The files of a folder as a mapping, its folders as mappings in it. inside: where it lies in
    that of the machine.
    """
    contents: dict[str, Any] = {}
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as problem:
        raise tools.problem(f"{folder} cannot be read: {problem.strerror}") from None
    for entry in entries:
        if entry.is_dir(follow_symlinks=bool(options["follow_dir_links"])):
            place = os.path.normpath(f"{inside}/{entry.name}")
            contents[entry.name] = _folder(entry.path, tools, options, place)
        elif entry.is_dir():
            contents[entry.name] = {}  # a link that is not followed
        elif entry.is_file():
            contents[entry.name] = _file(entry.path, tools, options, f"{inside}/{entry.name}")
    return contents


def _file(path: str, tools: Tools, options: Mapping[str, Any], place: str) -> Any:
    tools.seen(path)
    if options["template"] is True:
        return tools.content(path, options)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as problem:
        raise tools.problem(f"{path} cannot be read: {problem.strerror}") from None
    if data.endswith(b"\n") and not _keeps_newline(options["keep_newline"], place):
        data = data[:-1]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def _keeps_newline(option: Any, place: str) -> bool:
    """Return whether keep_newline (true, false, or globs) applies to a file: to `./x`, `d/x`."""
    if isinstance(option, list):
        return any(fnmatch.fnmatchcase(place, str(glob)) for glob in option)
    return bool(option)


def _merge_into(data: dict[str, Any], new: Mapping[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(data.get(key), dict) and isinstance(value, Mapping):
            _merge_into(data[key], value)
        else:
            data[key] = value
