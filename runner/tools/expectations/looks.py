# SPDX-License-Identifier: Apache-2.0
"""Looks at this machine: for each kind, what is there beside what is expected."""

from __future__ import annotations

import fnmatch
import grp
import hashlib
import ipaddress
import os
import pwd
import ssl
import stat
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from runner.model.records import Record
from runner.support.files.text import MEBIBYTE, read_bounded
from runner.support.programs import running
from runner.tools.expectations import patterns

Asserted = Mapping[str, Any]
Call = Callable[..., Any]  # an execution function by its name, and its arguments


class Look(Record):
    """What one assertion came to. problem: empty where it holds."""

    word: str
    actual: Any
    problem: str = ""


class Missing(Exception):
    """The rest cannot be looked at: the thing is not there."""


LARGEST = 64 * MEBIBYTE  # bytes of a file, an output or an answer that are looked at
COMMAND_TIME, HTTP_TIME = 10.0, 5.0  # seconds, where the expectation says nothing: as goss has it


def look(kind: str, name: str, asserted: Asserted, call: Call) -> Iterator[Look]:
    """Look at a thing. Raises Missing where the assertions that are left cannot be looked at, and
    what the look raises.
    """
    if kind in ("service", "package"):
        return (_service if kind == "service" else _package)(name, asserted, call)
    return LOOKS[kind](name, asserted)


def _equal(word: str, expected: Any, actual: Any) -> Look:
    if actual == expected:
        return Look(word, actual)
    return Look(word, actual, f"expected {_shown(expected)}, it is {_shown(actual)}")


def _shown(value: Any) -> str:
    """A value as YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _texts(word: str, expected: str | list[str], text: str) -> Look:
    """The look at a text; what it is like is in the problem alone, for it may be long."""
    return Look(word, None, patterns.problem(expected, text))


def _has(word: str, expected: list[str], actual: list[str]) -> Look:
    """The look at a list that shall have all that is expected, and may have more."""
    lacking = [item for item in expected if item not in actual]
    has = ", ".join(actual) or "none"
    return Look(word, actual, f"{', '.join(lacking)} missing: it has {has}" if lacking else "")


def _presence(word: str, asserted: Asserted, there: bool) -> Iterator[Look]:
    """The look at whether a thing is there, which must be so for all others."""
    yield _equal(word, asserted[word], there)
    if not there:
        raise Missing


# ---------------------------------------------------------------- files


def _file(name: str, asserted: Asserted) -> Iterator[Look]:
    """Links are followed, but for what they are themselves: exists, filetype, linked-to."""
    own = None
    with suppress(FileNotFoundError, NotADirectoryError):
        own = os.lstat(name)
    yield from _presence("exists", asserted, own is not None)
    assert own is not None
    if "filetype" in asserted:
        yield _equal("filetype", asserted["filetype"], _type(own.st_mode))
    if "linked-to" in asserted:
        target = os.readlink(name) if stat.S_ISLNK(own.st_mode) else "no link"
        yield _equal("linked-to", asserted["linked-to"], target)
    if not asserted.keys() - {"exists", "filetype", "linked-to"}:
        return
    try:
        status = os.stat(name)
    except FileNotFoundError:
        raise Missing(f"the link leads to {os.readlink(name)}, which is not there") from None
    found = {
        "mode": f"{stat.S_IMODE(status.st_mode):04o}",
        "owner": _named(asserted.get("owner"), status.st_uid, lambda: pwd.getpwuid(status.st_uid)),
        "group": _named(asserted.get("group"), status.st_gid, lambda: grp.getgrgid(status.st_gid)),
        "size": status.st_size,
    }
    for word, actual in found.items():
        if word in asserted:
            yield _equal(word, asserted[word], actual)
    yield from _contents(name, asserted)


def _contents(name: str, asserted: Asserted) -> Iterator[Look]:
    hashes = [word for word in ("md5", "sha256", "sha512") if word in asserted]
    if not hashes and "contents" not in asserted:
        return
    data = read_bounded(name, LARGEST)
    if "contents" in asserted:
        yield _texts("contents", asserted["contents"], data.decode("utf-8", "replace"))
    for word in hashes:
        yield _equal(
            word, asserted[word], hashlib.new(word, data, usedforsecurity=False).hexdigest()
        )


def _type(mode: int) -> str:
    types = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "directory",
        stat.S_IFLNK: "symlink",
        stat.S_IFSOCK: "socket",
        stat.S_IFIFO: "pipe",
        stat.S_IFBLK: "block-device",
        stat.S_IFCHR: "character-device",
    }
    return types.get(stat.S_IFMT(mode), "unknown")


def _named(expected: str | None, number: int, entry: Callable[[], Any]) -> str:
    """An owner as it was asked for: the number where that is what is expected, else the name."""
    if expected is None or expected.isdecimal():
        return str(number)
    try:
        return str(entry()[0])
    except KeyError:
        return str(number)


# ---------------------------------------------------------------- ports

LISTENING, UNCONNECTED = "0A", "07"  # states of sockets in /proc/net


def _port(name: str, asserted: Asserted) -> Iterator[Look]:
    """`tcp` and `udp` are listening on IPv4, or on IPv6, which mostly takes both; `tcp6` and `udp6`
    on IPv6.
    """
    protocol, _, port = name.partition(":")
    tables = [protocol] if protocol.endswith("6") else [protocol, f"{protocol}6"]
    bound = sorted({address for table in tables for address in _addresses(table, int(port))})
    yield from _presence("listening", asserted, bool(bound))
    if "ip" in asserted:
        yield _has("ip", asserted["ip"], bound)


def _addresses(table: str, port: int) -> Iterator[str]:
    """The addresses that sockets of a kind are bound to at a port."""
    wanted = LISTENING if table.startswith("tcp") else UNCONNECTED
    try:
        with open(f"/proc/net/{table}", encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
    except FileNotFoundError:  # a kernel without IPv6
        return
    for row in rows:
        address, _, number = row[1].partition(":")
        if int(number, 16) == port and row[3] == wanted:
            yield _address(bytes.fromhex(address))


def _address(words: bytes) -> str:
    """An address of /proc/net: words of four bytes in the order of the machine."""
    if sys.byteorder == "little":
        words = b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4))
    return str(ipaddress.ip_address(words))


# ---------------------------------------------------------------- services, packages, users


def _service(name: str, asserted: Asserted, call: Call) -> Iterator[Look]:
    for word, function in (("enabled", "service.enabled"), ("running", "service.status")):
        if word in asserted:
            made = _equal(word, asserted[word], bool(call(function, name)))
            if made.problem and not call("service.available", name):
                made = made._replace(problem="there is no such service")
            yield made


def _package(name: str, asserted: Asserted, call: Call) -> Iterator[Look]:
    version = str(call("pkg.version", name) or "")
    yield from _presence("installed", asserted, bool(version))
    if "versions" in asserted:
        installed = version.split(",")  # of kernels there may be several
        lacking = [
            wanted
            for wanted in asserted["versions"]
            if not any(fnmatch.fnmatchcase(item, wanted) for item in installed)
        ]
        problem = f"expected {', '.join(lacking)}, it is {version}" if lacking else ""
        yield Look("versions", installed, problem)


def _user(name: str, asserted: Asserted) -> Iterator[Look]:
    entry = None
    with suppress(KeyError):
        entry = pwd.getpwnam(name)
    yield from _presence("exists", asserted, entry is not None)
    assert entry is not None
    found = {"uid": entry.pw_uid, "gid": entry.pw_gid, "home": entry.pw_dir}
    found["shell"] = entry.pw_shell
    for word, actual in found.items():
        if word in asserted:
            yield _equal(word, asserted[word], actual)
    if "groups" in asserted:
        groups = [
            group.gr_name
            for group in grp.getgrall()
            if name in group.gr_mem or group.gr_gid == entry.pw_gid
        ]
        yield _has("groups", asserted["groups"], sorted(groups))


# ---------------------------------------------------------------- commands


def _command(name: str, asserted: Asserted) -> Iterator[Look]:
    """What a command prints goes to files: a server that it starts may keep its pipes open."""
    seconds = asserted.get("timeout", COMMAND_TIME)
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        try:
            with running(
                ["sh", "-c", asserted.get("exec", name)],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            ) as program:
                status = program.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Missing(f"it did not end in {seconds:g} s") from None
        output = {"stdout": stdout, "stderr": stderr}
        texts = {}
        for word, file in output.items():
            file.seek(0)
            texts[word] = file.read(LARGEST).decode("utf-8", "replace")
    made = _equal("exit-status", asserted["exit-status"], status)
    if made.problem and (last := texts["stderr"].strip().rpartition("\n")[2]):
        made = made._replace(problem=f"{made.problem}: {last}")
    yield made
    for word, text in texts.items():
        if word in asserted:
            yield _texts(word, asserted[word], text)


# ---------------------------------------------------------------- HTTP


def _http(name: str, asserted: Asserted) -> Iterator[Look]:
    data = asserted.get("request-body")
    request = urllib.request.Request(
        name, data.encode() if data else None, method=asserted.get("method")
    )
    for line in asserted.get("request-headers", ()):
        header, _, value = line.partition(":")
        request.add_header(header, value.strip())
    try:
        answer = _opener(asserted).open(request, timeout=asserted.get("timeout", HTTP_TIME))
    except urllib.error.HTTPError as error:
        answer = error
    except urllib.error.URLError as error:
        raise Missing(
            f"no answer: {getattr(error.reason, 'strerror', '') or error.reason}"
        ) from None
    except TimeoutError:
        raise Missing(f"no answer in {asserted.get('timeout', HTTP_TIME):g} s") from None
    with answer:
        body = answer.read(LARGEST).decode("utf-8", "replace")
    yield _equal("status", asserted["status"], answer.status)
    if "headers" in asserted:
        lines = "\n".join(f"{key}: {value}" for key, value in answer.headers.items())
        yield _texts("headers", asserted["headers"], lines)
    if "body" in asserted:
        yield _texts("body", asserted["body"], body)


def _opener(asserted: Asserted) -> Any:
    """Return what opens an address: this machine's servers are asked, no proxy is."""

    class Stay(urllib.request.HTTPRedirectHandler):
        """Does not follow."""

        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    context = ssl.create_default_context()
    if asserted.get("allow-insecure"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    handlers: list[urllib.request.BaseHandler] = [
        urllib.request.ProxyHandler({}),
        urllib.request.HTTPSHandler(context=context),
    ]
    if asserted.get("no-follow-redirects"):
        handlers.append(Stay())
    return urllib.request.build_opener(*handlers)


LOOKS: Mapping[str, Callable[[str, Asserted], Iterator[Look]]] = {
    "file": _file,
    "port": _port,
    "command": _command,
    "http": _http,
    "user": _user,
}
