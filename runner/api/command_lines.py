# SPDX-License-Identifier: Apache-2.0
"""Command lines, as they are written: what one asks of the machine, and what it may alter.

What is not certain of the words counts as anything.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence

from runner.api.alterations import Alterations
from runner.api.doubts import may_be_packaged

# programs that say nothing but what is in the files that they are given
READERS = frozenset(
    (
        *("[", "awk", "basename", "cat", "cmp", "cut", "diff", "dirname", "echo", "egrep", "false"),
        *("fgrep", "grep", "head", "ls", "printf", "readlink", "realpath", "sort", "stat", "tail"),
        *("test", "tr", "true", "uniq", "wc"),
    )
)
# programs that make what they are given, and alter nothing else; that alter it
MAKERS = frozenset(("mkdir", "touch"))
WRITERS = frozenset(("chgrp", "chmod", "chown", "cp", "install", "ln", "mv", "rm", "rmdir", "tee"))
IDLE = frozenset((":", "date", "sleep", "sync"))
# files that the scripts of packages write to
WRITTEN = ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/shells", "/etc/inetd")
_JOINTS = frozenset((";", "&&", "||", "|", "(", ")", "!", "{", "}"))
_REDIRECTIONS = frozenset((">", ">>", ">|"))
_UNCLEAR = re.compile(r"[$`*?~\n\\]|<<|&(?!&)(?<!&&)")


def asked_of_machine(command: str, exists: Callable[[str], bool]) -> str:
    """What a command asks about that a pending package may bring; empty for one that only reads
    files that are there, or that no package brings.

    >>> asked_of_machine("grep -q x /home/ann/notes", lambda path: False)
    ''
    >>> asked_of_machine("which screen", lambda path: False)
    'which screen'
    """
    calls = _calls(command)
    if calls is None:
        return command
    for program, *words in calls:
        if program not in READERS or not shutil.which(program):
            return command
        for word in words:
            path = re.search(r"(?:^|=)(/.*)", word)
            if path and (path[1].startswith(WRITTEN) or _may_come(path[1], exists)):
                return path[1]
    return ""


def _may_come(path: str, exists: Callable[[str], bool]) -> bool:
    return may_be_packaged(os.path.normpath(path), [path]) and not exists(path)


def alterations(command: str, cwd: str | None = None) -> Alterations:
    """What a command line may do to paths.

    >>> alterations("mkdir -p /srv/a && echo x > /srv/a/b")
    Alterations(made=('/srv/a',), altered=('/srv/a/b',), is_all=True)
    >>> alterations("make -C /srv/app install")
    Alterations(made=('/srv/app',), altered=(), is_all=False)
    """
    calls = _calls(command)
    if calls is None:
        return Alterations(tuple(_paths(re.split(r"[\s'\";|&()<>=]+", command), None)))
    made: list[str] = []
    altered: list[str] = []
    is_all = True
    for program, *words in calls:
        targets = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _REDIRECTIONS]
        altered += _paths(targets, cwd)
        if program in WRITERS:
            altered += _paths(words, cwd)
        elif program in MAKERS:
            made += _paths(words, cwd)
        elif program not in READERS | IDLE:
            is_all = False
            made += _paths(words, None)
    return Alterations(tuple(made), tuple(altered), is_all)


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
