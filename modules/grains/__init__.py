# SPDX-License-Identifier: Apache-2.0
"""The grains, as templates and states ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules._texts import filter_by as _filter_by
from modules.grains import static
from modules.slsutil.merging import MISSING, traverse
from runner.api import here


def get(key: str, default: Any = "", delimiter: str = ":", ordered: bool = True) -> Any:
    """The value of a grain, nested ones as `a:b`.

    {{ salt['grains.get']('ip4_interfaces:eth0', []) }}
    """
    first = key.split(delimiter)[0]
    grains = here.grains
    if key in grains:
        return grains[key]
    data = {first: grains[first]} if first in grains else {}
    return traverse(data, key, default, delimiter)


_ANONYMOUS = {
    "domain": "DOMAINNAME",
    "fqdn": "MINION.DOMAINNAME",
    "host": "MINION",
    "id": "MINION.DOMAINNAME",
    "localhost": "MINION",
    "nodename": "MINION",
    "serialnumber": "REDACTED",
}


def _sanitized(values: dict[str, Any]) -> dict[str, Any]:
    return {key: _ANONYMOUS.get(key, value) for key, value in values.items()}


def item(
    *args: str, default: Any = "", delimiter: str = ":", sanitize: bool = False
) -> dict[str, Any]:
    """Several grains at once. sanitize: without the machine's names."""
    values = {key: get(key, default, delimiter) for key in args}
    return _sanitized(values) if sanitize else values


def items(sanitize: bool = False) -> dict[str, Any]:
    """All grains. sanitize: without the machine's names."""
    return _sanitized(dict(here.grains)) if sanitize else dict(here.grains)


def ls() -> list[str]:
    """The names of all grains."""
    return sorted(here.grains)


def has_value(key: str) -> bool:
    """Return whether a grain is there, empty or not."""
    return get(key, MISSING) is not MISSING


def equals(key: str, value: Any) -> bool:
    """Return whether a grain has a value."""
    return str(value) == str(get(key))


def fetch(key: str, default: Any = "", delimiter: str = ":") -> Any:
    """Like get."""
    return get(key, default, delimiter)


def filter_by(
    lookup_dict: Mapping[str, Any],
    grain: str = "os_family",
    merge: Mapping[str, Any] | None = None,
    default: str = "default",
    base: str | None = None,
) -> Any:
    """The entry of a mapping that a grain selects (globs in the keys are matched).

    grain: the grain to look at. merge: laid over what was found. default: the key to use when none
    fits. base: the key of an entry that what was found is laid over. Raises RunnerError when
    `merge` is not a mapping.

        {% set nginx = salt['grains.filter_by']({'Debian': {'pkg': 'nginx'}},
        merge=pillar.get('nginx')) %}
    """
    return _filter_by.by_value(lookup_dict, get(grain, None), merge, default, base)


def setval(key: str, val: Any, destructive: bool = False) -> dict[str, Any]:
    """Write a static grain (the whole of it: no nested names). destructive: None removes it."""
    return setvals({key: val}, destructive)


def setvals(grains: Mapping[str, Any], destructive: bool = False) -> dict[str, Any]:
    """Write several static grains. destructive: those that are None are removed."""
    static.put({key: val for key, val in grains.items() if val is not None or not destructive})
    for key in [key for key, val in grains.items() if val is None and destructive]:
        static.drop(key)
    return dict(grains)


def set_(
    key: str, val: Any = "", force: bool = False, destructive: bool = False, delimiter: str = ":"
) -> Any:
    """Write a static grain, nested ones as a:b. force: lists and mappings may be replaced."""
    wanted = static.with_value(key, val, delimiter, force)
    return {"comment": "", "result": True, "changes": setvals(wanted, destructive)}


def append(key: str, val: Any, convert: bool = False, delimiter: str = ":") -> Any:
    """Add a value to a list of the static grains; the list is made when it is missing, or with
    convert.
    """
    present = get(key, [], delimiter)
    if not isinstance(present, list) and not convert:
        return f"The key {key} is not a valid list"
    values = present if isinstance(present, list) else [present]
    if val in values:
        return f"The val {val} was already in the list {key}"
    added = val if isinstance(val, list) else [val]
    return setvals(static.with_list(key, [*values, *added], delimiter))


def remove(key: str, val: Any, delimiter: str = ":") -> Any:
    """Take a value out of a list of the static grains."""
    present = get(key, [], delimiter)
    if not isinstance(present, list):
        return f"The key {key} is not a valid list"
    if val not in present:
        return f"The val {val} was not in the list {key}"
    return setvals(static.with_list(key, [each for each in present if each != val], delimiter))


def delval(key: str, destructive: bool = False) -> dict[str, Any]:
    """Empty a static grain; destructive: remove it."""
    return setval(key, None, destructive)


def delkey(key: str, force: bool = False) -> dict[str, Any]:
    """Remove a static grain. force: also a list or a mapping."""
    return set_(key, None, force, destructive=True)  # type: ignore[no-any-return]


__func_alias__ = {"set_": "set"}
