# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands what comes of each host to `runner fleet`, which started ansible-playbook."""

from __future__ import annotations

DOCUMENTATION = """
name: fleet
type: stdout
short_description: results of runner as JSON lines, for C(runner fleet)
description:
  - Writes one line of JSON for each host that begins, and for each that ends, to the file
    descriptor that the environment variable E(RUNNER_FLEET_EVENTS) names.
  - It is what C(runner fleet) reads; other callbacks show results to people.
options: {}
"""

import json
import os
import time

from ansible.plugins.callback import CallbackBase

TASKS = "runner.runner."


class CallbackModule(CallbackBase):
    """Writes events instead of texts."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "runner.runner.fleet"

    def __init__(self):
        super().__init__()
        self._events = int(os.environ.get("RUNNER_FLEET_EVENTS") or -1)
        self._began = {}

    def v2_runner_on_start(self, host, task):
        """A host begins."""
        if _is_ours(task):
            self._began[host.get_name()] = time.monotonic()
            self._write(event="start", host=host.get_name())

    def v2_runner_on_ok(self, result):
        """A host is done."""
        self._ended(result, "ok")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        """Some state failed on a host, or nothing could run there."""
        self._ended(result, "failed")

    def v2_runner_on_unreachable(self, result):
        """There is no way to a host."""
        self._ended(result, "unreachable")

    def _ended(self, result, kind):
        task = getattr(result, "task", None) or result._task
        if not _is_ours(task):
            return
        host = (getattr(result, "host", None) or result._host).get_name()
        data = getattr(result, "result", None)
        data = result._result if data is None else data
        seconds = time.monotonic() - self._began.get(host, time.monotonic())
        self._write(
            event="end",
            host=host,
            kind=kind,
            seconds=round(seconds, 2),
            **{key: data[key] for key in ("msg", "salt", "exit_code") if key in data},
        )

    def _write(self, **event):
        if self._events < 0:
            return
        line = json.dumps(event, default=str).encode() + b"\n"
        while line:
            line = line[os.write(self._events, line) :]


def _is_ours(task):
    return task.action.startswith(TASKS)
