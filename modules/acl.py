"""Access control lists of files (POSIX), with getfacl and setfacl."""

from __future__ import annotations

from collections.abc import Sequence

from modules import cmd
from modules._processes import needs
from runner.api import CommandFailed, Record, StateFailed, changer

TYPES = {"u": "user", "g": "group", "m": "mask", "o": "other"}


class Entry(Record):
    """One line of a list. kind: user, group, mask or other, behind `default:` for what new files get."""

    kind: str
    name: str
    perms: str


def entries(path: str, recursive: bool = False) -> dict[str, list[Entry]]:
    """The lists of a path, or of all that lies below it, too."""
    needs("getfacl", "acl")
    done = cmd.probe(["getfacl", "--absolute-names", *(["--recursive", "--physical"] if recursive else []), "--", path])
    if done.retcode:
        raise StateFailed(done.stderr.strip() or done.stdout.strip())
    found: dict[str, list[Entry]] = {}
    here = path
    for line in done.stdout.splitlines():
        if line.startswith("# file: "):
            here = _unescaped(line.removeprefix("# file: "))
            found[here] = []
        elif line and not line.startswith("#"):
            kind, name, perms = line.partition("\t")[0].rsplit(":", 2)
            found[here].append(Entry(kind, name, perms.strip()))
    return found


def _unescaped(text: str) -> str:
    """getfacl writes what is no plain character as a backslash and three octal digits."""
    return text.encode().decode("unicode_escape").encode("latin-1", "surrogateescape").decode(errors="surrogateescape")


def getfacl(*args: str, recursive: bool = False) -> dict[str, dict[str, list[dict[str, str]]]]:
    """The lists of some paths: by path and kind the names with what they may.

    {{ salt['acl.getfacl']('/srv/www') | json }}
    """
    told: dict[str, dict[str, list[dict[str, str]]]] = {}
    for path in args:
        for where, found in entries(path, recursive).items():
            kinds = told.setdefault(where, {})
            for each in found:
                kinds.setdefault(each.kind, []).append({each.name: each.perms})
    return told


@changer
def modfacl(acl_type: str, acl_name: str, perms: str, *args: str, recursive: bool = False) -> bool:
    """Give a user or a group rights on paths."""
    return _set(["-m", f"{acl_type}:{acl_name}:{perms}"], args, recursive)


@changer
def delfacl(acl_type: str, acl_name: str, *args: str, recursive: bool = False) -> bool:
    """Take the rights of a user or a group on paths away."""
    return _set(["-x", f"{acl_type}:{acl_name}"], args, recursive)


@changer
def wipefacls(*args: str, recursive: bool = False) -> bool:
    """Take all rights away that go beyond those of owner, group and others."""
    return _set(["-b"], args, recursive)


def _set(how: Sequence[str], paths: Sequence[str], recursive: bool) -> bool:
    needs("setfacl", "acl")
    done = cmd.execute(["setfacl", *(["-R", "-P"] if recursive else []), *how, "--", *paths])
    if done.retcode:
        raise CommandFailed(done.stderr.strip() or done.stdout.strip())
    return True
