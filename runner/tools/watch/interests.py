# SPDX-License-Identifier: Apache-2.0
"""Who is interested in which path: from paths to watches of the kernel, and from events back.

A path is watched at each name on the way to it, links included, so that it is seen when something
comes, goes or is replaced there, and at the file that it leads to.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from runner.model.paths import lies_in
from runner.tools.watch import inotify
from runner.tools.watch.fanotify import Authors
from runner.tools.watch.inotify import ATTRIBUTES, GONE, MODIFIED, NAMES, Inotify, NoMoreWatches
from runner.tools.watch.mounts import Polled
from runner.tools.watch.reach import Reach
from runner.tools.watch.watched_by import Look

MOST_LINKS = 40
MOST_FOLDERS = 20_000  # of a tree that is watched as a whole
_SELF = inotify.DELETED_ITSELF | inotify.MOVED_ITSELF
_OF_NAMES = NAMES | ATTRIBUTES | _SELF
_OF_FILE = MODIFIED | ATTRIBUTES | _SELF
_OF_TREE = _OF_NAMES | MODIFIED
NOT_WATCHED = frozenset([".git"])  # in a tree: git writes there when it only looks
# names that nothing finds in a state tree: of editors, of version control, and what Python keeps
_PASSING = re.compile(r"\.(git|hg|svn|#.*|.*\.sw.)|4913|.*~|#.*#|__pycache__|.*\.pyc(\..*)?")

NAMED, WHOLE, TREE, SOURCES = range(4)
# what counts of a path that is watched, with the name in it: of a folder one name (NAMED), each
# name (WHOLE), all that happens in it as a part of a larger one (TREE), or its names alone
# (SOURCES); of a file all (WHOLE)
_What = tuple[int, str]
_Place = tuple[str, _What]
_MASKS = (_OF_NAMES, _OF_FILE | NAMES, _OF_TREE, _OF_NAMES)
_ALL, _OF_TREES = (WHOLE, ""), {"tree": (TREE, ""), "sources": (SOURCES, "")}


# what a file is known by, and of a folder that counts as a part of a tree, those in it
_Print = tuple[tuple[int, ...], ...]


class Interests:
    """What the states look at, watched. own: folders that this process's runs write.

    An update costs what has changed: the ways are followed anew of those who look at something
    else, and of those on whose ways something came or went.
    """

    own: frozenset[str] = frozenset()

    def __init__(self, watches: Inotify, authors: Authors, reach: Reach | None = None) -> None:
        self._watches, self._authors = watches, authors
        self._reach = reach or Reach(Polled(()))
        self._looks: dict[str, tuple[Look, ...]] = {}
        self._places: dict[str, tuple[_Place, ...]] = {}  # by who
        self._by: dict[str, dict[_What, set[str]]] = {}  # who, by path
        self._paths: dict[int, set[str]] = {}  # watch -> where it was asked for
        self._numbers: dict[str, int] = {}  # and back
        self._lost = set[str]()  # whose ways may lead elsewhere by now
        self._lacking = set[str]()  # for whom the kernel had no more watches
        self._has_given_back = False  # since then watches
        self._too_large = set[str]()  # who has a tree of too many folders
        self._status: dict[str, os.stat_result | None] = {}
        self._polled: dict[_Place, _Print] = {}  # how it was when it was looked at last

    @property
    def unwatched(self) -> set[str]:
        """Those of whom a part could not be watched."""
        return self._lacking | self._too_large

    def update(self, looks: Mapping[str, Iterable[Look]], since: float) -> dict[str, str]:
        """Watch what everybody looks at, and nothing else. since: when they looked. Returns whose
        may have changed since, before it was watched, with a path.
        """
        before, self._looks = self._looks, {who: tuple(of_who) for who, of_who in looks.items()}
        anew = {who for who in self._looks if self._looks[who] != before.get(who)}
        if self._has_given_back:
            self._lost |= self._lacking
            self._has_given_back = False
        anew |= self._lost & self._looks.keys()
        self._lost.clear()
        self._status.clear()
        news, affected = self._follow(anew, before.keys() - self._looks.keys())
        walked, self._status = self._status, {}
        changed = self._watch(affected)  # what is changed from now on is told
        for path, what in news:
            place = os.path.join(path, what[1]) if what[1] else path
            if self._is_changed(what[0], place, walked.get(place), since):
                changed |= dict.fromkeys(self._by[path][what], place)
        self._status.clear()
        self._lost |= changed.keys()
        return changed

    def poll(self, is_polled: Callable[[str], bool]) -> dict[str, str]:
        """Look at each place of which the kernel does not tell all. Returns whose looks go by those
        that are not as they were at the last time, with a path.
        """
        before, self._polled, changed = self._polled, {}, dict[str, str]()
        for path, by in self._by.items():
            if not is_polled(path):
                continue
            for what in by:
                was = before.get((path, what), ())
                look = partial(_print, path, what)
                now = self._polled[path, what] = self._reach.look(path, look, was)
                if before.get((path, what), now) != now:
                    changed |= dict.fromkeys(by[what], os.path.join(path, what[1]))
        self._status.clear()
        self._lost |= changed.keys()
        return changed

    def through(self, folder: str) -> set[str]:
        """Those whose ways lead to a folder, or through it."""
        return {
            who
            for who, places in self._places.items()
            if any(lies_in(os.path.join(path, what[1]), folder) for path, what in places)
        }

    @property
    def polls(self) -> bool:
        """Return whether there was anything to look at."""
        return bool(self._polled)

    def look_again(self, folders: Iterable[str] = ("/",)) -> None:
        """Have the next update follow all ways anew that lead to or through some folders."""
        for path, by in self._by.items():
            if any(lies_in(path, folder) for folder in folders):
                self._lost.update(*by.values())

    def touched(self, events: Iterable[inotify.Told]) -> dict[str, str]:
        """Whose looks events touch, with a path."""
        touched: dict[str, str] = {}
        for event in events:
            if event.mask & inotify.OVERFLOW:
                self.look_again()
                touched |= dict.fromkeys(self._looks, "more than the kernel could tell")
                continue
            for folder in self._paths.get(event.watch, ()):
                path = os.path.join(folder, event.name) if event.name else folder
                touched |= dict.fromkeys(self._interested(folder, event), path)
            if event.mask & inotify.IGNORED:
                for path in self._paths.pop(event.watch, ()):
                    self._numbers.pop(path, None)
                    self._leave_authors(path)
        return touched

    def _interested(self, path: str, event: inotify.Told) -> set[str]:
        """Whose looks an event at a path touches. Whose ways may lead elsewhere since is noted."""
        by = self._by.get(path, {})
        if not event.name:
            if event.mask & GONE:
                return self._may_lead_elsewhere(set().union(*by.values()))
            return set().union(*(by.get(what, ()) for what in (_ALL, *_OF_TREES.values())))
        name, names = event.name, event.mask & NAMES
        on_way = by.get((NAMED, name), set())
        if names or event.mask & ATTRIBUTES:
            self._may_lead_elsewhere(on_way)
        below = set[str]()
        if name not in NOT_WATCHED:
            below |= by.get(_OF_TREES["tree"], set())
        if names and not _PASSING.fullmatch(name):
            below |= by.get(_OF_TREES["sources"], set())
        if names and event.mask & inotify.FOLDER:
            self._may_lead_elsewhere(below)
        return on_way.union(below, by.get(_ALL, ()) if names else ())

    def _may_lead_elsewhere(self, who: set[str]) -> set[str]:
        self._lost |= who
        return who

    # -------------------------------------------------- what there is to watch

    def _follow(
        self, anew: Iterable[str], left: Collection[str]
    ) -> tuple[list[_Place], dict[str, None]]:
        """Follow the ways of some, and those of others no more. Returns the places where nobody was
        interested before, and the paths that may have to be watched otherwise.
        """
        news, affected = dict[_Place, None](), dict[str, None]()
        gone = [(who, self._places.pop(who, ())) for who in left]
        for some in self._too_large, self._lacking:
            some.difference_update(left, anew)
        for who in anew:
            places = dict.fromkeys(
                place for kind, path in self._looks[who] for place in self._of_look(who, kind, path)
            )
            before = self._places.get(who, ())
            gone.append((who, tuple(place for place in before if place not in places)))
            self._places[who] = tuple(places)
            for path, what in places:
                by = self._by.setdefault(path, {})
                if what not in by:
                    by[what] = set()
                    news[path, what] = None
                by[what].add(who)
                affected[path] = None
        for who, places_left in gone:
            for path, what in places_left:
                by = self._by[path]
                by[what].discard(who)
                if not by[what]:
                    del by[what]
                affected[path] = None
        return [*news], affected

    def _of_look(self, who: str, kind: str, path: str) -> Iterator[_Place]:
        for folder, name in self._way(path):
            if name:
                yield folder, (NAMED, name)
                continue
            status = self._at(folder)
            is_folder = status is not None and stat.S_ISDIR(status.st_mode)
            if is_folder and kind in _OF_TREES:
                for below in self._folders(folder, who):
                    yield below, _OF_TREES[kind]
            elif not is_folder or kind == "folder":
                yield folder, _ALL

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
                target = self._reach.look(whole, partial(_target, whole), "")
                if not target:
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
            self._status[path] = self._reach.look(path, partial(_status, path), None)
        return self._status[path]

    def _folders(self, top: str, who: str) -> Sequence[str]:
        return self._reach.look(top, lambda: [*self._folders_below(top, who)], [])

    def _folders_below(self, top: str, who: str) -> Iterator[str]:
        for count, (folder, names, _) in enumerate(os.walk(top)):
            names[:] = [
                name
                for name in names
                if name not in NOT_WATCHED and os.path.join(folder, name) not in self.own
            ]
            if count >= MOST_FOLDERS:
                self._too_large.add(who)
                return
            yield folder

    # -------------------------------------------------- watches

    def _watch(self, paths: Iterable[str]) -> dict[str, str]:
        """Watch paths where somebody is interested, and others no more. Returns who is interested
        in one where something else is by now, of which nothing told: a mount.
        """
        changed: dict[str, str] = {}
        wanted = []
        for path in paths:
            if self._by.get(path):
                wanted.append(path)
            else:
                self._by.pop(path, None)
                self._leave(path)
        for path in wanted:
            by, before = self._by[path], self._numbers.get(path)
            mask = 0
            for counts, _ in by:
                mask |= _MASKS[counts]
            number = self._number(path, by, mask)
            if number != before:
                self._leave(path)
            if number is None:
                continue
            self._reach.look(path, partial(self._authors.watch, path, mask), None)
            if number != before:
                self._paths.setdefault(number, set()).add(path)
                self._numbers[path] = number
                if before is not None:
                    changed |= dict.fromkeys(set().union(*by.values()), path)
        return changed

    def _number(self, path: str, by: Mapping[_What, set[str]], mask: int) -> int | None:
        """Have a path watched; returns the number of the watch, if there is one."""

        def watch() -> int | None:
            try:
                return self._watches.watch(path, mask)
            except NoMoreWatches:
                self._lacking.update(*by.values())
                return None

        return self._reach.look(path, watch, None)

    def _leave(self, path: str) -> None:
        """Watch a path no more."""
        number = self._numbers.pop(path, None)
        if number is None:
            return
        self._leave_authors(path)
        self._paths[number].discard(path)
        if not self._paths[number]:
            del self._paths[number]
            self._watches.forget(number)
            self._has_given_back = True

    def _leave_authors(self, path: str) -> None:
        self._reach.look(path, partial(self._authors.leave, path), None)

    def _is_changed(
        self, counts: int, path: str, walked: os.stat_result | None, since: float
    ) -> bool:
        """Return whether something has changed at a path that is watched since now. walked: how it
        was when the way there was followed. A folder on the way has another time with each name
        that it gets, which tells nothing.
        """
        now = self._at(path)
        if now is None or walked is None:
            if now is not walked:
                return True
            now = self._at(os.path.dirname(path))
        elif (now.st_dev, now.st_ino) != (walked.st_dev, walked.st_ino):
            return True
        elif counts == NAMED and stat.S_ISDIR(now.st_mode):
            return False
        return now is not None and now.st_ctime >= since


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _print(path: str, what: _What) -> _Print:
    """How something at a place is: another one than before, where that has changed."""
    place = os.path.join(path, what[1]) if what[1] else path
    try:
        status = [os.lstat(place)]
        if what[0] == TREE:
            with os.scandir(place) as entries:
                status += [entry.stat(follow_symlinks=False) for entry in entries]
    except (OSError, ValueError):
        return ()
    if what[0] == NAMED and stat.S_ISDIR(status[0].st_mode):  # it has a place of its own
        return ((status[0].st_ino, status[0].st_mode, status[0].st_uid, status[0].st_gid),)
    return tuple(
        (each.st_ino, each.st_mode, each.st_uid, each.st_gid, each.st_size, each.st_ctime_ns)
        for each in status
    )
