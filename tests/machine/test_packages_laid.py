# SPDX-License-Identifier: Apache-2.0
"""What a dry run sees of packages that it only plans: their files, as the real run finds them."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian
from debian_archive import INDEX, package

CONFFILES = "/etc/tool/tool.conf\n/etc/tool/own.conf\n"
FILES = {
    "DEBIAN/conffiles": CONFFILES,
    "etc/tool/tool.conf": "port = 1\nhost = here",
    "etc/tool/own.conf": "shipped = 1",
    "etc/tool/plain": "plain",
    "usr/bin/tool": "#!/bin/sh\necho tool",
    "usr/lib/systemd/system/tool.service": "[Service]\nExecStart=/usr/bin/sleep 1000",
    "var/lib/tool/state": "one\ntwo",
}
MAKE = f"""
{package("tool", files=FILES)}
mkdir -p /etc/tool
echo mine >/etc/tool/own.conf
{INDEX}
"""

STATES: dict[str, dict[str, list[dict[str, Any]]]] = {
    "managed": {"file.managed": [{"name": "/etc/tool/tool.conf"}, {"contents": "port = 2"}]},
    "kept": {"file.managed": [{"name": "/etc/tool/own.conf"}, {"contents": "mine"}]},
    "replaced": {"file.replace": [{"name": "/etc/tool/plain"}, {"pattern": "pl"}, {"repl": "P"}]},
    "line": {"file.append": [{"name": "/var/lib/tool/state"}, {"text": "two"}]},
    "link": {"file.symlink": [{"name": "/etc/tool.link"}, {"target": "/etc/tool/plain"}]},
    "folder": {"file.directory": [{"name": "/etc/tool"}, {"mode": "0755"}]},
    "mode": {"file.managed": [{"name": "/usr/bin/tool"}, {"mode": "0700"}, {"replace": False}]},
    "gone": {"file.absent": [{"name": "/var/lib/tool/state"}]},
    "nothing": {"file.absent": [{"name": "/etc/tool/nothing"}]},
    "test": {"test.nop": [{"unless": "test -f /etc/tool/plain"}]},
    "grep": {"test.nop": [{"onlyif": "grep -q shipped /etc/tool/own.conf"}]},
    "which": {"test.nop": [{"onlyif": "which tool"}]},
    "runs": {"test.nop": [{"onlyif": "tool"}]},
    "creates": {"cmd.run": [{"name": "true"}, {"creates": "/usr/bin/tool"}]},
    "unit": {"service.enabled": [{"name": "tool"}]},
}


def tree(packages: tuple[str, ...], states: dict[str, Any]) -> str:
    installed = {name: {"pkg.installed": []} for name in packages}
    return json.dumps({**installed, **states})


def assert_foreseen(machine: Debian, code: int = 0) -> dict[str, Any]:
    """Run the tree both ways, and compare; the results of the dry run."""
    dry = machine.results("sls", "all", "--test", code=code)
    real = machine.results("sls", "all", code=code)
    wrong = [
        (name, *((side[name]["result"], side[name]["changes"]) for side in (dry, real)))
        for name, done in real.items()
        if (dry[name]["result"], dry[name]["changes"])
        != (None if done["result"] and done["changes"] else done["result"], done["changes"])
    ]
    assert not wrong, json.dumps(wrong, indent=1)
    assert not [name for name, each in dry.items() if "decided when" in each["comment"]]
    return dry


def test_states_see_what_a_planned_package_brings(fresh: Debian) -> None:
    fresh.run(MAKE)
    fresh.tree(all=tree(("tool",), STATES))
    dry = assert_foreseen(fresh)
    assert "-host = here" in dry["managed"]["changes"]["diff"]
