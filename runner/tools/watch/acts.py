# SPDX-License-Identifier: Apache-2.0
"""What is done about a state that is not as it should be."""

REPORT, DRIFT, ASK = ACTS = ("report", "drift", "ask")
