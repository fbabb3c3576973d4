# SPDX-License-Identifier: Apache-2.0
"""How execution functions are called as states."""

from laws import Scenario

SCENARIOS = [
    Scenario("module.run", {"test.echo": ["hello"]}, converges=False),
    Scenario("module.run", {"name": "test.arg", "args": ["hello"]}, converges=False),
    Scenario(
        "module.run", {"name": "test.arg", "m_name": "x", "kwargs": {"a": 1}}, converges=False
    ),
    Scenario("module.run", {"test.nope": []}, fails="Unavailable function: test.nope"),
    Scenario("module.run", {"test.false_": []}, breaks="'test.false_': False", converges=False),
    Scenario("module.wait", {"name": "test.ping"}, plans=False),
    Scenario("module.watch", {"name": "test.ping"}, plans=False),
]
