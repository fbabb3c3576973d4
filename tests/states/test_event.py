# SPDX-License-Identifier: Apache-2.0
"""event.send, as its listeners see it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Machine


@pytest.mark.parametrize("wanted", [True, ["PLAIN", "DB_PASSWORD", "NOT_THERE"]])
def test_an_event_carries_variables_without_secrets(machine: Machine, wanted: Any) -> None:
    machine.environment |= {"PLAIN": "seen by all", "DB_PASSWORD": "Vee7ohnu"}
    machine.write(a=f"tag: {{event.send: [{{with_env: {json.dumps(wanted)}}}]}}")
    path = machine.folder / "events"
    machine("sls", "a", "--events", str(path))
    assert "Vee7ohnu" not in path.read_text()
    events = [json.loads(line) for line in path.read_text().splitlines()]
    (sent,) = (event["data"] for event in events if event["event"] == "custom_event")
    assert sent["environ"]["PLAIN"] == "seen by all"
    assert wanted is True or sent["environ"].keys() == {"PLAIN", "DB_PASSWORD"}
