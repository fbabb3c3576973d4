"""Helpers for templates: merging, serializing, rendering."""

from __future__ import annotations

from typing import Any

from modules._data import merged
from runner.api import RunnerError, here


def merge(obj_a: Any, obj_b: Any, strategy: str = "smart", renderer: str = "yaml", merge_lists: bool = False) -> Any:
    """Lay one mapping over another.

    strategy: smart, recurse, list, aggregate or overwrite. merge_lists: join lists.

        {% do salt['slsutil.merge'](defaults, pillar.get('nginx', {})) %}
    """
    return merged(obj_a, obj_b, strategy, merge_lists)


def update(dest: Any, upd: Any, recursive_update: bool = True, merge_lists: bool = False) -> Any:
    """Lay one mapping over another, in place."""
    result = merged(dest, upd, "recurse" if recursive_update else "overwrite", merge_lists)
    dest.clear()
    dest.update(result)
    return dest


def merge_all(lst: list[Any], strategy: str = "smart", renderer: str = "yaml", merge_lists: bool = False) -> Any:
    """Lay all mappings of a list over each other."""
    result: Any = {}
    for each in lst:
        result = merged(result, each, strategy, merge_lists)
    return result


def serialize(serializer: str, obj: Any, **mod_kwargs: Any) -> str:
    """A value as text.

    serializer: yaml or json. Further arguments go to the serializer (default_flow_style, allow_unicode, indent).
    """
    if serializer == "json":
        import json

        return json.dumps(_plain(obj), **mod_kwargs)
    if serializer == "yaml":
        import yaml

        mod_kwargs.setdefault("default_flow_style", False)
        return str(yaml.dump(_plain(obj), Dumper=yaml.SafeDumper, **mod_kwargs))
    raise RunnerError(f"there is no serializer {serializer!r}", hint="there are yaml and json")


def deserialize(serializer: str, stream_or_string: str, **mod_kwargs: Any) -> Any:
    """The value of a text."""
    if serializer == "json":
        import json

        return json.loads(stream_or_string, **mod_kwargs)
    if serializer == "yaml":
        import yaml

        return yaml.safe_load(stream_or_string)
    raise RunnerError(f"there is no serializer {serializer!r}", hint="there are yaml and json")


def boolstr(value: Any, true: str = "true", false: str = "false") -> str:
    """One of two texts."""
    return true if value else false


def path_exists(path: str, saltenv: str = "base") -> bool:
    """Whether a file or a folder is in the tree."""
    return file_exists(path, saltenv) or dir_exists(path, saltenv)


def file_exists(path: str, saltenv: str = "base") -> bool:
    """Whether a file is in the tree."""
    return here.tree.find(path, saltenv) is not None


def dir_exists(path: str, saltenv: str = "base") -> bool:
    """Whether a folder is in the tree."""
    return bool(here.tree.files(path, saltenv))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
