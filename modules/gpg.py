"""Signatures and messages, with gpg."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from modules import cmd, file
from runner.api import CommandFailed, StateFailed, here


def signers(
    path: str, signature: str | None = None, keyring: str | None = None, home: str | None = None
) -> tuple[list[str], str]:
    """The fingerprints of those who signed a file (primary and signing key), and what gpg says
    where it is not good.

    signature: the signature's file; without it the file carries its own. keyring, home: where the
    keys are. Raises CommandFailed when there is no gpg.
    """
    argv = [*_command(home, keyring), "--status-fd", "1"]
    done = cmd.probe([*argv, "--verify", "--", *([signature] if signature else []), path])
    lines = [line.removeprefix("[GNUPG:] ").split() for line in done.stdout.splitlines()]
    has_bad = any(line[:1] in (["BADSIG"], ["EXPKEYSIG"], ["REVKEYSIG"]) for line in lines)
    signer_keys = [{line[1], line[-1]} for line in lines if line[:1] == ["VALIDSIG"]]
    messages = done.stderr.splitlines()
    return [] if has_bad else sorted(set().union(*signer_keys)), messages[
        -1
    ] if messages else "gpg says nothing"


def _command(home: str | None, keyring: str | None) -> list[str]:
    program = cmd.which("gpg")
    if program is None:
        raise CommandFailed("gpg is not installed", missing=("command", "gpg"))
    argv = [program, "--batch", "--no-tty"]
    argv += ["--homedir", home] if home else []
    return argv + (["--no-default-keyring", "--keyring", keyring] if keyring else [])


def decrypt(
    user: str | None = None,
    text: str | None = None,
    filename: str | None = None,
    output: str | None = None,
    gnupghome: str | None = None,
    bare: bool = False,
    keyring: str | None = None,
) -> Any:
    """A PGP message in clear: {res, comment, data}, or with `bare` the text alone (False when gpg
    cannot). Raises StateFailed without a text and a filename.

    text, filename: the message, one of them. output: the file that it is written to instead. user:
    whose keys are used (of salt those in /etc/salt/gpgkeys), else those of who runs; gnupghome,
    keyring: the folder, the file of the keys.
    """
    if (text is None) == (filename is None):
        raise StateFailed("gpg.decrypt takes a text or a filename")
    folder = (
        "/etc/salt/gpgkeys"
        if user == "salt"
        else os.path.expanduser(f"~{user}/.gnupg")
        if user
        else None
    )
    message = str(text).encode() if filename is None else file.read_bytes(filename)
    argv = [*_command(gnupghome or folder, keyring), "--quiet", "--status-fd", "2", "--decrypt"]
    done = subprocess.run(argv, input=message, capture_output=True, check=False)
    messages = done.stderr.decode("utf-8", "replace").splitlines()
    if done.returncode and "[GNUPG:] DECRYPTION_OKAY" not in messages:
        why = [line for line in messages if not line.startswith("[GNUPG:]")]
        return (
            False
            if bare
            else {"res": False, "comment": why[-1] if why else "gpg says nothing", "data": ""}
        )
    if output:
        file.write(output, done.stdout, mode="0600")
        comment = f"Decrypted data has been written to {output}"
        return comment if bare else {"res": True, "comment": comment}
    plain = done.stdout.decode("utf-8", "replace")
    if not here.called_directly:
        here.secret(plain.strip())
    return plain if bare else {"res": True, "comment": "", "data": plain}
