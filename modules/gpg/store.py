# SPDX-License-Identifier: Apache-2.0
"""The public keys of a keyring as states change them: gpg works on a copy in the state's scratch
folder, and what it made of that is written. So a dry run can do it, too, gpg reads no settings of
the keys' owner, and starts neither an agent nor another helper that would stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from modules import _accounts, _paths, cmd, file
from modules._machine.processes import needs
from modules._machine.surroundings import inherited
from modules.gpg._run import OF_SALT, reason
from runner.api import CommandFailed, Record, StateFailed, changer, for_states, here
from runner.api.planning import in_stand_in

TRUST = {  # the names of owner trust -> gpg's letters and numbers
    "expired": ("e", 1),
    "unknown": ("q", 2),
    "not_trusted": ("n", 3),
    "marginally": ("m", 4),
    "fully": ("f", 5),
    "ultimately": ("u", 6),
}
_FILES = ("pubring.kbx", "pubring.gpg", "trustdb.gpg")
_OWN = "keyring"


class Key(Record):
    """A key. trust: of its owner, gpg's letter (q: unknown). grips: what the files of
    its secret parts are called. is_secret: of a text, that it has a secret part.
    """

    fingerprint: str
    is_expired: bool
    trust: str
    grips: tuple[str, ...]
    is_secret: bool

    def is_named(self, name: str) -> bool:
        """Return whether a fingerprint, or an ID of 16 or 8 digits, is its own."""
        return self.fingerprint.endswith(plain_id(name))


@for_states
def plain_id(name: str) -> str:
    """An ID or a fingerprint in the form in which gpg prints them."""
    return re.sub(r"\s", "", name).upper().removeprefix("0X")


class Store(Record):
    """Where public keys are. home: gpg's folder. keyring: a file of keys beside it. owner: who gets
    new files; None of both for who runs this.
    """

    home: str
    keyring: str | None
    owner: tuple[int | None, int | None]

    def places(self) -> dict[str, str]:
        """The files, by their names in the copy."""
        own = {_OWN: self.keyring} if self.keyring else {}
        return {name: f"{self.home}/{name}" for name in _FILES} | own

    def refuse_homeless(self) -> None:
        """Raise StateFailed where the home folder that gpg's would be in is not there."""
        folder = self.home.removesuffix("/.gnupg")
        if folder != self.home and not file.is_dir(folder):
            raise StateFailed(f"{folder} does not exist", missing=("file", folder))

    @property
    def written(self) -> str:
        """The file that a new key goes into."""
        return self.keyring or f"{self.home}/{_FILES[0]}"


@for_states
def found(user: str | None, gnupghome: str | None, keyring: str | None) -> Store:
    """The keys of a user (of salt those in /etc/salt/gpgkeys), or of a folder. Raises StateFailed
    for an unknown user, and for keys that a daemon of gpg keeps.
    """
    uid = None if user is None else file.uid_of(user)
    if user is not None and uid is None:
        raise StateFailed(f"User {user} is not available", missing=("user", user))
    at = gnupghome or (OF_SALT if user == "salt" else None)
    at = at or (None if user else inherited().get("GNUPGHOME"))
    at = at or f"{_accounts.user(user).pw_dir if user else os.path.expanduser('~')}/.gnupg"
    at = at.rstrip("/")
    if file.lexists(f"{at}/public-keys.d/pubring.db") and not keyring:
        raise StateFailed(f"{at}: keyboxd keeps these keys, and states cannot change them there")
    return Store(at, keyring, (uid, None if uid is None else file.primary_gid(uid)))


class Copy:
    """A copy of public keys that gpg works on."""

    def __init__(self, store: Store | None, name: str = "keys") -> None:
        """Copy the files of a store; None: there are none yet."""
        needs("gpg", "gpg")
        self.folder = f"{here.scratch()}/{name}"
        self.store = store
        os.mkdir(self.folder, 0o700)
        self.put("S.gpg-agent", b"%Assuan%\nsocket=/dev/null/none\n")  # there is no agent
        self.before: dict[str, bytes] = {}
        for inner, path in (store.places() if store else {}).items():
            if file.is_file(path):
                self.before[inner] = data = file.read_bytes(path)
                self.put(inner, data)

    def put(self, inner: str, data: bytes) -> str:
        """Write a file of the copy: its path."""
        path = f"{self.folder}/{inner}"
        with open(path, "wb") as stream:
            stream.write(data)
        return path

    def gpg(self, *words: str, stdin: str | None = None, accept: bool = False) -> str:
        """What gpg prints. Raises CommandFailed, unless a failure is accepted."""
        argv = ["gpg", "--batch", "--no-tty", "--no-options", "--no-autostart", "--yes"]
        argv += ["--homedir", self.folder]
        if self.store and self.store.keyring:
            argv += ["--no-default-keyring", "--keyring", f"{self.folder}/{_OWN}"]
        with in_stand_in():  # it works on a copy, in a dry run, too
            done = cmd.probe([*argv, *words], stdin=stdin)
        if done.retcode and not accept:
            raise CommandFailed(f"gpg: {reason(done)}")
        return done.stdout

    def keys(self) -> list[Key]:
        """The keys of the copy."""
        listed = ("--with-colons", "--fixed-list-mode", "--with-keygrip", "--list-keys")
        return _parsed(self.gpg(*listed))

    def key(self, name: str) -> Key | None:
        """The key of a fingerprint or ID. Raises StateFailed where an ID is that of several."""
        found = [key for key in self.keys() if key.is_named(name)]
        if len(found) > 1:
            prints = " and ".join(key.fingerprint for key in found)
            raise StateFailed(f"Several keys have the ID {name}: name one of {prints}")
        return found[0] if found else None

    def offer(self, data: bytes) -> None:
        """Import what others offer into this copy, as far as it goes. Raises StateFailed for what
        has secret keys.
        """
        path = self.put("offered", data)
        words = ("--with-colons", "--fixed-list-mode", "--import-options", "show-only", "--import")
        if any(key.is_secret for key in _parsed(self.gpg(*words, path, accept=True))):
            raise StateFailed(
                "A source with secret keys is not taken: export the public ones alone"
            )
        self.gpg("--import", path, accept=True)

    def take(self, fingerprint: str, offers: Copy) -> None:
        """Import a key of another copy."""
        path = f"{offers.folder}/{fingerprint}"
        offers.gpg("--output", path, "--export", f"0x{fingerprint}")
        self.gpg("--import", path)

    def drop(self, fingerprint: str) -> None:
        """Delete a key."""
        self.gpg("--delete-keys", f"0x{fingerprint}")

    def trust(self, fingerprint: str, level: str) -> None:
        """Say how far the owner of a key is trusted."""
        self.gpg("--import-ownertrust", stdin=f"{fingerprint}:{TRUST[level][1]}:\n")

    def keep(self) -> None:
        """Write what has become of the files to where they were copied from."""
        assert self.store
        user, group = self.store.owner
        for inner, path in self.store.places().items():
            copy = f"{self.folder}/{inner}"
            if os.path.exists(copy):  # os: our own scratch
                data = file.read_bytes(copy)
                if data != self.before.get(inner):
                    folder = path.rpartition("/")[0]
                    file.makedirs(folder, mode="0700", user=user, group=group)
                    new = inner not in self.before
                    mode = ("0644" if inner == _OWN else "0600") if new else None
                    owner = (user, group) if new else (None, None)
                    file.write(path, data, mode=mode, user=owner[0], group=owner[1])


@for_states
def refuse_change(store: Store) -> None:
    """Raise StateFailed where the caller may not write the keys."""
    file.refuse_put(store.written)
    file.refuse_owner(store.written, *store.owner)


@for_states
def has_secret(store: Store, keys: Iterable[Key]) -> bool:
    """Return whether a secret part of one of these keys is there."""
    folder = f"{store.home}/private-keys-v1.d"
    return any(_paths.lexists(f"{folder}/{grip}.key") for key in keys for grip in key.grips)


@changer(touches=[])
def receive(copy: Copy, names: Sequence[str], keyserver: str | None) -> None:
    """Import what a key server has for fingerprints or IDs into a copy. Raises CommandFailed."""
    server = [f"--keyserver={keyserver}"] if keyserver else []
    argv = ["gpg", "--batch", "--no-tty", "--no-options", "--homedir", copy.folder, *server]
    folder = os.open(copy.folder, os.O_PATH | os.O_CLOEXEC)  # os: our own scratch
    try:
        # the path of a socket has at most 107 bytes, that of the folder may be longer
        short = f"/proc/{os.getpid()}/fd/{folder}/dirmngr"
        copy.put("S.dirmngr", f"%Assuan%\nsocket={short}\n".encode())
        done = cmd.probe([*argv, "--recv-keys", "--", *(f"0x{plain_id(name)}" for name in names)])
        if done.retcode and not copy.keys():  # of an agent, which there is none of, it complains
            raise CommandFailed(f"Unable to add key to keychain: {reason(done)}")
    finally:
        cmd.probe(["gpgconf", "--homedir", copy.folder, "--kill", "all"])  # dirmngr would stay
        os.close(folder)


def _parsed(text: str) -> list[Key]:
    """The keys of gpg's lines with colons."""
    keys: list[Key] = []
    for line in text.splitlines():
        kind, *fields = [*line.split(":"), *[""] * 10]
        if kind in ("pub", "sec"):
            keys.append(
                Key("", fields[0] == "e", fields[7].replace("-", "q") or "q", (), kind == "sec")
            )
        elif keys and kind == "fpr" and not keys[-1].fingerprint:
            keys[-1] = keys[-1]._replace(fingerprint=fields[8])
        elif keys and kind == "grp":
            keys[-1] = keys[-1]._replace(grips=(*keys[-1].grips, fields[8]))
    return keys
