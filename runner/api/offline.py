# SPDX-License-Identifier: Apache-2.0
"""Systems that do not run: a chroot, the build of a container, the root of another machine.

What is kept is changed there as ever; nothing runs there, and the kernel is somebody else's. What a
function does instead is declared beside it (`offline_as`), and a changer of what runs
(`of_running`) refuses there, whoever calls it.
"""

from __future__ import annotations

import functools

from runner.api import Done, Planned, StateFailed, here
from runner.model.result import AT_BOOT
from runner.support.own_modules import known_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

DESCRIBED = "__described__"  # the option with the names of grains that describe another machine


def is_offline() -> bool:
    """Return whether the system that is changed does not run: the setting `offline`, else the grain
    `booted`.
    """
    try:
        setting = here.opts.get("offline", "auto")
        described = here.opts.get(DESCRIBED)
    except LookupError:  # outside of a run
        return False
    if setting != "auto":
        return bool(setting)
    if described and "booted" not in described:  # by the grains of another machine
        return False
    return not here.grains.get("booted", True)


def offline_as(stand_in: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare what is called instead of a function, state function or look, on a system that does
    not run. stand_in: called with the same arguments.

    >>> @offline_as(lambda name: False)  # nothing runs there
    ... def status(name: str) -> bool: ...
    """

    def wrap(inner: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(inner)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_offline():
                return inner(*args, **kwargs)
            answer: R = stand_in(*args, **kwargs)
            return answer

        call.__dict__["rests"] = is_offline
        return call

    return wrap


def of_running(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a changer of what runs (the kernel, processes): on a system that does not run it
    refuses, whoever calls it, since that is somebody else's.
    """

    def refuse(*_: object, **__: object) -> object:
        name = f"{known_as(function.__module__)}.{function.__name__}"
        raise StateFailed(
            f"{name} alters what runs, and this system does not run (grain `booted`, setting"
            " `offline`)"
        )

    return offline_as(refuse)(function)


def at_boot(tell: Callable[..., str]) -> Callable[[Callable[P, Planned]], Callable[P, Planned]]:
    """Declare what a state function leaves to the boot of a system that does not run: a sentence of
    its result. tell: called with the same arguments once it has looked; empty for nothing.

    >>> @at_boot(lambda name, persist: f"{name} is loaded at boot" if persist else "")
    ... def present(name: str, persist: bool = False) -> Planned: ...
    """

    def wrap(inner: Callable[P, Planned]) -> Callable[P, Planned]:
        @functools.wraps(inner)
        def call(*args: P.args, **kwargs: P.kwargs) -> Planned:
            state = inner(*args, **kwargs)
            return _told(state, lambda: tell(*args, **kwargs)) if is_offline() else state

        return call

    return wrap


def _told(state: Planned | str | Done, tell: Callable[[], str]) -> Planned:
    try:
        if isinstance(state, str | Done):
            raise StopIteration(state)
        plan = next(state)
    except StopIteration as end:
        done = Done(end.value) if isinstance(end.value, str) else end.value
        return done._replace(extra={**done.extra, **_key(tell())})
    yield plan._replace(extra={**plan.extra, **_key(tell())})
    return (yield from state)


def _key(said: str) -> dict[str, str]:
    return {AT_BOOT: said} if said else {}


def offline_with(**values: object) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare which values arguments have on a system that does not run, whatever is given.

    >>> @offline_with(mount_=False)
    ... def fstab_present(name: str, fs_file: str, mount_: bool = True) -> Planned: ...
    """

    def wrap(inner: Callable[P, R]) -> Callable[P, R]:
        return offline_as(lambda *args, **kwargs: inner(*args, **{**kwargs, **values}))(inner)

    return wrap
