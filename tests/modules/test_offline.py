# SPDX-License-Identifier: Apache-2.0
"""On a system that does not run, nothing of the library alters the kernel that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from harness import HarnessHere

from modules import kmod, mount, sysctl, system
from modules._machine import processes
from modules.security import selinux
from runner.api import StateFailed, changes_allowed, running

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (sysctl.assign, ("net.ipv4.conf.lo.forwarding", "1")),
    (kmod.load, ("loop",)),
    (kmod.remove, ("loop",)),
    (mount.mount, ("/mnt", "tmpfs")),
    (mount.remount, ("/mnt", "tmpfs")),
    (mount.umount, ("/mnt",)),
    (mount.swapon, ("/swap",)),
    (mount.swapoff, ("/swap",)),
    (system.reboot, ()),
    (selinux.setsebools, ({"a": "on"},)),
    (selinux.setsemod, ("a", True)),
    (selinux.install_semod, ("/a",)),
    (selinux.remove_semod, ("a",)),
]


@pytest.mark.parametrize(
    ("function", "words"), CALLS, ids=lambda each: getattr(each, "__name__", "")
)
def test_what_runs_is_left_alone(
    function: Callable[..., Any], words: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []

    def starts(argv: list[str], **_: object) -> processes.Completed:
        started.append(argv)
        return processes.Completed(1, "", "")

    monkeypatch.setattr(processes, "run_to_end", starts)
    with (
        running(HarnessHere(offline=True)),
        changes_allowed(),
        pytest.raises(StateFailed, match="this system does not run"),
    ):
        function(*words)
    assert not started
