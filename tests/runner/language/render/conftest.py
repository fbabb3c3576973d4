# SPDX-License-Identifier: Apache-2.0
"""A session without a tree, for templates alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.pipeline.session import Session
from runner.sources.config.load import load


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("filters")
    (folder / "runner.yaml").write_text("{}")
    options, _ = load(str(folder / "runner.yaml"), {"cachedir": str(folder / "cache")}, os.environ)
    found = Session(options)
    with found.opened():
        yield found
