"""Attributes, devices, patches and parts of files, and what a tree's own states call, under Salt's
names.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from modules.file import _change, _look, _write
from modules.file._download import download
from modules.file._hash import source_hash as hash_in
from modules.file._hash import split_hash
from modules.file._salt_changes import path_given, salt_mknod
from modules.file._salt_looks import get_group, get_mode, get_user
from runner.api import StateFailed, here

REMOTE = ("http://", "https://", "ftp://")


def lsattr(path: str) -> dict[str, list[str]]:
    """The attributes that lsattr shows for a file, or for all in a folder, by path.

    {{ salt['file.lsattr']('/etc/resolv.conf') }}
    """
    from modules import cmd
    from modules._processes import needs

    path = path_given(path)
    if not os.path.lexists(path):
        raise StateFailed(f"File or directory does not exist: {path}", missing=("file", path))
    needs("lsattr", "e2fsprogs")
    done = cmd.probe(["lsattr", "--", path])
    pairs = (line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    return {
        name.strip(): [letter for letter in letters if letter != "-"] for letters, name in pairs
    }


def chattr(*files: str, operator: str = "", attributes: str = "", flags: str | None = None) -> bool:
    """Add attributes to files, or remove them. Raises StateFailed for an unknown one.

    operator: add or remove. attributes: letters as of chattr (`i`). flags: R for all below folders.

        runner call file.chattr /etc/resolv.conf operator=add attributes=i
    """
    signs = {"add": "+", "remove": "-"}
    if operator not in signs:
        raise StateFailed("Need an operator: 'add' or 'remove' to modify attributes.")
    if not attributes or not files:
        raise StateFailed("chattr needs files and attributes")
    if flags not in (None, "", "R"):
        raise StateFailed(f"flags: expected R, not {flags!r}")
    for name in map(path_given, files):
        for path in _tree(name) if flags else [name]:
            _change.set_attributes(path, f"{signs[operator]}{attributes}")
    return True


def _tree(top: str) -> list[str]:
    """A path and the files and folders below it; links are left out."""
    below = [
        os.path.join(folder, name) for folder, names, more in os.walk(top) for name in names + more
    ]
    return [top, *(path for path in below if not os.path.islink(path))]


def patch(
    originalfile: str, patchfile: str, options: str = "", dry_run: bool = False
) -> dict[str, Any]:
    """Apply a patch to a file, or to the files of a folder: pid, retcode, stdout and stderr of the
    program.

    options: more options of it. dry_run: only try.

        runner call file.patch /opt/app/config.c /root/config.patch dry_run=true
    """
    from modules import cmd
    from modules._processes import needs

    needs("patch", "patch")
    target, words = path_given(originalfile), shlex.split(options)
    argv = ["patch", "--forward", "--reject-file=-", f"--input={path_given(patchfile)}", *words]
    if os.path.isdir(target):
        if not any(word.startswith(("-p", "--strip")) for word in words):
            argv.append("--strip=0")
        argv.append(f"--directory={target}")
    else:
        argv += ["--", target]
    done = cmd.probe([*argv[:1], "--dry-run", *argv[1:]]) if dry_run else cmd.execute(argv)
    return {
        "pid": done.pid,
        "retcode": done.retcode,
        "stdout": done.stdout,
        "stderr": done.stderr,
    }


def seek_read(path: str, size: int, offset: int) -> bytes:
    """Some bytes of a file from a place on."""
    return _look.read_whole(path_given(path))[int(offset) : int(offset) + int(size)]


def seek_write(path: str, data: str | bytes, offset: int) -> int:
    """Put bytes into a file at a place, over those that are there; how many. The file is written
    whole.
    """
    path, new = path_given(path), data.encode() if isinstance(data, str) else data
    at = int(offset)
    if at < 0:
        raise StateFailed(f"offset: expected a number from 0 on, not {at}")
    old = _look.read_bytes(path)
    _write.write(path, old[:at].ljust(at, b"\0") + new + old[at + len(new) :])
    return len(new)


def get_devmm(name: str) -> tuple[int, int]:
    """The numbers of a device, major and minor; zeros for what is none."""
    try:
        device = os.stat(path_given(name)).st_rdev
    except OSError:
        return (0, 0)
    return (os.major(device), os.minor(device))


def get_selinux_context(path: str) -> str:
    """The SELinux context of a path; a sentence where it has none."""
    try:
        return os.getxattr(path_given(path), "security.selinux").rstrip(b"\0").decode()
    except OSError:
        return f"No selinux context information is available for {path}"


def mknod_fifo(
    name: str, user: str | None = None, group: str | None = None, mode: Any = "0660"
) -> dict[str, Any]:
    """Create a named pipe; Salt's dictionary of what changed."""
    return _special(name, "p", 0, 0, user, group, mode, f"Fifo pipe {name} created.")


def mknod_chrdev(
    name: str,
    major: int,
    minor: int,
    user: str | None = None,
    group: str | None = None,
    mode: Any = "0660",
) -> dict[str, Any]:
    """Create a character device; Salt's dictionary of what changed."""
    created = f"Character device {name} created."
    return _special(name, "c", major, minor, user, group, mode, created)


def mknod_blkdev(
    name: str,
    major: int,
    minor: int,
    user: str | None = None,
    group: str | None = None,
    mode: Any = "0660",
) -> dict[str, Any]:
    """Create a block device; Salt's dictionary of what changed."""
    return _special(name, "b", major, minor, user, group, mode, f"Block device {name} created.")


def _special(name: str, kind: str, major: int, minor: int, *owner_and_text: Any) -> dict[str, Any]:
    *owner, created = owner_and_text
    salt_mknod(name, kind, major, minor, *owner)
    return {"name": name, "changes": {"new": created}, "comment": "", "result": True}


# ---------------------------------------------------------------- for a tree's own states


def check_perms(
    name: str,
    ret: Mapping[str, Any] | None,
    user: str | None,
    group: str | None,
    mode: Any,
    attrs: str | None = None,
    follow_symlinks: bool = False,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Have a path belong to a user and a group, with a mode: Salt's dictionary of what changed (in
    a dry run: would change), and how it was.

    ret: the dictionary of a state, to which it is added.
    """
    answer: dict[str, Any] = {"name": name, "changes": {}, "comment": "", "result": True}
    answer |= dict(ret or {})
    path = path_given(name)
    owners = (get_user(path, follow_symlinks), get_group(path, follow_symlinks))
    old_mode = get_mode(path, follow_symlinks)
    facts: dict[str, Any] = {"luser": owners[0], "lgroup": owners[1], "lmode": old_mode}
    wanted = {"user": user, "group": group, "mode": None if mode is None else _octal(mode)}
    present = {"user": owners[0], "group": owners[1], "mode": old_mode}
    new = {key: value for key, value in wanted.items() if value and str(value) != present[key]}
    facts |= {f"c{key}": value for key, value in new.items()}
    if attrs is not None:
        letters = _look.get_attributes(path) or ""
        if set(attrs) - set(letters):
            new["attrs"] = attrs
    answer["changes"] = {**answer["changes"], **new}
    if new and here.dry:
        answer["result"] = None
    elif new:
        _give(path, new, follow_symlinks)
    return answer, facts


def _octal(mode: Any) -> str:
    return str(mode).zfill(4)


def _give(path: str, new: Mapping[str, Any], follow: bool) -> None:
    if "user" in new or "group" in new:
        _change.chown(path, new.get("user"), new.get("group"), follow=follow)
    if "mode" in new and (follow or not os.path.islink(path)):
        _change.set_mode(path, new["mode"], follow)
    if "attrs" in new:
        _change.set_attributes(path, f"+{new['attrs']}")


def source_list(
    source: str | Sequence[str | Mapping[str, str]], source_hash: str, saltenv: str
) -> tuple[str, str]:
    """The first of several sources that is there, and its hash. Raises StateFailed when none is.

    source: one or several of salt://, /path, file://, http(s)://; or mappings of these to hashes.
    """
    if isinstance(source, str):
        return source, source_hash
    for entry in source:
        [(url, own_hash)] = entry.items() if isinstance(entry, Mapping) else [(entry, source_hash)]
        if _is_there(str(url), saltenv):
            return str(url), own_hash
    raise StateFailed("none of the specified sources were found")


def _is_there(url: str, saltenv: str) -> bool:
    if url.startswith(REMOTE):
        return not download(url)[1]
    return here.tree.fetch(url, saltenv or here.saltenv) is not None


def extract_hash(
    hash_fn: str,
    hash_type: str = "sha256",
    file_name: str = "",
    source: str = "",
    source_hash_name: str | None = None,
) -> dict[str, str] | None:
    """The hash of a file that a file of hashes names: {hsum, hash_type}; null when there is none.

    hash_fn: the file of hashes. file_name, source, source_hash_name: the names to look for.
    """
    text = _look.read_whole(path_given(hash_fn)).decode("utf-8", "replace")
    names = [source_hash_name] if source_hash_name else [source, file_name]
    try:
        algorithm, digits = hash_in(text, [os.path.basename(name) for name in names if name])
    except StateFailed:
        return None
    return {"hsum": digits, "hash_type": algorithm}


def get_source_sum(
    file_name: str = "",
    source: str = "",
    source_hash: str | None = None,
    source_hash_name: str | None = None,
    saltenv: str = "base",
    verify_ssl: bool = True,
) -> dict[str, str]:
    """What a source_hash means: {hsum, hash_type}. Raises StateFailed where it is no hash.

    source_hash: a hash (`sha256=...`), or the address of a file of hashes. file_name, source,
    source_hash_name: the names to look for in that one.
    """
    text = str(source_hash or "")
    if not text.startswith(("salt://", "/", "file://", *REMOTE)):
        algorithm, digits = split_hash(text)
        return {"hsum": digits, "hash_type": algorithm}
    if text.startswith(REMOTE):
        path, problem = download(text, verify_ssl=verify_ssl)
        if problem:
            raise StateFailed(f"Source hash file {text}: {problem}")
    else:
        path = here.tree.fetch(text, saltenv) or ""
    hashed = extract_hash(path, "", file_name, source, source_hash_name) if path else None
    if hashed is None:
        raise StateFailed(f"Source hash file {text} has no hash of {source or file_name}")
    return hashed


def apply_template_on_contents(
    contents: str,
    template: str,
    context: Mapping[str, Any] | None,
    defaults: Mapping[str, Any] | None,
    saltenv: str,
) -> str:
    """A text, rendered. template: jinja, mako or py. context, defaults: its variables; those of
    context come before.
    """
    variables = {**(defaults or {}), **(context or {})}
    return here.render(contents, template, variables, saltenv=saltenv or here.saltenv)
