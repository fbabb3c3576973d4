# SPDX-License-Identifier: Apache-2.0
"""Locales as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from modules import file, locale
from runner.api import Resource

ROLE = "system"
USUAL = ("", "C", "POSIX", "C.UTF-8", "C.utf8")


def resources(name: str | None) -> Iterator[Resource]:
    """The locales that locale-gen made, and that of the system."""
    lines = file.read_bytes(locale.LIST).decode("utf-8", "replace") if _has_list() else ""
    for wanted in dict.fromkeys(re.findall(r"(?m)^[ \t]*([^#\s]+[ \t]+[^#\s]+)[ \t]*$", lines)):
        language, charset = wanted.split()
        known = language if language.partition(".")[2].partition("@")[0] == charset else wanted
        if name in (None, language, wanted) and locale.avail(language):
            yield Resource("locale.present", known, shipped=language in USUAL, files=(locale.LIST,))
    system = locale.get_locale()
    if system and name in (None, system):
        files = (locale.DEFAULT,) if _says_only_lang() else ()
        yield Resource("locale.system", system, shipped=system in USUAL, files=files)


def _has_list() -> bool:
    return file.is_file(locale.LIST)


def _says_only_lang() -> bool:
    if not file.is_file(locale.DEFAULT):
        return False
    text = file.read_bytes(locale.DEFAULT).decode("utf-8", "replace")
    return all(line.startswith(("LANG=", "#")) for line in text.splitlines() if line.strip())
