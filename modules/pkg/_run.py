# SPDX-License-Identifier: Apache-2.0
"""Running a package manager: another program's lock is waited for, errors stand in a list."""

from __future__ import annotations

import logging
import signal
import time
from contextlib import contextmanager
from contextvars import ContextVar

from modules import cmd
from modules._machine.fetching import TOO_LONG, NotFetched
from modules._machine.surroundings import parse_variables
from runner.api import CommandFailed, for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

LOCK_SECONDS = 300.0  # how long another package manager is waited for
_variables: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("variables", default=())


@for_states
@contextmanager
def environment(variables: Any) -> Iterator[None]:
    """Run the package manager with further variables, a mapping or a list of them."""
    token = _variables.set(tuple(parse_variables(variables).items()))
    try:
        yield
    finally:
        _variables.reset(token)


def run_unlocked(
    argv: Sequence[str],
    lock_problem: Callable[[cmd.Completed], str],
    env: Mapping[str, str] | None = None,
    patience: Callable[[], float] = lambda: LOCK_SECONDS,
    setting: str = "",
) -> cmd.Completed:
    """Run a program again and again until no other one has its lock.

    lock_problem: returns who has the lock when that is why the program failed, else nothing.
    patience: returns the seconds to wait at most. setting: where an owner sets them. Raises
    CommandFailed when it takes longer.
    """
    until = 0.0
    while True:
        done = cmd.probe(argv, env={**(env or {}), **dict(_variables.get())})
        if done.retcode < 0:
            raise CommandFailed(error_list(_killed(argv[0], -done.retcode)))
        problem = lock_problem(done) if done.retcode else ""
        if not problem:
            return done
        if not until:
            logging.getLogger("runner.pkg").warning(
                "waiting for another package manager: %s", problem
            )
            seconds = patience()
            until = time.monotonic() + seconds
        if time.monotonic() > until:
            source = f"; {setting} says how long" if setting else ""
            raise CommandFailed(
                error_list(
                    f"{problem} (waited {seconds:g} seconds{source}). Let that program end, or end"
                    " it, and run this again."
                )
            )
        time.sleep(1)


def _killed(program: str, number: int) -> str:
    """Return what became of a program that a signal ended."""
    name = signal.Signals(number).name if number in {*signal.Signals} else ""
    why = " (the kernel does so where memory runs out: see `dmesg`)" * (name == "SIGKILL")
    return (
        f"{program} was ended by signal {f'{number} {name}'.strip()} before it was done{why}; what"
        " it had begun may be done in part"
    )


def fetch(
    argv: Sequence[str],
    seconds: float,
    errors: Callable[[cmd.Completed], str],
    env: Mapping[str, str] | None = None,
) -> None:
    """Have archives in a package manager's cache by its own program. errors: what that says of a
    failure. Raises CommandFailed, NotFetched where it takes longer than a dry run may.
    """
    done = cmd.probe(argv, env=env, timeout=seconds)
    if done.timed_out:
        raise NotFetched(TOO_LONG)
    if done.retcode:
        raise CommandFailed(errors(done))


def error_list(*lines: str) -> str:
    """Return errors as results show them."""
    return "errors:" + "".join(f"\n    - {line}" for line in lines if line)
