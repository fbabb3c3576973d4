# SPDX-License-Identifier: Apache-2.0
"""Pairs of keys that a machine, or a user of it, logs in with elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from modules import file
from modules.ssh import pairs
from runner.api import FilePath, Line, Name, Plan, Planned, Secret, StateFailed
from runner.api.claims import PRESENT, Claim
from runner.api.kinds import Kind, Property, Wording, comes_after

DECIDES = {"present": "type bits"}

PAIR = Kind(
    "key {name}",
    Wording(
        "{Title} is in the correct state",
        "{Title} is set to be made",
        "{Title} was made",
        changes={"{name}": {"old": None, "new": "{kind}"}},
        provides={"file": ("{name}", "{name}.pub")},
    ),
    Wording("", "{Title} is set to be changed", "{Title} was changed"),
)


def dry_run_check(plan: Plan, name: str, user: str | None = None, **_: object) -> None:
    """Raise StateFailed where the caller may not write the key."""
    file.refuse_put(name)
    file.refuse_put(f"{name}.pub")
    file.refuse_owner(name, user, None)


def present(
    name: FilePath,
    type_: Literal["ed25519", "rsa", "ecdsa"] = "ed25519",
    bits: int | None = None,
    comment: Line = "",
    passphrase: Secret[Line] | None = None,
    user: Name | None = None,
) -> Planned:
    """Make sure that there is a pair of keys of ssh: a private one (mode 0600), and beside it the
    public one (NAME.pub). A key that is there is never overwritten, and its passphrase is left.

    `ssh_auth.present` with `source: NAME.pub` lets it in; `__slot__:salt:file.read(NAME.pub)` is
    the public key as an argument of other states, `salt['ssh.user_keys'](USER, prvfile=False)` in
    templates, which are rendered before it is made.

    name: The file of the private key, such as ~zoe/.ssh/id_ed25519; its folder is made, if needed.
    type: ed25519, rsa or ecdsa. A key of another one is an error.
    bits: The length of a key of rsa (3072, 4096) or ecdsa (256, 384, 521); another one is an error.
    comment: The comment of a new key.
    passphrase: What a new private key is encrypted with, from the pillar; it is on no command line.
    user: Whose the files are; without it, of a new key, who runs this.

        /root/.ssh/id_ed25519:
          ssh_key.present:
            - comment: backup of {{ grains['id'] }}

    Salt has nothing like it.
    """
    if bits is not None and bits not in pairs.LENGTHS[type_]:
        raise StateFailed(f"There is no key of type {type_} with {bits} bits")
    uid = None if user is None else file.uid_of(user)
    if user is not None and uid is None:
        raise StateFailed(f"User {user} is not available", missing=("user", user))
    gid = None if uid is None else file.primary_gid(uid)
    file.real_path(name)  # through no link of somebody else
    now = pairs.found(name)
    if now and (now.kind, bits or now.bits) != (type_, now.bits):
        raise StateFailed(
            f"{name} is a key of type {now.kind} with {now.bits} bits, and is never overwritten:"
            " name another file, or move it away"
        )
    public = f"{name}.pub"
    line = now and (now.public or pairs.public_of(name, passphrase or ""))
    at = file.seen(name)
    properties = [
        Property("mode", "0600", lambda: at and at.mode, lambda mode: file.set_mode(name, mode)),
        Property(
            "user",
            user,
            lambda: user if at and at.uid == uid else at and at.user,
            lambda _: file.chown(name, uid, gid),
        ),
        Property(
            "public",
            "present",
            lambda: "present" if now and now.public else "absent",
            lambda _: file.write(public, f"{line}\n".encode(), mode="0644", user=uid, group=gid),
        ),
    ]

    def create() -> None:
        file.makedirs(name.rpartition("/")[0], mode="0700", user=uid, group=gid)
        pairs.generate(name, type_, bits, comment, passphrase or "", (uid, gid))

    return PAIR.present(now and True, create, properties, name=name, kind=type_)


def owns(fun: str, name: str, **_: object) -> Iterator[Claim]:
    """Both files of a pair."""
    yield Claim(PRESENT, name)
    yield Claim(PRESENT, f"{name}.pub")


autorequire = comes_after("A key comes after its user, and ssh-keygen.", user="user")
