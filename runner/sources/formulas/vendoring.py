# SPDX-License-Identifier: Apache-2.0
"""Copies of all formulas in a folder of the tree, with a note of where they are from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from runner.model.errors import RunnerError, UsageError
from runner.model.paths import lies_in
from runner.sources.formulas.available import Installed
from runner.sources.formulas.declared import CODE, load, without_login
from runner.sources.formulas.locked import as_yaml, write_whole
from runner.sources.formulas.store import hash_of

NOTE = "VENDORED.yml"
_HEADER = "# Written by `runner formulas vendor`: where these copies of formulas are from.\n"


def vendor(formulas: Sequence[Installed], directory: str) -> None:
    """Copy formulas into a directory, each below its name, and note where they are from. Raises
    UsageError for what stands in the way: only copies that nobody altered are replaced.
    """
    before = _noted(os.path.join(directory, NOTE))
    for item in formulas:
        if lies_in(os.path.realpath(directory), os.path.realpath(item.whole)):
            raise UsageError(
                f"{directory} lies in the formula {item.name}", hint="name another one"
            )
        _refuse_other(os.path.join(directory, item.name), before.get(item.name))
    try:
        os.makedirs(directory, exist_ok=True)
        noted = {name: facts for name, facts in before.items() if _is_there(directory, name)}
        for item in formulas:
            noted[item.name] = _facts(item, _copied(item, directory))
    except OSError as error:
        where = error.filename or directory
        raise RunnerError(f"{where}: {error.strerror or error}", code=CODE) from None
    write_whole(os.path.join(directory, NOTE), _HEADER + as_yaml(noted))


def _is_there(directory: str, name: str) -> bool:
    return os.path.isdir(os.path.join(directory, name))


def _noted(note: str) -> dict[str, dict[str, str]]:
    """Return what the note of an earlier time says: name -> facts."""
    if not os.path.lexists(note):
        return {}
    value = load(note)
    formulas: Any = value.get("formulas") if isinstance(value, Mapping) else None
    if not isinstance(formulas, Mapping):
        raise RunnerError(f"{note} is not as runner writes it", hint="remove it", code=CODE)
    return {str(name): dict(facts) for name, facts in formulas.items()}


def _refuse_other(path: str, noted: Mapping[str, str] | None) -> None:
    """Raise UsageError for a folder that is no copy, or was altered."""
    if not os.path.lexists(path):
        return
    if os.path.islink(path) or not os.path.isdir(path) or noted is None:
        raise UsageError(
            f"{path} is in the way: `runner formulas vendor` did not make it; nothing was written",
            hint="move it away, or name another directory",
        )
    if hash_of(path) != noted.get("hash"):
        raise UsageError(
            f"{path} was altered since it was copied; nothing was written",
            hint=f"if you need none of that: rm -r {path}",
        )


def _copied(item: Installed, directory: str) -> str:
    """Copy a formula in place of an earlier copy; its hash."""
    path = os.path.join(directory, item.name)
    new = os.path.join(directory, f".{item.name}.new")
    if os.path.lexists(new):  # of a run that was killed
        shutil.rmtree(new)
    shutil.copytree(item.whole, new, symlinks=True, ignore=_ignored)
    found = hash_of(new)
    if os.path.lexists(path):
        shutil.rmtree(path)
    os.rename(new, path)
    return found


def _ignored(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == ".git"]


def _facts(item: Installed, found: str) -> dict[str, str]:
    if item.locked is None:
        return {"path": item.entry.path, "hash": found}
    facts = item.locked._asdict()
    return {
        key: without_login(facts[key])
        for key in ("src", "root", "version", "tag", "branch", "commit", "hash")
        if facts[key]
    }


def entries(formulas: Sequence[Installed], directory: str, folder: str) -> list[dict[str, str]]:
    """The entries of formulas.yml that use the copies. folder: where formulas.yml is."""
    below = os.path.relpath(directory, folder)
    return [
        {
            "name": item.name,
            "path": os.path.normpath(
                os.path.join(below, item.name, item.locked.root if item.locked else "")
            ),
        }
        for item in formulas
    ]
