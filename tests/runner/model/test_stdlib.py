# SPDX-License-Identifier: Apache-2.0
"""What stands in for parts of Python's library does what these do."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from runner.model import stdlib

# ---------------------------------------------------------------- json

VALUES = [
    {"a": [1, -2.5, None, True, "é\n\ud800"], "b": {}, 3: (1, []), "": {"x": 10**30}},
    ["", "quoted \"'"],
    "text",
    7,
    float("inf"),
    None,
    [],
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_it_is_what_json_writes(value: object) -> None:
    assert stdlib.dumps(value) == json.dumps(value)


def test_what_json_refuses_is_refused() -> None:
    for write in (stdlib.dumps, json.dumps):
        with pytest.raises(TypeError, match="Object of type object is not JSON serializable"):
            write([object()])


# ---------------------------------------------------------------- threading

LOOK = """
import sys, _thread
from runner.model.stdlib import in_main_thread
{first}
lock = _thread.allocate_lock()
lock.acquire()
seen = []
def look():
    seen.append(in_main_thread())
    lock.release()
_thread.start_new_thread(look, ())
lock.acquire()
print(in_main_thread(), seen, "threading" in sys.modules)
"""


def test_one_thread_is_the_main_one() -> None:
    for first, known in (("", False), ("import threading", True)):
        argv = [sys.executable, "-S", "-c", LOOK.format(first=first)]
        environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
        done = subprocess.run(argv, capture_output=True, text=True, env=environment)
        assert (done.stdout, done.stderr) == (f"True [False] {known}\n", "")
