# SPDX-License-Identifier: Apache-2.0
"""Keys that may log in: the authorized_keys of users."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from modules import file
from modules.ssh import keys
from runner.api import Done, Line, Name, OneOrMany, Plan, Planned, StateFailed, Trimmed, here
from runner.api.claims import VALUE, Claim, Trap
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite

CONFIG = ".ssh/authorized_keys"

OPPOSITE = {"present": Opposite("absent", by=("user",))}
_WORDS = "user enc comment options config fingerprint_hash_type"
ABOUT_ONE_FILE = {"present": _WORDS, "absent": _WORDS, "manage": f"ssh_keys {_WORDS}"}


def its_file(name: str, user: str, config: str = CONFIG, **_: object) -> str:
    """The file of the user's keys."""
    return keys.path_of(user, config)


def dry_run_check(
    plan: Plan, name: str, user: str, config: str = CONFIG, **arguments: object
) -> None:
    """Raise StateFailed for a file that cannot be written, or is behind a link of others."""
    file.refuse_rewrite(file.real_path(keys.path_of(user, config)))


def owns(fun: str, name: str, user: str = "", **given: object) -> Iterator[Claim]:
    """What stands before and behind a key, also where `name` is the whole line."""
    if fun == "present" and not given.get("source"):
        key = keys.parsed(name) or keys.Key(name.strip())
        said = given.get("options") or ""
        options = key.options or ",".join(map(str, said if isinstance(said, list) else [said]))
        thing = f"key {key.key} of {user} in {given.get('config', CONFIG)}"
        yield Claim(VALUE, thing, "options", values=(options,))
        if comment := key.comment or given.get("comment"):  # without one a key keeps its own
            yield Claim(VALUE, thing, "comment", values=(str(comment),))


def traps(
    fun: str, name: str, enc: object = None, options: object = None, **arguments: object
) -> Iterator[Trap]:
    """Keys that sshd passes over: of another kind than the line says, cut short, or with an option
    without quotes.
    """
    if fun == "absent" or arguments.get("source"):
        return
    texts = [name] if fun == "present" else arguments.get("ssh_keys")
    for text in texts if isinstance(texts, list) else ():
        written = keys.parsed(str(text))
        key = written or keys.Key(str(text).strip(), keys.kind(str(enc or "ssh-rsa")))
        real = keys.kind_within(key.key)
        if real not in ("", key.kind):
            message = f"the key is one of {real}, and sshd passes over it as one of {key.kind}"
            hint = f"write {real} before it" if written else f"`- enc: {real}`"
            yield Trap("enc" if enc and not written else "name", message, hint)
        elif real and not keys.is_whole(key.key):
            message = "a part of the key is missing, and sshd passes over it"
            yield Trap("name", message, "copy the whole line of the .pub file")
        own = written.options if written else ""
        said = options if isinstance(options, list) else [options or ""]
        for option in keys.option_list(own or ",".join(map(str, said))):
            word, _, value = option.partition("=")
            if word.lower() in keys.QUOTED and not value.startswith('"'):
                message = f"sshd wants the value of {word} in double quotes, else the key is none"
                yield Trap("name" if own else "options", message, f'write {word}="{value}"')


@file.validated
def present(
    name: Line,
    user: Name,
    enc: Line = "ssh-rsa",
    comment: Line = "",
    source: str | None = None,
    options: OneOrMany[Trimmed] | None = None,
    config: Line = CONFIG,
    fingerprint_hash_type: Line | None = None,
) -> Planned:
    """Make sure that a key may log in as a user.

    name: A whole line of a public key, or only the key itself, in base64.
    user: The user who may log in with it.
    enc: The kind of a key that `name` does not say: ssh-rsa, ed25519, ecdsa, ...
    comment: The comment behind a key that `name` does not say.
    source: A file (salt://) with several keys instead; name then only names the state.
    options: Options before a key that `name` does not say, such as `no-pty` or `command="..."`; of
      a `source`, before each of its keys in place of its own.
    config: The file below the home folder; %h and %u stand for home and user.
    fingerprint_hash_type: Ignored; keys are compared, not their fingerprints.

        AAAAC3NzaC1lZDI1NTE5AAAAIBXXXX:
          ssh_auth.present:
            - user: zoe
            - enc: ed25519
    """
    wanted = (
        keys.of_source(source, options=options)
        if source
        else [keys.wanted(name, enc, comment, options or ())]
    )
    path = _path(user, config)
    present_keys = keys.known(path)
    new = _due(wanted, present_keys)
    label = name if source else wanted[0].key
    if not new and source:
        return f"All host keys in file {source} are already present"
    if not new:
        return f"The authorized host key {label} is already present for user {user}"
    updates = [key for key in new if key.key in present_keys]
    word = "Updated" if len(updates) == len(new) else "New"
    if source:
        pending = "".join(
            f"Set to {'update' if key.key in present_keys else 'add'}: {key.key}\n" for key in new
        )
    else:
        pending = f"Key {label} for user {user} is set to be {'updated' if updates else 'added'}"
    yield Plan({label: word}, pending, provides=[("file", path)])
    keys.write(path, user, keys.changed(path, new))
    done = "updated" if word == "Updated" else "added"
    return f"The authorized host key {label} for user {user} was {done}"


@file.validated
def absent(
    name: Line,
    user: Name,
    enc: Line = "ssh-rsa",
    comment: Line = "",
    source: str | None = None,
    options: OneOrMany[Trimmed] | None = None,
    config: Line = CONFIG,
    fingerprint_hash_type: Line | None = None,
) -> Planned:
    """Make sure that a key may not log in as a user.

    name: A whole line of a public key, or only the key itself, in base64.
    user, source, config, fingerprint_hash_type: as of ssh_auth.present.
    enc: ignored; a key is found by itself; its kind.
    comment: ignored; the comment behind the key.
    options: ignored; the options before the key.

        AAAAC3NzaC1lZDI1NTE5AAAAIBXXXX:
          ssh_auth.absent:
            - user: zoe
    """
    wanted = keys.of_source(source) if source else [keys.parsed(name) or keys.Key(name.strip())]
    try:
        path = keys.path_of(user, config)
    except StateFailed:
        return Done("Key not present", in_dry_run="Key is already absent")
    all_keys = keys.known(path)
    present_keys = [key.key for key in wanted if key.key in all_keys]
    if not present_keys:
        return Done("Key not present", in_dry_run="Key is already absent")
    label = name if source else present_keys[0]
    pending = "".join(f"Set to remove: {key}\n" for key in present_keys)
    yield Plan(
        {label: "Removed"}, pending if source else f"Key {label} for user {user} is set for removal"
    )
    keys.write(path, user, keys.changed(path, remove=present_keys))
    return "Key removed"


@file.validated
def manage(
    name: Line,
    ssh_keys: list[Line],
    user: Name,
    enc: Line = "ssh-rsa",
    comment: Line = "",
    source: str | None = None,
    options: OneOrMany[Trimmed] | None = None,
    config: Line = CONFIG,
    fingerprint_hash_type: Line | None = None,
) -> Planned:
    """Make sure that these keys, and no others, may log in as a user.

    name: Names the state.
    ssh_keys: The keys, each a whole line of a public key or only the key itself.
    user, config, fingerprint_hash_type: As of ssh_auth.present.
    enc: The kind of those ssh_keys that do not say it.
    comment: The comment behind those ssh_keys that have none.
    source: A file (salt://) with further keys.
    options: Options before those ssh_keys that have none, and before the keys of the source.

        zoe's keys:
          ssh_auth.manage:
            - user: zoe
            - ssh_keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBXXXX zoe@home]
    """
    named = {
        (key := keys.wanted(text, enc, comment, options or ())).key: (text, key)
        for text in ssh_keys
    }
    wanted = {digits: key for digits, (_, key) in named.items()}
    wanted |= {key.key: key for key in (source and keys.of_source(source, options=options)) or ()}
    path = _path(user, config)
    present_keys = keys.known(path)
    surplus = [digits for digits in present_keys if digits not in wanted]
    new = _due(wanted.values(), present_keys)
    if not surplus and not new:
        return (
            f"The authorized host key {next(iter(wanted), name)} is already present for user {user}"
        )
    changes: dict[str, Any] = dict.fromkeys(surplus, "Key removed")
    for key in new:
        label = named[key.key][0] if source and key.key in named else key.key
        changes[label] = "Updated" if key.key in present_keys else "New"
    comments = [f"{key} Key set for removal" for key in surplus]
    comments += [_pending(key.key, user, key.key in present_keys, source) for key in new]
    yield Plan(changes, "\n".join(comments), provides=[("file", path)])
    keys.write(path, user, keys.changed(path, new, surplus))
    return Done("", changes)


def _path(user: str, config: str) -> str:
    """The file of the user's keys; where nobody named it and sshd has another one, that is told."""
    path = keys.path_of(user, config)
    if config == CONFIG and (why := keys.not_read(user, config)):
        here.warn(why)
    return path


def _pending(key: str, user: str, exists: bool, source: str | None) -> str:
    if source:
        return f"Set to {'update' if exists else 'add'}: {key}"
    return f"Key {key} for user {user} is set to be {'updated' if exists else 'added'}"


def _due(wanted: Collection[keys.Key], present: Mapping[str, keys.Key]) -> list[keys.Key]:
    """The keys that are not there as they are wanted; one without a comment keeps what it has."""
    known = {key.key: present.get(key.key, keys.Key("")) for key in wanted}
    whole = [key._replace(comment=key.comment or known[key.key].comment) for key in wanted]
    return [key for key in whole if key != known[key.key]]


autorequire = comes_after("A key comes after the user whose key it is.", user="user")
