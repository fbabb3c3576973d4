# SPDX-License-Identifier: Apache-2.0
"""What `find` finds of the planned files, without a process that would have to see all of them."""

from __future__ import annotations

import fnmatch
import os
import re
import stat as bits
from collections.abc import Callable, Sequence
from contextlib import suppress

from modules import _paths
from modules.pkg._scripts.known import entry_of
from modules.pkg._scripts.run import Outcome
from modules.pkg._scripts.words import COMMAND, spend
from runner.api import Record

MOST = 20_000  # files that are looked at: of more the program tells sooner
_TYPES = {"f": bits.S_ISREG, "d": bits.S_ISDIR, "l": bits.S_ISLNK}
_TYPES |= {"p": bits.S_ISFIFO, "s": bits.S_ISSOCK, "b": bits.S_ISBLK, "c": bits.S_ISCHR}


class _Beyond(Exception):
    """Only the program can tell."""


class _NothingToFind(Exception):
    """The program would find nothing, as something in its words is not there."""


class _Quit(Exception):
    """The program would end here."""


class _At(Record):
    """A file that is looked at. shown: its path as it is printed, below: without where the search
    began; path: the same from / on.
    """

    shown: str
    below: str
    path: str
    depth: int
    status: os.stat_result

    @property
    def name(self) -> str:
        return os.path.basename(self.shown.rstrip("/")) or "/"


_Test = Callable[[_At], bool]


def found(words: Sequence[str], folder: str) -> Outcome | None:
    """What the program comes to with these words in a folder; None where only it can tell."""
    try:
        search = _Search(words, folder)
        return Outcome(search.status(), search.output)
    except _NothingToFind:
        return Outcome(1)
    except (_Beyond, RecursionError):
        return None


class _Search:
    """One search. Raises _Beyond and _NothingToFind."""

    def __init__(self, words: Sequence[str], folder: str) -> None:
        self.output = ""
        self._folder = folder
        self._words = [*words]
        self._links = "-P"
        while self._words[:1] in (["-L"], ["-H"], ["-P"]):
            self._links = self._words.pop(0)
        self._tops: list[str] = []
        while self._words and not self._words[0].startswith(("-", "(", ")", "!", ",")):
            self._tops.append(self._words.pop(0))
        self._least, self._most, self._last = 0, MOST, False
        self._tells = self._prunes = False
        self._seen, self._failed = 0, False
        self._test = self._either() if self._words else lambda at: True
        if self._words:
            raise _Beyond
        if not self._tells:
            asked = self._test
            self._test = lambda at: asked(at) and self._print(f"{at.shown}\n")

    # ---------------------------------------------------------------- what is asked

    def _next(self) -> str:
        if not self._words:
            raise _Beyond
        return self._words.pop(0)

    def _either(self) -> _Test:
        sides = [self._both()]
        while self._words[:1] in (["-o"], ["-or"]):
            self._next()
            sides.append(self._both())
        return lambda at: any(side(at) for side in sides)

    def _both(self) -> _Test:
        sides = [self._one()]
        while self._words and self._words[0] not in ("-o", "-or", ")"):
            if self._words[0] in ("-a", "-and"):
                self._next()
            sides.append(self._one())
        return lambda at: all(side(at) for side in sides)

    def _one(self) -> _Test:
        word = self._next()
        match word:
            case "!" | "-not":
                denied = self._one()
                return lambda at: not denied(at)
            case "(":
                inner = self._either()
                if self._next() != ")":
                    raise _Beyond
                return inner
            case "-print" | "-print0":
                self._tells = True
                return lambda at: self._print(at.shown + ("\0" if word == "-print0" else "\n"))
            case "-printf":
                self._tells = True
                form = _form(self._next())
                return lambda at: self._print("".join(part(at) for part in form))
            case "-quit":
                return self._quit
            case "-prune":
                return self._prune
            case "-empty":
                return self._is_empty
            case "-true":
                return lambda at: True
            case "-follow":
                self._links = "-L"
            case "-depth":
                self._last = True
            case "-mindepth":
                self._least = _number(self._next())
            case "-maxdepth":
                self._most = _number(self._next())
            case _:
                return _asked(word, self._next())
        return lambda at: True

    # ---------------------------------------------------------------- what is done

    def _print(self, text: str) -> bool:
        self.output += text
        return True

    def _prune(self, at: _At) -> bool:
        self._prunes = True
        return True

    def _quit(self, at: _At) -> bool:
        raise _Quit

    def _is_empty(self, at: _At) -> bool:
        if bits.S_ISDIR(at.status.st_mode):
            return not _paths.listdir(at.path)
        return bits.S_ISREG(at.status.st_mode) and not at.status.st_size

    # ---------------------------------------------------------------- the way

    def status(self) -> int:
        """Search, and return the status of the program."""
        with suppress(_Quit):
            for top in self._tops or ["."]:
                self._walk(top, "", 0, ())
        return int(self._failed)

    def _walk(self, shown: str, below: str, depth: int, above: tuple[tuple[int, int], ...]) -> None:
        """Look at a file, and at what is in it."""
        self._seen += 1
        spend(COMMAND // 10)
        if self._seen > MOST:
            raise _Beyond
        path = os.path.join(self._folder, shown)
        follows = self._links == "-L" or (not depth and self._links == "-H") or shown.endswith("/")
        try:
            status = _paths.stat(path) if follows and _paths.exists(path) else _paths.lstat(path)
            at = _At(shown, below, path, depth, status)
            names = sorted(_paths.listdir(path)) if bits.S_ISDIR(status.st_mode) else []
        except OSError:
            self._failed = True
            return
        own = (status.st_dev, status.st_ino)
        if own in above or not shown:  # links in a circle; no path
            self._failed = True
            return
        self._prunes = False
        if depth >= self._least and not self._last:
            self._test(at)
        for name in names if depth < self._most and not self._prunes else ():
            inner = f"{shown.removesuffix('/')}/{name}"
            inside = f"{below}/{name}" if below else name
            self._walk(inner, inside, depth + 1, (*above, own))
        if depth >= self._least and self._last:
            self._test(at)


def _shown_name(at: _At) -> str:
    if at.shown.endswith("/") and at.name != "/":
        raise _Beyond
    return at.name


_PARTS: dict[str, Callable[[_At], str]] = {
    "%": lambda at: "%",
    "f": _shown_name,
    "p": lambda at: at.shown,
    "P": lambda at: at.below,
    "d": lambda at: str(at.depth),
    "m": lambda at: f"{bits.S_IMODE(at.status.st_mode):o}",
    "U": lambda at: str(at.status.st_uid),
    "G": lambda at: str(at.status.st_gid),
}
_ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}
_SIGN = re.compile(r"%(.)|\\([nt0\\])(?![0-7])|[^%\\]+", re.DOTALL)


def _form(text: str) -> list[Callable[[_At], str]]:
    """What -printf prints. Raises _Beyond."""
    form: list[Callable[[_At], str]] = []
    while text:
        sign = _SIGN.match(text)
        if sign is None or (sign[1] and sign[1] not in _PARTS):
            raise _Beyond
        plain = _ESCAPES[sign[2]] if sign[2] else sign[0]
        form.append(_PARTS[sign[1]] if sign[1] else _plain(plain))
        text = text[sign.end() :]
    return form


def _plain(text: str) -> Callable[[_At], str]:
    return lambda at: text


def _number(word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise _Beyond
    return int(word)


def _asked(name: str, value: str) -> _Test:
    """A test that is given a value. Raises _Beyond and _NothingToFind."""
    match name:
        case "-name":
            matches = _pattern(value)
            return lambda at: matches(at.name)
        case "-path" | "-wholename":
            matches = _pattern(value)
            return lambda at: matches(at.shown)
        case "-type":
            kinds = [_TYPES.get(letter) for letter in value.split(",")]
            if None in kinds:
                raise _Beyond
            return lambda at: any(kind and kind(at.status.st_mode) for kind in kinds)
        case "-uid" | "-user":
            uid = _number(value) if name == "-uid" else _account(value, is_group=False)
            return lambda at: at.status.st_uid == uid
        case "-gid" | "-group":
            gid = _number(value) if name == "-gid" else _account(value, is_group=True)
            return lambda at: at.status.st_gid == gid
        case "-perm":
            return _permission(value)
    raise _Beyond


def _account(name: str, is_group: bool) -> int:
    entry = entry_of(name, is_group)
    if entry is None and not name.isdigit():
        raise _NothingToFind
    return int(str(entry[2])) if entry else _number(name)


def _pattern(pattern: str) -> Callable[[str], bool]:
    if "[" in pattern or "\\" in pattern:  # the shell's are others than Python's
        raise _Beyond

    def matches(name: str) -> bool:
        if not name.isascii() and any("\udc80" <= sign <= "\udcff" for sign in name):
            raise _Beyond
        return fnmatch.fnmatchcase(name, pattern)

    return matches


def _permission(value: str) -> _Test:
    sign, digits = (value[:1], value[1:]) if value[:1] in ("-", "/") else ("", value)
    if not digits or {*digits} - {*"01234567"}:
        raise _Beyond
    wanted = int(digits, 8)

    def has(at: _At) -> bool:
        mode = bits.S_IMODE(at.status.st_mode)
        if sign == "/":
            return bool(mode & wanted) or not wanted
        return mode & wanted == wanted if sign else mode == wanted

    return has
