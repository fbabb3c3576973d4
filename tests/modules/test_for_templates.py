# SPDX-License-Identifier: Apache-2.0
"""Execution functions that templates call."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere, own_name

from modules import (
    _paths,
    cmd,
    dnsutil,
    environ,
    pkg,
    ps,
    random,
    service,
    smbios,
    state,
    status,
    test,
)
from modules._machine import processes
from modules.storage import disk
from runner.api import StateFailed, running


@pytest.fixture(autouse=True)
def here() -> Iterator[HarnessHere]:
    current = HarnessHere(opts={"id": "m1"})
    with running(current):
        yield current


OWN_NAME = Path("/proc/self/comm").read_text().strip()  # pytest or python


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (lambda: dnsutil.check_ip("127.0.0.1"), True),
        (lambda: dnsutil.check_ip("x"), False),
        (lambda: dnsutil.A("127.0.0.1"), ["127.0.0.1"]),
        (lambda: len(random.get_str(12, chars="a")), 12),
        (lambda: random.seed(10) == random.seed(10), True),
        (lambda: random.rand_int(3, 3), 3),
        (lambda: random.hash_("abc", "md5"), "900150983cd24fb0d6963f7d28e17f72"),
        (lambda: random.str_encode("abc"), "YWJj"),
        (lambda: environ.get("NO_SUCH_VARIABLE", "d"), "d"),
        (lambda: status.time("as %% written"), "as % written"),
        (lambda: test.provider("cmd"), "cmdmod"),
        (lambda: environ.has_value("PATH"), True),
        (
            lambda: [cmd.retcode(word, python_shell=True) for word in (True, False)],
            [0, 1],
        ),  # as YAML reads `true` and `false`
        (lambda: test.collatz(6)[0], [6, 3, 10, 5, 16, 8, 4, 2]),
        (lambda: test.arg_clean("a", b=1, __pub_x=1), {"args": ["a"], "kwargs": {"b": 1}}),
        (lambda: test.conf_test(), "unconfigured"),
        (lambda: len(test.rand_str(hash_type="md5")), 32),
        (lambda: test.providers()["cmd"], "cmdmod"),
        (lambda: os.getpid() in (ps.pgrep(OWN_NAME[1:]) or ()), True),
        (
            lambda: (
                os.getpid()
                in (ps.pgrep(f"^.{OWN_NAME[1:]}$", user=own_name(), pattern_is_regex=True) or ())
            ),
            True,
        ),
        (lambda: ps.pgrep("pytest.*no-such-word", full=True), None),
        (lambda: ps.pgrep("python", user="nobody-of-this-name"), None),
        (lambda: ps.num_cpus() >= 1, True),
        (lambda: state.sls_exists("a,b"), False),
        (lambda: state.show_top(), {}),
        (lambda: disk.percent("/") == disk.usage("P")["/"]["capacity"], True),
        (lambda: disk.percent()["/"][-1], "%"),
        (lambda: disk.percent("/no/such/mount"), {}),
        (lambda: disk.inodeusage("l")["/"]["filesystem"] == disk.usage()["/"]["filesystem"], True),
    ],
)
def test_answers(found: Any, wanted: Any) -> None:
    assert found() == wanted


FSTYPE = ("-p", "-s", "TYPE", "-o", "value", "--")
BLKID = """/dev/sda1: LABEL="the boot" UUID="4-2" TYPE="ext4"
/dev/mapper/a-b: UUID="7" TYPE="LVM2_member"
"""


@pytest.mark.parametrize(
    ("call", "argv", "printed", "wanted"),
    [
        (
            lambda: disk.blkid(),
            ["blkid"],
            BLKID,
            {
                "/dev/sda1": {"LABEL": "the boot", "UUID": "4-2", "TYPE": "ext4"},
                "/dev/mapper/a-b": {"UUID": "7", "TYPE": "LVM2_member"},
            },
        ),
        (lambda: disk.blkid("/dev/x"), ["blkid", "--", "/dev/x"], None, {}),
        (lambda: disk.blkid(token="TYPE=xfs"), ["blkid", "-t", "TYPE=xfs"], "", {}),
        (lambda: disk.fstype("/dev/x"), ["blkid", *FSTYPE, "/dev/x"], "xfs\n", "xfs"),
        (lambda: disk.fstype("/dev/x"), ["blkid", *FSTYPE, "/dev/x"], "", ""),
        (
            lambda: disk.usage("m"),
            ["df", "-P", "-m"],
            (
                "Filesystem 1048576-blocks Used Available Capacity Mounted on\na b  10  4  6  40% "
                " /mnt/with a space\n"
            ),
            {
                "/mnt/with a space": {
                    "filesystem": "a b",
                    "1K-blocks": "10",
                    "used": "4",
                    "available": "6",
                    "capacity": "40%",
                }
            },
        ),
        (
            lambda: smbios.get("system-uuid"),
            ["dmidecode", "-s", "system-uuid"],
            "# SMBIOS\nab-c\n",
            "ab-c",
        ),
        (lambda: smbios.get("x"), ["dmidecode", "-s", "x"], "To Be Filled By O.E.M.\n", None),
        (lambda: smbios.get("x", clean=False), ["dmidecode", "-s", "x"], "None\n", "None"),
    ],
)
def test_what_programs_print(
    monkeypatch: pytest.MonkeyPatch, call: Any, argv: list[str], printed: str | None, wanted: Any
) -> None:
    def probe(words: list[str]) -> processes.Completed:
        assert words == argv
        return processes.Completed(2 if printed is None else 0, (printed or "").rstrip("\n"), "")

    monkeypatch.setattr(cmd, "probe", probe)
    assert call() == wanted


def test_df_takes_only_flags_that_leave_its_columns() -> None:
    with pytest.raises(StateFailed, match="Invalid flag passed to df: T"):
        disk.usage("mT")


@pytest.mark.parametrize(
    ("grains", "programs", "wanted"),
    [
        ({"os": "Debian", "os_family": "Debian"}, [], ("debian_service", "aptpkg")),
        ({"os": "Ubuntu", "os_family": "Debian"}, ["systemctl"], ("systemd_service", "aptpkg")),
        ({"os": "Rocky", "os_family": "RedHat"}, ["systemctl"], ("systemd_service", "")),
        (
            {"os": "Rocky", "os_family": "RedHat"},
            ["systemctl", "dnf"],
            ("systemd_service", "yumpkg"),
        ),
        (
            {"os": "Alpine", "os_family": "Alpine", "init": "openrc"},
            ["apk"],
            ("gentoo_service", "apkpkg"),
        ),
        ({"os": "Arch", "os_family": "Arch"}, ["systemctl"], ("systemd_service", "pacmanpkg")),
    ],
)
def test_providers_by_the_grains(
    monkeypatch: pytest.MonkeyPatch,
    grains: dict[str, str],
    programs: list[str],
    wanted: tuple[str, str],
) -> None:
    """Of another machine, as its templates ask for them; systemd is not booted here."""
    monkeypatch.setattr(service.PROVIDERS, "certain", lambda named=None: None)
    monkeypatch.setattr(
        _paths, "which", lambda program: f"/bin/{program}" if program in programs else None
    )
    with running(HarnessHere(grains=grains)):
        assert (test.provider("service"), test.provider("pkg")) == wanted


def test_functions_that_call_others(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(
        a="""{% set tried = salt['test.try'] %}
a:
  test.nop:
    - tried: {{ [tried('test.echo', text=5), tried('no.such') is none] }}
    - raised: {{ tried('test.exception', return_try_exception=True) }}
    - versions: {{ salt['test.versions_information']()['System Versions'].system }}
    - crossed: {{ salt['test.cross_test']('test.echo', ['x']) }}
    - grains: {{ salt['test.attr_call']().id }}
"""
    )
    (chunk,) = json.loads(machine("show", "low-sls", "a", "--out", "json").stdout)["local"]
    keys = ("tried", "raised", "versions", "crossed", "grains")
    assert [chunk[key] for key in keys] == [[5, True], "Test Exception", "Linux", "x", "m1"]
    raising = machine("call", "test.raise_exception", "ValueError", "x", code=1)
    assert "test.raise_exception: x" in raising.stderr
    assert "Odd: x" in machine("call", "test.raise_exception", "Odd", "x", code=1).stderr
    assert "begins with 1" in machine("call", "test.collatz", "0", code=1).stderr


def test_versions_that_yaml_read_as_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = SimpleNamespace(compare=lambda one, other: (one > other) - (one < other))
    monkeypatch.setattr(pkg, "provider", lambda: compared)
    assert (pkg.version_cmp(1.5, "1.5"), pkg.version_cmp(1, 2, ignore_epoch=True)) == (0, -1)
