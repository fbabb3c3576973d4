# SPDX-License-Identifier: Apache-2.0
"""Public keys of gpg in the keyrings of users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from modules import cmd, file
from modules.gpg import store as keyrings
from runner.api import (
    AbsolutePath,
    Check,
    CheckUnless,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    Record,
    StateFailed,
)
from runner.api.claims import PART, PRESENT, Claim
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states.file import _sources as sources

DECIDES = {"present": "trust"}
MEANS = {"user": cmd.caller}
OPPOSITE = {"present": Opposite("absent", by=("user", "gnupghome", "keyring"))}
Level = Literal["expired", "unknown", "not_trusted", "marginally", "fully", "ultimately"]


def _key_problem(name: str) -> str | None:
    digits = keyrings.plain_id(name)
    if len(digits) in (8, 16, 40, 64) and not {*digits} - {*"0123456789ABCDEF"}:
        return None
    return f"{name!r}: expected the fingerprint of a key (40 digits), or its ID (16 or 8)"


KeyName = Annotated[Line, Check(_key_problem)]
NameOrLabel = Annotated[Line, CheckUnless("keys", _key_problem)]


def dry_run_check(
    plan: Plan,
    name: str,
    user: str | None = None,
    gnupghome: str | None = None,
    keyring: str | None = None,
    **_: object,
) -> None:
    """Raise StateFailed where the caller may not write the keys."""
    keyrings.refuse_change(keyrings.found(user, gnupghome, keyring))


class _Wanted(Record):
    """A key as a state wants it. name: as the SLS names it. key: the one that is to be there; None
    where a key server is asked for it. is_trusted: its owner is trusted as the state says.
    """

    name: str
    key: keyrings.Key | None
    is_there: bool
    is_fetched: bool
    is_trusted: bool

    def changes(self, trust: str | None) -> dict[str, Any]:
        made = {} if not self.is_fetched else {"refresh" if self.is_there else "added": True}
        return made | ({} if self.is_trusted else {"trust": trust})

    def lines(self, trust: str | None, done: bool) -> Iterator[str]:
        yield f"Key {self.name}:"
        if self.is_fetched and self.is_there:
            pending = f"Would have attempted to update {self.name} because it is expired"
            yield f"  * Updated {self.name} because it was expired" if done else f"  * {pending}"
        elif self.is_fetched:
            yield f"  * {'Added' if done else 'Would have added'} {self.name} to GPG keychain"
        else:
            yield f"  * GPG Public Key {self.name} already in keychain"
        if not self.is_trusted:
            verb = "Set" if done else "Would have set"
            yield f"  * {verb} trust level for {self.name} to {trust}"
        elif trust and not self.is_fetched:
            yield f"  * GPG Public Key {self.name} already in correct trust state"


def present(
    name: NameOrLabel,
    keys: OneOrMany[KeyName] | None = None,
    user: Name | None = None,
    keyserver: Name | None = None,
    gnupghome: AbsolutePath | None = None,
    trust: Level | None = None,
    keyring: AbsolutePath | None = None,
    source: OneOrMany[Name] | None = None,
    skip_keyserver: bool = False,
    text: str | None = None,
) -> Planned:
    """Make sure that public keys are in a keyring of gpg, and not expired.

    Of a source only the keys that are named get in. gpg works on a copy of the keyring, which then
    takes its place: it starts no agent, and reads no settings of the keys' owner.

    name: The fingerprint of a key (or its ID, of 16 or 8 digits, where one key alone has it).
    keys: Several of them instead; name then only names the state.
    user: Whose keyring it is; without it, of who runs this. (Of salt it is in /etc/salt/gpgkeys.)
    keyserver: Where to get a key that no source has. It is asked in a real run only.
    gnupghome: The folder of gpg instead of ~/.gnupg.
    trust: How far the owner of the keys is trusted; without it, that is left as it is.
    keyring: A file of keys instead of the user's.
    source: Files with the keys, armored or not: salt://, an absolute path or an address.
    skip_keyserver: Ask no key server; without `source` and `text` gpg's own is asked.
    text: The keys as a text, as of `gpg --armor --export`.

        53444C55366941D596D084E9F51D672604475098:
          gpg.present:
            - user: zoe
            - source: salt://keys/backup.asc
            - trust: fully
    """
    store = keyrings.found(user, gnupghome, keyring)
    store.refuse_homeless()
    copy, offers = keyrings.Copy(store), keyrings.Copy(None, "offers")
    there = {each: copy.key(each) for each in keys or [name]}
    old = [each for each, key in there.items() if key is None or key.is_expired]
    unread = _offer(offers, old, source, text) if old else []
    asks = not skip_keyserver and bool(keyserver or not (source or text))
    wanted = [_wanted(each, key, offers, trust, asks, unread) for each, key in there.items()]
    changes = {each.name: made for each in wanted if (made := each.changes(trust))}
    if not changes:
        return _comment(wanted, trust, True)
    yield Plan(changes, _comment(wanted, trust, False), provides=[("file", store.written)])
    if asked := [each.name for each in wanted if each.key is None]:
        keyrings.receive(offers, asked, keyserver)
    for each in wanted:
        key = each.key or _current(each.name, offers, unread)
        if each.is_fetched:
            copy.take(key.fingerprint, offers)
        if trust and not each.is_trusted:
            copy.trust(key.fingerprint, trust)
    copy.keep()
    return _comment(wanted, trust, True)


def _offer(
    offers: keyrings.Copy, names: Sequence[str], source: Sequence[str] | None, text: str | None
) -> list[StateFailed]:
    """Offer what the sources hold, until they have all keys. Returns why some cannot be read."""
    if text:
        offers.offer(text.encode("utf-8", "surrogateescape"))
    unread = []
    for each in source or ():
        try:
            located = sources.locate([each], "", sources.Verify(skip=True), reuse=False)
        except StateFailed as problem:
            unread.append(problem)
            continue
        offers.offer(file.read_bytes(located.path))
        if all(_offered(offers, name) for name in names):
            break
    return unread


def _offered(offers: keyrings.Copy, name: str) -> keyrings.Key | None:
    """The key that is offered, unless it has expired."""
    key = offers.key(name)
    return None if key is None or key.is_expired else key


def _wanted(
    name: str,
    key: keyrings.Key | None,
    offers: keyrings.Copy,
    trust: str | None,
    asks: bool,
    unread: Sequence[StateFailed],
) -> _Wanted:
    """A key as it is to be. asks: a key server may have it."""
    trusted = trust is None or (key is not None and key.trust == keyrings.TRUST[trust][0])
    if key is not None and not key.is_expired:
        return _Wanted(name, key, True, False, trusted)
    new = _offered(offers, name) if asks else _current(name, offers, unread)
    return _Wanted(name, new, key is not None, True, trusted)


def _current(name: str, offers: keyrings.Copy, unread: Sequence[StateFailed]) -> keyrings.Key:
    """The key that is offered. Raises StateFailed where there is none, or an expired one."""
    key = _offered(offers, name)
    if key is None:
        raise StateFailed(
            "\n  * ".join(
                [
                    f"Key {name}:",
                    "none of the specified sources were found or contained the (unexpired) key"
                    f" {name}.",
                    *(problem.message for problem in unread),
                ]
            ),
            missing=[fact for problem in unread for fact in problem.missing],
        )
    return key


def _comment(wanted: Sequence[_Wanted], trust: str | None, done: bool) -> str:
    return "\n".join(line for each in wanted for line in each.lines(trust, done))


def absent(
    name: NameOrLabel,
    keys: OneOrMany[KeyName] | None = None,
    user: Name | None = None,
    gnupghome: AbsolutePath | None = None,
    keyring: AbsolutePath | None = None,
    keyring_absent_if_empty: bool = False,
) -> Planned:
    """Make sure that public keys are in no keyring of gpg. One whose secret key is there stays,
    which is an error.

    name: The fingerprint of a key, or its ID, of 16 or 8 digits.
    keys: Several of them instead; name then only names the state.
    user, gnupghome, keyring: As of gpg.present.
    keyring_absent_if_empty: Remove the file of `keyring` when it has no key any more.

        53444C55366941D596D084E9F51D672604475098:
          gpg.absent:
            - user: zoe
    """
    store = keyrings.found(user, gnupghome, keyring)
    copy = keyrings.Copy(store)
    there = {each: copy.key(each) for each in keys or [name]}
    found = {each: key for each, key in there.items() if key}
    if keyrings.has_secret(store, found.values()):
        raise StateFailed("Secret key exists, delete it first: " + ", ".join(found))
    kept = len(copy.keys()) - len({key.fingerprint for key in found.values()})
    empty = keyring if keyring_absent_if_empty and not kept else None
    removed = empty if empty and file.lexists(empty) else None
    changes: dict[str, Any] = {"deleted": list(found)} if found else {}
    changes |= {"removed": removed} if removed else {}

    def comment(deleted: str, took: str) -> str:
        lines = [
            f"{deleted} {each} from GPG keychain" if key else f"{each} not found in GPG keychain"
            for each, key in there.items()
        ]
        return "\n".join([*lines, *([f"{took} empty keyring file {removed}"] if removed else [])])

    done = comment("Deleted", "Removed")
    if not changes:
        return done
    yield Plan(changes, comment("Would have deleted", "Would have removed"))
    for key in found.values():
        copy.drop(key.fingerprint)
    copy.keep()
    if removed:
        file.remove(removed)
    return done


def owns(
    fun: str,
    name: str,
    keys: str | Sequence[str] | None = None,
    user: str | None = None,
    gnupghome: str | None = None,
    keyring: str | None = None,
    **_: object,
) -> Iterator[Claim]:
    """Keys of a keyring."""
    if gnupghome and fun == "present":
        yield Claim(PRESENT, gnupghome)
    ring = keyring or gnupghome or f"the gpg keyring of {user or 'who runs this'}"
    for each in [keys] if isinstance(keys, str) else keys or [name]:
        yield Claim(PART, ring, keyrings.plain_id(str(each))[-16:], removes=fun == "absent")


autorequire = comes_after(
    "Keys come after gpg, and after the user whose they are.", ("pkg", "gnupg"), user="user"
)
