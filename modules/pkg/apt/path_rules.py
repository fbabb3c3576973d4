# SPDX-License-Identifier: Apache-2.0
"""What was decided of paths that Debian's packages bring: where they go instead (dpkg-divert), and
whose they are (dpkg-statoverride).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modules import _paths, cmd, file
from modules._texts.lines import plain_name
from modules.file._snapshot import snapshot, snapshot_of_move
from modules.pkg.apt.shipped import DIVERSIONS, read_all
from modules.pkg.package_manager import Diversion, Override
from runner.api import CommandFailed, changer
from runner.api.planning import only_files

OVERRIDES = "/var/lib/dpkg/statoverride"
LOCAL = ":"  # who diverts a path that no package diverts
CODING = ("utf-8", "surrogateescape")


def diversions() -> dict[str, Diversion]:
    """Return the paths that are diverted."""
    lines = iter(read_all(DIVERSIONS).splitlines())
    return {path: Diversion(to, by) for path, to, by in zip(lines, lines, lines, strict=False)}


def overrides() -> dict[str, Override]:
    """Return the paths whose owner, group and mode are not those of their package."""
    rows = (line.split(" ", 3) for line in read_all(OVERRIDES).splitlines())
    return {
        row[3]: Override(row[0], row[1], row[2].lstrip("0").zfill(4))
        for row in rows
        if len(row) > 3
    }


def write_diversions(wanted: Mapping[str, Diversion]) -> None:
    """Write dpkg's list of diverted paths."""
    texts = (f"{path}\n{to}\n{by}\n" for path, (to, by) in wanted.items())
    _write(DIVERSIONS, "".join(texts))


def write_overrides(wanted: Mapping[str, Override]) -> None:
    """Write dpkg's list of paths with an owner and mode of their own."""
    _write(OVERRIDES, "".join(override_line(path, each) for path, each in wanted.items()))


def override_line(path: str, override: Override) -> str:
    """Return the line that dpkg keeps, and lists, of an override."""
    user, group, mode = override
    return f"{user} {group} {mode.lstrip('0') or '0'} {path}\n"


def _write(path: str, text: str) -> None:
    new = not _paths.exists(path)
    file.write(path, text.encode(*CODING), mode="0644" if new else None)


def _run(argv: Sequence[str]) -> None:
    cmd.execute([*argv]).or_fail()


def _move(path: str, to: str) -> None:
    """Plan the renaming that dpkg-divert does. Raises CommandFailed where it refuses it."""
    if not _paths.lexists(path):
        return
    if _paths.lexists(to):
        why = f"rename involves overwriting '{to}' with\n  different file '{path}', not allowed"
        raise CommandFailed(f"dpkg-divert: error: {why}")
    file.rename(path, to)


@only_files
def _plan_divert(path: str, to: str, rename: bool) -> None:
    if rename:
        _move(path, to)
    write_diversions({**diversions(), path: Diversion(to, LOCAL)})


@only_files
def _plan_undivert(path: str, rename: bool) -> None:
    known = diversions()
    if rename:
        _move(known[path].to, path)
    write_diversions({key: value for key, value in known.items() if key != path})


def _former_undiverted(path: str, rename: bool) -> object:
    return _former(DIVERSIONS, diversions()[path].to, path, rename)


def _former_diverted(path: str, to: str, rename: bool) -> object:
    return _former(DIVERSIONS, path, to, rename)


def _former(listed: str, path: str, to: str, rename: bool) -> object:
    moves = rename and _paths.lexists(path) and not _paths.lexists(to)
    moved = snapshot_of_move(path, to) if moves else {}
    ends = moved["several"] if isinstance(moved, dict) and moved else []
    return {"several": [snapshot(listed), *ends]}


@changer(before=_former_diverted, planned=_plan_divert)
def divert(path: str, to: str, rename: bool) -> None:
    """Have packages put a path elsewhere. rename: also what is there now. Raises CommandFailed."""
    moving = "--rename" if rename else "--no-rename"
    _run(["dpkg-divert", "--local", "--divert", to, moving, "--add", path])


@changer(before=_former_undiverted, planned=_plan_undivert)
def undivert(path: str, rename: bool) -> None:
    """Have packages put a path where it belongs. rename: also what is there now. Raises
    CommandFailed.
    """
    _run(["dpkg-divert", "--rename" if rename else "--no-rename", "--remove", path])


def _give(path: str, wanted: Override) -> None:
    """Give what is at a path its owner and mode: dpkg would follow any link to it."""
    if _paths.lexists(path):
        user, group = (name[1:] if name[:1] == "#" else name for name in wanted[:2])
        file.chown(path, user, group)
        file.set_mode(path, wanted.mode)


@only_files
def _plan_override(path: str, wanted: Override) -> None:
    _give(path, wanted)
    write_overrides({**overrides(), path: wanted})


@only_files
def _plan_no_override(path: str) -> None:
    write_overrides({key: value for key, value in overrides().items() if key != path})


@changer(
    before=lambda path, wanted: {"several": [snapshot(OVERRIDES), snapshot(path)]},
    planned=_plan_override,
)
def override(path: str, wanted: Override) -> None:
    """Give a path an owner, a group and a mode that packages leave alone. Raises CommandFailed."""
    words = [plain_name(word, "the owner and group of an override") for word in wanted]
    _give(path, wanted)
    _run(["dpkg-statoverride", "--force-all", "--add", *words, path])


@changer(before=lambda path: {"several": [snapshot(OVERRIDES)]}, planned=_plan_no_override)
def drop_override(path: str) -> None:
    """Let packages decide on the owner and mode of a path again. Raises CommandFailed."""
    _run(["dpkg-statoverride", "--remove", path])
