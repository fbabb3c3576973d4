"""Fixtures of all tests."""

from pathlib import Path

import pytest
from command import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
