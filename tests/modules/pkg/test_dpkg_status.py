# SPDX-License-Identifier: Apache-2.0
"""dpkg's record of packages is read without dpkg-query, and as dpkg-query reads it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command import Machine
from harness import HarnessHere
from needing import needs

from modules import cmd
from modules.pkg.apt import questions
from modules.pkg.apt.provider import STATUS
from modules.pkg.apt.status import rows_of
from runner.api import running

COLUMNS = "Package db:Status-Want db:Status-Status Version Architecture"
ALIKE = """\
Package: libx
Status: install ok installed
Maintainer: J\u00f6rg <j@example.org>
Architecture: amd64
Multi-Arch: same
Version: 1:2.0-1
Description: x
 Version: no
 .
 Status: none

Package: libx
Status: hold ok installed
Maintainer: J <j@example.org>
Architecture: i386
Multi-Arch: same
Version: 1:2.0-1
Description: x

Package: left
Status: deinstall ok config-files
Maintainer: J <j@example.org>
Architecture: all
Version: 2
Config-Version: 2
Description: x

Package: torn
Essential: yes
Status: install reinstreq half-installed
Maintainer: J <j@example.org>
Architecture: arm64
Version: 3~rc1
Description: x

Package: wanted
Status: hold ok not-installed

"""


@needs("dpkg-query")
def test_it_is_what_dpkg_query_says(tmp_path: Path) -> None:
    for text in (ALIKE, Path(STATUS[0]).read_text(encoding="utf-8")):
        (tmp_path / "status").write_text(text, encoding="utf-8")
        shown = "\\t".join(f"${{{column}}}" for column in COLUMNS.split()) + "\\n"
        argv = ["dpkg-query", f"--admindir={tmp_path}", "-W", "-f", shown, "--", "*"]
        said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        told = {tuple(line.split("\t")) for line in said.splitlines()}
        # it names those, too, that others only refer to
        assert {row for row in told if row[1:3] != ("unknown", "not-installed")} == {
            *(rows_of(text.encode().decode("latin-1")) or ())
        }


@pytest.mark.parametrize(
    "text",
    [
        "package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n",
        "Package: a\nStatus: install  ok installed\nArchitecture: all\nVersion: 1\n",
        "Package: a\nStatus: install ok installed\nVersion: 1\n",
        "Package: a\nStatus: install ok installed\nArchitecture: all\n",
        "Package: a\n",
    ],
)
def test_what_dpkg_does_not_write_so_is_left_to_it(text: str) -> None:
    assert rows_of(text) is None


@needs("apt-config")
def test_apt_is_told_what_it_asks_dpkg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(*settings: str) -> tuple[list[str], list[str]]:
        """What apt goes by of itself, and when it is asked here."""
        (tmp_path / "settings").write_text("".join(f"{line};\n" for line in settings))
        monkeypatch.setenv("APT_CONFIG", str(tmp_path / "settings"))
        alone = subprocess.run(["apt-config", "dump"], capture_output=True, text=True).stdout
        with running(HarnessHere()):
            here = questions.probe("apt-config", "dump").stdout
        return _architectures(alone), _architectures(here)

    monkeypatch.setattr(questions, "SETTINGS", (str(tmp_path / "no"), str(tmp_path / "none")))
    for settings in (
        (),
        ('DPkg::Post-Invoke {"rm -f /x/*.bin"}', 'X "$(NATIVE_ARCHITECTURE) $(ARCHITECTURE)"'),
        ('APT::Architectures {"arm64";}',),
        ('APT { Architecture "arm64"; }',),
        ('Dir { Bin { dpkg "/bin/false"; }; }',),
    ):
        alone, here = told(*settings)
        assert alone == here, settings


def _architectures(dump: str) -> list[str]:
    return [line for line in dump.splitlines() if line.startswith("APT::Architecture")]


@needs("apt-cache", "dpkg")
def test_apt_starts_no_dpkg_to_hear_of_architectures(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[list[str]] = []

    def probe(argv: list[str], **_: object) -> cmd.Completed:
        lines.append(argv)
        return cmd.Completed(0, "", "", 1)

    monkeypatch.setattr(cmd, "probe", probe)
    monkeypatch.setattr(questions, "SETTINGS", ("/nowhere/x", "/nowhere/y"))
    monkeypatch.setattr(questions, "UPDATES", "/nowhere/z")
    monkeypatch.delenv("APT_CONFIG", raising=False)
    own = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True).stdout
    with running(HarnessHere()):
        questions.probe("apt-cache", "policy")
    assert lines[0][1:3] == ["-o", f"APT::Architectures::={own.strip()}"]


APT_CACHE = """#!/bin/sh
for word; do case "$word" in Dir::Cache::srcpkgcache=*) index="${word#*=}";; esac; done
test -d "${index%/*}" && echo "$index" >>"$0.asked"
exec /usr/bin/apt-cache "$@"
"""


@needs("apt-cache")
def test_where_apt_keeps_no_index_one_run_has_one(machine: Machine) -> None:
    settings = machine.folder / "settings"
    settings.write_text('Dir::Cache::srcpkgcache "";')
    machine.environment["APT_CONFIG"] = str(settings)
    machine.program("apt-cache", APT_CACHE)
    asked = "{{ salt['pkg.latest_version']('bash') }}{{ salt['pkg.latest_version']('dpkg') }}"
    machine.write(all=f"x: {{test.nop: [comment: '{asked}']}}")
    machine("sls", "all", "--test")
    first, second = (machine.folder / "bin/apt-cache.asked").read_text().split()
    assert first == second
    assert not [*(machine.folder / "cache").glob("scratch-*")]
