# SPDX-License-Identifier: Apache-2.0
"""What a dry run sees of packages that it only plans, with dnf."""

from __future__ import annotations

from both_runs import assert_foreseen, contents_of, tree
from debian import Debian

LAYER = "dnf"
INIT = "none"
FOLDER = "/usr/local/rpms"
CONFIG = "\n".join([*(f"%config(noreplace) /etc/{name}" for name in "abcd"), "%config /etc/e"])


def package(version: str, files: dict[str, str], more: str = "") -> str:
    """The shell script that makes a package `tool`, and puts it into the repository."""
    lines = [f"Name: tool\nVersion: {version}\nRelease: 1\nSummary: x\nLicense: MIT"]
    lines += ["BuildArch: noarch\nProvides: /bin/sh\n%description\nx\n%install"]
    for path, text in files.items():
        lines.append(f"mkdir -p %{{buildroot}}$(dirname {path}); echo {text} >%{{buildroot}}{path}")
    plain = [path for path in files if not path.startswith("/etc/")]
    spec = "\n".join([*lines, more, "%files", CONFIG, *plain])
    return f"""
set -e
cat >/tmp/tool.spec <<'END'
{spec}
END
rpmbuild -bb -D '_rpmdir {FOLDER}' -D '_topdir /tmp/rpmbuild' \\
-D '_build_name_fmt %%{{NAME}}-%%{{VERSION}}-%%{{RELEASE}}.noarch.rpm' /tmp/tool.spec
createrepo_c -q {FOLDER}; dnf -q --refresh makecache
"""


def test_files_of_dnfs_packages_are_foreseen(fresh: Debian) -> None:
    fresh.write("/etc/runner/runner.yaml", "providers: {pkg: dnf}\n")
    files = {f"/etc/{name}": "one" for name in "abcde"}
    fresh.run(package("1.0", files | {"/usr/share/tool/goes": "x", "/usr/share/tool/stays": "x"}))
    names = [f"/etc/{name}{end}" for name in "abcde" for end in ("", ".rpmnew", ".rpmsave")]
    paths = [*names, "/usr/share/tool/goes", "/usr/share/tool/stays"]
    dry = assert_foreseen(fresh, {"tool": {"pkg.installed": []}, **contents_of(paths)})
    assert "-one\n" in dry["in /etc/a"]["changes"]["diff"]
    fresh.run("echo one >/etc/a; rm /etc/b; for f in c d e; do echo mine >/etc/$f; done")
    fresh.run("echo x >/usr/share/tool/goes; echo x >/usr/share/tool/stays")
    new = {f"/etc/{name}": "two" for name in "abce"} | {"/etc/d": "one"}
    fresh.run(package("2.0", new | {"/usr/share/tool/stays": "y", "/usr/share/tool/comes": "y"}))
    latest = {"tool": {"pkg.latest": []}}
    assert_foreseen(fresh, latest | contents_of([*paths, "/usr/share/tool/comes"]))
    fresh.run("echo two >/etc/a; rm -f /etc/b /etc/*.rpm*; echo mine >/etc/c")
    assert_foreseen(fresh, {"gone": {"pkg.removed": [{"name": "tool"}]}, **contents_of(paths)})


def test_scripts_of_rpm_stay_open(fresh: Debian) -> None:
    fresh.write("/etc/runner/runner.yaml", "providers: {pkg: dnf}\n")
    files = {f"/etc/{name}": "one" for name in "abcde"}
    fresh.run(package("1.0", files, "%post -p <lua>\nprint(1)"))
    fresh.tree(all=tree(("tool",), contents_of(["/etc/tool", "/etc/a"])))
    dry = fresh.results("sls", "all", "--test")
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


def test_presets_decide_which_units_are_enabled(fresh: Debian) -> None:
    fresh.write("/etc/runner/runner.yaml", "providers: {pkg: dnf}\n")
    files = {f"/etc/{name}": "one" for name in "abcde"}
    units = [f"/usr/lib/systemd/system/tool-{name}.service" for name in ("on", "off")]
    text = "-e '[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target'"
    fresh.run(PRESETS + package("1.0", files | dict.fromkeys(units, text), POST))
    wants = "/etc/systemd/system/multi-user.target.wants"
    paths = [f"{wants}/tool-{name}.service" for name in ("on", "off")]
    states = {f"link {path}": {"test.nop": [{"onlyif": f"test -h {path}"}]} for path in paths}
    group = {"group": {"group.present": [{"name": "tools"}]}}
    dry = assert_foreseen(fresh, {"tool": {"pkg.installed": []}, **states, **group})
    assert "onlyif" not in dry[f"link {paths[0]}"]["comment"]
    assert "onlyif" in dry[f"link {paths[1]}"]["comment"]
