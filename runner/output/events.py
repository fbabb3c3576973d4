# SPDX-License-Identifier: Apache-2.0
"""Events as JSON lines, as they happen: for programs that watch a run."""

from __future__ import annotations

import json
import re
import time
from typing import Any, TextIO

from runner.model.events import (
    ChangerCalled,
    CustomEvent,
    CycleFound,
    Event,
    RunFinished,
    RunStarted,
    StateFinished,
    StatePlanned,
    StateStarted,
    Warned,
)
from runner.model.plain_values import plain
from runner.output import json_


class Events:
    """A listener that writes a line for each event, flushed at once."""

    def __init__(self, stream: TextIO) -> None:
        self.problem = ""
        self.closed = False  # nobody reads what is written any more
        self._stream = stream

    def __call__(self, event: Event) -> None:
        if isinstance(event, Warned | CycleFound):  # for the person who started it: on stderr
            return
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
        line = {"event": name, "time": round(time.time(), 6), **_facts(event)}
        if self.problem or self.closed:
            return
        try:
            self._stream.write(json.dumps(plain(line)) + "\n")
            self._stream.flush()
        except BrokenPipeError:
            self.closed = True
        except OSError as error:  # a full disk keeps no run from its work
            self._missed(error)

    def _missed(self, error: OSError) -> None:
        self.problem = f"not all events could be written: {error.strerror}"

    def close(self) -> None:
        """Close the file, which tries once more to write what it could not."""
        try:
            self._stream.close()
        except OSError as error:
            self._missed(error)


def _facts(event: Event) -> dict[str, Any]:
    if isinstance(event, RunStarted):
        return {"run": event.run, "states": event.total, "dry": event.dry}
    if isinstance(event, StateStarted):
        return {"state": event.chunk.tag, "place": str(event.chunk.place)}
    if isinstance(event, StatePlanned):
        return {"state": event.chunk.tag, "changes": event.changes, "comment": event.comment}
    if isinstance(event, ChangerCalled):
        state = event.chunk.tag if event.chunk else None
        return {
            "state": state,
            "function": event.function,
            "target": event.target,
            "before": event.before,
        }
    if isinstance(event, StateFinished):
        sure = {} if event.result.exact else {"exact": False}
        return {"state": event.result.tag, **json_.result(event.result), **sure}
    if isinstance(event, CustomEvent):
        return {"tag": event.tag, "data": event.data}
    assert isinstance(event, RunFinished)
    report = event.report
    left = [chunk.tag for chunk in report.left]
    ended = {
        "failed": report.failed,
        "changed": report.changed,
        "interrupted": report.interrupted,
        "left": left,
    }
    return ended | {"outcome": report.outcome, "errors": [str(error) for error in report.errors]}
