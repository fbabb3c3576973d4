"""Fixtures of all tests."""

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Machine


def pytest_configure() -> None:
    """A background job of a shell ignores SIGINT, and so would every runner that a test starts and
    interrupts.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
