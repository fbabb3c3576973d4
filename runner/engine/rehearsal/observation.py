# SPDX-License-Identifier: Apache-2.0
"""What really changed in a copy: files, packages, units and listening ports, read from outside of
what its states say.
"""

from __future__ import annotations

import difflib
import filecmp
import os
import re
import socket
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from runner.engine.rehearsal.file_systems import below
from runner.engine.rehearsal.sandbox import Sandbox
from runner.model.paths import lies_in
from runner.model.records import Record

# where services write all the time, what others tell better (packages), and what follows from it
RESTLESS = (
    "/var/log",
    "/var/cache",
    "/var/lib/systemd",
    "/var/lib/PackageKit",
    "/root/.cache",
    "/var/lib/dpkg",
    "/var/lib/apt",
    "/var/lib/rpm",
    "/usr/lib/sysimage/rpm",
    "/var/lib/dnf",
    "/var/lib/pacman",
    "/etc/ld.so.cache",
    *(f"/etc/{name}-" for name in ("passwd", "shadow", "group", "gshadow", "subuid", "subgid")),
)
OF_SERVICES = "systemd-private-"  # their own /tmp and /var/tmp
LARGEST_DIFF = 256 << 10  # bytes of a file
KINDS = "service,socket,timer,path,mount"


class FileChange(Record):
    """A path that is other than on the machine. change: added, changed or removed; details: what is
    other about it; diff: of texts; package: the package that brought it.
    """

    path: str
    change: str
    details: str = ""
    diff: str = ""
    package: str = ""


class ObservedChange(Record):
    """The old and the new value of something with a name; empty for none."""

    name: str
    old: str
    new: str


class Moment(Record):
    """What a copy was like at a moment.

    files: paths that were written since its start -> a token that changes with them.
    """

    files: Mapping[str, tuple[int, ...]]
    packages: Mapping[str, str]
    units: Mapping[str, str]
    ports: Mapping[str, str]
    failed: frozenset[str]


class Observed(Record):
    """What changed between two moments."""

    files: tuple[FileChange, ...] = ()
    packages: tuple[ObservedChange, ...] = ()
    units: tuple[ObservedChange, ...] = ()
    ports: tuple[ObservedChange, ...] = ()
    failed_units: tuple[str, ...] = ()


class PackageManager(Record):
    """How the packages of a copy are listed. database: a folder that tells that it is in use;
    versions: prints a name and a version on each line; files: prints the paths of packages.
    """

    database: str
    versions: tuple[str, ...]
    files: tuple[str, ...]


PACKAGE_MANAGERS = (
    PackageManager(
        "/var/lib/dpkg",
        ("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${binary:Package} ${Version}\n"),
        ("dpkg-query", "-L"),
    ),
    PackageManager(
        "/var/lib/rpm", ("rpm", "-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\n"), ("rpm", "-ql")
    ),
    PackageManager("/var/lib/pacman", ("pacman", "-Q"), ("pacman", "-Qlq")),
)


def moment(box: Sandbox, left_out: Sequence[str], root: str = "") -> Moment:
    """Return what the copy is like now. left_out: folders not to look into. root: the image that is
    looked at, where it is not the machine itself.
    """
    units, failed = _units(box)
    written = ((path.removeprefix(root), token) for path, token in _written(box, root))
    files = {path: token for path, token in written if path and not below(path, left_out)}
    ports = {} if root else _ports(box.pid)
    return Moment(files, _packages(box, root), units, ports, failed)


def observed(box: Sandbox, before: Moment, after: Moment, root: str = "") -> Observed:
    """Return what changed from one moment to another; files are compared with the machine's. root:
    as of `moment`.
    """
    packages = _changes(before.packages, after.packages)
    owners = _owners(box, [item.name for item in packages if item.new], root)
    paths = sorted(path for path in after.files if after.files[path] != before.files.get(path))
    compared = (_compared(path, root, box.path(root), owners.get(path, "")) for path in paths)
    return Observed(
        tuple(item for item in compared if item),
        tuple(packages),
        tuple(_changes(before.units, after.units)),
        tuple(_changes(before.ports, after.ports)),
        tuple(sorted(after.failed - before.failed)),
    )


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[ObservedChange]:
    return [
        ObservedChange(name, before.get(name, ""), after.get(name, ""))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


# ---------------------------------------------------------------- files


def _written(box: Sandbox, within: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Each path that was written in a folder of the copy, with a token."""
    root = f"/proc/{box.holder}/root"
    tops = [item.path for item in box.changes]
    for item in box.changes:
        covered = [path for path in tops if path != item.path and below(path, [item.path])]
        for folder, folders, names in os.walk(root + item.upper):
            where = _beneath(item.path, folder, root + item.upper)
            folders[:] = [
                name
                for name in folders
                if (path := os.path.join(where, name)) not in covered
                and not name.startswith(OF_SERVICES)
                and (lies_in(path, within) or lies_in(within, path))
            ]
            if not lies_in(where, within):
                continue
            for name in (*folders, *names):
                with suppress(FileNotFoundError):
                    status = os.lstat(f"{folder}/{name}")
                    path = os.path.join(where, name)
                    yield path, _token(status)
                    if name in folders and not os.path.isdir(path):
                        yield from _entries(path, box.path(path))
                    elif name in folders and _is_opaque(f"{folder}/{name}"):
                        yield from _entries(path, path)


def _beneath(path: str, folder: str, top: str) -> str:
    """The path of a folder below another one, when that one is at a path.

    >>> _beneath("/", "/a/b/c", "/a"), _beneath("/home", "/a", "/a")
    ('/b/c', '/home')
    """
    return (path.rstrip("/") + folder.removeprefix(top)) or "/"


def _is_opaque(folder: str) -> bool:
    """Return whether what the machine has in a folder was removed, and the folder made anew."""
    for name in ("trusted.overlay.opaque", "user.overlay.opaque"):
        with suppress(OSError):
            return os.getxattr(folder, name) == b"y"
    return False


def _entries(path: str, folder: str | Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield what is in a folder, here or there. Where a folder was renamed, its contents are not
    among what was written; nor are those of one that was removed and made anew.
    """
    for at, folders, names in os.walk(folder):
        where = _beneath(path, at, str(folder))
        for name in (*folders, *names):
            with suppress(FileNotFoundError):
                yield f"{where}/{name}", _token(os.lstat(f"{at}/{name}"))


def _token(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes with a file; a folder's times change with its entries."""
    token = (status.st_mode, status.st_uid, status.st_gid, status.st_rdev)
    if stat.S_ISDIR(status.st_mode):
        return token
    return (*token, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _compared(path: str, root: str, copy: Path, package: str) -> FileChange | None:
    """Return how a path of the copy differs from the machine's; None where it does not. root, copy:
    the folders that it lies in.
    """
    here, inside = f"{root}{path}", f"{copy}{path}"
    old, new = _status(here), _status(inside)
    if new is None:
        return None if old is None else FileChange(path, "removed")
    details = _kind(new)
    if old is None:
        diff = "" if package else _diff("", _shown(inside, new, str(copy)))
        return FileChange(path, "added", f"{details}, {_rights(new)}", diff, package)
    differences = [
        f"{was} -> {now}"
        for was, now in ((_kind(old), details), (_rights(old), _rights(new)))
        if was != now and not (stat.S_ISLNK(old.st_mode) and stat.S_ISLNK(new.st_mode))
    ]
    old_text, new_text = _text(here, old), _text(inside, new)
    same = old_text == new_text if old_text is not None else _same_bytes(here, inside, old, new)
    if same and not differences:
        return None
    diff = "" if package else _diff(_shown(here, old, root), _shown(inside, new, str(copy)))
    if not same and not diff and stat.S_ISREG(new.st_mode):
        differences.append("other contents")
    return FileChange(path, "changed", ", ".join(differences), diff, package)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _kind(status: os.stat_result) -> str:
    names = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}
    return names.get(stat.S_IFMT(status.st_mode), "special file")


def _rights(status: os.stat_result) -> str:
    return f"{stat.S_IMODE(status.st_mode):04o} {status.st_uid}:{status.st_gid}"


def _text(path: str, status: os.stat_result) -> str | None:
    """The text of a file, or where a link leads; None for what has no text to compare."""
    try:
        if stat.S_ISLNK(status.st_mode):
            return os.readlink(path)
        if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_DIFF:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            with open(os.open(path, flags), "rb") as file:
                text = file.read(LARGEST_DIFF).decode("utf-8")
            return None if "\0" in text else text
    except (OSError, UnicodeDecodeError):
        pass
    return None


def _shown(path: str, status: os.stat_result, root: str) -> str | None:
    """The text of what everybody may read on the machine below a folder: only that is printed."""
    readable = stat.S_ISLNK(status.st_mode) or status.st_mode & stat.S_IROTH
    return _text(path, status) if readable and _is_open(os.path.dirname(path), root) else None


@lru_cache(maxsize=1000)
def _is_open(folder: str, root: str) -> bool:
    """Return whether everybody may reach what is in a folder of the machine below another one."""
    if folder == (root or "/"):
        return True
    status = _status(folder)
    is_open = bool(status and status.st_mode & stat.S_IXOTH)
    return is_open and _is_open(os.path.dirname(folder), root)


def _same_bytes(path: str, inside: str, old: os.stat_result, new: os.stat_result) -> bool:
    if not (stat.S_ISREG(old.st_mode) and stat.S_ISREG(new.st_mode)):
        return stat.S_IFMT(old.st_mode) == stat.S_IFMT(new.st_mode)
    if old.st_size != new.st_size:
        return False
    try:
        return filecmp.cmp(path, inside, shallow=False)
    except OSError:
        return False


def _diff(old: str | None, new: str | None) -> str:
    """The difference of two texts; empty where one is none."""
    if old is None or new is None or old == new:
        return ""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=2, lineterm="")
    return "\n".join([*lines][2:])


# ---------------------------------------------------------------- packages, units, ports


def _packages(box: Sandbox, root: str) -> dict[str, str]:
    """The installed packages and their versions."""
    versions: dict[str, str] = {}
    for manager in _managers(box, root):
        done = box.run([*_in(root), *manager.versions])
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) == 3 and not words[0].startswith(("ii", "hi")):
                continue  # removed, or half installed
            versions.update({words[-2]: words[-1]} if len(words) > 1 else {})
    return versions


def _managers(box: Sandbox, root: str) -> list[PackageManager]:
    return [item for item in PACKAGE_MANAGERS if box.path(f"{root}{item.database}").is_dir()]


def _in(root: str) -> tuple[str, ...]:
    """The words before a command that runs in an image."""
    return ("chroot", root) if root else ()


def _owners(box: Sandbox, packages: Sequence[str], root: str) -> dict[str, str]:
    """The package of each path that some packages brought."""
    owners: dict[str, str] = {}
    for manager in _managers(box, root):
        for package in packages:
            done = box.run([*_in(root), *manager.files, package])
            for line in done.stdout.splitlines():
                folder, name = os.path.split(line.rstrip("/"))
                real = os.path.realpath(f"{root}{folder}").removeprefix(root)  # /bin is /usr/bin
                owners[f"{real}/{name}"] = package
    return owners


def _units(box: Sandbox) -> tuple[dict[str, str], frozenset[str]]:
    """The state of each unit, and the units that failed."""
    if not box.has_systemd:
        return {}, frozenset()
    common = ["--no-legend", "--plain", "--no-pager", f"--type={KINDS}"]
    states: dict[str, str] = {}
    failed = set()
    for line in box.run(["systemctl", "list-units", "--all", *common]).stdout.splitlines():
        words = line.split()
        if len(words) > 3 and words[1] != "not-found":
            if words[2] != "inactive":
                states[words[0]] = f"{words[2]} ({words[3]})"
            failed |= {words[0]} if words[2] == "failed" else set()
    for line in box.run(["systemctl", "list-unit-files", *common]).stdout.splitlines():
        words = line.split()
        if len(words) > 1 and words[1] in ("enabled", "disabled", "masked"):
            states[words[0]] = f"{states.get(words[0], 'inactive')}, {words[1]}"
    return states, frozenset(failed)


def _ports(pid: int) -> dict[str, str]:
    """The ports that are listened on -> the programs that do, "?" where nobody knows them. What a
    copy that shares the network of the machine knows no program of is the machine's.
    """
    sockets: dict[str, str] = {}
    for table, listening in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == listening:
                    address, _, port = words[1].rpartition(":")
                    sockets[words[9]] = f"{table[:3]} {_address(address)}:{int(port, 16)}"
    is_shared = os.path.samefile(f"/proc/{pid}/ns/net", "/proc/self/ns/net")
    found = {} if is_shared else dict.fromkeys(sockets.values(), "?")
    for inode, program in _listeners(pid, sockets.keys()):
        found[sockets[inode]] = program
    return found


def _address(words: str) -> str:
    """An address of /proc/net/tcp.

    >>> _address("0100007F"), _address("0" * 32)
    ('127.0.0.1', '[::]')
    """
    data = b"".join(bytes.fromhex(words[i : i + 8])[::-1] for i in range(0, len(words), 8))
    if len(data) == 4:
        return socket.inet_ntop(socket.AF_INET, data)
    return f"[{socket.inet_ntop(socket.AF_INET6, data)}]"


def _listeners(pid: int, sockets: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The programs that hold some sockets, among those of a PID namespace."""
    wanted = set(sockets)
    if not wanted:
        return
    with suppress(OSError):
        space = os.readlink(f"/proc/{pid}/ns/pid")
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            with suppress(OSError):
                if os.readlink(f"{entry.path}/ns/pid") != space:
                    continue
                program = Path(f"{entry.path}/comm").read_text().strip()
                for handle in os.scandir(f"{entry.path}/fd"):
                    found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(handle.path))
                    if found and found[1] in wanted:
                        yield found[1], program
