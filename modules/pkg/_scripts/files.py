# SPDX-License-Identifier: Apache-2.0
"""Commands of maintainer scripts that make, change and remove files of the planned machine."""

from __future__ import annotations

import os
import re
import stat as bits
from collections.abc import Callable, Iterator, Sequence

from modules import _paths, file
from modules._texts.shell import Unread
from modules.alternatives import _planned as alternatives
from modules.pkg._scripts.declared_files import make_accounts, make_files
from modules.pkg._scripts.known import HANDLERS, Told, absolute, known, options, read, refuse
from modules.pkg._scripts.run import Outcome
from runner.api import StateFailed, Unforeseen

OVERRIDES = "/var/lib/dpkg/statoverride"


@known("mkdir")
def _mkdir(words: list[str], text: str | None) -> Told:
    given, values, rest = options(words, ("-p", "--parents", "-v", "-Z"), ("-m", "--mode"))
    mode = values.get("-m") or values.get("--mode")
    for path in absolute(rest):
        if _paths.isdir(path):
            continue
        if given & {"-p", "--parents"}:
            file.makedirs(os.path.dirname(path.rstrip("/")), mode="0755")
        file.mkdir(path, mode=_octal(mode or "755"), user=0, group=0)
    return 0


def _octal(mode: str) -> str:
    if not re.fullmatch(r"[0-7]{3,4}", mode):
        raise Unread(f"mode {mode}")
    return mode.zfill(4)


@known("install")
def _install(words: list[str], text: str | None) -> Told:
    valued = ("-m", "--mode", "-o", "--owner", "-g", "--group")
    given, values, rest = options(
        words, ("-d", "-D", "-T", "-p", "-v", "-Z", "--directory"), valued
    )
    mode = _octal(values.get("-m") or values.get("--mode") or "755")
    user = values.get("-o") or values.get("--owner") or 0
    group = values.get("-g") or values.get("--group") or 0
    if given & {"-d", "--directory"}:
        for path in absolute(rest):
            if not _paths.isdir(path):
                file.makedirs(path, mode="0755")
            own(path, user, group, mode)
        return 0
    source, target = absolute(rest) if len(rest) == 2 else refuse("install")
    if _paths.isdir(target) and "-T" not in given:
        target = os.path.join(target, os.path.basename(source))
    if "-D" in given:
        file.makedirs(os.path.dirname(target), mode="0755")
    file.write(target, b"", mode=mode, user=user, group=group)
    if source != "/dev/null":
        file.remove(target)
        file.copy(source, target)
        own(target, user, group, mode)
    return 0


def own(path: str, user: str | int | None, group: str | int | None, mode: str = "") -> None:
    file.chown(path, user, group)
    if mode:
        file.set_mode(path, mode)


@known("touch")
def _touch(words: list[str], text: str | None) -> Told:
    for path in absolute(options(words, ("-a", "-c"))[2]):
        if not _paths.exists(path):
            file.write(path, b"", mode="0644", user=0, group=0)
    return 0


@known("chown")
def _chown(words: list[str], text: str | None) -> Told:
    flags = ("-R", "-f", "-h", "-v", "-c", "--recursive", "--quiet", "--no-dereference")
    given, _, rest = options(words, flags)
    if len(rest) < 2:
        raise Unread("chown")
    whose, paths = rest[0], absolute(rest[1:])
    user, _, group = whose.replace(".", ":").partition(":")
    for path in _below(paths, given & {"-R", "--recursive"}):
        follows = not (given & {"-h", "--no-dereference"}) and not _paths.islink(path)
        file.chown(path, user or None, group or None, follow=follows)
    return 0


def _below(paths: Sequence[str], recursive: object) -> Iterator[str]:
    for path in paths:
        yield path
        if recursive and _paths.isdir(path):
            yield from [entry.path for entry in file.entries_below(path)]


@known("chgrp")
def _chgrp(words: list[str], text: str | None) -> Told:
    first = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    whose = [f":{word}" for word in words[first : first + 1]]
    return HANDLERS["chown"]([*words[:first], *whose, *words[first + 1 :]], text)


_SYMBOLIC = re.compile(r"([ugoa]*)([+=-])([rwxXst]*)")
_BITS = {"r": 4, "w": 2, "x": 1}
_SHIFTS = {"u": 6, "g": 3, "o": 0}


@known("chmod")
def _chmod(words: list[str], text: str | None) -> Told:
    named = [word for word in words if not re.fullmatch(r"-[rwxst]+", word)]
    given, _, rest = options(named, ("-R", "-f", "-v", "-c", "--recursive", "--quiet"))
    if len(rest) < 2 or len(named) < len(words):
        raise Unread("chmod")
    for path in _below(absolute(rest[1:]), given & {"-R", "--recursive"}):
        if not _paths.islink(path):
            file.set_mode(path, _mode(rest[0], _paths.stat(path).st_mode))
    return 0


def _mode(text: str, now: int) -> str:
    """Return the mode that a word of chmod makes of another one."""
    if re.fullmatch(r"[0-7]{3,4}", text):
        kept = bits.S_IMODE(now) & 0o6000 if bits.S_ISDIR(now) and len(text) == 3 else 0
        return f"{int(text, 8) | kept:04o}"
    mode = bits.S_IMODE(now)
    for clause in text.split(","):
        match = _SYMBOLIC.fullmatch(clause)
        if match is None or not match[1] or set(match[3]) & {"s", "t"}:
            raise Unread(f"mode {text}")
        letters = match[3].replace("X", "x" if bits.S_ISDIR(now) or now & 0o111 else "")
        value = sum({_BITS[letter] for letter in letters})
        for who in "ugo" if "a" in match[1] else match[1]:
            shifted = value << _SHIFTS[who]
            if match[2] == "+":
                mode |= shifted
            elif match[2] == "-":
                mode &= ~shifted
            else:
                mode = mode & ~(7 << _SHIFTS[who]) | shifted
    return f"{mode:04o}"


@known("rm", "rmdir", "unlink")
def _rm(words: list[str], text: str | None) -> Told:
    flags = ("-f", "-r", "-R", "-v", "--force", "--recursive", "--ignore-fail-on-non-empty", "-p")
    given, _, rest = options(words, flags)
    for path in absolute(rest):
        if not _paths.lexists(path):
            if not given:
                return 1
        elif _paths.isdir(path) and not _paths.islink(path) and not given & {"-r", "-R"}:
            if file.listdir(path):
                return int("--ignore-fail-on-non-empty" not in given)
            file.remove_folder(path)
        else:
            file.remove(path)
    return 0


@known("ln")
def _ln(words: list[str], text: str | None) -> Told:
    given, _, rest = options(words, ("-s", "-f", "-n", "-T", "-r", "-v", "--symbolic", "--force"))
    if len(rest) != 2 or not given & {"-s", "--symbolic"} or "-r" in given:
        raise Unread("ln")
    target, path = rest
    absolute([path])
    if _paths.isdir(path) and not given & {"-n", "-T"}:
        path = os.path.join(path, os.path.basename(target))
    if not given & {"-f", "--force"} and _paths.lexists(path):
        return 1
    file.put_symlink(target, path, 0, 0)
    return 0


@known("cp")
def _cp(words: list[str], text: str | None) -> Told:
    return _copied(words, file.copy)


@known("mv")
def _mv(words: list[str], text: str | None) -> Told:
    return _copied(words, file.rename)


def _copied(words: list[str], carry: Callable[..., object]) -> Told:
    given, _, rest = options(words, ("-f", "-p", "-a", "-n", "-v", "--preserve", "-T", "-d", "-Z"))
    source, target = absolute(rest) if len(rest) == 2 else refuse("cp")
    if _paths.isdir(target) and "-T" not in given:
        target = os.path.join(target, os.path.basename(source))
    if _paths.isdir(source) and carry is file.copy:
        raise Unread("cp")
    if not _paths.lexists(source):
        return 1
    if "-n" in given and _paths.lexists(target):
        return 0
    if carry is file.copy:
        if given & {"-p", "-a", "--preserve"}:
            file.copy(source, target, preserve=True)
        elif _paths.exists(target):
            file.copy(source, target)
        else:
            file.copy(source, target)
            own(target, 0, 0, f"{bits.S_IMODE(_paths.stat(source).st_mode) & 0o755:04o}")
    else:
        file.rename(source, target)
    return 0


def write(path: str, text: str, appends: bool) -> None:
    """Write what a command prints to a file. Raises Unread."""
    if not path.startswith("/") or path.startswith(("/dev/", "/proc/", "/sys/")):
        raise Unread(f"it writes to {path}")
    there = read(path)
    try:
        new = f"{there or ''}{text}" if appends else text
        data = new.encode("utf-8", "surrogateescape")
        if there is None:
            file.write(path, data, mode="0644", user=0, group=0)
        else:
            file.write(path, data)
    except (OSError, StateFailed, Unforeseen):
        raise Unread(f"it writes to {path}") from None


@known("ucf")
def _ucf(words: list[str], text: str | None) -> Told:
    flags = ("--three-way", "--debconf-ok", "-d", "-n", "--no-action", "-v", "--debug")
    _, _, rest = options(words, flags, ("--sum-file", "--src-dir"))
    source, target = absolute(rest) if len(rest) == 2 else refuse("ucf")
    if not _paths.lexists(target):
        file.copy(source, target, preserve=True)
    elif read(source) != read(target):
        raise Unread("ucf")  # it asks, or goes by what it wrote down
    return 0


@known("dpkg-statoverride", only_looks=frozenset(("--list",)))
def _statoverride(words: list[str], text: str | None) -> Told:
    flags = ("--list", "--add", "--remove", "--update", "--force", "--quiet", "--force-all")
    given, _, rest = options(words, flags)
    lines = (read(OVERRIDES) or "").splitlines()
    path = rest[-1] if rest else ""
    overridden = [line for line in lines if line.split(" ", 3)[-1] == path]
    if "--list" in given:
        return Outcome(int(not overridden), "".join(f"{line}\n" for line in overridden))
    if "--add" not in given or len(rest) != 4:
        raise Unread("dpkg-statoverride")
    if overridden and not given & {"--force", "--force-all"}:
        return 2
    user, group, mode, _ = rest
    write(OVERRIDES, f"{user} {group} {mode.lstrip('0') or '0'} {path}\n", True)
    if "--update" in given and _paths.lexists(path):
        own(path, user, group, mode.zfill(4))
    return 0


@known("update-alternatives", only_looks=frozenset(("--display", "--query", "--list")))
def _alternatives(words: list[str], text: str | None) -> Told:
    words = [word for word in words if word not in ("--quiet", "--verbose", "--force")]
    if words[:1] != ["--install"] or len(words) < 5:
        raise Unread("update-alternatives")
    rest, slaves = words[5:], []
    while rest:
        if len(rest) < 4 or rest[0] not in ("--slave", "--follower"):
            raise Unread("update-alternatives")
        slaves.append((rest[2], rest[1], rest[3]))
        rest = rest[4:]
    alternatives.install(words[1], words[2], words[3], int(words[4]), slaves)
    return 0


@known("systemd-tmpfiles")
def _tmpfiles(words: list[str], text: str | None) -> Told:
    given, _, names = options(words, ("--create", "--remove", "--clean"))
    if given != {"--create"} or not names:
        raise Unread("systemd-tmpfiles")
    make_files(names)
    return 0


@known("systemd-sysusers")
def _sysusers(words: list[str], text: str | None) -> Told:
    names = options(words, ())[2]
    if not names:
        raise Unread("systemd-sysusers")
    make_accounts(names)
    return 0


@known("dpkg-maintscript-helper")
def _maintscript_helper(words: list[str], text: str | None) -> Told:
    """Nothing for a new package. Of an upgrade it may move and remove what is there."""
    if words[:1] == ["supports"]:
        return 0
    configures = words[words.index("--") + 1 :] if "--" in words else []
    if len(configures) > 1 and configures[1]:
        raise Unread("dpkg-maintscript-helper")
    return 0
