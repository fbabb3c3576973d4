# SPDX-License-Identifier: Apache-2.0
"""The contents that file.recurse puts in a folder: the files, links and folders of one or more
folders of the tree.
"""

from __future__ import annotations

import posixpath

from modules import file
from runner.api import Record, StateFailed, here, lies_in
from states.file._folders import matches
from states.file._permissions import parent


class PathFilter(Record):
    """The choice of paths of the source."""

    include: list[str]
    exclude: list[str]
    depth: int | None

    def __call__(self, path: str) -> bool:
        if self.depth is not None and path.count("/") > self.depth:
            return False
        return (not self.include or matches(path, self.include)) and not matches(path, self.exclude)


class Content:
    """The target paths: files with their URLs, links with their targets, folders (maybe empty)."""

    def __init__(
        self, top: str, chosen: PathFilter, keep_symlinks: bool, include_empty: bool
    ) -> None:
        self.top, self.chosen = top, chosen
        self.keep_symlinks, self.include_empty = keep_symlinks, include_empty
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.empty: list[str] = []
        self._to: dict[str, str] = {}  # link -> "file" or "dir" in the tree; "" leads nowhere

    @property
    def folders(self) -> list[str]:
        """All folders, the uppermost first."""
        folders = self.holders
        for folder in list(folders):
            while folder != self.top:
                folder = parent(folder)
                folders.add(folder)
        return sorted(folders)

    @property
    def holders(self) -> set[str]:
        """The folders that hold files, and those that may be empty."""
        return {parent(path) for path in (*self.files, *self.links)} | set(self.empty)

    @property
    def leaves(self) -> set[str]:
        """The folders that results tell of when they are new: those that hold no other."""
        folders = self.folders
        return set(folders) - {parent(folder) for folder in folders} - {self.top}

    def add(self, prefix: str, saltenv: str) -> None:
        """Add the contents of a source, over what those that come after it do."""
        later = bool(self.files or self.links or self.empty)
        links = here.tree.links(prefix, saltenv) if self.keep_symlinks else {}
        behind = tuple(f"{link}/" for link in links)
        for path in here.tree.files(prefix, saltenv):
            place = self._place(prefix, path)
            if place and path not in links and not path.startswith(behind):
                if later:
                    self._clear(place)
                self.files[place] = f"salt://{path}?saltenv={saltenv}"
        for path in () if self.keep_symlinks else here.tree.links_to_nothing(prefix, saltenv):
            if self._place(prefix, path):
                here.warn(f"salt://{path} is a link to nothing, and is not copied")
        for path, link in links.items():
            place = self._place(prefix, path)
            if place:
                if later:
                    self._clear(place)
                self.links[place] = file.readlink(link)
                self._to[place] = (
                    "dir" if file.is_dir(link) else "file" if file.exists(link) else ""
                )
        for path in here.tree.folders(prefix, saltenv) if self.include_empty else ():
            place = self._place(prefix, path)
            if place and path not in links and not path.startswith(behind):
                if later:
                    self._clear(place, folder=True)
                self.empty.append(place)

    def _place(self, prefix: str, path: str) -> str:
        inside = path[len(prefix) + 1 :] if prefix else path
        return f"{self.top.rstrip('/')}/{inside}" if self.chosen(inside) else ""

    def _clear(self, place: str, folder: bool = False) -> None:
        """Drop what cannot be beside a path: the same path, what is below a file, and files where
        folders will be.
        """
        for known in (self.files, self.links):
            above = place
            while len(above) > len(self.top):
                known.pop(above, None)
                above = parent(above)
            for other in [] if folder else [path for path in known if path.startswith(f"{place}/")]:
                del known[other]
        if not folder:
            self.empty = [path for path in self.empty if not lies_in(path, place)]

    def in_the_way(self) -> set[str]:
        """The paths that stand where something of another kind is to be."""
        files = {path for path in self.folders if file.lexists(path) and not file.is_dir(path)}
        return files | {path for path in self.files if file.is_dir(path)}

    def drop_misled(self) -> None:
        """Drop links to folders that will be missing, and links to files where a folder will be."""
        folders = set(self.folders)
        for link in list(self.links):
            end = self._end(link)
            if lies_in(end, self.top):
                if (self._to[link] == "dir") != (end in folders) and self._to[link]:
                    del self.links[link]

    def _end(self, link: str) -> str:
        """The path that a link leads to, through other links."""
        end, seen = link, set()
        while end in self.links and end not in seen:
            seen.add(end)
            end = posixpath.normpath(posixpath.join(parent(end), self.links[end]))
        return end


def existing(sources: list[str]) -> list[tuple[str, str]]:
    """The path and the environment of each source that is there. Raises StateFailed when there is
    none, and for a source outside of the tree.
    """
    sources_found = []
    for url in sources:
        if not url.startswith("salt://"):
            raise StateFailed(f"Recurse failed: Invalid source '{url}' (must be a salt:// URI)")
    for url in sources:
        path, _, query = url.removeprefix("salt://").partition("?")
        saltenv = query.removeprefix("saltenv=") if query.startswith("saltenv=") else here.saltenv
        prefix = path.strip("/")
        if any(
            below(prefix, saltenv)
            for below in (here.tree.files, here.tree.folders, here.tree.links)
        ):
            if here.tree.find(prefix, saltenv) is None:
                sources_found.append((prefix, saltenv))
    if sources_found:
        return sources_found
    raise StateFailed("Recurse failed: none of the specified sources were found")
