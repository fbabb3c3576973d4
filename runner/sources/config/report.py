# SPDX-License-Identifier: Apache-2.0
"""`report:` of the configuration: where the reports of runs are delivered.

`destination` makes a value of it, and `mistakes` names all that is wrong with it. A password is in
no message.
"""

from __future__ import annotations

import os
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runner.model.diagnostics import did_you_mean
from runner.model.errors import UsageError
from runner.model.records import Record
from runner.model.stdlib import blake2b

FORMS = {
    "postgresql": "postgresql://USER@HOST/DATABASE",
    "https": "https://HOST/PATH",
    "file": "file:DIR",
    "ssh": "ssh://USER@HOST/DIR",
}
# the keys beside `to` and `timeout` that a kind of address takes, and those of them that are files
KEYS = {
    "postgresql": ("password", "passfile"),
    "https": ("token_file", "ca_file"),
    "file": (),
    "ssh": ("key_file", "known_hosts_file"),
}
FILES = ("passfile", "token_file", "ca_file", "key_file", "known_hosts_file")
TIMEOUT = 10.0  # seconds that a run waits at its end
LONGEST = 300.0
# what libpq reads, and may stand behind the `?` of an address
PARAMETERS = tuple(
    """
    sslmode sslrootcert sslcert sslkey sslcrl sslcrldir sslnegotiation ssl_min_protocol_version
    ssl_max_protocol_version channel_binding require_auth gssencmode krbsrvname target_session_attrs
    application_name options host hostaddr port keepalives keepalives_idle tcp_user_timeout
    """.split()
)
_HOST = re.compile(r"[A-Za-z0-9_.:%-]{1,255}")
_USER = re.compile(r"[A-Za-z0-9_.@+-]{1,128}")


if TYPE_CHECKING:
    from urllib.parse import SplitResult


class ReportMistake(Record):
    """What is wrong with one key below `report`."""

    key: str
    message: str
    hint: str


class Destination(Record):
    """Where reports go. kind: one of FORMS; address: as it may be shown, without a password."""

    kind: str
    address: str
    host: str = ""
    port: int = 0  # 0: the usual one
    user: str = ""
    path: str = ""  # of a folder, or of the server; the database of PostgreSQL
    password: str = ""
    parameters: Mapping[str, str] = {}
    passfile: str = ""
    token_file: str = ""
    ca_file: str = ""
    key_file: str = ""
    known_hosts_file: str = ""
    timeout: float = TIMEOUT

    @property
    def identity(self) -> str:
        """What tells it from others, and tells nothing of a password."""
        facts = repr(self._replace(password="", timeout=0))
        return blake2b(facts.encode(), digest_size=8).hexdigest()


def destination(value: Mapping[str, Any], base: str = "/") -> Destination:
    """The destination that a `report:` names. Raises UsageError for the first mistake in it.

    base: what its folder and its files are relative to.
    """
    for mistake in mistakes(value):
        raise UsageError(mistake.message, hint=mistake.hint)
    made = _address(value["to"])
    assert isinstance(made, Destination), "it has no mistake"
    files: dict[str, Any] = {
        key: os.path.join(base, os.path.expanduser(value[key])) for key in FILES if value.get(key)
    }
    if made.kind == "file":
        folder = os.path.join(base, made.path)
        made = made._replace(path=folder, address=f"file:{folder}")
    return made._replace(
        timeout=float(value.get("timeout") or TIMEOUT),
        password=str(value.get("password") or made.password),
        **files,
    )


def shown(value: Mapping[str, Any], made: Destination) -> dict[str, Any]:
    """A `report:` as templates may see it."""
    return {**{key: value[key] for key in value if key != "password"}, "to": made.address}


def mistakes(value: object) -> Iterator[ReportMistake]:
    """All that is wrong with the value of `report`."""
    forms = ", ".join(FORMS.values())
    if not isinstance(value, Mapping):
        hint = f"write\n    report:\n      to: ADDRESS\nwith one of {forms}"
        yield ReportMistake("", "report has to be a mapping with the key `to`", hint)
        return
    to = value.get("to")
    if not isinstance(to, str):
        yield ReportMistake(
            "to", "report: it does not say where to: the key `to`", f"one of {forms}"
        )
        return
    made = _address(to)
    if isinstance(made, ReportMistake):
        yield made
        kinds = tuple(KEYS)
    else:
        kinds = (made.kind,)
    yield from _of_keys(value, kinds)


def _of_keys(value: Mapping[str, Any], kinds: tuple[str, ...]) -> Iterator[ReportMistake]:
    """Yield what is wrong with the keys beside `to`. kinds: those that the address may be of."""
    taken = tuple(key for kind in kinds for key in KEYS[kind])
    for key, content in value.items():
        if key == "to":
            continue
        if key == "timeout":
            fits = isinstance(content, int | float) and not isinstance(content, bool)
            if not fits or not 0 < content <= LONGEST:
                message = f"report: timeout has to be seconds, from 1 to {LONGEST:.0f}"
                yield ReportMistake("timeout", message, "write timeout: 10")
        elif key not in taken:
            known = ("timeout", *taken)
            hint = did_you_mean(str(key), known) or f"beside `to` there is {', '.join(known)}"
            whose = f" for an address that begins with {kinds[0]}:" if len(kinds) == 1 else ""
            yield ReportMistake(str(key), f"report: there is no key {str(key)!r}{whose}", hint)
        elif not isinstance(content, str) or not content or "\0" in content:
            yield ReportMistake(key, f"report: {key} has to be a text", _example(key))


def _example(key: str) -> str:
    return "quote it: password: '0815'" if key == "password" else f"write {key}: FILE"


# ---------------------------------------------------------------- addresses


def _address(text: str) -> Destination | ReportMistake:
    """The destination of an address, or what is wrong with it."""
    kind, colon, _ = text.partition(":")
    if kind == "postgres":
        kind, text = "postgresql", f"postgresql{text[len('postgres') :]}"
    if not colon or kind not in FORMS:
        return ReportMistake(
            "to", _unknown(text, kind), f"write one of {', '.join(FORMS.values())}"
        )
    if re.search(r"[\0-\x20\x7f]", text) and kind != "file":
        return _wrong(kind, "it contains a space or a control character")
    try:
        return _OF_KIND[kind](text)
    except ValueError as error:  # of the parser of URLs; it may quote the address
        return _wrong(kind, "its port is no number" if "ort" in str(error) else "it is no URL")


def _unknown(text: str, kind: str) -> str:
    if kind == "http":
        return "report: reports are not sent unencrypted, by http"
    scheme = re.match(r"[A-Za-z0-9+.-]{1,20}(?=:)", text)
    return f"report: there is no way to deliver to {scheme[0] + ':' if scheme else 'this address'}"


def _wrong(kind: str, reason: str) -> ReportMistake:
    return ReportMistake("to", f"report: the address is wrong: {reason}", f"write {FORMS[kind]}")


def _folder(text: str) -> str:
    """The folder of `file:DIR`, `file:/DIR` or `file:///DIR`; empty for a host."""
    rest = text.removeprefix("file:")
    if rest.startswith("///"):
        return "/" + rest.lstrip("/")
    return "" if rest.startswith("//") else rest


def _file(text: str) -> Destination | ReportMistake:
    folder = _folder(text)
    if not folder or "\0" in folder:
        return _wrong("file", "it names no folder of this machine")
    return Destination("file", text, path=folder)


def _split(kind: str, text: str) -> tuple[SplitResult, Destination]:
    """The parts of a URL. Raises ValueError."""
    parts = urllib.parse.urlsplit(text)
    port = parts.port  # raises ValueError
    user, password = (urllib.parse.unquote(part or "") for part in (parts.username, parts.password))
    host = parts.hostname or ""
    place = f"[{host}]" if ":" in host else host
    login = f"{user}@" if user else ""
    address = f"{kind}://{login}{place}{f':{port}' if port else ''}{parts.path}"
    return parts, Destination(kind, address, host, port or 0, user, parts.path, password)


def _https(text: str) -> Destination | ReportMistake:
    parts, made = _split("https", text)
    if not _HOST.fullmatch(made.host):
        return _wrong("https", "it names no host")
    if made.user or made.password or "@" in parts.netloc:
        reason = "it has a user or a password, which https would not send"
        return _wrong("https", reason)._replace(hint="put a token into a file: token_file: FILE")
    query = f"?{parts.query}" if parts.query else ""
    return made._replace(path=(parts.path or "/") + query)


def _ssh(text: str) -> Destination | ReportMistake:
    parts, made = _split("ssh", text)
    if not _HOST.fullmatch(made.host) or made.host.startswith("-"):
        return _wrong("ssh", "it names no host")
    if parts.password is not None:
        reason = "it has a password, which ssh takes from nobody"
        return _wrong("ssh", reason)._replace(hint="use a key: key_file: FILE")
    if made.user and (not _USER.fullmatch(made.user) or made.user.startswith("-")):
        return _wrong("ssh", "its user is no name of a user")
    path = urllib.parse.unquote(parts.path).removeprefix("/~/") or ""
    if path in ("", "/") or parts.query or "\0" in path or "\n" in path:
        return _wrong("ssh", "it names no folder there (/~/DIR: below the home directory)")
    return made._replace(path=path)


def _postgresql(text: str) -> Destination | ReportMistake:
    parts, made = _split("postgresql", text)
    given = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
    for name in given:
        if "password" in name or name == "passfile":
            key = "passfile" if name == "passfile" else "password"
            hint = f"write it as a key of its own: {key}: ..."
            return _wrong("postgresql", f"{name} does not belong in it")._replace(hint=hint)
        if name not in PARAMETERS:
            hint = did_you_mean(name, PARAMETERS) or f"there are {', '.join(PARAMETERS)}"
            reason = f"PostgreSQL has no parameter {name!r}"
            return _wrong("postgresql", reason)._replace(hint=hint)
    database = urllib.parse.unquote(parts.path.removeprefix("/"))
    if not database or "/" in database:
        return _wrong("postgresql", "it names no database")
    if not made.host and not given.get("host"):
        hint = "write postgresql://USER@HOST/DATABASE, or ...@/DATABASE?host=/run/postgresql"
        return _wrong("postgresql", "it names no host")._replace(hint=hint)
    return made._replace(path=database, parameters=given)


_OF_KIND = {"file": _file, "https": _https, "ssh": _ssh, "postgresql": _postgresql}
