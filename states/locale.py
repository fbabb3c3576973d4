# SPDX-License-Identifier: Apache-2.0
"""Languages of the machine."""

from __future__ import annotations

from modules import file
from modules import locale as locales
from runner.api import NonEmptyLine, Plan, Planned, StateFailed, here
from states._tools import explained

DECIDES = {"system": "* name"}
MEANS = {"name": locales.plain}
OPPOSITE = {"present": "absent"}


def _warn_of_missing(name: str) -> None:
    """Warn of a locale that programs cannot use, and that no state of the run generates."""
    generated = [chunk.name for chunk in here.chunks if chunk.function == "locale.present"]
    if locales.is_missing(name) and not any(locales.is_same(name, one) for one in generated):
        here.warn(
            f"the locale {name} is not generated: programs use C instead; `locale.present`"
            " generates it"
        )


@file.validated
def system(name: NonEmptyLine) -> Planned:
    """Make sure that the system has a locale (LANG).

    name: The locale, as `locale -a` lists it.

        en_US.UTF-8:
          locale.system: []
    """
    _warn_of_missing(name)
    if locales.get_locale() == name:
        return f"System locale {name} already set"
    yield Plan({"locale": name}, f"System locale {name} needs to be set")
    locales.set_locale(name)
    return f"Set system locale {name}"


@file.validated
def present(name: NonEmptyLine) -> Planned:
    """Make sure that programs can use a locale.

    name: The locale, as of locale.system.

        de_DE.UTF-8:
          locale.present: []
    """
    if locales.avail(name):
        return f"Locale {name} is already present"
    failed = f"Failed to generate locale {name}"
    with explained(failed):
        locales.refuse_new(name)
    yield Plan({"locale": name}, f"Locale {name} needs to be generated")
    with explained(failed):
        locales.gen_locale(name)
    return f"Generated locale {name}"


@file.validated
def absent(name: NonEmptyLine) -> Planned:
    """Make sure that programs cannot use a locale: locale-gen makes it no more.

    name: The locale, as of locale.system.

        fr_FR.UTF-8:
          locale.absent: []

    Salt has nothing like it.
    """
    if not locales.avail(name):
        return f"Locale {name} is absent already"
    if locales.is_same(locales.get_locale(), name):
        raise StateFailed(f"{name} is the locale of the system: give it another (locale.system)")
    if not locales.is_listed(name):
        raise StateFailed(f"{name} is not one that locale-gen makes ({locales.LIST}): it stays")
    file.refuse_rewrite(locales.LIST)
    yield Plan({"locale": {"old": name, "new": None}}, f"Locale {name} is set to be removed")
    locales.drop_locale(name)
    return f"Removed locale {name}"
