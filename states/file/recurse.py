# SPDX-License-Identifier: Apache-2.0
"""file.recurse: a folder holds what a folder of the tree holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from modules import file
from runner.api import (
    AbsolutePath,
    Done,
    Leftovers,
    Mode,
    OneOrMany,
    Plan,
    Planned,
    Record,
    StateFailed,
    TreeFolder,
    combine_plans,
    lies_in,
)
from runner.api.durability import name_all_files, name_files
from states.file._folders import managed_below, superfluous
from states.file._managed import ManagedFile, Writing, intended
from states.file._permissions import permissions
from states.file._tree_content import Content, PathFilter, existing
from states.file.directory import directory
from states.file.managed import managed
from states.file.symlink import symlink


@file.validated
def recurse(
    name: AbsolutePath,
    source: OneOrMany[TreeFolder],
    keep_source: bool = True,
    clean: bool = False,
    user: str | int | None = None,
    group: str | int | None = None,
    dir_mode: Mode | None = None,
    file_mode: Literal["keep"] | Mode | None = None,
    sym_mode: Mode | None = None,
    template: str | bool | None = None,
    context: dict[str, Any] | None = None,
    replace: bool = True,
    defaults: dict[str, Any] | None = None,
    include_empty: bool = False,
    backup: str | bool | None = None,
    include_pat: OneOrMany[str] | None = None,
    exclude_pat: OneOrMany[str] | None = None,
    maxdepth: int | None = None,
    keep_symlinks: bool = False,
    force_symlinks: bool = False,
    merge: bool = False,
    makedirs: bool = True,
    mode: Any = None,
    **variables: Leftovers,
) -> Planned:
    """Make sure that a folder holds the files of a folder of the tree.

    Any other argument is a variable of the templates.

    name: The folder.
    source: A salt:// folder, or a list of which the first that has files is taken.
    keep_source: Ignored; files of the tree are used where they lie.
    clean: Remove what is not in the source, but what states of the run manage and what
      `exclude_pat` matches. It is no part of `backup`: `runner undo` brings it back.
    user: The owner of folders, files and links; without it as it is.
    group: The group of folders, files and links; without it as it is.
    dir_mode: The rights of the folders; without it as they are.
    file_mode: The rights of the files, with `keep` as in the tree; without it as they are, and no
      new one can be executed.
    sym_mode: Ignored; links have no rights of their own.
    template: What renders each file: `jinja`, `mako` or `py`.
    context, replace, defaults, backup: As of file.managed.
    include_empty: Create empty folders, too.
    include_pat: Only files that match: globs of relative paths, regular expressions after `E@`.
    exclude_pat: Leave out files that match, and do not clean them away; written as include_pat.
    maxdepth: How many levels below the folder are managed, 0 for its own files; without it all.
    keep_symlinks: Links in the tree become links, instead of copies of what they point to.
    force_symlinks: Links of keep_symlinks replace a file or a folder that is in the way.
    merge: Of several sources take the files of all; of those with the same path the one of the
      earliest source.
    makedirs: Ignored; what is above the folder is always created.
    mode: Refused; write file_mode and dir_mode.

        /etc/app:
          file.recurse:
            - source: salt://app/etc
            - clean: true
    """
    if mode is not None:
        raise StateFailed(
            "'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'."
        )
    top = name.rstrip("/") or "/"
    if clean:
        name_all_files()
    permissions(user, group, None)
    origins = existing(source) if merge else existing(source)[:1]
    if file.lexists(top) and not file.is_dir(top):
        raise StateFailed(f"The path {top} exists and is not a directory")
    chosen = PathFilter(_written(include_pat), _written(exclude_pat), maxdepth)
    content = Content(top, chosen, keep_symlinks, include_empty)
    for prefix, saltenv in reversed(origins):
        content.add(prefix, saltenv)
    content.drop_misled()
    obstacles = _Obstacles(content.in_the_way() if clean else set(), user, group, file_mode)
    parts: dict[str, Planned | str | Done] = {}
    shown, commented = content.leaves | obstacles.obstacles, content.holders
    if not content.folders:  # nothing matches, or there is nothing: the folder itself is there
        shown, commented = {top}, {top}
    for folder in content.folders or [top]:
        make = partial(directory, folder, user=user, group=group, dir_mode=dir_mode, makedirs=True)
        parts[f"{folder}/"] = _reported_part(
            folder, obstacles.for_folder(folder, make), folder in shown, folder in commented
        )
    for path, url in content.files.items():
        name_files(path)
        make = partial(
            managed,
            path,
            source=[url],
            user=user,
            group=group,
            mode=file_mode,
            template=template,
            makedirs=True,
            dir_mode=dir_mode,
            context=context,
            replace=replace,
            defaults=defaults,
            backup=backup,
            **variables,
        )
        parts[path] = _reported_part(path, obstacles.for_file(path, url, make))
    for path, target in content.links.items():
        name_files(path)
        part = symlink(path, target, force=force_symlinks, user=user, group=group, makedirs=True)
        parts[path] = _reported_part(path, part)
    if clean and file.is_dir(top):
        managed_here, folders = managed_below(top)
        wanted = {*content.files, *content.links, *obstacles.obstacles, *managed_here}
        removed, _ = superfluous(top, wanted, exclude_pat or [], {*content.folders, *folders})
        if removed:
            parts["removed"] = _removed(removed)
    outcomes = yield from combine_plans(parts, between="\n\n", all_the_same=True)
    if any(outcome.changes != {} for outcome in outcomes.values()):
        return f"Recursively updated {name}"
    return f"The directory {name} is in the correct state"


# ---------------------------------------------------------------- parts


class _Obstacles(Record):
    """Obstacles: what stands where something of another kind is to be, and goes first when the
    folder is cleaned.
    """

    obstacles: set[str]
    user: str | int | None
    group: str | int | None
    mode: str | None

    def for_folder(self, path: str, make: Callable[[], Planned]) -> Planned:
        """A folder, in the place of a file or of something below one."""
        if not file.is_dir(path):
            name_files(path)
        if not self._blocked(path):
            return make()
        comment = f"The following files will be changed:\n{path}: directory - new\n"
        if path in self.obstacles:
            comment = f"Replacing {path} with a directory"
        return self._replace_obstacle(path, make, {path: {"directory": "new"}}, comment)

    def for_file(self, path: str, url: str, make: Callable[[], Planned]) -> Planned:
        """A file, in the place of a folder or of something below a file."""
        if not self._blocked(path):
            return make()
        local = file.fetched(url)
        mode = file.stat(local).mode if self.mode == "keep" and local else self.mode
        new = Writing(ManagedFile(path, path, None), permissions(self.user, self.group, mode))
        changes = {"diff": "New file", **new.permission_changes(private=True)}
        comment = (
            f"Replacing directory {path} with a file" if path in self.obstacles else intended(path)
        )
        return self._replace_obstacle(path, make, changes, comment)

    def _blocked(self, path: str) -> bool:
        return any(lies_in(path, obstacle) for obstacle in self.obstacles)

    def _replace_obstacle(
        self, path: str, make: Callable[[], Planned], changes: dict[str, Any], comment: str
    ) -> Planned:
        yield Plan(changes, comment)
        if path in self.obstacles:
            file.remove(path)
        part = make()  # it could not look before
        next(part)
        try:
            next(part)
        except StopIteration as stop:
            outcome: str | Done = stop.value
            return outcome
        raise RuntimeError("a second yield")


def _reported_part(path: str, part: Planned, shown: bool = True, commented: bool = True) -> Planned:
    """A part whose changes and comments stand under its path. shown, commented: whether they
    report a new folder.
    """
    title = f"#### {path} ####\n"
    try:
        plan = next(part)
    except StopIteration as stop:
        return Done(_comment(stop.value), {})
    except StateFailed as failure:
        raise StateFailed(title + failure.message, missing=failure.missing) from failure
    new = plan.changes == {path: {"directory": "new"}}
    changes = {} if new and not shown else {path: dict(plan.changes)}
    comment = "" if new and not (shown or commented) else title + plan.comment
    yield Plan(changes, comment, plan.exact, plan.why, plan.provides, before={path: plan.before})
    try:
        next(part)
    except StopIteration as stop:
        return Done(_comment(stop.value), changes)
    except StateFailed as failure:
        changes_made = {path: failure.changes} if failure.changes else failure.changes
        raise StateFailed(title + failure.message, changes=changes_made) from failure
    raise RuntimeError("a second yield")


def _comment(outcome: str | Done) -> str:
    return outcome if isinstance(outcome, str) else outcome.comment


def _removed(paths: list[str]) -> Planned:
    yield Plan({"removed": paths}, "\n".join(["#### removed ####", *paths]))
    for path in paths:
        file.remove(path)
    return Done("Removed what is not in the source", {"removed": paths})


def _written(patterns: OneOrMany[str] | None) -> list[str]:
    """Those that are not empty texts, as templates leave them."""
    return [pattern for pattern in patterns or () if pattern]
