# SPDX-License-Identifier: Apache-2.0
"""What a dry run sees of packages that it only plans, with dnf."""

from __future__ import annotations

from both_runs import assert_foreseen, contents_of, tree
from debian import Debian
from rpm_versions import package, try_triggers, try_versions

LAYER = "dnf"
INIT = "none"


def test_files_of_dnfs_packages_are_foreseen(debian: Debian) -> None:
    debian.write("/etc/runner/runner.yaml", "providers: {pkg: dnf}\n")
    try_versions(debian)


def test_scripts_of_rpm_stay_open(debian: Debian) -> None:
    debian.write("/etc/runner/runner.yaml", "providers: {pkg: dnf}\n")
    files = {f"/etc/{name}": "one" for name in "abcde"}
    debian.run(package("1.0", files, "%post -p <lua>\nprint(1)"))
    debian.tree(all=tree(("tool",), contents_of(["/etc/tool", "/etc/a"])))
    dry = debian.results("sls", "all", "--test")
    assert "decided when pkg: tool is done" in dry["there /etc/tool"]["comment"]
    assert "decided when" not in dry["there /etc/a"]["comment"]


PRESETS = """
mkdir -p /usr/lib/systemd/system-preset
echo 'disable tool-off.service' >/usr/lib/systemd/system-preset/10-own.preset
"""
POST = """%post
if [ $1 -eq 1 ]; then
    systemctl --no-reload preset tool-on.service tool-off.service || :
fi
getent group tools >/dev/null || groupadd -r tools
"""


def test_presets_decide_which_units_are_enabled(debian: Debian) -> None:
    debian.write("/etc/runner/runner.yaml", "providers: {pkg: dnf}\n")
    files = {f"/etc/{name}": "one" for name in "abcde"}
    units = [f"/usr/lib/systemd/system/tool-{name}.service" for name in ("on", "off")]
    text = "-e '[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target'"
    debian.run(PRESETS + package("1.0", files | dict.fromkeys(units, text), POST))
    wants = "/etc/systemd/system/multi-user.target.wants"
    paths = [f"{wants}/tool-{name}.service" for name in ("on", "off")]
    states = {f"link {path}": {"test.nop": [{"onlyif": f"test -h {path}"}]} for path in paths}
    group = {"group": {"group.present": [{"name": "tools"}]}}
    dry = assert_foreseen(debian, {"tool": {"pkg.installed": []}, **states, **group})
    assert "onlyif" not in dry[f"link {paths[0]}"]["comment"]
    assert "onlyif" in dry[f"link {paths[1]}"]["comment"]


def test_triggers_of_rpm_are_followed(debian: Debian) -> None:
    debian.write("/etc/runner/runner.yaml", "providers: {pkg: dnf}\n")
    try_triggers(debian)
