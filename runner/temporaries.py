"""Temporary files that a killed run left beside their targets: noted before they are made, removed by the next run."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

_OURS = re.compile(r"/\.[^/]*\.runner-[0-9a-f]{12}$")  # nothing else is ever removed


class Temporaries:
    """The list `temporaries` of a state folder, a path a line (as JSON, since paths may have line ends)."""

    def __init__(self, state_dir: str) -> None:
        self._path = os.path.join(state_dir, "temporaries")
        self._handle: int | None = None

    def note(self, path: str) -> None:
        """Write a path down before it is made; a list that cannot be written keeps no one from working."""
        import json

        with suppress(OSError):
            if self._handle is None:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._handle = os.open(self._path, flags, 0o600)
            os.write(self._handle, json.dumps(os.path.abspath(path)).encode() + b"\n")

    def sweep(self) -> list[str]:
        """Remove what the last run left, and start a new list; the paths that were removed. Call it under the lock."""
        import json

        try:
            with open(self._path, encoding="ascii") as file:
                lines = file.read().splitlines()
        except (OSError, UnicodeDecodeError):
            return []
        removed = []
        for line in lines:
            with suppress(ValueError):  # the last line may be cut off
                path = json.loads(line)
                if isinstance(path, str) and _OURS.search(path) and _removed(path):
                    removed.append(path)
        with suppress(OSError):
            os.unlink(self._path)
        return removed

    def done(self) -> None:
        """The run has ended by itself: nothing is left."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            with suppress(OSError):
                os.unlink(self._path)


def _removed(path: str) -> bool:
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            import shutil

            shutil.rmtree(path)
        else:
            os.unlink(path)
    except OSError:
        return False
    return True
