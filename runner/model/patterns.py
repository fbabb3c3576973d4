# SPDX-License-Identifier: Apache-2.0
"""Regular expressions of modules that most runs import and few use, and those of many modules."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern
    from re import compile as pattern
    from typing import Any
else:

    class pattern:
        """A regular expression that is compiled when it is first used: compiling one takes as long
        as importing a module, and a run imports hundreds that it does not use.
        """

        def __init__(self, text: str, flags: int = 0) -> None:
            self._text, self._flags = text, flags

        def __getattr__(self, name: str) -> Any:
            import re

            compiled: Pattern[str] = re.compile(self._text, self._flags)
            for method in ("findall", "finditer", "fullmatch", "match", "search", "split", "sub"):
                setattr(self, method, getattr(compiled, method))  # asked without this, from now on
            return getattr(compiled, name)


__all__ = ["WHOLE_COMMIT", "pattern"]

WHOLE_COMMIT = pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # an ID of git, by SHA-1 or SHA-256
