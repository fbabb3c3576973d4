# SPDX-License-Identifier: Apache-2.0
"""The file state. Each function has a file of its own, imported when a tree uses it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from runner.api import claims, on_demand, paths
from states.file import _claims, _obstacles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any

    from runner.api import Plan
    from runner.api.claims import Claim, Trap

DECIDES = {"capability": "caps"}

_WORDS = (
    "absent accumulated append blockreplace cached capability comment copy decode directory exists "
    "hardlink keyvalue line managed missing mknod patch prepend pruned recurse rename replace "
    "retention_schedule serialize shortcut symlink tidied touch uncomment"
)
FUNCTIONS = {name: name for name in _WORDS.split()} | {"not_cached": "cached"}
# with these arguments alone: such states may share a group commit
ABOUT_ONE_FILE = {
    "managed": (
        "contents contents_newline contents_pillar contents_grains contents_delimiter allow_empty"
        " source source_hash source_hash_name skip_verify template context defaults show_changes"
        " mode user group makedirs dir_mode replace create"
    ),
    "copy": "source force makedirs preserve user group mode dir_mode",
    "append": "text makedirs ignore_whitespace show_changes",
    "prepend": "text makedirs header show_changes",
    "replace": (
        "pattern repl count flags append_if_not_found prepend_if_not_found not_found_content backup"
        " show_changes ignore_if_missing backslash_literal encoding"
    ),
    "line": (
        "content match mode location before after show_changes backup indent create user group"
        " file_mode"
    ),
    "comment": "regex char backup ignore_missing",
    "uncomment": "regex char backup",
    "blockreplace": (
        "marker_start marker_end content append_if_not_found prepend_if_not_found backup"
        " show_changes append_newline insert_before_match insert_after_match"
    ),
    "keyvalue": (
        "key value key_values separator append_if_not_found prepend_if_not_found search_only "
        "show_changes ignore_if_missing count uncomment key_ignore_case value_ignore_case "
        "create_if_missing prune"
    ),
    "serialize": "dataset serializer formatter user group mode makedirs dir_mode show_changes",
    "touch": "makedirs",
}
WRITES_MANY = ("recurse",)
# what changes something in each run by its nature
NON_IDEMPOTENT = {
    "touch": "it sets the times of the file in each run",
    "line": "insert at the start or the end does so in each run",
}


def autorequire(
    name: str,
    user: object = None,
    group: object = None,
    target: object = None,
    source: object = None,
    **_: object,
) -> list[tuple[str, str]]:
    """A path comes after the folders, homes and mounts above it, its owner, group and source."""
    pairs = [*_above(name.rstrip("/").rpartition("/")[0])]
    if user:
        pairs.append(("user", str(user)))
    if group:
        pairs.append(("group", str(group)))
    return pairs + [
        ("file", other)
        for other in (target, source)
        if isinstance(other, str) and other.startswith("/")
    ]


@lru_cache(128)
def _above(folder: str) -> tuple[tuple[str, str], ...]:
    """What may make a folder, and those above it: many states have the same."""
    folders = (folder, *paths.folders_above(folder)) if folder else ()
    return tuple((kind, above) for above in folders for kind in ("file", "mount", "home"))


def dry_run_check(
    plan: Plan, name: str, user: object = None, group: object = None, **arguments: object
) -> None:
    """Raise StateFailed for a plan that the caller may not carry out."""
    follow = bool(arguments.get("follow_symlinks", True))
    unlocks = arguments.get("attrs") is not None
    _obstacles.dry_run_check(plan, name, user, group, follow, unlocks)


def owns(fun: str, name: str, **arguments: object) -> Iterator[Claim]:
    """Return what a state decides of its path."""
    return _claims.claims(fun, name, arguments)


def traps(
    fun: str,
    name: str,
    contents_pillar: object = None,
    dataset_pillar: object = None,
    contents: object = None,
    repl: object = None,
    backslash_literal: object = False,
    **arguments: object,
) -> Iterator[Trap]:
    """A value of the pillar that is not there: the state fails. Contents that are data, of which
    Python's form would be written. Backslashes that mean something else, patterns that mean
    nothing, directories that nobody can enter.
    """
    yield from _claims.patterns(fun, name)
    yield from _claims.closed_folders(fun, arguments)
    if fun == "replace" and not backslash_literal and isinstance(repl, str):
        yield from _claims.octal_numbers(repl)
        yield from _claims.added_backslashes(repl, arguments)
    for part in contents if isinstance(contents, list) else [contents]:
        if isinstance(part, Mapping):
            message = f"contents: YAML reads a mapping, and {str(dict(part))[:40]!r} is written"
            yield claims.Trap(
                "contents", message, "put quotes around the line; file.serialize writes data"
            )
            break
    for argument, keys in ("contents_pillar", contents_pillar), ("dataset_pillar", dataset_pillar):
        for key in _claims.missing_pillar(keys):
            message = f"{argument}: the pillar of this machine has no {key}"
            yield claims.Trap(argument, message, "`runner show pillar` prints what it has", True)


def prune_check(
    fun: str, names: Sequence[str], going: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Paths that belong to a package, and folders that hold what stays."""
    return _obstacles.prune_check(names, going)


__getattr__, __dir__ = on_demand(globals(), FUNCTIONS)
