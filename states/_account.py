# SPDX-License-Identifier: Apache-2.0
"""The difference between a user as it is and as its state wants it, and the steps between them."""

from __future__ import annotations

import datetime
import re
import time

from modules import file, group, shadow
from modules import user as users
from runner.api import Record, StateFailed, here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

HIDDEN = "XXX-REDACTED-XXX"
FIELDS = ("uid", "gid", "home", "shell")
# what chage calls the arguments of user.present
AGING = {
    "date": "lstchg",
    "mindays": "min",
    "maxdays": "max",
    "inactdays": "inact",
    "warndays": "warn",
    "expire": "expire",
}


class Password(Record):
    """The password as the state gives it. text: a hash, or (hashes) the password itself; "" is for
    no password.
    """

    text: str | None
    hashes: bool
    enforce: bool
    locked: bool | None

    def fits(self, present_hash: str) -> bool:
        """Return whether the hash in /etc/shadow is as wanted, its lock left aside where the state
        says something of it.
        """
        if self.text is None or (not self.enforce and present_hash != "!"):
            return True
        if not self.text:
            return not present_hash
        if self.locked is not None:
            present_hash = present_hash.removeprefix("!")
        return (
            shadow.verifies(self.text, present_hash)
            if self.hashes and not present_hash.startswith("!")
            else present_hash == self.text
        )

    def lock_fits(self, present_hash: str) -> bool:
        """Return whether the password is locked, or is not, as wanted."""
        return self.locked is None or self.locked is present_hash.startswith("!")

    def put(self, name: str, fits: bool, lock_fits: bool) -> None:
        """Set the password, then its lock."""
        if self.text == "" and not fits:
            shadow.del_password(name)
        elif self.text and not fits:
            hashed = shadow.gen_password(self.text) if self.hashes else self.text
            here.secret(hashed)
            shadow.set_password(name, hashed)
        if self.locked and not (fits and lock_fits):
            shadow.lock_password(name)
        elif self.locked is False and fits and not lock_fits:
            shadow.unlock_password(name)


class WantedUser(Record):
    """The user as the state wants it; what it says nothing of is not in `account` and `days`."""

    account: Mapping[str, Any]  # uid, gid, home, shell and the parts of the GECOS field
    days: Mapping[str, int]  # lstchg, min, max, warn, inact, expire
    groups: list[str] | None
    remove_groups: bool
    password: Password
    makes_home: bool
    gid_as_written: int | str | None
    extras: Extras


def fields(said: Mapping[str, Any], now: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The fields of an Account that a state says. now: the parts of the GECOS field as they are."""
    given = {key: said[key] for key in FIELDS if key in said}
    changes_gecos = any(said.get(part) or (now and part in said) for part in users.GECOS)
    return given | ({"gecos": users.gecos_field({**(now or {}), **said})} if changes_gecos else {})


def refuse_commas(said: Mapping[str, Any]) -> None:
    """Raise StateFailed for a part of the GECOS field that would be read as two."""
    for part in users.GECOS[:-1]:
        if "," in (text := said.get(part) or ""):
            raise StateFailed(f"Unsupported char ',' in {text}: it ends a part of the GECOS field")


def refuse_new_account(kind: str, name: str) -> None:
    """Raise StateFailed when no tool makes a user or a group of such a name."""
    if name in ("", ".", "..") or name[0] in "-+~" or re.search(r"[:,/\s]", name):
        raise StateFailed(
            f"{name!r} cannot be the name of a new {kind}: it is empty or a folder's, begins with"
            " one of - + ~, or contains a colon, a comma, a slash or a space"
        )


def further_groups(
    groups: Sequence[str] | None, optional: Sequence[str] | None
) -> list[str] | None:
    """The groups beside the primary one; None when the state says nothing of them. Raises
    StateFailed when one of them does not exist.
    """
    missing = [name for name in groups or () if not group.info(name)]
    if missing:
        raise StateFailed(
            f"The following group(s) are not present: {','.join(missing)}"
            + (list_meant(missing) or "; group.present makes one, optional_groups does without"),
            missing=("group", missing[0]),
        )
    existing = [name for name in optional or () if group.info(name)]
    if groups is None and not existing:
        return None
    return list(dict.fromkeys([*(groups or ()), *existing]))


def list_meant(names: Sequence[str]) -> str:
    """What to write instead of names that one text has."""
    return "; a name has no comma: write a list" if any("," in name for name in names) else ""


def day(value: int | str, argument: str) -> int:
    """Days since 1970 of a number of days, or of a date such as 2030-01-31; -1 is never. Raises
    StateFailed for anything else.
    """
    if isinstance(value, int) or value.lstrip("-").isdigit():
        if int(value) < -1:
            raise StateFailed(f"{argument}: {value} is no number of days; -1 is for never")
        return int(value)
    try:
        return (
            datetime.date.fromisoformat(value).toordinal() - datetime.date(1970, 1, 1).toordinal()
        )
    except ValueError:
        raise StateFailed(
            f"{argument}: {value!r} is neither a date like 2030-01-31 nor a number of days"
        ) from None


class PendingChanges:
    """The pending changes of a user that exists."""

    def __init__(self, name: str, wanted: WantedUser) -> None:
        self.now = users.info(name)
        self.aged = aged = shadow.info(name)
        self.wanted = wanted
        self.account = {
            key: value for key, value in wanted.account.items() if self.now[key] != value
        }
        primary = users.primary_group(name)
        self.present_groups = [group for group in self.now["groups"] if group != primary]
        self.primary = _group_name(self.account.get("gid", self.now["gid"]))
        self.groups = self._further_groups()
        secret, present_hash = wanted.password, aged["passwd"]
        self.fits, self.lock_fits = secret.fits(present_hash), secret.lock_fits(present_hash)
        lacks_password = secret.text is None and not present_hash.strip("!*")
        if lacks_password and secret.locked is False and not self.lock_fits:
            raise StateFailed(
                f"User {name} has no password that could be unlocked; give one with `password`"
            )
        self.days = {key: value for key, value in wanted.days.items() if aged[key] != value}
        sets_hash = not self.fits and bool(secret.text)
        today = int(time.time() // 86400)
        self.resets_date = sets_hash and aged["lstchg"] != today and "lstchg" not in wanted.days
        if sets_hash and "lstchg" in wanted.days:
            self.days["lstchg"] = wanted.days["lstchg"]
        home = self.account.get("home", self.now["home"])
        self.home = home if wanted.makes_home and home and not file.exists(home) else ""
        self.extras = wanted.extras.pending(name)

    def changes(self) -> dict[str, Any]:
        """The changes to come, under the keys that the real run reports."""
        changes = {key: self.account[key] for key in FIELDS if key in self.account}
        further = self.groups if self.groups is not None else self.present_groups
        if self.groups is not None or "gid" in self.account:
            changes["groups"] = sorted({*further, self.primary} - {""})
            if changes["groups"] == self.now["groups"]:
                del changes["groups"]
        changes |= {key: value for key, value in self.account.items() if key not in FIELDS}
        if not self.fits or not self.lock_fits:
            changes["passwd"] = HIDDEN
        if self.resets_date:
            changes["lstchg"] = int(time.time() // 86400)
        changes |= {key: value for key, value in self.days.items() if self.aged[key] != value}
        if self.home and "home" not in changes:
            changes["homeDoesNotExist"] = self.home
        return changes | self.extras

    def comment(self) -> str:
        """List what will be changed, as Salt's dry run tells it."""
        parts: dict[str, Any] = dict(self.account)
        if "gid" in parts:
            parts["gid"] = self.wanted.gid_as_written
        parts |= {"homeDoesNotExist": self.home} if self.home else {}
        parts |= {"groups": self.groups} if self.groups is not None else {}
        if not self.fits:
            parts |= {"passwd": HIDDEN} if self.wanted.password.text else {"empty_password": True}
        parts |= {} if self.lock_fits else {"password_lock": self.wanted.password.locked}
        parts |= {argument: self.days[key] for argument, key in AGING.items() if key in self.days}
        parts |= self.extras
        account = ("uid", "gid", "home", "homeDoesNotExist", "shell", "groups", *users.GECOS)
        order = (*account, "passwd", "empty_password", "password_lock", *AGING, *self.extras)
        return "".join(f"{key}: {parts[key]}\n" for key in order if key in parts)

    def forbidden(self, allowed: Mapping[str, bool]) -> str:
        """The reason why the numbers may not be changed; empty when they may."""
        written = {"gid": self.wanted.gid_as_written}
        problems = [
            f"- Changing {key} ({self.now[key]} -> {written.get(key, self.account[key])}) not"
            f" permitted, set allow_{key}_change to True to force this change. Note that this will"
            " not change file ownership."
            for key, may in allowed.items()
            if key in self.account and not may
        ]
        head = "Encountered error checking for needed changes. Additional info follows:"
        return "\n\n".join([head, "\n".join(problems)]) if problems else ""

    def _further_groups(self) -> list[str] | None:
        """The groups that the user should be in beside the primary one, when they are not those;
        else None.
        """
        if self.wanted.groups is None:
            return None
        kept = () if self.wanted.remove_groups else self.present_groups
        further = {*kept, *(name for name in self.wanted.groups if name != self.primary)}
        return sorted(further) if further != {*self.present_groups} else None


def done_changes(keys: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The values that a user has now, under the keys of a Plan."""
    after = {**shadow.info(name), **users.info(name), "passwd": HIDDEN}
    return {key: after.get(key, value) for key, value in keys.items()}


def _group_name(gid: int) -> str:
    return next(iter(group.with_number(gid)), "")


class Extras(Record):
    """linger: whether the user's systemd runs without a login; None: as it is. subuids, subgids:
    ranges FIRST-LAST that the user has to own.
    """

    linger: bool | None = None
    subuids: Sequence[str] = ()
    subgids: Sequence[str] = ()

    def pending(self, name: str) -> dict[str, Any]:
        """The changes to come. Raises StateFailed for what cannot be."""
        changes: dict[str, Any] = {}
        for kind, ranges in (("subuids", self.subuids), ("subgids", self.subgids)):
            for text in ranges:
                first, _, last = text.partition("-")
                if not re.fullmatch(r"\d+-\d+", text) or int(first) > int(last):
                    raise StateFailed(f"{kind}: {text!r} is not a range such as 100000-165535")
            missing = [text for text in ranges if text not in users.subordinate(kind, name)]
            changes |= {kind: missing} if missing else {}
        if self.linger is not None and users.lingers(name) is not self.linger:
            if self.linger and not users.can_linger():
                raise StateFailed("linger needs systemd, which does not run this machine")
            changes["linger"] = self.linger
        return changes

    def apply(self, name: str) -> None:
        """Make the changes that are still to be made. Raises CommandFailed."""
        changes = self.pending(name)
        new = [users.Ranges(tuple(changes.get(kind, ()))) for kind in ("subuids", "subgids")]
        if any(ranges.added for ranges in new):
            users.usermod(users.Account(name, subuids=new[0], subgids=new[1]))
        if "linger" in changes:
            users.set_linger(name, changes["linger"])
