# SPDX-License-Identifier: Apache-2.0
"""The process that asks: who runs it, in which language, with which interpreter."""

from __future__ import annotations

import grp
import locale
import os
import pwd
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import runner

Grains = Mapping[str, Any]
Facts = dict[str, Any]
SALT_VERSION = "3008.3"  # whose language this is


def locale_info(grains: Grains) -> Facts:
    """Language, encoding and time zone of the process."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG", "LANGUAGE"))
    locale_name = next((name for name in names if name), "C")
    language, _, encoding = locale.normalize(locale_name.partition(":")[0]).partition(".")
    plain = language in ("C", "POSIX")
    return {
        "locale_info": {
            "defaultlanguage": "unknown"
            if plain and not encoding
            else "en_US"
            if plain
            else language,
            "defaultencoding": encoding or "unknown",
            "detectedencoding": sys.getdefaultencoding(),
            "timezone": time.tzname[0],
        }
    }


def process(grains: Grains) -> Facts:
    """The user, shell and folder of this process."""
    user, group = os.geteuid(), os.getegid()
    path = os.environ.get("PATH", "")
    try:
        cwd = os.getcwd()
    except OSError:  # the folder is gone
        cwd = "/"
    facts: Facts = {
        "uid": user,
        "gid": group,
        "pid": os.getpid(),
        "cwd": cwd,
        "path": path,
        "systempath": path.split(":"),
    }
    facts |= {"shell": os.environ.get("SHELL", "/bin/sh"), "ps": "ps -efHww"}
    return {
        **facts,
        "username": _named(pwd.getpwuid, user),
        "groupname": _named(grp.getgrgid, group),
    }


def _named(look: Callable[[int], Any], number: int) -> str:
    try:
        return str(look(number)[0])
    except KeyError:
        return ""


def python(grains: Grains) -> Facts:
    """The interpreter."""
    return {
        "pythonversion": list(sys.version_info),
        "pythonexecutable": sys.executable,
        "pythonpath": list(sys.path),
    }


def salt(grains: Grains) -> Facts:
    """The Salt whose meaning of trees this is, for templates that ask."""
    return {
        "saltversion": SALT_VERSION,
        "saltversioninfo": [int(part) for part in SALT_VERSION.split(".")],
        "saltpath": runner.__path__[0],
        "master": "salt",
        "package": None,
        "zmqversion": "",
    }
