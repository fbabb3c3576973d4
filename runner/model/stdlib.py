# SPDX-License-Identifier: Apache-2.0
"""What every run needs of Python's library, without the modules that import more than it uses.

`functools`, `contextlib` and `collections` take as long as forty modules here, `re`, `threading`,
`signal`, `json` and `hashlib` longer still. Their parts that are written in C are here as they are,
and the few others in the lines that a run needs of them. A type checker sees Python's own.
"""

from __future__ import annotations

import sys
from _thread import _local as Local
from _thread import allocate_lock as Lock
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as signals
    from collections import defaultdict
    from collections.abc import Callable, Generator, Iterable, Mapping, Set
    from contextlib import ExitStack, contextmanager, nullcontext, suppress
    from contextvars import ContextVar
    from functools import cache, cached_property, lru_cache, partial, wraps
    from hashlib import blake2b
    from json import dumps
    from re import Pattern
    from re import compile as pattern
    from types import FunctionType, ModuleType
    from typing import Any, NoReturn
else:
    import _signal as signals  # its numbers are no members of an enum
    from _collections import defaultdict
    from _collections_abc import Callable, Generator, Iterable, Mapping, Set
    from _contextvars import ContextVar
    from _functools import _lru_cache_wrapper, partial

    FunctionType, ModuleType = type(lambda: None), type(sys)

    try:
        from _blake2 import blake2b
    except ImportError:  # a Python that was built otherwise
        from hashlib import blake2b

    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        from json import dumps
    else:

        def _refused(value: Any) -> NoReturn:
            raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

        _written = make_encoder(
            None, _refused, encode_basestring_ascii, None, ": ", ", ", False, False, True
        )

        def dumps(value: Any) -> str:
            return "".join(_written(value, 0))

    # ------------------------------------------------------------ functools

    def wraps(inner):
        """A decorator by which a function looks like the one that it calls."""

        def dressed(outer):
            for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
                if hasattr(inner, name):
                    setattr(outer, name, getattr(inner, name))
            outer.__dict__.update(inner.__dict__)
            outer.__wrapped__ = inner
            return outer

        return dressed

    def lru_cache(most):
        return lambda function: wraps(function)(
            _lru_cache_wrapper(function, most, False, lambda *counts: counts)
        )

    cache = lru_cache(None)

    class cached_property:
        """A property that is asked once: the object keeps the answer under its name."""

        def __init__(self, function):
            self.func, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self.func(instance)
            return value

    # ------------------------------------------------------------ contextlib

    class suppress:
        def __init__(self, *kinds):
            self._kinds = kinds

        def __enter__(self):
            return None

        def __exit__(self, kind, error, traceback):
            return kind is not None and issubclass(kind, self._kinds)

    class nullcontext:
        def __init__(self, given=None):
            self._given = given

        def __enter__(self):
            return self._given

        def __exit__(self, kind, error, traceback):
            return None

    class _Managed:
        """What surrounds a block: the code of a generator before and after its `yield`."""

        __slots__ = ("_generator",)

        def __init__(self, generator):
            self._generator = generator

        def __enter__(self):
            for given in self._generator:
                return given
            raise RuntimeError("the generator did not yield")

        def __exit__(self, kind, error, traceback):
            if error is None:
                for _ in self._generator:
                    raise RuntimeError("the generator yielded twice")
                return False
            try:
                self._generator.throw(error)
            except BaseException as raised:
                # Python makes another error of a StopIteration that leaves a generator
                if raised is error or (
                    isinstance(error, StopIteration) and raised.__cause__ is error
                ):
                    error.__traceback__ = traceback
                    return False
                if isinstance(raised, StopIteration):
                    return True
                raise
            raise RuntimeError("the generator yielded twice")

    def contextmanager(function):
        return wraps(function)(lambda *values, **named: _Managed(function(*values, **named)))

    class ExitStack:
        """Blocks that are left together, the last one first."""

        def __init__(self):
            self._leave = []

        def enter_context(self, manager):
            given = manager.__enter__()
            self._leave.append(manager.__exit__)
            return given

        def callback(self, function, *values, **named):
            def leave(*problem):
                function(*values, **named)

            self._leave.append(leave)

        def close(self):
            self.__exit__(None, None, None)

        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            raised = error
            while self._leave:
                try:
                    if self._leave.pop()(type(raised) if raised else None, raised, traceback):
                        raised = traceback = None
                except BaseException as another:
                    raised, traceback = another, another.__traceback__
            if raised is not None and raised is not error:
                raise raised
            return error is not None and raised is None

    # ------------------------------------------------------------ re

    class pattern:
        """A regular expression that is compiled when it is first used: compiling one takes as long
        as importing a module, and a run imports hundreds that it does not use.
        """

        def __init__(self, text: str, flags: int = 0) -> None:
            self._text, self._flags = text, flags

        def __getattr__(self, name: str) -> Any:
            import re

            compiled: Pattern[str] = re.compile(self._text, self._flags)
            for method in ("findall", "finditer", "fullmatch", "match", "search", "split", "sub"):
                setattr(self, method, getattr(compiled, method))  # asked without this, from now on
            return getattr(compiled, name)


def like(names: Iterable[str], glob: str) -> list[str]:
    """Those of some names that a glob matches, letters as they are."""
    import fnmatch

    return [name for name in names if fnmatch.fnmatchcase(name, glob)]


__all__ = [
    "Callable",
    "ContextVar",
    "ExitStack",
    "FunctionType",
    "Generator",
    "Iterable",
    "Local",
    "Lock",
    "Mapping",
    "ModuleType",
    "Set",
    "blake2b",
    "cache",
    "cached_property",
    "contextmanager",
    "defaultdict",
    "dumps",
    "get_ident",
    "in_main_thread",
    "like",
    "lru_cache",
    "nullcontext",
    "partial",
    "pattern",
    "sha256",
    "signals",
    "suppress",
    "wraps",
]

# ---------------------------------------------------------------- hashlib, which loads OpenSSL

SHORT = 4096  # bytes; what has more is hashed faster by OpenSSL


def sha256(data: bytes) -> str:
    """The SHA-256 of data, in hexadecimal digits."""
    if len(data) > SHORT:
        import hashlib

        return hashlib.sha256(data).hexdigest()
    return str(_sha256()(data).hexdigest())


@cache
def _sha256() -> Callable[[bytes], Any]:
    for name in ("_sha256", "_sha2", "hashlib"):  # until Python 3.11, from 3.12 on, any
        try:
            function: Callable[[bytes], Any] = __import__(name).sha256
        except (ImportError, AttributeError):
            continue
        return function
    raise ImportError("hashlib")


# ---------------------------------------------------------------- threading

_FIRST = get_ident()


def in_main_thread() -> bool:
    """Return whether this is the main thread, which alone gets signals."""
    threading = sys.modules.get("threading")
    return get_ident() == (threading.main_thread().ident if threading else _FIRST)
