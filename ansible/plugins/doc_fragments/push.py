# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules that run something on a host have in common."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  config:
    description:
      - The configuration (runner.yaml, or a Salt minion's file) on the controller.
      - Without it, C(runner.yaml) beside the playbook, else the one that runner itself would use.
    type: str
  pillar:
    description: More pillar values, merged over those of the tree.
    type: dict
    default: {}
  folder:
    description:
      - Where the host keeps runner, the tree, and the cache and history of these runs.
      - By default runner and the tree are below C(/var/lib/runner/fleet), and the rest is where
        runner on the host has it.
    type: path
requirements:
  - runner on the controller, for the Python that runs Ansible
  - Python 3.11 or newer on the host
attributes:
  check_mode:
    support: full
    description: A dry run (C(--test)).
  diff_mode:
    support: full
    description: The changes of each state.
"""
