# SPDX-License-Identifier: Apache-2.0
"""Many machines at once: which hosts a target means, the playbook for them, and what came of it."""

ACTIONS = ("highstate", "sls", "call", "export")
FORKS = 20  # machines at once
