# SPDX-License-Identifier: Apache-2.0
"""The kinds of failure: the user's input (RunnerError, of one or more diagnostics), the machine
(StateFailed in api), a bug (all the rest).
"""

from __future__ import annotations

from runner.model.places import Source
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FULL_DISK = "full-disk"  # the code of what nobody mends but a person, in quiet runs too
REFUSED = "permissions"  # the code of what is wrong with a file that others can write
MAY_READ = "give this user the right to read it, or run as another (sudo)"


def reason_of(error: BaseException) -> str:
    """What an error of the system says, without what Python writes around it.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "/x"))
    '/x: No such file or directory'
    """
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    seconds = getattr(error, "timeout", None)  # of a program that was ended
    return f"it took more than {seconds:g} seconds" if seconds else str(error)


class Diagnostic(Record):
    """One mistake in the user's input."""

    message: str
    source: Source | None = None
    hint: str | None = None
    code: str = "error"
    severity: str = "error"  # error | warning
    # what the message is about, for those who know more of it: an ID, a key
    subject: str = ""
    # of a wrong argument: the function, the argument, and the steps to the culprit inside of it
    argument: tuple[str, ...] = ()
    detail: str = ""  # the message without what it is about
    candidates: tuple[str, ...] = ()  # what was probably meant, if that is all that the hint says
    # the SLS that could not be rendered (base:web); "pillar" or "pillar SLS" for the pillar's
    rendering: str = ""
    declared_in: str = ""  # the SLS that declares what is missing
    more: int = 0  # how many like it are left out; the message says so at its end

    def __str__(self) -> str:
        text = self.message
        if self.source:
            text += f"\n  at {self.source}"
            for via in self.source.via:
                text += f"\n  called from {via}"
        if self.hint:
            text += f"\n  hint: {self.hint}"
        return text


class RunnerError(Exception):
    """A mistake that a user made: what is wrong, where it was typed, what was probably meant.

    >>> str(RunnerError("no such state: fiel", Source("a.sls", 3, 5), "file"))
    'no such state: fiel\\n  at a.sls:3:5\\n  hint: file'
    """

    code = "error"
    missing: tuple[tuple[str, str], ...] = ()  # facts for want of which it is one

    def __init__(
        self,
        message: str,
        source: Source | None = None,
        hint: str | None = None,
        code: str | None = None,
    ):
        super().__init__(message)
        # what a template or a module of the tree raises may be anything
        self.message = str(message)
        self.source = source
        self.hint = hint
        self.code = code or type(self).code

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return (Diagnostic(self.message, self.source, self.hint, self.code),)

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self.diagnostics)


def not_python(error: SyntaxError | ValueError, path: str) -> RunnerError:
    """The mistake of a file that Python cannot read."""
    reason = error.msg if isinstance(error, SyntaxError) else str(error)
    place = Source(path, getattr(error, "lineno", 0) or 0, getattr(error, "offset", 0) or 0)
    hint = "Python could not go on here; look at this line and at the one above"
    if any(words in reason for words in _OF_PYTHON_2):
        hint = "Python 2 read this; 3 reads `print(...)`, `except ERROR as name:`, `0o644`"
    return RunnerError(f"{path.rpartition('/')[2]} is not Python: {reason}", place, hint, "module")


_OF_PYTHON_2 = ("Missing parentheses in call to", "exception types must be", "an 0o prefix")


class UsageError(RunnerError):
    """The command line or the configuration."""

    code = "usage"


class RenderError(RunnerError):
    """A template, its YAML or its data."""

    code = "render"


class CompileError(RunnerError):
    """One or more mistakes found while compiling; all of them at once."""

    code = "compile"

    def __init__(self, problems: Iterable[Diagnostic]):
        self._problems = tuple(problems)
        first = self._problems[0]
        super().__init__(first.message, first.source, first.hint, first.code)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self._problems
