"""What the firmware says of the machine."""

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
    said = "\n".join(line for line in lines if not line.startswith("#"))
    if said.startswith("/dev/mem") or (
        clean and (not said or _PLACEHOLDERS.fullmatch(said.strip()))
    ):
        return None
    return said
