# SPDX-License-Identifier: Apache-2.0
"""hiera.yaml: the files of this machine, the most specific one first."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from typing import Any

from runner.language.pillar.external.hiera import version3
from runner.language.pillar.external.hiera.reading import problem, read_yaml, refuse_unknown, typed
from runner.language.pillar.external.hiera.variables import Scope, path_text
from runner.language.pillar.external.tools import Tools
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


def data_files(path: str, tools: Tools, scope: Scope) -> list[DataFile]:
    """The files that a hiera.yaml names for this machine, without those that are not there. Raises
    RunnerError.
    """
    start = Place(Untyped(path), 1, 1)
    config = read_yaml(path, tools)
    if not isinstance(config, Mapping):
        raise problem("hiera.yaml is a mapping", start, "it begins with `version: 5`")
    folder = os.path.dirname(os.path.abspath(path))
    if version3.is_one(config):
        config = version3.as_version_5(config, start)
        version3.refuse_missing(config, folder, start)
    if config.get("version") != 5:
        place = value_place(config, "version", start)
        hint = "version 4 is converted as Puppet's documentation says"
        raise problem("runner reads hiera.yaml of version 5 and 3", place, hint)
    refuse_unknown(config, _TOP, start)
    if "default_hierarchy" in config:
        place = key_place(config, "default_hierarchy", start)
        raise problem("default_hierarchy belongs into the hiera.yaml of a module", place)
    defaults = config.get("defaults") or {}
    place = value_place(config, "defaults", start)
    if not isinstance(defaults, Mapping):
        raise problem("`defaults` is not a mapping", place)
    refuse_unknown(defaults, ("datadir", "options", *BACKENDS), place)
    levels = config.get("hierarchy", _COMMON)
    place = value_place(config, "hierarchy", start)
    if not isinstance(levels, list):
        raise problem("`hierarchy` is not a list", place)
    found: list[DataFile] = []
    for number, level in enumerate(levels):
        where = item_place(levels, number, place)
        found += _level(level, where, defaults, folder, scope)
    return found


def _level(
    level: Any, place: Place, defaults: Mapping[str, Any], folder: str, scope: Scope
) -> Iterator[DataFile]:
    if not isinstance(level, Mapping) or not level.get("name"):
        raise problem("a level of the hierarchy is a mapping with a `name`", place)
    refuse_unknown(level, ("name", "datadir", "options", *BACKENDS, *_PATHS, *_ADDRESSES), place)
    kind = _kind(level, place) or _kind(defaults, place) or "yaml_data"
    for key in _ADDRESSES:
        if key in level:
            raise problem(f"runner's hiera has no {key}", key_place(level, key, place))
    datadir = level.get("datadir") or defaults.get("datadir") or "data"
    where = value_place(level, "datadir", place)
    base = os.path.join(folder, path_text(typed(datadir, str, "datadir", where), scope, where))
    options = level.get("options")
    if options is None and not _kind(level, place):
        options = defaults.get("options")
    options = typed(options or {}, Mapping, "options", value_place(level, "options", place))
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
            raise problem(f"a level has one of {', '.join(BACKENDS)}", where)
        kind = str(level[key])
        if kind not in known:
            there = ", ".join(name for names in BACKENDS.values() for name in names)
            what = f"runner's hiera cannot read by `{key}: {kind}`"
            raise problem(what, where, f"there are {there}")
    return kind


def _paths(level: Mapping[str, Any], base: str, scope: Scope, place: Place) -> Iterator[str]:
    keys = [key for key in _PATHS if key in level]
    if len(keys) != 1:
        raise problem(f"a level has one of {', '.join(_PATHS)}", place)
    key = keys[0]
    where = value_place(level, key, place)
    if key == "mapped_paths":
        yield from _mapped(level[key], base, scope, where)
        return
    single = key in ("path", "glob")
    named = [level[key]] if single else typed(level[key], list, key, where)
    for number, item in enumerate(named):
        at = where if single else item_place(named, number, where)
        text = path_text(typed(item, str, key, at), scope, at)
        full = os.path.join(base, text)
        if key in ("path", "paths"):
            yield full
        elif "{" in text:
            raise problem("a glob of runner's hiera has no {a,b}", at, "name several in `globs`")
        else:
            yield from sorted(glob.glob(full, recursive=True))


def _mapped(named: Any, base: str, scope: Scope, place: Place) -> Iterator[str]:
    """`mapped_paths: [VARIABLE, NAME, TEMPLATE]`: a path for each item of a variable."""
    if not (isinstance(named, list) and len(named) == 3 and all(isinstance(n, str) for n in named)):
        raise problem("mapped_paths is a list: [VARIABLE, NAME, PATH]", place)
    variable, name, template = named
    value = scope.value(variable, place)
    if isinstance(value, Mapping):
        value = [list(pair) for pair in value.items()]
    items = value if isinstance(value, list) else [] if value is None else [value]
    for item in items:
        yield os.path.join(base, path_text(template, scope.having(name, item), place))
