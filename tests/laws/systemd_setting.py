# SPDX-License-Identifier: Apache-2.0
"""How settings of systemd's daemons are tried; machines with a systemd of their own try what the
daemons make of it: tests/machine/test_system_details.py.
"""

from __future__ import annotations

from laws import on_machine

KEPT = {"name": "limits", "daemon": "journald", "settings": {"SystemMaxUse": "200M"}}
FOLDER = "mkdir -p /etc/systemd/journald.conf.d; cd /etc/systemd/journald.conf.d; "
THERE = FOLDER + "printf '[Journal]\\nSystemMaxUse=200M\\n' >limits.conf; "
MANY = {"DNS": ["10.0.0.1", "::1"], "DNSSEC": False, "ReadEtcHosts": True, "StaleRetentionSec": 0}
on = on_machine("systemd.")
SCENARIOS = [
    on("setting", **KEPT),
    on("setting", THERE, plans=False, **KEPT),
    on("setting", FOLDER + "echo x >limits.conf", **KEPT),
    on("setting", name="dns", daemon="resolved", settings=MANY),
    on("setting", FOLDER + "mkdir limits.conf", fails="is no file: remove it first", **KEPT),
    on("setting", fails="a backslash at the end", **{**KEPT, "settings": {"Storage": "a\\"}}),
    on("setting_absent", THERE, name="limits", daemon="journald"),
    on("setting_absent", plans=False, name="limits", daemon="journald"),
]
