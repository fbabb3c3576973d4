# SPDX-License-Identifier: Apache-2.0
"""ssh: the keys that let users in, and those by which other machines are known.

What states use is in `keys` and `known_hosts`; these are Salt's functions.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Sequence
from typing import Any

from modules import file
from modules import user as users
from modules._texts.lines import split
from modules.ssh import keys, known_hosts
from runner.api import CommandFailed, StateFailed, here


def get_known_host_entries(
    user: str | None,
    hostname: str,
    config: str | None = None,
    port: int | None = None,
    fingerprint_hash_type: str | None = None,
) -> list[dict[str, str]] | None:
    """The keys by which a host is known, each with hostname, enc, key and fingerprint; null when
    there are none.

    user: whose known_hosts; null for the system's. config: the file. fingerprint_hash_type: sha256
    or md5.

        {{ salt['ssh.get_known_host_entries']('zoe', 'git.example.com') }}
    """
    lines = known_hosts.entries(known_hosts.path_of(user, config), hostname, port)
    kind = fingerprint_hash_type or "sha256"
    return [known_hosts.described(line, kind) for line in lines] or None


def recv_known_host_entries(
    hostname: str,
    enc: str | None = None,
    port: int | None = None,
    hash_known_hosts: bool = True,
    timeout: int = 5,
    fingerprint_hash_type: str | None = None,
) -> list[dict[str, str]]:
    """The keys that a host offers, each with hostname, enc, key and fingerprint.

    {{ salt['ssh.recv_known_host_entries']('git.example.com') }}
    """
    lines = known_hosts.scanned(hostname, port, enc, timeout, hash_known_hosts) or []
    return [known_hosts.described(line, fingerprint_hash_type or "sha256") for line in lines]


def _required(user: str | None, hostname: str | None, config: str | None) -> str:
    """The file of known hosts. Raises CommandFailed where the host is missing, and for a relative
    file of nobody.
    """
    if not hostname:
        raise CommandFailed("hostname argument required")
    if user is None and config and not config.startswith("/"):
        raise CommandFailed(
            f"config: {config} is relative to the home folder of a user: give the user, too"
        )
    return known_hosts.path_of(user, config)


def check_known_host(
    user: str | None = None,
    hostname: str | None = None,
    key: str | None = None,
    fingerprint: str | None = None,
    config: str | None = None,
    port: int | None = None,
    fingerprint_hash_type: str | None = None,
) -> str:
    """Return `exists` when a host is known (by this key or fingerprint), `update` when it is by
    others only, else `add`.
    """
    path = _required(user, hostname, config)
    lines = known_hosts.entries(path, str(hostname), port)
    if not lines:
        return "add"
    kind = fingerprint_hash_type or "sha256"
    return "exists" if known_hosts.matching(lines, key, fingerprint, None, kind) else "update"


def set_known_host(
    user: str | None = None,
    hostname: str | None = None,
    fingerprint: str | None = None,
    key: str | None = None,
    port: int | None = None,
    enc: str | None = None,
    config: str | None = None,
    hash_known_hosts: bool = True,
    timeout: int = 5,
    fingerprint_hash_type: str | None = None,
) -> dict[str, Any]:
    """Have a host known: {status: exists or updated, old, new}. Raises CommandFailed when the host
    offers no key, and for both of key and fingerprint.

    The arguments are those of the state ssh_known_hosts.present.

        runner call ssh.set_known_host zoe git.example.com fingerprint=d6:97:3d:...
    """
    path = _required(user, hostname, config)
    if key and fingerprint:
        raise CommandFailed('Specify either "key" or "fingerprint", not both.')
    if key and not enc:
        raise CommandFailed('Required argument "enc" if using "key" argument.')
    host, kind = str(hostname), fingerprint_hash_type or "sha256"
    old = known_hosts.entries(path, host, port)
    if (key or fingerprint) and known_hosts.matching(old, key, fingerprint, enc, kind):
        return {"status": "exists", "keys": [line.split()[2] for line in old]}
    if key:
        new = [known_hosts.new_line(host, port, enc, key, hash_known_hosts)]
    else:
        new = known_hosts.offered(host, port, enc, timeout, hash_known_hosts, fingerprint, kind)
    known_keys = {line.split()[2] for line in old}
    if known_keys >= {line.split()[2] for line in new}:
        return {"status": "exists", "keys": [line.split()[2] for line in old]}
    known_hosts.write(path, user, new, known_hosts.of_same_kind(old, new))
    return {
        "status": "updated",
        "old": [known_hosts.described(line, kind) for line in old] or None,
        "new": [known_hosts.described(line, kind) for line in new],
    }


def rm_known_host(
    user: str | None = None,
    hostname: str | None = None,
    config: str | None = None,
    port: int | None = None,
) -> dict[str, str]:
    """Have a host known no more: {status, comment}. Raises CommandFailed when there is no file of
    known hosts.
    """
    path = _existing(_required(user, hostname, config))
    lines = known_hosts.entries(path, str(hostname), port)
    if lines:
        known_hosts.write(path, user, [], lines)
    return {"status": "removed", "comment": f"lines removed from {path}: {len(lines)}"}


def hash_known_hosts(user: str | None = None, config: str | None = None) -> dict[str, str]:
    """Hide the names of all known hosts: {status, comment}. Raises CommandFailed when there is no
    file of known hosts.

    Patterns and lines with a marker (`@revoked`) stay as they are.
    """
    path = _existing(_required(user, "all", config))
    old = split(file.text_to_edit(path))
    plain = [line for line in old if _can_hide(line)]
    if plain:
        new = [hidden for line in plain for hidden in _hidden(line)]
        known_hosts.write(path, user, new, plain)
    return {"status": "updated", "comment": f"lines hashed in {path}: {len(plain)}"}


def _existing(path: str) -> str:
    if not file.is_file(path):
        raise CommandFailed(f"Known hosts file {path} does not exist", missing=("file", path))
    return path


def _can_hide(line: str) -> bool:
    names, _, rest = line.partition(" ")
    return bool(rest.strip()) and names[0] not in "#@|" and not set(names) & set("*?!")


def _hidden(line: str) -> list[str]:
    names, _, rest = line.partition(" ")
    return [f"{known_hosts.hashed(name)} {rest}" for name in names.split(",") if name]


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
        return known_hosts.fingerprints([f"- {key.kind} {key.key}"], kind)[0]
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
