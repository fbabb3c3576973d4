"""Archives that are unpacked."""

from __future__ import annotations

import os
from typing import Any, Literal

from modules import archive, file
from runner.api import OPEN, AbsolutePath, Done, OneOrMany, Plan, Planned, Secret, StateFailed
from states.file import _sources as sources


def extracted(
    name: AbsolutePath,
    source: OneOrMany[str | dict[str, Any]],
    source_hash: str | None = None,
    source_hash_name: str | None = None,
    source_hash_update: bool = False,
    skip_files_list_verify: bool = False,
    skip_verify: bool = False,
    password: Secret[str] | None = None,
    options: str | None = None,
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
) -> Planned:
    """Make sure that the members of an archive are there.

    name: the folder. source (salt://, /path, http(s)://; of a list the first that is there), source_hash,
    source_hash_name, skip_verify, keep_source, use_etag: as of file.managed. archive_format: tar (any compression) or
    zip; found out when not said. options: --strip-components=N, others are handed to tar. password: of a zip.
    if_missing: do nothing when this path is there. enforce_toplevel: refuse an archive without a single top folder.
    force: remove what has the wrong type. overwrite: extract even when all is there. clean: remove the top folder
    first; clean_parent: the folder itself. user, group: of everything; enforce_ownership_on: of this path instead.
    extract_perms: false gives members of a zip the usual modes. trim_output: the most members that changes list (true:
    100). source_hash_update, skip_files_list_verify, list_options, use_cmd_unzip: accepted.

        /opt/app:
          archive.extracted:
            - source: https://example.com/app-1.2.tar.gz
            - source_hash: sha256=9f86d0…

    Behaviour: Salt 3008's archive.extracted. Members that would leave the folder, devices and bombs are refused; a
    failed extraction leaves nothing.
    """
    name = name.rstrip("/") + "/"
    if archive_format == "rar":
        raise StateFailed("rar is not supported: its program is not free; use tar or zip")
    if if_missing and file.lexists(if_missing):
        return f"Path {if_missing} exists"
    if file.lexists(name.rstrip("/")) and not file.is_dir(name):
        raise StateFailed(f"{name.rstrip('/')} exists and is not a directory")
    strip, others = archive.strip_of(options or "")
    verify = sources.Verify(source_hash, source_hash_name, skip_verify, use_etag, True, keep_source)
    path, label = _fetched(source, verify)
    kind = archive.kind_of(path, archive_format)
    members = archive.members(path, kind, strip, password)
    tops = {member.name.split("/")[0] for member in members}
    if enforce_toplevel and (len(tops) > 1 or any("/" not in m.name and m.kind != "dir" for m in members)):
        raise StateFailed(_no_toplevel(name))
    owner = _owner(user, group)
    wrong = [member for member in members if _differs(name, member)]
    absent = [member for member in members if not file.lexists(name + member.name)]
    if wrong and not (force or clean_parent):
        raise StateFailed(_wrong_types(name, wrong))
    misowned = owner != (-1, -1) and not absent and _misowned(enforce_ownership_on or name, members, name, owner)
    if not (absent or wrong or overwrite or misowned):
        return "All files in archive are already present"
    reason = ", due to absence of one or more files/dirs" if absent or wrong else ""
    changes = _changes(name, members, absent or wrong or overwrite, bool(misowned), wrong, clean_parent, trim_output)
    if owner != (-1, -1):
        changes = {"updated ownership": True, **changes}
    told = f"Archive {label} would be extracted to {name}{reason}"
    yield Plan(changes, told if absent or wrong or overwrite else f"The owner of {name} would be set", provides=OPEN)
    if not (absent or wrong or overwrite):
        _set_owner(enforce_ownership_on or name, members, name, user, group)
        return Done("All files in archive are already present. The owner was set.", changes)
    for each in [name.rstrip("/")] if clean_parent else [name + m.name for m in wrong] + _tops(name, tops, clean):
        file.remove(each)
    archive.extract(
        path,
        name.rstrip("/"),
        kind,
        strip=strip,
        options=others,
        password=password,
        user=-1 if enforce_ownership_on else owner[0],
        group=-1 if enforce_ownership_on else owner[1],
        permissions=extract_perms,
    )
    if enforce_ownership_on:
        file.chown(enforce_ownership_on, user, group)
    trimmed = f". Output was trimmed to {_limit(trim_output)} number of lines" if trim_output else ""
    return Done(f"{label} extracted to {name}{reason}{trimmed}", changes)


def _fetched(source: list[str | dict[str, Any]], verify: sources.Verify) -> tuple[str, str]:
    """(the local file, the source as written)."""
    try:
        found = sources.locate(source, "", verify, reuse=False)
    except StateFailed as failure:
        message = failure.message.removeprefix("Unable to manage file: ")
        first = source[0] if isinstance(source[0], str) else next(iter(source[0]))
        if message.startswith("Local file source"):
            message = f"Source file '{first}' does not exist"
        if message.startswith("Specified"):
            message = f"{first} does not match the desired source_hash {verify.hash}"
        raise StateFailed(message, lacks=failure.lacks) from None
    return found.path, found.url


def _no_toplevel(name: str) -> str:
    return (
        "Archive does not have a single top-level directory. To allow this archive to be extracted, set "
        "'enforce_toplevel' to False. To avoid a 'tar-bomb' it may also be advisable to set a top-level directory by "
        f"adding it to the 'name' value (for example, setting 'name' to {name}some_dir instead of {name})."
    )


def _wrong_types(name: str, wrong: list[archive.Member]) -> str:
    listed = "\n".join(f"- {member.shown.rstrip('/')}" for member in wrong)
    return (
        f"The below paths (relative to {name}) exist, but are the incorrect type (file instead of directory, symlink "
        "instead of file, etc.). To proceed with extraction, set 'force' to True. Note that this will remove these "
        f"paths before extracting.\n\n{listed}"
    )


def _differs(name: str, member: archive.Member) -> bool:
    """Whether something of another kind is at a member's place."""
    there = file.seen(name + member.name, follow=False)
    return there is not None and there.type != {"hard": "file"}.get(member.kind, member.kind)


def _owner(user: str | int | None, group: str | int | None) -> tuple[int, int]:
    uid = -1 if user in (None, "") else file.uid_of(user)
    gid = -1 if group in (None, "") else file.gid_of(group)
    if uid is None:
        raise StateFailed(f"User {user} does not exist", lacks=("user", str(user)))
    if gid is None:
        raise StateFailed(f"Group {group} does not exist", lacks=("group", str(group)))
    return uid, gid


def _misowned(place: str, members: list[archive.Member], name: str, owner: tuple[int, int]) -> bool:
    paths = [place] if place != name else [name + member.name for member in members]
    for path in paths:
        at = file.seen(path, follow=False)
        if at is not None and any(want not in (-1, has) for want, has in zip(owner, (at.uid, at.gid), strict=True)):
            return True
    return False


def _set_owner(
    place: str, members: list[archive.Member], name: str, user: str | int | None, group: str | int | None
) -> None:
    for path in [place] if place != name else [name + member.name for member in members]:
        file.chown(path, user, group, follow=False)


def _tops(name: str, tops: set[str], clean: bool) -> list[str]:
    return [os.path.join(name, top) for top in sorted(tops)] if clean else []


def _limit(trim: bool | int) -> int:
    return 100 if trim is True else int(trim)


def _changes(
    name: str,
    members: list[archive.Member],
    extracts: object,
    owned: bool,
    wrong: list[archive.Member],
    clean_parent: bool,
    trim: bool | int,
) -> dict[str, Any]:
    if not extracts:
        return {}
    changes: dict[str, Any] = {}
    if clean_parent and file.is_dir(name):
        changes["removed"] = f"Directory {name} was removed prior to the extraction"
    elif wrong:
        changes["removed"] = [name + member.name for member in wrong]
    if not file.is_dir(name) or clean_parent:
        changes["directories_created"] = [name]
    listed = [member.shown for member in members]
    return changes | {"extracted_files": listed[: _limit(trim)] if trim else listed}
