# SPDX-License-Identifier: Apache-2.0
"""JSON is written as the package json writes it."""

from __future__ import annotations

import json

import pytest

from runner.support.json_writer import dumps

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
    assert dumps(value) == json.dumps(value)


def test_what_json_refuses_is_refused() -> None:
    for write in (dumps, json.dumps):
        with pytest.raises(TypeError, match="Object of type object is not JSON serializable"):
            write([object()])
