# SPDX-License-Identifier: Apache-2.0
"""The firmware's data on the machine."""

from __future__ import annotations

import re

from modules import cmd

_PLACEHOLDERS = re.compile(
    r"(0+|x+|\.+|0123456789.*|none|unknown|not specified|default string|to be filled by"
    r" o\.?e\.?m\.?)",
    re.I,
)


def get(string: str, clean: bool = True) -> str | None:
    """One word of the firmware's tables; null if it is a placeholder. clean: false gives
    placeholders, too.

    string: as dmidecode names it: system-manufacturer, system-product-name, processor-version, ...

    {{ salt['smbios.get']('system-product-name') }}
    """
    lines = cmd.probe(["dmidecode", "-s", string]).stdout.strip().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    if text.startswith("/dev/mem") or (
        clean and (not text or _PLACEHOLDERS.fullmatch(text.strip()))
    ):
        return None
    return text
