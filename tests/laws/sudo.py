# SPDX-License-Identifier: Apache-2.0
"""How rules of sudo are tried: by visudo, on a throw-away copy of the machine."""

from __future__ import annotations

from laws import on_machine

MAY = {"name": "deploy", "users": "zoe", "commands": "/bin/true"}
TEXT = "# Written by runner (sudo.rule)\\nzoe ALL=(root) /bin/true\\n"
THERE = f"printf '{TEXT}' >/etc/sudoers.d/deploy; chmod 440 /etc/sudoers.d/deploy; "
MANY = {
    "name": "many",
    "users": ["zoe", "DOMAIN\\max power", "#1001"],
    "groups": ["staff", "domain users"],
    "hosts": ["web1", "ALL"],
    "runas": ["www-data", "ALL"],
    "runas_groups": "adm",
    "commands": ["/bin/date --set=1:2,3 #x", "!/bin/sh", "sudoedit /etc/motd", "/bin/ls \\*"],
    "nopasswd": True,
    "setenv": True,
    "noexec": True,
}
on = on_machine("sudo.")
SCENARIOS = [
    on("rule", **MAY),
    on("rule", **MANY),
    on("rule", name="odd", users=["@include", "#include", "a,b"], commands="/bin/a"),
    on(
        "rule",
        name="some",
        users=["ALL", "!zoe"],
        groups="!staff",
        commands="/bin/a",
        hosts=["ALL", "!web1"],
        runas=["ALL", "!root"],
    ),
    on("rule", **{**MAY, "commands": "/bin/a \\"}),
    on("rule", THERE, plans=False, **MAY),
    on("rule", THERE, **MAY, nopasswd=True),
    on("rule", f"{THERE} chmod 644 /etc/sudoers.d/deploy", **MAY),
    on("rule", f"{THERE} chown 1 /etc/sudoers.d/deploy", **MAY),
    on("rule", fails="A rule needs `users` or `groups`", name="x", commands="ALL"),
    on("rule", fails="is no command of a rule", **{**MAY, "commands": "reboot"}),
    on("rule", fails="visudo refuses the rule", **{**MAY, "commands": "sha256:zz /bin/true"}),
    on("rule", "mkdir /etc/sudoers.d/deploy", fails="is no plain file", **MAY),
    on("rule", "rm $(which visudo)", fails="install sudo first", **MAY),
    on("absent", THERE, name="deploy"),
    on("absent", plans=False, name="deploy"),
]
