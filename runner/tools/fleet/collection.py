# SPDX-License-Identifier: Apache-2.0
"""Where Ansible finds the collection runner.runner."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from runner import ROOT
from runner.model.errors import RunnerError


def path(folder: str) -> str:
    """A value for ANSIBLE_COLLECTIONS_PATH that has the collection: a directory made below the
    folder, with links in it. Raises RunnerError where this installation has no collection.
    """
    source = _source()
    namespace = Path(folder) / "ansible_collections" / "runner"
    namespace.mkdir(parents=True, exist_ok=True)
    link = namespace / "runner"
    if not link.is_symlink() or os.readlink(link) != str(source):
        beside = namespace / f".runner-{os.getpid()}"
        beside.unlink(missing_ok=True)
        beside.symlink_to(source)
        os.replace(beside, link)
    return str(folder)


def _source() -> Path:
    """The collection of a wheel, or that of a checkout."""
    package = Path(str(files("runner.tools.fleet")))
    for folder in (package / "collection", Path(ROOT) / "ansible"):
        if (folder / "galaxy.yml").is_file():
            return folder.resolve()
    raise RunnerError(
        "the Ansible collection runner.runner is not part of this installation",
        hint="pip install 'sls-runner[fleet]'",
    )
