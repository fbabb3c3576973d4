# SPDX-License-Identifier: Apache-2.0
"""Who signed a commit or a tag."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from runner.model.errors import reason_of
from runner.model.records import Record
from runner.sources.git.program import BareRepository, GitError

_BEGINS = {"ssh": "-----BEGIN SSH SIGNATURE-----", "gpg": "-----BEGIN PGP SIGNATURE-----"}
_OTHER = "-----BEGIN SIGNED MESSAGE-----"  # X.509
_FALSE = "false"  # what checks the kinds of signatures that are not wanted
_WORDS = {"ssh": "an ssh", "gpg": "a gpg"}
_KEYBOX = b"KBXf"  # in bytes 8 to 11 of gpg's own file of keys


class Untrusted(GitError):
    """A commit or a tag is not signed by one who may."""

    code = "untrusted"


class Signers(Record):
    """Whose signatures count.

    kind: "ssh" or "gpg". file: of ssh, lines of a principal and a public key, as in
    gpg.ssh.allowedSignersFile of git; of gpg, a keyring or exported public keys.
    """

    kind: str
    file: str


def signer_of_tag(repository: BareRepository, name: str, tag: str, signers: Signers) -> str:
    """Who signed a tag; empty for one without a signature. name: in full. Raises Untrusted for a
    signature that does not count, and for a tag that was signed under another name.
    """
    if repository.git("cat-file", "-t", tag).strip() != "tag":
        return ""
    head, _, message = repository.git("cat-file", "tag", tag).partition("\n\n")
    kind = _kind(message)
    if not kind:
        return ""
    own = re.search(r"^tag (.*)$", head, re.M)
    if own is None or f"refs/tags/{own[1]}" != name:
        raise Untrusted(
            f"{repository.name}: {name} is the tag {own[1] if own else ''!r}, moved to another name"
        )
    return _signer(repository, "verify-tag", f"tag {own[1]}", tag, kind, signers)


def signer_of_commit(repository: BareRepository, commit: str, signers: Signers) -> str:
    """Who signed a commit. Raises Untrusted."""
    what = f"commit {commit[:12]}"
    head = repository.git("cat-file", "commit", commit).partition("\n\n")[0]
    signature = re.search(r"^gpgsig(?:-sha256)? (.*)$", head, re.M)
    if signature is None:
        raise Untrusted(f"{repository.name}: {what} is not signed", hint="sign it: `git commit -S`")
    return _signer(repository, "verify-commit", what, commit, _kind(signature[1]), signers)


def _kind(text: str) -> str:
    begins = [
        (text.find(line), kind)
        for kind, line in (*_BEGINS.items(), ("x509", _OTHER))
        if line in text
    ]
    return min(begins)[1] if begins else ""


def _signer(
    repository: BareRepository, command: str, what: str, name: str, kind: str, signers: Signers
) -> str:
    what = f"{repository.name}: {what}"
    if kind != signers.kind:
        raise Untrusted(
            f"{what} has {_WORDS.get(kind, 'another')} signature; {_WORDS[signers.kind]} signature"
            " of a known signer is asked for (`verify`)"
        )
    with _programs(signers) as (words, values):
        answer = repository.ask(*words, command, "--raw", name, values=values)
    if answer.status:
        reason = _reason(answer.errors)
        raise Untrusted(f"{what} is not signed by one of {signers.file}: {reason}")
    return _name(answer.errors, signers.kind)


@contextmanager
def _programs(signers: Signers) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The settings and variables with which git checks one kind of signatures. Raises GitError
    for a file that cannot be used.
    """
    if not os.access(signers.file, os.R_OK) or not os.path.isfile(signers.file):
        raise GitError(f"{signers.file}: no such file, or it may not be read")
    path = os.path.abspath(signers.file)
    if signers.kind == "ssh":
        settings = {"gpg.program": _FALSE, "gpg.x509.program": _FALSE}
        settings["gpg.ssh.allowedSignersFile"] = path
        yield _as_words(settings), {}
        return
    with tempfile.TemporaryDirectory(prefix="runner-gpg-") as home:
        _import(home, path)
        settings = {"gpg.ssh.program": _FALSE, "gpg.x509.program": _FALSE, "gpg.program": "gpg"}
        yield _as_words(settings), {"GNUPGHOME": home}


def _as_words(settings: dict[str, str]) -> list[str]:
    return [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]


def _import(home: str, path: str) -> None:
    """Put the keys of a file into an empty home of gpg."""
    with open(path, "rb") as file:
        is_keybox = file.read(12)[8:] == _KEYBOX
        file.seek(0)
        if is_keybox:
            with open(os.path.join(home, "pubring.kbx"), "wb") as keys:
                keys.write(file.read())
            return
    words = ["gpg", "--homedir", home, "--batch", "--quiet", "--no-autostart", "--import", path]
    try:
        done = subprocess.run(words, capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"gpg: {reason_of(error)}", hint="install gnupg") from None
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise GitError(f"{path} holds no public keys: {last}", hint="gpg --export NAME > FILE")


def _reason(errors: str) -> str:
    for word, reason in (
        ("ERRSIG", "its key is not there"),
        ("NO_PUBKEY", "its key is not there"),
        ("EXPKEYSIG", "its key has expired"),
        ("REVKEYSIG", "its key was revoked"),
        ("EXPSIG", "the signature has expired"),
        ("BADSIG", "the signature does not fit"),
        ("No principal matched", "its key is not there"),
        ("Could not verify", "the signature does not fit"),
    ):
        if word in errors:
            return reason
    return errors.strip().rpartition("\n")[2]


def _name(said: str, kind: str) -> str:
    if kind == "ssh":
        good = re.search(r'Good "git" signature for (\S+) with (.*)', said)
        return f"{good[1]} ({good[2].strip()})" if good else "?"
    good = re.search(r"GOODSIG (\S+) (.*)", said)
    return f"{good[2].strip()} ({good[1]})" if good else "?"
