# SPDX-License-Identifier: Apache-2.0
"""When a dry run fetches the packages that it plans, and what it says where it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from debian import RUNNER, Debian
from debian_archive import FOLDER, INDEX, package

FILES = {"etc/tool": "one", "usr/bin/large": "large"}
SEEN = {
    "conf": {"file.managed": [{"name": "/etc/tool"}, {"contents": "two"}]},
    "none": {"file.absent": [{"name": "/etc/none"}]},
}
ADDRESS = "10.9.8.7:8000"
CACHE = "/var/cache/apt/archives"
OWN = "/etc/apt/sources.list.d/own.list"


@pytest.fixture
def machine(debian: Debian) -> Debian:
    """A machine with a network, and an archive behind it. Each request is a line of /run/asked."""
    needed = package("needed", "1", {"etc/needed": "x"})
    debian.run(package("tool", "1:1.0", FILES) + needed + INDEX)
    debian.run(
        "ip link add net0 type bridge; ip addr add 10.9.8.7/24 dev net0; ip link set net0 up"
    )
    server = f"cd {FOLDER}; exec python3 -m http.server 8000 2>/run/asked"
    debian.start("sh", "-c", server)
    debian.until(f"python3 -c 'import urllib.request as u; u.urlopen(\"http://{ADDRESS}/\")'")
    debian.write(OWN, f"deb [trusted=yes] http://{ADDRESS} ./\n")
    debian.run("apt-get -q update")
    debian.tree(all=json.dumps({"tool": {"pkg.installed": []}, **SEEN}))
    return debian


def dry(machine: Debian, settings: str = "{}") -> dict[str, Any]:
    machine.write("/etc/runner/runner.yaml", f"foresee: {settings}\n")
    return machine.results("sls", "all", "--test")


def asked(machine: Debian) -> int:
    return machine.read("cat /run/asked").count(".deb HTTP")


def assert_decided(results: dict[str, Any], decided: bool) -> None:
    assert ("-one\n" in str(results["conf"]["changes"].get("diff"))) is decided, results["conf"]
    assert ("decided when" not in results["none"]["comment"]) is decided


def test_packages_are_fetched_once(machine: Debian) -> None:
    assert_decided(dry(machine), True)
    assert machine.read(f"ls {CACHE}/tool_*.deb") == f"{CACHE}/tool_1%3a1.0_all.deb"
    assert asked(machine) == 1
    machine.run(f"rm {CACHE}/*.deb")  # as images of containers do
    assert_decided(dry(machine), True)
    assert asked(machine) == 1


def test_no_more_is_fetched_than_is_wanted(machine: Debian) -> None:
    for settings in ("{packages: never}", "{packages: cache}"):
        results = dry(machine, settings)
        assert_decided(results, False)
        assert "warnings" not in results["tool"]
        assert asked(machine) == 0
    machine.run("apt-get -q -y install --download-only tool")
    assert_decided(dry(machine, "{packages: never}"), False)
    assert_decided(dry(machine, "{packages: cache}"), True)
    assert asked(machine) == 1


def test_limits_are_told(machine: Debian) -> None:
    for settings, told in (
        ("{size: 0}", "1 MiB would be fetched; `foresee: {size: MiB}` allows more"),
        ("{seconds: 0}", "fetching took too long; `foresee: {seconds: SECONDS}` allows more"),
    ):
        results = dry(machine, settings)
        assert_decided(results, False)
        [warning] = results["tool"]["warnings"]
        assert warning == f"what the packages bring is not foreseen: {told}"
    assert asked(machine) == 0


def that_never_comes(machine: Debian) -> None:
    """The archive of the tool, which the server begins to give and never does."""
    machine.run(f"rm {FOLDER}/tool_1.0_all.deb; mkfifo {FOLDER}/tool_1.0_all.deb")


def test_a_server_that_never_answers_is_told(machine: Debian) -> None:
    that_never_comes(machine)
    results = dry(machine, "{seconds: 2}")
    assert_decided(results, False)
    [warning] = results["tool"]["warnings"]
    assert warning.endswith("fetching took too long; `foresee: {seconds: SECONDS}` allows more")


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_dry_run_ends_when_asked_while_it_fetches(machine: Debian, name: str) -> None:
    that_never_comes(machine)
    machine.write("/etc/runner/runner.yaml", "foresee: {seconds: 100000}\n")
    run = machine.start(RUNNER, "sls", "all", "--test")
    machine.until("pgrep -x apt-get && pgrep -x http")
    machine.run(f"kill -{name} {run}")
    machine.ended(run)
    machine.until("! pgrep -x apt-get")


def test_without_a_network_nothing_is_tried(machine: Debian) -> None:
    machine.run("ip link set net0 down")
    results = dry(machine)
    assert_decided(results, False)
    assert "warnings" not in results["tool"]


def test_an_archive_that_cannot_be_fetched_is_told(machine: Debian) -> None:
    machine.run(f"rm {FOLDER}/tool_1.0_all.deb")
    results = dry(machine)
    assert_decided(results, False)
    [warning] = results["tool"]["warnings"]
    assert "404  File not found" in warning


def test_another_archive_of_that_name_is_not_believed(machine: Debian) -> None:
    machine.run("apt-get -q -y install --download-only tool")
    path = machine.read(f"ls {CACHE}/tool_*.deb")
    machine.run(f"head -c 16 /dev/zero | dd of={path} bs=1 seek=200 conv=notrunc")
    results = dry(machine)
    assert_decided(results, False)
    [warning] = results["tool"]["warnings"]
    assert warning.endswith(f"{path}: it is not what the package lists say")
