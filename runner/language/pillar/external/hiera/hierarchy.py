# SPDX-License-Identifier: Apache-2.0
"""hiera.yaml, version 5: the files of this machine, the most specific one first."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from typing import Any

from runner.language.pillar.external.hiera.variables import Scope, path_text
from runner.language.pillar.external.tools import Tools
from runner.model.errors import RenderError, RunnerError
from runner.model.places import Place, Untyped, item_place, key_place, value_place
from runner.model.records import Record

BACKENDS = {  # what names a kind of data, and the kinds that are read here
    "data_hash": ("yaml_data", "json_data"),
    "lookup_key": ("eyaml_lookup_key",),
    "data_dig": (),
    "hiera3_backend": (),
}
_PATHS = ("path", "paths", "glob", "globs", "mapped_paths")
_ADDRESSES = ("uri", "uris")
_TOP = ("version", "defaults", "hierarchy", "default_hierarchy", "plan_hierarchy")
_COMMON = [{"name": "Common", "path": "common.yaml"}]


class DataFile(Record):
    """A file of data that is there. kind: of BACKENDS. place: of its level in hiera.yaml."""

    path: str
    kind: str
    options: Mapping[str, Any]
    place: Place


def read_yaml(path: str, tools: Tools) -> Any:
    """The value of a YAML file, with its places. Raises RunnerError."""
    tools.seen(path)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise tools.problem(f"the external pillar hiera: {path} cannot be read: {why}") from None
    return tools.parsed(text, path)


def data_files(path: str, tools: Tools, scope: Scope) -> list[DataFile]:
    """The files that a hiera.yaml names for this machine, without those that are not there. Raises
    RunnerError.
    """
    start = Place(Untyped(path), 1, 1)
    config = read_yaml(path, tools)
    if not isinstance(config, Mapping):
        raise _problem("hiera.yaml is a mapping", start, "it begins with `version: 5`")
    if config.get("version") != 5:
        place = value_place(config, "version", start)
        hint = "version 3 and 4 are converted as Puppet's documentation says"
        raise _problem("runner reads hiera.yaml of version 5", place, hint)
    _refuse_unknown(config, _TOP, start)
    if "default_hierarchy" in config:
        place = key_place(config, "default_hierarchy", start)
        raise _problem("default_hierarchy belongs into the hiera.yaml of a module", place)
    defaults = config.get("defaults") or {}
    place = value_place(config, "defaults", start)
    if not isinstance(defaults, Mapping):
        raise _problem("`defaults` is not a mapping", place)
    _refuse_unknown(defaults, ("datadir", "options", *BACKENDS), place)
    levels = config.get("hierarchy", _COMMON)
    place = value_place(config, "hierarchy", start)
    if not isinstance(levels, list):
        raise _problem("`hierarchy` is not a list", place)
    folder = os.path.dirname(os.path.abspath(path))
    found: list[DataFile] = []
    for number, level in enumerate(levels):
        where = item_place(levels, number, place)
        found += _level(level, where, defaults, folder, scope)
    return found


def _level(
    level: Any, place: Place, defaults: Mapping[str, Any], folder: str, scope: Scope
) -> Iterator[DataFile]:
    if not isinstance(level, Mapping) or not level.get("name"):
        raise _problem("a level of the hierarchy is a mapping with a `name`", place)
    _refuse_unknown(level, ("name", "datadir", "options", *BACKENDS, *_PATHS, *_ADDRESSES), place)
    kind = _kind(level, place) or _kind(defaults, place) or "yaml_data"
    for key in _ADDRESSES:
        if key in level:
            raise _problem(f"runner's hiera has no {key}", key_place(level, key, place))
    datadir = level.get("datadir") or defaults.get("datadir") or "data"
    where = value_place(level, "datadir", place)
    base = os.path.join(folder, path_text(_typed(datadir, str, "datadir", where), scope, where))
    options = level.get("options")
    if options is None and not _kind(level, place):
        options = defaults.get("options")
    options = _typed(options or {}, Mapping, "options", value_place(level, "options", place))
    for path in _paths(level, base, scope, place):
        if os.path.isfile(path):
            yield DataFile(path, kind, options, place)


def _kind(level: Mapping[str, Any], place: Place) -> str:
    """Return what reads the data of a level; empty where it does not say."""
    kind = ""
    for key, known in BACKENDS.items():
        if key not in level:
            continue
        where = value_place(level, key, place)
        if kind:
            raise _problem(f"a level has one of {', '.join(BACKENDS)}", where)
        kind = str(level[key])
        if kind not in known:
            there = ", ".join(name for names in BACKENDS.values() for name in names)
            what = f"runner's hiera cannot read by `{key}: {kind}`"
            raise _problem(what, where, f"there are {there}")
    return kind


def _paths(level: Mapping[str, Any], base: str, scope: Scope, place: Place) -> Iterator[str]:
    keys = [key for key in _PATHS if key in level]
    if len(keys) != 1:
        raise _problem(f"a level has one of {', '.join(_PATHS)}", place)
    key = keys[0]
    where = value_place(level, key, place)
    if key == "mapped_paths":
        yield from _mapped(level[key], base, scope, where)
        return
    single = key in ("path", "glob")
    named = [level[key]] if single else _typed(level[key], list, key, where)
    for number, item in enumerate(named):
        at = where if single else item_place(named, number, where)
        text = path_text(_typed(item, str, key, at), scope, at)
        full = os.path.join(base, text)
        if key in ("path", "paths"):
            yield full
        elif "{" in text:
            raise _problem("a glob of runner's hiera has no {a,b}", at, "name several in `globs`")
        else:
            yield from sorted(glob.glob(full, recursive=True))


def _mapped(named: Any, base: str, scope: Scope, place: Place) -> Iterator[str]:
    """`mapped_paths: [VARIABLE, NAME, TEMPLATE]`: a path for each item of a variable."""
    if not (isinstance(named, list) and len(named) == 3 and all(isinstance(n, str) for n in named)):
        raise _problem("mapped_paths is a list: [VARIABLE, NAME, PATH]", place)
    variable, name, template = named
    value = scope.value(variable, place)
    if isinstance(value, Mapping):
        value = [list(pair) for pair in value.items()]
    items = value if isinstance(value, list) else [] if value is None else [value]
    for item in items:
        yield os.path.join(base, path_text(template, scope.having(name, item), place))


def _typed(value: Any, kind: Any, name: str, place: Place) -> Any:
    words = {str: "a text", list: "a list", Mapping: "a mapping"}
    if not isinstance(value, kind):
        raise _problem(f"`{name}` is not {words[kind]}", place)
    return value


def _refuse_unknown(part: Mapping[str, Any], known: tuple[str, ...], place: Place) -> None:
    for key in part:
        if key not in known:
            what = f"hiera.yaml has no {key!r} here"
            raise _problem(what, key_place(part, key, place), f"there are {', '.join(known)}")


def _problem(message: str, place: Place, hint: str | None = None) -> RunnerError:
    return RenderError(message, place.source, hint, "hiera")
