# SPDX-License-Identifier: Apache-2.0
"""Values that are kept outside of the tree: `sdb://PROFILE/KEY`.

A profile is a key of the configuration (or the pillar) with a `driver`: env, file, yaml, sqlite3,
keyring or vault.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from modules._texts.secret_values import hide
from modules.secrets.sdb import _drivers
from runner.api import StateFailed, here

SCHEME = "sdb://"


def get(uri: Any, strict: bool = False) -> Any:
    """The value at `sdb://PROFILE/KEY`, hidden in reports; None where there is none. Raises
    StateFailed for a driver that is not there, or cannot be asked.

    Anything but such an address comes back as it is. strict: raise StateFailed instead.

        {{ salt['sdb.get']('sdb://secrets/db:password') }}
    """
    place = _place(uri, strict)
    if place is None:
        return uri
    profile, key = place
    value = _drivers.driver_of(profile).get(key)
    hide(value)
    return value


def set_(uri: str, value: Any) -> Any:
    """Keep a value at `sdb://PROFILE/KEY`; False for what is no such address. Raises StateFailed
    where the driver cannot.

    {% do salt['sdb.set']('sdb://secrets/token', token) %}
    """
    place = _place(uri, False)
    if place is None:
        return False
    hide(value)
    return _drivers.change("set", *place, value)


def delete(uri: str) -> Any:
    """Forget the value at `sdb://PROFILE/KEY`; False for what is no such address. Raises
    StateFailed where the driver cannot.

    {% do salt['sdb.delete']('sdb://secrets/token') %}
    """
    place = _place(uri, False)
    if place is None:
        return False
    return _drivers.change("delete", *place)


def get_or_set_hash(
    uri: str, length: int = 8, chars: str = "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"
) -> Any:
    """The value at `sdb://PROFILE/KEY`; where there is none, one drawn by lot, which is kept there.

    length, chars: of how many of which characters it consists.

        {{ salt['sdb.get_or_set_hash']('sdb://secrets/session_key', length=32) }}
    """
    value = get(uri)
    if value is None:
        value = "".join(secrets.choice(chars) for _ in range(length))
        set_(uri, value)
    return value


def _place(uri: Any, strict: bool) -> tuple[Mapping[str, Any], str] | None:
    """The profile and the key of an address; None for what is none."""
    problem = f'SDB uri must start with "{SCHEME}"'
    if isinstance(uri, str) and uri.startswith(SCHEME):
        name, _, key = uri.removeprefix(SCHEME).partition("/")
        problem = "SDB uri must have a profile name as a first part of the uri before the /"
        if key:
            profile = here.opts.get(name) or here.pillar.get(name)
            if isinstance(profile, Mapping) and "driver" in profile:
                return profile, key
            problem = f'SDB profile "{name}" wasnt found in the minion configuration'
    if strict:
        raise StateFailed(problem)
    return None


__func_alias__ = {"set_": "set"}
