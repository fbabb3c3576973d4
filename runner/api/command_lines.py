# SPDX-License-Identifier: Apache-2.0
"""Command lines, as they are written: what one asks of the machine, and what it may alter.

What is not certain of the words counts as anything.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence

from runner.api.alterations import Alterations
from runner.model.records import Record

# programs that say nothing but what is in the files that they are given
READERS = frozenset(
    """
    [ awk basename cat cmp cut diff dirname echo egrep false fgrep grep head ls printf readlink
    realpath sort stat tail test tr true uniq wc
    """.split()
)
# programs that alter what they are given; that put something there, too
ALTERING = frozenset(("chgrp", "chmod", "chown", "rm", "rmdir"))
PUTTING = frozenset(("cp", "htpasswd", "install", "ln", "mv", "openssl", "sed", "truncate"))
_LAST = frozenset(("cp", "install", "ln", "mv"))  # those whose last word is what they put there
# what these put where no word says so: copies that sed keeps, what an authority writes down
_ELSEWHERE = {
    "sed": re.compile(r"-[nErsuz]*i.|--in-place=|-f|--file"),
    "openssl": re.compile("ca$"),
}
FIXED = frozenset((":", "exit", "false", "true"))
IDLE = FIXED | {"date", "sleep", "sync"}
# programs that ask neither files nor packages, or packages only
ASKERS = frozenset(("command", "dpkg", "getent", "id", "rpm", "systemctl", "type", "which"))
# what programs only tell, by which of their words: options do not count
_TOLD_BY = {
    "systemctl": (0, "cat is-active is-enabled is-failed list-timers list-units show status"),
    "service": (1, "status"),
}
# files that the scripts of packages write to
WRITTEN = ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/shells", "/etc/inetd")
_JOINTS = frozenset((";", "&&", "||", "|", "(", ")", "!", "{", "}"))
_REDIRECTIONS = frozenset((">", ">>", ">|"))
_SEPARATED = re.compile(r"[\s'\";|&()<>=]+")
_PATTERN = re.compile(r"[$`*?\[\\]")  # what a shell makes something else of
_UNCLEAR = re.compile(r"[$`*?~\n\\]|<<|&(?!&)(?<!&&)")


class Question(Record):
    """What the command of a guard asks. paths: those that it names; of_packages: packages may have
    a say in its answer; of_anything: so may whatever is pending.
    """

    paths: tuple[str, ...] = ()
    of_packages: bool = True
    of_anything: bool = False


def question(command: str, cwd: str | None = None) -> Question:
    """Return what a command line asks of the machine.

    >>> question("grep -q x /home/ann/notes")
    Question(paths=('/home/ann/notes',), of_packages=False, of_anything=False)
    >>> question("which screen").of_packages
    True
    """
    calls = _calls(command)
    if calls is None:
        return Question(tuple(_paths(_SEPARATED.split(command), None)), of_anything=True)
    words = [word for _, *words in calls for word in words]
    paths = tuple(_paths([word.rpartition("=")[2] for word in words], cwd))
    programs = {program for program, *_ in calls} - FIXED
    return Question(
        paths,
        any(program not in READERS or not shutil.which(program) for program in programs)
        or any(path.startswith(WRITTEN) for path in paths),
        not programs <= READERS | ASKERS,
    )


def is_fixed(command: str) -> bool:
    """Return whether a command line says the same on every machine: `false`, `exit 1`."""
    calls = _calls(command) or [[""]]
    return all(program in FIXED and len(words) < 2 for program, *words in calls)


def named(command: str, cwd: str | None = None) -> Iterator[str]:
    """Generate the words of a command line that may be programs or other names, and its paths: of
    a pattern the folder.

    >>> list(named("own -q /srv/app/*.conf"))
    ['own', '/srv/app']
    """
    for word in _SEPARATED.split(command):
        plain = _PATTERN.split(word)[0]
        if plain != word:
            plain = plain[: plain.rfind("/") + 1]
        elif word and word[0] not in "-/":
            yield word
        yield from _paths([plain], cwd)


def told_by_programs(command: str, cwd: str | None = None) -> Iterator[str]:
    """Generate the words of a command line that may ask for what is in no file, or in one of the
    kernel's.

    >>> list(told_by_programs("systemctl is-active cron && grep -q x /etc/own"))
    ['systemctl', 'is-active', 'cron', 'grep', 'x', '/etc/own']
    >>> list(told_by_programs("grep -q cron /etc/own"))
    []
    """
    calls, words = _calls(command), [*named(command, cwd)]
    is_read = calls is not None and {program for program, *_ in calls} <= READERS
    if not is_read or any(word.startswith(("/proc/", "/sys/")) for word in words):
        yield from words


def alterations(command: str, cwd: str | None = None) -> Alterations:
    """Return what a command line may do to paths.

    >>> found = alterations("mkdir -p /srv/a && echo x > /srv/a/b")
    >>> found.folders, found.files, found.is_all
    (('/srv/a',), ('/srv/a/b',), True)
    >>> alterations("openssl dhparam -out /etc/dh.pem 2048").is_all
    True
    >>> alterations("sed -i s/a/b/ /etc/x").is_all, alterations("sed -i.old s/a/b/ /etc/x").is_all
    (True, False)
    >>> alterations("make -C /srv/app install").made
    ('/srv/app',)
    """
    calls = _calls(command)
    if calls is None:
        return Alterations(tuple(_paths(_SEPARATED.split(command), None)))
    made: list[str] = []
    files: list[str] = []
    folders: list[str] = []
    altered: list[str] = []
    created: list[str] = []
    is_all = True
    for program, *words in calls:
        targets = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _REDIRECTIONS]
        targets = [*_paths(targets, cwd)]
        named = [*_paths(words, cwd)]
        files += targets
        altered += targets
        match program:
            case "touch":
                files += named
            case "tee":
                files += named
                altered += named
            case "mkdir":
                folders += named
            case _ if program in ALTERING:
                altered += named
            case _ if program in PUTTING and not _puts_elsewhere(program, words):
                created += named[-1:] if program in _LAST else []
                made += named
                altered += named
            case _ if program not in READERS | IDLE and not _only_tells(program, words):
                is_all = False
                made += named
    return Alterations(
        tuple(made), tuple(files), tuple(folders), tuple(altered), tuple(created), is_all
    )


def _puts_elsewhere(program: str, words: Sequence[str]) -> bool:
    pattern = _ELSEWHERE.get(program)
    return pattern is not None and any(map(pattern.match, words))


def _only_tells(program: str, words: Sequence[str]) -> bool:
    at, verbs = _TOLD_BY.get(program, (0, ""))
    plain = [word for word in words if not word.startswith("-")]
    return len(plain) > at and plain[at] in verbs.split()


def _paths(words: Sequence[str], cwd: str | None) -> Iterator[str]:
    """Generate the paths among words: relative ones only with a folder that they are in."""
    for word in words:
        if word.startswith("/"):
            yield os.path.normpath(word)
        elif cwd and word and word[0] not in "-<>":
            yield os.path.normpath(os.path.join(cwd, word))


def _calls(command: str) -> list[list[str]] | None:
    """The programs of a command line with their words; None for one that is not certain."""
    if _UNCLEAR.search(command):
        return None
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    calls: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word in _JOINTS:
                calls.append([])
            else:
                calls[-1].append(word)
    except ValueError:
        return None
    return [call for call in calls if call]
