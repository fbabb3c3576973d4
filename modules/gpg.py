"""Signatures, with gpg."""

from __future__ import annotations

from modules import cmd
from runner.api import CommandFailed


def signers(
    path: str, signature: str | None = None, keyring: str | None = None, home: str | None = None
) -> tuple[list[str], str]:
    """The fingerprints of those who signed a file (primary and signing key), and what gpg says where it is not good.

    signature: the signature's file; without it the file carries its own. keyring, home: where the keys are.
    Raises CommandFailed when there is no gpg.
    """
    program = cmd.which("gpg")
    if program is None:
        raise CommandFailed("gpg is not installed", lacks=("command", "gpg"))
    argv = [program, "--batch", "--no-tty", "--status-fd", "1"]
    argv += ["--homedir", home] if home else []
    argv += ["--no-default-keyring", "--keyring", keyring] if keyring else []
    done = cmd.probe([*argv, "--verify", *([signature] if signature else []), path])
    lines = [line.removeprefix("[GNUPG:] ").split() for line in done.stdout.splitlines()]
    bad = any(line[:1] in (["BADSIG"], ["EXPKEYSIG"], ["REVKEYSIG"]) for line in lines)
    good = [{line[1], line[-1]} for line in lines if line[:1] == ["VALIDSIG"]]
    said = done.stderr.splitlines()
    return [] if bad else sorted(set().union(*good)), said[-1] if said else "gpg says nothing"
