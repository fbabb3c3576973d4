# SPDX-License-Identifier: Apache-2.0
"""Reading hiera.yaml and files of data, and errors in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.language.pillar.external.tools import Tools
from runner.model.errors import RenderError, RunnerError
from runner.model.places import Place, key_place


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


def typed(value: Any, kind: Any, name: str, place: Place) -> Any:
    """A value that has to be of a kind. Raises RunnerError."""
    words = {str: "a text", list: "a list", Mapping: "a mapping"}
    if not isinstance(value, kind):
        raise problem(f"`{name}` is not {words[kind]}", place)
    return value


def refuse_unknown(part: Mapping[str, Any], known: tuple[str, ...], place: Place) -> None:
    """Raise RunnerError for a key that there is not."""
    for key in part:
        if key not in known:
            what = f"hiera.yaml has no {key!r} here"
            raise problem(what, key_place(part, key, place), f"there are {', '.join(known)}")


def problem(message: str, place: Place, hint: str | None = None) -> RunnerError:
    """An error of hiera.yaml."""
    return RenderError(message, place.source, hint, "hiera")
