# SPDX-License-Identifier: Apache-2.0
"""`--image`: a run that makes an image, and leaves nothing of its own in it.

History, lock and caches lie in a folder that ends with the run. After it the caches of package
managers are emptied that `image_clean` names, and what the run has changed is no younger than
`SOURCE_DATE_EPOCH`, so that two builds are equal. One DIR is built by one run at a time: the lock
is on that folder itself. What each machine of an image is to have of its own (its ID, its keys) is
left as it was, or told.
"""

from __future__ import annotations

import atexit
import glob
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from runner.engine.rehearsal import file_systems
from runner.model.diagnostics import Diagnostic
from runner.model.errors import UsageError
from runner.model.records import Record
from runner.model.result import AT_BOOT
from runner.pipeline import lock
from runner.sources.config.file import setting_place
from runner.support.files.removal import remove

if TYPE_CHECKING:
    from runner.model.result import Report
    from runner.sources.config.options import Options

EPOCH = "SOURCE_DATE_EPOCH"
# package manager -> what it keeps of packages, and writes of its work; ssh: its keys of the machine
CLEANED = {
    "apk": ("/var/cache/apk/*",),
    "apt": tuple(
        """
        /var/cache/apt/*.bin /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*
        /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache /var/lib/apt/lists/*
        /var/lib/dpkg/*-old /var/log/alternatives.log /var/log/apt/* /var/log/dpkg.log
        """.split()
    ),
    "dnf": ("/var/cache/dnf/*", "/var/cache/libdnf5/*", "/var/log/dnf*", "/var/log/hawkey.log"),
    "pacman": ("/var/cache/pacman/pkg/*", "/var/lib/pacman/sync/*", "/var/log/pacman.log"),
    "pip": ("/root/.cache/pip",),
    "ssh": ("/etc/ssh/ssh_host_*_key", "/etc/ssh/ssh_host_*_key.pub"),
    "zypper": ("/var/cache/zypp/*", "/var/log/zypp/*", "/var/log/zypper.log"),
}
IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id")
KEY = re.compile(rb"PRIVATE KEY-----|^\s*secret\s+\"", re.MULTILINE)
LARGEST_KEY = 64 << 10
CRONTABS = "/var/spool/cron/"
INSTALLED_ON = re.compile(rb"\A(?:# .*\n)?# \(.* installed on (.{24})\)\n")  # crontab's own words
KERNELS = ("/proc/", "/sys/", "/dev/", "/run/")  # in no image
SLACK = 0.1  # seconds, by which the clock of file systems may be behind


class Odd(Record):
    """What is odd about an image. keys: files with keys that the run has made. mounted: files that
    were written, but are others than those of the image.
    """

    keys: list[str]
    mounted: list[str]


def without_traces(options: Options) -> Options:
    """The settings of a run whose own files lie in a folder that ends with this process. Raises
    UsageError for settings that it cannot keep, and Locked while another run builds the image.
    """
    _epoch()
    for name in options.image_clean:
        if name not in CLEANED:
            message = f"image_clean: {name!r} is nothing that is known to be cleaned"
            raise UsageError(
                message, setting_place(options.raw, "image_clean"), f"one of {', '.join(CLEANED)}"
            )
    if options.root:
        lock.keep_folder("/", options.wait)
    folder = tempfile.mkdtemp(prefix="runner-image-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    cache, state = f"{folder}/cache", f"{folder}/state"
    raw = {**options.raw, "cachedir": cache, "state_dir": state}
    return options._replace(raw=raw, cachedir=cache, state_dir=state)


@contextmanager
def built(options: Options) -> Iterator[Odd]:
    """Make an image of what a real run leaves; yields what is odd about it, which is known at the
    end.
    """
    odd = Odd([], [])
    began = time.time() - SLACK
    ids = {path: _id(path) for path in IDS}
    yield odd
    if options.test:
        return
    for name in options.image_clean:
        for path in (path for pattern in CLEANED[name] for path in glob.glob(pattern)):
            remove(path)
    for path, text in ids.items():
        _without_id(path, text)
    epoch = _epoch()
    for path, at in _changed(began):
        if _is_key(path, at):
            odd.keys.append(path)
        if epoch is not None and at.st_mtime > epoch:
            _made_at(epoch, path, at)
    if not options.root:
        odd.mounted.extend(_mounted_files(began))


def problems(odd: Odd, report: Report) -> list[Diagnostic]:
    """What is told of the files that make an image odd."""
    found = []
    keys = sorted({*odd.keys} - {one.chunk.name for one in report})
    if keys:
        message = f"all machines of this image will have the same keys: {', '.join(keys)}"
        hint = "remove them at the end of the build, and let the first boot make others"
        if any(path.startswith("/etc/ssh/ssh_host") for path in keys):
            hint += "; image_clean: [ssh] removes those of ssh (docs/images.md)"
        found.append(Diagnostic(message, hint=hint, severity="warning"))
    if odd.mounted:
        message = f"what was written to {', '.join(odd.mounted)} is not in the image"
        hint = (
            "what builds the container has mounted files of its own there; say it where the"
            " container starts (--hostname, --add-host, --dns)"
        )
        found.append(Diagnostic(message, hint=hint, severity="warning"))
    return found


def first_boot(report: Report) -> str:
    """What the states have left to the boot of the image, a line each; empty for nothing."""
    lines = [f"  {one.extra[AT_BOOT]}\n" for one in report if AT_BOOT in one.extra]
    return "".join(dict.fromkeys(["\nLeft to the first boot:\n", *lines])) if lines else ""


def _epoch() -> int | None:
    """What nothing in the image is to be younger than; None for no limit. Raises UsageError."""
    given = os.environ.get(EPOCH)
    if not given:
        return None
    if not re.fullmatch("[0-9]{1,11}", given):
        raise UsageError(f"${EPOCH} is {given!r}", hint="seconds since 1970, as of `date +%s`")
    return int(given)


def _changed(began: float) -> Iterator[tuple[str, os.stat_result]]:
    """The paths on this file system that were changed since a time; a folder comes before what is
    in it.
    """
    device = os.lstat("/").st_dev
    for folder, folders, files in os.walk("/"):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = [name for name in folders if _device(os.path.join(folder, name)) == device]
        for name in (".", *files, *links):
            path = os.path.join(folder, name)
            with suppress(OSError):
                at = os.lstat(path)
                if at.st_ctime >= began:
                    yield path, at


def _made_at(epoch: int, path: str, at: os.stat_result) -> None:
    """Make a path look as if it had been made at a time."""
    with suppress(OSError):
        if path.startswith(CRONTABS) and stat.S_ISREG(at.st_mode):
            with open(path, "r+b", buffering=0, opener=_no_link) as file:
                date = INSTALLED_ON.match(file.read(1024))
                if date:
                    file.seek(date.start(1))
                    file.write(time.asctime(time.gmtime(epoch)).encode())
        os.utime(path, (min(at.st_atime, epoch), epoch), follow_symlinks=False)


def _mounted_files(began: float) -> Iterator[str]:
    """The files that are mounted into a container, and were changed since a time."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        mounts = file_systems.mounted(file.read())
    for path in dict.fromkeys(mount.path for mount in mounts if not mount.path.startswith(KERNELS)):
        with suppress(OSError):
            at = os.lstat(path)
            if stat.S_ISREG(at.st_mode) and at.st_ctime >= began:
                yield path


def _is_key(path: str, at: os.stat_result) -> bool:
    """Return whether a file has a key that not everybody may read."""
    if not stat.S_ISREG(at.st_mode) or at.st_mode & stat.S_IROTH or at.st_size > LARGEST_KEY:
        return False
    with suppress(OSError), open(path, "rb", opener=_no_link) as file:
        return bool(KEY.search(file.read()))
    return False


def _id(path: str) -> bytes | None:
    """What a file has for the ID of a machine; None where there is no such file."""
    with suppress(OSError), open(path, "rb", opener=_no_link) as file:
        return file.read(64)
    return None


def _without_id(path: str, text: bytes | None) -> None:
    """Take away the ID that a build has made where there was none."""
    if _id(path) == text or re.match(b"[0-9a-f]{32}", text or b""):
        return
    with suppress(OSError):
        if text is None:
            os.unlink(path)
        else:
            with open(path, "wb", opener=_no_link) as file:
                file.write(text)


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _device(path: str) -> int:
    """The file system of a folder; 0 for none."""
    try:
        return os.lstat(path).st_dev
    except OSError:
        return 0
