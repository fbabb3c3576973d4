# SPDX-License-Identifier: Apache-2.0
"""The contents of a folder: which paths get an owner and a mode, which are cleaned away, which
states manage.
"""

from __future__ import annotations

import fnmatch
import os.path
import re
from functools import cache

from modules import file
from runner.api import Chunk, StateFailed, here
from states.file._nested import without_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Return whether a relative path matches a glob, or a regular expression after `E@`. Raises
    StateFailed for a wrong regular expression.
    """
    for pattern in patterns:
        try:
            match = (
                re.search(pattern[2:], path)
                if pattern.startswith("E@")
                else fnmatch.fnmatch(path, pattern)
            )
        except re.error as problem:
            raise StateFailed(
                f"{pattern!r} is not a regular expression after E@: {problem}"
            ) from problem
        if match:
            return True
    return False


def below(top: str, depth: int | None = None, follow: bool = False) -> Iterator[tuple[str, bool]]:
    """Each path in a folder and whether it is a folder, level by level of each branch, files first.

    depth: how many levels; follow: go through links to folders, each folder once.
    """
    seen: set[str] = set()

    def walk(folder: str, levels: int | None) -> Iterator[tuple[str, bool]]:
        if levels == 0 or (follow and file.real_path(folder) in seen):
            return
        seen.add(file.real_path(folder) if follow else folder)
        entries = [f"{folder.rstrip('/')}/{name}" for name in file.listdir(folder)]
        folders = [
            path for path in entries if file.is_dir(path) and (follow or not file.is_link(path))
        ]
        yield from ((path, False) for path in entries if path not in set(folders))
        yield from ((path, True) for path in folders)
        for path in folders:
            yield from walk(path, None if levels is None else levels - 1)

    yield from walk(top, depth)


REMOVING = frozenset(["absent", "missing", "not_cached", "pruned", "tidied", "unmounted"])
DESTINATIONS = (
    "target",
    "creates",
    "home",
)  # the arguments, beside the name, that say what a state makes
POINTING = frozenset(["symlink", "hardlink", "shortcut"])  # whose target is another's


def managed_below(top: str) -> tuple[set[str], set[str]]:
    """The paths in a folder that states manage, with all they hold; and folders that are managed
    without it.

    What counts are the states of this run and those that its options left out of it.
    """
    inside, me = top.rstrip("/") + "/", here.chunk
    seen = _seen_from(top)
    whole: set[str] = set()
    folders: set[str] = set()
    for chunk in (*here.chunks, *here.left_out):
        paths = {path for path in map(seen, _managed(chunk)) if path.startswith(inside)}
        if not paths or chunk is me:
            continue
        related = me is not None and (_refers(me, chunk) or _refers(chunk, me))
        (folders if chunk.function == "file.directory" and not related else whole).update(paths)
    return whole, folders


def _seen_from(top: str) -> Callable[[str], str]:
    """Of a path what it is called below `top`, where links lead there."""
    inside, real_inside = (f"{each.rstrip('/')}/" for each in (top, without_links(top)))
    real_folder = cache(without_links)

    def seen(path: str) -> str:
        above, _, name = path.rpartition("/")
        real = f"{real_folder(above or '/').rstrip('/')}/{name}"
        if path.startswith(inside) or not real.startswith(real_inside):
            return path
        return inside + real[len(real_inside) :]

    return seen


def _refers(holder: Chunk, target: Chunk) -> bool:
    for requisite in holder.requisites:
        if requisite.state == "sls":
            if fnmatch.fnmatch(target.sls, requisite.target):
                return True
        elif requisite.state in ("", "id", "file"):
            if requisite.target in (target.id, target.name):
                return True
    return False


def _managed(chunk: Chunk) -> Iterator[str]:
    """The absolute paths that a state makes or changes."""
    if chunk.fun in REMOVING:
        return
    keys = () if chunk.state == "file" and chunk.fun in POINTING else DESTINATIONS
    for value in (chunk.name, *(chunk.args.get(key) for key in keys)):
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and path.startswith("/"):
                yield os.path.normpath(path)


def refuse_root(top: str, what: str) -> None:
    """Raise StateFailed for what nobody does to all of a machine, however its root is written: a
    variable of a template is empty.
    """
    if file.real_path(top) == "/":
        raise StateFailed(f'Refusing to {what} "/"')


def superfluous(
    top: str, keep: Iterable[str], excluded: Sequence[str], folders: Iterable[str] = ()
) -> tuple[list[str], list[str]]:
    """The paths to clean from a folder: the paths to remove, and all that goes with them. Nothing
    kept is in either.

    keep: paths that stay (there yet or not), with all that is in them where they are folders, and
    with the folders above them. excluded: patterns of relative paths that stay. folders: these
    stay, but are cleaned.
    """
    refuse_root(top, "clean")
    kept_paths = {path.rstrip("/") for path in keep}
    open_folders = set(folders)
    for path in kept_paths:
        while path.startswith(f"{top}/"):
            path = path.rpartition("/")[0]
            open_folders.add(path)
    removed: list[str] = []
    everything: list[str] = []

    def visit(folder: str) -> bool:
        """Return whether nothing in a folder stays; notes what goes."""
        mine: list[str] = []
        stays = folder in open_folders or folder == top or matches(folder[len(top) + 1 :], excluded)
        for name in file.listdir(folder):
            path = f"{folder}/{name}"
            full = (
                file.is_dir(path)
                and not file.is_link(path)
                and path not in kept_paths
                and not visit(path)
            )
            if (
                full
                or path in kept_paths
                or path in open_folders
                or matches(path[len(top) + 1 :], excluded)
            ):
                stays = True
            else:
                mine.append(path)
        everything.extend(mine)
        if stays:
            removed.extend(mine)
        return not stays

    visit(top)
    file.refuse_mounted("remove", *sorted(removed), below=True)  # nothing goes before that
    return sorted(removed), sorted(everything)
