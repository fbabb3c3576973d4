# SPDX-License-Identifier: Apache-2.0
"""Keys, signatures and messages, with gpg."""

from __future__ import annotations

import datetime
import tempfile
import urllib.parse
from collections.abc import Iterable, Sequence
from typing import Any

from modules import file
from modules._texts.lines import one_line, plain_name
from modules.gpg import _run
from modules.gpg._messages import decrypt, encrypt, sign, signers, verify
from modules.gpg._run import Keyring
from runner.api import CommandFailed, StateFailed, changer, here

_TRUST = {
    "e": "Expired",
    "q": "Unknown",
    "-": "Unknown",
    "n": "Not Trusted",
    "r": "Revoked",
    "m": "Marginally Trusted",
    "f": "Fully Trusted",
    "u": "Ultimately Trusted",
}
_LEVELS = {  # the names of owner trust -> gpg's numbers and what Salt calls them
    "expired": ("1", "Expired"),
    "unknown": ("2", "Unknown"),
    "not_trusted": ("3", "Not Trusted"),
    "marginally": ("4", "Marginally"),
    "fully": ("5", "Fully Trusted"),
    "ultimately": ("6", "Ultimately Trusted"),
}
_REGISTERED = ("pub", "sec")
Names = str | Sequence[str] | None


def list_keys(
    user: str | None = None, gnupghome: str | None = None, keyring: str | None = None
) -> list[dict[str, Any]]:
    """The public keys: keyid, fingerprint, uids, created, expires, keyLength, ownerTrust, trust.

    user: whose keys (of salt those in /etc/salt/gpgkeys), else those of who runs. gnupghome: their
    directory instead. keyring: the file of the keys.

    {{ salt['gpg.list_keys'](gnupghome='/etc/salt/gpgkeys') | json }}
    """
    return _listed(Keyring(user, gnupghome, keyring), "--list-keys")


def list_secret_keys(
    user: str | None = None, gnupghome: str | None = None, keyring: str | None = None
) -> list[dict[str, Any]]:
    """The keys whose secret part is there, as gpg.list_keys lists them."""
    return _listed(Keyring(user, gnupghome, keyring), "--list-secret-keys")


def get_key(
    keyid: str | None = None,
    fingerprint: str | None = None,
    user: str | None = None,
    gnupghome: str | None = None,
    keyring: str | None = None,
) -> dict[str, Any] | bool:
    """A public key, by its fingerprint or its ID (16 or 8 digits); False without it.

    {{ salt['gpg.get_key'](keyid='3FAD9F1E', user='ada') | json }}
    """
    return _chosen(list_keys(user, gnupghome, keyring), keyid, fingerprint)


def get_secret_key(
    keyid: str | None = None,
    fingerprint: str | None = None,
    user: str | None = None,
    gnupghome: str | None = None,
    keyring: str | None = None,
) -> dict[str, Any] | bool:
    """The same as gpg.get_key, of keys whose secret part is there."""
    return _chosen(list_secret_keys(user, gnupghome, keyring), keyid, fingerprint)


def read_key(
    path: str | None = None,
    text: str | None = None,
    fingerprint: str | None = None,
    keyid: str | None = None,
    user: str | None = None,
    gnupghome: str | None = None,
) -> list[dict[str, Any]]:
    """The keys of a file or a text, without importing them. Raises CommandFailed for one without
    keys.

    path, text: one of them. keyid, fingerprint: only that key.

    {{ salt['gpg.read_key']('/srv/keys/app.asc') | json }}
    """
    keys = Keyring(user, gnupghome)
    armored = _run.text_or_file(text, path)
    listed = ["--with-colons", "--fixed-list-mode", "--import-options", "show-only", "--import"]
    done = keys.run(*listed, stdin=armored)
    read = _parsed(done.stdout)
    if not read:
        raise CommandFailed(f"Failed reading from {path or 'text'}: {_run.reason(done)}")
    wanted = keyid or fingerprint
    return [key for key in read if not wanted or _is(key, keyid, fingerprint)]


def search_keys(
    text: str, keyserver: str | None = None, user: str | None = None, gnupghome: str | None = None
) -> list[dict[str, Any]]:
    """The keys that a key server has for a text: keyid, uids, created, expires, keyLength.

    keyserver: which (default: gpg's own).

    {{ salt['gpg.search_keys']('ada@example.org', keyserver='keyserver.ubuntu.com') | json }}
    """
    server = [f"--keyserver={keyserver}"] if keyserver else []
    done = Keyring(user, gnupghome).run(*server, "--with-colons", "--search-keys", "--", text)
    result: list[dict[str, Any]] = []
    for line in done.stdout.splitlines():
        kind, *fields = line.split(":")
        if kind == "pub" and len(fields) > 4:
            dates = {"created": _date(fields[3]), "expires": _date(fields[4])}
            result.append(
                {
                    "keyid": fields[0],
                    "uids": [],
                    **{name: date for name, date in dates.items() if date},
                    "keyLength": fields[2],
                }
            )
        elif kind == "uid" and result:
            result[-1]["uids"].append(urllib.parse.unquote(fields[0]))
    return result


def export_key(
    keyids: Names = None,
    secret: bool = False,
    user: str | None = None,
    gnupghome: str | None = None,
    use_passphrase: bool = False,
    output: str | None = None,
    bare: bool = False,
    keyring: str | None = None,
) -> Any:
    """Keys as text: {res, comment}, or with `bare` the text alone (False without such keys).

    keyids: their IDs or fingerprints, a list or with commas; none: all. secret: the secret keys,
    with the pillar's gpg_passphrase where `use_passphrase` says so. output: the file that they are
    written to instead, 0600.

    {{ salt['gpg.export_key']('3FAD9F1E', bare=True) }}
    """
    keys = Keyring(user, gnupghome, keyring)
    action = "--export-secret-keys" if secret else "--export"
    with _run.passphrase(use_passphrase, user) as words:
        secrecy = words if secret else []
        done = keys.run(*secrecy, "--armor", action, "--", *_names(keyids))
    exported = f"{done.stdout}\n"
    if not done.stdout:
        return False if bare else {"res": False}
    if output:
        file.write(output, exported.encode(), mode="0600")
        comment = f"Exported key data has been written to {output}"
        return comment if bare else {"res": True, "comment": comment}
    if secret and not here.called_directly:
        here.secret(exported.strip())
    return exported if bare else {"res": True, "comment": exported}


def import_key(
    text: str | None = None,
    filename: str | None = None,
    user: str | None = None,
    gnupghome: str | None = None,
    keyring: str | None = None,
    select: Names = None,
) -> dict[str, Any]:
    """Import keys: {res, message, fingerprints}. Raises CommandFailed for `select` with keys that
    are not there.

    text, filename: the keys, one of them. select: only these of them, by fingerprint or ID, a list
    or with commas.

    {% do salt['gpg.import_key'](filename='/srv/keys/app.asc', user='ada') %}
    """
    armored = _run.text_or_file(text, filename)
    if select:
        armored = _selected(armored, _names(select))
    return _import(filename or "a text", Keyring(user, gnupghome, keyring), armored)


@changer(touches=[])
def _import(source: str, keys: Keyring, armored: str) -> dict[str, Any]:
    """Import keys. source: where they are from, for the history, which is no place for them."""
    outcome = _run.reports(keys.run("--import", stdin=armored))
    counts = next((words[1:] for words in outcome if words[0] == "IMPORT_RES"), [])
    fingerprints = [words[2] for words in outcome if words[0] == "IMPORT_OK"]
    imported, unchanged = (int(counts[at]) if len(counts) > at else 0 for at in (2, 4))
    message = (
        "Successfully imported key(s)."
        if imported
        else "Key(s) already exist in keychain."
        if unchanged
        else "Unable to import key."
    )
    result = bool(imported or unchanged)
    return {"res": result, "message": message, "fingerprints": list(dict.fromkeys(fingerprints))}


@changer(touches=[])
def receive_keys(
    keyserver: str | None = None,
    keys: Names = None,
    user: str | None = None,
    gnupghome: str | None = None,
    keyring: str | None = None,
) -> dict[str, Any]:
    """Import keys from a key server: {res, message}, a message for each key.

    keyserver: which (default: gpg's own). keys: their IDs or fingerprints, a list or with commas.

    {% do salt['gpg.receive_keys'](keyserver='keyserver.ubuntu.com', keys='3FAD9F1E') %}
    """
    server = [f"--keyserver={keyserver}"] if keyserver else []
    words = [*server, "--recv-keys", "--", *_names(keys)]
    done = Keyring(user, gnupghome, keyring).run(*words)
    messages = [
        f"Key {words[2]} already exists in keychain"
        if words[1] == "0"
        else f"Key {words[2]} added to keychain"
        for words in _run.reports(done)
        if words[0] == "IMPORT_OK"
    ]
    if messages:
        return {"res": True, "message": messages}
    return {"res": False, "message": [f"Unable to add key to keychain: {_run.reason(done)}"]}


@changer(touches=[])
def create_key(
    key_type: str = "RSA",
    key_length: int = 1024,
    name_real: str = "Autogenerated Key",
    name_comment: str = "Generated by SaltStack",
    name_email: str | None = None,
    subkey_type: str | None = None,
    subkey_length: int | None = None,
    expire_date: str | None = None,
    use_passphrase: bool = False,
    user: str | None = None,
    gnupghome: str | None = None,
    keyring: str | None = None,
) -> dict[str, Any]:
    """Make a key pair: {res, fingerprint, message}.

    key_type, key_length, subkey_type, subkey_length: as gpg has them. name_real, name_comment,
    name_email: whose it is. expire_date: a date, or a number of days, weeks, months or years
    (`2w`); none: never. use_passphrase: the pillar's gpg_passphrase protects it.

    {% do salt['gpg.create_key'](key_length=4096, name_email='backup@example.org') %}
    """
    parameters = {
        "Key-Type": key_type,
        "Key-Length": key_length,
        "Subkey-Type": subkey_type,
        "Subkey-Length": subkey_length,
        "Name-Real": name_real,
        "Name-Comment": name_comment,
        "Name-Email": name_email or f"{user or 'root'}@{here.grains.get('id', 'localhost')}",
        "Expire-Date": expire_date or 0,
        "Passphrase": _run.passphrase_of_pillar() if use_passphrase else None,
    }
    lines = [
        f"{name}: {one_line(value, name)}"
        for name, value in parameters.items()
        if value is not None
    ]
    unprotected = [] if use_passphrase else ["%no-protection"]
    script = "\n".join([*lines, *unprotected, "%commit", ""])
    done = Keyring(user, gnupghome, keyring).run("--full-generate-key", stdin=script)
    made = next((words[2] for words in _run.reports(done) if words[0] == "KEY_CREATED"), "")
    if not made:
        message = f"Unable to generate GPG key pair: {_run.reason(done)}"
        return {"res": False, "fingerprint": "", "message": message}
    message = "GPG key pair successfully generated."
    return {"res": True, "fingerprint": made, "message": message}


@changer(touches=[])
def delete_key(
    keyid: str | None = None,
    fingerprint: str | None = None,
    delete_secret: bool = False,
    user: str | None = None,
    gnupghome: str | None = None,
    use_passphrase: bool = True,
    keyring: str | None = None,
) -> dict[str, Any]:
    """Delete a key: {res, message}. Raises StateFailed without a keyid and a fingerprint.

    keyid, fingerprint: which. delete_secret: its secret part, too, without which a key whose secret
    part is there stays. use_passphrase: not needed, gpg asks for none.

    {% do salt['gpg.delete_key'](fingerprint='53C9...') %}
    """
    keys = Keyring(user, gnupghome, keyring)
    public = get_key(keyid, fingerprint, user, gnupghome, keyring)
    if not isinstance(public, dict):
        return {"res": False, "message": "Key not available in keychain."}
    name = public["fingerprint"]
    messages = []
    if isinstance(get_secret_key(None, name, user, gnupghome, keyring), dict):
        if not delete_secret:
            message = "Secret key exists, delete first or pass delete_secret=True."
            return {"res": False, "message": message}
        messages.append(_deleted(keys, "secret", name))
    messages.append(_deleted(keys, "public", name))
    return {"res": True, "message": "\n".join(messages)}


def _deleted(keys: Keyring, part: str, fingerprint: str) -> str:
    action = "--delete-secret-keys" if part == "secret" else "--delete-keys"
    done = keys.run("--yes", action, "--", fingerprint)
    if done.retcode:
        raise CommandFailed(f"Failed to delete the {part} key {fingerprint}: {_run.reason(done)}")
    return f"{part.title()} key for {fingerprint} deleted"


@changer(touches=[])
def trust_key(
    keyid: str | None = None,
    fingerprint: str | None = None,
    trust_level: str | None = None,
    user: str | None = None,
    gnupghome: str | None = None,
    keyring: str | None = None,
) -> dict[str, Any]:
    """Set how far the owner of a key is trusted: {res, message, fingerprint}. Raises StateFailed
    for an unknown level.

    keyid, fingerprint: which. trust_level: expired, unknown, not_trusted, marginally, fully or
    ultimately.

    {% do salt['gpg.trust_key'](keyid='3FAD9F1E', trust_level='marginally') %}
    """
    if trust_level not in _LEVELS:
        raise StateFailed(f"ERROR: Valid trust levels - {','.join(_LEVELS)}")
    key = get_key(keyid, fingerprint, user, gnupghome, keyring)
    if not isinstance(key, dict):
        return {"res": False, "message": f"Key {keyid or fingerprint} not in GPG keychain"}
    name, (number, title) = key["fingerprint"], _LEVELS[trust_level]
    done = Keyring(user, gnupghome, keyring).run("--import-ownertrust", stdin=f"{name}:{number}:\n")
    if done.retcode:
        return {"res": False, "message": _run.reason(done)}
    return {"res": True, "message": f"Setting ownership trust to {title}.", "fingerprint": name}


# ---------------------------------------------------------------- what gpg lists


def _listed(keys: Keyring, action: str) -> list[dict[str, Any]]:
    done = keys.run("--with-colons", "--fixed-list-mode", action)
    if done.retcode and not done.stdout and "No secret key" not in done.stderr:
        raise CommandFailed(f"gpg cannot list the keys: {_run.reason(done)}")
    return _parsed(done.stdout)


def _parsed(text: str) -> list[dict[str, Any]]:
    """The keys of gpg's lines with colons."""
    keys: list[dict[str, Any]] = []
    for line in text.splitlines():
        fields = [*line.split(":"), *[""] * 10]
        if fields[0] in _REGISTERED:
            dates = {"created": _date(fields[5]), "expires": _date(fields[6])}
            keys.append(
                {
                    "keyid": fields[4],
                    "uids": [],
                    "fingerprint": "",
                    **{name: date for name, date in dates.items() if date},
                    "keyLength": fields[2],
                    "ownerTrust": _TRUST.get(fields[8], "Unknown"),
                    "trust": _TRUST.get(fields[1], "Unknown"),
                }
            )
        elif fields[0] == "uid" and keys:
            keys[-1]["uids"].append(fields[9].replace("\\x3a", ":").replace("\\x5c", "\\"))
        elif fields[0] == "fpr" and keys:
            keys[-1]["fingerprint"] = keys[-1]["fingerprint"] or fields[9]
    return keys


def _date(seconds: str) -> str:
    """The day of a time in seconds; an empty text for none."""
    if not seconds.isdigit() or seconds == "0":
        return ""
    return datetime.datetime.fromtimestamp(int(seconds)).strftime("%Y-%m-%d")


def _is(key: dict[str, Any], keyid: str | None, fingerprint: str | None) -> bool:
    if keyid is not None:
        return str(keyid) in (key["keyid"], key["keyid"][8:], key["fingerprint"])
    return bool(key["fingerprint"] == fingerprint)


def _chosen(
    keys: Iterable[dict[str, Any]], keyid: str | None, fingerprint: str | None
) -> dict[str, Any] | bool:
    if keyid is None and fingerprint is None:
        raise StateFailed("keyid or fingerprint must be passed")
    return next((key for key in keys if _is(key, keyid, fingerprint)), False)


def _names(names: Names) -> list[str]:
    parts = names.split(",") if isinstance(names, str) else names or ()
    return [plain_name(str(part).strip(), "a key") for part in parts]


def _selected(armored: str, wanted: list[str]) -> str:
    """Some of the keys of a text, as a text."""
    with tempfile.TemporaryDirectory(prefix="runner-") as folder:
        keys = Keyring(home=folder)
        keys.run("--import", stdin=armored)
        done = keys.run("--armor", "--export", "--", *wanted)
    if not done.stdout:
        raise CommandFailed(f"there is no key of these: {', '.join(wanted)}")
    return done.stdout
