# SPDX-License-Identifier: Apache-2.0
"""`salt.exceptions` as a tree's classic modules import it: Salt's names, runner's errors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from runner.model.errors import RunnerError


def _shown(value: Any, indent: int = 0, prefix: str = "") -> Iterator[str]:
    """The lines of a value in the form of Salt's `nested` output."""
    space = " " * indent
    if isinstance(value, str):
        for number, line in enumerate(value.splitlines()):
            yield space + (" " * len(prefix) if number else prefix) + line
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, list | tuple | Mapping):
                yield f"{space}|_"
                yield from _shown(item, indent + 2, "" if isinstance(item, Mapping) else "- ")
            else:
                yield from _shown(item, indent, "- ")
    elif isinstance(value, Mapping):
        if indent:
            yield f"{space}----------"
        for key in value if isinstance(value, OrderedDict) else sorted(value, key=str):
            yield f"{space}{prefix}{key}:"
            yield from _shown(value[key], indent + 4)
    else:
        yield f"{space}{prefix}{value}"


def _with_details(message: str, info: Any) -> str:
    """A message, and below it what its exception knows besides."""
    if not info:
        return message
    if message:
        message += " " if message[-1] in ".?!" else ". "
    return f"{message}Additional info follows:\n\n" + "\n".join(_shown(info)).rstrip()


class SaltException(RunnerError):
    """The parent of all of them."""

    def __init__(self, message: object = ""):
        super().__init__(str(message))
        self.strerror = str(message)

    def __str__(self) -> str:
        return self.strerror


class CommandExecutionError(SaltException):
    """A program failed, or a function could not do its work. info: data that the message goes on
    with.
    """

    def __init__(self, message: object = "", info: Any = None):
        self.error = str(message)
        self.info = info
        super().__init__(_with_details(self.error, info))
        if isinstance(info, Mapping):  # a state shows its changes elsewhere
            info = {key: value for key, value in info.items() if key != "changes"}
        self.strerror_without_changes = _with_details(self.error, info)


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


class CheckError(CommandExecutionError):
    """A check failed."""


class ArgumentValueError(CommandExecutionError):
    """An argument has a value that it must not have."""


class InvalidConfigError(CommandExecutionError):
    """A configuration cannot be used."""


class InvalidEntityError(CommandExecutionError):
    """A file that was named is not of the right kind."""


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


class SaltValidationError(SaltException):
    """A value is not what it has to be."""


class SaltDeserializationError(SaltException):
    """Data cannot be read."""


class SaltCacheError(SaltException):
    """The cache cannot be used."""


class GitLockError(SaltException):
    """A repository is locked by someone else."""


class GitRemoteError(SaltException):
    """A remote repository cannot be used."""


class InvalidKeyError(SaltException, ValueError):
    """A key is not valid."""


class SaltRunnerError(SaltException):
    """A runner failed."""


class SaltClientTimeout(SaltException):
    """A client waited too long."""


class TimeoutError(SaltException):
    """It took too long."""


class AuthorizationError(SaltException):
    """Not permitted."""


class SaltCloudException(SaltException):
    """The parent of what goes wrong with clouds."""


class SaltCloudConfigError(SaltCloudException):
    """The configuration of a cloud is wrong."""


class SaltCloudNotFound(SaltCloudException):
    """It is not in the cloud."""


class SaltCloudSystemExit(SaltCloudException):
    """Work with a cloud cannot go on."""


class SaltCloudExecutionTimeout(SaltCloudException):
    """A cloud took too long."""


class SaltCloudExecutionFailure(SaltCloudException):
    """Work with a cloud failed."""
