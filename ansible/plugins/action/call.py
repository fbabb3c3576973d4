# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

from ansible_collections.runner.runner.plugins.plugin_utils import results
from ansible_collections.runner.runner.plugins.plugin_utils.push import RunnerAction

REFUSED = "a dry run does not call it"  # what runner says of functions that change something


class ActionModule(RunnerAction):
    """One execution function; its arguments may be secret, so they are on no command line."""

    options = {
        "fun": {"type": "str", "required": True},
        "args": {"type": "raw", "default": []},
    }

    def words(self, args):
        given = args["args"] if isinstance(args["args"], (dict, list)) else [args["args"]]
        words = ["call", args["fun"], "-", "--detailed-exitcodes"]
        return words, json.dumps(given, default=str) + "\n"

    def read(self, done, args):
        salt = results.answer(done)
        code = done["exit_code"]
        failed = code not in (0, 2)
        local = salt.get("local")
        if failed and self._task.check_mode and REFUSED in str(local):
            return {
                "salt": {"local": "\n".join(local).splitlines()[0]},
                "exit_code": 0,
                "changed": True,
                "msg": "this would change the host",
            }
        result = {
            "salt": salt,
            "exit_code": {0: 0, 1: 1, 2: 0}.get(code, 2),
            "failed": failed,
            "changed": code in (2, 6),
            "warnings": results.warnings(done["err"]),
        }
        if failed:
            result["msg"] = "\n".join(map(str, local)) if isinstance(local, list) else str(local)
        return result
