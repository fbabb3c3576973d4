# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests."""

import gc
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from command import ROOT, Machine

OWN = [Path("/var/cache/runner"), Path("/var/lib/runner")]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="leave out what tests/slow.txt names")


@cache
def _slow() -> frozenset[Path]:
    """The files and directories that take long, and `FILE::TEST` of single tests."""
    lines = (ROOT / "tests/slow.txt").read_text().splitlines()
    return frozenset(ROOT / "tests" / line for line in lines if not line.startswith("#"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is slow, unless the command line names it. None leaves it to pytest."""
    return True if config.getoption("--fast") and collection_path in _slow() else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the single tests that are slow."""
    if not config.getoption("--fast"):
        return
    names = {str(path) for path in _slow()}
    slow = [f"{item.path}::{item.name.split('[')[0]}" in names for item in items]
    config.hook.pytest_deselected(
        items=[item for item, is_slow in zip(items, slow, strict=True) if is_slow]
    )
    items[:] = [item for item, is_slow in zip(items, slow, strict=True) if not is_slow]


def pytest_configure() -> None:
    """A background job of a shell ignores SIGINT, and so would every runner that a test starts and
    interrupts.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _own_folders() -> Iterator[None]:
    """A test of root's leaves no history and no cache where this computer's own runner has them."""
    absent = [path for path in OWN if not path.exists()]
    yield
    assert not [path for path in absent if path.exists()], "made by this test or one beside it"


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """Files that a run of this process left open are closed: at its end runner leaves garbage to
    the system.
    """
    yield
    gc.unfreeze()
    gc.collect()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
