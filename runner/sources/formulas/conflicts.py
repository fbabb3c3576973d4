# SPDX-License-Identifier: Apache-2.0
"""Paths that two formulas provide: only one of them would ever be used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from runner.model.diagnostics import Diagnostic
from runner.sources.formulas.declared import CODE, DeclaredFormula

# what repositories of formulas have beside their states, and no SLS file refers to
_BESIDE = frozenset(["bin", "dev", "doc", "docs", "metadata", "scripts", "test", "tests"])


def provided(root: str) -> Iterator[str]:
    """The files that a formula brings into file_roots, as paths below its root: all in its folders,
    but those of the repository itself; of those beside them SLS files alone.
    """
    for at, folders, names in os.walk(root):
        if at == root:
            folders[:] = [name for name in folders if name[0] != "." and name not in _BESIDE]
            names = [name for name in names if name.endswith(".sls")]
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            yield os.path.relpath(os.path.join(at, name), root)


def conflicts(formulas: Iterable[tuple[DeclaredFormula, str, str]]) -> Iterator[Diagnostic]:
    """A mistake for each two formulas that provide the same paths. formulas: entry, name and root
    of each.
    """
    first: dict[str, tuple[DeclaredFormula, str]] = {}
    for entry, name, root in formulas:
        shared: dict[tuple[DeclaredFormula, str], list[str]] = {}
        for path in sorted(provided(root)):
            owner = first.setdefault(path, (entry, name))
            if owner[0] is not entry:
                shared.setdefault(owner, []).append(path)
        for (other, other_name), paths in shared.items():
            more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
            path = paths[0] if paths[0].isprintable() else ascii(paths[0])
            message = f"formulas {other_name} and {name} both have {path}{more}"
            hint = f"{other_name} is declared at {other.source}, and would be used: remove one"
            yield Diagnostic(message, entry.source, hint, CODE)
