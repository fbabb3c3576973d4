# SPDX-License-Identifier: Apache-2.0
"""Archives that are unpacked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from modules import archive, file
from runner.api import (
    AbsolutePath,
    Done,
    Line,
    OneOrMany,
    Plan,
    Planned,
    Record,
    Secret,
    ShellWords,
    StateFailed,
    lies_in,
    open_at,
)
from runner.api.claims import makes
from runner.api.durability import name_files, write_at_once
from states.file import _sources as sources
from states.file._signed import Signatures, Signed

owns = makes()
WRITES_MANY = ("extracted",)


def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
    """Raise StateFailed when the caller may not put there what is missing."""
    members = plan.changes.get("extracted_files") if isinstance(plan.changes, dict) else None
    for member in members if isinstance(members, list) else ():
        path = os.path.join(name, str(member)).rstrip("/")
        if not file.lexists(path):
            file.refuse_put(path)
            break


def extracted(
    name: AbsolutePath,
    source: OneOrMany[str | dict[str, Any]],
    source_hash: str | None = None,
    source_hash_name: str | None = None,
    source_hash_update: bool = False,
    skip_files_list_verify: bool = False,
    skip_verify: bool = False,
    password: Secret[Line] | None = None,
    options: ShellWords | None = None,
    list_options: str | None = None,
    force: bool = False,
    overwrite: bool = False,
    clean: bool = False,
    clean_parent: bool = False,
    user: str | int | None = None,
    group: str | int | None = None,
    if_missing: AbsolutePath | None = None,
    trim_output: bool | int = False,
    use_cmd_unzip: bool | None = None,
    extract_perms: bool = True,
    enforce_toplevel: bool = True,
    enforce_ownership_on: AbsolutePath | None = None,
    archive_format: Literal["tar", "zip", "rar"] | None = None,
    keep_source: bool = True,
    use_etag: bool = False,
    signed: Signatures = Signed(),
) -> Planned:
    """Make sure that the members of an archive are there.

    name: The folder that the members are extracted to.
    source: Where the archive comes from: salt://, /path, http(s)://; of a list the first that is
      there.
    source_hash, source_hash_name, skip_verify, keep_source, use_etag: as of file.managed.
    source_hash_update: Extract again, whatever is there, when the archive of source_hash is not the
      one that was extracted last.
    skip_files_list_verify: ignored; the list of members is always read and compared.
    password: The password of a zip.
    options: `--strip-components=N`; others are handed to tar, and refused for a zip but for -o
      and -q.
    list_options: ignored; the members are read without the program tar.
    force: Remove what has the wrong type, such as a file where a folder is to be.
    overwrite: Extract even when all members are there.
    clean: Remove the top folder of the archive first.
    clean_parent: Remove the whole folder first.
    user: The owner of all that is extracted.
    group: The group of all that is extracted.
    if_missing: Do nothing when this path is there.
    trim_output: The most members that the changes list; true for 100.
    use_cmd_unzip: ignored; a zip is unpacked in one way only.
    extract_perms: False gives members of a zip the usual modes.
    enforce_toplevel: Refuse an archive without a single top folder; false extracts it nevertheless.
    enforce_ownership_on: The path whose owner is set, instead of all that is extracted.
    archive_format: `tar` (with any compression) or `zip`; without it found out.

        /opt/app:
          archive.extracted:
            - source: https://example.com/app-1.2.tar.gz
            - source_hash: sha256=9f86d0…

    Behaviour: Salt 3008's archive.extracted. Members that would leave the folder, devices,
    set-user-ID programs and bombs are refused; links may lead anywhere, and nothing is written
    through one that leads out of the folder; an extraction that fails changes nothing.
    """
    folder = name.rstrip("/") or "/"
    name = name.rstrip("/") + "/"
    _refuse_rar(archive_format)
    watched = source_hash_update and source_hash is not None
    spared = if_missing is not None and _is_there(if_missing)
    if spared and not watched:
        return f"Path {if_missing} exists"
    _refuse_folder(folder)
    owner = _owner(user, group)
    verify = sources.Verify(
        source_hash, source_hash_name, skip_verify, use_etag, True, keep_source, signed
    )
    path, label = _fetched(source, verify)
    known, now = (archive.kept_sum(name), file.get_hash(path)) if watched else ("", "")
    updated = known != "" and known != now
    if watched and not known:
        archive.keep_sum(name, now)
    if spared and not updated:
        return f"Path {if_missing} exists"
    kind = archive.kind_of(path, archive_format)
    strip, others = archive.strip_of(options or "", kind)
    owned = _owned_place(enforce_ownership_on, name)
    contents = _Found(name, archive.members(path, kind, strip, password, others), owner, owned)
    if enforce_toplevel:
        contents.refuse_bomb(strip)
    wrong, absent = contents.wrong(), contents.absent()
    if wrong and not (force or clean_parent):
        raise StateFailed(_wrong_types(name, wrong))
    if not (absent or wrong or overwrite or updated):
        return (yield from contents.owned())
    _refuse_shortage(label, contents, folder)
    reason = ", due to source_hash update" if updated else ""
    reason = ", due to absence of one or more files/dirs" if absent or wrong else reason
    removed = [folder] if clean_parent else [*dict.fromkeys(wrong + contents.tops(clean))]
    changes = contents.changes(clean, clean_parent, trim_output, bool(options))
    yield Plan(
        changes, f"Archive {label} would be extracted to {name}{reason}", provides=open_at(name)
    )
    ids = (-1, -1) if enforce_ownership_on else owner
    _share_nothing(removed, updated, enforce_ownership_on)
    unpacked = archive.unpack(
        path,
        folder,
        kind,
        strip=strip,
        options=others,
        password=password,
        user=ids[0],
        group=ids[1],
        permissions=extract_perms,
    )
    contents.put(unpacked, removed, ids)
    if updated:
        archive.keep_sum(name, now)
    comment = f"{label} extracted to {name}{reason}"
    if owner != (-1, -1) and enforce_ownership_on:
        _refuse_missing_owned(enforce_ownership_on, comment, changes)
    if trim_output:
        comment += f". Output was trimmed to {_limit(trim_output)} number of lines"
    return Done(comment, changes)


def _refuse_rar(archive_format: str | None) -> None:
    if archive_format == "rar":
        raise StateFailed("rar is not supported: its program is not free; use tar or zip")


def _is_there(path: str) -> bool:
    """Return whether anything is at a path beside the state's own."""
    name_files(path)
    return file.lexists(path)


def _share_nothing(*more: object) -> None:
    """Have nothing wait for others where the state does more than to put what is new."""
    if any(more):
        write_at_once()


def _refuse_folder(folder: str) -> None:
    """Refuse to extract to what is there and no directory."""
    if file.lexists(folder) and not file.is_dir(folder):
        raise StateFailed(f"{folder} exists and is not a directory")


def _owned_place(path: str | None, name: str) -> str | None:
    """The path that alone gets an owner. Raises StateFailed for one that is elsewhere."""
    path = path and os.path.normpath(path)
    if path and not lies_in(path, name):
        raise StateFailed(f"Value for 'enforce_ownership_on' must be within {name}")
    return path


def _refuse_shortage(label: str, contents: _Found, folder: str) -> None:
    """Refuse an archive for which there is too little room."""
    if short := archive.shortage(contents.members, folder):
        raise StateFailed(f"{label} {short}; nothing was extracted", missing=("file", folder))


def _refuse_missing_owned(path: str, comment: str, changes: dict[str, Any]) -> None:
    """Fail where the path that was to get an owner did not come with the archive."""
    if not file.lexists(path):
        del changes["updated ownership"]
        missing = "While trying to enforce user/group ownership, the following paths were missing"
        raise StateFailed(f"{comment}\n\n{missing}:\n\n- {path}", changes)


def _fetched(source: list[str | dict[str, Any]], verify: sources.Verify) -> tuple[str, str]:
    """(the local file, the source as written)."""
    try:
        located = sources.locate(source, "", verify, reuse=False)
    except StateFailed as failure:
        message = failure.message.removeprefix("Unable to manage file: ")
        first = source[0] if isinstance(source[0], str) else next(iter(source[0]))
        if message.startswith("Source file salt://"):
            message = f"Failed to cache {first}, check minion log for more information"
        if message.startswith(f"Local file source {first} "):
            message = f"Source file '{first}' does not exist"
        if message.startswith("Specified"):
            message = f"{first} does not match the desired source_hash {verify.hash}"
        message = message.removeprefix(f"Failed to cache {file.redacted(first)}: ")
        message = message.replace(
            "or set skip_verify to True", "or set skip_verify or use_etag to True"
        )
        raise StateFailed(message, missing=failure.missing) from None
    return located.path, located.url


class _Found(Record):
    """The members of an archive, and what is at their places below `name`."""

    name: str
    members: Sequence[archive.Member]
    owner: tuple[int, int]
    owned_place: str | None

    def refuse_bomb(self, strip: int) -> None:
        """Fail for an archive without a single top folder."""
        named = [member for member in self.members if member.name]
        tops = {member.name.split("/")[0] for member in named}
        if len(tops) > 1 or any("/" not in m.name and m.kind != "dir" for m in named):
            raise StateFailed(
                "Archive does not have a single top-level directory. To allow this archive to be"
                " extracted, set 'enforce_toplevel' to False. To avoid a 'tar-bomb' it may also be"
                " advisable to set a top-level directory by adding it to the 'name' value (for"
                f" example, setting 'name' to {self.name}some_dir instead of {self.name})."
            )

    def wrong(self) -> list[str]:
        """The paths where something of another kind is, folders with a slash at the end."""
        kinds = {m.name: {"hard": "file"}.get(m.kind, m.kind) for m in self.members if m.name}
        above = {
            name[:end] for name in kinds for end, letter in enumerate(name) if letter == "/"
        } - kinds.keys()
        wrong: set[str] = set()
        paths = []
        for name, kind in sorted((dict.fromkeys(above, "above") | kinds).items()):
            name_files(self.name + name)
            if name.rpartition("/")[0] in wrong:
                wrong.add(name)  # it is not looked at through a link
            elif self._is_wrong(self.name + name, kind):
                wrong.add(name)
                paths.append(self.name + name + ("/" if kind in ("dir", "above") else ""))
        return paths

    def _is_wrong(self, path: str, kind: str) -> bool:
        there = file.seen(path, follow=False)
        if there is None or kind != "above":
            return there is not None and there.type != kind
        # a link to a folder will do where the archive has none
        return there.type != "dir" and not self._leads_inside(path)

    def _leads_inside(self, path: str) -> bool:
        """Return whether a folder is there, or a link to one that does not lead elsewhere."""
        return file.is_dir(path) and lies_in(file.real_path(path), file.real_path(self.name))

    def absent(self) -> bool:
        """Return whether any member is not there."""
        return any(not file.lexists(self.name + member.name) for member in self.members)

    def tops(self, clean: bool) -> list[str]:
        """The top folders that are to be removed first."""
        tops = {
            m.name.split("/")[0]: "/" if "/" in m.name or m.kind == "dir" else ""
            for m in self.members
            if m.name
        }
        paths = [self.name + top + slash for top, slash in sorted(tops.items())] if clean else []
        return [path for path in paths if file.lexists(path.rstrip("/"))]

    def changes(
        self, clean: bool, clean_parent: bool, trim: bool | int, options: bool
    ) -> dict[str, Any]:
        """Return what an extraction reports."""
        changes: dict[str, Any] = {} if self.owner == (-1, -1) else {"updated ownership": True}
        if clean_parent and file.is_dir(self.name):
            changes["removed"] = f"Directory {self.name} was removed prior to the extraction"
        elif self.tops(clean):
            changes["removed"] = self.tops(clean)
        if not file.is_dir(self.name) or clean_parent:
            changes["directories_created"] = [self.name]
        listed = [
            m.shown.rstrip("/") + "/" if options and m.kind == "dir" else m.shown
            for m in self.members
        ]
        return changes | {"extracted_files": listed[: _limit(trim)] if trim else listed}

    def put(
        self, unpacked: archive.Unpacked, removed: Sequence[str], owner: tuple[int, int]
    ) -> None:
        """Move what was unpacked in place of what is to be removed."""
        try:
            for path in removed:
                file.remove(path.rstrip("/"))
        except StateFailed:
            archive.discard(unpacked)
            raise
        folders = {member.name for member in self.members if member.kind == "dir"}
        target = self.name.rstrip("/") or "/"
        if archive.place(unpacked, target, *owner, folders) and self.owner != (-1, -1):
            self._own()

    def _places(self) -> list[str]:
        """Return what user and group are for, with all that lies below."""
        if (place := self.owned_place) is None:
            tops = {member.name.split("/")[0] for member in self.members if member.name}
            return [self.name + top for top in sorted(tops)]
        above = os.path.dirname(place)
        if file.is_dir(above) and place != self.name.rstrip("/") and not self._leads_inside(above):
            raise StateFailed(f"{place} leads out of {self.name}; its owner is not set")
        return [place]

    def _own(self) -> list[str]:
        """Set the owner where it differs; the paths that it was for."""
        wrong = [*self._all_misowned()]
        for path in wrong:
            file.chown(path, *_ids(self.owner), follow=False)
        return wrong

    def owned(self) -> Planned:
        """All is there: see to the owner."""
        done = "All files in archive are already present"
        if self.owner == (-1, -1) or not any(self._all_misowned()):
            return done
        yield Plan(
            {"updated ownership": True},
            f"{done}. Ownership would be updated on one or more files/directories.",
        )
        self._own()
        return done

    def _all_misowned(self) -> Iterator[str]:
        for place in self._places():
            below = file.entries_below(place) if self._leads_inside(place) else []
            yield from filter(self._misowned, [place, *(entry.path for entry in below)])

    def _misowned(self, path: str) -> bool:
        at = file.seen(path, follow=False)
        return at is not None and any(
            want not in (-1, has) for want, has in zip(self.owner, (at.uid, at.gid), strict=True)
        )


def _ids(owner: tuple[int, int]) -> tuple[int | None, int | None]:
    return (None if owner[0] == -1 else owner[0], None if owner[1] == -1 else owner[1])


def _wrong_types(name: str, wrong: list[str]) -> str:
    listed = "\n".join(f"- {path.removeprefix(name)}" for path in wrong)
    return (
        f"The below paths (relative to {name}) exist, but are the incorrect type (file instead of"
        " directory, symlink instead of file, etc.). To proceed with extraction, set 'force' to"
        f" True. Note that this will remove these paths before extracting.\n\n{listed}"
    )


def _owner(user: str | int | None, group: str | int | None) -> tuple[int, int]:
    uid = -1 if user in (None, "") else file.uid_of(user)
    gid = -1 if group in (None, "") else file.gid_of(group)
    if uid is None:
        raise StateFailed(f"User {user} does not exist", missing=("user", str(user)))
    if gid is None:
        raise StateFailed(f"Group {group} does not exist", missing=("group", str(group)))
    return uid, gid


def _limit(trim: bool | int) -> int:
    return 100 if trim is True else int(trim)
