"""Execution functions that templates call."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from harness import HarnessHere

from modules import dnsutil, environ, random, service, status, test
from runner.api import running


@pytest.fixture(autouse=True)
def here() -> Iterator[HarnessHere]:
    current = HarnessHere(opts={"id": "m1"})
    with running(current):
        yield current


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
    ],
)
def test_answers(found: Any, wanted: Any) -> None:
    assert found() == wanted


@pytest.mark.parametrize(
    ("grains", "programs", "wanted"),
    [
        ({"os": "Debian", "os_family": "Debian"}, [], ("debian_service", "aptpkg")),
        ({"os": "Ubuntu", "os_family": "Debian"}, ["systemctl"], ("systemd_service", "aptpkg")),
        ({"os": "Rocky", "os_family": "RedHat"}, ["systemctl"], ("systemd_service", "")),
        ({"os": "Rocky", "os_family": "RedHat"}, ["systemctl", "dnf"], ("systemd_service", "yumpkg")),
        ({"os": "Alpine", "os_family": "Alpine", "init": "openrc"}, ["apk"], ("gentoo_service", "apkpkg")),
        ({"os": "Arch", "os_family": "Arch"}, ["systemctl"], ("systemd_service", "pacmanpkg")),
    ],
)
def test_providers_by_the_grains(
    monkeypatch: pytest.MonkeyPatch, grains: dict[str, str], programs: list[str], wanted: tuple[str, str]
) -> None:
    """Of another machine, as its templates ask for them; systemd is not booted here."""
    monkeypatch.setattr(service.PROVIDERS, "certain", lambda named=None: None)
    monkeypatch.setattr(shutil, "which", lambda program: f"/bin/{program}" if program in programs else None)
    with running(HarnessHere(grains=grains)):
        assert (test.provider("service"), test.provider("pkg")) == wanted
