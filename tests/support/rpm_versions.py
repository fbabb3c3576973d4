# SPDX-License-Identifier: Apache-2.0
"""A package of rpm whose versions differ, for dry runs and real ones of dnf and zypper."""

from __future__ import annotations

from both_runs import assert_foreseen, contents_of
from debian import Debian

FOLDER = "/usr/local/rpms"
CONFIG = "\n".join([*(f"%config(noreplace) /etc/{name}" for name in "abcd"), "%config /etc/e"])


def package(version: str, files: dict[str, str], more: str = "") -> str:
    """The shell script that makes a package `tool`, and puts it into the repository."""
    lines = [f"Name: tool\nVersion: {version}\nRelease: 1\nSummary: x\nLicense: MIT"]
    lines += ["BuildArch: noarch\nProvides: /bin/sh /sbin/ldconfig\n%description\nx\n%install"]
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
createrepo_c -q {FOLDER}
if test -e /usr/bin/zypper; then zypper -q -n refresh; else dnf -q --refresh makecache; fi
"""


def try_versions(machine: Debian) -> None:
    """Try what states see of a package that comes, is replaced and goes."""
    files = {f"/etc/{name}": "one" for name in "abcde"}
    machine.run(package("1.0", files | {"/usr/share/tool/goes": "x", "/usr/share/tool/stays": "x"}))
    names = [f"/etc/{name}{end}" for name in "abcde" for end in ("", ".rpmnew", ".rpmsave")]
    paths = [*names, "/usr/share/tool/goes", "/usr/share/tool/stays"]
    dry = assert_foreseen(machine, {"tool": {"pkg.installed": []}, **contents_of(paths)})
    assert "-one\n" in dry["in /etc/a"]["changes"]["diff"]
    machine.run("echo one >/etc/a; rm /etc/b; for f in c d e; do echo mine >/etc/$f; done")
    machine.run("echo x >/usr/share/tool/goes; echo x >/usr/share/tool/stays")
    new = {f"/etc/{name}": "two" for name in "abce"} | {"/etc/d": "one"}
    machine.run(package("2.0", new | {"/usr/share/tool/stays": "y", "/usr/share/tool/comes": "y"}))
    latest = {"tool": {"pkg.latest": []}}
    assert_foreseen(machine, latest | contents_of([*paths, "/usr/share/tool/comes"]))
    machine.run("echo two >/etc/a; rm -f /etc/b /etc/*.rpm*; echo mine >/etc/c")
    assert_foreseen(machine, {"gone": {"pkg.removed": [{"name": "tool"}]}, **contents_of(paths)})


TRIGGERS = """
set -e
cat >/tmp/hooky.spec <<'END'
Name: hooky
Version: 1
Release: 1
Summary: x
License: MIT
BuildArch: noarch
%description
x
%transfiletriggerin -p <lua> -- /usr/lib/sysusers.d
-- as systemd's own
pid = posix.fork()
if pid == 0 then
    assert(posix.exec("/usr/bin/systemd-sysusers"))
elseif pid > 0 then
    posix.wait(pid)
end
%transfiletriggerin -- /usr/lib/tmpfiles.d
systemd-tmpfiles --create /usr/lib/tmpfiles.d/tool.conf || :
%filetriggerin -- /usr/share/tool
while read path; do
    echo $path >/etc/came
done
%triggerin -- tool
echo triggered >/etc/triggered
%triggerin -- others
echo others >/etc/others
%transfiletriggerin -p <lua> -- /usr/share/nobody
print(1)
%files
END
rpmbuild -bb -D '_rpmdir /tmp/hooky' -D '_topdir /tmp/rpmbuild' /tmp/hooky.spec
rpm -i --nodeps /tmp/hooky/noarch/*.rpm
"""


def try_triggers(machine: Debian) -> None:
    """Try what packages that are there do about one that comes."""
    machine.run(TRIGGERS)
    files = {f"/etc/{name}": "one" for name in "abcde"} | {
        "/usr/lib/sysusers.d/tool.conf": "g tools -",
        "/usr/lib/tmpfiles.d/tool.conf": "d /var/lib/tool 0711 root tools",
        "/usr/share/tool/stays": "x",
    }
    machine.run(package("1.0", files, "%post -p /sbin/ldconfig"))
    paths = ["/var/lib/tool", "/etc/came", "/etc/triggered", "/etc/others"]
    group = {"group.present": [{"name": "tools"}]}
    made = {"file.directory": [{"name": "/var/lib/tool"}, {"mode": "0711"}, {"group": "tools"}]}
    states = {"tool": {"pkg.installed": []}, "group": group, "made": made, **contents_of(paths)}
    dry = assert_foreseen(machine, states)
    assert dry["group"]["result"] and dry["made"]["result"]
    assert "-triggered" in dry["in /etc/triggered"]["changes"]["diff"]
