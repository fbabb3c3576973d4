#!/usr/bin/python
# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: highstate
short_description: Apply everything that the top file gives the host
description:
  - The tree of a configuration on the controller, runner itself and the pillar of this host go to
    the host through the connection; nothing has to be installed there but Python 3.11 or newer.
  - The pillar is compiled on the controller, for the ID C(inventory_hostname) and the grains of the
    host, and handed over on standard input. It is on no disk, command line or environment.
author:
  - The authors of runner
extends_documentation_fragment:
  - runner.runner.push
"""

EXAMPLES = r"""
- name: Everything that the top file gives this host
  runner.runner.highstate:
    config: /srv/tree/runner.yaml
"""

RETURN = r"""
salt:
  description: Salt's JSON; below C(local) the results of the states by their keys.
  returned: always
  type: dict
exit_code:
  description: That of runner; 0 done, 1 nothing was run, 2 failed, 3 another run was going on.
  returned: always
  type: int
msg:
  description: A summary with the states that failed.
  returned: always
  type: str
"""
