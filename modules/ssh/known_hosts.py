# SPDX-License-Identifier: Apache-2.0
"""known_hosts: the keys by which other machines are known."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
from collections.abc import Sequence

from modules import _paths, cmd, file
from modules import user as users
from modules._texts.lines import LinesBy, encoded, fields, once_a_line, one_line, plain_name, split
from modules.file._contents.limits import refuse_large
from modules.file._look import opened_to_read
from modules.ssh.keys import KINDS
from runner.api import CommandFailed, StateFailed, fetcher

SYSTEM = "/etc/ssh/ssh_known_hosts"
OWN = ".ssh/known_hosts"


def path_of(user: str | None, config: str | None) -> str:
    """The file of known hosts of a user or the system. Raises StateFailed for an unknown user."""
    if user is None:
        return config or SYSTEM
    info = users.info(user)
    if not info:
        raise StateFailed(f"User {user} does not exist", missing=("user", user))
    path = config or OWN
    return path if path.startswith("/") else os.path.join(info["home"], path)


def entries(path: str, hostname: str, port: int | None = None) -> list[str]:
    """The lines that a file has for a host, hashed ones too; as `host kind key`."""
    if not file.is_file(path):
        return []
    name = label(hostname, port).lower()
    text = file.text_to_edit(path)
    if any(sign in text for sign in _NOT_PLAIN):
        return _told(path, name)
    by_name = _by_name(text)
    if _ODD in by_name:
        return _told(path, name)
    plain = by_name.get(name, ())
    secret = by_name.get(_HIDDEN, ())
    hidden = [line for line in secret if _is_of(line, name)]
    if not (plain and hidden):
        return [*plain, *hidden]
    both = {*plain, *hidden}
    return [line for line in split(text) if line in both]


_NOT_PLAIN = ("*", "?", "!", "\r")  # patterns of hosts: the program understands them
_ODD = ""  # in the place of the hosts of a line with another kind of key, or a marker before them


@once_a_line
def _names(line: str) -> tuple[str, ...] | bytes:
    """The hosts that a line names, or what was mixed into one that it hides; none where it has no
    key.
    """
    words = fields(line)
    if not words or words[0].startswith("#"):
        return ()
    if len(words) > 1 and not re.fullmatch(KINDS, words[1]):
        return (_ODD,)
    if len(words) < 3 or words[2].startswith("#"):
        return ()
    if not words[0].startswith("|"):
        return tuple(words[0].lower().split(","))
    try:
        return base64.b64decode(words[0].split("|")[2])
    except (ValueError, IndexError):
        return ()


def _hosts(line: str) -> tuple[object, ...]:
    """The hosts that a line names, or that it hides one."""
    names = _names(line)
    return names if isinstance(names, tuple) else (_HIDDEN,)


_HIDDEN = None  # in the place of a host that is hidden
_by_name = LinesBy(_hosts)


def _is_of(line: str, name: str) -> bool:
    """Return whether a line that hides its host is about this one."""
    salt = _names(line)
    if not isinstance(salt, bytes):
        return False
    hidden = _hidden(salt, name)
    return line.lstrip(" \t").startswith((f"{hidden} ", f"{hidden}\t"))


def _told(path: str, name: str) -> list[str]:
    """What the program finds."""
    with opened_to_read(path) as known:
        # the program would read it as a whole, if it is one line
        refuse_large(_paths.stat_of(known).st_size, path)
        # the program must not wait for a pipe, or follow a link of others
        own = f"/proc/{os.getpid()}/fd/{known.fileno()}"
        named = own if _paths.exists(own) else path
        done = cmd.probe(["ssh-keygen", "-F", name, "-f", named])
    return [line for line in done.stdout.splitlines() if line and not line.startswith("#")]


def label(hostname: str, port: int | None) -> str:
    """The name in known_hosts of a host that listens at another port."""
    return hostname if port in (None, 22) else f"[{hostname}]:{port}"


@fetcher
def scanned(
    hostname: str, port: int | None, kind: str | None, timeout: int, hashed: bool
) -> list[str]:
    """The keys that a host offers. Raises CommandFailed when it offers none."""
    argv = [
        "ssh-keyscan",
        "-T",
        str(timeout),
        *(["-p", str(port)] if port else []),
        *(["-t", kind] if kind else []),
    ]
    done = cmd.probe(
        [*argv, *(["-H"] if hashed else []), "--", plain_name(hostname, "the host's name")],
        timeout=timeout * 3 + 5,
    )
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("#")]
    if not lines:
        reason = next(iter(done.error_text.splitlines()), "the host did not answer")
        raise CommandFailed(
            f"Unable to receive remote host keys: {reason} (is its name right, and does sshd listen"
            f" at port {port or 22}? `key` and `enc` give a key without asking the host)"
        )
    return lines


def described(line: str, kind: str = "sha256") -> dict[str, str]:
    """Describe a line, in Salt's shape; kind: of the fingerprint."""
    hostname, enc, key = line.split()[:3]
    return {
        "hostname": hostname,
        "enc": enc,
        "key": key,
        "fingerprint": fingerprints([line], kind)[0],
    }


_KINDS = {
    "rsa": "ssh-rsa",
    "dsa": "ssh-dss",
    "ed25519": "ssh-ed25519",
    "ecdsa": "ecdsa-sha2-nistp256",
}


def kind_of(enc: str | None) -> str:
    """The kind of a key as known_hosts has it: `ed25519` is ssh-ed25519."""
    return _KINDS.get(enc or "rsa", enc or "ssh-rsa")


def matching(
    lines: Sequence[str], key: str | None, fingerprint: str | None, enc: str | None, hashing: str
) -> list[str]:
    """The lines that have a key, or a fingerprint (hashing: sha256 or md5), or are of a kind."""
    if key:
        return [line for line in lines if line.split()[2] == key]
    if fingerprint:
        return [line for line in lines if fingerprint.lower() in fingerprints([line], hashing)]
    return [line for line in lines if not enc or enc in line.split()[1]]


def new_line(hostname: str, port: int | None, enc: str | None, key: str, hide: bool) -> str:
    """The line for a key that is given. hide: do not write the name of the host in plain."""
    name = label(hostname, port)
    return f"{hashed(name) if hide else name} {kind_of(enc)} {key}"


def offered(
    hostname: str,
    port: int | None,
    enc: str | None,
    timeout: int,
    hide: bool,
    fingerprint: str | None,
    hashing: str,
) -> list[str]:
    """The lines for the keys that a host offers. Raises StateFailed when none has the fingerprint,
    CommandFailed when it offers none.
    """
    lines = scanned(hostname, port, enc, timeout, hide) or []
    if fingerprint:
        lines = matching(lines, None, fingerprint, None, hashing)
        if not lines:
            why = "none of their fingerprints match the one you have provided"
            raise StateFailed(f"Remote host public keys found but {why}")
    return lines


def of_same_kind(lines: Sequence[str], new: Sequence[str]) -> list[str]:
    """The lines that new ones replace: those with keys of the same kinds."""
    kinds = {line.split()[1] for line in new}
    return [line for line in lines if line.split()[1] in kinds]


def hashed(hostname: str) -> str:
    """A host's name as known_hosts hides it: ssh asks for it in lower case."""
    return _hidden(os.urandom(20), hostname.lower())


def _hidden(salt: bytes, hostname: str) -> str:
    digest = hmac.digest(salt, hostname.encode(), "sha1")
    return "|".join(("", "1", base64.b64encode(salt).decode(), base64.b64encode(digest).decode()))


def fingerprints(lines: Sequence[str], kind: str) -> list[str]:
    """The fingerprints of keys in hexadecimal pairs (kind: sha256 or md5)."""
    digests = (
        hashlib.new(kind, base64.b64decode(line.split()[2] + "==")).hexdigest() for line in lines
    )
    return [":".join(digest[i : i + 2] for i in range(0, len(digest), 2)) for digest in digests]


def write(path: str, user: str | None, add: Sequence[str], drop: Sequence[str]) -> None:
    """Write a file of known hosts with some lines added and others taken away."""
    old = split(file.text_to_edit(path))
    add = [one_line(line, "the key of the host") for line in add]
    known, dropped = {*old}, {*drop}
    lines = [line for line in old if line not in dropped]
    lines += [line for line in add if line not in known]
    data = encoded(lines)
    info = users.info(user) if user else {}
    owner = {"user": info["uid"], "group": info["gid"]} if info else {}
    if not file.is_dir(os.path.dirname(path)):
        file.makedirs(os.path.dirname(path), mode="0700" if user else "0755", **owner)
    if file.is_file(path):
        file.write(path, data)
    else:
        file.write(path, data, mode="0644" if path == SYSTEM else "0600", **owner)
