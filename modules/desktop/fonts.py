# SPDX-License-Identifier: Apache-2.0
"""Fonts of the machine and of users, and the cache of fontconfig."""

from __future__ import annotations

import os

from modules import _accounts, cmd, file
from modules._texts.lines import plain_name
from runner.api import CommandFailed, changer, for_states

FOLDER = "/usr/local/share/fonts"


@for_states
def folder(name: str, user: str | None) -> str:
    """The folder of the files of a font. Raises CommandFailed for an unknown user, or one without a
    home.
    """
    plain_name(name, "name")
    if user is None:
        return f"{FOLDER}/{name}"
    try:
        home = _accounts.user(user).pw_dir
    except KeyError:
        raise CommandFailed(f"User {user} is not available", missing=("user", user)) from None
    if not file.is_dir(home):
        raise CommandFailed(f"{home} does not exist", missing=("file", home))
    return f"{home}/.local/share/fonts/{name}"


@changer(touches=[], before=lambda *_, **__: {}, planned=lambda folder, user=None: None)
def refresh(folder: str, user: str | None = None) -> None:
    """Have fontconfig read the fonts of a folder, if it is there: else programs do when they start.

    folder: such as /usr/local/share/fonts. user: whose.
    """
    if cmd.which("fc-cache"):
        where = folder if file.is_dir(folder) else os.path.dirname(folder)
        cmd.complete(["fc-cache", "--", where], runas=user, python_shell=False)
