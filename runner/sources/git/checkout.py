# SPDX-License-Identifier: Apache-2.0
"""The files of a commit, written into a folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence

from runner.model.paths import lies_in
from runner.sources.git.program import BareRepository, GitError


def export(repository: BareRepository, tree: str, folder: str, paths: Sequence[str]) -> None:
    """Write what a tree has into a new folder. paths: only these files and folders of it. Raises
    GitError.
    """
    git = repository.git
    try:
        os.mkdir(folder, 0o755)
    except OSError as error:
        raise GitError(f"{folder}: {error.strerror}") from None
    beside = os.path.dirname(os.path.abspath(folder))  # where leftovers of a kill are looked for
    with tempfile.TemporaryDirectory(prefix=".index-", suffix=".new", dir=beside) as scratch:
        values = {"GIT_INDEX_FILE": os.path.join(scratch, "index"), "GIT_WORK_TREE": folder}
        values["GIT_LITERAL_PATHSPECS"] = "1"
        git("read-tree", "--end-of-options", tree, values=values)
        if paths:
            names = "".join(_chosen(repository, path, values) for path in paths)
            words = ["--stdin", "-z"]
        else:
            names, words = "", ["--all"]
        git("checkout-index", "--quiet", *words, values=values, folder=folder, input=names)
    for link in _links(folder):
        _refuse_outside(link, folder, repository.name)


def _chosen(repository: BareRepository, path: str, values: dict[str, str]) -> str:
    names = repository.git(
        "ls-files", "--cached", "-z", "--", path.strip("/") or ".", values=values
    )
    if not names:
        raise GitError(f"{repository.name} has no {path}")
    return names


def _links(folder: str) -> list[str]:
    return [
        os.path.join(at, name)
        for at, folders, names in os.walk(folder)
        for name in (*folders, *names)
        if os.path.islink(os.path.join(at, name))
    ]


def _refuse_outside(link: str, folder: str, where: str) -> None:
    """Raises GitError for a link that leads out of a folder, by whatever way."""
    target = os.readlink(link)
    inside = os.path.realpath(folder)
    if os.path.isabs(target) or not lies_in(os.path.realpath(link), inside):
        name = os.path.relpath(link, folder)
        raise GitError(
            f"{where}: the link {name} leads out of the tree, to {target}",
            hint="what a tree needs lies in it: commit the file itself",
        )
