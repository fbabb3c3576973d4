# SPDX-License-Identifier: Apache-2.0
"""`salt-call` for the commands of a tree that call it, on a machine that has none: runner does what
they ask.
"""

from __future__ import annotations

import os
import shlex
import zlib
from collections.abc import Mapping, Sequence

from modules import _paths
from modules._machine.cache_files import load_text, save_text
from runner.api import CommandFailed, fetcher, here
from runner.api.own_program import own_python

PROGRAM = "from runner.cli.salt_call import main; main()"


def environment(argv: Sequence[str], variables: Mapping[str, str]) -> Mapping[str, str]:
    """A command's environment; PATH ends with a salt-call of ours where the command calls one and
    there is none. Raises CommandFailed where it cannot be made.
    """
    path = variables.get("PATH", os.defpath)
    calls = any("salt-call" in word for word in argv)
    if not calls or _paths.which("salt-call", path=path):
        return variables
    try:
        return {**variables, "PATH": f"{path}:{_folder()}"}
    except OSError as problem:
        raise CommandFailed(f"Unable to run command {argv[0]!r}: {problem.strerror}") from problem


@fetcher
def _folder() -> str:
    """A folder with a program `salt-call` that calls this runner with this configuration."""
    words = own_python(PROGRAM)
    config = here.opts.get("conf_file")
    text = (
        f'#!/bin/sh\nexec {shlex.join([*words, *(["-c", str(config)] if config else [])])} "$@"\n'
    )
    name = f"salt-call-{zlib.crc32(text.encode()):08x}"
    try:
        present = load_text(f"{name}/salt-call")
    except (OSError, ValueError):  # not ours, or no text
        present = None
    if present != text:
        save_text(f"{name}/salt-call", text, 0o700)
    return os.path.join(here.cache_dir, name)
