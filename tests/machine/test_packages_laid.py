# SPDX-License-Identifier: Apache-2.0
"""What a dry run sees of packages that it only plans: their files, as the real run finds them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from both_runs import assert_foreseen, contents_of, tree
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
    "var/tool/page": "here",  # in the folder that holds runner's own cache
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
    "sees edits": {"test.nop": [{"onlyif": "grep -q Pain /etc/tool/plain"}]},
    "sees modes": {"test.nop": [{"onlyif": "ls -l /usr/bin/tool | grep -q rwx------"}]},
    "sees removals": {"test.nop": [{"unless": "ls /var/lib/tool/state"}]},
    "sees more": {"test.nop": [{"unless": "ls /etc/tool | grep -c . | grep -q 3"}]},
    "sees new folders": {"test.nop": [{"onlyif": "grep -r here /var/tool"}]},
    "creates": {"cmd.run": [{"name": "true"}, {"creates": "/usr/bin/tool"}]},
    "unit": {"service.enabled": [{"name": "tool"}]},
}


def test_states_see_what_a_planned_package_brings(debian: Debian) -> None:
    debian.run(MAKE)
    debian.tree(all=tree(("tool",), STATES))
    dry = assert_foreseen(debian)
    assert "-host = here" in dry["managed"]["changes"]["diff"]


def test_commands_see_packages_wherever_a_state_before_has_planned_something(
    debian: Debian,
) -> None:
    """What lies over /var, and so over what was made of the packages, is not below the others."""
    debian.run(MAKE)
    first = {"first": {"file.managed": [{"name": "/var/first"}, {"contents": "here"}]}}
    dry = assert_foreseen(debian, {**first, "tool": {"pkg.installed": []}, **STATES})
    assert dry["runs"]["comment"] == dry["sees new folders"]["comment"] == "Success!"


def test_what_no_file_shows_is_undecided(debian: Debian) -> None:
    """The data of dpkg are not planned; a view is made of mounts."""
    debian.run(MAKE + "mkdir /srv/own")
    states: dict[str, Any] = {
        "tool": {"pkg.installed": []},
        "/srv/own/f": {"file.managed": [{"contents": "here"}]},
    }
    asking = ["dpkg -s tool", "dpkg-query -W tool", "mountpoint -q /srv/own", "findmnt /srv/own"]
    others = ["dpkg -s cron", "mountpoint -q /", "mountpoint -q /proc"]
    for command in (*asking, *others):
        states[command] = {"test.nop": [{"unless": command}]}
    debian.tree(all=json.dumps(states))
    dry = debian.results("sls", "all", "--test")
    said = {command: dry[command]["comment"] for command in (*asking, *others)}
    assert said == {
        **dict.fromkeys(asking[:2], "tool is only planned (depends on pkg: tool)"),
        **dict.fromkeys(asking[2:], "/srv/own is only planned (depends on file: /srv/own/f)"),
        **dict.fromkeys(others, "unless condition is true"),
    }


def test_an_upgrade_replaces_files_and_keeps_what_was_changed_here(debian: Debian) -> None:
    common = {
        "DEBIAN/conffiles": "\n".join(f"/etc/tool/{name}" for name in ("a", "b", "c", "d", "e")),
        "usr/share/tool/stays": "same",
    }
    one = common | {f"etc/tool/{name}": "one" for name in "abcde"}
    two = common | {f"etc/tool/{name}": "two" for name in "abcd"} | {"etc/tool/e": "one"}
    one |= {"usr/share/tool/goes": "x", "usr/share/tool/old/goes": "x", "etc/tool/gone": "x"}
    one["DEBIAN/conffiles"] += "\n/etc/tool/gone"
    two |= {"usr/share/tool/comes": "x", "usr/share/tool/stays": "other"}
    debian.run(package("tool", "1", one))
    debian.run(f"{INDEX} apt-get -q -y install tool; {package('tool', '2', two)} {INDEX}")
    debian.run("echo mine >/etc/tool/b; rm /etc/tool/c; echo two >/etc/tool/d; echo x >/etc/tool/e")
    paths = [f"/etc/tool/{name}" for name in ("a", "b", "c", "d", "e", "gone")]
    paths += [f"/etc/tool/{name}.dpkg-{end}" for name in "abcde" for end in ("dist", "old")]
    paths += [f"/usr/share/tool/{name}" for name in ("goes", "old", "comes", "stays")]
    latest = {"tool": {"pkg.latest": []}}
    assert_foreseen(debian, latest | contents_of(paths))


def test_configuration_is_replaced_where_a_state_says_so(debian: Debian) -> None:
    names = "ab"
    files = {"DEBIAN/conffiles": "\n".join(f"/etc/tool/{name}" for name in names)}
    debian.run(package("tool", "1", files | dict.fromkeys(("etc/tool/a", "etc/tool/b"), "1")))
    debian.run(f"{INDEX} apt-get -q -y install tool; echo mine >/etc/tool/a; rm /etc/tool/b")
    debian.run(package("tool", "2", files | dict.fromkeys(("etc/tool/a", "etc/tool/b"), "2")))
    debian.run(INDEX)
    paths = [f"/etc/tool/{name}{end}" for name in names for end in ("", ".dpkg-old", ".dpkg-dist")]
    forced = {"tool": {"pkg.latest": [{"force_conf_new": True}]}}
    assert_foreseen(debian, forced | contents_of(paths))


def test_dpkg_places_what_a_package_brings(debian: Debian) -> None:
    files = {f"usr/share/{name}": "new" for name in ("tool/a", "tool/b", "tool/kept", "other/c")}
    debian.run(package("tool", "1", files) + INDEX)
    debian.run(
        "mkdir -p /srv/real /usr/share; ln -s /srv/real /usr/share/other; groupadd -f toolers;"
        " dpkg-divert --local --rename --divert /usr/share/tool/a.real /usr/share/tool/a;"
        " dpkg-statoverride --force-all --add root toolers 0640 /usr/share/tool/b;"
        " printf 'path-exclude=/usr/share/tool/*\\npath-include=/usr/share/tool/[ab]*\\n'"
        " >/etc/dpkg/dpkg.cfg.d/own"
    )
    paths = ["/usr/share/tool/a", "/usr/share/tool/a.real", "/usr/share/tool/b"]
    paths += ["/usr/share/tool/kept", "/srv/real/c", "/usr/share/other/c"]
    states = contents_of(paths)
    states["rights"] = {
        "file.managed": [
            {"name": "/usr/share/tool/b"},
            {"user": "root"},
            {"group": "root"},
            {"mode": "0600"},
            {"replace": False},
        ]
    }
    debian.tree(all=tree(("tool",), states))
    dry = assert_foreseen(debian)
    assert dry["rights"]["changes"]["group"] == "root"


@pytest.mark.parametrize("function", ["removed", "purged"])
def test_files_go_with_their_package(debian: Debian, function: str) -> None:
    files = {"DEBIAN/conffiles": "/etc/tool/a", "etc/tool/a": "1", "usr/share/tool/a/b": "1"}
    files |= {"usr/share/shared/a": "1", "usr/share/tool-own/a": "1"}
    debian.run(package("tool", "1", files))
    debian.run(package("other", "1", {"usr/share/shared/b": "1"}) + INDEX)
    paths = ["/etc/tool/a", "/usr/share/tool", "/usr/share/shared", "/usr/share/tool-own"]
    seen = contents_of(paths)
    gone = {"gone": {f"pkg.{function}": [{"name": "tool"}]}}
    for before in ("tool other", ""):
        if before:
            debian.run(f"apt-get -q -y install {before}; echo x >/usr/share/tool-own/mine")
            debian.tree(all=json.dumps(gone | seen))
        else:  # planned, and gone in the same run
            debian.tree(all=tree(("tool", "other"), gone | seen))
        assert_foreseen(debian)
        debian.run("dpkg --purge tool other; rm -rf /usr/share/tool-own")


def test_a_package_of_a_file_is_foreseen(debian: Debian) -> None:
    debian.run(package("tool", "1", {"etc/tool/a": "1"}) + INDEX)
    debian.run("mv /srv/archive/tool_1_all.deb /srv/own.deb; rm /srv/archive/Packages")
    installed = {"tool": {"pkg.installed": [{"sources": [{"tool": "/srv/own.deb"}]}]}}
    assert_foreseen(debian, installed | contents_of(["/etc/tool/a", "/etc/tool/b"]))


def test_an_archive_that_fills_the_disk_is_refused(debian: Debian) -> None:
    folder = "/srv/packages/tool-1"
    debian.run(package("tool", "1"))
    debian.run(f"mkdir -p {folder}/usr/share; truncate -s 512M {folder}/usr/share/zeros")
    debian.run(f"dpkg-deb -Zgzip -z1 -b {folder} /srv/archive; rm -r {folder}; {INDEX}")
    debian.tree(all=tree(("tool",), contents_of(["/usr/share/zeros"])))
    dry = debian.results("sls", "all", "--test")
    [warning] = dry["tool"]["warnings"]
    assert warning == (
        "what the packages bring is not foreseen: /srv/archive/tool_1_all.deb: what is in it is far"
        " larger than itself"
    )
    assert "decided when pkg: tool is done" in dry["there /usr/share/zeros"]["comment"]
    debian.run("find /var/cache/runner -size +1M | grep . && exit 1 || true")


def test_packages_go_where_commands_cannot_see_the_plan(debian: Debian) -> None:
    debian.run(package("other", "1", {"usr/share/shared/b": "1"}) + package("tool", "1"))
    made = "/srv/packages/tool-1"
    many = f"{made}/usr/share/many"  # more than commands are shown
    debian.run("bash", "-c", f"mkdir -p {many}/{{1..5100}}; dpkg-deb -b {made} /srv/archive")
    debian.run(f"{INDEX} apt-get -q -y install other")
    gone = {"gone": {"pkg.removed": [{"name": "other"}]}}
    debian.tree(all=tree(("tool",), gone | contents_of(["/usr/share/shared"])))
    assert_foreseen(debian)
