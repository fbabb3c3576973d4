# SPDX-License-Identifier: Apache-2.0
"""A machine does not fall asleep while a run changes it; a real logind is asked in
tests/machine/test_schedule.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runner.engine.context import Listeners, from_first_change
from runner.model.events import ChangerCalled, RunStarted
from runner.pipeline import awake
from runner.support.redaction import Secrets


@pytest.mark.parametrize(("there", "asked"), [(True, 1), (False, 0)])
def test_only_a_change_asks_for_a_lock_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, asked: int
) -> None:
    started: list[Sequence[str]] = []

    @contextmanager
    def running(argv: Sequence[str], **options: Any) -> Iterator[None]:
        started.append(argv)
        yield
        started.remove(argv)

    monkeypatch.setattr(awake.programs, "running", running)
    monkeypatch.setattr(awake, "LOGIND", (str(tmp_path / ("" if there else "none")),))
    listeners = Listeners((), Secrets())
    with from_first_change(listeners, awake.keep):
        listeners.emit(RunStarted(1, False, "run"))
        assert started == []
        for _ in range(2):
            listeners.emit(ChangerCalled("file.write", "/x", {}))
            assert len(started) == asked
    assert started == []


def test_a_run_goes_on_where_there_is_no_such_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awake, "LOGIND", (str(tmp_path),))
    monkeypatch.setattr(awake, "PROGRAM", "/no/such")
    listeners = Listeners((), Secrets())
    with from_first_change(listeners, awake.keep):
        listeners.emit(ChangerCalled("file.write", "/x", {}))
    assert listeners.lost == []
