# SPDX-License-Identifier: Apache-2.0
"""The program gpg: how it is called, and what it reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from modules import _accounts, cmd, file
from modules._machine.processes import Completed
from modules._machine.scripts import temporary_script
from runner.api import CommandFailed, Record, StateFailed, here

OF_SALT = "/etc/salt/gpgkeys"  # the keys of the user salt


class Keyring(Record):
    """Where keys are. user: whose (None: of who runs; of salt those in /etc/salt/gpgkeys). home:
    their directory instead. keyring: their file in it.
    """

    user: str | None = None
    home: str | None = None
    keyring: str | None = None

    def command(self) -> list[str]:
        """The words that gpg is called with. Raises CommandFailed when there is no gpg."""
        program = cmd.which("gpg")
        if program is None:
            raise CommandFailed("gpg is not installed", missing=("command", "gpg"))
        argv = [program, "--batch", "--no-tty"]
        home = self.home or (OF_SALT if self.user == "salt" else None)
        argv += ["--homedir", home] if home else []
        return argv + (["--no-default-keyring", "--keyring", self.keyring] if self.keyring else [])

    def run(self, *words: str, stdin: str | None = None) -> Completed:
        """Run gpg as the user, with its reports (`[GNUPG:] ...`) in the standard error."""
        argv = [*self.command(), "--status-fd", "2", *words]
        other = self.other_user()
        if other is None:
            return cmd.probe(argv, stdin=stdin)
        return cmd.complete(argv, runas=other, stdin=stdin, python_shell=False)

    def other_user(self) -> str | None:
        """The user as whom gpg runs, whose own settings name programs that it starts; None for who
        runs this.
        """
        return None if self.user in (None, "salt", _accounts.own_name()) else self.user


def reports(done: Completed) -> list[list[str]]:
    """The words of gpg's reports, such as [IMPORT_OK, 1, FINGERPRINT]."""
    mark = "[GNUPG:] "
    lines = done.stderr.splitlines()
    return [line.removeprefix(mark).split() for line in lines if line.startswith(mark)]


def reason(done: Completed) -> str:
    """The last line that gpg prints for people."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("[GNUPG:]")]
    return lines[-1] if lines else "gpg says nothing"


@contextmanager
def passphrase(wanted: bool, user: str | None) -> Iterator[list[str]]:
    """The words that give gpg the passphrase of the pillar (`gpg_passphrase`), or none, so that it
    asks nobody. Raises StateFailed where the pillar has none.
    """
    secret = passphrase_of_pillar() if wanted else ""
    with temporary_script(secret, "passphrase", None if user == "salt" else user) as path:
        yield ["--pinentry-mode", "loopback", f"--passphrase-file={path}"]


def passphrase_of_pillar() -> str:
    """The passphrase of the pillar. Raises StateFailed where it has none."""
    secret = here.pillar.get("gpg_passphrase")
    if not secret:
        raise StateFailed("gpg_passphrase not available in pillar.")
    return str(secret)


def text_or_file(text: str | None, filename: str | None) -> str:
    """The text, or that of a file. Raises StateFailed without one of them."""
    if text:
        return str(text)
    if not filename:
        raise StateFailed("filename or text must be passed.")
    if not file.is_file(filename):
        raise StateFailed("filename does not exist.", missing=("file", filename))
    return file.read_bytes(filename).decode("utf-8", "surrogateescape")
