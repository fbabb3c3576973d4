# SPDX-License-Identifier: Apache-2.0
"""Programs that are written down to be run."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager

from modules import _accounts
from runner.api import StateFailed, refuse_unforeseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def temporary_script(text: str, name: str, user: str | None) -> Iterator[str]:
    """A program in a folder of its own, which goes again. Raises StateFailed for an unknown
    user.
    """
    refuse_unforeseen(name)
    with tempfile.TemporaryDirectory(prefix="runner-") as folder:
        path = os.path.join(folder, name)
        try:
            account = _accounts.user(user) if user else None
        except KeyError:
            raise StateFailed(
                f"User '{user}' is not available", missing=("user", str(user))
            ) from None
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o700)
            if account:
                os.fchown(file.fileno(), account.pw_uid, account.pw_gid)
        if account:  # last: from now on they can put something else there
            os.chown(folder, account.pw_uid, account.pw_gid, follow_symlinks=False)
        yield path
