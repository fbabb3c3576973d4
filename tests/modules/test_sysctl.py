# SPDX-License-Identifier: Apache-2.0
"""Parameters of the running kernel."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Machine
from harness import apply

from modules import sysctl
from runner.api import StateFailed
from states.sysctl import present


def test_a_value_is_read_whole(machine: Machine) -> None:
    """A file of /proc/sys has no size, and gives nothing to a second read."""
    value = Path("/proc/sys/kernel/pid_max").read_text().strip()
    assert len(value) > 1
    answer = machine("call", "sysctl.get", "kernel.pid_max", "--out", "json").stdout
    assert str(json.loads(answer)["local"]) == value


@pytest.mark.parametrize("name", ["kernel.pid_max", "kernel/pid_max"])
def test_dots_or_slashes_separate_the_parts_of_a_name(machine: Machine, name: str) -> None:
    value = Path("/proc/sys/kernel/pid_max").read_text().strip()
    answer = machine("call", "sysctl.get", name, "--out", "json").stdout
    assert str(json.loads(answer)["local"]) == value
    answer = machine("single", "sysctl.present", f"name={name}.more", "value=1", "--test", code=2)
    assert f"sysctl {name}.more does not exist (where a module" in answer.stdout


def test_one_parameter_is_kept_once_however_it_is_written(machine: Machine, tmp_path: Path) -> None:
    running = Path("/proc/sys/kernel/pid_max").read_text().strip()
    kept = tmp_path / "kept"
    kept.write_text("kernel/pid_max=0\n")
    words = (f"value={running}", f"config={kept}")
    machine("single", "sysctl.present", "name=kernel.pid_max", *words)
    assert kept.read_text() == f"kernel.pid_max = {running}\n"
    answer = machine("single", "sysctl.present", "name=kernel/pid_max", *words).stdout
    assert "1 unchanged" in answer
    dotted, slashed = "net.ipv4.conf.eth0/5.forwarding", "net/ipv4/conf/eth0.5/forwarding"
    assert sysctl.parts(dotted) == sysctl.parts(slashed) == slashed.split("/")


def test_a_value_that_is_no_utf8_is_found_where_it_was_kept(
    machine: Machine, tmp_path: Path
) -> None:
    machine.config["offline"] = True
    kept = tmp_path / "kept"
    words = ("sysctl.present", "name=kernel.core_pattern", "value=a\udcffb", f"config={kept}")
    machine("single", *words)
    assert kept.read_bytes().endswith(b"\nkernel.core_pattern = a\xffb\n")
    assert "1 unchanged" in machine("single", *words).stdout
    shown = machine("call", "sysctl.show", f"config_file={kept}").stdout
    assert "a\ufffdb" in shown


@pytest.mark.parametrize(
    ("name", "shown", "said", "same"),
    [
        ("net.ipv4.ip_local_reserved_ports", "1-6,10-20", "10-20,1-5,6", True),
        ("net.ipv4.ip_local_reserved_ports", "1-6,10-20", "10-20,1-5", False),
        ("kernel.sysrq", "438", "0x1b6", True),
        ("kernel.sysrq", "8", "010", True),
        ("kernel.sysrq", "10", "010", False),
        ("net.ipv4.tcp_rmem", "4096 16 -1", "4096 0x10 -1", True),
        ("net.ipv4.tcp_rmem", "4096 16", "4096 16 1", False),
        ("kernel.hostname", "16", "0x10", False),
        ("net.core.rps_default_mask", "00ff", "ff", False),
        ("net.ipv4.tcp_congestion_control", "cubic", "reno", False),
    ],
)
def test_a_value_may_be_shown_in_another_form(
    monkeypatch: pytest.MonkeyPatch, name: str, shown: str, said: str, same: bool
) -> None:
    monkeypatch.setattr(sysctl, "_running", lambda name: shown)
    assert sysctl.is_value(name, said) is same


def test_a_parameter_that_only_takes_values(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is written when the file is, and no run after that finds drift."""
    flush, kept, name = tmp_path / "flush", str(tmp_path / "kept"), "net.ipv4.route.flush"
    flush.touch(0o200)
    written: list[object] = []
    monkeypatch.setattr(sysctl, "_path", lambda name: str(flush))
    monkeypatch.setattr(sysctl, "_running", lambda name: "")
    monkeypatch.setattr(
        sysctl.cmd,
        "execute",
        lambda argv: written.append(argv[-1]) or SimpleNamespace(retcode=0),
    )
    changes = [bool(apply(present, name, 1, config=kept).changes) for _ in range(3)]
    assert (changes, written) == ([True, False, False], [f"{name}=1"])
    with pytest.raises(StateFailed, match=r"only takes values.*onchanges"):
        apply(present, name, 1, persist=False)
