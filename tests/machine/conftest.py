# SPDX-License-Identifier: Apache-2.0
"""Throw-away machines for tests (root on a Debian); elsewhere the tests are skipped and say why."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import debian as machines
import pytest
from chromium import Browser, Chromium
from debian import Debian, NoDebian
from debian_layer import lacking, layer_or_skip


@pytest.fixture(scope="module")
def layer(request: pytest.FixtureRequest) -> Path:
    """Return what the machines of a test file have beyond this computer's files: its LAYER, or what
    a test is parametrized with.
    """
    own = getattr(request.module, "LAYER", "base")
    return layer_or_skip(getattr(request, "param", own))


@pytest.fixture(scope="module")
def init(request: pytest.FixtureRequest) -> str:
    """Return what runs as PID 1 of the machines of a test file: its INIT says."""
    return str(getattr(request.module, "INIT", "systemd"))


def _debian(layer: Path, init: str = "systemd") -> Iterator[Debian]:
    try:
        with machines.debian(layer, init) as machine:
            yield machine
    except NoDebian as reason:
        lacking(reason)


@pytest.fixture
def debian(layer: Path, init: str) -> Iterator[Debian]:
    """A machine for this test alone: nothing that another test did is seen, and nothing has to be
    put back.
    """
    yield from _debian(layer, init)


@pytest.fixture(scope="module")
def workshop(layer: Path, init: str) -> Iterator[Debian]:
    """A machine for fixtures of a file, which make in it what its tests get as data, or only look
    at. No test has it.
    """
    yield from _debian(layer, init)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Hold tests to machines of their own: in what order they run must not matter."""
    assert isinstance(item, pytest.Function)
    assert "workshop" not in inspect.signature(item.function).parameters, "no test has it"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that wait for the clock (`waits = True`) come first: others run side by side with them,
    and nobody waits for them at the end.
    """
    items.sort(key=lambda item: not getattr(getattr(item, "function", None), "waits", False))


@pytest.fixture
def browser(process: Chromium) -> Iterator[Browser]:
    """A profile of its own in the browser of a file, which is its fixture `process`."""
    with process.browser() as browser:
        yield browser
