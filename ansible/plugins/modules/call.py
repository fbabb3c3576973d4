#!/usr/bin/python
# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: call
short_description: Call one execution function on the host
description:
  - The tree of a configuration on the controller, runner itself and the pillar of this host go to
    the host through the connection; nothing has to be installed there but Python 3.11 or newer.
  - The pillar is compiled on the controller, for the ID C(inventory_hostname) and the grains of the
    host, and handed over on standard input. It is on no disk, command line or environment.
options:
  fun:
    description: The execution function.
    type: str
    required: true
  args:
    description: Its arguments, a list, or a mapping of named ones with the others in C(__args__).
    type: raw
    default: []
author:
  - The authors of runner
extends_documentation_fragment:
  - runner.runner.push
"""

EXAMPLES = r"""
- name: What a function returns
  runner.runner.call:
    fun: pkg.version
    args: [nginx]
  register: nginx

- name: Show it
  ansible.builtin.debug:
    var: nginx.salt.local
"""

RETURN = r"""
salt:
  description: Salt's JSON; below C(local) what the function returned.
  returned: always
  type: dict
exit_code:
  description: That of runner; 0 done, 1 nothing was run, 2 failed, 3 another run was going on.
  returned: always
  type: int
msg:
  description: What went wrong.
  returned: failure
  type: str
"""
