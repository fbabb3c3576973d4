# SPDX-License-Identifier: Apache-2.0
"""The words of git's command line for arguments that several functions take."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from modules._texts.lines import plain_name
from modules.git._run import keys
from runner.api import for_states


@for_states
def identity_keys(identity: str | Sequence[str], user: str | None) -> tuple[str, ...]:
    """The private keys of an argument that is one path or several."""
    return keys([identity] if isinstance(identity, str) else list(identity), user) or ()


@for_states
def optional_word(word: str | None, what: str) -> list[str]:
    """A word that may be missing, which is no option. what: its name in a failure."""
    return [plain_name(word, what)] if word else []


@for_states
def command_words(git_opts: str, command: str, opts: str, *more: str) -> list[str]:
    """A command of git with the options in front of it, its own and its further words."""
    return [*shlex.split(git_opts), command, *shlex.split(opts), *more]
