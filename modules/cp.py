# SPDX-License-Identifier: Apache-2.0
"""The file roots, for templates; and copies of their files."""

from __future__ import annotations

import os
from typing import Any

from modules import _paths, file
from runner.api import StateFailed, changer, here

# ---------------------------------------------------------------- looking


def list_states(saltenv: str = "base") -> list[str]:
    """The names of all SLS files."""
    names = (
        path.removesuffix(".sls") for path in here.tree.files("", saltenv) if path.endswith(".sls")
    )
    return sorted(name.removesuffix("/init").replace("/", ".") for name in names)


def list_master(saltenv: str = "base", prefix: str = "") -> list[str]:
    """The paths of all files that begin with a prefix."""
    return _with_prefix(here.tree.files("", saltenv), prefix)


def list_master_dirs(saltenv: str = "base", prefix: str = "") -> list[str]:
    """The paths of all folders that begin with a prefix."""
    return _with_prefix(here.tree.folders("", saltenv), prefix)


def _with_prefix(paths: list[str], prefix: str) -> list[str]:
    prefix = prefix.strip("/")
    return [path for path in paths if path.startswith(prefix)]


def envs() -> list[str]:
    """The environments that the configuration knows."""
    return list(here.tree.roots)


def _local(path: str, saltenv: str | None, verify_ssl: bool = True, use_etag: bool = False) -> str:
    """The file on disk of `salt://...`, `file://...`, `/...` or a remote address; "" when it is not
    there.
    """
    scheme = path.partition("://")[0] if "://" in path else ""
    if scheme in ("http", "https", "ftp"):
        downloaded, problem = file.download(path, verify_ssl=verify_ssl, use_etag=use_etag)
        if problem:
            raise StateFailed(problem)
        return downloaded
    if not scheme and not path.startswith("/"):
        raise StateFailed(f"Path '{path}' is not absolute")
    return file.fetched(path, saltenv) or ""


def get_file_str(path: str, saltenv: str | None = None) -> str | bool:
    """The text of a file of the tree; False when it is not there.

    {{ salt['cp.get_file_str']('salt://ssl/cert.pem') }}
    """
    local = _local(path, saltenv)
    return _text(local) if local else False


def _text(path: str) -> str:
    return file.read_bytes(path).decode("utf-8", "surrogateescape")


def cache_file(
    path: str,
    saltenv: str | None = None,
    source_hash: str | None = None,
    verify_ssl: bool = True,
    use_etag: bool = False,
) -> str | bool:
    """The local path of a file of the tree or of a remote one; False when it is not there. Raises
    StateFailed when it does not have the hash.

    source_hash: what a remote file has to have (`sha256=...`). verify_ssl, use_etag: how a remote
    one is fetched.
    """
    local = _local(path, saltenv, verify_ssl, use_etag)
    if local and source_hash and not file.check_hash(local, source_hash):
        raise StateFailed(f"{path} does not have the hash {source_hash}")
    return local or False


def cache_files(paths: list[str] | str, saltenv: str | None = None) -> list[str | bool]:
    """The local paths of some files (a list, or with commas); False for each that is not there."""
    return [
        cache_file(path, saltenv)
        for path in (paths.split(",") if isinstance(paths, str) else paths)
    ]


def cache_dir(path: str, saltenv: str | None = None, include_empty: bool = False) -> list[str]:
    """The local paths of the files below a folder of the tree."""
    environment = saltenv or here.saltenv
    paths = here.tree.files(path.removeprefix("salt://").strip("/"), environment)
    return [local for relative in paths if (local := here.tree.find(relative, environment))]


def is_cached(path: str, saltenv: str | None = None) -> str:
    """The local path of a file of the tree, or of the kept copy of a remote one; "" when it is not
    there.
    """
    if path.startswith(("http://", "https://", "ftp://")):
        cached = file.cached_path(path, saltenv)
        return cached if file.is_file(cached) else ""
    return _local(path, saltenv)


def hash_file(path: str, saltenv: str | None = None) -> dict[str, str] | str:
    """The hash of a file of the tree, as {hsum, hash_type}; "" when it is not there."""
    local = _local(path, saltenv)
    kind = str(here.opts.get("hash_type") or "sha256")
    return {"hsum": file.get_hash(local, kind), "hash_type": kind} if local else ""


def stat_file(path: str, saltenv: str | None = None, octal: bool = True) -> str | int | None:
    """The mode of a file of the tree, such as "0644"; the number with `octal=False`; None when it
    is not there.
    """
    local = _local(path, saltenv)
    if not local:
        return None
    mode = _paths.stat(local).st_mode
    return f"{mode & 0o7777:04o}" if octal else mode


# ---------------------------------------------------------------- copying


def _write(path: str, data: file.Contents, makedirs: bool) -> str:
    folder = os.path.dirname(path)
    if folder and not _paths.isdir(folder):
        if not makedirs:
            raise StateFailed(f"the folder {folder} does not exist; makedirs=True makes it")
        file.makedirs(folder)
    file.write(path, data)
    return path


@changer(touches=())
def get_file(
    path: str,
    dest: str,
    saltenv: str | None = None,
    makedirs: bool = False,
    template: str | None = None,
) -> str:
    """Copy a file of the tree; where it went, "" when there is none.

    dest: a path, or a folder. makedirs: make the folder. template: render it (jinja, mako).
    """
    if template:
        return get_template(path, dest, template, saltenv, makedirs)
    local = _local(path, saltenv)
    return _write(_target(path, dest), file.streamed(local), makedirs) if local else ""


def _target(path: str, dest: str) -> str:
    name = path.partition("?")[0].rpartition("/")[2]
    return os.path.join(dest, name) if dest.endswith("/") or _paths.isdir(dest) else dest


@changer(touches=())
def get_template(
    path: str,
    dest: str,
    template: str = "jinja",
    saltenv: str | None = None,
    makedirs: bool = False,
    context: dict[str, Any] | None = None,
    **variables: Any,
) -> str:
    """Render a file of the tree to a path; where it went, "" when there is none. context: variables
    for it.

    Any other argument is a variable, too.
    """
    local = _local(path, saltenv)
    if not local:
        return ""
    text = here.render(
        _text(local),
        template,
        {**variables, **(context or {})},
        file=local,
        saltenv=saltenv or here.saltenv,
    )
    return _write(_target(path, dest), text.encode("utf-8", "surrogateescape"), makedirs)


@changer(touches=())
def get_dir(
    path: str, dest: str, saltenv: str | None = None, template: str | None = None
) -> list[str]:
    """Copy a folder of the tree into another; the paths of the copies."""
    environment = saltenv or here.saltenv
    folder = path.removeprefix("salt://").strip("/")
    above = os.path.dirname(folder)
    paths = here.tree.files(folder, environment)
    copies = [
        (relative, os.path.join(dest, os.path.relpath(relative, above or ".")))
        for relative in paths
    ]
    return [
        get_file(f"salt://{relative}", copy, environment, True, template)
        for relative, copy in copies
    ]


def get_url(
    path: str, dest: str | None = "", saltenv: str | None = None, makedirs: bool = False
) -> str | bool:
    """A file of the tree or a remote one: its local path, or, with dest=None, its text; False when
    it is not there.

    dest: copy it there (only where changes may be made). makedirs: make the folder.

        {{ salt['cp.get_url']('salt://keys/deploy.pub', none) }}
    """
    local = _local(path, saltenv)
    if not local:
        return False
    if dest is None:
        return _text(local)
    return _copy(local, _target(path, dest), makedirs) if dest else local


@changer(touches=())
def _copy(source: str, dest: str, makedirs: bool) -> str:
    return _write(dest, file.streamed(source), makedirs)
