# SPDX-License-Identifier: Apache-2.0
"""The target of a managed file: what is there, what differs, and the change."""

from __future__ import annotations

from modules import file
from runner.api import Plan, Planned, Record, StateFailed, here
from states.file import _diff
from states.file._permissions import (
    MAKEDIRS,
    Permissions,
    before,
    folder_mode,
    missing_folders,
    parent,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.api import Fact

MOST = 1024 * 1024  # bytes of a file that a template is compared with before it is rendered
PRIVATE = "0600"  # what a new file has until its own mode is set; results do not tell of it


class ManagedFile(Record):
    """name: of the SLS. path: the file to write, behind links. present: None for a new file."""

    name: str
    path: str
    present: file.Stat | None
    replaces_link: bool = False

    def contents(self) -> bytes:
        """The contents of a file that is not large; empty for anything else."""
        present = self.present
        if present is None or present.type != "file" or present.size > MOST:
            return b""
        return file.whole(file.streamed(self.path))

    def refuse_special(self) -> None:
        """Raise StateFailed for what is not a regular file."""
        if self.present is not None and self.present.type not in ("file", "link"):
            raise StateFailed(
                f"Specified target {self.name} is not a regular file but a {self.present.type}"
            )


def look_at(name: str, follow: bool) -> ManagedFile:
    """The target at a path; StateFailed for a folder."""
    entry = file.seen(name, follow=False)
    is_link = entry is not None and entry.type == "link"
    present = file.seen(name) if is_link else entry
    if present is not None and present.type == "dir":
        raise StateFailed(f"Specified target {name} is a directory")
    if is_link and not follow:
        return ManagedFile(name, name, entry, replaces_link=True)
    return ManagedFile(name, file.real_path(name) if is_link else name, present)


class Ignoring(Record):
    """Differences between texts that others are not to react to."""

    ordering: bool = False
    whitespace: bool = False
    comments: tuple[str, ...] = ()

    def result_keys(self, old: file.Contents | None, new: file.Contents) -> dict[str, Any]:
        """The changes that the result reports for a change of contents that sets nothing off."""
        if old is None or not (self.ordering or self.whitespace or self.comments):
            return {}
        return {"skip_req": True} if self._essence(old) == self._essence(new) else {}

    def _essence(self, data: file.Contents) -> list[bytes]:
        """The lines in whatever order, as with Salt for each of the three."""
        lines = file.whole(data).splitlines(keepends=True)
        for comment in filter(None, self.comments):
            lines = [line.partition(comment.encode())[0] for line in lines]
        if self.whitespace:
            lines = [line.strip() for line in lines]
        return sorted(line for line in lines if line)


_NOTHING = Ignoring()


class Writing(Record):
    """The way in which a target is written. private: its old contents are kept nowhere."""

    target: ManagedFile
    wanted: Permissions
    makedirs: bool = False
    dir_mode: str | None = None
    attrs: str | None = None
    backup: str | None = None
    check_cmd: str | None = None
    tmp_dir: str | None = None
    tmp_ext: str = ""
    private: bool = False

    @property
    def new(self) -> bool:
        return self.target.present is None or self.target.replaces_link

    def permission_changes(self, private: bool = False) -> dict[str, Any]:
        """Owner, mode and attributes that differ. private: a new file is born private, as from a
        source.
        """
        present = self.target.present
        if present is not None and not self.target.replaces_link:
            changes = self.wanted.changes(present)
        else:
            changes = self.wanted.owner_changes_of_new(self.target.path)
            mode = self.wanted.mode or (file.default_mode() if private else PRIVATE)
            if mode != PRIVATE:
                changes["mode"] = mode
        return changes | self._attribute_changes() if self.attrs is not None else changes

    def _before(self, changes: dict[str, Any]) -> dict[str, str]:
        return {} if self.new else before(self.target.present, changes)

    def _attribute_changes(self) -> dict[str, Any]:
        file.refuse_attributes("".join(_settable(self.attrs or "")))
        present = file.get_attributes(
            self.target.path if not self.new else parent(self.target.path)
        )
        old = "".join(letter for letter in present or "" if not self.new or letter == "e")
        if _settable(old) == _settable(self.attrs or ""):
            return {}
        return {"attrs": {"old": old, "new": self.attrs}}

    def difference(
        self, data: file.Contents, show: bool, new_file: bool, ignoring: Ignoring = _NOTHING
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The change of the contents, and what the result says of it that sets nothing off."""
        target = self.target
        target.refuse_special()
        old: file.Contents | None = None
        if target.replaces_link:
            old = file.streamed(target.name) if file.exists(target.name) else None
        elif target.present is not None:
            name, size = target.name, target.present.size
            if not isinstance(data, bytes) and max(size, data.size) <= file.SMALL:
                data = file.at_hand(data)
            if isinstance(data, bytes) and size <= file.SMALL:
                old = file.read_unless(name, size, data)
            elif not file.same_contents(name, data):
                old = file.streamed(name)
            if old is None:
                return {}, {}
        shown = _diff.diff(old, data, show, new_file) or "Replace symbolic link with regular file"
        return {"diff": shown}, ignoring.result_keys(old, data)

    # -------------------------------------------------- the ways to a Plan

    def write(self, data: file.Contents, changes: dict[str, Any], keys: dict[str, Any]) -> Planned:
        """Contents and permissions, or permissions alone where the contents are right. keys: more
        of the result.
        """
        name = self.target.name
        if not changes:
            return f"File {name} is in the correct state"
        folders = self._folders() if self.new else []
        doubt = self._check(data) if self.check_cmd and "diff" in changes else None
        yield Plan(
            changes,
            intended(name),
            exact=doubt is None,
            why=doubt,
            provides=self._provides(folders),
            before=self._before(changes),
            extra=keys,
        )
        if "diff" in changes:
            self._put(data, folders)
        else:
            self._permit(changes)
        self._set_attributes()
        return f"File {name} updated"

    def permissions_only(self) -> Planned:
        """Create an empty file, or see to owner and mode: no contents are wanted."""
        name = self.target.name
        changes = self.permission_changes()
        if self.new and not self.target.replaces_link:
            folders = self._folders()
            changes = {"new": f"file {name} created", **changes}
            yield Plan(changes, intended(name), provides=self._provides(folders))
            self._put(b"", folders)
            self._set_attributes()
            return "Empty file"
        if not changes:
            return f"File {name} exists with proper permissions. No changes made."
        comment = intended(name)
        if "mode" in changes and self.target.present:
            now = self.target.present.mode
            comment = (
                f"File {name} will be updated with permissions {changes['mode']} from its current"
                f" state of {now}"
            )
        yield Plan(changes, comment, before=self._before(changes))
        self._permit(changes)
        self._set_attributes()
        return ""

    def with_contents(
        self, make: Callable[[], bytes], changes: dict[str, Any], would: str, done: str
    ) -> Planned:
        """Contents that are made when they are needed: for check_cmd before they are planned.
        changes: those of the contents, as a state reports them; would, done: its comments.
        """
        permissions = {} if self.new else self.permission_changes()
        folders = self._folders() if self.new else []
        data = make() if changes and self.check_cmd else None
        doubt = None if data is None else self._check(data)
        yield Plan(
            {**changes, **permissions},
            would,
            exact=doubt is None,
            why=doubt,
            provides=self._provides(folders),
            before=self._before(permissions),
        )
        if changes:
            self._put(make() if data is None else data, folders)
        else:
            self._permit(permissions)
        self._set_attributes()
        return done

    # -------------------------------------------------- changing

    def _folders(self) -> list[str]:
        """The missing folders above the target; StateFailed where they are not to be made."""
        above = parent(self.target.path)
        if file.is_dir(above):
            return []
        missing = missing_folders(self.target.path)
        if not self.makedirs:
            raise StateFailed(
                f"Parent directory not present: {above}{MAKEDIRS}", missing=("file", above)
            )
        return missing

    def _provides(self, folders: list[str]) -> list[Fact]:
        return [("file", self.target.name), *(("file", folder) for folder in folders)]

    def _check(self, data: file.Contents) -> str | None:
        """Have check_cmd judge the new contents, in a dry run too: None when it accepts them, else
        why that is not certain. Raises StateFailed when it refuses them.
        """
        if not self.check_cmd:
            return None
        verdict, output = file.try_contents(data, self.check_cmd, self.tmp_ext, self.tmp_dir)
        if verdict is None:
            return f"check_cmd refuses the contents outside of {self.tmp_dir}: {output}"
        if not verdict:
            raise StateFailed(
                "\n".join(["check_cmd execution failed", *([output] if output else [])]),
                changes={},
                missing=("check", self.check_cmd),
            )
        return None

    def _put(self, data: file.Contents, folders: list[str]) -> None:
        wanted = self.wanted
        if folders and not file.is_dir(folders[-1]):  # another part of the state may have made it
            mode = self.dir_mode or folder_mode(wanted.mode)
            file.makedirs(folders[-1], mode=mode, user=wanted.uid, group=wanted.gid)
        if not self.new:
            self._unlock()
        file.write(
            self.target.path,
            data,
            mode=wanted.mode,
            user=wanted.uid,
            group=wanted.gid,
            backup=self.backup or here.opts.get("backup_mode"),
            follow=False,  # the links were followed when the state looked
            private=self.private,
        )

    def _permit(self, changes: dict[str, Any]) -> None:
        self._unlock()
        self.wanted.set(self.target.path, changes, follow=False)

    def _unlock(self) -> None:
        """Take the attributes away that keep the file as it is, where it is said which it has."""
        if self.attrs is None:
            return
        locks = sorted({"a", "i"} & set(file.get_attributes(self.target.path) or ""))
        if locks:
            file.set_attributes(self.target.path, f"-{''.join(locks)}")

    def _set_attributes(self) -> None:
        """A file that was replaced has lost its attributes: those that are wanted are set anew."""
        if self.attrs is None:
            return
        present = _settable(file.get_attributes(self.target.path) or "")
        for sign, letters in (
            ("-", present - _settable(self.attrs)),
            ("+", _settable(self.attrs) - present),
        ):
            if letters:
                file.set_attributes(self.target.path, sign + "".join(sorted(letters)))


def _settable(letters: str) -> set[str]:
    """The attributes that chattr can change; the file system alone decides on the others."""
    return set(letters) - set("eEhINV")


def intended(name: str) -> str:
    """The comment of a dry run for a file that would be written."""
    return (
        f"The file {name} is set to be changed\n"
        "Note: No changes made, actual changes may\n"
        "be different due to other states."
    )
