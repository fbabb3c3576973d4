# SPDX-License-Identifier: Apache-2.0
"""Names below /dev/mapper."""

from __future__ import annotations

from typing import Annotated

from runner.api import Check, Name

_MOST = 127  # DM_NAME_LEN of the kernel, without the NUL


def _problem(name: str) -> str | None:
    if name in (".", "..", "control"):
        return "no device can have this name below /dev/mapper"
    length = len(name.encode("utf-8", "surrogateescape"))
    return None if length <= _MOST else f"a name below /dev/mapper has at most {_MOST} bytes"


MappedName = Annotated[Name, Check(_problem)]
