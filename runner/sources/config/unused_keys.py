# SPDX-License-Identifier: Apache-2.0
"""Keys of a Salt minion that ask for something which runner does in another way, or not."""

from __future__ import annotations

import os
import pwd
from functools import cache

from runner.model import text_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


@cache
def instead() -> Mapping[str, str]:
    """The keys, each with what to use."""
    rows = text_tables.rows("runner.sources.config", "unused_keys.txt")
    return {key: text.replace("\\n", "\n") for _, (key, text) in rows}


# keys of how Salt prints results: many files have them, so that nothing is reported of them
PRINTING: Mapping[str, str] = dict.fromkeys(
    (
        "state_output",
        "state_output_diff",
        "state_output_profile",
        "state_tabular",
        "state_verbose",
        "output",
    ),
    "it may stay; `-v` shows unchanged states, `--diff` whole changes, `--out FORM` other forms",
)


def unused(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys that ask for what is not done, with what to use."""
    for key, text in instead().items():
        value = settings.get(key)
        if key == "fileserver_backend":
            value = [name for name in _listed(value) if name not in {"roots", "file", *_GIT}]
        if key == "gitfs_remotes" and _GIT & set(_listed(settings.get("fileserver_backend"))):
            continue
        if value and not (key == "user" and value == _own_name()):
            yield key, text


def _own_name() -> str:
    """The name of who runs this; empty without an account."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""


_GIT = {"git", "gitfs"}


def _listed(value: Any) -> list[str]:
    """The names of `fileserver_backend`, which may be one alone."""
    return [value] if isinstance(value, str) else [str(name) for name in value or ()]
