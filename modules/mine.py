"""The mine of a machine without a master: it knows this machine's own data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.api import RunnerError, here


def _functions() -> dict[str, Any]:
    configured = here.opts.get("mine_functions") or {}
    from_pillar = here.pillar.get("mine_functions") or {}
    return {**dict(configured), **dict(from_pillar)}


def get(tgt: Any, fun: Any, tgt_type: str = "glob", exclude_minion: bool = False) -> dict[str, Any]:
    """The data of the machines that a target means: of this one, when it is among them.

    {{ salt['mine.get']('*', 'network.ip_addrs') }}
    """
    kind = {"pcre": "pcre", "grain": "grain", "list": "list", "compound": "compound"}.get(tgt_type, tgt_type)
    if exclude_minion or not here.match(",".join(tgt) if isinstance(tgt, list) else tgt, kind):
        return {}
    names = [each.strip() for each in fun.split(",")] if isinstance(fun, str) else list(fun)
    own = str(here.opts.get("id", "local"))
    found = {name: _value(name) for name in names}
    known = {name: value for name, value in found.items() if value is not _UNKNOWN}
    if len(names) == 1:
        return {own: known[names[0]]} if known else {}
    return {name: {own: value} for name, value in known.items()}


_UNKNOWN: Any = object()


def _value(name: str) -> Any:
    functions = _functions()
    said = functions.get(name)
    if name not in functions and not here.has(name):
        return _UNKNOWN
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    real = name
    entries = [said] if isinstance(said, Mapping) else said if isinstance(said, list) else []
    for entry in entries:
        if isinstance(entry, Mapping):
            kwargs.update(entry)
        else:
            args.append(entry)
    real = str(kwargs.pop("mine_function", real))
    kwargs = {key: value for key, value in kwargs.items() if not key.startswith("allow_tgt")}
    try:
        return here.call(real, *args, **kwargs)
    except RunnerError:
        return _UNKNOWN


def update(clear: bool = False, mine_functions: Any = None) -> bool:
    """Nothing has to be sent anywhere."""
    return True


def send(name: str, *args: Any, **kwargs: Any) -> bool:
    """Nothing has to be sent anywhere."""
    return True


def valid() -> dict[str, Any]:
    """The functions of the mine."""
    return _functions()
