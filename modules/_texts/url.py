# SPDX-License-Identifier: Apache-2.0
"""Addresses as a request can send them."""

from __future__ import annotations

import posixpath
import urllib.parse
from contextlib import suppress

SENT_AS_WRITTEN = "!#$%&'()*+,/:;=?@[]~"  # what already is escaped stays so


def local_path(url: str, *schemes: str) -> str:
    """The path on this machine that an address with one of some schemes means; else nothing.

    >>> local_path("file:///srv/a%20b/", "file")
    '/srv/a b'
    """
    parts = urllib.parse.urlsplit(url)
    is_local = parts.scheme in schemes and not parts.query
    return posixpath.normpath(urllib.parse.unquote(parts.path)) if is_local else ""


def ascii_url(url: str) -> str:
    """An address with its host in the form of the DNS, and what is no ASCII escaped.

    >>> ascii_url("http://bücher.example:80/ä b?x=ö%20")
    'http://xn--bcher-kva.example:80/%C3%A4%20b?x=%C3%B6%20'
    """
    if url.isascii() and " " not in url:
        return url
    parts = urllib.parse.urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    with suppress(UnicodeError):  # no host has such a name: asking for its address says so
        host = host.encode("idna").decode()
    netloc = urllib.parse.quote(login, SENT_AS_WRITTEN) + at + host
    rest = (
        urllib.parse.quote(part, SENT_AS_WRITTEN)
        for part in (parts.path, parts.query, parts.fragment)
    )
    return urllib.parse.urlunsplit((parts.scheme, netloc, *rest))


def failure_of(problem: BaseException, seconds: float, trust: str) -> str:
    """Why a server gave no answer, without the words of a library. seconds: how long it was waited
    for; trust: how to have a certificate trusted.
    """
    reason = getattr(problem, "reason", None) or problem
    if isinstance(reason, TimeoutError):
        return f"it does not answer in {seconds:g} s"
    if verification := getattr(reason, "verify_message", None):
        return f"its certificate is not trusted: {verification}; {trust}"
    return str(getattr(reason, "strerror", None) or reason or type(problem).__name__)
