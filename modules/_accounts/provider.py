# SPDX-License-Identifier: Apache-2.0
"""What changes users and groups: shadow-utils or busybox of this machine; in a dry run the planned
machine.
"""

from __future__ import annotations

from modules import _paths
from modules._accounts import busybox, shadow_utils
from modules._accounts.values import Account, Aging, Group
from modules._planned.overlay import overlay
from runner.api import here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol
else:
    Protocol = object


class Provider(Protocol):
    """What carries a value out. Each verb raises CommandFailed, also for what these programs cannot
    do.
    """

    def useradd(self, account: Account) -> None: ...
    def usermod(self, account: Account) -> None: ...
    def userdel(self, name: str, home: bool, force: bool) -> None: ...
    def set_password(self, name: str, password: str) -> None: ...
    def del_password(self, name: str) -> None: ...
    def lock(self, name: str, locked: bool) -> None: ...
    def age(self, name: str, aging: Aging) -> None: ...
    def groupadd(self, group: Group) -> None: ...
    def groupmod(self, group: Group) -> None: ...
    def groupdel(self, name: str) -> None: ...
    def member(self, name: str, user: str, joins: bool) -> None: ...
    def set_members(self, name: str, users: Sequence[str]) -> None: ...


def are_of_busybox() -> bool:
    """Return whether this machine has no useradd, but adduser."""
    found = here.store("useradd")  # by the PATH that it was found in
    path = _paths.search_path()
    if path not in found or not _paths.isfile(found[path]):
        found[path] = _paths.which("useradd") or ""
    return not found[path] and _paths.which("adduser") is not None


def provider() -> Provider:
    """What carries changes of accounts out."""
    planned = overlay()
    if planned is not None:
        return planned.accounts
    return busybox if are_of_busybox() else shadow_utils
