"""What `import salt.exceptions` gives to a tree's classic modules: Salt's names, runner's errors."""

from __future__ import annotations

from typing import Any

from runner.errors import RunnerError


class SaltException(RunnerError):
    """The parent of all of them."""

    def __init__(self, message: object = "", info: Any = None):
        super().__init__(str(message))
        self.strerror = str(message)
        self.info = info

    def __str__(self) -> str:
        return self.strerror


class CommandExecutionError(SaltException):
    """A program failed, or a function could not do its work."""


class CommandNotFoundError(SaltException):
    """A program is not there."""


class SaltInvocationError(SaltException, TypeError):
    """A function was called with wrong arguments."""


class SaltConfigurationError(SaltException):
    """The configuration is wrong."""


class SaltRenderError(SaltException):
    """A template cannot be rendered."""


class SaltSystemExit(SaltException):
    """Work cannot go on."""


class LoaderError(SaltException):
    """A module cannot be loaded."""


class TemplateError(SaltException):
    """A template is wrong."""


class CheckError(SaltException):
    """A check failed."""


class FileLockError(SaltException):
    """A file is locked by someone else."""


class FileserverConfigError(SaltException):
    """The file roots are configured wrongly."""


class MinionError(SaltException):
    """A file could not be fetched."""


class PkgParseError(SaltException):
    """The package manager's answer is not understood."""


class TimedProcTimeoutError(SaltException):
    """A program took too long."""


class NotImplemented(SaltException):
    """It is not there."""


class SaltClientError(SaltException):
    """A client's problem."""


class AuthenticationError(SaltException):
    """Not allowed."""


class SaltReqTimeoutError(SaltException):
    """No answer in time."""
