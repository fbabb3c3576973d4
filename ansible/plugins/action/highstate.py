# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.runner.runner.plugins.plugin_utils.push import RunnerAction


class ActionModule(RunnerAction):
    """Everything that the top file gives the host."""

    def words(self, args):
        return ["highstate"], ""
