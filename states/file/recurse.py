"""file.recurse: a folder holds what a folder of the tree holds."""

from __future__ import annotations

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
    here,
    together,
)
from states.file._folders import matches, needed, superfluous
from states.file._permissions import parent, permissions
from states.file.directory import directory
from states.file.managed import managed
from states.file.symlink import symlink


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
    template: str | None = None,
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
    mode: Any = None,
    **variables: Leftovers,
) -> Planned:
    """Make sure that a folder holds the files of a folder of the tree.

    name: the folder. source: a salt:// folder, or a list of which the first that has files is taken; with merge the
    files of all of them are, and of those with the same path the one of the earliest source.
    user, group, dir_mode, file_mode (`keep`: as in the tree): what is not given stays as it is.
    clean: remove what is not in the source, but what file states manage that this one requires or that require it.
    template, context, defaults, replace, backup: as for file.managed, for each file.
    include_empty: empty folders too. include_pat, exclude_pat: globs of relative paths, regular expressions after E@.
    maxdepth: levels below the folder, 0 for its own files. keep_symlinks: links in the tree become links, instead of
    what is there (force_symlinks). sym_mode, keep_source: accepted. mode: refused; say file_mode and dir_mode.

        /etc/app:
          file.recurse:
            - source: salt://app/etc
            - clean: true

    Behaviour: Salt 3008's file.recurse; a file that cannot be managed keeps the others from being changed too.
    """
    if mode is not None:
        raise StateFailed("'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'.")
    top = name.rstrip("/") or "/"
    permissions(user, group, None)
    origins = _existing(source) if merge else _existing(source)[:1]
    if file.lexists(top) and not file.is_dir(top):
        raise StateFailed(f"The path {top} exists and is not a directory")
    content = _Content(top, _Choice(include_pat or [], exclude_pat or [], maxdepth))
    for prefix, saltenv in reversed(origins):
        content.add(prefix, saltenv, keep_symlinks)
        if include_empty:
            content.add_folders(prefix, saltenv)
    parts: dict[str, Planned | str | Done] = {}
    for folder in content.folders:
        made = directory(folder, user=user, group=group, dir_mode=dir_mode, makedirs=True)
        parts[f"{folder}/"] = _reported(folder, made, shown=folder in content.leaves)
    for path, url in content.files.items():
        part = managed(
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
        parts[path] = _reported(path, part)
    for path, target in content.links.items():
        part = symlink(path, target, force=force_symlinks, user=user, group=group, makedirs=True)
        parts[path] = _reported(path, part)
    if clean and file.is_dir(top):
        removed, _ = superfluous(
            top, {*content.files, *content.links, *needed(top)}, exclude_pat or [], content.folders
        )
        if removed:
            parts["removed"] = _removed(removed)
    outcomes = yield from together(parts)
    if any(outcome.changes != {} for outcome in outcomes.values()):
        return f"Recursively updated {name}"
    return f"The directory {name} is in the correct state"


# ---------------------------------------------------------------- what the source holds


class _Choice(Record):
    """Which paths of the source are wanted."""

    include: list[str]
    exclude: list[str]
    depth: int | None

    def __call__(self, path: str) -> bool:
        if self.depth is not None and path.count("/") > self.depth:
            return False
        return (not self.include or matches(path, self.include)) and not matches(path, self.exclude)


class _Content:
    """The target paths: files with their URLs, links with what they say, folders."""

    def __init__(self, top: str, chosen: _Choice) -> None:
        self.top, self.chosen = top, chosen
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.empty: list[str] = []

    @property
    def folders(self) -> list[str]:
        """All folders, the uppermost first."""
        found = {parent(path) for path in (*self.files, *self.links)} | set(self.empty)
        for folder in list(found):
            while folder != self.top:
                folder = parent(folder)
                found.add(folder)
        return sorted(found)

    @property
    def leaves(self) -> set[str]:
        """The folders that results tell of when they are new: those that hold no other."""
        folders = self.folders
        return set(folders) - {parent(folder) for folder in folders} - {self.top}

    def add(self, prefix: str, saltenv: str, keep_symlinks: bool) -> None:
        """The files of a source, over those of the sources that come after it."""
        later = bool(self.files or self.links)
        for path in here.tree.files(prefix, saltenv):
            inside = path[len(prefix) + 1 :] if prefix else path
            if not self.chosen(inside):
                continue
            place = f"{self.top}/{inside}"
            if later:
                self._clear(place)
            found = here.tree.find(path, saltenv) if keep_symlinks else None
            if found and file.is_link(found):
                self.links[place] = file.readlink(found)
            else:
                self.files[place] = f"salt://{path}?saltenv={saltenv}"

    def _clear(self, place: str) -> None:
        """Drop what cannot be beside a path: the same path, what is below it, and files where its folders will be."""
        for known in (self.files, self.links):
            for other in [each for each in known if f"{each}/".startswith(f"{place}/") or place.startswith(f"{each}/")]:
                del known[other]

    def add_folders(self, prefix: str, saltenv: str) -> None:
        """The folders of the source, empty ones among them."""
        for folder in here.tree.folders(prefix, saltenv):
            inside = folder[len(prefix) + 1 :] if prefix else folder
            if self.chosen(inside):
                self.empty.append(f"{self.top}/{inside}")


def _existing(sources: list[str]) -> list[tuple[str, str]]:
    """The path and the environment of each source that is there."""
    found = []
    for url in sources:
        if not url.startswith("salt://"):
            raise StateFailed(f"Recurse failed: Invalid source '{url}' (must be a salt:// URI)")
    for url in sources:
        path, _, query = url.removeprefix("salt://").partition("?")
        saltenv = query.removeprefix("saltenv=") if query.startswith("saltenv=") else here.saltenv
        prefix = path.strip("/")
        if here.tree.files(prefix, saltenv) or here.tree.folders(prefix, saltenv):
            if here.tree.find(prefix, saltenv) is None:
                found.append((prefix, saltenv))
    if found:
        return found
    raise StateFailed("Recurse failed: none of the specified sources were found")


# ---------------------------------------------------------------- parts


def _reported(path: str, part: Planned, shown: bool = True) -> Planned:
    """A part whose changes and comments stand under its path. shown: whether a new folder is told of."""
    title = f"#### {path} ####\n"
    try:
        plan = next(part)
    except StopIteration as stop:
        return Done(_comment(stop.value), {})
    except StateFailed as failure:
        raise StateFailed(title + failure.message, lacks=failure.lacks) from failure
    silent = not shown and plan.changes == {path: {"directory": "new"}}
    changes = {} if silent else {path: dict(plan.changes)}
    yield _titled(plan, changes, title)
    try:
        next(part)
    except StopIteration as stop:
        return Done(_comment(stop.value), changes)
    except StateFailed as failure:
        made = {path: failure.changes} if failure.changes else failure.changes
        raise StateFailed(title + failure.message, changes=made) from failure
    raise RuntimeError("a second yield")


def _titled(plan: Plan, changes: dict[str, Any], title: str) -> Plan:
    return Plan(changes, f"{title}{plan.comment}\n", plan.sure, plan.why, plan.provides)


def _comment(outcome: str | Done) -> str:
    return outcome if isinstance(outcome, str) else outcome.comment


def _removed(paths: list[str]) -> Planned:
    yield Plan({"removed": paths}, "\n".join(f"{path} is set for removal" for path in paths))
    for path in paths:
        file.remove(path)
    return Done("Removed what is not in the source", {"removed": paths})
