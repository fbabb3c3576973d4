# SPDX-License-Identifier: Apache-2.0
"""Look-ups of the text in files for templates, under Salt's names with Salt's answers."""

from __future__ import annotations

import difflib
import fnmatch
import os
import re
import shlex
import subprocess
from typing import Any

from modules import _paths
from modules.file import differences
from modules.file._contents.streamed import streamed
from modules.file._look import read_whole
from modules.file.bounded_regex import matching
from runner.api import StateFailed, refuse_unforeseen


def _text(path: str) -> str:
    return read_whole(os.path.expanduser(path)).decode("utf-8", "surrogateescape")


def contains(path: str, text: str) -> bool:
    """Return whether a text stands in a file, white space around it aside."""
    wanted = str(text).strip().encode("utf-8", "surrogateescape")
    path = os.path.expanduser(path)
    if not _paths.isfile(path):
        return False
    tail = b""
    for piece in streamed(path).pieces():
        if wanted in tail + piece:
            return True
        tail = (tail + piece)[-len(wanted) :] if wanted else b""
    return not wanted


def contains_regex(path: str, regex: str, lchar: str = "") -> bool:
    """Return whether a line of a file matches a regular expression. lchar: characters dropped
    before each line.
    """
    if not _paths.isfile(os.path.expanduser(path)):
        return False
    text = _text(path)
    lines = [line.lstrip(lchar) if lchar else line for line in text.splitlines()]
    return True in matching(re.compile(regex), lines)


def contains_glob(path: str, glob_expr: str) -> bool:
    """Return whether a line of a file matches a pattern such as `*root*`."""
    path = os.path.expanduser(path)
    return _paths.isfile(path) and any(
        fnmatch.fnmatch(line, glob_expr) for line in _text(path).splitlines(True)
    )


def search(
    path: str,
    pattern: str,
    flags: Any = 8,
    bufsize: Any = 1,
    ignore_if_missing: bool = False,
    multiline: bool = False,
) -> bool:
    """Return whether a regular expression is found in a file. Raises StateFailed when the file is
    missing. flags: a number, or names such as [IGNORECASE, MULTILINE].
    """
    path = os.path.expanduser(path)
    if not _paths.exists(path):
        if ignore_if_missing:
            return False
        raise StateFailed(f"File not found: {path}")
    number = _flags(flags)
    whole = multiline or bufsize == "file" or (isinstance(bufsize, int) and bufsize > 1)
    expression = re.compile(pattern, number)
    text = _text(path)
    return True in matching(expression, [text] if whole else text.splitlines(True))


def _flags(flags: Any) -> int:
    number = 0
    for flag in flags if isinstance(flags, list) else [flags]:
        known = getattr(re, str(flag).upper(), None) if not str(flag).isdigit() else int(flag)
        if known is None:
            raise StateFailed(f"Invalid re flag given: {flag}")
        number |= int(known)
    return number


def grep(path: str, pattern: str, *opts: str) -> dict[str, Any]:
    """Search a file with the program grep: stdout, stderr, retcode, pid. opts: its options, such as
    "-v".
    """
    options = [word for opt in opts for word in shlex.split(opt)]
    argv = ["grep", *options, "-e", pattern, "--", os.path.expanduser(path)]
    refuse_unforeseen(argv[0])
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    ) as process:
        out, err = process.communicate()
    texts = [text.decode("utf-8", "replace").rstrip("\n") for text in (out, err)]
    return {
        "pid": process.pid,
        "retcode": process.returncode,
        "stdout": texts[0],
        "stderr": texts[1],
    }


def get_diff(file1: str, file2: str, saltenv: str = "base", show_filenames: bool = True) -> str:
    """The unified diff of two files; "" when they are equal."""
    contents = [read_whole(os.path.expanduser(path)) for path in (file1, file2)]
    if contents[0] != contents[1] and (binary := differences.of_binaries(*contents)):
        return binary
    texts = [data.decode("utf-8", "surrogateescape") for data in contents]
    if large := differences.not_shown(*map(len, texts)):
        return large
    names = (file1, file2) if show_filenames else ("", "")
    return "".join(
        difflib.unified_diff(texts[0].splitlines(True), texts[1].splitlines(True), *names)
    )
