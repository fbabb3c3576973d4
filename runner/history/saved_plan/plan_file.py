# SPDX-License-Identifier: Apache-2.0
"""The file of a plan: written whole, and read only where nobody else can have written it."""

from __future__ import annotations

import errno
import hmac
import json
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from runner.history.saved_plan.machine_key import MachineKey
from runner.history.saved_plan.plan import (
    DAMAGED,
    FORMAT,
    DamagedPlan,
    SavedPlan,
    document_of,
    plan_of,
)
from runner.model.errors import REFUSED, RunnerError, UsageError
from runner.support.files.links import without_links
from runner.support.files.permissions import flaw

LARGEST = 64 * 1024 * 1024  # bytes of a plan
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_private(path: str, what: str, largest: int = LARGEST) -> bytes:
    """The contents of a file that only root or the caller can have written. Raises RunnerError for
    any other, a link, what is no file, and one that is larger.
    """
    try:
        real = os.path.join(without_links(os.path.dirname(os.path.abspath(path))), _name(path))
        descriptor = os.open(real, os.O_RDONLY | _SAFELY)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _refused(path, what, "it is a symbolic link", "name the file itself") from None
        makes = "`runner highstate --test --plan FILE` makes one; an SLS file: `runner sls NAME`"
        hint = makes if what == "plan" else None
        raise RunnerError(f"the {what} {path}: {error.strerror}", hint=hint, code="plan") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise _refused(path, what, "it is no regular file", "name the file itself")
    with open(descriptor, "rb") as file:
        if problem := flaw(path, status, descriptor):
            raise _refused(path, what, problem.message, problem.remedy)
        try:
            data = file.read(largest + 1)
        except OSError as error:  # of a disk
            raise _refused(path, what, str(error.strerror), "is the disk well?") from None
    if len(data) > largest:
        limit = f"it is larger than {largest // 1024} KiB"
        raise _refused(path, what, limit, "is it the right file?")
    return data


def _refused(path: str, what: str, why: str, hint: str) -> RunnerError:
    return RunnerError(f"the {what} {path} is not used: {why}", hint=hint, code=REFUSED)


def _name(path: str) -> str:
    return os.path.basename(os.path.abspath(path))


def parsed(data: bytes) -> Any:
    """The JSON document of a plan. Raises DamagedPlan for what is no JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedPlan(
            f"the plan is damaged: it is no JSON ({type(error).__name__})", hint=DAMAGED
        ) from None


def authenticated(document: Any, key: MachineKey | None, machine: str) -> SavedPlan:
    """The plan of a document that this machine has made. machine: its ID. Raises RunnerError for
    one that was made elsewhere or altered since.
    """
    plan = plan_of(document)
    if key is None or plan.key != key.identity:
        where = f"on {plan.machine} ({plan.host}) as user {plan.user}"
        raise RunnerError(
            f"the plan was made {where}; this is {machine}, or has another state directory or user",
            hint=f"a plan is applied where it was made: {how_to_apply(plan, 'FILE')}",
            code="plan",
        )
    signed = {name: value for name, value in document.items() if name != "authentication"}
    code = document.get("authentication")
    if not isinstance(code, str) or not _same(code, _code(key, signed)):
        raise DamagedPlan("the plan was altered since it was made", hint=DAMAGED)
    return plan


def _code(key: MachineKey, document: dict[str, Any]) -> str:
    try:
        return key.authentication(document)
    except ValueError:  # NaN, which runner writes nowhere
        return ""


def _same(one: str, other: str) -> bool:
    return bool(other) and hmac.compare_digest(one.encode(), other.encode())


def how_to_apply(plan: SavedPlan, path: str) -> str:
    """The command line that applies a plan."""
    words = ["runner", "apply", path]
    if plan.config:
        words += ["--config", plan.config]
    for name in ("root", "cachedir"):
        if directory := plan.request.settings.get(name):
            words += [f"--{name}", str(directory)]
    return shlex.join(words) + (" --pillar ..." if plan.pillar else "")


# ---------------------------------------------------------------- writing


def text_of(plan: SavedPlan, key: MachineKey) -> bytes:
    """The contents of a plan's file."""
    return (json.dumps(document_of(plan, key), indent=1) + "\n").encode()


def check_destination(path: str) -> None:
    """Raise UsageError for a path where a plan cannot be written, or that has something else."""
    try:
        with _folder(path) as (folder, name):
            writable = os.access(".", os.W_OK | os.X_OK, dir_fd=folder, effective_ids=True)
            if not writable:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            _check_present(path, folder, name)
    except OSError as error:
        raise UsageError(f"--plan {path}: {error.strerror}") from None


def _check_present(path: str, folder: int, name: str) -> None:
    """Refuse to overwrite anything but a plan of the caller."""
    try:
        descriptor = os.open(name, os.O_RDONLY | _SAFELY, dir_fd=folder)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UsageError(f"--plan {path}: it is a symbolic link; remove it") from None
        raise
    with open(descriptor, "rb") as file:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        if not is_file or FORMAT.encode() not in file.read(100):
            hint = "name a new file"
            raise UsageError(f"--plan {path}: there is something else than a plan", hint=hint)


def write(path: str, data: bytes, suffix: str = "") -> None:
    """Write a file whole, readable by its owner alone. suffix: of a file beside it. Raises
    RunnerError.
    """
    try:
        with _folder(path) as (folder, name):
            target = name + suffix
            beside = f".{target}.{os.urandom(6).hex()}.new"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY
            descriptor = os.open(beside, flags, 0o600, dir_fd=folder)
            try:
                with open(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(descriptor)
                os.rename(beside, target, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(beside, dir_fd=folder)
                raise
    except OSError as error:
        raise RunnerError(f"the plan {path + suffix} cannot be written: {error.strerror}") from None


def remove(path: str) -> None:
    """Delete a file beside a plan, if there is one."""
    with suppress(OSError), _folder(path) as (folder, name):
        os.unlink(name, dir_fd=folder)


@contextmanager
def _folder(path: str) -> Iterator[tuple[int, str]]:
    """The folder of a path, held open, and the name in it."""
    above = without_links(os.path.dirname(os.path.abspath(path)))
    folder = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield folder, _name(path)
    finally:
        os.close(folder)
