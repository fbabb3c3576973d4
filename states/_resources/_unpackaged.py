# SPDX-License-Identifier: Apache-2.0
"""Files that differ from what packages brought, and those that no package brought."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping

from modules import file, pkg
from runner.api import StateFailed

ROOTS = ("/etc", "/usr/local", "/srv")
MOST_IN_ONE = 100  # entries of a directory that no package brought
MOST = 2000  # of all
LARGEST_COPY = 1024 * 1024  # bytes of a file that may be a copy of a package's
# directories that each installation has
EMPTY = (
    "/etc/opt",
    *(f"/usr/local/{name}" for name in ["bin", "etc", "games", "include", "lib", "sbin", "src"]),
)
# what programs write for themselves, or what states of other modules make
_GENERATED = re.compile(
    r"/etc/(?:"
    r"locale\.gen|hosts|fstab|passwd|group|shadow|gshadow|subuid|subgid|(?:passwd|group|shadow|gshadow|subuid|subgid)-"
    r"|\.pwd\.lock|\.updated|ld\.so\.cache|machine-id|mtab|resolv\.conf|adjtime|hostid|mailcap"
    r"|aliases\.db|shells|ca-certificates\.conf|environment|networks|\.java(?:/.*)?|popularity-contest\.conf"
    r"|security/opasswd|ssh/ssh_host_.*|ssl/certs/.*|ssl/private/ssl-cert-snakeoil\.key"
    r"|alternatives/.*|rc[0-9S]\.d/.*|cups/subscriptions.*|lvm/(?:archive|backup)(?:/.*)?"
    r"|systemd/(?:system|user)/[^/]*\.(?:wants|requires|upholds)(?:/.*)?"
    r"|sgml/catalog.*|xml/.*|python3/debian_config|X11/default-display-manager"
    r"|initramfs-tools/conf\.d/resume|apparmor\.d/(?:local|cache.*)(?:/.*)?|pam\.d/common-.*"
    r"|.*\.(?:dpkg-(?:old|new|dist|bak)|ucf-(?:old|dist|new)|bak|orig|swp)|.*~"
    r")"
    # what tools install there are not files of anybody's hand
    r"|/usr/local/(?:lib/python[^/]*|lib/node_modules|share/(?:man|fonts|ca-certificates)|man)(?:/.*)?"
    r"|/usr/local/share/[^/]*|.*/__pycache__(?:/.*)?|.*/lost\+found"
)


def paths() -> Iterator[tuple[str, str]]:
    """The paths, sorted, each with a remark on it. Those below a directory that is too large, or a
    checkout, are not among them.
    """
    brought = pkg.shipped()
    if brought is None:
        yield "", "nothing says which of them packages brought: they are not listed"
        return
    changed = _changed(brought.paths)
    unowned = (
        (path, note)
        for root in ROOTS
        for path, note in _below(root, brought)
        if path not in changed
    )
    for number, (path, note) in enumerate(sorted([*changed.items(), *unowned])):
        if number >= MOST:
            yield "", f"there are more than {MOST} files: those from {path} on are not listed"
            return
        yield path, note


def _changed(known: Mapping[str, str]) -> dict[str, str]:
    """Configuration files that differ from what their package brought, or are gone."""
    changed = {}
    for path, digest in known.items():
        if digest and not _GENERATED.fullmatch(path) and _readable(path):
            if not os.path.lexists(path):
                changed[path] = "its package brought it, and somebody removed it"
            elif _digest(path) != digest:
                changed[path] = ""
    return changed


def _readable(path: str) -> bool:
    """Return whether it can be told what is at a path."""
    if os.path.lexists(path):
        return os.access(path, os.R_OK)
    return os.access(os.path.dirname(path), os.X_OK) or not os.path.lexists(os.path.dirname(path))


def _digest(path: str) -> str:
    try:
        return f"md5:{hashlib.md5(file.read_bytes(path), usedforsecurity=False).hexdigest()}"
    except (OSError, StateFailed):
        return ""


def _below(root: str, brought: pkg.Shipped) -> Iterator[tuple[str, str]]:
    """Yield what lies below a directory that no package brought."""
    waiting = [root]
    device = os.stat(root).st_dev
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield folder, f"it cannot be listed: {error.strerror}"
            continue
        for entry in entries:
            if _GENERATED.fullmatch(entry.path):
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.path in brought.paths:
                waiting += [entry.path] if is_folder else []
            elif not is_folder:
                if not _copied(entry, brought):
                    yield entry.path, ""
            else:
                if entry.stat().st_dev != device:
                    continue  # that something is mounted there says states of mounts
                note = _closed(entry)
                if note or entry.path not in EMPTY:
                    yield entry.path, note
                waiting += [] if note else [entry.path]


def _closed(folder: os.DirEntry[str]) -> str:
    """Why the files of a directory are not listed; nothing where they are."""
    try:
        if os.path.lexists(f"{folder.path}/.git"):
            return "a git checkout: its files are not listed"
        if all(os.path.lexists(f"{folder.path}/{name}") for name in ("HEAD", "objects", "refs")):
            return "a git repository: its files are not listed"
        count = 0
        for _, folders, files in os.walk(folder.path):
            count += len(folders) + len(files)
            if count > MOST_IN_ONE:
                return f"it has more than {MOST_IN_ONE} entries: its files are not listed"
        os.scandir(folder.path).close()
    except OSError as error:
        return f"it cannot be listed: {error.strerror}"
    return ""


def _copied(entry: os.DirEntry[str], brought: pkg.Shipped) -> bool:
    """Return whether a package put it there: a link to a file of its own, or a copy of one."""
    about = entry.stat(follow_symlinks=False)
    if stat.S_ISSOCK(about.st_mode) or not entry.path.startswith("/etc/"):
        return stat.S_ISSOCK(about.st_mode)  # which its server makes
    if stat.S_ISLNK(about.st_mode):
        return os.path.realpath(entry.path) in brought.paths
    small = stat.S_ISREG(about.st_mode) and about.st_size <= LARGEST_COPY
    return small and os.access(entry.path, os.R_OK) and _digest(entry.path) in brought.copies
