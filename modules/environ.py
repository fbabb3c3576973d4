# SPDX-License-Identifier: Apache-2.0
"""Variables of the environment that runner was started in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from modules._machine.surroundings import inherited
from modules._planned.overlay import planned_machine
from runner.api import CommandFailed, changer
from runner.api.planning import only_files


def get(key: str, default: str = "") -> str | bool:
    """The value of a variable; False for what cannot be a variable's name.

    {{ salt['environ.get']('HOME') }}
    """
    return inherited().get(key, default) if isinstance(key, str) else False


def has_value(key: str, value: str | None = None) -> bool:
    """Return whether a variable is set, to this value."""
    present = inherited().get(key) if isinstance(key, str) else None
    return present is not None and (value is None or present == value)


def item(keys: str | list[str], default: str = "") -> dict[str, str]:
    """Some variables with their values."""
    return {
        key: inherited().get(key, default) for key in ([keys] if isinstance(keys, str) else keys)
    }


def items() -> dict[str, str]:
    """All variables."""
    return inherited()


def refuse_variables(variables: Mapping[str, object]) -> None:
    """Raise CommandFailed for what cannot be a variable's name, or its value."""
    for name, value in variables.items():
        if not name or "=" in name or "\0" in name:
            raise CommandFailed(
                f"{name!r} cannot be the name of a variable: it is empty, or has an equals sign or"
                " a NUL character in it"
            )
        if "\0" in str(value):
            raise CommandFailed(f"{name}: a value cannot have a NUL character in it")


@only_files
def _setenv_planned(
    environ: Mapping[str, Any], false_unsets: bool = False, clear_all: bool = False
) -> dict[str, Any]:
    done = _assigned(environ, false_unsets, clear_all)
    planned_machine().environment.update(done)
    return done


@changer(touches=[], planned=_setenv_planned)
def setenv(
    environ: Mapping[str, Any], false_unsets: bool = False, clear_all: bool = False
) -> dict[str, Any]:
    """Set variables for what this run starts from now on. false_unsets: None and False remove;
    clear_all: all others.

    Answers with what was set. Raises CommandFailed for what cannot be the name of a variable.
    """
    done = _assigned(environ, false_unsets, clear_all)
    for key, value in done.items():
        if value is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = value
    return done


def _assigned(
    environ: Mapping[str, Any], false_unsets: bool, clear_all: bool
) -> dict[str, str | None]:
    """The variables to be set, with their values; None for those to be removed."""
    refuse_variables({str(name): value for name, value in environ.items()})
    cleared = dict.fromkeys(set(inherited()) - set(environ), False) if clear_all else {}
    unset = None if false_unsets else ""
    return {
        key: unset if value in (None, False) else str(value)
        for key, value in {**cleared, **environ}.items()
    }


def setval(key: str, val: Any, false_unsets: bool = False, permanent: bool = False) -> Any:
    """Set one variable for what this run starts from now on. Raises CommandFailed for what cannot
    be its name.
    """
    return setenv({key: val}, false_unsets)[key]
