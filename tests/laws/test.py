# SPDX-License-Identifier: Apache-2.0
"""How the test states are tried."""

from laws import Scenario

SCENARIOS = [
    Scenario("test.nop", plans=False),
    Scenario("stateconf.set port=80", plans=False),
    Scenario("stateconf.context port=80", plans=False),
    Scenario("test.succeed_without_changes comment=fine", plans=False),
    Scenario("test.fail_without_changes comment='not here'", fails="not here"),
    Scenario("test.fail_without_changes comment=[not,1]", fails="not\n1"),
    Scenario("test.succeed_with_changes comment=done", converges=False),
    Scenario("test.configurable_test_state changes=true comment=c warnings=w", converges=False),
    Scenario("test.configurable_test_state changes=false result=true", plans=False),
    Scenario("test.configurable_test_state changes=false comment='{a: [1]}'", plans=False),
    Scenario(
        "test.configurable_test_state changes=false result=false allow_test_mode_failure=true",
        {"comment": "no"},
        fails="no",
    ),
    Scenario(
        "test.configurable_test_state changes=false result=false comment=x", plans=False, breaks="x"
    ),
    Scenario("test.show_notification text=Hello", plans=False),
    Scenario("test.check_pillar verbose=true", fails="Missing required argument"),
    Scenario("test.check_pillar present=a boolean=[b]", fails='Pillar key "a" is missing.'),
    Scenario("test.check_pillar integer=i string=s", fails='Pillar key "i" is missing.'),
    Scenario("test.check_pillar listing=l dictionary=d", fails='Pillar key "d" is missing.'),
    # a failure after the Plan: the dry run plans, the real run breaks
    Scenario("test.fail_with_changes comment=broken", plans=True, breaks="broken", converges=False),
]
