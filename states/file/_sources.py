# SPDX-License-Identifier: Apache-2.0
"""The source of a managed file's contents: the first source that is there, verified, as a
local file.
"""

from __future__ import annotations

from modules import file
from runner.api import Annotated, Check, Record, StateFailed, here
from runner.api.durability import name_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol
else:
    Protocol = object


def _several(entry: str | Mapping[str, str | None]) -> str | None:
    return (
        None
        if isinstance(entry, str) or len(entry) == 1
        else f"expected one source and its hash, got {len(entry)}"
    )


Source = Annotated[
    str | dict[str, str | None], Check(_several, "each is an item of the list: `- SOURCE`")
]
REMOTE = ("http://", "https://", "ftp://")


class LocatedSource(Record):
    """url: as written. path: the local file; "" for one that need not be fetched, as the target has
    its hash.
    """

    url: str
    path: str
    remote: bool = False


class Signatures(Protocol):
    """The signatures that are required (`Signed`). check: raises StateFailed where one is wanted
    and not good; fetch: the local copy of an address.
    """

    @property
    def source(self) -> bool | Sequence[str] | None: ...
    @property
    def hash(self) -> bool | Sequence[str] | None: ...
    def check(
        self,
        what: str,
        path: str,
        signature: bool | Sequence[str] | None,
        fetch: Callable[[str], str],
    ) -> None: ...


class Verify(Record):
    """The verification of a remote or local source. hash: digits, algorithm=digits or the address
    of a hash file. signed: None where no signature is required.
    """

    hash: str | None = None
    hash_name: str | None = None
    skip: bool = False
    use_etag: bool = False
    verify_ssl: bool = True
    keep: bool = True
    signed: Signatures | None = None

    @property
    def wants_signature(self) -> bool:
        """Return whether the source has to be signed."""
        return self.signed is not None and bool(self.signed.source)


BARE = Verify(skip=True)
_SEVERAL = (
    ". If the 'source_hash' value refers to a remote file with multiple possible matches,"
    " then it may be necessary to set 'source_hash_name'."
)


def locate(sources: Sequence[Source], target: str, verify: Verify, reuse: bool) -> LocatedSource:
    """The first source that is there. Raises StateFailed when there is none. reuse: the target
    itself will do when it has the hash already.
    """
    if len(sources) == 1 and isinstance(sources[0], str):
        return _located(sources[0], target, verify, reuse)
    for source in sources:
        url, own = (source, verify) if isinstance(source, str) else _with_hash(source, verify)
        try:
            return _located(url, target, own, reuse)
        except _Absent:
            continue
    raise StateFailed("Unable to manage file: none of the specified sources were found")


class _Absent(StateFailed):
    """This source is not there."""


def _with_hash(source: Mapping[str, str | None], verify: Verify) -> tuple[str, Verify]:
    url, own = next(iter(source.items()))
    return url, verify._replace(hash=own or verify.hash)


def _located(url: str, target: str, verify: Verify, reuse: bool) -> LocatedSource:
    """The file of a source, and its signature verified where that is asked for."""
    source = _source_of(url, target, verify, reuse and not verify.wants_signature)
    if signed := verify.signed:
        signed.check(url, source.path, signed.source, _beside(target))
    return source


def _beside(target: str) -> Callable[[str], str]:
    """What fetches a signature."""
    return lambda address: _source_of(address, target, BARE, False).path


def _source_of(url: str, target: str, verify: Verify, reuse: bool) -> LocatedSource:
    if url.startswith("salt://"):
        path = file.fetched(url)
        if path is None:
            raise _Absent(
                f"Unable to manage file: Source file {url} not found in saltenv '{here.saltenv}'"
            )
        _refuse_mismatch(url, path, target, verify)
        return LocatedSource(url, path)
    if url.startswith(("/", "file://")):
        return _local(url, target, verify)
    if url.startswith(REMOTE):
        return _remote(url, target, verify, reuse)
    raise StateFailed(
        f"Unable to manage file: Local file source {url} does not exist;"
        " expected salt://, /path, file://, http://, https:// or ftp://"
    )


def _local(url: str, target: str, verify: Verify) -> LocatedSource:
    path = url.removeprefix("file://")
    name_files(path)
    if not file.is_file(path):
        if what := file.why_no_file(path):
            raise _Absent(f"Unable to manage file: Local file source {path} is {what}")
        raise _Absent(
            f"Unable to manage file: Local file source {path} does not exist",
            missing=("file", path),
        )
    if (verify.hash and not verify.skip) or verify.wants_signature:
        path = file.unchangeable(path)
    _refuse_mismatch(url, path, target, verify)
    return LocatedSource(url, path)


def _refuse_mismatch(url: str, path: str, target: str, verify: Verify) -> None:
    """Raise StateFailed for a file of this machine that has another hash than is asked for."""
    if verify.hash and not verify.skip:
        algorithm, digits = expected(url, target, verify)
        shown, more = (url, _SEVERAL) if file.is_file(target) else (target, "")
        mismatch(shown, algorithm, digits, file.get_hash(path, algorithm), more)


def _remote(url: str, target: str, verify: Verify, reuse: bool) -> LocatedSource:
    if not (verify.hash or verify.skip or verify.use_etag or verify.wants_signature):
        raise StateFailed(
            "Unable to manage file: Unable to verify upstream hash of source file"
            f" {file.redacted(url)}, please set source_hash or set skip_verify to True"
        )
    if not verify.hash:
        return LocatedSource(url, _download(url, verify), remote=True)
    algorithm, digits = expected(url, target, verify)
    if reuse and file.is_file(target) and file.get_hash(target, algorithm) == digits:
        return LocatedSource(url, "", remote=True)
    path = _download(url, verify, (algorithm, digits))
    if not verify.skip:
        mismatch(target, algorithm, digits, file.get_hash(path, algorithm))
    return LocatedSource(url, path, remote=True)


def _download(url: str, verify: Verify, known: tuple[str, str] | None = None) -> str:
    return _fetched(url, verify, known, f"Failed to cache {file.redacted(url)}: ")


def _fetched(
    url: str, verify: Verify, known: tuple[str, str] | None = None, title: str = ""
) -> str:
    path, problem = file.download(
        url, known=known, use_etag=verify.use_etag, verify_ssl=verify.verify_ssl, keep=verify.keep
    )
    if problem:
        raise _Absent(f"Unable to manage file: {title}{problem}")
    return path


def mismatch(target: str, algorithm: str, wanted: str, actual: str, more: str = "") -> None:
    """Fail where two hashes differ."""
    if wanted != actual:
        raise StateFailed(
            f"Specified {algorithm} checksum for {target} ({wanted}) does not match actual checksum"
            f" ({actual}){more}"
        )


def expected(url: str, target: str, verify: Verify) -> tuple[str, str]:
    """Algorithm and digits that a source must have. Raises StateFailed when the hash file cannot be
    read.
    """
    text = str(verify.hash)
    if not text.startswith(("salt://", "/", "file://", *REMOTE)):
        return file.split_hash(text)
    if text.startswith(REMOTE):
        path: str | None = _fetched(text, Verify(skip=True, verify_ssl=verify.verify_ssl))
    else:
        path = file.fetched(text)
    if path is None:
        raise StateFailed(f"Unable to manage file: Source hash file {text} not found")
    if signed := verify.signed:
        signed.check(text, path, signed.hash, _beside(target))
    names = (
        [verify.hash_name]
        if verify.hash_name
        else [url.rpartition("/")[2], target.rpartition("/")[2]]
    )
    return file.source_hash(path, names)
