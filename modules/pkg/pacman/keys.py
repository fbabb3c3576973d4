# SPDX-License-Identifier: Apache-2.0
"""pacman's keyring: which keys it trusts, and how another one gets into it."""

from __future__ import annotations

from modules import _paths, cmd
from runner.api import CommandFailed, here

KEYRING = "/etc/pacman.d/gnupg"
TRUSTED = ("f", "u")  # gpg's words for a key that is valid


def fingerprints(key: bytes) -> list[str]:
    """Return the fingerprints of the keys in a file. Raises CommandFailed when it has none."""
    path = _written(key)
    folder = here.scratch()
    done = cmd.probe(
        ["gpg", "--homedir", folder, "--batch", "--with-colons", "--show-keys", "--", path]
    )
    public_keys = _public_keys(done.stdout)
    if not public_keys:
        raise CommandFailed("this is no key that gpg can read")
    return list(public_keys)


def trusted() -> set[str]:
    """Return the fingerprints of the keys that pacman trusts."""
    if not _paths.isdir(KEYRING):
        return set()
    options = [
        "--homedir",
        KEYRING,
        "--batch",
        "--no-permission-warning",
        "--no-auto-check-trustdb",
    ]
    done = cmd.probe(["gpg", *options, "--with-colons", "--list-keys"])
    return {key for key, validity in _public_keys(done.stdout).items() if validity in TRUSTED}


def _public_keys(listing: str) -> dict[str, str]:
    """Return the validity of each key in a listing of gpg, by its fingerprint."""
    keys: dict[str, str] = {}
    validity: str | None = None
    for line in listing.splitlines():
        fields = line.split(":")
        if fields[0] == "pub":
            validity = fields[1]
        elif fields[0] == "fpr" and validity is not None:
            keys[fields[9]] = validity
            validity = None
    return keys


def _written(key: bytes) -> str:
    path = f"{here.scratch()}/key"
    with open(path, "wb") as file:
        file.write(key)
    return path


def import_key(key: bytes) -> None:
    """Add a key to the keyring and sign it there. Raises CommandFailed with pacman-key's words."""
    if not _paths.exists(f"{KEYRING}/trustdb.gpg"):
        _run("--init")
    _run("--add", _written(key))
    for fingerprint in fingerprints(key):
        _run("--lsign-key", fingerprint)


def _run(*words: str) -> None:
    done = cmd.execute(["pacman-key", *words])
    if done.retcode:
        lines = [line for line in f"{done.stderr}\n{done.stdout}".splitlines() if "==>" in line]
        why = "; ".join(line.partition("==> ")[2] for line in lines) or done.stderr.strip()
        raise CommandFailed(f"pacman-key {words[0]}: {why}")
