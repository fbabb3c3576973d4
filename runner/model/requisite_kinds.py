"""The kinds of requisites."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


class Kind(enum.StrEnum):
    """The requisites; the value is what a user writes."""

    REQUIRE = "require"
    REQUIRE_ANY = "require_any"
    WATCH = "watch"
    WATCH_ANY = "watch_any"
    ONCHANGES = "onchanges"
    ONCHANGES_ANY = "onchanges_any"
    ONFAIL = "onfail"
    ONFAIL_ANY = "onfail_any"
    ONFAIL_ALL = "onfail_all"
    PREREQ = "prereq"
    LISTEN = "listen"


WITHOUT_MOD_WATCH = {
    Kind.WATCH: Kind.REQUIRE,
    Kind.WATCH_ANY: Kind.REQUIRE_ANY,
}  # to a module without a mod_watch
REQUISITE_KEYS = frozenset([*Kind, *(f"{kind}_in" for kind in Kind), "use", "use_in"])
