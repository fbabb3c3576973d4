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
MISSPELT = {"name": "limits", "daemon": "journald", "settings": {"SystemMaxUsage": "200M"}}
SHIPPED = "cd /etc/systemd; echo '[Journal]' >>journald.conf; "
SECTIONED = {"SpeedMeter": True, "DHCPv4": {"DUIDType": "vendor"}}
NOWHERE = {"DNS": "::1", "DHCPv5": {"DUIDType": "vendor"}, "Login": {"KillExcludeUsers": "root"}}
ALL_UNKNOWN = (
    "networkd knows no setting DNS in [Network]: it is one of resolved; networkd knows no section"
    " [DHCPv5]: did you mean DHCPv6?; networkd knows no section [Login]: it is one of logind"
)
RULES = ["d /srv/app 0750 root root -"]
USED = f"mkdir -p /etc/tmpfiles.d; echo '{RULES[0]}' >/etc/tmpfiles.d/app.conf; "
USER = 'u app - "An application" /srv/app'
USERS = f"mkdir -p /etc/sysusers.d; echo '{USER}' >/etc/sysusers.d/app.conf; "
on = on_machine("systemd.")
SCENARIOS = [
    on("setting", **KEPT),
    on("setting", THERE, plans=False, **KEPT),
    on("setting", FOLDER + "echo x >limits.conf", **KEPT),
    on("setting", name="dns", daemon="resolved", settings=MANY),
    on("setting", FOLDER + "mkdir limits.conf", fails="is no file: remove it first", **KEPT),
    on("setting", fails="a backslash at the end", **{**KEPT, "settings": {"Storage": "a\\"}}),
    on("setting", name="net", daemon="networkd", settings=SECTIONED),
    on("setting", fails="SystemMaxUsage in [Journal]: did you mean SystemMaxUse?", **MISSPELT),
    on("setting", SHIPPED + "echo '#SystemMaxUsage=' >>journald.conf", **MISSPELT),
    on("setting", name="net", daemon="networkd", settings=NOWHERE, fails=ALL_UNKNOWN),
    on("setting_absent", THERE, name="limits", daemon="journald"),
    on("tmpfiles", name="app", rules=RULES),
    on("tmpfiles", USED, plans=False, name="app", rules=RULES),
    on("tmpfiles", USED + "echo >>/etc/tmpfiles.d/app.conf; ", name="app.conf", rules=RULES),
    on("tmpfiles", name="app", rules="d /run/app 0750 zoe", fails="Failed to resolve user 'zoe'"),
    on("tmpfiles", name="app", rules=[*RULES, "q /x y"], fails="app.conf:2: Invalid mode 'y'"),
    on(
        "tmpfiles", "mkdir -p /etc/tmpfiles.d/app.conf; ", fails="is no file", name="app", rules="x"
    ),
    on("tmpfiles_absent", USED, name="app"),
    on("tmpfiles_absent", plans=False, name="app"),
    on("sysusers", name="app", rules=USER),
    on("sysusers", USERS, plans=False, name="app", rules=USER),
    on("sysusers", name="app", rules="x y", fails="systemd-sysusers refuses the rules"),
    on("sysusers_absent", USERS, name="app"),
    on("sysusers_absent", plans=False, name="app"),
    on("setting_absent", plans=False, name="limits", daemon="journald"),
]
there = on_machine("systemd.", offline=True, name="app")
SCENARIOS += [
    there("tmpfiles", rules=[*RULES, "d /run/app 0755 root root -"]),
    there("tmpfiles_absent", USED),
    there("sysusers", rules=USER),
    there("sysusers_absent", USERS),
]
