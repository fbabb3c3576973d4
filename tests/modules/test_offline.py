# SPDX-License-Identifier: Apache-2.0
"""On a system that does not run, nothing of the library alters the kernel that runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
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
]
POLICY: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (selinux.setsebools, ({"a": "on"}, True)),
    (selinux.setsemod, ("a", True)),
    (selinux.install_semod, ("/a",)),
    (selinux.remove_semod, ("a",)),
    (selinux.port_change_policy, ("add", "tcp", "81", "http_port_t")),
]


def named(value: object) -> str:
    return getattr(value, "__name__", "")


@pytest.mark.parametrize(("function", "words"), CALLS, ids=named)
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


@pytest.mark.parametrize(("function", "words"), POLICY, ids=named)
def test_a_policy_is_changed_for_the_boot(
    function: Callable[..., Any],
    words: tuple[Any, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Nothing is loaded into a kernel whose SELinux is somebody else's."""
    started: list[list[str]] = []

    def starts(argv: list[str], **_: object) -> processes.Completed:
        started.append(argv)
        return processes.Completed(0, "", "")

    for program in ("semanage", "semodule"):
        (tmp_path / program).symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(processes, "run_to_end", starts)
    with running(HarnessHere(offline=True)), changes_allowed():
        function(*words)
    assert started
    assert all("--noreload" in argv for argv in started)


def test_booleans_of_another_kernel_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The tools would set them there, too."""
    switch = tmp_path / "enforce"
    switch.touch()
    monkeypatch.setattr(selinux, "SWITCH", str(switch))
    with (
        running(HarnessHere(offline=True)),
        changes_allowed(),
        pytest.raises(StateFailed, match="the SELinux of this kernel is another system's"),
    ):
        selinux.setsebools({"a": "on"}, True)
