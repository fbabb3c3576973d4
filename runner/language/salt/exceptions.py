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


class FileLockError(SaltException):
    """A file is locked by someone else."""


class InvalidKeyError(SaltException, ValueError):
    """A key is not valid."""


class SaltCloudException(SaltException):
    """The parent of what goes wrong with clouds."""


# names that a tree may catch and raise, with nothing of their own
_PLAIN = {
    SaltException: (
        "SaltConfigurationError SaltRenderError SaltSystemExit LoaderError TemplateError "
        "FileserverConfigError MinionError PkgParseError TimedProcTimeoutError NotImplemented "
        "SaltClientError AuthenticationError SaltReqTimeoutError SaltValidationError "
        "SaltDeserializationError SaltCacheError GitLockError GitRemoteError SaltRunnerError "
        "SaltClientTimeout TimeoutError AuthorizationError"
    ),
    CommandExecutionError: "CheckError ArgumentValueError InvalidConfigError InvalidEntityError",
    SaltCloudException: (
        "SaltCloudConfigError SaltCloudNotFound SaltCloudSystemExit SaltCloudExecutionTimeout "
        "SaltCloudExecutionFailure"
    ),
}
for _parent, _names in _PLAIN.items():
    for _name in _names.split():
        globals()[_name] = type(_name, (_parent,), {"__module__": __name__})
