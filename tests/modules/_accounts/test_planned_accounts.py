# SPDX-License-Identifier: Apache-2.0
"""Users and groups that a dry run plans, on the accounts of this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from harness import HarnessHere
from needing import needs_root

from modules import _accounts, file, group, shadow, user
from modules._texts.shell import Unread
from modules.pkg._scripts import declared_files
from runner.api import running
from runner.api.planning import changes_planned

pytestmark = needs_root("to read /etc/shadow")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """So often was each file read, in a dry run."""
    counted: Counter[str] = Counter()

    def counting(inner: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
        def lines(path: str) -> list[str]:
            counted[path] += 1
            return inner(path)

        return lines

    monkeypatch.setattr(_accounts, "lines", counting(_accounts.lines))
    with running(HarnessHere(dry=True)), changes_planned():
        yield counted


def test_each_file_of_accounts_is_read_once_however_many_are_planned(
    reads: Counter[str],
) -> None:
    for number in range(20):
        user.useradd(user.Account(f"zoe{number}", uid=47110 + number, own_group=True))
    files = ("passwd", "group", "shadow", "gshadow", "subuid", "subgid")
    assert [reads[f"/etc/{name}"] for name in files] == [1] * 6
    assert [user.info(f"zoe{number}")["uid"] for number in (0, 19)] == [47110, 47129]
    user.userdel("zoe3")
    user.usermod(user.Account("zoe4", new_name="eva", groups=["zoe5"]))
    group.set_members("zoe6", ["eva", "root"])
    shadow.set_days("eva", shadow.Aging(max=90))
    assert (user.info("zoe3"), user.info("zoe4")) == ({}, {})
    assert user.list_groups("eva") == ["zoe4", "zoe5", "zoe6"]
    assert (shadow.info("eva")["max"], shadow.info("eva")["passwd"]) == (90, "!")
    assert reads["/etc/passwd"] == reads["/etc/group"] == reads["/etc/shadow"] == 1


def test_what_a_state_writes_itself_is_seen(reads: Counter[str]) -> None:
    user.useradd(user.Account("zoe", uid=47110, own_group=True))
    passwd = file.read_bytes("/etc/passwd").replace(b"zoe:x:47110:", b"zoe:x:47111:")
    file.write("/etc/passwd", passwd + b"\n# a remark\nyan:x:47112:0::/:/bin/sh\nyan:x:9:0::/:/\n")
    assert (user.info("zoe")["uid"], user.info("yan")["uid"]) == (47111, 47112)
    user.usermod(user.Account("yan", shell="/bin/false"))
    written = file.read_bytes("/etc/passwd").decode()
    assert written.endswith("\n# a remark\nyan:x:47112:0::/:/bin/false\nyan:x:9:0::/:/\n")
    assert reads["/etc/passwd"] == 2


def test_names_that_are_not_utf8_have_subordinate_numbers(reads: Counter[str]) -> None:
    odd = b"zo\xeb".decode("utf-8", "surrogateescape")
    file.write("/etc/subuid", b"zo\xeb:100000:10\nzoe:200000:5\n")
    assert user.subordinate("subuids", odd) == ["100000-100009"]
    assert user.subordinate("subuids", "zoe") == ["200000-200004"]


@pytest.mark.parametrize("numbers", ["47110:", ":47110", "\u00b2:0", "0:\u00b2", f"{'9' * 5000}:0"])
def test_lines_without_numbers_are_passed_over(reads: Counter[str], numbers: str) -> None:
    lines = f"odd:x:{numbers}::/:/\n+@all::::::\nzoe:x:47111:0::/:/\n"
    file.write("/etc/passwd", lines.encode())
    file.write("/etc/group", f"odd:x:{numbers.partition(':')[0]}x:\nall:x:\u00b2:\n".encode())
    assert (user.info("odd"), user.info("zoe")["uid"]) == ({}, 47111)
    assert not group.info("all")


def test_a_script_gets_no_number_where_none_is_free(
    reads: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declared_files, "LAST_SYSTEM", 0)
    file.write("/usr/lib/sysusers.d/zoe.conf", b"g zoe -\n")
    with pytest.raises(Unread, match="free"):
        declared_files.make_accounts(["zoe.conf"])


def test_tables_are_taken_whole_once_for_the_accounts_that_packages_declare(
    reads: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write("/etc/passwd", b"root:x:0:0::/:/bin/sh\nold:x:998:998::/:/bin/sh\n")
    file.write("/etc/group", b"root:x:0:\nold:x:998:\n")
    lines = [f"u new{number} -\n" for number in range(20)] + ["u old -\ng late 5\nm new0 late\n"]
    file.write("/usr/lib/sysusers.d/zoe.conf", "".join(lines).encode())
    whole = Counter[str]()
    for look in (_accounts.users, _accounts.groups):

        def counting(look: Callable[[], object] = look) -> object:
            whole[look.__name__] += 1
            return look()

        monkeypatch.setattr(_accounts, look.__name__, counting)
    declared_files.make_accounts(["zoe.conf"])
    assert whole == {"users": 1, "groups": 1}
    new = [user.info(f"new{number}") for number in range(20)]
    assert [each["uid"] for each in new] == [999, *range(997, 978, -1)]
    assert [each["gid"] for each in new] == [each["uid"] for each in new]
    assert group.info("late")["members"] == ["new0"]
