# SPDX-License-Identifier: Apache-2.0
"""Commands of maintainer scripts that make, change and remove files of the planned machine."""

from __future__ import annotations

import os
import re
import stat as bits
from collections.abc import Callable, Iterator, Mapping, Sequence

from modules import _accounts, _paths, file
from modules._texts.shell import Unread
from modules.alternatives import _planned as alternatives
from modules.pkg._scripts.calculated import said
from modules.pkg._scripts.declared_files import make_accounts, make_files, planned
from modules.pkg._scripts.known import HANDLERS, Told, absolute, known, made, options, read, refuse
from modules.pkg._scripts.run import Outcome
from modules.pkg._scripts.words import COMMAND, spend
from modules.pkg.apt import path_rules
from modules.pkg.apt.shipped import DIVERSIONS
from modules.pkg.package_manager import Diversion, Override
from runner.api import StateFailed, Unforeseen, here
from runner.api.doubts import CONTENTS

TEMPORARY = "temporary files of scripts"


@known("mkdir")
def _mkdir(words: list[str], text: str | None) -> Told:
    flags = ("-p", "--parents", "-v", "--verbose", "-Z")
    given, values, rest = options(words, flags, ("-m", "--mode"))
    mode = values.get("-m") or values.get("--mode")
    for path in absolute(rest):
        if _paths.isdir(path):
            continue
        if given & {"-p", "--parents"}:
            file.makedirs(os.path.dirname(path.rstrip("/")), mode="0755")
        file.mkdir(path, mode=_octal(mode or "755"), user=0, group=0)
    return 0


def _octal(mode: str) -> str:
    if not re.fullmatch(r"0*[0-7]{1,4}", mode):
        raise Unread(f"mode {mode}")
    return mode.lstrip("0").zfill(4)


@known("install")
def _install(words: list[str], text: str | None) -> Told:
    valued = ("-m", "--mode", "-o", "--owner", "-g", "--group", "-t", "--target-directory")
    flags = ("-d", "-D", "-T", "-p", "-v", "-Z", "-c", "--directory", "--verbose")
    given, values, rest = options(words, flags, valued)
    mode = _octal(values.get("-m") or values.get("--mode") or "755")
    user = values.get("-o") or values.get("--owner") or 0
    group = values.get("-g") or values.get("--group") or 0
    if given & {"-d", "--directory"}:
        for path in absolute(rest):
            if not _paths.isdir(path):
                file.makedirs(path, mode="0755")
            own(path, user, group, mode)
        return 0
    if "-D" in given:
        file.makedirs(os.path.dirname(absolute(rest)[-1]), mode="0755")
    unknown: tuple[str, ...] = ()
    for source, target in _pairs(rest, values, "-T" in given):
        file.write(target, b"", mode=mode, user=user, group=group)
        if source != "/dev/null":
            file.remove(target)
            file.copy(source, target)
            own(target, user, group, mode)
            unknown += made(target).unknown
    return Outcome(0, "", unknown)


def _pairs(
    words: Sequence[str], values: Mapping[str, str], is_plain: bool
) -> Iterator[tuple[str, str]]:
    """Yield each source with the path that it goes to. is_plain: that is no folder to put it in."""
    folder = values.get("-t") or values.get("--target-directory")
    *sources, target = absolute([*words, *([folder] if folder else ())])
    if not sources or (len(sources) > 1 and not _paths.isdir(target)):
        raise Unread("several files")
    for source in sources:
        is_inside = _paths.isdir(target) and not is_plain
        name = os.path.basename(source.rstrip("/"))
        yield source, os.path.join(target, name) if is_inside else target


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


MOST_BELOW = 20_000  # paths whose owners or modes a command changes
MOST_COPIED = 1_000  # paths of a folder that a command copies


@known("chown", of_rights=True)
def _chown(words: list[str], text: str | None) -> Told:
    flags = ("-R", "-f", "-h", "-v", "-c", "--recursive", "--quiet", "--no-dereference")
    given, _, rest = options(words, flags)
    if len(rest) < 2:
        raise Unread("chown")
    whose, paths = rest[0], absolute(rest[1:])
    user, colon, group = whose.replace(".", ":").partition(":")
    if user and colon and not group:  # the one that the user logs in with
        group = str(_accounts.user(user).pw_gid)
    follows = not given & {"-h", "--no-dereference", "-R", "--recursive"}
    for path in _below(paths, given & {"-R", "--recursive"}):
        whole = _paths.realpath(path) if follows else path
        file.chown(whole, user or None, group or None, follow=follows)
    return 0


def _below(paths: Sequence[str], recursive: object) -> Iterator[str]:
    """Yield paths, with all that is in them. Raises Unread for too many."""
    count = 0
    paths = [_paths.realpath(path) if path.endswith("/") else path for path in paths]
    for path in paths if recursive else ():
        for _, folders, files in _paths.walk(path):
            count += len(folders) + len(files)
            spend(COMMAND * (len(folders) + len(files)))
            if count > MOST_BELOW:
                raise Unread(f"more than {MOST_BELOW} paths below {path}")
    for path in paths:
        yield path
        if recursive and _paths.isdir(path) and not _paths.islink(path):
            yield from [entry.path for entry in file.entries_below(path)]


@known("chgrp", of_rights=True)
def _chgrp(words: list[str], text: str | None) -> Told:
    first = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    whose = [f":{word}" for word in words[first : first + 1]]
    return HANDLERS["chown"]([*words[:first], *whose, *words[first + 1 :]], text)


_SYMBOLIC = re.compile(r"([ugoa]*)([+=-])([rwxXst]*)")
_BITS = {"r": 4, "w": 2, "x": 1}
_SHIFTS = {"u": 6, "g": 3, "o": 0}
_SPECIAL = {"u": bits.S_ISUID, "g": bits.S_ISGID, "o": 0}


@known("chmod", of_rights=True)
def _chmod(words: list[str], text: str | None) -> Told:
    named = [word for word in words if not re.fullmatch(r"-[rwxst]+", word)]
    given, _, rest = options(named, ("-R", "-f", "-v", "-c", "--recursive", "--quiet"))
    if len(rest) < 2 or len(named) < len(words):
        raise Unread("chmod")
    paths = [_paths.realpath(path) for path in absolute(rest[1:])]
    for path in _below(paths, given & {"-R", "--recursive"}):
        if not _paths.islink(path):
            file.set_mode(path, _mode(rest[0], _paths.stat(path).st_mode))
    return 0


def _mode(text: str, now: int) -> str:
    """Return the mode that a word of chmod makes of another one."""
    if re.fullmatch(r"[0-7]{1,5}", text):
        kept = bits.S_IMODE(now) & 0o6000 if bits.S_ISDIR(now) and len(text) < 5 else 0
        return f"{int(text, 8) | kept:04o}"
    mode = bits.S_IMODE(now)
    for clause in text.split(","):
        match = _SYMBOLIC.fullmatch(clause)
        if match is None or (not match[1] and set(match[3]) - {"x", "X"}):
            raise Unread(f"mode {text}")  # what it means goes by the umask
        letters = match[3].replace("X", "x" if bits.S_ISDIR(now) or now & 0o111 else "")
        value = sum({_BITS[letter] for letter in letters if letter in _BITS})
        sticky = bits.S_ISVTX if "t" in letters else 0
        for who in "ugo" if "a" in match[1] or not match[1] else match[1]:
            special = _SPECIAL[who] if "s" in letters else 0
            shifted = value << _SHIFTS[who] | special | sticky
            if match[2] == "+":
                mode |= shifted
            elif match[2] == "-":
                mode &= ~shifted
            elif set(letters) & {"s", "t"} or mode & _SPECIAL[who]:
                raise Unread(f"mode {text}")
            else:
                mode = mode & ~(7 << _SHIFTS[who]) | shifted
    return f"{mode:04o}"


@known("rm", "rmdir", "unlink")
def _rm(words: list[str], text: str | None) -> Told:
    flags = ("-f", "-r", "-R", "-v", "--force", "--recursive", "--ignore-fail-on-non-empty", "-p")
    given, _, rest = options(words, flags)
    for path in absolute(rest):
        if path.endswith("/") and _paths.islink(path.rstrip("/")):
            raise Unread(f"a link to a folder: {path}")
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
    flags = ("-s", "-f", "-n", "-T", "-r", "-v", "--symbolic", "--force", "--no-dereference")
    given, _, rest = options(words, flags)
    if len(rest) != 2:
        raise Unread("ln")
    target, path = rest[0], absolute(rest)[1]
    if _paths.isdir(path) and not given & {"-n", "-T", "--no-dereference"}:
        path = os.path.join(path, os.path.basename(target))
    if not given & {"-f", "--force"} and _paths.lexists(path):
        return 1
    if "-r" in given:
        target = os.path.relpath(absolute([target])[0], os.path.dirname(path))
    if given & {"-s", "--symbolic"}:
        file.put_symlink(target, path, 0, 0)
    else:
        if _paths.lexists(path):
            file.remove(path)
        file.link(absolute([target])[0], path)
    return 0


PRESERVING = frozenset(("-p", "-a", "--preserve", "--archive"))


@known("cp")
def _cp(words: list[str], text: str | None) -> Told:
    return _copied(words, _copy)


@known("mv")
def _mv(words: list[str], text: str | None) -> Told:
    return _copied(words, lambda source, target, _: file.rename(source, target))


def _copied(words: list[str], carry: Callable[[str, str, bool], object]) -> Told:
    flags: tuple[str, ...] = ("-f", "-p", "-a", "-n", "-v", "-T", "-d", "-Z", "-P", "-u", "-x")
    flags += ("-r", "-R", "-L", "-H", "--recursive", "--force", "--remove-destination")
    flags += ("--archive", "--verbose", "--no-clobber", "--no-target-directory", "--update")
    words = [word for word in words if not word.startswith("--preserve=")] + [
        "--preserve" for word in words if word.startswith("--preserve=")
    ][:1]
    valued = ("-t", "--target-directory")
    given, values, rest = options(words, (*flags, "--preserve"), valued)
    unknown: tuple[str, ...] = ()
    for source, target in _pairs(rest, values, bool(given & {"-T", "--no-target-directory"})):
        if not _paths.lexists(source):
            return 1
        if given & {"-u", "--update"} and _paths.lexists(target):
            raise Unread("what is newer")
        if carry is _copy and source.endswith("/"):
            source = _paths.realpath(source)
        deep = given & {"-r", "-R", "-a", "--recursive", "--archive"}
        is_kept = deep or given & {"-d", "-P"}
        if is_kept and given & {"-L", "-H"}:
            raise Unread("links that are followed")
        is_folder = _paths.isdir(source) and not (is_kept and _paths.islink(source))
        if given & {"-n", "--no-clobber"} and _paths.lexists(target):
            if is_folder:
                raise Unread("a folder that is there")
            continue
        if is_folder and carry is _copy:
            if not deep:
                return 1
            unknown += _copy_folder(source, target, bool(given & PRESERVING))
            continue
        if "--remove-destination" in given and _paths.lexists(target):
            file.remove(target)
        if is_kept and carry is _copy and _paths.islink(source):
            file.put_symlink(_paths.readlink(source), target, 0, 0)
        elif _paths.realpath(source) == _paths.realpath(target):
            return 1
        else:
            carry(source, target, bool(given & PRESERVING))
            unknown += made(target).unknown
    return Outcome(0, "", unknown)


def _copy_folder(source: str, target: str, preserves: bool) -> tuple[str, ...]:
    """Copy a folder with what is in it, and return the paths of which nobody knows the contents."""
    unknown: tuple[str, ...] = ()
    if f"{_paths.realpath(target)}/".startswith(f"{_paths.realpath(source)}/"):
        raise Unread(f"{source} into itself")
    below = [entry.path.removeprefix(source) for entry in file.entries_below(source)]
    if len(below) > MOST_COPIED:
        raise Unread(f"more than {MOST_COPIED} paths below {source}")
    for path in ("", *sorted(below)):
        spend(COMMAND)
        old, new = f"{source}{path}", f"{target}{path}"
        if _paths.islink(old):
            file.put_symlink(_paths.readlink(old), new, 0, 0)
        elif not _paths.isdir(old):
            _copy(old, new, preserves)
            unknown += made(new).unknown
        elif not _paths.isdir(new):
            at = _paths.stat(old)
            owner = (at.st_uid, at.st_gid) if preserves else (0, 0)
            mode = bits.S_IMODE(at.st_mode) & (0o7777 if preserves else 0o755)
            file.mkdir(new, mode=f"{mode:04o}", user=owner[0], group=owner[1])
    return unknown


def _copy(source: str, target: str, preserves: bool) -> None:
    is_new = not _paths.exists(target)
    file.copy(source, target, preserve=preserves)
    if is_new and not preserves:
        own(target, 0, 0, f"{bits.S_IMODE(_paths.stat(source).st_mode) & 0o755:04o}")


@known("mktemp")
def _mktemp(words: list[str], text: str | None) -> Told:
    """A name that no other file has; `remove_temporary` removes what a script leaves."""
    plain = [word for word in words if word not in ("--tmpdir", "-t")]
    given, values, rest = options(plain, ("-d", "-q", "-u"), ("-p", "--tmpdir", "--suffix"))
    template = rest[0] if rest else "tmp.XXXXXXXXXX"
    above = "/tmp" if "/" not in template or len(plain) < len(words) else ""
    folder = values.get("-p") or values.get("--tmpdir") or above
    [template] = absolute([os.path.join(folder, template)])
    temporary = here.store(TEMPORARY)
    name = re.sub(r"X{3,}", f"planned{len(temporary)}", template) + values.get("--suffix", "")
    if "-u" not in given:
        temporary[name] = None
        if "-d" in given:
            file.mkdir(name, mode="0700", user=0, group=0)
        else:
            file.write(name, b"", mode="0600", user=0, group=0)
    return Outcome(0, f"{name}\n")


def remove_temporary() -> None:
    """Plan that temporary files are gone: what they are called, nobody asks for."""
    for path in here.store(TEMPORARY):
        if _paths.lexists(path):
            file.remove(path)


def spoil(path: str) -> None:
    """Note that nobody knows what is in a temporary file."""
    if path in here.store(TEMPORARY) and _paths.isfile(path):
        file.write(path, CONTENTS)


def write(path: str, text: str | None, appends: bool) -> Outcome:
    """Write what a command prints to a file: None for what nobody knows. Raises Unread."""
    if not path.startswith("/") or path.startswith(("/dev/", "/proc/", "/sys/")):
        raise Unread(f"it writes to {path}")
    try:
        there = read(path)
    except Unread:
        there, text = "", None if appends else text
    try:
        new = f"{there or ''}{text}" if appends else text
        data = CONTENTS if text is None else str(new).encode("utf-8", "surrogateescape")
        if there is None:
            file.write(path, data, mode="0644", user=0, group=0)
        else:
            file.write(path, data)
    except (OSError, StateFailed, Unforeseen):
        raise Unread(f"it writes to {path}") from None
    return Outcome(0, "", (path,) if text is None else ())


@known("ucf")
def _ucf(words: list[str], text: str | None) -> Told:
    flags = ("--three-way", "--debconf-ok", "-d", "-n", "--no-action", "-v", "--debug", "-Z")
    given, _, rest = options(words, (*flags, "-p", "--purge"), ("--sum-file", "--src-dir"))
    if given & {"-p", "--purge"}:
        return 0
    source, target = absolute(rest) if len(rest) == 2 else refuse("ucf")
    if not _paths.lexists(target):
        file.copy(source, target, preserve=True)
        return made(target)
    elif read(source) != read(target):
        raise Unread("ucf")  # it asks, or goes by what it wrote down
    return 0


@known("dpkg-statoverride", only_looks=frozenset(("--list",)))
def _statoverride(words: list[str], text: str | None) -> Told:
    flags = ("--list", "--add", "--remove", "--update", "--force", "--quiet", "--force-all")
    given, _, rest = options(words, flags)
    path, overrides = rest[-1] if rest else "", path_rules.overrides()
    known_one = overrides.get(path)
    if "--list" in given:
        told = path_rules.override_line(path, known_one) if known_one else ""
        return Outcome(int(known_one is None), told)
    if "--add" not in given or len(rest) != 4:
        raise Unread("dpkg-statoverride")
    if known_one and not given & {"--force", "--force-all"}:
        return 2
    user, group, mode, _ = rest
    path_rules.write_overrides({**overrides, path: Override(user, group, mode.zfill(4))})
    if "--update" in given and _paths.lexists(path):
        own(path, user, group, mode.zfill(4))
    return 0


@known("update-alternatives", only_looks=frozenset(("--display", "--query", "--list")))
def _alternatives(words: list[str], text: str | None) -> Told:
    words = [word for word in words if word not in ("--quiet", "--verbose", "--force")]
    group = alternatives.recorded(words[1]) if len(words) > 1 else None
    if words[:1] == ["--query"]:
        if group is None:
            return 2
        told = {
            "Name": group.name,
            "Link": group.link,
            "Status": "auto" if group.auto else "manual",
        }
        told |= {"Best": group.best, "Value": group.current or "none"}
        return Outcome(0, "".join(f"{key}: {value}\n" for key, value in told.items()))
    if words[:1] == ["--display"]:
        return Outcome(None, None) if group else 2
    if words[:1] in (["--remove"], ["--remove-all"], ["--auto"]):
        choices = group.choices if group else {}
        for path in [*choices] if words[0] == "--remove-all" else words[2:3]:
            if path in choices:
                alternatives.change("--remove", words[1], path)
        return 0
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
    words = [word for word in words if word != "--exclude-prefix=/dev"]
    given, _, names = options(words, ("--create", "--remove", "--clean"))
    if given != {"--create"}:
        raise Unread("systemd-tmpfiles")
    make_files(names or planned("tmpfiles"))
    return 0


@known("systemd-sysusers")
def _sysusers(words: list[str], text: str | None) -> Told:
    make_accounts(options(words, ())[2] or planned("sysusers"))
    return 0


# where its commands have the version after which nothing is left to do
_LAST = {"rm_conffile": 2, "mv_conffile": 3, "symlink_to_dir": 3, "dir_to_symlink": 3}


@known("dpkg-maintscript-helper")
def _maintscript_helper(words: list[str], text: str | None) -> Told:
    """Nothing for a new package, and for one that is new enough. Of another upgrade it may move and
    remove what is there.
    """
    if words[:1] == ["supports"]:
        return 0
    end = words.index("--") if "--" in words else len(words)
    own, configures = words[:end], words[end + 1 :]
    if len(configures) < 2 or not configures[1]:
        return 0
    last = _LAST.get(own[0], len(own))
    if last < len(own) and own[last]:
        if said(["dpkg", "--compare-versions", configures[1], "gt", own[last]]).status == 0:
            return 0
    raise Unread("dpkg-maintscript-helper")


@known("dpkg-divert", only_looks=frozenset(("--list", "--truename", "--listpackage")))
def _divert(words: list[str], text: str | None) -> Told:
    flags = ("--add", "--remove", "--rename", "--no-rename", "--local", "--quiet", "--force")
    looks = ("--truename", "--listpackage")
    given, values, rest = options(
        words, (*flags, "--list"), ("--package", "--divert", "--admindir", *looks)
    )
    read(DIVERSIONS)  # which nobody may know
    known_ones = path_rules.diversions()
    for look in looks:
        if path := values.get(look):
            to, by = known_ones.get(path, Diversion(path, ""))
            told = to if look == "--truename" else {":": "LOCAL"}.get(by, by)
            return Outcome(0, f"{told}\n" if told else "")
    if "--list" in given or len(rest) != 1:
        raise Unread("dpkg-divert")
    path, by = rest[0], values.get("--package") or (":" if "--local" in given else "")
    to = values.get("--divert") or f"{path}.distrib"
    is_there = path in known_ones
    if not by or (is_there and known_ones[path] != (to, by) and "--divert" in values):
        raise Unread("dpkg-divert")
    if is_there == ("--remove" not in given):
        return 0
    if "--remove" in given:
        to = known_ones.pop(path).to
        path, to = to, path
    else:
        known_ones[path] = Diversion(to, by)
    path_rules.write_diversions(known_ones)
    if "--rename" in given and _paths.lexists(path) and not _paths.lexists(to):
        file.rename(path, to)
    return 0
