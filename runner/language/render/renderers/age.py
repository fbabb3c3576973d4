# SPDX-License-Identifier: Apache-2.0
"""Messages of age, encrypted and decrypted by the program of that name."""

from __future__ import annotations

import base64
import binascii
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from runner.language.render.renderers.encrypted import unfolded
from runner.model.errors import RenderError, RunnerError, reason_of
from runner.model.places import Source
from runner.model.said_in import key_folder

HOST_KEYS = ("/etc/ssh/ssh_host_ed25519_key", "/etc/ssh/ssh_host_rsa_key")
PREFIX = "age:"  # of a message in one line


class Age:
    """identities: files of keys that decrypt; an ssh key is one, too. recipients: for whom it
    encrypts.
    """

    message = re.compile(
        r"-----BEGIN AGE ENCRYPTED FILE-----.*?-----END AGE ENCRYPTED FILE-----"
        r"|\bage:[A-Za-z0-9+/]{200,}={0,2}",
        re.S,
    )

    def __init__(self, identities: Sequence[str], recipients: Sequence[str] = ()) -> None:
        self.identities, self.recipients = tuple(identities), tuple(recipients)

    def decrypt(self, message: str, source: Source) -> str:
        """The plain text of a message. Raises RenderError, with the place."""
        hint = "age_identities says which keys decrypt; here " + ", ".join(self.identities)
        if message.startswith(PREFIX):
            try:
                data = base64.b64decode(message.removeprefix(PREFIX), validate=True)
            except binascii.Error as error:
                raise RenderError(f"the age message is damaged: {error}", source) from None
        else:
            data = unfolded(message).encode()
        words = [word for path in self.identities for word in ("--identity", path)]
        try:
            return _age(data, "--decrypt", *words).decode("utf-8", "replace")
        except RunnerError as error:
            what = f"the age message cannot be decrypted: {error.message}"
            raise RenderError(what, source, error.hint or hint) from None

    def encrypt(self, plain: str) -> str:
        """A message for the recipients, in one line. Raises RunnerError."""
        if not self.recipients:
            raise RunnerError(
                "nobody is named who could decrypt it",
                hint="--recipient KEY, or age_recipients of the configuration",
            )
        words = [word for name in self.recipients for word in ("--recipient", name)]
        data = _age(plain.encode(), "--encrypt", *words)
        return PREFIX + base64.b64encode(data).decode()


def _age(data: bytes, *words: str) -> bytes:
    """Return what age makes of it. Raises RunnerError."""
    try:
        done = subprocess.run(
            ["age", *words],
            input=data,
            capture_output=True,
            timeout=30,
            check=False,
            start_new_session=True,  # it asks nobody for a passphrase
        )
    except FileNotFoundError:
        raise RunnerError("age is not installed", hint="install age") from None
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise RunnerError(f"age does not work: {reason_of(problem)}") from None
    if done.returncode:
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line]
        why = next((line for line in lines if line.startswith("age: error:")), "no reason given")
        raise RunnerError(why.removeprefix("age: error:").strip())
    return done.stdout


def cipher(opts: Mapping[str, Any]) -> Age:
    """As the configuration says; files are relative to it."""
    base = key_folder(opts, "age_identities")
    host_keys = [path for path in HOST_KEYS if os.path.exists(path)] or HOST_KEYS[:1]
    named = [os.path.join(base, path) for path in opts.get("age_identities") or host_keys]
    return Age(named, opts.get("age_recipients") or ())
