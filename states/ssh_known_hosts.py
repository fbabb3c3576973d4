"""The keys by which other machines are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import file, ssh
from runner.api import Line, Name, Plan, Planned, StateFailed, here


def dry_run_check(
    plan: Plan, name: str, user: str | None = None, config: str | None = None, **arguments: object
) -> None:
    """Raise StateFailed for a file that cannot be written, or is behind a link of others."""
    file.refuse_rewrite(file.real_path(ssh.known_hosts_path(user, config)))


def present(
    name: Name,
    user: Name | None = None,
    fingerprint: Line | None = None,
    key: Line | None = None,
    port: int | None = None,
    enc: Line | None = None,
    config: Line | None = None,
    hash_known_hosts: bool = True,
    timeout: int = 5,
    fingerprint_hash_type: Line | None = None,
) -> Planned:
    """Make sure that the key of a host is known.

    name: the host. user: whose known_hosts; without it the system's. key: the host's key (with enc:
    its kind); without it the host is asked, and `fingerprint` (hexadecimal pairs;
    fingerprint_hash_type sha256 or md5) says which key is right: without both anybody who answers
    is believed. port, timeout (seconds): for asking. config: the file. hash_known_hosts: do not
    write the name of the host in plain.

        github.com:
          ssh_known_hosts.present:
            - user: zoe
            - enc: ed25519
            - fingerprint: d6:97:3d:79:...

    Behaviour: Salt 3008's ssh_known_hosts.present.
    """
    shown = _shown_file(user, config)
    if key and (fingerprint or not enc):
        problem = 'Specify either "key" or "fingerprint", not both.'
        raise StateFailed(
            problem if fingerprint else 'Required argument "enc" if using "key" argument.'
        )
    path = ssh.known_hosts_path(user, config)
    present_lines = ssh.entries(path, name, port)
    kind = fingerprint_hash_type or "sha256"
    wanted = fingerprint.lower() if fingerprint else None
    if key:
        known = [line for line in present_lines if line.split()[2] == key]
    elif wanted:
        known = [line for line in present_lines if wanted in ssh.fingerprints([line], kind)]
    else:
        known = [line for line in present_lines if not enc or enc in line.split()[1]]
    if known:
        return (
            f"Host {name} is already in {shown}"
            if here.dry
            else f"{name} already exists in {shown}"
        )
    if key:
        label = ssh.label(name, port)
        new = [f"{ssh.hashed(label) if hash_known_hosts else label} {_kind(enc)} {key}"]
    else:
        new = _scan(name, port, enc, timeout, hash_known_hosts, wanted, kind)
    described: list[dict[str, Any]] = [ssh.described(line_text, kind) for line_text in new]
    if key:
        described = [
            {"hostname": name, "enc": _kind(enc), "key": key, **({"port": port} if port else {})}
        ]
    changes = {
        "old": [ssh.described(line_text, kind) for line_text in present_lines] or None,
        "new": described,
    }
    yield Plan(
        changes,
        f"Key for {name} is set to be {'updated in' if present_lines else 'added to'} {shown}",
    )
    same_kind = [
        line
        for line in present_lines
        if line.split()[1] in {line_text.split()[1] for line_text in new}
    ]
    ssh.write(path, user, new, same_kind)
    named = f"{enc} " if enc and not (key or wanted) else ""
    which = "key" if key or named else "fingerprint"
    return f"{name}'s {named}key saved to {shown} ({which}: {described[0].get(which)})"


def _shown_file(user: str | None, config: str | None) -> str:
    """The file as the state says it. Raises StateFailed when nobody can know which it is."""
    if user is None and config and not config.startswith("/"):
        raise StateFailed('If not specifying a "user", specify an absolute "config".')
    return config or (ssh.OWN if user else ssh.SYSTEM)


def _scan(
    name: str,
    port: int | None,
    enc: str | None,
    timeout: int,
    hashed: bool,
    wanted: str | None,
    kind: str,
) -> list[str]:
    new = ssh.scanned(name, port, enc, timeout, hashed) or []
    if wanted:
        new = [line for line in new if wanted in ssh.fingerprints([line], kind)]
        if not new:
            why = "none of their fingerprints match the one you have provided"
            raise StateFailed(f"Remote host public keys found but {why}")
    return new


def _kind(enc: str | None) -> str:
    short = {
        "rsa": "ssh-rsa",
        "dsa": "ssh-dss",
        "ed25519": "ssh-ed25519",
        "ecdsa": "ecdsa-sha2-nistp256",
    }
    return short.get(enc or "rsa", enc or "ssh-rsa")


def absent(name: Name, user: Name | None = None, config: Line | None = None) -> Planned:
    """Make sure that a host is not known. Arguments as those of ssh_known_hosts.present.

        old.example.com:
          ssh_known_hosts.absent: []

    Behaviour: Salt 3008's ssh_known_hosts.absent.
    """
    shown, path = _shown_file(user, config), ssh.known_hosts_path(user, config)
    present_lines = ssh.entries(path, name)
    if not present_lines:
        return "Host is already absent"
    changes = {"old": [ssh.described(line) for line in present_lines], "new": None}
    yield Plan(changes, f"Key for {name} is set to be removed from {shown}")
    ssh.write(path, user, [], present_lines)
    return f"{name}'s key removed from {shown}"


def autorequire(name: str, user: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """Known hosts come after the user who knows them, and ssh's programs."""
    if user:
        yield "user", user
    yield "pkg", "openssh-client"
