# SPDX-License-Identifier: Apache-2.0
"""How a command is run: what all functions that run one take."""

from __future__ import annotations

from modules import cmd
from runner.api import (
    Annotated,
    AsText,
    Duration,
    Group,
    Mode,
    OneOrMany,
    Record,
    Secret,
    StateFailed,
    TextEncoding,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Command(Record):
    """How a command is run.

    cwd: The folder to run it in; without it the home folder of the user.
    root: A folder that is the command's /.
    runas: The user who runs it; without it the caller.
    password: Refused; it is for Windows, root here becomes any user without one.
    group: The group that it runs with; without it the primary group of the user.
    shell: The shell that runs it; without it that of the environment (`SHELL`), or /bin/sh.
    env: Further variables, as a mapping or a list of them.
    clean_env: No other variables than these, and those of the locale.
    prepend_path: Folders that stand before those of PATH.
    stateful: The last line of its output says whether it changed something (`changed=yes
      comment='...'` or JSON).
    stdin: The text that it reads from its standard input.
    umask: The umask that it runs with, in octal digits.
    output_loglevel: Ignored; what it prints is in the result.
    hide_output: Keep what it prints out of the result.
    timeout: Seconds, after which it is ended with all that it started.
    ignore_timeout: A timeout is no failure.
    use_vt: Ignored; a command has no terminal to wait at.
    bg: Do not wait for its end.
    python_shell: False runs the words of the command without a shell.
    success_retcodes: Exit codes that count as success beside 0.
    success_stdout: Texts of which one in its standard output counts as success, too.
    success_stderr: Texts of which one in its standard error counts as success, too.
    rstrip: False keeps the white space at the end of what it prints.
    output_encoding: The encoding of what it prints, such as `latin-1`, instead of UTF-8.
    reset_system_locale: False gives it the locale of this run, instead of `C` for messages,
      numbers and dates.
    """

    cwd: str | None = None
    root: str | None = None
    runas: str | None = None
    password: Secret[str] | None = None
    group: str | None = None
    shell: str | None = None
    env: AsText[Word[dict[str, Any] | list[Any] | str]] | None = None
    clean_env: bool = False
    prepend_path: Word[str] | None = None
    stateful: bool | list[Any] = False
    stdin: str | None = None
    umask: Mode | None = None
    output_loglevel: str | None = None
    hide_output: bool = False
    timeout: Duration[float] | None = None
    ignore_timeout: bool = False
    use_vt: bool = False
    bg: bool = False
    python_shell: bool | None = None
    success_retcodes: OneOrMany[int] | None = None
    success_stdout: OneOrMany[str] | None = None
    success_stderr: OneOrMany[str] | None = None
    rstrip: bool = True
    output_encoding: TextEncoding | None = None
    reset_system_locale: bool = True

    def options(self) -> dict[str, Any]:
        """Return what `cmd.execute_shell` takes."""
        return {key: value for key, value in self._asdict().items() if key not in _OF_THE_STATE}

    def refuse_password(self) -> None:
        """Raise StateFailed for a password."""
        if self.password is not None:
            raise StateFailed("password is for Windows: here root becomes any user without one")

    def refuse_surroundings(self) -> None:
        """Fail where a command cannot be started; nothing was changed."""
        try:
            cmd.refuse_surroundings(
                self.cwd, self.runas, self.group, self.shell, self.root, self.umask
            )
        except StateFailed as failure:
            raise StateFailed(failure.message, changes={}, missing=failure.missing) from None


_OF_THE_STATE = tuple(
    """
    password stateful output_loglevel hide_output ignore_timeout use_vt success_retcodes
    success_stdout success_stderr
    """.split()
)
AnyCommand = Annotated[Command, Group()]
ScriptCommand = Annotated[
    Command, Group({name: name for name in Command._fields if name not in ("root", "python_shell")})
]
