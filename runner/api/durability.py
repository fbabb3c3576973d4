# SPDX-License-Identifier: Apache-2.0
"""The commit points of a run: from then on what states have written outlives a power loss."""

from __future__ import annotations

from runner.api import here
from runner.api import make_names_durable as make_names_durable
from runner.support.files.folder_syncs import FOLDER_SYNCS
from runner.support.files.group_commit import GROUP_COMMIT
from runner.support.files.group_commit import types_of as types_of


def sync_folder(descriptor: int, path: str) -> None:
    """Make durable which names a folder has: in a run of states at its next commit point, else at
    once. Raises OSError.
    """
    FOLDER_SYNCS.changed(descriptor, path, here.chunk)


def collects_files() -> bool:
    """Return whether the engine may sync and rename the files of a state together with others."""
    return GROUP_COMMIT.is_collecting


def commits_later(file: int, folder: int, hidden: str, path: str) -> bool:
    """Return whether the engine does so with a new file; else that is to be done now.

    file, folder: open descriptors of the file and of where it lies. hidden: its name there. path:
    of the target.
    """
    return GROUP_COMMIT.add(file, folder, hidden, path, here.chunk)
