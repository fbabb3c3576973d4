# SPDX-License-Identifier: Apache-2.0
"""The key `tree` of a configuration: where this machine gets its tree from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runner.model.diagnostics import did_you_mean
from runner.model.records import Record
from runner.sources import git

if TYPE_CHECKING:
    from runner.sources.git import Remote, Signers

KEYS = ("remote", "ref", "verify", "rollback", "sparse", "deploy_key", "fetch_timeout", "keep")
KINDS = ("ssh", "gpg")  # of signatures
ROLLBACK = ("refuse", "allow")
EXAMPLE = "write\n    tree:\n      remote: https://git.example.org/ops/site.git\n      ref: main"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_OPEN = re.compile(r"(http|git)://", re.I)  # what everybody on the way can alter


class TreeSource(Record):
    """Where the tree comes from. verify: the kind of signature that it needs, and the file of those
    who may sign; empty for none. keep: how many trees stay on the disk.
    """

    remote: str
    ref: str = "main"
    verify: tuple[str, str] | tuple[()] = ()
    rollback: bool = False
    sparse: tuple[str, ...] = ()
    deploy_key: str = ""
    fetch_timeout: float = 60.0
    keep: int = 3

    @property
    def shown(self) -> str:
        """The remote without its password."""
        if "@" not in self.remote:
            return self.remote
        return git.display_url(self.remote)

    def reached(self) -> Remote:
        """The repository as git is to reach it."""
        return git.Remote(self.remote, self.deploy_key, timeout=self.fetch_timeout)

    def signers(self) -> Signers | None:
        """Who may sign; None where nobody has to."""
        return git.Signers(*self.verify) if self.verify else None


class TreeMistake(Record):
    """One mistake below the key. keys: the way to it."""

    keys: tuple[str, ...]
    message: str
    hint: str | None = None
    severity: str = "error"


def mistakes(value: Any) -> Iterator[TreeMistake]:
    """Yield what is wrong with the value of `tree`, which is a mapping."""
    for key in value:
        if key not in KEYS:
            hint = did_you_mean(str(key), KEYS) or "there are " + ", ".join(KEYS)
            yield TreeMistake(("tree", str(key)), f"tree: there is no key {key!r}", hint)
    if not value.get("remote"):
        yield TreeMistake(
            ("tree",), "tree: `remote` is missing: the repository of the tree", EXAMPLE
        )
    for key in ("remote", "ref", "deploy_key"):
        yield from _text_mistakes(key, value.get(key))
    yield from _verify_mistakes(value.get("verify"))
    yield from _other_mistakes(value)
    if isinstance(value.get("remote"), str) and _OPEN.match(value["remote"]):
        if not value.get("verify"):
            yield TreeMistake(
                ("tree", "remote"),
                "tree: everybody on the way can alter what comes over this connection",
                "use https or ssh, or say who has to have signed it: `verify`",
                "warning",
            )


def _text_mistakes(key: str, text: Any) -> Iterator[TreeMistake]:
    if text is None:
        return
    keys = ("tree", key)
    if not isinstance(text, str):
        hint = f"write it in quotes: {key}: '{text}'" if isinstance(text, int | float) else None
        yield TreeMistake(keys, f"tree: {key} has to be a text, not {text!r}", hint)
    elif not text.strip() or not text.isprintable():
        yield TreeMistake(keys, f"tree: {key} is no name that there could be: {text!r}")
    elif text.startswith("-"):
        yield TreeMistake(keys, f"tree: {key} may not begin with a dash: {text!r}")


def _verify_mistakes(verify: Any) -> Iterator[TreeMistake]:
    keys = ("tree", "verify")
    hint = "write `verify: {ssh: ALLOWED_SIGNERS_FILE}` or `verify: {gpg: KEYRING}`"
    if verify is None:
        return
    if not isinstance(verify, Mapping) or len(verify) != 1:
        yield TreeMistake(
            keys, f"tree: verify has to name one kind of signature, not {verify!r}", hint
        )
        return
    kind, file = next(iter(verify.items()))
    if kind not in KINDS:
        yield TreeMistake((*keys, str(kind)), f"tree: verify: there is no kind {kind!r}", hint)
    elif not isinstance(file, str) or not file.strip() or "\0" in file:
        yield TreeMistake(
            (*keys, kind), f"tree: verify: {kind} has to be a file, not {file!r}", hint
        )


def _other_mistakes(value: Mapping[str, Any]) -> Iterator[TreeMistake]:
    rollback, sparse = value.get("rollback"), value.get("sparse")
    if rollback is not None and rollback not in ROLLBACK:
        yield TreeMistake(
            ("tree", "rollback"),
            f"tree: rollback has to be refuse or allow, not {rollback!r}",
            "`refuse` (the default) takes only what descends from the tree applied last",
        )
    if sparse is not None and not (isinstance(sparse, list) and all(map(_is_inside, sparse))):
        yield TreeMistake(
            ("tree", "sparse"),
            f"tree: sparse has to be a list of folders and files of the tree, not {sparse!r}",
            "write `sparse: [states, pillar]`",
        )
    if value.get("fetch_timeout") is not None and not seconds(value["fetch_timeout"]):
        yield TreeMistake(
            ("tree", "fetch_timeout"),
            f"tree: fetch_timeout has to be a time above 0, not {value['fetch_timeout']!r}",
            "write `fetch_timeout: 60s`",
        )
    keep = value.get("keep", 3)
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
        yield TreeMistake(
            ("tree", "keep"),
            f"tree: keep has to be a whole number from 1 on, not {keep!r}",
            "it is how many trees stay on the disk, the present one included",
        )


def _is_inside(path: Any) -> bool:
    """Return whether a path can be one of a tree."""
    if not isinstance(path, str) or not path.strip("/") or "\0" in path:
        return False
    return not path.startswith("/") and ".." not in path.split("/")


def seconds(value: Any) -> float:
    """A time such as 60, 60s or 2m in seconds; 0 for what is none."""
    if isinstance(value, bool):
        return 0.0
    match = _DURATION.fullmatch(str(value).strip())
    return float(match[1]) * _SECONDS[match[2]] if match else 0.0


def source_of(value: Mapping[str, Any], base: str) -> TreeSource:
    """The value of `tree`, which has no mistakes. base: the folder that its files are relative
    to.
    """

    def file(path: str) -> str:
        return os.path.join(base, os.path.expanduser(path)) if path else ""

    verify = next(iter((value.get("verify") or {}).items()), None)
    return TreeSource(
        remote=_local(value["remote"], base),
        ref=value.get("ref") or "main",
        verify=(verify[0], file(verify[1])) if verify else (),
        rollback=value.get("rollback") == "allow",
        sparse=tuple(value.get("sparse") or ()),
        deploy_key=file(value.get("deploy_key") or ""),
        fetch_timeout=seconds(value.get("fetch_timeout") or 60),
        keep=value.get("keep") or 3,
    )


def _local(remote: str, base: str) -> str:
    """A remote that is a path, from the folder of the configuration. As with git, what has a colon
    before its first slash is none.
    """
    if ":" not in remote.partition("/")[0]:
        return os.path.normpath(os.path.join(base, os.path.expanduser(remote)))
    return remote
