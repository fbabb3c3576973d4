"""The keys by which other machines are known."""

from __future__ import annotations

from collections.abc import Iterator

from modules import ssh
from runner.api import Plan, Planned, StateFailed


def present(
    name: str,
    user: str | None = None,
    fingerprint: str | None = None,
    key: str | None = None,
    port: int | None = None,
    enc: str | None = None,
    config: str | None = None,
    hash_known_hosts: bool = True,
    timeout: int = 5,
    fingerprint_hash_type: str | None = None,
) -> Planned:
    """Make sure that the key of a host is known.

    name: the host. user: whose known_hosts; without it the system's. key: the host's key (with enc: its kind); without
    it the host is asked, and `fingerprint` (hexadecimal pairs; fingerprint_hash_type sha256 or md5) says which key is
    right: without both anybody who answers is believed. port, timeout (seconds): for asking. config: the file.
    hash_known_hosts: do not write the name of the host in plain.

        github.com:
          ssh_known_hosts.present:
            - user: zoe
            - enc: ed25519
            - fingerprint: d6:97:3d:79:...

    Behaviour: Salt 3008's ssh_known_hosts.present.
    """
    path = ssh.known_hosts_path(user, config)
    have = ssh.entries(path, name, port)
    kind = fingerprint_hash_type or "sha256"
    wanted = fingerprint.lower() if fingerprint else None
    if key:
        found = [line for line in have if line.split()[2] == key]
    elif wanted:
        found = [line for line in have if wanted in ssh.fingerprints([line], kind)]
    else:
        found = [line for line in have if not enc or enc in line.split()[1]]
    if found:
        return f"Host {name} is already in {path}"
    new = (
        [f"{ssh.label(name, port)} {_kind(enc)} {key}"]
        if key
        else _asked(name, port, enc, timeout, hash_known_hosts, wanted, kind)
    )
    changes = {"old": have or None, "new": new}
    told = f"Key for {name} is set to be {'updated' if have else 'added to'}{'' if have else f' {path}'}"
    yield Plan(changes, told, provides=[("file", path)])
    same_kind = [line for line in have if line.split()[1] in {each.split()[1] for each in new}]
    ssh.write(path, user, new, same_kind)
    return f"{name}'s key saved to {path} (key: {new[0].split()[2]})"


def _asked(
    name: str, port: int | None, enc: str | None, timeout: int, hashed: bool, wanted: str | None, kind: str
) -> list[str]:
    new = ssh.scanned(name, port, enc, timeout, hashed) or []
    if wanted:
        new = [line for line in new if wanted in ssh.fingerprints([line], kind)]
        if not new:
            why = "none of their fingerprints match the one you have provided"
            raise StateFailed(f"Remote host public keys found but {why}")
    return new


def _kind(enc: str | None) -> str:
    short = {"rsa": "ssh-rsa", "dsa": "ssh-dss", "ed25519": "ssh-ed25519", "ecdsa": "ecdsa-sha2-nistp256"}
    return short.get(enc or "rsa", enc or "ssh-rsa")


def absent(name: str, user: str | None = None, config: str | None = None) -> Planned:
    """Make sure that a host is not known. Arguments as those of ssh_known_hosts.present.

        old.example.com:
          ssh_known_hosts.absent: []

    Behaviour: Salt 3008's ssh_known_hosts.absent.
    """
    path = ssh.known_hosts_path(user, config)
    have = ssh.entries(path, name)
    if not have:
        return "Host is already absent"
    yield Plan({"old": have, "new": None}, f"Key for {name} is set to be removed from {path}")
    ssh.write(path, user, [], have)
    return f"{name}'s key removed from {path}"


def autorequire(name: str, user: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """Known hosts come after the user who knows them, and ssh's programs."""
    if user:
        yield "user", user
    yield "pkg", "openssh-client"
