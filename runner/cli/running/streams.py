# SPDX-License-Identifier: Apache-2.0
"""The standard streams, and who writes to them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress

from runner.cli.running import python_messages
from runner.model.errors import RunnerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


def with_streams() -> None:
    """Give a process without standard streams the null device; else files of ours would get their
    numbers.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                handle = os.open(os.devnull, os.O_RDWR)
            except OSError:  # there is none; what starts programs says so
                handle = os.memfd_create("nothing")
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


@contextmanager
def answer_alone(shared: bool = False) -> Iterator[None]:
    """Send what the code of a tree prints, and what its programs do, to stderr: stdout has the
    answer and no more.

    There is nothing for them to read: a run never waits for somebody to type. shared: they print to
    stdout, too.
    """
    ours = sys.stdout, sys.stderr
    with _turned(0, _nothing()):
        try:
            if shared:
                yield
            else:
                sys.stdout.flush()
                with _turned(1, os.dup(2)):
                    sys.stdout = sys.stderr
                    try:
                        yield
                    finally:
                        with suppress(OSError, ValueError):  # what was written to sys.__stdout__
                            ours[0].flush()
        finally:
            sys.stdout, sys.stderr = ours  # whatever that code made of them


def _nothing() -> int:
    """A file without contents. Raises RunnerError where there is no /dev/null: nothing that is
    started would work.
    """
    try:
        return os.open(os.devnull, os.O_RDONLY)
    except OSError as error:
        hint = "mknod -m 666 /dev/null c 1 3; in a container or a chroot mount /dev"
        raise RunnerError(f"{os.devnull} cannot be opened: {error.strerror}", hint=hint) from None


@contextmanager
def _turned(number: int, handle: int) -> Iterator[None]:
    """Let a standard stream be another file; that one is closed."""
    try:
        before = os.dup(number)
    except OSError:  # there is no such stream
        os.close(handle)
        yield
        return
    try:
        os.dup2(handle, number)
        os.close(handle)
        yield
    finally:
        os.dup2(before, number)
        os.close(before)


# ---------------------------------------------------------------- what Python itself prints

# what is changed in modules of Python
_CHANGES: dict[str, Callable[[Any], None]] = {
    "logging": lambda module: python_messages.mask_logging(module),
    "threading": lambda module: python_messages.mask_threading(module),
    "warnings": lambda module: python_messages.mask_warnings(module),
}


def mask_python_messages() -> None:
    """Hide secrets in what Python prints. Modules are changed when somebody imports them."""
    sys.unraisablehook = lambda failure: python_messages.ignored(failure)
    waiting = {*_CHANGES}
    for name in waiting & sys.modules.keys():
        waiting.remove(name)
        _CHANGES[name](sys.modules[name])
    if waiting and not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(waiting))


class _Finder:
    """Finds modules of Python, to change them before anybody has them."""

    def __init__(self, waiting: set[str]) -> None:
        self._waiting = waiting

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name not in self._waiting:
            return None
        self._waiting.remove(name)
        others = [finder for finder in sys.meta_path if finder is not self]
        if not self._waiting:
            sys.meta_path.remove(self)
        found = (finder.find_spec(name, None) for finder in others)
        spec = next(spec for spec in found if spec is not None)  # it is a part of Python
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _CHANGES[name](module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
