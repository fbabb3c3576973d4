# SPDX-License-Identifier: Apache-2.0
"""Repositories in folders that others can write. git goes by paths, and others can swap what these
mean while it works: it is given folders that are held open.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from modules import _paths
from modules.cmd import Completed
from modules.file._paths.place import Place, place
from modules.file._paths.private_folder import PrivateFolder, folder_beside
from modules.file._paths.walk import others_replace, others_write, real_path
from runner.api import StateFailed


def _is_swappable(path: str) -> bool:
    above = os.path.dirname(path)
    if not _paths.isdir(above):
        return False
    mine = not _paths.isdir(path) or not others_write(_paths.stat(path))
    return not mine or others_write(_paths.stat(above)) or others_replace(above)


@contextmanager
def held(path: str) -> Iterator[str]:
    """A name of a folder that means the same one as long as git works there. Raises StateFailed for
    a link of somebody else.
    """
    real = real_path(path)
    if not _paths.isdir(real) or not _is_swappable(real):
        yield path
        return
    with place(real) as where, where.entered() as folder:
        yield folder.pin.name()


def cloned(words: Sequence[str], run: Callable[[Sequence[str]], Completed]) -> Completed:
    """Clone to the last word, as `run` does: a clone that fails removes all that its path leads to.
    Raises StateFailed for a link of somebody else.
    """
    target = real_path(words[-1])
    full = _paths.lexists(target) and not (_paths.isdir(target) and not _paths.listdir(target))
    if full or not _is_swappable(target):
        return run(words)
    with place(os.path.join(folder_beside(target), "clone")) as above:
        private = PrivateFolder(above.beside(), os.urandom(8).hex())
    try:
        done = run([*words[:-1], private.path])
        if done.retcode == 0:
            with private.members() as new, place(target) as where:
                _move(new, where)
        return done._replace(
            stdout=_named(done.stdout, private, target), stderr=_named(done.stderr, private, target)
        )
    except OSError as problem:
        raise StateFailed(f"cannot clone to {target}: {problem.strerror}") from problem
    finally:
        private.remove()


def _named(text: str, private: PrivateFolder, target: str) -> str:
    """Return what git says, with the target's name in it."""
    real = os.path.join(str(private), os.path.basename(private.path))
    return text.replace(private.path, target).replace(real, target)


def _move(new: Place, where: Place) -> None:
    """Move a clone to its target; an empty folder that is there keeps its owner and mode."""
    if where.is_dir():
        with new.entered() as source, where.entered() as folder:
            for name in source.names():
                with source.place(name) as old, folder.place(name) as inner:
                    if inner.seen() is not None:
                        raise StateFailed(f"somebody has made {inner.path} meanwhile")
                    old.rename_to(inner)
    else:
        new.rename_to(where)
    where.sync()
