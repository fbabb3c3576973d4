# SPDX-License-Identifier: Apache-2.0
"""The command `secret`: values of the pillar that only the machines can read."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import write_value
from runner.cli.running.options import Common, options_of_tree, some_of, with_common
from runner.language.render import steps
from runner.model.errors import RunnerError, UsageError
from runner.tools import secrets

if TYPE_CHECKING:
    from runner.tools.secrets import SecretKeys

ACTIONS = ("encrypt", "edit", "rekey", "recipients")
OF_SECRETS = some_of("config cachedir log_level log_file out color quiet")


@with_common(OF_SECRETS)
def secret(
    *,
    action: Annotated[
        str,
        argument(metavar="encrypt|edit|rekey|recipients", help="See above.", complete=(ACTIONS,)),
    ],
    files: Annotated[
        list[str] | None,
        argument(metavar="[FILE...]", help="Files of the pillar.", complete=("files",)),
    ] = None,
    recipient: Annotated[
        list[str] | None, option("--recipient", "-r", metavar="KEY", help="Who can decrypt it.")
    ] = None,
    by: Annotated[
        str, option("--with", metavar="age|gpg", help="The program.", show_default=True)
    ] = "age",
    common: Common,
) -> int:
    """Encrypt values of the pillar, and change them.

    \b
    encrypt     a text from standard input, for the recipients; put what is
                printed into an SLS of the pillar that begins with
                #!jinja|yaml|age
    edit FILE   open a file with its values decrypted in $EDITOR; what was
                changed is encrypted
    rekey FILE  encrypt all values of files anew, for the recipients of now
    recipients  list who can decrypt what is encrypted

    The recipients are those of --recipient, else those of age_recipients (or gpg_recipients) of the
    configuration.

    Example: runner secret encrypt < password.txt
    """
    if action not in ACTIONS:
        raise UsageError(
            f"runner secret {action}: there is no such action", hint="one of " + ", ".join(ACTIONS)
        )
    if by not in steps.CIPHERS:
        raise UsageError(f"--with {by}: it has to be {' or '.join(steps.CIPHERS)}")
    if bool(files) != (action in ("edit", "rekey")) or (action == "edit" and files and files[1:]):
        what = {"edit": "one file", "rekey": "one file or several"}.get(action, "no file")
        raise UsageError(f"runner secret {action} takes {what}")
    keys = secrets.keys(options_of_tree(common).raw, by, recipient or ())
    return _DO[action](common, keys, files or [])


def _encrypt(common: Common, keys: SecretKeys, files: list[str]) -> int:
    if sys.stdin.isatty():
        print("Type the text; Ctrl-D ends it.", file=sys.stderr)
    text = sys.stdin.read()
    if not text:
        raise RunnerError("there is nothing to encrypt on standard input")
    message = keys.encrypted(text)
    if common.for_people:
        print(message.rstrip("\n"))
    else:
        write_value(common, message)
    return 0


def _rekey(common: Common, keys: SecretKeys, files: list[str]) -> int:
    for path in files:
        count = secrets.rekey(path, keys)
        values = "1 value" if count == 1 else f"{count} values"
        if not common.quiet:
            print(f"{path}: {values} encrypted anew")
    return 0


def _recipients(common: Common, keys: SecretKeys, files: list[str]) -> int:
    if not common.for_people:
        write_value(common, list(keys.recipients))
        return 0
    for name in keys.recipients:
        print(name)
    if not keys.recipients:
        print("nobody: --recipient KEY, or age_recipients of the configuration", file=sys.stderr)
    return 0


def _edit(common: Common, keys: SecretKeys, files: list[str]) -> int:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    if editor == "vi" and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise RunnerError("there is no terminal here to edit at", hint="set EDITOR")

    def edit(path: str) -> None:
        try:
            done = subprocess.run([*shlex.split(editor), path], check=False)
        except (OSError, ValueError) as error:
            raise RunnerError(
                f"{editor}: {getattr(error, 'strerror', None) or error}", hint="set EDITOR"
            ) from None
        if done.returncode:
            raise RunnerError(f"{editor} ended with {done.returncode}; nothing was changed")

    changed = secrets.edit(files[0], keys, edit)
    if not common.quiet:
        print(f"{files[0]}: {changed or 'not changed'}")
    return 0


_DO: dict[str, Callable[[Common, SecretKeys, list[str]], int]] = {
    "encrypt": _encrypt,
    "edit": _edit,
    "rekey": _rekey,
    "recipients": _recipients,
}
