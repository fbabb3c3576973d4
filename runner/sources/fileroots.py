# SPDX-License-Identifier: Apache-2.0
"""The file roots: from the name of an SLS to its file, from salt:// to a file."""

from __future__ import annotations

import fnmatch
import os
import posixpath
from contextlib import suppress
from stat import S_ISREG

from runner.model import diagnostics
from runner.model.errors import MAY_READ, RunnerError
from runner.model.places import Source
from runner.model.stdlib import pattern
from runner.support.files import links as link_guard
from runner.support.files.group_commit import GROUP_COMMIT
from runner.support.files.text import text_to_show, unsaved, unsaved_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

MOST_BEHIND_A_LINK = 200_000  # files and folders; to list as many takes seconds
_MARGIN = pattern(r"(?m)^(['\"]?)(?P<id>\S.*?)\1\s*:(?=\s|$)")
_OWN_NAME = pattern(r"\{\{-?\s*sls\s*-?\}\}")


class FileTree:
    """The folders of each environment; in each the first folder that has a file wins.

    roots: environment -> folders; the environment `__env__` stands for all that are not named.
    settings: file_ignore_glob, file_ignore_regex (in lists they are for the path below the root,
    for one file that is asked for they are for its whole path on disk, as with Salt),
    fileserver_ignoresymlinks (files that are links are not listed, but found when they are asked
    for, as with Salt), fileserver_followsymlinks (false: links to folders are not listed, and what
    a link leads to outside of its root is not there, as with Salt). Files are found with one stat
    for each root; only globs, suggestions and file.recurse list the folders, once a run.
    """

    def __init__(
        self,
        roots: Mapping[str, Sequence[str]],
        settings: Mapping[str, Any] | None = None,
        seen: Callable[[str], None] = lambda path: None,
    ) -> None:
        """seen: is shown each file that is found, before it is read."""
        settings = settings or {}
        self.roots = roots
        self._lacks = getattr(roots, "lacks", None)  # see gitfs.EnvironmentRoots
        self._seen = seen
        self._top = str(settings.get("state_top") or "top.sls").removeprefix("salt://")
        self._globs = _strings(settings.get("file_ignore_glob"))
        self._patterns = [pattern(text) for text in _strings(settings.get("file_ignore_regex"))]
        self._ignore_links = bool(settings.get("fileserver_ignoresymlinks"))
        self._follow_links = settings.get("fileserver_followsymlinks", True) is not False
        self.closed: dict[str, None] = {}  # folders that were to be listed and may not be read
        self._to_nothing: dict[str, list[str]] = {}  # environment -> links
        self._listed: dict[str, tuple[dict[str, str], set[str]]] = {}
        self._names: dict[str, list[str]] = {}
        self._declared: dict[str, dict[str, str]] = {}  # ID -> SLS

    def folders_of(self, saltenv: str) -> list[str]:
        """The folders of one environment; none if there is no such environment."""
        if saltenv in self.roots:
            return list(self.roots[saltenv])
        return [root.replace("__env__", saltenv) for root in self.roots.get("__env__", ())]

    def exists(self, saltenv: str) -> bool:
        """Return whether there is such an environment."""
        return saltenv in self.roots or "__env__" in self.roots

    def root_of(self, file: str, sls: str = "") -> str | None:
        """The folder of the roots that a file on disk lies in; of several, one in another, the one
        in which it is that SLS, or else the innermost.
        """
        roots = [
            folder.rstrip("/")
            for folders in self.roots.values()
            for folder in folders
            if file.startswith(folder.rstrip("/") + "/")
        ]
        path = sls.replace(".", "/")
        own = [root for root in roots if file in (f"{root}/{path}.sls", f"{root}/{path}/init.sls")]
        return max(own or roots, key=len, default=None)

    # -------------------------------------------------- one file

    def find(self, path: str, saltenv: str) -> str | None:
        """The file on disk of a path below the roots of an environment, first root wins; None if
        there is none.
        """
        inner = _inside(path)
        if not inner or (self._lacks and self._lacks(saltenv, inner)):
            return None
        for root in self.folders_of(saltenv):
            file = f"{root}/{inner}"
            GROUP_COMMIT.look_beside(file)
            if _is_file(file) and not self._is_ignored(file) and not self._is_elsewhere(root, file):
                self._seen(file)
                return file
        return None

    def _is_elsewhere(self, root: str, file: str) -> bool:
        """Return whether a link leads out of the root to a file, and none may be followed there."""
        return not self._follow_links and _leads_out(root, file)

    def fetch(self, url: str, saltenv: str) -> str | None:
        """The local file of `salt://path[?saltenv=x]`, `file:///path` or `/path`; None if there is
        none.
        """
        if url.startswith("salt://"):
            path, env = _parsed(url, saltenv)
            return self.find(path, env)
        path = url.removeprefix("file://")
        if path.startswith("/"):
            GROUP_COMMIT.look_beside(path)
        if not path.startswith("/") or not os.path.isfile(path):
            return None
        link_guard.without_links(path)
        self._seen(path)
        return path

    # -------------------------------------------------- folders

    def files(self, prefix: str, saltenv: str) -> list[str]:
        """The paths (from the root) below a folder of the tree, sorted."""
        return _below(prefix, self._listing(saltenv)[0])

    def folders(self, prefix: str, saltenv: str) -> list[str]:
        """The folders below a folder of the tree (itself not included), sorted."""
        return _below(prefix, self._listing(saltenv)[1])

    def links_to_nothing(self, prefix: str, saltenv: str) -> list[str]:
        """The paths below a folder of the tree that are links to what is not there."""
        self._listing(saltenv)
        return _below(prefix, self._to_nothing[saltenv])

    def links(self, prefix: str, saltenv: str) -> dict[str, str]:
        """The links below a folder of the tree, with their files on disk; no link that leads out of
        the tree.

        What lies behind a link to a folder is not looked at; a link that leads nowhere is one.
        """
        inner = _inside(prefix)
        links: dict[str, str] = {}
        GROUP_COMMIT.look_around()
        for root in self.folders_of(saltenv):
            for folder, folders, files in os.walk(os.path.join(root, inner)):
                for name in (*folders, *files):
                    file = os.path.join(folder, name)
                    path = os.path.relpath(file, root)
                    if (
                        os.path.islink(file)
                        and not self._is_ignored(path)
                        and not _leads_out(root, file)
                    ):
                        links.setdefault(path, file)
        return links

    def _listing(self, saltenv: str) -> tuple[dict[str, str], set[str]]:
        if saltenv not in self._listed:
            GROUP_COMMIT.look_around()
            files: dict[str, str] = {}
            folders: set[str] = set()
            nothing = self._to_nothing[saltenv] = []
            for root in self.folders_of(saltenv):
                for path, is_folder in self._walk(root, "", _ancestors(root)):
                    if is_folder:
                        folders.add(path)
                    elif is_folder is None:
                        nothing.append(path)
                    else:
                        files.setdefault(path, f"{root}/{path}")
                for path in unsaved_below(root):
                    if not self._is_ignored(path):
                        files.setdefault(path, f"{root}/{path}")
            self._listed[saltenv] = (files, folders)
        return self._listed[saltenv]

    def _walk(
        self, root: str, prefix: str, above: tuple[tuple[int, int], ...]
    ) -> Iterable[tuple[str, bool | None]]:
        """All paths below a folder, and whether they are folders, None for a link to nothing;
        `above` are the folders on the way, so that a link to one of
        them ends.

        Those that hold the root itself are among them: a link to `/` does not make the machine a
        part of the tree.
        """
        try:
            entries = sorted(os.scandir(f"{root}/{prefix}"), key=lambda entry: entry.name)
            stat = os.stat(f"{root}/{prefix}")
        except OSError as error:
            if isinstance(error, PermissionError):
                if not prefix:
                    raise unreadable(root) from None
                self.closed[f"{root}/{prefix}".rstrip("/")] = None
            return
        here = (stat.st_dev, stat.st_ino)
        if here in above:
            return
        for entry in entries:
            path = prefix + entry.name
            if self._is_ignored(path):
                continue
            with suppress(OSError):  # a link to itself
                if entry.is_dir(follow_symlinks=self._follow_links):
                    yield path, True
                    below = self._walk(root, f"{path}/", (*above, here))
                    yield from _bounded(below, f"{root}/{path}") if entry.is_symlink() else below
                elif entry.is_file() and not (self._ignore_links and entry.is_symlink()):
                    yield path, False
                elif entry.is_symlink() and not os.path.exists(entry.path):
                    yield path, None

    def _is_ignored(self, path: str) -> bool:
        return bool(self._globs or self._patterns) and self._matches(path)

    def _matches(self, path: str) -> bool:
        return any(fnmatch.fnmatchcase(path, glob) for glob in self._globs) or any(
            each.search(path) for each in self._patterns
        )

    # -------------------------------------------------- SLS files

    def sls_path(self, name: str, saltenv: str) -> str | None:
        """The file of an SLS: a.b is a/b.sls in any root, or else a/b/init.sls; None if there is
        none.

        `a.`, to which an `include: - .` beside a/init.sls leads, is that file alone.
        """
        if name.startswith(".") and not name.startswith("./"):
            return None
        if name.endswith(".") and not name.endswith(("..", "/.")):
            return self.find(f"{name[:-1].replace('.', '/')}/init.sls", saltenv)
        if not name:
            return self.find("init.sls", saltenv)
        path = (
            name.replace(".", "/").strip("/")
            if not name.startswith("./")
            else name[2:].replace(".", "/")
        )
        if not path or name.endswith(("/", ".")):
            return None
        return self.find(f"{path}.sls", saltenv) or self.find(f"{path}/init.sls", saltenv)

    def no_file(self, path: str, saltenv: str) -> str:
        """Return what is at a path below the roots of an environment in the place of a file; empty
        where nothing is.
        """
        for file in (os.path.join(folder, path) for folder in self.folders_of(saltenv)):
            if os.path.lexists(file):
                what = "a directory" if os.path.isdir(file) else "no file that can be read"
                return f"{file} is {what if os.path.exists(file) else 'a link to nothing'}"
        return ""

    def searched(self, name: str, saltenv: str) -> str:
        """The folders where an SLS was looked for, for a hint."""
        folders = self.folders_of(saltenv)
        if not folders:
            return (
                f"there is no environment {saltenv!r} in file_roots; there is:"
                f" {', '.join(self.roots)}"
            )
        path = name.replace(".", "/")
        missing = [folder for folder in folders if not os.path.isdir(folder)]
        more = f" ({', '.join(missing)} does not exist)" if missing else ""
        if odd := self.no_file(f"{path}.sls", saltenv):
            return odd
        others = [env for env in self.roots if env != saltenv and self.sls_path(name, env)]
        where = (
            f"; it is in the environment {' and in '.join(others)} (`saltenv`)" if others else ""
        )
        inside = [sls for sls in self.sls_names(saltenv) if sls.startswith(f"{name}.")]
        if inside and not where:
            where = f"; that folder has no init.sls, but there is {', '.join(sorted(inside)[:3])}"
        return f"looked for {path}.sls and {path}/init.sls in {', '.join(folders)}{more}{where}"

    def declaring(self, id_: str, saltenv: str) -> str | None:
        """The SLS in whose text an ID stands at the margin."""
        return self.declared(saltenv).get(id_)

    def declared(self, saltenv: str) -> Mapping[str, str]:
        """The IDs that stand at the margin of an SLS, each with the first that has it."""
        if saltenv not in self._declared:
            files = self._declared[saltenv] = {}
            for name in self.sls_files(saltenv):
                for line in _MARGIN.finditer(self.sls_text(name, saltenv) or ""):
                    files.setdefault(_OWN_NAME.sub(name, line["id"]), name)
        return self._declared[saltenv]

    def sls_text(self, name: str, saltenv: str) -> str | None:
        """An SLS as written (or the one that was probably meant); None where there is none."""
        near = self.suggest(name, saltenv)
        path = self.sls_path(name, saltenv) or (self.sls_path(near, saltenv) if near else None)
        return text_to_show(path) if path else None

    def sls_names(self, saltenv: str) -> list[str]:
        """The names of all SLS files that can be named (no dots in folders; not the top file),
        sorted.
        """
        if saltenv not in self._names:
            stems = (
                path.removesuffix(".sls")
                for path in self._listing(saltenv)[0]
                if path.endswith(".sls") and path != self._top
            )
            names = {
                stem.removesuffix("/init").replace("/", ".") for stem in stems if "." not in stem
            }
            self._names[saltenv] = sorted(names)
        return self._names[saltenv]

    def sls_files(self, saltenv: str) -> list[str]:
        """The SLS files, by their names, each once: a root may lie in another one."""
        files: dict[str, str] = {}
        for name in sorted(self.sls_names(saltenv), key=lambda name: name.count(".")):
            files.setdefault(os.path.normpath(self.sls_path(name, saltenv) or name), name)
        return sorted(files.values())

    def near_file(self, path: str, saltenv: str) -> str | None:
        """The file of the tree that was probably meant; asks the folders that lie nearest first."""
        is_sls = path.endswith(".sls")
        files = [file for file in self._listing(saltenv)[0] if file.endswith(".sls") == is_sls]
        return _meant(path, files, "/", 0.75)

    def missing_hint(self, path: str, saltenv: str) -> str:
        """The cure for the path of a file that is not in the tree."""
        near = self.near_file(path, saltenv)
        folders = ", ".join(self.folders_of(saltenv)) or "the roots of an environment"
        return diagnostics.suggestion(near) if near else f"its path begins at {folders}"

    def suggest(self, name: str, saltenv: str) -> str | None:
        """The name of an SLS that was probably meant."""
        names = self.sls_names(saltenv)
        plain = name.removesuffix(".sls").replace("/", ".").strip(".")
        return plain if plain in names else _meant(plain, names, ".", 0.6)


def _meant(wanted: str, names: Collection[str], mark: str, alike: float) -> str | None:
    """The name that looks like it, or else the only one that ends as it does (what follows the last
    mark).
    """
    last = wanted.rpartition(mark)[2]
    same = [name for name in names if name.rpartition(mark)[2] == last]
    return diagnostics.nearest(wanted, names, alike) or (same[0] if len(same) == 1 else None)


def _strings(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(item) for item in value or ()]


def _inside(path: str) -> str:
    """A path without ways out of the root; empty if it leads out."""
    path = posixpath.normpath(path.strip("/"))
    return "" if path in (".", "..") or path.startswith("../") or "\0" in path else path


def _bounded(
    paths: Iterable[tuple[str, bool | None]], link: str
) -> Iterator[tuple[str, bool | None]]:
    """The paths behind a link to a folder. Raises RunnerError for a link to half the machine, or
    links in circles.
    """
    for number, path in enumerate(paths):
        if number >= MOST_BEHIND_A_LINK:
            message = f"there are more than {MOST_BEHIND_A_LINK:,} files behind this link"
            hint = "link to a smaller folder, or name its files in file_ignore_glob"
            raise RunnerError(message, Source(link), hint, "limit")
        yield path


def _ancestors(root: str) -> tuple[tuple[int, int], ...]:
    """The folders that a root lies in, by device and inode."""
    path = os.path.realpath(root)
    folders = []
    while path != "/":
        path = os.path.dirname(path)
        with suppress(OSError):
            stat = os.stat(path)
            folders.append((stat.st_dev, stat.st_ino))
    return tuple(folders)


def _leads_out(root: str, link: str) -> bool:
    target = os.path.realpath(link)
    return os.path.exists(target) and not target.startswith(f"{os.path.realpath(root)}/")


def _is_file(path: str) -> bool:
    """Return whether there is such a file. Raises RunnerError where nobody knows: in a folder that
    may not be searched.
    """
    try:
        return S_ISREG(os.stat(path).st_mode)
    except PermissionError:
        raise unreadable(path) from None
    except (OSError, ValueError):
        return "\0" not in path and unsaved(path) is not None


def unreadable(path: str) -> RunnerError:
    """The error for a file or folder that this user may not read."""
    return RunnerError(
        f"{path} cannot be read: Permission denied", Source(path), MAY_READ, "unreadable"
    )


def _parsed(url: str, saltenv: str) -> tuple[str, str]:
    """`salt://a/b?saltenv=dev` in its path and environment; a | after the slashes takes ? as a
    letter.
    """
    rest = url.removeprefix("salt://")
    if rest.startswith("|"):
        return rest[1:], saltenv
    path, mark, query = rest.rpartition("?")
    if not mark:
        return rest, saltenv
    key, _, env = query.partition("=")
    return (path, env) if key in ("saltenv", "env") and env else (rest, saltenv)


def _below(prefix: str, paths: Iterable[str]) -> list[str]:
    inner = posixpath.normpath(prefix.strip("/")) if prefix.strip("/") else ""
    if inner in ("", "."):
        return sorted(paths)
    return sorted(path for path in paths if path.startswith(f"{inner}/"))
