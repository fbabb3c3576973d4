# SPDX-License-Identifier: Apache-2.0
"""Remote files, kept below the cache folder."""

from __future__ import annotations

import base64
import hashlib
import http.client

# os in this file: the cache
import os
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from typing import IO, Any

from modules._machine import fetching
from modules._texts.url import ascii_url, failure_of
from modules.file._contents import limits
from modules.file._contents.hash import get_hash
from modules.file._paths.place import beside_name
from runner.api import Unforeseen, fetcher, here, refuse_unforeseen
from runner.api.durability import name_all_files

PIECE = 1 << 20  # bytes; the space that is left is looked at after each
PATIENCE = 60.0  # seconds for an answer


@fetcher
def download(
    url: str,
    *,
    known: tuple[str, str] | None = None,
    use_etag: bool = False,
    verify_ssl: bool = True,
    keep: bool = True,
) -> tuple[str, str]:
    """The local copy of a remote file, and what went wrong ("" when nothing did).

    known: algorithm and digits; a copy that has them is not fetched again. use_etag: ask whether
    the kept copy is still the newest. keep: without it the copy goes when the state ends.
    """
    path = _place(url)
    if not keep and os.path.exists(path):
        os.unlink(path)
    path = path if keep else os.path.join(here.scratch(), "download")
    if known and os.path.isfile(path) and get_hash(path, known[0]) == known[1]:
        return path, ""
    if fetching.is_foreseen() and not fetching.settings()["downloads"]:
        raise Unforeseen(_unknown(url, "`foresee: {downloads: true}` has it fetched"))
    name_all_files()  # it may take long
    problem = _problem(url, path, use_etag, verify_ssl)
    return "" if problem else path, problem


def _problem(url: str, path: str, use_etag: bool, verify_ssl: bool) -> str:
    """Fetch a file; what went wrong, "" when nothing did."""
    allowance = fetching.Allowance()
    try:
        try:
            _fetch(url, path, use_etag, verify_ssl, allowance)
            return ""
        except (OSError, ValueError, http.client.HTTPException) as problem:
            allowance.seconds()  # an answer that is not there in time
            reason = _reason(problem, url)
    except fetching.NotFetched as refused:
        raise Unforeseen(_unknown(url, refused.message)) from None
    finally:
        allowance.count_time()
    fetching.refuse_unreachable(f"what {redacted(url)} has", reason)
    return reason


def _unknown(url: str, reason: str) -> str:
    """What an undecided state says."""
    return f"what {redacted(url)} has is not known: {reason}"


def redacted(url: str) -> str:
    """An address to show: without the user and the password that it may have in it."""
    return re.sub(r"(?<=://)[^/?#]*@", "<redacted>@", url)


def _login(url: str) -> tuple[str, str]:
    """An address without its `user:password@`, and these decoded."""
    scheme, _, rest = url.partition("://")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    login, at, _ = host.rpartition("@")
    return (
        (f"{scheme}://{rest[len(login) + 1 :]}", urllib.parse.unquote(login))
        if at and scheme != "ftp"
        else (url, "")
    )


def cached_path(url: str, saltenv: str | None = None) -> str:
    """The path where the cached copy of a remote file is, or would be: below the cache folder, in a
    folder of its address.

    No URL leaves the cache, and none has the file of another one in the way (`x` and `x/b`, `x` and
    `x?q=1`).
    """
    scheme, _, rest = url.partition("://")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    login = host.rpartition("@")[0]
    address = f"{scheme}://{rest[len(login) :].removeprefix('@')}"
    parts = [
        part
        for part in re.split(r"[/?#]+", address.partition("://")[2])
        if part not in ("", ".", "..")
    ]
    whole = f"{login.partition(':')[0]} {address}".encode(errors="surrogateescape")
    own = hashlib.sha256(whole).hexdigest()[:16]
    env, host, last = map(_as_name, (saltenv or here.saltenv, parts[0], parts[-1]))
    folder = os.path.join(here.cache_dir, "extrn_files", env, host, own)
    return os.path.join(folder, last if len(parts) > 1 else f"{host}.index")


def _as_name(text: str) -> str:
    """A text as the name of a file, which holds not every text: the end of a long one."""
    name = text.replace("/", "_").replace("\0", "_").encode(errors="surrogateescape")[-200:]
    return "_" if name in (b".", b"..") else name.decode(errors="surrogateescape")


@fetcher
def keep_download(path: str, place: str) -> None:
    """Make a file that was fetched for one state the kept copy."""
    refuse_unforeseen(place)
    _folder_of(place)
    os.replace(path, place)


def _place(url: str) -> str:
    path = cached_path(url)
    _folder_of(path)
    return path


def _folder_of(path: str) -> None:
    """Make the folder of a kept copy, which nobody else may write; a copy that is not ours goes."""
    below = os.path.relpath(os.path.dirname(path), here.cache_folder().path)
    folder = here.cache_folder(*below.split("/"))
    for cached in (path, f"{path}.etag"):
        try:
            os.close(folder.open(os.path.basename(cached), os.O_RDONLY))
        except FileNotFoundError:
            continue
        except OSError:  # another user's, or no file: from a time when others could write here
            with suppress(IsADirectoryError):
                os.unlink(cached)


def _fetch(
    url: str, path: str, use_etag: bool, verify_ssl: bool, allowance: fetching.Allowance
) -> None:
    """Raises NotFetched beside what goes wrong."""
    mark = f"{path}.etag"
    headers = {"User-Agent": "runner"}
    if use_etag and os.path.isfile(path) and os.path.isfile(mark):
        with open(mark, encoding="utf-8") as etag_file:
            headers["If-None-Match"] = etag_file.read()
    address, login = _login(url)
    request = urllib.request.Request(ascii_url(address), headers=headers)
    if login:  # not for where the server may send us on to
        request.add_unredirected_header(
            "Authorization", "Basic " + base64.b64encode(login.encode()).decode()
        )
    beside = beside_name(path)
    try:
        timeout, context = min(PATIENCE, allowance.seconds()), context_of(verify_ssl)
        with urllib.request.urlopen(request, timeout=timeout, context=context) as answer:
            with open(beside, "wb") as file:
                _save(answer, file, os.path.dirname(path), allowance)
            etag = answer.headers.get("ETag") if answer.headers else None
        os.replace(beside, path)
    except urllib.error.HTTPError as problem:
        if problem.code != 304:
            raise
        problem.close()
        return
    finally:
        if os.path.exists(beside):
            os.unlink(beside)
    if etag:
        with open(mark, "w", encoding="utf-8") as etag_file:
            etag_file.write(etag)


class _Stopped(OSError):
    """The answer is not taken."""


def _save(answer: Any, file: IO[bytes], folder: str, allowance: fetching.Allowance) -> None:
    """Write an answer into a file below a folder. Raises _Stopped for one that is not whole, and
    before the file system is full, NotFetched where that is more than is allowed.
    """
    size = _announced_size(answer)
    room = limits.free(folder)
    if size is not None and room is not None and size > room:
        raise _Stopped(f"it has {size} bytes, and {room} are free below {folder}")
    allowance.take(size or 0)
    taken = 0
    while piece := answer.read1(PIECE):  # what has come: the time is looked at, too
        allowance.seconds()
        taken += len(piece)
        allowance.take(0 if size else len(piece))
        if size is None and taken > PIECE:
            left = limits.free_but_reserve(folder)
            if left is not None and len(piece) > left:
                raise _Stopped(
                    f"stopped after {taken >> 20} MiB, as the file system of {folder} is nearly"
                    " full; its server does not say how large it is"
                )
        file.write(piece)
    if size is not None and taken < size:
        raise _Stopped(f"its server ended it after {taken} of {size} bytes")


def _announced_size(answer: Any) -> int | None:
    """Return how many bytes the server says that it sends; None where it does not say."""
    text = str(answer.headers.get("Content-Length") or "").strip() if answer.headers else ""
    is_chunked = bool(answer.headers and answer.headers.get("Transfer-Encoding"))
    return int(text) if text.isascii() and text.isdigit() and not is_chunked else None


def context_of(verify_ssl: bool) -> ssl.SSLContext | None:
    if verify_ssl:
        return None
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


_CIRCLE = "its redirections lead in a circle, or on and on,"
_TRUST = "add who signed it to the certificates of the system, or say `verify_ssl: False`"


def _reason(problem: Exception, url: str) -> str:
    kind, _, rest = re.split(r"[?#]", url, maxsplit=1)[0].partition("://")
    host, _, path = rest.partition("/")
    address = f"{kind}://{host.rpartition('@')[2]}/{path}"  # without a password
    if isinstance(problem, urllib.error.HTTPError):
        problem.close()
        reason = _CIRCLE if "infinite loop" in str(problem.reason) else problem.reason
        return f"Error: HTTP {problem.code}: {reason} reading {address}"
    if isinstance(problem, _Stopped):
        return f"Error: reading {address}: {problem}"
    return f"Error: reading {address}: {failure_of(problem, PATIENCE, _TRUST)}"
