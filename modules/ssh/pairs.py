# SPDX-License-Identifier: Apache-2.0
"""Pairs of keys that a machine has of its own, by ssh-keygen."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from modules import cmd, file
from modules._machine.processes import needs
from modules.file._snapshot import snapshot
from runner.api import Record, StateFailed, changer, for_states, here

_LISTED = re.compile(r"(?P<bits>\d+) \S+ .*\((?P<kind>[\w-]+)\)")
LENGTHS = {"ed25519": (256,), "rsa": range(1024, 16385), "ecdsa": (256, 384, 521)}


class Pair(Record):
    """A pair of keys. kind: in ssh-keygen's words (ed25519). public: its line; empty where the file
    of it is missing.
    """

    kind: str
    bits: int
    public: str


@for_states
def found(name: str) -> Pair | None:
    """The pair whose private key is at a path; None where nothing is, not even the public key.
    Raises StateFailed for something else.
    """
    public = f"{name}.pub"
    if not file.lexists(name):
        if file.lexists(public):
            raise StateFailed(f"{public} is there without its private key: move it away first")
        return None
    if not file.is_file(name):
        raise StateFailed(f"{name} is no plain file, and is left alone")
    needs("ssh-keygen", "openssh-client")
    done = cmd.probe(["ssh-keygen", "-l", "-f", name], stdin="")
    match = _LISTED.fullmatch(done.stdout.strip())
    if done.retcode or match is None:
        why = done.error_text.partition("\n")[0]
        raise StateFailed(f"{name} is left alone: ssh-keygen finds no private key in it ({why})")
    text = file.read_bytes(public).decode("utf-8", "replace") if file.is_file(public) else ""
    return Pair(match["kind"].lower(), int(match["bits"]), text.strip())


def _asked(argv: Sequence[str], passphrase: str) -> str:
    """What ssh-keygen prints, which gets a passphrase by no word of its command line."""
    ask = f"{here.scratch()}/passphrase"
    handle = os.open(ask, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o700)  # os: our own scratch
    with open(handle, "w", encoding="ascii") as script:
        script.write('#!/bin/sh\nprintf "%s\\n" "$RUNNER_PASSPHRASE"\n')
    env = {"SSH_ASKPASS": ask, "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
    done = cmd.probe([*argv], stdin="", env={**env, "RUNNER_PASSPHRASE": passphrase})
    return done.or_fail("ssh-keygen").stdout


@for_states
def public_of(name: str, passphrase: str) -> str:
    """The public key of a private one. Raises CommandFailed with a wrong passphrase."""
    return _asked(["ssh-keygen", "-y", "-f", name], passphrase).strip()


@changer(
    touches=["files"],
    before=lambda name, *_: {"several": [snapshot(name), snapshot(f"{name}.pub")]},
)
def generate(
    name: str,
    kind: str,
    bits: int | None,
    comment: str,
    passphrase: str,
    owner: tuple[int | None, int | None],
) -> None:
    """Make a pair of keys. Raises CommandFailed."""
    needs("ssh-keygen", "openssh-client")
    new = f"{here.scratch()}/pair"
    size = [] if bits is None else ["-b", str(bits)]
    _asked(["ssh-keygen", "-q", "-t", kind, *size, "-C", comment, "-f", new], passphrase)
    user, group = owner
    for path, mode in (("", "0600"), (".pub", "0644")):
        data = file.read_bytes(new + path)
        file.write(name + path, data, mode=mode, user=user, group=group, private=not path)
        os.unlink(new + path)
