# SPDX-License-Identifier: Apache-2.0
"""Salt's functions on the hosts that are known."""

from __future__ import annotations

from typing import Any

from modules import file
from modules._texts.lines import split
from modules.ssh import known_hosts
from runner.api import CommandFailed


def get_known_host_entries(
    user: str | None,
    hostname: str,
    config: str | None = None,
    port: int | None = None,
    fingerprint_hash_type: str | None = None,
) -> list[dict[str, str]] | None:
    """The keys by which a host is known, each with hostname, enc, key and fingerprint; null when
    there are none.

    user: whose known_hosts; null for the system's. config: the file. fingerprint_hash_type: sha256
    or md5.

        {{ salt['ssh.get_known_host_entries']('zoe', 'git.example.com') }}
    """
    lines = known_hosts.entries(known_hosts.path_of(user, config), hostname, port)
    kind = fingerprint_hash_type or "sha256"
    return [known_hosts.described(line, kind) for line in lines] or None


def recv_known_host_entries(
    hostname: str,
    enc: str | None = None,
    port: int | None = None,
    hash_known_hosts: bool = True,
    timeout: int = 5,
    fingerprint_hash_type: str | None = None,
) -> list[dict[str, str]]:
    """The keys that a host offers, each with hostname, enc, key and fingerprint.

    {{ salt['ssh.recv_known_host_entries']('git.example.com') }}
    """
    lines = known_hosts.scanned(hostname, port, enc, timeout, hash_known_hosts) or []
    return [known_hosts.described(line, fingerprint_hash_type or "sha256") for line in lines]


def _required(user: str | None, hostname: str | None, config: str | None) -> str:
    """The file of known hosts. Raises CommandFailed where the host is missing, and for a relative
    file of nobody.
    """
    if not hostname:
        raise CommandFailed("hostname argument required")
    if user is None and config and not config.startswith("/"):
        raise CommandFailed(
            f"config: {config} is relative to the home folder of a user: give the user, too"
        )
    return known_hosts.path_of(user, config)


def check_known_host(
    user: str | None = None,
    hostname: str | None = None,
    key: str | None = None,
    fingerprint: str | None = None,
    config: str | None = None,
    port: int | None = None,
    fingerprint_hash_type: str | None = None,
) -> str:
    """Return `exists` when a host is known (by this key or fingerprint), `update` when it is by
    others only, else `add`.
    """
    path = _required(user, hostname, config)
    lines = known_hosts.entries(path, str(hostname), port)
    if not lines:
        return "add"
    kind = fingerprint_hash_type or "sha256"
    return "exists" if known_hosts.matching(lines, key, fingerprint, None, kind) else "update"


def set_known_host(
    user: str | None = None,
    hostname: str | None = None,
    fingerprint: str | None = None,
    key: str | None = None,
    port: int | None = None,
    enc: str | None = None,
    config: str | None = None,
    hash_known_hosts: bool = True,
    timeout: int = 5,
    fingerprint_hash_type: str | None = None,
) -> dict[str, Any]:
    """Have a host known: {status: exists or updated, old, new}. Raises CommandFailed when the host
    offers no key, and for both of key and fingerprint.

    The arguments are those of the state ssh_known_hosts.present.

        runner call ssh.set_known_host zoe git.example.com fingerprint=d6:97:3d:...
    """
    path = _required(user, hostname, config)
    if key and fingerprint:
        raise CommandFailed('Specify either "key" or "fingerprint", not both.')
    if key and not enc:
        raise CommandFailed('Required argument "enc" if using "key" argument.')
    host, kind = str(hostname), fingerprint_hash_type or "sha256"
    old = known_hosts.entries(path, host, port)
    if (key or fingerprint) and known_hosts.matching(old, key, fingerprint, enc, kind):
        return {"status": "exists", "keys": [line.split()[2] for line in old]}
    if key:
        new = [known_hosts.new_line(host, port, enc, key, hash_known_hosts)]
    else:
        new = known_hosts.offered(host, port, enc, timeout, hash_known_hosts, fingerprint, kind)
    known_keys = {line.split()[2] for line in old}
    if known_keys >= {line.split()[2] for line in new}:
        return {"status": "exists", "keys": [line.split()[2] for line in old]}
    known_hosts.write(path, user, new, known_hosts.of_same_kind(old, new))
    return {
        "status": "updated",
        "old": [known_hosts.described(line, kind) for line in old] or None,
        "new": [known_hosts.described(line, kind) for line in new],
    }


def rm_known_host(
    user: str | None = None,
    hostname: str | None = None,
    config: str | None = None,
    port: int | None = None,
) -> dict[str, str]:
    """Have a host known no more: {status, comment}. Raises CommandFailed when there is no file of
    known hosts.
    """
    path = _existing(_required(user, hostname, config))
    lines = known_hosts.entries(path, str(hostname), port)
    if lines:
        known_hosts.write(path, user, [], lines)
    return {"status": "removed", "comment": f"lines removed from {path}: {len(lines)}"}


def hash_known_hosts(user: str | None = None, config: str | None = None) -> dict[str, str]:
    """Hide the names of all known hosts: {status, comment}. Raises CommandFailed when there is no
    file of known hosts.

    Patterns and lines with a marker (`@revoked`) stay as they are.
    """
    path = _existing(_required(user, "all", config))
    old = split(file.read_bytes(path).decode("utf-8", "surrogateescape"))
    plain = [line for line in old if _can_hide(line)]
    if plain:
        new = [hidden for line in plain for hidden in _hidden(line)]
        known_hosts.write(path, user, new, plain)
    return {"status": "updated", "comment": f"lines hashed in {path}: {len(plain)}"}


def _existing(path: str) -> str:
    if not file.is_file(path):
        raise CommandFailed(f"Known hosts file {path} does not exist", missing=("file", path))
    return path


def _can_hide(line: str) -> bool:
    names, _, rest = line.partition(" ")
    return bool(rest.strip()) and names[0] not in "#@|" and not set(names) & set("*?!")


def _hidden(line: str) -> list[str]:
    names, _, rest = line.partition(" ")
    return [f"{known_hosts.hashed(name)} {rest}" for name in names.split(",") if name]
