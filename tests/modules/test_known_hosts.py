# SPDX-License-Identifier: Apache-2.0
"""The lines that known_hosts has for a host are those that ssh-keygen finds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command import Machine
from harness import HarnessHere
from needing import needs

from modules.ssh import known_hosts
from runner.api import changes_allowed, running

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAI" + "B" * 43
LINES = [
    f"a.example ssh-ed25519 {KEY}",
    f" [a.example]:2222,B.example\tssh-rsa  {KEY} me@host",
    f"# a.example ssh-rsa {KEY}",
    f"{known_hosts.hashed('a.example')} ssh-rsa {KEY}",
    "a.example ssh-rsa",
    "a.example ssh-rsa # none",
    "",
    f"|1|x|y ssh-rsa {KEY}",
    f"b.example,a.example ssh-ed25519 {KEY}",
]
ODD = [
    f"*.example ssh-rsa {KEY}",
    f"@revoked a.example ssh-rsa {KEY}",
    f"b.example other {KEY}",
    f"b.example 1024 {KEY}",
]


@needs("ssh-keygen")
@pytest.mark.parametrize("odd", [None, *ODD])
def test_lines_are_those_that_the_program_finds(tmp_path: Path, odd: str | None) -> None:
    path = tmp_path / "known_hosts"
    path.write_text("".join(f"{line}\n" for line in [*LINES, *filter(None, [odd])]))
    with running(HarnessHere()):
        for host, port in (("a.example", None), ("a.example", 2222), ("B.example", 22)):
            found = known_hosts.entries(str(path), host, port)
            assert found == known_hosts._told(str(path), known_hosts.label(host, port).lower())


def test_no_program_is_started_for_plain_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "known_hosts"
    path.write_text("".join(f"{line}\n" for line in LINES))
    monkeypatch.setattr(known_hosts, "_told", None)
    with running(HarnessHere()):
        assert len(known_hosts.entries(str(path), "a.example")) == 3


def test_lines_that_are_replaced_are_compared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    class Line(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            compared.append(self)
            return str.__eq__(self, other)

    path, old = tmp_path / "known_hosts", [f"h{n}.example ssh-rsa {KEY}" for n in range(200)]
    path.write_text("".join(f"{line}\n" for line in old))
    monkeypatch.setattr(known_hosts, "split", lambda text: [*map(Line, text.splitlines())])
    with running(HarnessHere()), changes_allowed():
        known_hosts.write(str(path), None, [f"new ssh-rsa {KEY}"], old[:150])
    assert path.read_text().splitlines() == [*old[150:], f"new ssh-rsa {KEY}"]
    assert len(compared) < 1000


@needs("ssh-keygen")
@pytest.mark.parametrize("hidden", [True, False])
def test_a_host_in_capitals_is_found_in_lower_case_as_ssh_asks(
    machine: Machine, hidden: bool
) -> None:
    known = machine.folder / "known"
    state = f"config: {known}, key: {KEY}, enc: ssh-ed25519, hash_known_hosts: {hidden}"
    machine.write(a=f"Git.Example.com: {{ssh_known_hosts.present: [{state}]}}\n")
    assert machine.results("sls", "a")["Git.Example.com"]["changes"]
    for name in ("git.example.com", "Git.Example.com"):
        machine.write(a=f"{name}: {{ssh_known_hosts.present: [{state}]}}\n")
        assert not machine.results("sls", "a")[name]["changes"]
    asked = ["ssh-keygen", "-F", "git.example.com", "-f", str(known)]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert KEY in found.stdout, known.read_text()
