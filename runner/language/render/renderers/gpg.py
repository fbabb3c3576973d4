# SPDX-License-Identifier: Apache-2.0
"""PGP messages, encrypted and decrypted by the gpg program."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from runner.language.render.renderers.encrypted import unfolded
from runner.model.errors import RenderError, RunnerError, reason_of
from runner.model.places import Source

KEYDIR = "/etc/salt/gpgkeys"
OWN_KEYDIR = "/etc/runner/gpgkeys"


class Gpg:
    """keydir: gpg's home. recipients: for whom it encrypts. lenient: leave what cannot be decrypted
    as it is.
    """

    message = re.compile(r"-----BEGIN PGP MESSAGE-----.*?-----END PGP MESSAGE-----", re.S)

    def __init__(
        self, keydir: str | None, recipients: Sequence[str] = (), lenient: bool = False
    ) -> None:
        self._lenient = lenient
        self.recipients = tuple(recipients)
        self.keydir = keydir or (OWN_KEYDIR if os.path.isdir(OWN_KEYDIR) else KEYDIR)

    def decrypt(self, message: str, source: Source) -> str:
        """The plain text of a message. Raises RenderError, with the place."""
        try:
            done = self._gpg(unfolded(message), "--status-fd", "2", "--decrypt")
        except RunnerError as error:
            raise RenderError(error.message, source, error.hint) from None
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        # gpg complains of the armor of a message whose lines were folded, and decrypts it all the
        # same
        failed = done.returncode and "[GNUPG:] DECRYPTION_OKAY" not in lines
        if failed and self._lenient:
            return message
        if failed:
            lines = [line for line in lines if not line.startswith("[GNUPG:]")]
            hint = f"gpg_keydir says where the keys are; here {self.keydir}"
            why = lines[-1] if lines else "no reason given"
            raise RenderError(f"the PGP message cannot be decrypted: {why}", source, hint)
        return done.stdout.decode("utf-8", "replace")

    def encrypt(self, plain: str) -> str:
        """A message for the recipients, in armor. Raises RunnerError."""
        if not self.recipients:
            raise RunnerError(
                "nobody is named who could decrypt it",
                hint="--recipient KEY, or gpg_recipients of the configuration",
            )
        who = [word for name in self.recipients for word in ("--recipient", name)]
        done = self._gpg(plain, "--trust-model", "always", "--armor", "--encrypt", *who)
        if done.returncode:
            why = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise RunnerError(f"gpg cannot encrypt: {why}", hint=f"the keys are in {self.keydir}")
        return done.stdout.decode()

    def _gpg(self, text: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        argv = ["gpg", "--homedir", self.keydir, "--batch", "--no-tty", "--quiet", *words]
        try:
            return subprocess.run(
                argv, input=text.encode(), capture_output=True, timeout=30, check=False
            )
        except FileNotFoundError:
            raise RunnerError(
                "a PGP message needs gpg, which is not installed", hint="install gnupg"
            ) from None
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise RunnerError(f"gpg does not work: {reason_of(problem)}") from None


def cipher(opts: Mapping[str, Any]) -> Gpg:
    """As the configuration says."""
    return Gpg(
        opts.get("gpg_keydir"),
        opts.get("gpg_recipients") or (),
        lenient=opts.get("gpg_decrypt_must_succeed") is False,
    )
