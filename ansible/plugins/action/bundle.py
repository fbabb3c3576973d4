# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.runner.runner.plugins.plugin_utils.push import Controller, Host

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """runner itself on the host, for its own users and timers."""

    TRANSFERS_FILES = False
    _supports_check_mode = True
    options = {
        "folder": {"type": "path", "default": "/opt/runner"},
        "link": {"type": "path", "default": "/usr/local/bin/runner"},
    }

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(self.options)
        host = Host(self, task_vars or {}, args["folder"])
        with Controller() as controller:
            archives = controller.ask()["archives"]
            request = {"link": args["link"], "test": self._task.check_mode}
            return host.ask(controller, archives, request)
