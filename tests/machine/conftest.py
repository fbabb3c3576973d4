"""Throw-away machines for tests (root on a Debian); elsewhere the tests are skipped and say why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import debian as machines
import debian_layer
import pytest
from debian import Debian, NoDebian
from debian_layer import NoLayer


def lacking(reason: object) -> None:
    """Skip, and say why; RUNNER_MACHINE=required makes that a failure."""
    if os.environ.get("RUNNER_MACHINE") == "required":
        pytest.fail(f"RUNNER_MACHINE=required, but: {reason}", pytrace=False)
    pytest.skip(f"no throw-away machine: {reason}")


@pytest.fixture(scope="session")
def layer() -> Path:
    """What every machine has beyond this computer's own files."""
    try:
        return debian_layer.layer()
    except NoLayer as reason:
        lacking(reason)
        raise


def _debian(layer: Path) -> Iterator[Debian]:
    try:
        with machines.debian(layer) as found:
            yield found
    except NoDebian as reason:
        lacking(reason)


@pytest.fixture
def fresh(layer: Path) -> Iterator[Debian]:
    """A machine for this test alone."""
    yield from _debian(layer)


@pytest.fixture(scope="module")
def debian(layer: Path) -> Iterator[Debian]:
    """A machine that the tests of a file share: each leaves it as it was, or uses what is its own."""
    yield from _debian(layer)


@pytest.fixture(scope="session")
def lasting(layer: Path) -> Iterator[Debian]:
    """A machine that stays until the end: time passes for it while other tests run."""
    yield from _debian(layer)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that wait for the clock (`late = True`) come last."""
    items.sort(key=lambda item: getattr(getattr(item, "function", None), "late", False))
