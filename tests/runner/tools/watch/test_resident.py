# SPDX-License-Identifier: Apache-2.0
"""What the process that watches goes by."""

from __future__ import annotations

import time

import pytest

from runner.tools.watch import resident


@pytest.mark.parametrize("hours", [-24, -1, 1, 24])
def test_a_clock_that_is_set_hides_no_change(hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = time.time
    began = resident.Moment.now()
    before = clock()  # a file that is changed now has this time,
    monkeypatch.setattr(resident.time, "time", lambda: clock() + hours * 3600)
    after = resident.time.time()  # and this one after the clock was set
    assert began.since <= min(before, after)
