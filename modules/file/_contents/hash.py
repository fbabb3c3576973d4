# SPDX-License-Identifier: Apache-2.0
"""Hashes of files and the ways in which a source_hash may be written."""

from __future__ import annotations

import hashlib
import os
import re

from modules import _paths
from modules.file._look import lines_of, opened
from runner.api import StateFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BY_LENGTH = {32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}


def get_hash(path: str, form: str = "sha256", chunk_size: int = 65536) -> str:
    """The hash of a file in hexadecimal digits. Raises StateFailed for an unknown algorithm. form:
    the algorithm.
    """
    try:
        digest = hashlib.new(form)
    except ValueError:
        raise StateFailed(f"Invalid hash type: {form}") from None
    with opened(os.path.expanduser(path)) as file:
        while piece := file.read(chunk_size):
            digest.update(piece)
    return digest.hexdigest()


def get_sum(path: str, form: str = "sha256") -> str:
    """The hash of a file; a sentence if there is none."""
    path = os.path.expanduser(path)
    return get_hash(path, form, 4096) if _paths.isfile(path) else "File not found"


def hash_of(data: bytes, form: str = "sha256") -> str:
    """The hash of bytes in hexadecimal digits."""
    return hashlib.new(form, data).hexdigest()


def check_hash(path: str, file_hash: str) -> bool:
    """Return whether a file has a hash ("sha256=…", "sha256:…" or digits alone)."""
    algorithm, digest = split_hash(file_hash)
    return get_hash(path, algorithm) == digest


def split_hash(text: str) -> tuple[str, str]:
    """Algorithm and digits of one hash; StateFailed if it is none."""
    match = re.fullmatch(r"(?:(\w+)\s*[=:]\s*)?([0-9A-Fa-f]+)", text.strip())
    algorithm = (match[1] or BY_LENGTH.get(len(match[2]), "")).lower() if match else ""
    if match is None or BY_LENGTH.get(len(match[2])) != algorithm:
        raise StateFailed(
            f"source_hash {text!r} is not a hash: expected algorithm=digits (md5, sha1, sha224,"
            " sha256, sha384 or sha512 with as many hexadecimal digits as it has), or the address"
            " of a file with hashes"
        )
    return algorithm, match[2].lower()


def source_hash(path: str, names: list[str]) -> tuple[str, str]:
    """The hash of a file among the lines of a hash file. Raises StateFailed when no line has it.
    names: what it may be called, the best first.

    Understood are `digits  name`, `name digits`, `algorithm (name) = digits` and a lone hash.
    """
    wanted = {os.path.basename(name): number for number, name in enumerate(reversed(names), 2)}
    best: tuple[int, str, str] = (0, "", "")
    hashes = 0
    for algorithm, digest, name in _hashes(path):
        hashes += 1
        rank = wanted.get(os.path.basename(name), 0) if name else 1
        if rank > best[0] or hashes == 1:
            best = rank, algorithm, digest
    if best[0] or hashes == 1:
        return best[1:]
    raise StateFailed(f"no hash of {', '.join(names[:1])} in the hash file")


def _hashes(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield algorithm, digits and name of each hash in a file."""
    for line in lines_of(path):
        yield from filter(None, map(_line, line.decode("utf-8", "replace").splitlines()))


_LINE = r"(?<![0-9A-Fa-f])([0-9A-Fa-f]{32,128})(?![0-9A-Fa-f])"


def _line(line: str) -> tuple[str, str, str] | None:
    match = re.search(_LINE, line)
    if match is None or len(match[1]) not in BY_LENGTH:
        return None
    rest = (line[: match.start()] + " " + line[match.end() :]).strip()
    in_brackets = re.search(r"\((.+)\)", rest)
    name = in_brackets[1] if in_brackets else re.sub(r"^(?:md5|sha\d+)?\s*[:=]?\s*", "", rest)
    return (
        BY_LENGTH[len(match[1])],
        match[1].lower(),
        name.strip().lstrip("*").removeprefix("./").strip("'\""),
    )
