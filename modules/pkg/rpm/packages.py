# SPDX-License-Identifier: Apache-2.0
"""The looks and changes of rpm itself, for the package managers that build on it: dnf, yum,
zypper.
"""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Sequence
from typing import Any

from modules import cmd
from modules.pkg.package_manager import Versions, date_of
from runner.api import CommandFailed, cached_look, changer, here

FOLDERS = ("/var/lib/rpm", "/usr/lib/sysimage/rpm", "/usr/share/rpm")
FILES = tuple(  # where what is installed is written down, by the kinds of database that rpm has had
    f"{folder}/{name}"
    for folder in FOLDERS
    for name in ("rpmdb.sqlite", "rpmdb.sqlite-wal", "Packages.db", "Packages")
)
DATABASE = f"{FOLDERS[0]}/rpmdb.sqlite"
KEY = "gpg-pubkey"  # a key for signatures, which rpm keeps as if it were a package
EVERY_ARCHITECTURE = ("noarch", "(none)")
_NAMES_OF_32_BITS = ("i386", "i486", "i586", "i686", "athlon", "geode")
ARCHITECTURES = frozenset(
    (*_NAMES_OF_32_BITS, *EVERY_ARCHITECTURE, "x86_64", "aarch64", "armv7hl", "armv7hnl")
) | {"ppc64", "ppc64le", "s390", "s390x", "riscv64", "loongarch64", "sparc64", "src"}
_SEPARATOR, _END = "\x1f", "\x1e"

# ---------------------------------------------------------------- versions

_SEGMENT = re.compile(r"[0-9]+|[a-zA-Z]+|[~^]")
_Segment = tuple[int, int, str]
_VERSION_ENDS: _Segment = (1, 0, "")


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1: how one version compares with another by rpm's rules (rpm-version(7)).

    Where only one of them has a release, releases do not count: 1.2 is what 1.2-3 is.
    """
    old, new = parse_version(left), parse_version(right)
    pairs = [(_sort_key(one), _sort_key(two)) for one, two in zip(old, new, strict=True)]
    if not old[2] or not new[2]:
        del pairs[2]
    return next((-1 if one < two else 1 for one, two in pairs if one != two), 0)


def parse_version(text: str) -> tuple[str, str, str]:
    """Return epoch ("0" when there is none), version and release ("" when there is none)."""
    epoch, colon, rest = text.partition(":")
    if not colon or not epoch.isdecimal():
        epoch, rest = "0", text
    version, _, release = rest.rpartition("-") if "-" in rest else (rest, "", "")
    return epoch, version, release


def _sort_key(text: str) -> list[_Segment]:
    """Return what one of epoch, version, release is sorted by: its segments, from the oldest kind
    to the newest: a tilde, the end, a caret, letters, a number. What separates them does not count.
    """
    return [*map(_segment_key, _SEGMENT.findall(text)), _VERSION_ENDS]


def _segment_key(segment: str) -> _Segment:
    if segment.isdecimal():
        return (4, int(segment), "")
    return (0, 0, "") if segment == "~" else (2, 0, "") if segment == "^" else (3, 0, segment)


def joined_version(epoch: str, version: str, release: str) -> str:
    """Return a version as Salt writes it: the epoch only when it is not 0."""
    numbered = version if epoch in ("", "0", "(none)") else f"{epoch}:{version}"
    return f"{numbered}-{release}" if release else numbered


# ---------------------------------------------------------------- names


@cached_look("architecture")
def architecture() -> str:
    """Return what this machine's own packages are built for."""
    return cmd.probe(["rpm", "--eval", "%{_host_cpu}"]).stdout.strip()


def name_with_architecture(name: str, built_for: str) -> str:
    """Return a package's name; with its architecture when that is a foreign one, as Salt does."""
    own = architecture()
    native = built_for in (own, *EVERY_ARCHITECTURE)
    if native or {built_for, own} <= {*_NAMES_OF_32_BITS}:
        return name
    return f"{name}.{built_for}"


def normal(name: str) -> str:
    """Return a package's name without the architecture, unless that is a foreign one."""
    bare, dot, built_for = name.rpartition(".")
    own = dot and built_for in (architecture(), *EVERY_ARCHITECTURE)
    return bare if own else name


def split_name(name: str) -> tuple[str, str]:
    """Return a package's name and the architecture that stands behind it, with its dot, or ""."""
    bare, dot, built_for = name.rpartition(".")
    return (bare, dot + built_for) if bare and built_for in ARCHITECTURES else (name, "")


# ---------------------------------------------------------------- what is installed


@cached_look("packages", *FILES)
def list_pkgs() -> Versions:
    """Return the installed packages with their versions; several of one, oldest first. Raises
    CommandFailed when rpm fails.
    """
    tags = ("NAME", "EPOCH", "VERSION", "RELEASE", "ARCH")
    done = cmd.probe(["rpm", "-qa", "--qf", _format(tags)]).or_fail("rpm -qa")
    versions: dict[str, list[str]] = {}
    for name, epoch, version, release, built_for in _records(done.stdout, len(tags)):
        if name != KEY:
            full_name = name_with_architecture(name, built_for)
            versions.setdefault(full_name, []).append(joined_version(epoch, version, release))
    return {name: ",".join(in_order(several)) for name, several in sorted(versions.items())}


def in_order(versions: Sequence[str]) -> list[str]:
    """Return versions, oldest first."""
    return sorted(versions, key=functools.cmp_to_key(compare))


def file_info(path: str) -> tuple[str, str]:
    """Return name and version of a package file. Raises CommandFailed for what is none."""
    tags = ("NAME", "EPOCH", "VERSION", "RELEASE", "ARCH")
    query = ["rpm", "-qp", "--nosignature", "--nodigest", "--qf", _format(tags)]
    done = cmd.probe([*query, "--", path])
    records = _records(done.stdout, len(tags))
    if done.retcode or not records:
        raise CommandFailed(f"{path} is not a package: {done.stderr.strip()}")
    name, epoch, version, release, built_for = records[0]
    return name_with_architecture(name, built_for), joined_version(epoch, version, release)


def owner(path: str) -> str:
    """Return the package that a file belongs to; empty when there is none."""
    tags = ("NAME", "ARCH")
    records = _records(cmd.probe(["rpm", "-qf", "--qf", _format(tags), "--", path]).stdout, 2)
    return name_with_architecture(*records[0]) if records else ""


def file_list(name: str) -> list[str]:
    """Return the files and folders of an installed package."""
    lines = cmd.probe(["rpm", "-ql", "--", name]).stdout.splitlines()
    return [line for line in lines if line.startswith("/")]


FILE_TYPES = {"config": "c", "doc": "d", "ghost": "g", "license": "l", "readme": "r"}
_VERIFIED = re.compile(r"(?:missing|[.?0-9A-Z]{8,9}) +(?:(?P<type>[acdglmr]) )?/")


def verify(names: tuple[str, ...], ignore_types: Sequence[str]) -> list[str]:
    """Return those packages of which installed files were altered.

    ignore_types: files that do not count: config, doc, ghost, license, readme (or c, d, g, l, r).
    """
    ignored = {FILE_TYPES.get(kind, kind) for kind in ignore_types}
    altered = []
    for name in names:
        lines = cmd.probe(["rpm", "-V", "--nodeps", "--noscripts", "--", name]).stdout
        matches = filter(None, map(_VERIFIED.match, lines.splitlines()))
        if any(match["type"] not in ignored for match in matches):
            altered.append(name)
    return altered


DETAILS = {  # Salt's key -> rpm's tag
    "name": "NAME",
    "epoch": "EPOCH",
    "version": "VERSION",
    "release": "RELEASE",
    "arch": "ARCH",
    "install_date_time_t": "INSTALLTIME",
    "build_date_time_t": "BUILDTIME",
    "build_host": "BUILDHOST",
    "group": "GROUP",
    "source": "SOURCERPM",
    "size": "LONGSIZE",
    "license": "LICENSE",
    "packager": "PACKAGER",
    "vendor": "VENDOR",
    "url": "URL",
    "summary": "SUMMARY",
    "description": "DESCRIPTION",
    "signature": "SIGPGP:pgpsig",
}


def info_installed(names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return details of installed packages, with Salt's keys; all packages without names.

    Of a package that is there in several versions it is the newest one.
    """
    query = ["rpm", "-q", "--qf", _format(tuple(DETAILS.values()))]
    done = cmd.probe([*query, "--", *names] if names else [*query, "-a"])
    described: dict[str, dict[str, Any]] = {}
    for values in _records(done.stdout, len(DETAILS)):
        details = _described(dict(zip(DETAILS, values, strict=True)))
        if details["name"] == KEY:
            continue
        name = name_with_architecture(details["name"], details["arch"])
        shown = described.get(name)
        if shown is None or compare(shown["edition"], details["edition"]) < 0:
            described[name] = details
    return described


def _described(values: dict[str, str]) -> dict[str, Any]:
    details: dict[str, Any] = {
        key: value for key, value in values.items() if value not in ("", "(none)")
    }
    for key in ("install_date", "build_date"):
        if seconds := details.get(f"{key}_time_t"):
            details[f"{key}_time_t"] = int(seconds)
            details[key] = date_of(int(seconds))
    parts = (details.get(key, "") for key in ("epoch", "version", "release"))
    details["edition"] = joined_version(*parts)
    return details


# ---------------------------------------------------------------- keys


def key_ids() -> list[str]:
    """Return the keys that signatures are trusted by: the last eight digits of each ID."""
    done = cmd.probe(["rpm", "-q", KEY, "--qf", _format(("VERSION",))])
    return [key_id.lower() for (key_id,) in _records(done.stdout, 1)]


@changer(touches=["packages", "candidates"])
def import_key(key: bytes) -> None:
    """Trust what is signed with a key: rpm --import. Raises CommandFailed for what is no key."""
    path = f"{here.scratch()}/key.asc"
    with open(path, "wb") as file:
        file.write(key if key.lstrip().startswith(b"-----BEGIN PGP") else armoured(key))
    cmd.execute(["rpm", "--import", path]).or_fail("rpm --import")


def armoured(key: bytes) -> bytes:
    """Return a binary key as text (ASCII armour), with the checksum that rpm insists on."""
    checksum = 0xB704CE
    for byte in key:
        checksum ^= byte << 16
        for _ in range(8):
            checksum <<= 1
            checksum ^= 0x1864CFB if checksum & 0x1000000 else 0
    body = base64.encodebytes(key)
    end = base64.b64encode(checksum.to_bytes(3, "big"))
    title = b"PGP PUBLIC KEY BLOCK-----\n"
    return b"-----BEGIN " + title + b"\n" + body + b"=" + end + b"\n-----END " + title


# ---------------------------------------------------------------- what rpm prints


def _format(tags: Sequence[str]) -> str:
    return _SEPARATOR.join(f"%{{{tag}}}" for tag in tags) + _END


def _records(output: str, width: int) -> list[list[str]]:
    """Return the records of a query; what else rpm says in between is passed over."""
    parts = [part.lstrip("\n").split(_SEPARATOR) for part in output.split(_END)]
    records = [fields for fields in parts if len(fields) == width and fields[0]]
    for fields in records:  # in front of the first field there may be complaints
        fields[0] = fields[0].rpartition("\n")[2]
    return records
