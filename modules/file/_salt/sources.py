# SPDX-License-Identifier: Apache-2.0
"""The sources of files, their hashes and templates, under Salt's names, for a tree's own states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from modules.file import _look
from modules.file._contents.download import download
from modules.file._contents.hash import source_hash as hash_in
from modules.file._contents.hash import split_hash
from modules.file._salt.arguments import path_given
from runner.api import StateFailed, here

REMOTE = ("http://", "https://", "ftp://")


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
    return _look.fetched(url, saltenv) is not None


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
    names = [source_hash_name] if source_hash_name else [source, file_name]
    try:
        algorithm, digits = hash_in(path_given(hash_fn), [name for name in names if name])
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
    """Return what a source_hash means: {hsum, hash_type}. Raises StateFailed where it is no hash.

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
        path = _look.fetched(text, saltenv) or ""
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
