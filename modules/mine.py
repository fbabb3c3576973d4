# SPDX-License-Identifier: Apache-2.0
"""The mine of a machine without a master: it knows this machine's own data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules import config
from runner.api import RunnerError, StateFailed, here

_UNKNOWN: Any = object()


def _functions() -> dict[str, tuple[str, list[Any], dict[str, Any]]]:
    """The names in the mine, each with its function and arguments: of the configuration, the pillar
    and mine.send.
    """
    configured = config.merge("mine_functions", {})
    configured = (
        {name: [] for name in configured}
        if isinstance(configured, list)
        else dict(configured or {})
    )
    return {
        name: _call(name, value) for name, value in {**configured, **here.store("mine")}.items()
    }


def _call(name: str, definition: Any) -> tuple[str, list[Any], dict[str, Any]]:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for entry in (
        [definition]
        if isinstance(definition, Mapping)
        else definition
        if isinstance(definition, list)
        else []
    ):
        if isinstance(entry, Mapping):
            kwargs.update(entry)
        else:
            args.append(entry)
    function = str(kwargs.pop("mine_function", name))
    return (
        function,
        args,
        {key: value for key, value in kwargs.items() if not key.startswith("allow_tgt")},
    )


def get(
    tgt: Any, fun: str | list[str], tgt_type: str = "glob", exclude_minion: bool = False
) -> dict[str, Any]:
    """The data of the machines that a target means: of this one, when it is among them.

    fun: a name of `mine_functions`, or several (a list, or with commas: then by name and machine).
    exclude_minion: without this machine.

        {% for machine, addresses in salt['mine.get']('*', 'network.ip_addrs').items() %}
    """
    target = ",".join(tgt) if isinstance(tgt, list) else tgt
    if not here.match(target, tgt_type) or exclude_minion:
        return {}
    names = [text.strip() for text in fun.split(",")] if isinstance(fun, str) else list(fun)
    functions = _functions()
    known = {
        name: value for name in names if (value := _value(functions.get(name))) is not _UNKNOWN
    }
    own = str(here.opts.get("id", "local"))
    if len(names) == 1:
        return {own: known[names[0]]} if known else {}
    return {name: {own: value} for name, value in known.items()}


def _value(function: tuple[str, list[Any], dict[str, Any]] | None) -> Any:
    if function is None:
        return _UNKNOWN
    name, args, kwargs = function
    try:
        return here.call(name, *args, **kwargs)
    except (RunnerError, StateFailed):  # as Salt, which leaves out what fails
        return _UNKNOWN


def update(clear: bool = False, mine_functions: Mapping[str, Any] | None = None) -> bool:
    """Nothing has to be sent anywhere; `mine_functions` are in the mine until the run ends."""
    if clear:
        here.store("mine").clear()
    here.store("mine").update(mine_functions or {})
    return True


def send(name: str, *args: Any, **kwargs: Any) -> bool:
    """Put a function into the mine until the run ends. mine_function: what `name` is another word
    for.
    """
    here.store("mine")[name] = [*args, kwargs]
    return True


def delete(fun: str) -> bool:
    """Take out what mine.send put in."""
    here.store("mine").pop(fun, None)
    return True


def flush() -> bool:
    """Take out all that mine.send put in."""
    here.store("mine").clear()
    return True


def valid() -> dict[str, Any]:
    """The functions of the mine."""
    functions: dict[str, Any] = {}
    for name, (function, args, kwargs) in _functions().items():
        arguments = [*args, *([kwargs] if kwargs else ())]
        functions[name] = arguments if function == name else {function: arguments}
    return functions
