"""Helpers for templates: merging, serializing, rendering."""

from __future__ import annotations

from typing import Any

from modules import _serializers
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

    serializer: yaml, json, configparser, toml, python or plist. Further arguments go to the serializer
    (default_flow_style, allow_unicode, indent).
    """
    if serializer == "json":
        mod_kwargs = {"indent": None, "separators": None, "sort_keys": False, **mod_kwargs}
    return _serializers.serialize(serializer, obj, mod_kwargs)


def deserialize(serializer: str, stream_or_string: str, **mod_kwargs: Any) -> Any:
    """The value of a text; serializers as those of `serialize`."""
    return _serializers.deserialize(serializer, stream_or_string, mod_kwargs)


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


def renderer(
    path: str | None = None, string: str | None = None, default_renderer: str = "jinja|yaml", **kwargs: Any
) -> Any:
    """What a file (salt:// or a path) or a text becomes when it is rendered.

    default_renderer: the pipe, unless the text begins with one (`#!jinja|yaml`). Further arguments are variables.

        {% set data = salt['slsutil.renderer']('salt://app/data.yaml.jinja') %}
    """
    import yaml

    if (path is None) == (string is None):
        raise RunnerError("slsutil.renderer: give either path or string")
    text, source = string or "", ""
    if path is not None:
        source = here.tree.fetch(path, here.saltenv) or ""
        if not source:
            raise RunnerError(f"slsutil.renderer: {path} is not there")
        with open(source, encoding="utf-8") as file:
            text = file.read()
    pipe = default_renderer
    if text.startswith("#!"):
        pipe, _, text = text[2:].partition("\n")
    steps = [step.strip() for step in pipe.split("|")]
    for step in steps:
        if step in ("jinja", "mako"):
            text = here.render(text, step, kwargs, file=source, saltenv=here.saltenv)
        elif step == "yaml":
            return yaml.safe_load(text)
        elif step == "json":
            return deserialize("json", text)
        elif step != "text":
            raise RunnerError(f"slsutil.renderer: the renderer {step} is not supported here")
    return text
