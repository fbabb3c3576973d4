# SPDX-License-Identifier: Apache-2.0
"""Patches, and bytes in the middle of files, under Salt's names."""

from __future__ import annotations

import shlex
from typing import Any

from modules import _paths, cmd
from modules._machine import processes
from modules.file import _look
from modules.file._contents import write
from modules.file._patching import in_little_memory
from modules.file._salt.arguments import path_given
from runner.api import StateFailed


def patch(
    originalfile: str, patchfile: str, options: str = "", dry_run: bool = False
) -> dict[str, Any]:
    """Apply a patch to a file, or to the files of a folder: pid, retcode, stdout and stderr of the
    program.

    options: more options of it. dry_run: only try.

        runner call file.patch /opt/app/config.c /root/config.patch dry_run=true
    """
    processes.needs("patch", "patch")
    target, words = path_given(originalfile), shlex.split(options)
    source = path_given(patchfile)
    size = _paths.stat(source).st_size if _paths.isfile(source) else 0
    argv = [*in_little_memory("patch", size), "--forward", "--reject-file=-", f"--input={source}"]
    argv += [*(["--dry-run"] if dry_run else []), *words]
    if _paths.isdir(target):
        if not any(word.startswith(("-p", "--strip")) for word in words):
            argv.append("--strip=0")
        argv.append(f"--directory={target}")
    else:
        argv += ["--", target]
    done = cmd.probe(argv) if dry_run else cmd.execute(argv)
    return {"pid": done.pid, "retcode": done.retcode, "stdout": done.stdout, "stderr": done.stderr}


def seek_read(path: str, size: int, offset: int) -> bytes:
    """Some bytes of a file from a place on."""
    return _look.read_whole(path_given(path))[int(offset) : int(offset) + int(size)]


def seek_write(path: str, data: str | bytes, offset: int) -> int:
    """Put bytes into a file at a place, over those that are there; how many. The file is written
    whole.
    """
    path, new = path_given(path), data.encode() if isinstance(data, str) else data
    at = int(offset)
    if at < 0:
        raise StateFailed(f"offset: expected a number from 0 on, not {at}")
    old = _look.read_bytes(path)
    write.write(path, old[:at].ljust(at, b"\0") + new + old[at + len(new) :])
    return len(new)
