# SPDX-License-Identifier: Apache-2.0
"""The key of a machine, in its state directory: it authenticates the plans that were made there and
makes their hashes worthless to anybody who does not have it.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Mapping
from typing import Any

from runner.model.errors import RunnerError
from runner.model.plain_values import plain
from runner.model.records import Record
from runner.support.files.trusted_folder import trusted_folder

NAME = "plan-key"
SIZE = 32  # bytes
SHOWN = 32  # characters of a hash in a plan


class MachineKey(Record):
    """A secret of a machine."""

    secret: bytes

    @property
    def identity(self) -> str:
        """A name of the key that says nothing of it."""
        return self._hash("identity", b"")[:SHOWN]

    def digest(self, value: Any) -> str:
        """The keyed hash of a value that JSON can say."""
        return self._hash("value", canonical(plain(value)))[:SHOWN]

    def authentication(self, document: Mapping[str, Any]) -> str:
        """The code by which the key's owner knows a document again."""
        return self._hash("document", canonical(document))

    def _hash(self, purpose: str, data: bytes) -> str:
        return hmac.digest(self.secret, purpose.encode() + b"\0" + data, "sha256").hex()


def canonical(value: Any) -> bytes:
    """The bytes of a value, the same for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def passing_key() -> MachineKey:
    """A key for a plan that is never written."""
    return MachineKey(os.urandom(SIZE))


def machine_key(state_dir: str, make: bool = False) -> MachineKey | None:
    """The key of a state directory; None where there is none as yet. make: make one then. Raises
    RunnerError when it cannot be read or written.
    """
    try:
        folder = trusted_folder(state_dir, make)
        if folder.exists(NAME):
            secret = folder.read(NAME)
            if len(secret) == SIZE:
                return MachineKey(secret)
        if not make:
            return None
        key = passing_key()
        folder.write(NAME, key.secret)
    except FileNotFoundError:
        return None
    except OSError as error:
        path = os.path.join(state_dir, NAME)
        hint = "--cachedir DIR, or `state_dir` of the configuration, keeps it elsewhere"
        raise RunnerError(f"the key of this machine, {path}: {error.strerror}", hint=hint) from None
    return key
