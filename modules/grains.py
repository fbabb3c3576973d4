"""The grains, as templates and states ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules import _filter_by
from modules._data import MISSING, traverse
from runner.api import here


def get(key: str, default: Any = "", delimiter: str = ":", ordered: bool = True) -> Any:
    """The value of a grain, nested ones as `a:b`.

    {{ salt['grains.get']('ip4_interfaces:eth0', []) }}
    """
    first = key.split(delimiter)[0]
    if key in here.grains:
        return here.grains[key]
    data = {first: here.grains[first]} if first in here.grains else {}
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


def _sanitized(found: dict[str, Any]) -> dict[str, Any]:
    return {key: _ANONYMOUS.get(key, value) for key, value in found.items()}


def item(*args: str, default: Any = "", delimiter: str = ":", sanitize: bool = False) -> dict[str, Any]:
    """Several grains at once. sanitize: without the machine's names."""
    found = {key: get(key, default, delimiter) for key in args}
    return _sanitized(found) if sanitize else found


def items(sanitize: bool = False) -> dict[str, Any]:
    """All grains. sanitize: without the machine's names."""
    return _sanitized(dict(here.grains)) if sanitize else dict(here.grains)


def ls() -> list[str]:
    """The names of all grains."""
    return sorted(here.grains)


def has_value(key: str) -> bool:
    """Whether a grain is there, empty or not."""
    return get(key, MISSING) is not MISSING


def equals(key: str, value: Any) -> bool:
    """Whether a grain has a value."""
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

    grain: the grain to look at. merge: laid over what was found. default: the key to use when none fits.
    base: the key of an entry that what was found is laid over. Raises RunnerError when `merge` is no mapping.

        {% set nginx = salt['grains.filter_by']({'Debian': {'pkg': 'nginx'}}, merge=pillar.get('nginx')) %}
    """
    return _filter_by.by_value(lookup_dict, get(grain, None), merge, default, base)
