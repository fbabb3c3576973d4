# SPDX-License-Identifier: Apache-2.0
"""file.cached and file.not_cached: copies of remote files below the cache folder."""

from __future__ import annotations

from modules import file
from runner.api import Done, Plan, Planned, StateFailed, here
from states.file import _sources as sources
from states.file._signed import HashSignature, Signed


def cached(
    name: str,
    source_hash: str | None = None,
    source_hash_name: str | None = None,
    skip_verify: bool = False,
    saltenv: str | None = None,
    use_etag: bool = False,
    signed: HashSignature = Signed(),
) -> Planned:
    """Make sure that a remote file is in the cache, where later states find it without the network.

    name: http(s)://, ftp://; a salt:// file or a path only has to be there.
    source_hash: as of file.managed.
    source_hash_name, skip_verify: As of file.managed.
    saltenv: The environment that a salt:// file comes from.
    use_etag: Take a file without a source_hash.

        https://example.com/app-1.2.tar.gz:
          file.cached:
            - source_hash: sha256=8d4b9d6dd4e1ab0b…

    Behaviour: Salt 3008's file.cached; salt:// files are used where they lie, so that they are
    never copied.
    """
    env = saltenv or here.saltenv
    verify = sources.Verify(source_hash, source_hash_name, skip_verify, use_etag, signed=signed)
    if not name.startswith(sources.REMOTE):
        return _local(name, verify, env)
    if not (source_hash or skip_verify or use_etag):
        raise StateFailed(
            f"Unable to verify upstream hash of source file {name},"
            " please set source_hash or set skip_verify or use_etag to True"
        )
    place = file.cached_path(name, env)
    algorithm, digits = sources.expected(name, name, verify) if source_hash else ("sha256", "")
    old = file.get_hash(place, algorithm) if file.is_file(place) else None
    if digits and old == digits:
        return f"File is already cached to {place} with hash {digits}"
    path, problem = file.download(name, keep=False)
    if problem:
        raise StateFailed(problem)
    new = file.get_hash(path, algorithm)
    if digits and new != digits and not skip_verify:
        raise StateFailed(
            f"File is cached to {place}, but the hash ({new}) does not match the specified hash"
            f" ({digits})",
            changes={},
        )
    if new == old:
        return f"File is cached to {place}"
    yield Plan(
        {"hash": {"old": old, "new": new}},
        f"File will be cached: {name}",
        provides=[("file", place)],
    )
    file.keep_download(path, place)
    return Done(f"File is cached to {place}")


def _local(name: str, verify: sources.Verify, saltenv: str) -> str:
    """A file of the tree or of the machine: is it there, and is it the one that is meant?"""
    of_tree = name.startswith("salt://")
    if not of_tree and not name.startswith(("/", "file://")):
        raise StateFailed("Only URLs or local file paths are valid input")
    path = file.fetched(name, saltenv)
    if path is None and of_tree:
        raise StateFailed(
            f"Failed to cache {name}: it is not in the file roots of saltenv '{saltenv}'"
        )
    if path is None:
        raise StateFailed(
            f"File {name} is not present on the minion",
            missing=("file", name.removeprefix("file://")),
        )
    comment = f"File is cached to {path}" if of_tree else f"File {path} is present on the minion"
    if not verify.hash:
        return comment
    algorithm, digits = sources.expected(name, name, verify)
    actual = file.get_hash(path, algorithm)
    if actual != digits:
        raise StateFailed(
            f"{comment}, but the hash ({actual}) does not match the specified hash ({digits})"
        )
    return f"{comment} and has hash {digits}"


def not_cached(name: str, saltenv: str | None = None) -> Planned:
    """Make sure that there is no copy of a remote file in the cache.

    name: The address of the file.
    saltenv: The environment for which it was fetched.

        https://example.com/app-1.2.tar.gz:
          file.not_cached: []
    """
    if name.startswith(("/", "file://")):
        return f"File {name} is a local path, no action taken"
    if "://" not in name:
        raise StateFailed("Only URLs or local file paths are valid input")
    place = file.cached_path(name, saltenv)
    if name.startswith("salt://") or not file.is_file(place):
        return f"{name} is not cached"
    yield Plan({"deleted": True}, f"{place} is set to be deleted")
    file.remove(place)
    return f"{place} was deleted"
