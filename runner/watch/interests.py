# SPDX-License-Identifier: Apache-2.0
"""Who is interested in which path: from paths to watches of the kernel, and from events back.

A path is watched at each name on the way to it, links included, so that it is seen when something
comes, goes or is replaced there, and at the file that it leads to.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping

from runner.watch import inotify
from runner.watch.inotify import ATTRIBUTES, GONE, MODIFIED, NAMES, Inotify, NoMoreWatches
from runner.watch.watched_by import Look

MOST_LINKS = 40
MOST_FOLDERS = 20_000  # of a tree that is watched as a whole
_SELF = inotify.DELETED_ITSELF | inotify.MOVED_ITSELF
_OF_NAMES = NAMES | ATTRIBUTES | _SELF
_OF_FILE = MODIFIED | ATTRIBUTES | _SELF
_OF_TREE = _OF_NAMES | MODIFIED
NOT_WATCHED = frozenset([".git"])  # in a tree: git writes there when it only looks
# names that nothing finds in a state tree: of editors, of version control, and what Python keeps
_PASSING = re.compile(r"\.(git|hg|svn|#.*|.*\.sw.)|4913|.*~|#.*#|__pycache__|.*\.pyc(\..*)?")

_By = dict[str, set[str]]


class Interests:
    """What the states look at, watched. after `update`, unwatched: those of whom a part could not
    be watched, since the kernel gives no more. own: folders that this process's runs write.
    """

    own: frozenset[str] = frozenset()

    def __init__(self, watches: Inotify) -> None:
        self._watches = watches
        self.unwatched: set[str] = set()
        self._named: dict[str, dict[str, set[str]]] = {}  # folder -> name -> who
        self._whole: dict[str, set[str]] = {}  # file, or folder of which each name counts -> who
        self._trees: dict[str, set[str]] = {}  # folder of which everything counts -> who
        self._sources: dict[str, set[str]] = {}  # folder of a state tree: its names count -> who
        self._paths: dict[int, set[str]] = {}  # watch -> where it was asked for
        self._status: dict[str, os.stat_result | None] = {}

    def update(self, looks: Mapping[str, Iterable[Look]], since: float) -> dict[str, str]:
        """Watch what everybody looks at, and nothing else. since: when they looked. Returns whose
        may have changed since, before it was watched, with a path.
        """
        before = self._named, self._whole, self._trees, self._sources
        self._named, self._whole, self._trees, self._sources = {}, {}, {}, {}
        self.unwatched = set()
        for who, places in looks.items():
            for kind, path in places:
                self._add(who, kind, path)
        self._watch()
        self._status.clear()  # what was changed until now is not told, unless it is seen here
        changed: dict[str, str] = {}
        for path, interested in self._news(before):
            if self._changed_at(path) >= since:
                changed |= dict.fromkeys(interested, path)
        self._status.clear()
        return changed

    def touched(self, events: Iterable[inotify.Told]) -> tuple[dict[str, str], bool]:
        """Whose looks events touch, with a path, and whether there is something else to watch by
        now.
        """
        touched: dict[str, str] = {}
        moved = False
        for event in events:
            if event.mask & inotify.OVERFLOW:
                everybody = self.unwatched.union(
                    *self._whole.values(),
                    *(who for by in self._named.values() for who in by.values()),
                )
                touched |= dict.fromkeys(everybody, "more than the kernel could tell")
                moved = True
                continue
            for folder in self._paths.get(event.watch, ()):
                who = self._interested(folder, event)
                path = os.path.join(folder, event.name) if event.name else folder
                touched |= dict.fromkeys(who, path)
                moved |= bool(who) and bool(event.mask & (NAMES | GONE))
            if event.mask & inotify.IGNORED:
                self._paths.pop(event.watch, None)
        return touched, moved

    def _interested(self, path: str, event: inotify.Told) -> set[str]:
        if not event.name:
            on_way = self._named.get(path, {}).values() if event.mask & GONE else ()
            return self._below(path).union(self._whole.get(path, ()), *on_way)
        who = set(self._named.get(path, {}).get(event.name, ()))
        if event.mask & NAMES:
            who |= self._whole.get(path, set())
            if not _PASSING.fullmatch(event.name):
                who |= self._sources.get(path, set())
        if event.name not in NOT_WATCHED:
            who |= self._trees.get(path, set())
        return who

    def _below(self, path: str) -> set[str]:
        """Who is interested in a folder as a part of a larger one."""
        return self._trees.get(path, set()) | self._sources.get(path, set())

    # -------------------------------------------------- what there is to watch

    def _add(self, who: str, kind: str, path: str) -> None:
        for folder, name in self._way(path):
            if name:
                self._named.setdefault(folder, {}).setdefault(name, set()).add(who)
                continue
            status = self._at(folder)
            is_folder = status is not None and stat.S_ISDIR(status.st_mode)
            if is_folder and kind in ("tree", "sources"):
                by = self._trees if kind == "tree" else self._sources
                for below in self._folders(folder, who):
                    by.setdefault(below, set()).add(who)
            elif not is_folder or kind == "folder":
                self._whole.setdefault(folder, set()).add(who)

    def _way(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield each folder with the name in it that a path goes by, and what it leads to, without
        a name, if it is there.
        """
        waiting, at, links = path.split("/")[::-1], "/", 0
        while waiting:
            name = waiting.pop()
            if name in ("", "."):
                continue
            if name == "..":
                at = os.path.dirname(at)
                continue
            yield at, name
            whole = os.path.join(at, name)
            status = self._at(whole)
            if status is None:
                return
            if stat.S_ISLNK(status.st_mode):
                links += 1
                if links > MOST_LINKS:
                    return
                try:
                    target = os.readlink(whole)
                except OSError:
                    return
                at = "/" if target.startswith("/") else at
                waiting += target.split("/")[::-1]
            elif waiting and not stat.S_ISDIR(status.st_mode):
                yield whole, ""
                return
            else:
                at = whole
        yield at, ""

    def _at(self, path: str) -> os.stat_result | None:
        if path not in self._status:
            try:
                self._status[path] = os.lstat(path)
            except (OSError, ValueError):
                self._status[path] = None
        return self._status[path]

    def _folders(self, top: str, who: str) -> Iterator[str]:
        for count, (folder, names, _) in enumerate(os.walk(top)):
            names[:] = [
                name
                for name in names
                if name not in NOT_WATCHED and os.path.join(folder, name) not in self.own
            ]
            if count >= MOST_FOLDERS:
                self.unwatched.add(who)
                return
            yield folder

    # -------------------------------------------------- watches

    def _watch(self) -> None:
        found: dict[int, set[str]] = {}
        for by, mask in (
            (self._named, _OF_NAMES),
            (self._whole, _OF_FILE | NAMES),
            (self._trees, _OF_TREE),
            (self._sources, _OF_NAMES),
        ):
            for path in by:
                try:
                    number = self._watches.watch(path, mask)
                except NoMoreWatches:
                    self.unwatched |= self._who(path)
                    continue
                if number is not None:
                    found.setdefault(number, set()).add(path)
        for number in self._paths.keys() - found.keys():
            self._watches.forget(number)
        self._paths = found

    def _who(self, path: str) -> set[str]:
        of_names = self._named.get(path, {}).values()
        return self._below(path).union(self._whole.get(path, ()), *of_names)

    def _news(
        self,
        before: tuple[dict[str, _By], _By, _By, _By],
    ) -> Iterator[tuple[str, set[str]]]:
        """Yield the paths that are watched since now, and by whom. A folder on the way to one has
        another time with each name that it gets, which tells nothing.
        """
        named, *then_watched = before
        for folder, names in self._named.items():
            for name in names.keys() - named.get(folder, {}).keys():
                status = self._at(path := os.path.join(folder, name))
                if status is None or not stat.S_ISDIR(status.st_mode):
                    yield path, names[name]
        for now, then in zip((self._whole, self._trees, self._sources), then_watched, strict=True):
            for path in now.keys() - then.keys():
                yield path, now[path]

    def _changed_at(self, path: str) -> float:
        """When what is at a path was changed last; of what is not there, when its folder was."""
        status = self._at(path) or self._at(os.path.dirname(path))
        return status.st_ctime if status is not None else 0.0
