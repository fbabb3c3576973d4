# SPDX-License-Identifier: Apache-2.0
"""The files of `runner schedule`."""

from __future__ import annotations

from runner.model.records import Record


class ScheduleFiles(Record):
    """Where the entry of cron, or the systemd timer, of the regular highstate is."""

    cron_file: str = "/etc/cron.d/runner"
    unit: str = "runner-highstate"
    unit_folder: str = "/etc/systemd/system"

    @property
    def timer_path(self) -> str:
        return f"{self.unit_folder}/{self.unit}.timer"


SCHEDULE = ScheduleFiles()
