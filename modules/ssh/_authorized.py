# SPDX-License-Identifier: Apache-2.0
"""Salt's functions on keys: those that let users in, and those of users and of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from modules import file
from modules import user as users
from modules.ssh import keys
from modules.ssh.known_hosts import fingerprints
from runner.api import CommandFailed, StateFailed, here

CONFIG = ".ssh/authorized_keys"
HOST_KEYS = "/etc/ssh"


def auth_keys(
    user: str | Sequence[str] | None = None,
    config: str = CONFIG,
    fingerprint_hash_type: str | None = None,
) -> dict[str, Any]:
    """The keys that may log in as a user: enc, comment, options and fingerprint of each. For a list
    of users (null: all) those of each of them.

    config: the file below the home folder; %h and %u stand for home and user.
    fingerprint_hash_type: sha256 or md5.

        {{ salt['ssh.auth_keys']('zoe') }}
    """
    if isinstance(user, str):
        return _described_keys(user, config, fingerprint_hash_type or "sha256")
    by_user = {}
    for name in users.list_users() if user is None else user:
        known = _described_keys(name, config, fingerprint_hash_type or "sha256")
        if known:
            by_user[name] = known
    return by_user


def _described_keys(user: str, config: str, kind: str) -> dict[str, Any]:
    if not users.info(user):
        return {}
    return {
        key.key: {
            "enc": key.kind,
            "comment": key.comment,
            "options": keys.option_list(key.options),
            "fingerprint": _fingerprint(key, kind),
        }
        for key in keys.known(keys.path_of(user, config)).values()
    }


def _fingerprint(key: keys.Key, kind: str) -> str | None:
    """The fingerprint of a key; None for what is damaged. Raises CommandFailed for an unknown
    hash.
    """
    if kind not in ("md5", "sha256"):
        raise CommandFailed(f"fingerprint_hash_type: expected md5 or sha256, not {kind!r}")
    try:
        return fingerprints([f"- {key.kind} {key.key}"], kind)[0]
    except ValueError:
        return None


def _state(path: str, wanted: keys.Key) -> str:
    """`exists`, `update` (another comment or options) or `add`."""
    known = keys.known(path).get(wanted.key)
    return "add" if known is None else "exists" if known == wanted else "update"


def check_key(
    user: str,
    key: str,
    enc: str,
    comment: str,
    options: str | Sequence[str],
    config: str = CONFIG,
    cache_keys: Sequence[str] | None = None,
    fingerprint_hash_type: str | None = None,
) -> str:
    """Return `exists` when a key may log in as a user just so, `update` when it may with another
    kind, comment or options, else `add`.

    {% if salt['ssh.check_key']('zoe', key, 'ssh-ed25519', '', []) == 'add' %}
    """
    wanted = keys.wanted(key, enc, comment, _option_words(options))
    return _state(keys.path_of(user, config), wanted)


def _option_words(options: str | Iterable[str] | None) -> list[str]:
    return [options] if isinstance(options, str) else list(options or ())


def check_key_file(
    user: str,
    source: str,
    config: str = CONFIG,
    saltenv: str = "base",
    fingerprint_hash_type: str | None = None,
) -> dict[str, str]:
    """Return what check_key answers for each key of a file (salt://, or a path)."""
    path = keys.path_of(user, config)
    return {key.key: _state(path, key) for key in keys.of_source(source, saltenv)}


def set_auth_key(
    user: str,
    key: str,
    enc: str = "ssh-rsa",
    comment: str = "",
    options: str | Sequence[str] | None = None,
    config: str = CONFIG,
    cache_keys: Sequence[str] | None = None,
    fingerprint_hash_type: str | None = None,
) -> str:
    """Let a key log in as a user: `new`, `replace` (it had another comment or options) or
    `no change`.

    key: a whole line of a public key, or only its digits, then with enc, comment and options.
    config: as of auth_keys. cache_keys, fingerprint_hash_type: accepted.

        runner call ssh.set_auth_key zoe AAAAC3NzaC1lZDI1NTE5AAAAIBXXXX ed25519
    """
    return _set(user, config, [keys.wanted(key, enc, comment, _option_words(options))])


def set_auth_key_from_file(
    user: str,
    source: str,
    config: str = CONFIG,
    saltenv: str = "base",
    fingerprint_hash_type: str | None = None,
) -> str:
    """Let the keys of a file (salt://, or a path) log in as a user: `new`, `replace` or
    `no change`.
    """
    return _set(user, config, keys.of_source(source, saltenv))


def _set(user: str, config: str, wanted: Sequence[keys.Key]) -> str:
    path = keys.path_of(user, config)
    states = {_state(path, key) for key in wanted}
    if states <= {"exists"}:
        return "no change"
    keys.write(path, user, keys.changed(path, wanted))
    return "replace" if "update" in states else "new"


def rm_auth_key(
    user: str, key: str, config: str = CONFIG, fingerprint_hash_type: str | None = None
) -> str:
    """Let a key log in as a user no more: `Key removed` or `Key not present`."""
    parsed = keys.parsed(key)
    return _remove(user, config, {parsed.key if parsed else key.strip()})


def rm_auth_key_from_file(
    user: str,
    source: str,
    config: str = CONFIG,
    saltenv: str = "base",
    fingerprint_hash_type: str | None = None,
) -> str:
    """Let the keys of a file (salt://, or a path) log in as a user no more: `Key removed` or
    `Key not present`.
    """
    return _remove(user, config, {key.key for key in keys.of_source(source, saltenv)})


def _remove(user: str, config: str, digits: set[str]) -> str:
    if not users.info(user):
        return "Key not present"
    path = keys.path_of(user, config)
    present = digits & keys.known(path).keys()
    if not present:
        return "Key not present"
    keys.write(path, user, keys.changed(path, remove=present))
    return "Key removed"


def key_is_encrypted(key: str) -> bool:
    """Return whether a passphrase protects the private key in a file. Raises CommandFailed for what
    is no private key.

    {% if salt['ssh.key_is_encrypted']('/root/.ssh/id_ed25519') %}
    """
    import base64

    text = file.read_bytes(os.path.expanduser(key)).decode("ascii", "replace")
    first, *rest = text.strip().splitlines() or [""]
    if "PRIVATE KEY-----" not in first:
        raise CommandFailed(f"{key} is not a private key")
    if "OPENSSH" not in first:
        return "ENCRYPTED" in text
    try:  # the name of the cipher follows the magic word: its length in four bytes, then the name
        data = base64.b64decode("".join(rest[:-1]))
    except ValueError:
        raise CommandFailed(f"{key} is damaged") from None
    magic = b"openssh-key-v1\0"
    size = int.from_bytes(data[len(magic) : len(magic) + 4], "big")
    return data[len(magic) + 4 :][:size] != b"none"


def host_keys(
    keydir: str | None = None, private: bool = True, certs: bool = True
) -> dict[str, str]:
    """The keys of this machine's sshd, by name (`rsa`, `rsa.pub`, `rsa-cert.pub`).

    keydir: their folder. private: with the private ones. certs: with certificates.

        {{ salt['ssh.host_keys'](private=False)['ed25519.pub'] }}
    """
    folder = keydir or HOST_KEYS
    known = {}
    for name in sorted(file.listdir(folder)):
        short = name.removeprefix("ssh_host_").replace("_key", "", 1)
        if not name.startswith("ssh_host_") or "_key" not in name:
            continue
        ending = name.partition("_key")[2]
        if ending == ".pub" or (ending == "" and private) or (ending == "-cert.pub" and certs):
            known[short] = _content(os.path.join(folder, name))
    return known


def _content(path: str) -> str:
    text = file.read_bytes(path).decode("utf-8", "replace").strip()
    if "PRIVATE KEY-----" in text and not here.called_directly:
        here.secret(text)
    return text


def user_keys(
    user: str | Sequence[str] | None = None,
    pubfile: str | bool | None = None,
    prvfile: str | bool | None = None,
) -> dict[str, dict[str, str]]:
    """The keys of users (null: of all) from their .ssh folders, by user and the file's name.

    pubfile, prvfile: the names of the files; false for no public, no private ones.

        {{ salt['ssh.user_keys']('zoe', prvfile=False) }}
    """
    by_user = {}
    for name in [user] if isinstance(user, str) else users.list_users() if user is None else user:
        home = users.info(name).get("home", "")
        paths = _key_paths(f"{home}/.ssh", pubfile, ".pub") if home else []
        paths += _key_paths(f"{home}/.ssh", prvfile, "") if home else []
        contents = {os.path.basename(path): text for path in paths if (text := _readable(path))}
        if contents:
            by_user[name] = contents
    return by_user


def _key_paths(folder: str, wanted: str | bool | None, ending: str) -> list[str]:
    if wanted is False:
        return []
    names = (
        [wanted]
        if isinstance(wanted, str)
        else [f"id_{kind}{ending}" for kind in ("rsa", "dsa", "ecdsa", "ed25519")]
    )
    return [os.path.join(folder, name) for name in names]


def _readable(path: str) -> str:
    try:
        return _content(path) if file.is_file(path) else ""
    except StateFailed:
        return ""
