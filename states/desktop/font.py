# SPDX-License-Identifier: Apache-2.0
"""Fonts, of the machine or of a user, each in a folder of its own. Salt has nothing like it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from modules import file
from modules.desktop import fonts
from runner.api import Done, Line, Name, Pattern, Plan, Planned, StateFailed, combine_plans
from runner.api.claims import PRESENT, Claim
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states.archive import extracted
from states.file.absent import absent as removed
from states.file.directory import directory
from states.file.managed import managed
from states.file.recurse import recurse

DECIDES = {"installed": "source"}
OPPOSITE = {"installed": Opposite("absent", by=("user",))}
FONT = re.compile(r".*\.(ttf|otf|ttc|otc|woff2?|pfb|pfa|pcf(\.gz)?|bdf)", re.IGNORECASE)
ARCHIVE = re.compile(r".*\.(zip|tar(\.\w+)?|tgz|tbz2?|txz)", re.IGNORECASE)
FontName = Annotated[Name, Pattern(r"\w[\w .+-]*", "the name of a folder")]


def dry_run_check(plan: Plan, name: str, user: str | None = None, **_: object) -> None:
    """Raise StateFailed where the caller may not write the fonts."""
    folder = fonts.folder(name, user)
    file.refuse_put(folder)
    file.refuse_owner(folder, user, None)


def installed(
    name: FontName,
    source: Name,
    source_hash: Line | None = None,
    skip_verify: bool = False,
    user: Name | None = None,
) -> Planned:
    """Make sure that a font is there: its files, in a folder of their own.

    It lies below /usr/local/share/fonts, or ~/.local/share/fonts of a user; fontconfig, where it is
    installed, reads it at once.

    name: The name of the folder.
    source: A file of a font (.ttf, .otf ...), an archive (.zip, .tar.xz ...) or a folder of the
      tree (salt://); files and archives also come from an absolute path or an address.
    source_hash: What a file or archive has to be, as of file.managed.
    skip_verify: Take one from an address without source_hash.
    user: Whose font it is; without it, the machine's.

        Inter:
          font.installed:
            - source: https://example.com/Inter-4.0.zip
            - source_hash: sha256=9f86d0…
    """
    folder = fonts.folder(name, user)
    uid = None if user is None else file.uid_of(user)
    gid = None if uid is None else file.primary_gid(uid)
    made = directory(folder, user=uid, group=gid, dir_mode="0755", makedirs=True)
    path = source.partition("?")[0]
    if FONT.fullmatch(path):
        files = managed(
            f"{folder}/{path.rpartition('/')[2]}",
            source=[source],
            source_hash=source_hash,
            skip_verify=skip_verify,
            user=uid,
            group=gid,
            mode="0644",
            makedirs=True,
        )
    elif ARCHIVE.fullmatch(path):
        files = extracted(
            folder,
            [source],
            source_hash,
            skip_verify=skip_verify,
            user=uid,
            group=gid,
            enforce_toplevel=False,
        )
    elif not source.startswith("salt://"):
        raise StateFailed(
            f"source: {source} is no file of a font (.ttf, .otf ...), no archive (.zip, .tar ...)"
            " and no folder of the tree (salt://)"
        )
    else:
        files = recurse(folder, [source], user=uid, group=gid, dir_mode="0755", file_mode="0644")
    outcomes = yield from combine_plans({"folder": made, "files": files})
    changes = {
        key: value for each in outcomes.values() for key, value in (each.changes or {}).items()
    }
    if changes:
        fonts.refresh(folder, user)
    return Done(f"Font {name} {'was installed' if changes else 'is installed'}", changes)


def absent(name: FontName, user: Name | None = None) -> Planned:
    """Make sure that a font is not there: that its folder is gone.

    name: The name of the folder.
    user: Whose font it is; without it, the machine's.

        Inter:
          font.absent: []
    """
    folder = fonts.folder(name, user)
    outcomes = yield from combine_plans({"folder": removed(folder)})
    changes = outcomes["folder"].changes or {}
    if changes:
        fonts.refresh(folder, user)
    return Done(f"Font {name} {'was removed' if changes else 'is not installed'}", changes)


def owns(fun: str, name: str, user: str | None = None, **_: object) -> Iterator[Claim]:
    """The folder of a font."""
    if fun == "installed" and user is None:
        yield Claim(PRESENT, f"{fonts.FOLDER}/{name}")


autorequire = comes_after("A font comes after its user.", ("pkg", "fontconfig"), user="user")
