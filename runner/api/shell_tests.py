# SPDX-License-Identifier: Apache-2.0
"""Command lines that ask one question which needs no shell to be answered: `test -f /etc/motd`.

Most guards of real trees are such, and starting a shell for one costs more than the whole state.
What is not certainly a `test` of plain words is left to the shell.
"""

from __future__ import annotations

from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

OF_PATHS = frozenset(("-e", "-f", "-d", "-s", "-L", "-h", "-r", "-w", "-x"))
OF_TEXTS = frozenset(("-n", "-z"))
# of a command: nothing that has a say in how `test` answers
_INDIFFERENT = frozenset(("ignore_retcode", "python_shell", "umask"))
# what is there is another thing for each process
_OF_PROCESSES = ("/proc/", "/dev/")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=-")


class ShellTest(Record):
    """A question. operator: one of OF_PATHS or OF_TEXTS. negated: `test ! -e ...`."""

    operator: str
    operand: str
    negated: bool = False


def shell_test(command: object, options: Iterable[str] = ()) -> ShellTest | None:
    """The question that a command line asks; None where a shell has to read it.

    options: what is given with it of the arguments of `cmd.retcode`.

    >>> shell_test("[ ! -d /srv/app ]")
    ShellTest(operator='-d', operand='/srv/app', negated=True)
    >>> shell_test("test -f $HOME/x")
    """
    if type(command) is not str or not command.startswith(("test ", "[ ")):
        return None
    if not _INDIFFERENT.issuperset(options):
        return None
    words = [word for word in command.rstrip("\n").split(" ") if word]
    if words.pop(0) == "[" and (not words or words.pop() != "]"):
        return None
    negated = len(words) > 1 and words[0] == "!"
    operands = [_literal(word) for word in words[negated:]]
    match operands:
        case [str(text)]:
            return ShellTest("-n", text, negated)
        case [str(operator), str(text)] if operator in OF_TEXTS:
            return ShellTest(operator, text, negated)
        case [str(operator), str(path)] if operator in OF_PATHS and _is_absolute(path):
            return ShellTest(operator, path, negated)
    return None


def _is_absolute(path: str) -> bool:
    """Return whether a path leads to the same place from every folder and for every process."""
    return path.startswith("/") and not path.startswith(_OF_PROCESSES)


def _literal(word: str) -> str | None:
    """Return what a shell makes of a word; None where it would do more than remove quotes."""
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        word = word[1:-1]
    return word if _PLAIN.issuperset(word) else None
