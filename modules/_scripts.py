"""Programs that are written down to be run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from runner.api import StateFailed


@contextmanager
def written(text: str, name: str, user: str | None) -> Iterator[str]:
    """A program in a folder of its own, which goes again."""
    import pwd
    import tempfile

    with tempfile.TemporaryDirectory(prefix="runner-") as folder:
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.chmod(path, 0o700)
        if user:
            try:
                found = pwd.getpwnam(user)
            except KeyError:
                raise StateFailed(f"User '{user}' is not available", lacks=("user", user)) from None
            for each in (folder, path):
                os.chown(each, found.pw_uid, found.pw_gid)
        yield path
