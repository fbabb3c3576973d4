# SPDX-License-Identifier: Apache-2.0
"""salt.utils.url: addresses of files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit, urlunsplit

_ROOT = "salt://"
_ENV = "?saltenv="


def parse(url: str) -> tuple[str, str | None]:
    """The path and the environment of a `salt://` address; any other one as it is."""
    if not url.startswith(_ROOT):
        return url, None
    path, _, saltenv = unescape(url).removeprefix(_ROOT).partition(_ENV)
    return path, saltenv or None


def create(path: str, saltenv: str | None = None) -> str:
    """The `salt://` address of a path."""
    return f"{_ROOT}{path}{f'{_ENV}{saltenv}' if saltenv else ''}"


def is_escaped(url: str) -> bool:
    """Return whether a path begins with `|`, so that nothing in it is taken for a glob."""
    return urlsplit(url).path.startswith("|") or url.removeprefix(_ROOT).startswith("|")


def escape(url: str) -> str:
    """An address with `|` before its path."""
    if is_escaped(url):
        return url
    return f"{_ROOT}|{url.removeprefix(_ROOT)}" if url.startswith(_ROOT) else f"|{url}"


def unescape(url: str) -> str:
    """An address without `|` before its path."""
    if url.startswith(_ROOT):
        return _ROOT + url.removeprefix(_ROOT).removeprefix("|")
    return url.removeprefix("|")


def add_env(url: str, saltenv: str) -> str:
    """A `salt://` address with an environment; any other one as it is."""
    return create(parse(url)[0], saltenv) if url.startswith(_ROOT) else url


def split_env(url: str) -> tuple[str, str | None]:
    """A `salt://` address without its environment, and that; any other one as it is."""
    if not url.startswith(_ROOT):
        return url, None
    path, saltenv = parse(url)
    return create(path), saltenv


def validate(url: str, protos: Iterable[str]) -> bool:
    """Return whether an address is of one of some protocols."""
    return urlsplit(url).scheme in tuple(protos)


def strip_proto(url: str) -> str:
    """An address without its protocol."""
    return re.sub("^[^:/]+://", "", url)


def add_http_basic_auth(
    url: str, user: str | None = None, password: str | None = None, https_only: bool = False
) -> str:
    """An http address with a login. Raises ValueError for another one, and with `https_only` for a
    login that would not be encrypted.
    """
    if user is None and password is None:
        return url
    parts = urlsplit(url)
    if https_only and parts.scheme != "https":
        raise ValueError("Basic Auth only supported for HTTPS")
    if parts.scheme not in ("http", "https"):
        raise ValueError("Basic Auth only supported for HTTP and HTTPS")
    login = quote(user or "", safe="") + (f":{quote(password, safe='')}" if password else "")
    return urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc}"))


def redact_http_basic_auth(output: str) -> str:
    """A text whose http addresses show no login."""
    return re.sub(r"(https?://)[^/\s@]+(?=@)", r"\1<redacted>", output)
