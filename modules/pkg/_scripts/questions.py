# SPDX-License-Identifier: Apache-2.0
"""Commands of maintainer scripts that ask: each is answered by the planned machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from modules import _paths, cmd
from modules._texts.shell import Unread
from modules.pkg._scripts.known import HANDLERS, Told, entry_of, known, options, read
from modules.pkg._scripts.run import Outcome

FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
# what they do is nothing that states look at: caches, indexes, what runs, a log
QUIET = re.findall(
    r"\S+",
    """
    aa-enabled aa-status apparmor_parser apparmor_status cd db_stop dpkg-trigger fc-cache hash
    dpkg-reconfigure deb-systemd-purge glib-compile-schemas gtk-update-icon-cache gzip ldconfig
    logger mandb py3compile pypy3compile py3clean sleep sync trap true : ucfr umask
    update-desktop-database update-icon-caches update-initramfs update-menus udevadm
    update-mime-database setcap pam-auth-update restorecon kill killall pkill wait
    """,
)
# what they print, or say by their status, is not known here
LOOKS = re.findall(
    r"\S+",
    """
    awk comm cut date df diff dpkg-architecture dpkg-query egrep expr fgrep
    file find head hostname locale ls md5sum pidof ps readlink runlevel seq sha256sum sort stat
    tail tr uname uniq wc whoami mktemp xargs cmp false
    """,
)


@known(*QUIET, only_looks=True)
def _nothing(words: list[str], text: str | None) -> Told:
    return 0


@known(*LOOKS, only_looks=True)
def _anything(words: list[str], text: str | None) -> Told:
    if any(word in ("-delete", "-exec") for word in words):
        return Outcome(None, "")
    return Outcome(None, None)


@known("test", "[", only_looks=True)
def _test(words: list[str], text: str | None) -> Told:
    if words and words[-1] == "]":
        words = words[:-1]
    answer = _answer(words)
    return Outcome(None if answer is None else int(not answer))


def _answer(words: list[str]) -> bool | None:
    """What a test says; None where that is not known."""
    for joint in ("-o", "-a"):
        if joint in words[1:-1] and len(words) > 4:
            at = words.index(joint, 1)
            sides = _answer(words[:at]), _answer(words[at + 1 :])
            if joint == "-a":
                return False if False in sides else None if None in sides else True
            return True if True in sides else None if None in sides else False
    if words[:1] == ["!"] and len(words) > 1:
        answer = _answer(words[1:])
        return None if answer is None else not answer
    match words:
        case []:
            return False
        case [word]:
            return word != ""
        case ["-n" | "-z" as sign, word]:
            return (word != "") == (sign == "-n")
        case [sign, path]:
            return _is_path(sign, path)
        case [left, "=" | "==", right]:
            return left == right
        case [left, "!=", right]:
            return left != right
        case [left, sign, right] if left.lstrip("-").isdigit() and right.lstrip("-").isdigit():
            first, second = int(left), int(right)
            compared = {"-eq": first == second, "-ne": first != second, "-lt": first < second}
            compared |= {"-le": first <= second, "-gt": first > second, "-ge": first >= second}
            return compared.get(sign)
    return None


def _is_path(sign: str, path: str) -> bool | None:
    if not path.startswith("/"):
        return False if path == "" else None
    if sign in ("-L", "-h"):
        return _paths.islink(path)
    if sign == "-e":
        return _paths.exists(path)
    if sign == "-d":
        return _paths.isdir(path)
    if sign in ("-f", "-s"):
        return _paths.isfile(path) and (sign == "-f" or _paths.stat(path).st_size > 0)
    if sign in ("-r", "-w"):
        return _paths.exists(path)
    if sign == "-x":
        return _paths.isdir(path) or _is_program(path)
    return None


def _is_program(path: str) -> bool:
    return _paths.isfile(path) and bool(_paths.stat(path).st_mode & 0o111)


@known("command", "which", "type", only_looks=True)
def _which(words: list[str], text: str | None) -> Told:
    names = [word for word in words if not word.startswith("-")]
    if len(names) != 1:
        raise Unread("which")
    candidates = names if names[0].startswith("/") else [f"{each}/{names[0]}" for each in FOLDERS]
    found = next(filter(_is_program, candidates), "")
    if not found and names[0] in HANDLERS and names[0] not in ("ucf", "ucfr"):
        return Outcome(None, None)  # of the shell itself, or elsewhere
    return Outcome(0, f"{found}\n") if found else 1


@known("su", "runuser")
def _su(words: list[str], text: str | None) -> Told:
    """As somebody else: a test only looks."""
    if words[:-1] and words[-1].lstrip().startswith(("test ", "[ ")) and ">" not in words[-1]:
        return Outcome(None)
    raise Unread("su")


@known("echo", "printf", only_looks=True)
def _echo(words: list[str], text: str | None) -> Told:
    ending = "\n"
    if words[:1] == ["-n"]:
        words, ending = words[1:], ""
    told = " ".join(words)
    if "\\" in told or "%" in told:
        return Outcome(0, None)
    return Outcome(0, told + ending)


@known("dirname", only_looks=True)
def _dirname(words: list[str], text: str | None) -> Told:
    return _named_of(words, os.path.dirname)


@known("basename", only_looks=True)
def _basename(words: list[str], text: str | None) -> Told:
    return _named_of(words, os.path.basename)


def _named_of(words: list[str], part: Callable[[str], str]) -> Told:
    """What is said of a path of plain names."""
    names = [word for word in words if word != "--"]
    if len(names) != 1 or not names[0].startswith("/") or names[0].endswith("/"):
        return Outcome(None, None)
    return Outcome(0, f"{part(names[0])}\n")


@known("cat", only_looks=True)
def _cat(words: list[str], text: str | None) -> Told:
    if not words or words == ["-"]:
        return Outcome(0, text)
    if len(words) > 1 or words[0].startswith("-"):
        return Outcome(None, None)
    held = read(words[0])
    return 1 if held is None else Outcome(0, held)


_PLAIN_PATTERN = re.compile(r"\^?[\w /=#:@,.-]*\$?")


@known("grep", only_looks=True)
def _grep(words: list[str], text: str | None) -> Told:
    flags = ("-q", "-s", "-E", "-F", "-x", "-i", "-w", "--quiet")
    given, values, rest = options(words, flags, ("-e",))
    pattern = values["-e"] if "-e" in values else rest.pop(0) if rest else ""
    if _PLAIN_PATTERN.fullmatch(pattern) is None or len(rest) > 1:
        return Outcome(None, None)
    held = read(rest[0]) if rest else text
    if held is None:
        return Outcome(2 if rest else None, "" if rest else None)
    wanted = re.escape(pattern) if "-F" in given else pattern
    wanted = rf"\b(?:{wanted})\b" if "-w" in given else wanted
    matcher = re.compile(f"^(?:{wanted})$" if "-x" in given else wanted, re.I * ("-i" in given))
    lines = [line for line in held.splitlines() if matcher.search(line)]
    quiet = given & {"-q", "--quiet"}
    return Outcome(int(not lines), "" if quiet else "".join(f"{line}\n" for line in lines))


@known("getent", only_looks=True)
def _getent(words: list[str], text: str | None) -> Told:
    if len(words) != 2 or words[0] not in ("passwd", "group"):
        return Outcome(None, None)
    entry = entry_of(words[1], is_group=words[0] == "group")
    if entry is None:
        return 2
    fields = [",".join(each) if isinstance(each, list) else str(each) for each in entry]
    return Outcome(0, ":".join(fields) + "\n")


@known("id", only_looks=True)
def _id(words: list[str], text: str | None) -> Told:
    names = [word for word in words if not word.startswith("-")]
    if not names:
        return Outcome(0, "0\n" if words == ["-u"] else None)
    entry = entry_of(names[0])
    if entry is None:
        return 1
    return Outcome(0, f"{entry[2]}\n" if "-u" in words else None)


@known("dpkg", only_looks=True)
def _dpkg(words: list[str], text: str | None) -> Told:
    if words[:1] != ["--compare-versions"]:
        return Outcome(None, None)
    return cmd.probe(["dpkg", *words]).retcode
