# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

from ansible_collections.runner.runner.plugins.plugin_utils.push import RunnerAction


class ActionModule(RunnerAction):
    """One state; its arguments may be secret, so they are on no command line."""

    options = {
        "fun": {"type": "str", "required": True},
        "args": {"type": "dict", "default": {}},
    }

    def words(self, args):
        return ["single", args["fun"], "-"], json.dumps(args["args"], default=str) + "\n"
