# SPDX-License-Identifier: Apache-2.0
"""What a dry run sees of packages that it only plans, with pacman."""

from __future__ import annotations

from both_runs import assert_foreseen, contents_of, tree
from debian import Debian

LAYER = "pacman"
INIT = "none"
FOLDER = "/usr/local/pacman"


def package(version: str, files: dict[str, str], more: str = "") -> str:
    """The shell script that makes a package `tool`, and puts it into the repository."""
    lines = [f"pkgname=tool pkgver={version} pkgrel=1 arch=(any)", more]
    lines += ["backup=(etc/a etc/b etc/c etc/d)", "package() {"]
    for path, text in files.items():
        lines.append(f'install -D /dev/stdin "$pkgdir/{path}" <<<"{text}"')
    build = "\n".join([*lines, "}"])
    return f"""
set -e
mkdir -p /tmp/build; cat >/tmp/build/PKGBUILD <<'END'
{build}
END
chown -R nobody /tmp/build {FOLDER}
cd /tmp/build
runuser -u nobody -- env HOME=/tmp/build PKGDEST={FOLDER} PKGEXT=.pkg.tar.zst makepkg -f -d
chown -R root {FOLDER}
repo-add -q {FOLDER}/testing.db.tar.gz {FOLDER}/tool-{version}-1-any.pkg.tar.zst
pacman -Sy
"""


def test_files_of_pacmans_packages_are_foreseen(debian: Debian) -> None:
    files = {f"etc/{name}": "one" for name in "abcd"}
    debian.run(package("1.0", files | {"usr/share/tool/goes": "x", "usr/share/tool/stays": "x"}))
    names = [f"/etc/{name}{end}" for name in "abcd" for end in ("", ".pacnew", ".pacsave")]
    paths = [*names, "/usr/share/tool/goes", "/usr/share/tool/stays", "/.PKGINFO", "/.MTREE"]
    seen = contents_of(paths)
    dry = assert_foreseen(debian, {"tool": {"pkg.installed": []}, **seen})
    assert "-one\n" in dry["in /etc/a"]["changes"]["diff"]
    new = {f"etc/{name}": "two" for name in "abc"} | {"etc/d": "one"}
    debian.run("echo one >/etc/a; rm /etc/b; echo mine >/etc/c; echo mine >/etc/d")
    debian.run("echo x >/usr/share/tool/goes; echo x >/usr/share/tool/stays")
    debian.run(package("2.0", new | {"usr/share/tool/stays": "y", "usr/share/tool/comes": "y"}))
    latest = {"tool": {"pkg.latest": []}}
    assert_foreseen(debian, latest | contents_of([*paths, "/usr/share/tool/comes"]))
    debian.run("echo two >/etc/a; rm /etc/b /etc/*.pac*; echo mine >/etc/c")
    assert_foreseen(debian, {"gone": {"pkg.removed": [{"name": "tool"}]}, **contents_of(paths)})


def test_an_archive_that_is_another_is_not_believed(debian: Debian) -> None:
    debian.run(package("1.0", {"etc/a": "one"}))
    path = f"{FOLDER}/tool-1.0-1-any.pkg.tar.zst"
    debian.run(f"head -c 16 /dev/zero | dd of={path} bs=1 seek=100 conv=notrunc")
    debian.tree(all=tree(("tool",), contents_of(["/etc/a"])))
    dry = debian.results("sls", "all", "--test")
    [warning] = dry["tool"]["warnings"]
    assert warning.endswith(f"{path}: it is not what the package lists say")
    assert "decided when pkg: tool is done" in dry["there /etc/a"]["comment"]


HOOKS = {
    "10-sysusers": ("Path", "usr/lib/sysusers.d/*.conf", "/usr/share/libalpm/scripts/own sysusers"),
    "20-tmpfiles": ("Path", "usr/lib/tmpfiles.d/*.conf", "/usr/share/libalpm/scripts/own tmpfiles"),
    "30-package": ("Package", "tool", "/bin/sh -c 'read name; echo $name >/etc/came'"),
    "40-other": ("Package", "!tool", "/bin/sh -c 'echo others >/etc/others'"),
    "50-replaced": ("Package", "tool", "/bin/sh -c 'echo others >/etc/others'"),
}
SCRIPT = """#!/bin/sh -e
case "$1" in
    sysusers) /usr/bin/systemd-sysusers ;;
    tmpfiles) /usr/bin/systemd-tmpfiles --create /usr/lib/tmpfiles.d/tool.conf ;;
esac
"""


def test_hooks_of_pacman_are_followed(debian: Debian) -> None:
    for name, (kind, target, command) in HOOKS.items():
        when = f"[Trigger]\nType = {kind}\nOperation = Install\nOperation = Upgrade\n"
        action = f"Target = {target}\n[Action]\nWhen = PostTransaction\nExec = {command}\n"
        debian.write(f"/usr/share/libalpm/hooks/{name}.hook", f"{when}{action}NeedsTargets\n")
    debian.write("/etc/pacman.d/hooks/50-replaced.hook", "")
    debian.write("/usr/share/libalpm/scripts/own", SCRIPT)
    debian.run("chmod 755 /usr/share/libalpm/scripts/own")
    files = {
        "usr/lib/sysusers.d/tool.conf": "g tools -",
        "usr/lib/tmpfiles.d/tool.conf": "d /var/lib/tool 0711 root tools",
    }
    debian.run(package("1.0", files))
    group = {"group.present": [{"name": "tools"}]}
    made = {"file.directory": [{"name": "/var/lib/tool"}, {"mode": "0711"}, {"group": "tools"}]}
    seen = contents_of(["/var/lib/tool", "/etc/came", "/etc/others"])
    states = {"tool": {"pkg.installed": []}, "group": group, "made": made, **seen}
    dry = assert_foreseen(debian, states)
    assert dry["group"]["result"] and dry["made"]["result"]
    assert "-tool\n" in dry["in /etc/came"]["changes"]["diff"]
