#!/usr/bin/python
# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
---
module: bundle
short_description: Install runner on the host
description:
  - Unpacks the bundle (C(runner bundle)) of the controller's runner into a directory of the host
    that is called like its digest, and lets a link lead to it. The other modules do not need it.
options:
  folder:
    description: The directory of the bundles; the last three are kept.
    type: path
    default: /opt/runner
  link:
    description: The link, which is what people and timers start.
    type: path
    default: /usr/local/bin/runner
requirements:
  - runner on the controller, for the Python that runs Ansible
  - Python 3.11 or newer on the host
author:
  - The authors of runner
attributes:
  check_mode:
    support: full
    description: Tells whether it would be installed.
"""

EXAMPLES = r"""
- name: runner
  runner.runner.bundle:
"""

RETURN = r"""
program:
  description: What the link leads to.
  returned: success
  type: str
"""
