# SPDX-License-Identifier: Apache-2.0
"""The commit points of a run: from then on what states have written outlives a power loss."""

from __future__ import annotations

import os

from runner.api import StateFailed, here
from runner.api import make_names_durable as make_names_durable
from runner.model.stdlib import copy_context
from runner.support.files.folder_syncs import FOLDER_SYNCS, device_and_inode
from runner.support.files.group_commit import (
    GROUP_COMMIT,
    WRITTEN,
    Version,
    WaitingFile,
    WaitingFolder,
    WaitingText,
)
from runner.support.files.group_commit import is_overtaken as is_overtaken
from runner.support.files.group_commit import make_contents_durable as make_contents_durable
from runner.support.files.group_commit import one_at_a_time as one_at_a_time
from runner.support.files.group_commit import types_of as types_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def sync_folder(descriptor: int, path: str) -> None:
    """Make durable which names a folder has: in a run of states at its next commit point, else at
    once. Raises OSError.
    """
    FOLDER_SYNCS.changed(descriptor, path, here.chunk)


def collects_files() -> bool:
    """Return whether the engine may sync and rename the files of a state together with others."""
    return GROUP_COMMIT.is_collecting


def commits_later(
    file: int,
    folder: int,
    at: os.stat_result,
    hidden: str,
    path: str,
    data: bytes | None,
    looked_at: Version | None,
) -> bool:
    """Return whether the engine does so with a new file, and closes it; else that is to be done
    now.

    file, folder: open descriptors of the file and of where it lies. at: the stat of the folder.
    hidden: the file's name there. path: of the target. data: what is in it, where that is known.
    looked_at: the version of the target that it was made from.
    """
    at_folder = device_and_inode(at)
    waits = WaitingFile(file, folder, at_folder, hidden, path, data, here.chunk, looked_at)
    return GROUP_COMMIT.add(waits)


def folder_commits_later(
    filled: int,
    folder: int,
    at: os.stat_result,
    hidden: str,
    path: str,
    source: int,
    inside: str,
    put_away: Callable[[], object],
) -> bool:
    """As `commits_later`, of a folder that is filled. source: the open folder in which it has its
    hidden name. inside: a path to it that nobody can swap. put_away: removes what is left when that
    is done, and closes `source`.
    """
    entries = sum(1 + len(files) for _, _, files in os.walk(inside))
    waits = (hidden, path, here.chunk, source, inside, entries, put_away)
    return GROUP_COMMIT.add(WaitingFolder(filled, folder, device_and_inode(at), *waits))


def installs_later(
    whose: str, text: tuple[str, ...], install: Callable[[], object], *files: str
) -> bool:
    """Return whether the engine has a text put in its place by a program later, once for several
    states that edit it; else that is to be done now.

    whose: what stands for that place, and is no path; the `its_file` of these states. install: does
    it; raises StateFailed. files: which the text was made from, as far as the state looked at them.
    """
    context = copy_context()

    def is_installed() -> bool:
        try:
            context.run(install)
        except StateFailed:  # its states run once more, each by itself
            return False
        return True

    looked_at = {path: here.versions[path] for path in files if path in here.versions}
    return GROUP_COMMIT.add_text(WaitingText(whose, text, is_installed, looked_at))


text_that_waits = GROUP_COMMIT.text_of  # what a program is going to put in a place; None for none


def name_files(path: str, own: bool = False) -> None:
    """Give files that wait their names, where that may concern a path beside the state's own. own:
    a file that the state, or one before it that it follows, has written there may wait on.
    """
    if not (own and GROUP_COMMIT.is_own(path)):
        GROUP_COMMIT.look_beside(path)


def name_all_files() -> None:
    """Give all files that wait their names, before a state looks at what nobody foresees."""
    GROUP_COMMIT.look_around()


def write_at_once() -> None:
    """Have nothing wait that the state writes from now on: what it does is more than one file."""
    GROUP_COMMIT.write_at_once()


waits_for_name = GROUP_COMMIT.is_own  # whether what the state has made at a path still waits
stand_in = GROUP_COMMIT.stand_in  # the name, in its folder, of the file that waits for a path


def announce_write() -> None:
    """Let the history note what is about to happen, where it waits for the names of others."""
    if GROUP_COMMIT.is_collecting:
        GROUP_COMMIT.announce()


def note_contents(file: int | os.stat_result, data: bytes | None) -> None:
    """Note what is in an open file that has just got its name, or in one (its stat) that is about
    to be written over: the history need not read it again.
    """
    WRITTEN.note(file, data)
