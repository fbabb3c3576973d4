"""Fixtures of all tests."""

import signal
from pathlib import Path

import pytest
from command import Machine


def pytest_configure() -> None:
    """A background job of a shell ignores SIGINT, and so would every runner that a test starts and
    interrupts.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
