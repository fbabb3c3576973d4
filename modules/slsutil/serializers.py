# SPDX-License-Identifier: Apache-2.0
"""Data as text and back: what file.serialize and slsutil share."""

from __future__ import annotations

import ast
import configparser
import io
import json
import plistlib
import pprint
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from runner.api import StateFailed
from runner.api.extras import how_to_install

Options = Mapping[str, Any]


def serialize(kind: str, data: Any, options: Options) -> str | bytes:
    """The text of some data, bytes for a binary plist.

    Raises StateFailed for an unknown kind or data that the kind cannot say.
    """
    name = _named(kind)
    try:
        data = plain(data)
        if why := _unwritable(name, data):
            raise ValueError(why)
        return _KINDS[name][0](data, dict(options))
    except (TypeError, ValueError, AttributeError, KeyError) as problem:
        raise StateFailed(f"the data cannot be written as {kind}: {_why(problem)}") from problem


def deserialize(kind: str, text: str | bytes, options: Options) -> Any:
    """The data of a text; a plist may be bytes. Raises StateFailed for a text that is none of the
    kind.
    """
    try:
        return _KINDS[_named(kind)][1](text, dict(options))
    except (TypeError, ValueError, SyntaxError) as problem:
        raise StateFailed(f"the text cannot be read as {kind}: {_why(problem)}") from problem


def difference(old: Any, new: Any) -> dict[str, Any]:
    """The difference of two mappings, key by key, as Salt shows it."""
    differences: dict[str, Any] = {}
    for key in [*old, *(key for key in new if key not in old)]:
        was, now = old.get(key, "<_null_>"), new.get(key, "<_null_>")
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            inner = difference(was, now)
            differences |= {key: inner} if inner else {}
        elif was != now:
            differences[key] = {"old": was, "new": now}
    return differences


def plain(value: Any) -> Any:
    """Plain dictionaries and lists alone, for the writers."""
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _named(kind: str) -> str:
    name = _NAMES.get(kind.lower().rpartition(".")[2], kind)
    if name not in _KINDS:
        known = ", ".join([*_KINDS, *_NAMES])
        raise StateFailed(f"The {kind} serializer could not be found. There are {known}.")
    return name


def _why(problem: Exception) -> str:
    """Why it failed; an option that the library does not have is named."""
    option = re.search(r"unexpected keyword argument '(\w+)'", str(problem))
    return f"there is no option {option[1]} for it" if option else str(problem)


def _unwritable(name: str, data: Any) -> str:
    """What of some data a format cannot say; empty where it can say all."""
    if name in ("configparser", "toml") and not isinstance(data, dict):
        return f"it holds a mapping, and the data is a {type(data).__name__}"
    if name == "configparser":
        odd = next((key for key, value in data.items() if not isinstance(value, dict)), None)
        return "" if odd is None else f"{odd} has to be a section, a mapping of options"
    return _odd_value(data, "") if name in ("toml", "plist") else ""


def _odd_value(value: Any, where: str) -> str:
    """The first null, or key that is no text."""
    if value is None:
        return f"it has no null, as {where or 'the data'} is"
    if not isinstance(value, dict | list):
        return ""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    if isinstance(value, dict) and (odd := [key for key in value if not isinstance(key, str)]):
        return f"its keys are texts: put {odd[0]} in quotes"
    return next(
        filter(None, (_odd_value(inner, f"{where}:{key}".lstrip(":")) for key, inner in pairs)), ""
    )


def _to_yaml(data: Any, options: dict[str, Any]) -> str:
    import yaml

    options.setdefault("default_flow_style", False)
    # which ends a lone scalar
    return str(yaml.dump(data, Dumper=yaml.SafeDumper, **options)).removesuffix("...\n")


def _from_yaml(text: str, options: dict[str, Any]) -> Any:
    import yaml

    try:
        return yaml.load(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as problem:
        raise ValueError(str(problem)) from None


def _to_json(data: Any, options: dict[str, Any]) -> str:
    options = {
        "indent": 2,
        "separators": (",", ": "),
        "sort_keys": True,
        "ensure_ascii": False,
        **options,
    }
    if options["sort_keys"]:
        data, options["sort_keys"] = _in_order(data), False
    return json.dumps(data, **options)


def _in_order(data: Any) -> Any:
    """The same data with the keys of each mapping in order: texts and numbers as texts."""
    if isinstance(data, list):
        return [_in_order(item) for item in data]
    if not isinstance(data, dict):
        return data
    try:
        keys = sorted(data)
    except TypeError:
        keys = sorted(data, key=str)
    return {key: _in_order(data[key]) for key in keys}


def _from_json(text: str, options: dict[str, Any]) -> Any:
    return json.loads(text, **options)


def _to_ini(data: Any, options: dict[str, Any]) -> str:
    parser = configparser.ConfigParser(interpolation=None, **options)
    for section, values in data.items():
        parser[section] = {
            key: "" if value is None else str(value) for key, value in values.items()
        }
    stream = io.StringIO()
    parser.write(stream)
    return stream.getvalue() + "\n"


def _from_ini(text: str, options: dict[str, Any]) -> Any:
    parser = configparser.ConfigParser(**options)
    try:
        parser.read_string(text)
    except configparser.Error as problem:
        raise ValueError(str(problem)) from None
    return {section: _values(parser, section) for section in parser.sections()}


def _values(parser: Any, section: str) -> dict[str, Any]:
    """The options of a section, `%(others)s` in them replaced where there are such, after what
    holds by default.
    """
    values = {}
    for key, raw in parser.items(section, raw=True):
        try:
            values[key] = parser.get(section, key)
        except configparser.InterpolationError:
            values[key] = raw
    return values


def _to_toml(data: Any, options: dict[str, Any]) -> str:
    try:
        import tomli_w  # type: ignore[import-not-found]
    except ImportError:
        raise StateFailed(
            f"TOML is written by the Python package tomli-w: {how_to_install('toml')}",
            missing=("pkg", "python3-tomli-w"),
        ) from None
    return str(tomli_w.dumps(data, **options))


def _from_toml(text: str, options: dict[str, Any]) -> Any:
    return tomllib.loads(text, **options)


def _to_python(data: Any, options: dict[str, Any]) -> str:
    return pprint.pformat(data, **options)


def _from_python(text: str, options: dict[str, Any]) -> Any:
    return ast.literal_eval(text)


def _to_plist(data: Any, options: dict[str, Any]) -> str | bytes:
    if isinstance(options.get("fmt"), str):  # FMT_XML, FMT_BINARY
        options["fmt"] = getattr(plistlib, options["fmt"])
    data = plistlib.dumps(data, **options)
    return bytes(data) if options.get("fmt") is plistlib.FMT_BINARY else data.decode()


def _from_plist(text: str | bytes, options: dict[str, Any]) -> Any:
    if isinstance(options.get("fmt"), str):
        options["fmt"] = getattr(plistlib, options["fmt"])
    return plistlib.loads(text.encode() if isinstance(text, str) else text, **options)


_KINDS: dict[str, tuple[Callable[[Any, Any], str | bytes], Callable[[Any, Any], Any]]] = {
    "yaml": (_to_yaml, _from_yaml),
    "json": (_to_json, _from_json),
    "configparser": (_to_ini, _from_ini),
    "toml": (_to_toml, _from_toml),
    "python": (_to_python, _from_python),
    "plist": (_to_plist, _from_plist),
}
_NAMES = {"ini": "configparser", "yml": "yaml", "yamlex": "yaml"}
