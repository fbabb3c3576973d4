# SPDX-License-Identifier: Apache-2.0
"""The keys by which other machines are known."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from modules import file
from modules.ssh import known_hosts
from runner.api import (
    Check,
    CommandFailed,
    Done,
    Duration,
    Line,
    Name,
    Pattern,
    Plan,
    Planned,
    StateFailed,
    here,
)
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite

OPPOSITE = {"present": Opposite("absent", by=("user",))}
ABOUT_ONE_FILE = {
    "present": "user fingerprint key port enc config hash_known_hosts timeout"
    " fingerprint_hash_type",
    "absent": "user config",
}


def its_file(name: str, user: str | None = None, config: str | None = None, **_: object) -> str:
    """The file of the user's known hosts, or of the system's."""
    return known_hosts.path_of(user, config)


Kind = Annotated[str, Pattern("[A-Za-z0-9][A-Za-z0-9@._-]*")]


def _key_problem(value: str) -> str | None:
    try:
        known_hosts.fingerprints([f"- - {value}"], "sha256")
        return None
    except (ValueError, IndexError):
        return "expected a key in base64, as known_hosts has it behind its kind"


Key = Annotated[Line, Check(_key_problem)]


def dry_run_check(
    plan: Plan, name: str, user: str | None = None, config: str | None = None, **arguments: object
) -> None:
    """Raise StateFailed for a file that cannot be written, or is behind a link of others."""
    file.refuse_rewrite(file.real_path(known_hosts.path_of(user, config)))


@file.validated
def present(
    name: Name,
    user: Name | None = None,
    fingerprint: Line | None = None,
    key: Key | None = None,
    port: int | None = None,
    enc: Kind | None = None,
    config: Line | None = None,
    hash_known_hosts: bool = True,
    timeout: Duration[int] = 5,
    fingerprint_hash_type: Literal["sha256", "md5", "sha1", "sha384", "sha512"] | None = None,
) -> Planned:
    """Make sure that the key of a host is known.

    name: The host.
    user: The user who knows the host; without it all users do.
    fingerprint: The fingerprint of the right key, in hexadecimal pairs; without it and `key`
      anybody who answers is believed the first time, and a key that is another one later is only
      reported.
    key: The key of the host; without it the host is asked.
    port: The port that the host is asked at, and known with.
    enc: The kind of the key: ed25519, ecdsa, ssh-rsa; needed with `key`.
    config: The file; without `user` an absolute path.
    hash_known_hosts: Write a hash instead of the name of the host.
    timeout: Seconds to wait for an answer of the host.
    fingerprint_hash_type: The algorithm of the fingerprint, `sha256` or `md5`; without it sha256.

        github.com:
          ssh_known_hosts.present:
            - user: zoe
            - enc: ed25519
            - fingerprint: d6:97:3d:79:...
    """
    shown = _shown_file(user, config)
    if key and (fingerprint or not enc):
        problem = 'Specify either "key" or "fingerprint", not both.'
        raise StateFailed(
            problem if fingerprint else 'Required argument "enc" if using "key" argument.'
        )
    path = known_hosts.path_of(user, config)
    present_lines = known_hosts.entries(path, name, port)
    kind = fingerprint_hash_type or "sha256"
    known = known_hosts.matching(present_lines, key, fingerprint, enc, kind)
    if known:
        if not (key or fingerprint):
            _warn_of_change(name, port, enc, timeout, known, shown)
        return Done(
            f"{name} already exists in {shown}", in_dry_run=f"Host {name} is already in {shown}"
        )
    if key:
        new = [known_hosts.new_line(name, port, enc, key, hash_known_hosts)]
    else:
        new = known_hosts.offered(name, port, enc, timeout, hash_known_hosts, fingerprint, kind)
    described: list[dict[str, Any]] = [known_hosts.described(line_text, kind) for line_text in new]
    if key:
        described = [
            {
                "hostname": name,
                "enc": known_hosts.kind_of(enc),
                "key": key,
                **({"port": port} if port else {}),
            }
        ]
    changes = {
        "old": [known_hosts.described(line_text, kind) for line_text in present_lines] or None,
        "new": described,
    }
    yield Plan(
        changes,
        f"Key for {name} is set to be {'updated in' if present_lines else 'added to'} {shown}",
    )
    known_hosts.write(path, user, new, known_hosts.of_same_kind(present_lines, new))
    named = f"{enc} " if enc and not (key or fingerprint) else ""
    which = "key" if key or named else "fingerprint"
    return f"{name}'s {named}key saved to {shown} ({which}: {described[0].get(which)})"


def _warn_of_change(
    name: str, port: int | None, enc: str | None, timeout: int, known: list[str], shown: str
) -> None:
    """Warn of a host that offers another key than the one of this kind that is known."""
    try:
        offered = known_hosts.scanned(name, port, enc, timeout, False) or []
    except CommandFailed:  # it does not answer
        return
    keys = {line.split()[2] for line in known}
    for line in offered:
        old = known_hosts.of_same_kind(known, [line])
        if old and line.split()[2] not in keys:
            before, now = known_hosts.described(old[0]), known_hosts.described(line)
            here.warn(
                f"{name} offers another {now['enc']} key than {shown} has: {now['fingerprint']}"
                f" instead of {before['fingerprint']}; where it is right, give it as `fingerprint`"
            )


def _shown_file(user: str | None, config: str | None) -> str:
    """The file as the state says it. Raises StateFailed when nobody can know which it is."""
    if user is None and config and not config.startswith("/"):
        raise StateFailed('If not specifying a "user", specify an absolute "config".')
    return config or (known_hosts.OWN if user else known_hosts.SYSTEM)


@file.validated
def absent(name: Name, user: Name | None = None, config: Line | None = None) -> Planned:
    """Make sure that a host is not known.

    name, user, config: As of ssh_known_hosts.present.

        old.example.com:
          ssh_known_hosts.absent: []
    """
    shown, path = _shown_file(user, config), known_hosts.path_of(user, config)
    present_lines = known_hosts.entries(path, name)
    if not present_lines:
        return "Host is already absent"
    changes = {"old": [known_hosts.described(line) for line in present_lines], "new": None}
    yield Plan(changes, f"Key for {name} is set to be removed from {shown}")
    known_hosts.write(path, user, [], present_lines)
    return f"{name}'s key removed from {shown}"


autorequire = comes_after(
    "Known hosts come after the user who knows them, and ssh's programs.",
    ("pkg", "openssh-client"),
    user="user",
)
