# SPDX-License-Identifier: Apache-2.0
"""Capabilities of programs' files, by setcap and getcap."""

from __future__ import annotations

from modules import _paths, cmd
from modules._machine.processes import needs
from modules._texts.lines import plain_name
from modules.file import _look
from modules.file._paths.walk import others_replace, others_write
from runner.api import CommandFailed, FormerState, StateFailed, changer, for_states

PACKAGE = "libcap2-bin (of Red Hat: libcap)"


def get_capabilities(path: str) -> str:
    """The capabilities that a program of this file is started with, as getcap prints them; empty
    for none.

    {{ salt['file.get_capabilities']('/usr/bin/ping') }}
    """
    needs("getcap", PACKAGE)
    done = cmd.probe(["getcap", "--", path])
    return done.stdout.removeprefix(path).lstrip(" =").strip()


@for_states
def has_capabilities(path: str, text: str) -> bool:
    """Return whether a file has just these capabilities. Raises CommandFailed for what are none."""
    needs("setcap", PACKAGE)
    if not text:
        return not get_capabilities(path)
    done = cmd.probe(["setcap", "-v", plain_name(text, "the capabilities"), path])
    if "fatal error" in done.stderr:
        raise CommandFailed(f"setcap knows no capabilities {text!r}: cap_net_bind_service=ep, say")
    return done.retcode == 0


@for_states
def refuse_capabilities(path: str) -> None:
    """Raise StateFailed for a file that others can change, or replace."""
    at = _paths.stat(path)
    if at.st_uid or others_write(at) or others_replace(path):
        raise StateFailed(
            f"{path}: others than root may change it, or a folder above, and would have what it may"
        )


@for_states
def former_capabilities(path: str, *_: object) -> FormerState:
    """The capabilities of a file as undo restores them; empty where there is no file."""
    there = _look.is_file(path)
    return FormerState("capabilities", path, {"text": get_capabilities(path)} if there else {})


@changer(touches=["files"], before=former_capabilities)
def set_capabilities(path: str, text: str) -> None:
    """Give a file capabilities, or with an empty text none. Raises StateFailed."""
    if not text and not get_capabilities(path):
        return
    if text:
        refuse_capabilities(path)
    words = ["-q", plain_name(text, "the capabilities")] if text else ["-r"]
    done = cmd.execute(["setcap", *words, path])
    if done.retcode:
        why = done.error_text.partition("\nusage: ")[0]
        raise StateFailed(f"{why} (a file has the flag e for all of its capabilities, or for none)")
