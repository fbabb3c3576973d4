# SPDX-License-Identifier: Apache-2.0
"""Values that are typed on the command line."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from functools import partial

from runner.model.errors import UsageError
from runner.model.places import Source
from runner.model.stdlib import pattern
from runner.support.files.text import LARGEST, MEBIBYTE
from runner.support.yaml import errors, limits, simple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_NAME = pattern(r"[^\W\d][\w.-]*")


def mapping(text: str, option: str) -> dict[str, Any]:
    """A mapping as JSON or YAML. option: where it was given, with the name of its file (`--pillar
    @FILE`). Raises UsageError for any other value.
    """
    value = _as_data(text)
    if value is None:
        return {}
    if not isinstance(value, dict):
        hint = (
            "write `key: value` lines there"
            if " " in option
            else f'{option} \'{{"key": "value"}}\''
        )
        raise UsageError(f"{option}: expected a mapping{why_not(text)}", hint=hint)
    return value


def yaml_value(text: str) -> Any:
    """A value as YAML reads it, as far as Salt's command line does: mappings and lists stand in
    brackets, texts may stand in quotes, numbers are decimal (`0644`), and what else is no
    number, no boolean and no null is a text.
    """
    value, bare = _as_yaml(text), text.strip()
    if bare in NULLS:
        return None
    if isinstance(value, dict | list):
        return value if bare[0] in "{[" else text
    if isinstance(value, str):
        return value if bare[:1] in ('"', "'") else text
    if bare.isdecimal():
        return int(bare)
    return value if isinstance(value, bool | float | int) and "_" not in bare else text


NULLS = ("null", "Null", "NULL", "None", "~")


def why_not(text: str) -> str:
    """The mistake in a text that is not YAML."""
    import yaml

    try:
        limits.plain(text)
    except yaml.MarkedYAMLError as error:
        mistake = errors.explain(error, text, partial(Source, text))
        return f", and this is not YAML: {mistake.message if mistake else error.problem}"
    except yaml.reader.ReaderError as error:
        return f", and this is not YAML: character {error.position + 1} is a control character"
    except (
        UnicodeEncodeError
    ) as error:  # how Python shows bytes of the command line that are no text
        return f", and this is not UTF-8: byte 0x{ord(error.object[error.start]) & 0xFF:02x}"
    return ""


def _as_data(text: str) -> Any:
    """The value of JSON, which escapes some letters as YAML does not, or of YAML."""
    try:
        return json.loads(text) if text.startswith(("{", "[")) else _as_yaml(text)
    except (ValueError, RecursionError):
        return _as_yaml(text)


def _as_yaml(text: str) -> Any:
    if "\n" not in text and not text.startswith(("---", "...", "%")):
        with suppress(simple.NotSimple):
            return simple.read_plain(f"- {text}")[0]
    import yaml

    try:
        return limits.plain(text)
    except limits.OutOfBounds as error:
        raise UsageError(f"a value of the command line: {error.problem}") from None
    except (yaml.YAMLError, ValueError):
        return text


def arguments_of(
    words: Iterable[str], texts: Iterable[str] = ()
) -> tuple[list[Any], dict[str, Any]]:
    """Values and key=value pairs of a command line (`YWI==` is no pair). texts: keys whose values
    are no YAML.
    """
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if equals and not value.startswith("=") and _is_name(key):
            named[key] = value if key in texts else yaml_value(value)
        else:
            positional.append(yaml_value(word))
    return positional, named


def _is_name(key: str) -> bool:
    return (key.isascii() and key.isidentifier()) or _NAME.fullmatch(key) is not None


def given_arguments(words: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
    """The values and pairs of a command line; the one word `-` stands for a line of stdin, which
    the list of processes does not show: a JSON object of named values (others in a list below
    `__args__`), or a list of others. Raises UsageError for any other line.
    """
    if [*words] != ["-"]:
        return arguments_of(words)
    value = _as_data(line_of_stdin("the arguments"))
    if isinstance(value, dict):
        others = value.pop("__args__", [])
        return others, {str(key): item for key, item in value.items()}
    if not isinstance(value, list):
        raise UsageError(
            "the arguments: expected a mapping or a list on stdin", hint='{"name": "/etc/motd"}'
        )
    return value, {}


def line_of_stdin(what: str) -> str:
    """The next line of stdin, without anything that follows. Raises UsageError for one that is not
    UTF-8, or longer than a compiled file may be.
    """
    try:
        line = sys.stdin.readline(LARGEST * MEBIBYTE + 1)
    except UnicodeDecodeError:
        raise UsageError(f"{what}: stdin is not UTF-8") from None
    if len(line) > LARGEST * MEBIBYTE:
        raise UsageError(f"{what}: this is larger than {LARGEST} MiB")
    return line
