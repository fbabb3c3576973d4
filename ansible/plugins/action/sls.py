# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.runner.runner.plugins.plugin_utils.push import RunnerAction


class ActionModule(RunnerAction):
    """Some SLS files."""

    options = {"name": {"type": "list", "elements": "str", "required": True}}

    def words(self, args):
        return ["sls", ",".join(args["name"])], ""
