# SPDX-License-Identifier: Apache-2.0
"""Formulas of others: declared in formulas.yml, pinned by formulas.lock, installed below the
cachedir.
"""

from __future__ import annotations

from runner.sources.formulas import installing
from runner.sources.formulas.available import Installed, has_formulas, installed_roots, problems

__all__ = ["Installed", "has_formulas", "install", "installed_roots", "problems"]


def install(
    folder: str, cachedir: str, locked: bool = True, confined: bool = False
) -> tuple[Installed, ...]:
    """Install what the formulas.lock of a tree says, below `<cachedir>/formulas`; nothing where the
    tree has no formulas.yml. Raises RunnerError with all mistakes and their places.

    locked: refuse where formulas.lock does not suit formulas.yml; else it is mended.
    confined: the tree was pulled, so that a path may not lead out of it.
    """
    if not has_formulas(folder):
        return ()
    return installing.synchronise(folder, cachedir, obey=locked, confined=confined).formulas
