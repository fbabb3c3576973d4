# SPDX-License-Identifier: Apache-2.0
"""Helpers for templates: merging, serializing, rendering, looking into the tree."""

from __future__ import annotations

import posixpath
import textwrap
from collections import OrderedDict
from typing import Any

from modules import _paths
from modules._texts import yaml
from modules.slsutil import merging, serializers
from runner.api import RunnerError, StateFailed, here

# ---------------------------------------------------------------- merging


STRATEGIES = ("smart", "recurse", "none", "aggregate", "overwrite", "list")


def merge(
    obj_a: Any,
    obj_b: Any,
    strategy: str = "smart",
    renderer: str = "yaml",
    merge_lists: bool = False,
) -> Any:
    """Lay one mapping over another; neither is changed.

    strategy: smart and recurse merge mappings at every depth; overwrite replaces whole top-level
    keys; aggregate does so and joins two lists; list keeps the keys of the first with both values.
    merge_lists: join nested lists (with smart and recurse). Raises TypeError for what is no
    mapping.

        {% do salt['slsutil.merge'](defaults, pillar.get('nginx', {})) %}
    """
    if strategy == "smart" and renderer.startswith("yamlex"):
        strategy = "aggregate"
    if strategy not in STRATEGIES:
        # as a template does, which is rendered in each run that way
        here.call("log.warning", f"Unknown merging strategy '{strategy}', fallback to recurse")
    return merging.combined(obj_a, obj_b, strategy, merge_lists)


def update(dest: Any, upd: Any, recursive_update: bool = True, merge_lists: bool = False) -> Any:
    """Lay one mapping over another, in place. Raises TypeError for what is not a mapping."""
    return merging.update(dest, upd, recursive_update, merge_lists)


def merge_all(
    lst: list[Any], strategy: str = "smart", renderer: str = "yaml", merge_lists: bool = False
) -> Any:
    """Lay all mappings of a list over each other; arguments as those of merge."""
    result: Any = {}
    for mapping in lst:
        result = merge(result, mapping, strategy, renderer, merge_lists)
    return result


# ---------------------------------------------------------------- data as text


def serialize(serializer: str, obj: Any, **mod_kwargs: Any) -> str | bytes:
    """A value as text, without a line's end after it.

    serializer: yaml, json, configparser, toml, python or plist. Further arguments go to the
    serializer (default_flow_style, allow_unicode, indent, sort_keys).

        {{ salt['slsutil.serialize']('yaml', data, default_flow_style=False, allow_unicode=False) }}
    """
    if serializer == "json":
        mod_kwargs = {"indent": None, "separators": None, "sort_keys": False, **mod_kwargs}
    if serializer in ("yaml", "yamlex"):
        mod_kwargs = {"default_flow_style": None, **mod_kwargs}
    text = serializers.serialize(serializer, obj, mod_kwargs)
    if isinstance(text, bytes) or serializer not in ("yaml", "yamlex", "configparser"):
        return text
    return text.removesuffix("\n...\n").removesuffix("\n")


def deserialize(serializer: str, stream_or_string: str, **mod_kwargs: Any) -> Any:
    """The value of a text; serializers as those of `serialize`."""
    return serializers.deserialize(serializer, stream_or_string, mod_kwargs)


def boolstr(value: Any, true: str = "true", false: str = "false") -> str:
    """One of two texts.

    {{ salt['slsutil.boolstr'](nginx.gzip, 'on', 'off') }}
    """
    return true if value else false


# ---------------------------------------------------------------- the tree


def path_exists(path: str, saltenv: str = "base") -> bool:
    """Return whether a file or a folder is in the tree."""
    return file_exists(path, saltenv) or dir_exists(path, saltenv)


def file_exists(path: str, saltenv: str = "base") -> bool:
    """Return whether a file is in the tree (`sub/file`, without salt://)."""
    return _as_listed(path) and here.tree.find(path, saltenv) is not None


def dir_exists(path: str, saltenv: str = "base") -> bool:
    """Return whether a folder is in the tree."""
    parent, _, name = path.rpartition("/")
    return _as_listed(path) and any(
        folder.rpartition("/")[2] == name for folder in here.tree.folders(parent, saltenv)
    )


def _as_listed(path: str) -> bool:
    """Return whether a path is written as the list of the tree's files has it."""
    return path not in ("", ".") and not path.startswith("/") and path == posixpath.normpath(path)


def findup(startpath: str | None, filenames: str | list[str], saltenv: str = "base") -> str:
    """The first of some names that is in a folder of the tree or in one above it.

    startpath: where to begin. filenames: names to look for in each folder, in this order. Raises
    RunnerError when startpath is not in the tree, StateFailed when nothing is found.

        {{ salt['slsutil.findup']('formulas/shared', 'map.jinja') }}
    """
    names = [filenames] if isinstance(filenames, str) else filenames
    if not isinstance(names, list):
        raise RunnerError("slsutil.findup: filenames has to be a name or a list of names")
    folder = startpath.rstrip("/") or startpath if startpath else ""
    if folder and not path_exists(folder, saltenv):
        raise RunnerError(f"Starting path not found in the state tree: {startpath}")
    while True:
        for name in names:
            path = posixpath.join(folder, name.lstrip("/"))
            if path_exists(path, saltenv):
                return path
        if not folder:
            raise StateFailed("File pattern(s) not found in path ancestry")
        folder = posixpath.dirname(folder)


# ---------------------------------------------------------------- texts


def renderer(
    path: str | None = None,
    string: str | None = None,
    default_renderer: str = "jinja|yaml",
    saltenv: str | None = None,
    **kwargs: Any,
) -> Any:
    """Render a file (salt:// or a path) or a text; {} for a file that is
    not there.

    default_renderer: the pipe, unless the text begins with one (`#!jinja|yaml`): all renderers of
    SLS files, and those of the tree. Further arguments are variables. Raises RunnerError unless
    just one of path and string is given.

        {% set data = salt['slsutil.renderer']('salt://app/data.yaml.jinja', port=80) %}
    """
    if path and string:
        raise RunnerError("Must not pass both path and string.")
    if not path and not string:
        raise RunnerError("Must pass path or string.")
    text, source = string or "", ""
    if path:
        if "://" not in path and not path.startswith("/"):
            raise StateFailed(f"Path '{path}' is not absolute")
        source = _paths.fetched(path, saltenv) or ""
        if not source:
            return {}
        text = _paths.read_text(source)
    return _piped(text, default_renderer, source, saltenv or here.saltenv, kwargs)


_PLAIN = frozenset(["jinja", "mako", "yaml", "json", "text"])
_OF_AN_SLS = dict.fromkeys(("sls", "sls_path", "slsdotpath", "slscolonpath", "tpldot"), "")


def _piped(text: str, pipe: str, source: str, saltenv: str, variables: dict[str, Any]) -> Any:
    """Send a text through a pipe of renderers; a pipe that ends with data answers {} for none."""
    if text.startswith("#!"):
        pipe, _, text = text[2:].partition("\n")
    steps = [call.split()[0] for call in pipe.split("|") if call.strip()]
    if not _PLAIN.issuperset(steps):
        return _ordered(
            here.render_pipe(text, pipe, {**_OF_AN_SLS, **variables}, file=source, saltenv=saltenv)
        )
    for step in steps:
        if step in ("jinja", "mako"):
            text = here.render(
                text, step, {**_OF_AN_SLS, **variables}, file=source, saltenv=saltenv
            )
        elif step == "yaml":
            data = yaml.load(text)
            return {} if data is None else _ordered(data)
        elif step == "json":
            return deserialize("json", text)
    return text


def _ordered(value: Any) -> Any:
    """Mappings that keep their order where they are written as YAML again."""
    if isinstance(value, dict):
        return OrderedDict((key, _ordered(item)) for key, item in value.items())
    return [_ordered(item) for item in value] if isinstance(value, list) else value


_MANAGED = (
    "The contents of this file are managed by Salt. "
    "Any changes to this file may be overwritten automatically and without warning."
)


def banner(
    width: int = 72,
    commentchar: str = "#",
    borderchar: str = "#",
    blockstart: str | None = None,
    blockend: str | None = None,
    title: str | None = None,
    text: str | None = None,
    newline: bool = False,
) -> str:
    """A comment in a box, for the head of a managed file. Raises RunnerError for a width that is
    too small.

    width: of the box in characters. commentchar, borderchar: what lines begin and end with, and the
    border's. blockstart, blockend: lines around the box. title, text: other words. newline: end
    with a line's end.

        {{ salt['slsutil.banner'](title='Managed by runner', text='Changes are overwritten.') }}
    """
    title = "THIS FILE IS MANAGED BY SALT - DO NOT EDIT" if title is None else title
    text = _MANAGED if text is None else text
    inner = width - 2 * len(commentchar)
    room = inner - 2
    if room < 1:
        raise RunnerError(f"slsutil.banner: a width of {width} is too small for a banner")
    border = commentchar + borderchar[:1] * inner + commentchar
    words = [
        "",
        *(line.center(room) for line in textwrap.wrap(title, room)),
        "",
        *textwrap.wrap(text, room),
    ]
    lines = [border, *(f"{commentchar} {line.ljust(room)} {commentchar}" for line in words), border]
    lines = [*([blockstart] if blockstart else ()), *lines, *([blockend] if blockend else ())]
    return "\n".join(lines) + ("\n" if newline else "")
