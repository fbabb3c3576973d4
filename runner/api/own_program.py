# SPDX-License-Identifier: Apache-2.0
"""How this very runner is started again: by itself, by cron, by systemd, by commands of a tree."""

from __future__ import annotations

import os
import re
import shutil
import sys

import runner
from runner.model import paths
from runner.model.errors import RunnerError

in_image = paths.is_away
NONE_THERE = "there is no program `runner` in this image that it could start"


def own_python(code: str) -> list[str]:
    """Return the command line that runs code of runner's in this Python, with this runner's modules
    first.
    """
    return [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {runner.ROOT!r}); {code}"]


def own_program() -> list[str]:
    """Return the command line of this runner, by a path that cron and systemd find: in an image the
    one that is installed there. Raises RunnerError where there is none.
    """
    if in_image():
        if found := shutil.which("runner"):
            return [found]
        raise RunnerError(NONE_THERE, hint="install its package there, or unpack `runner bundle`")
    path = os.path.realpath(sys.argv[0])
    if os.path.basename(path) == "runner" and os.access(path, os.X_OK):
        return [path]
    if found := shutil.which("runner"):
        return [os.path.realpath(found)]
    return own_python(MAIN)


def own_run() -> list[str] | None:
    """Return the command line that does this run again when nobody sits here; None for one that
    cannot be repeated.
    """
    words = sys.argv[1:]
    of_pillar = any(re.match(r"--pillar(=|-stdin|$)", word) for word in words)
    if words[:1] not in (["highstate"], ["sls"], ["pull"]) or of_pillar:
        return None
    words = [word for word in words if word not in ("--ask", "--step")]
    waits = any(re.match("--wait(=|$)", word) for word in words)
    return [*own_program(), *words, *([] if waits else ["--wait=-1"])]


MAIN = "from runner.cli import main; main()"
