# SPDX-License-Identifier: Apache-2.0
"""Data as text and back: what file.serialize and slsutil share."""

from __future__ import annotations

import ast
import configparser
import io
import json
import plistlib
import pprint
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
    write = _serializer(kind)[0]
    try:
        return write(plain(data), dict(options))
    except (TypeError, ValueError, AttributeError, KeyError) as problem:
        raise StateFailed(f"the data cannot be written as {kind}: {problem}") from problem


def deserialize(kind: str, text: str | bytes, options: Options) -> Any:
    """The data of a text; a plist may be bytes. Raises StateFailed for a text that is none of the
    kind.
    """
    read = _serializer(kind)[1]
    try:
        return read(text, dict(options))
    except (TypeError, ValueError, SyntaxError) as problem:
        raise StateFailed(f"the text cannot be read as {kind}: {problem}") from problem


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


def _serializer(
    kind: str,
) -> tuple[Callable[[Any, dict[str, Any]], str | bytes], Callable[[Any, dict[str, Any]], Any]]:
    name = _NAMES.get(kind.lower().rpartition(".")[2], kind)
    if name not in _KINDS:
        why = "It either does not exist or its prerequisites are not installed."
        raise StateFailed(f"The {kind} serializer could not be found. {why}")
    return _KINDS[name]


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
    return json.dumps(data, **options)


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


_KINDS = {
    "yaml": (_to_yaml, _from_yaml),
    "json": (_to_json, _from_json),
    "configparser": (_to_ini, _from_ini),
    "toml": (_to_toml, _from_toml),
    "python": (_to_python, _from_python),
    "plist": (_to_plist, _from_plist),
}
_NAMES = {"ini": "configparser", "yml": "yaml", "yamlex": "yaml"}
