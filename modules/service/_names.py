# SPDX-License-Identifier: Apache-2.0
"""Names of services as parts of paths."""

from __future__ import annotations

from modules._texts.lines import plain_name
from runner.api import CommandFailed


def file_name(name: str) -> str:
    """The name of a service as that of its file. Raises CommandFailed for what cannot be one."""
    stem = plain_name(name, "the name of the service").removesuffix(".service")
    if "/" in stem or stem in ("", ".", ".."):
        raise CommandFailed(f"{name!r} is not the name of a service")
    return stem
