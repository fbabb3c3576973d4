# SPDX-License-Identifier: Apache-2.0
"""Settings of desktops (GNOME, Cinnamon, MATE ...) in databases of dconf: those of a user, written
without a session, too, and those of the machine (/etc/dconf/db), which are defaults.

Salt has nothing like it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from modules.desktop import dconf
from runner.api import Line, Name, Pattern, Plan, Planned, StateFailed
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states._run_as import dry_run_check as dry_run_check

Key = Annotated[
    Line,
    # without what means something else in the files of databases
    Pattern(r"(/[^/\s=\[\]#]+)+", "the path of a key, such as /org/gnome/mutter/overlay-key"),
]
DatabaseName = Annotated[Name, Pattern(r"[\w-]+", "the name of a database (letters, digits, -, _)")]
NOT_SET, LOCKED = "not set", "locked"

DECIDES = {"set": "value"}
OPPOSITE = {
    "set": Opposite("reset", by=("user", "database")),
    "lock": Opposite("unlock", by=("database",)),
}


def set_(
    name: Key,
    value: Any,
    type_: Line | None = None,
    user: Name | None = None,
    database: DatabaseName = "local",
) -> Planned:
    """Make sure that a key has a value, of a user or as a default of the machine.

    A database of the machine counts where /etc/dconf/profile/user names it (`system-db:local`).

    name: The path of the key.
    value: Its value.
    type: Its type as GVariant names it (u, d, as, a(ss), a{sv} ...); without it the one that the
      value looks like: true or false, a whole number (i), one with a fraction (d), a text, a list
      of these.
    user: Whose key it is; without it that of a database.
    database: The database of the machine.

        /org/gnome/desktop/interface/color-scheme:
          dconf.set:
            - value: prefer-dark
            - user: zoe
    """
    text = dconf.value_text(value, type_)
    if user:
        step = partial(dconf.write, name, text, user=user)
        return (yield from _owned(name, user, dconf.read(name, user), text, step))
    dconf.require()
    found = dconf.stored(name, database)
    later = [path for path in found if path.rpartition("/")[2] > dconf.OWN and found[path] != text]
    if later:
        raise StateFailed(f"{later[-1]} has another value of {name}, which counts")
    old = list(found.values())[-1] if found else ""
    step = partial(dconf.store, name, text, database)
    return (yield from _stored(name, database, old, text, step))


def reset(name: Key, user: Name | None = None, database: DatabaseName = "local") -> Planned:
    """Make sure that a user, or a database of the machine, has no value of a key: what it has then
    is the default.

    name: The path of the key.
    user: Whose key it is; without it that of a database.
    database: The database of the machine.

        /org/gnome/desktop/interface/color-scheme:
          dconf.reset:
            - user: zoe
    """
    if user:
        step = partial(dconf.reset, name, user=user)
        return (yield from _owned(name, user, dconf.read(name, user), "", step))
    dconf.require()
    old = "; ".join(dconf.stored(name, database).values())
    step = partial(dconf.unstore, name, database)
    return (yield from _stored(name, database, old, "", step))


def lock(name: Key, database: DatabaseName = "local") -> Planned:
    """Make sure that users cannot change a key: it has the value of a database of the machine.

    name: The path of the key.
    database: The database of the machine.

        /org/gnome/desktop/screensaver/lock-enabled:
          dconf.lock: []
    """
    return (yield from _locked(name, database, LOCKED, dconf.lock))


def unlock(name: Key, database: DatabaseName = "local") -> Planned:
    """Make sure that a database of the machine does not lock a key.

    name: The path of the key.
    database: The database of the machine.

        /org/gnome/desktop/screensaver/lock-enabled:
          dconf.unlock: []
    """
    return (yield from _locked(name, database, "", dconf.unlock))


def _locked(name: str, database: str, new: str, change: Callable[[str, str], None]) -> Planned:
    """Lock a key of a database of the machine, or unlock it."""
    dconf.require()
    old = LOCKED if dconf.locks(name, database) else ""
    return (yield from _stored(name, database, old, new, partial(change, name, database)))


def _owned(name: str, user: str, old: str, new: str, step: Callable[[], None]) -> Planned:
    """Change a key of a user."""
    if old == new:
        return f"{name} of {user} is {new or NOT_SET}"
    yield Plan(_change(name, old, new), f"{name} of {user} is set to be {new or NOT_SET}")
    step()
    return f"{name} of {user} is {new or NOT_SET} now"


def _stored(name: str, database: str, old: str, new: str, step: Callable[[], None]) -> Planned:
    """Change a key of a database of the machine, and have it read."""
    changes = _change(name, old, new) if old != new else {}
    if dconf.is_stale(database):
        changes[f"{dconf.FOLDER}/{database}"] = "made anew"
    title = f"{name} in {database}"
    if not changes:
        return f"{title} is {new or NOT_SET}"
    yield Plan(changes, f"{title} is set to be {new or NOT_SET}")
    if old != new:
        step()
    dconf.update(database)
    return f"{title} is {new or NOT_SET} now"


def _change(name: str, old: str, new: str) -> dict[str, object]:
    return {name: {"old": old or NOT_SET, "new": new or NOT_SET}}


autorequire = comes_after(
    "Keys come after dconf and the user whose they are.",
    ("pkg", "dconf-cli"),
    ("pkg", "dconf-service"),
    user="user",
)
__func_alias__ = {"set_": "set"}
