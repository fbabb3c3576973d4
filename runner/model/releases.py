# SPDX-License-Identifier: Apache-2.0
"""The release of this program, and those that state functions and their arguments came with."""

from __future__ import annotations

import os

from runner import __version__

FIRST = "0.1.0"
# what came later: a module ("raid"), a function ("raid.present") or one of its arguments
# ("raid.present.level"), with its release. Empty: 0.2.0 is the first that was published.
LATER: dict[str, str] = {}


def since(function: str, argument: str = "") -> str:
    """The release that a state function of the library, or an argument of it, came with."""
    module = function.partition(".")[0]
    names = (f"{function}.{argument}", function, module)
    return next((LATER[name] for name in names if name in LATER), FIRST)


def version() -> str:
    """The version of this program, with the commit that it was built from where that is known."""
    commit = ""
    try:
        with open(os.path.join(os.path.dirname(__file__), "../commit.txt")) as file:
            commit = file.read().strip()
    except OSError:  # not built: a checkout that runs as it is
        pass
    return f"{__version__} (commit {commit})" if commit else __version__
