# SPDX-License-Identifier: Apache-2.0
"""`--image`: a run that makes an image, and leaves nothing of its own in it.

History, lock and caches lie in a folder that ends with the run. After it the caches of package
managers are emptied that `image_clean` names, and what the run has changed is no younger than
`SOURCE_DATE_EPOCH`, so that two builds are equal. One DIR is built by one run at a time: the lock
is on that folder itself.
"""

from __future__ import annotations

import atexit
import glob
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from runner.model.errors import UsageError
from runner.model.result import AT_BOOT
from runner.pipeline import lock
from runner.sources.config.file import setting_place
from runner.support.files.removal import remove

if TYPE_CHECKING:
    from runner.model.result import Report
    from runner.sources.config.options import Options

EPOCH = "SOURCE_DATE_EPOCH"
# package manager -> what it keeps of packages, and writes of its work
CACHES = {
    "apk": ("/var/cache/apk/*",),
    "apt": (
        "/var/cache/apt/*.bin",
        "/var/cache/apt/archives/*.deb",
        "/var/cache/apt/archives/partial/*",
        "/var/cache/debconf/*-old",
        "/var/cache/ldconfig/aux-cache",
        "/var/lib/apt/lists/*",
        "/var/lib/dpkg/*-old",
        "/var/log/alternatives.log",
        "/var/log/apt/*",
        "/var/log/dpkg.log",
    ),
    "dnf": ("/var/cache/dnf/*", "/var/cache/libdnf5/*", "/var/log/dnf*", "/var/log/hawkey.log"),
    "pacman": ("/var/cache/pacman/pkg/*", "/var/lib/pacman/sync/*", "/var/log/pacman.log"),
    "pip": ("/root/.cache/pip",),
    "zypper": ("/var/cache/zypp/*", "/var/log/zypp/*", "/var/log/zypper.log"),
}
SLACK = 0.1  # seconds, by which the clock of file systems may be behind


def without_traces(options: Options) -> Options:
    """The settings of a run whose own files lie in a folder that ends with this process. Raises
    UsageError for settings that it cannot keep, and Locked while another run builds the image.
    """
    import tempfile

    _epoch()
    for name in options.image_clean:
        if name not in CACHES:
            message = f"image_clean: {name!r} is no package manager whose caches are known"
            raise UsageError(
                message, setting_place(options.raw, "image_clean"), f"one of {', '.join(CACHES)}"
            )
    if options.root:
        lock.keep_folder("/", options.wait)
    folder = tempfile.mkdtemp(prefix="runner-image-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    cache, state = f"{folder}/cache", f"{folder}/state"
    raw = {**options.raw, "cachedir": cache, "state_dir": state}
    return options._replace(raw=raw, cachedir=cache, state_dir=state)


@contextmanager
def built(options: Options) -> Iterator[None]:
    """Make an image of what a real run leaves."""
    began = time.time() - SLACK
    yield
    if options.test:
        return
    for name in options.image_clean:
        for path in (path for pattern in CACHES[name] for path in glob.glob(pattern)):
            remove(path)
    epoch = _epoch()
    if epoch is not None:
        _clamp(began, epoch)


def first_boot(report: Report) -> str:
    """What the states have left to the boot of the image, a line each; empty for nothing."""
    lines = [f"  {one.extra[AT_BOOT]}\n" for one in report if AT_BOOT in one.extra]
    return "".join(dict.fromkeys(["\nLeft to the first boot:\n", *lines])) if lines else ""


def _epoch(environ: Mapping[str, str] = os.environ) -> int | None:
    """What nothing in the image is to be younger than; None for no limit. Raises UsageError."""
    given = environ.get(EPOCH)
    if not given:
        return None
    if not re.fullmatch("[0-9]{1,18}", given):
        raise UsageError(f"${EPOCH} is {given!r}", hint="seconds since 1970, as of `date +%s`")
    return int(given)


def _clamp(began: float, epoch: int) -> None:
    """Give what was changed since a time, and is younger than another one, that time."""
    device = os.lstat("/").st_dev
    for folder, folders, files in os.walk("/"):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = [name for name in folders if _device(os.path.join(folder, name)) == device]
        for name in (".", *files, *links):
            path = os.path.join(folder, name)
            with suppress(OSError):
                at = os.lstat(path)
                if at.st_ctime >= began and at.st_mtime > epoch:
                    os.utime(path, (min(at.st_atime, epoch), epoch), follow_symlinks=False)


def _device(path: str) -> int:
    """The file system of a folder; 0 for none."""
    try:
        return os.lstat(path).st_dev
    except OSError:
        return 0
