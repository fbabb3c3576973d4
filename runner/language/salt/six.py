# SPDX-License-Identifier: Apache-2.0
"""`salt.ext.six`, which Salt had until 3006 and many trees still import: both Pythons in one."""

from __future__ import annotations

import functools
import importlib
import io
import itertools
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

PY2, PY3 = False, True
string_types: tuple[type, ...] = (str,)
integer_types: tuple[type, ...] = (int,)
class_types: tuple[type, ...] = (type,)
text_type, binary_type = str, bytes
MAXSIZE = sys.maxsize

_MOVED = {  # below six.moves -> the module of today
    "configparser": "configparser",
    "http_client": "http.client",
    "queue": "queue",
    "cPickle": "pickle",
    "builtins": "builtins",
    "http_cookies": "http.cookies",
    "http_cookiejar": "http.cookiejar",
    "socketserver": "socketserver",
    "urllib": "urllib",
    "urllib.parse": "urllib.parse",
    "urllib.request": "urllib.request",
    "urllib.error": "urllib.error",
    "email_mime_text": "email.mime.text",
}


def iteritems(d: Mapping[Any, Any], **kw: Any) -> Iterator[tuple[Any, Any]]:
    """The items of a mapping."""
    return iter(d.items(**kw))


def iterkeys(d: Mapping[Any, Any], **kw: Any) -> Iterator[Any]:
    """The keys of a mapping."""
    return iter(d.keys(**kw))


def itervalues(d: Mapping[Any, Any], **kw: Any) -> Iterator[Any]:
    """The values of a mapping."""
    return iter(d.values(**kw))


def u(s: str) -> str:
    """A text."""
    return s


def b(s: str) -> bytes:
    """The bytes of a text."""
    return s.encode("latin-1")


def ensure_str(s: Any, encoding: str = "utf-8", errors: str = "strict") -> str:
    """A text of a text or bytes."""
    return s.decode(encoding, errors) if isinstance(s, bytes) else str(s)


ensure_text = ensure_str


def ensure_binary(s: Any, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """Bytes of a text or bytes."""
    return s if isinstance(s, bytes) else str(s).encode(encoding, errors)


def reraise(tp: Any, value: Any, tb: Any = None) -> None:
    """Raise an exception again."""
    raise (tp() if value is None else value).with_traceback(tb)


def with_metaclass(meta: Any, *bases: type) -> Any:
    """A class of a metaclass, to inherit from."""
    return meta("temporary_class", bases or (object,), {})


def add_metaclass(metaclass: Any) -> Callable[[type], Any]:
    """The class, made by a metaclass."""

    def wrap(cls: type) -> Any:
        body = {
            key: value for key, value in vars(cls).items() if key not in ("__dict__", "__weakref__")
        }
        return metaclass(cls.__name__, cls.__bases__, body)

    return wrap


def python_2_unicode_compatible(cls: type) -> type:
    """The class as it is."""
    return cls


def moved(name: str) -> ModuleType | None:
    """The module of today for one below `six.moves`; None for one that there is not."""
    return importlib.import_module(_MOVED[name]) if name in _MOVED else None


def _moves() -> ModuleType:
    module = ModuleType("salt.ext.six.moves", "What has another name in Python 3.")
    module.__path__ = []
    module.__dict__.update(
        range=range,
        xrange=range,
        zip=zip,
        map=map,
        filter=filter,
        input=input,
        reduce=functools.reduce,
        intern=sys.intern,
        shlex_quote=shlex.quote,
        StringIO=io.StringIO,
        cStringIO=io.StringIO,
        reload_module=importlib.reload,
        zip_longest=itertools.zip_longest,
        filterfalse=itertools.filterfalse,
        __getattr__=_of_moves,
    )
    return module


def _of_moves(name: str) -> Any:
    module = moved(name)
    if module is None:
        raise AttributeError(f"module 'salt.ext.six.moves' has no attribute {name!r}")
    return module


moves = _moves()
