# SPDX-License-Identifier: Apache-2.0
"""What a dry run says of things that a pending package may bring: undecided, with the state that
decides; and of those that none brings, what the real run does.
"""

from __future__ import annotations

import json
import re

from debian import Debian
from debian_archive import INDEX, package

POSTINST = """#!/bin/sh
for name in tooluser toolother toolgone; do useradd -r $name; done
echo 'postmaster: root' >/etc/aliases
chmod 755 /usr/bin/tool
"""
FILES = {
    "DEBIAN/postinst": POSTINST,
    "usr/bin/tool": "#!/bin/sh",
    "etc/tool/conf.d/x": "",
    "opt/tool/x": "",
    **{f"etc/tool{part}": "key = 1" for part in ("rc", "-kept", "-copy", "-gone", "-line", "-ini")},
    "etc/tool-own": "key = 1",
}
MAKE = f"""
{package("aaa")}
{package("ufw")}
{package("tool", files=FILES)}
{INDEX}
rm -f /etc/aliases
mkdir -p /srv/own /opt/own
echo x >/srv/own/there
"""

JINJA = {"template": "jinja"}
UNDECIDED = {
    "guard test": {"test.nop": [{"unless": "test -f /etc/toolrc"}]},
    "guard test negated": {"test.nop": [{"onlyif": "test ! -e /etc/toolrc"}]},
    "guard that skips": {"test.nop": [{"onlyif": "test -e /etc/toolrc"}]},
    "guard grep": {"test.nop": [{"unless": "grep -q key /etc/toolrc"}]},
    "guard of accounts": {"test.nop": [{"unless": "grep -q ^tooluser: /etc/passwd"}]},
    "guard which": {"test.nop": [{"unless": "which tool"}]},
    "guard program": {"test.nop": [{"onlyif": "tool"}]},
    "guard function": {"test.nop": [{"unless": [{"fun": "file.exists", "path": "/etc/toolrc"}]}]},
    "guard which function": {"test.nop": [{"unless": [{"fun": "cmd.which", "cmd": "tool"}]}]},
    "guard creates": {"cmd.run": [{"name": "true"}, {"creates": "/etc/toolrc"}]},
    "kept": {"file.managed": [{"name": "/etc/tool-kept"}, {"contents": "x"}, {"replace": False}]},
    "kept copy": {"file.copy": [{"name": "/etc/tool-copy"}, {"source": "/srv/own/there"}]},
    "folder": {"file.directory": [{"name": "/etc/tool"}]},
    "vendor's folder": {"file.directory": [{"name": "/opt/tool"}]},
    "own user": {"user.present": [{"name": "tooluser"}]},
    "own group": {"group.present": [{"name": "toolother"}]},
    "gone": {"file.absent": [{"name": "/etc/tool-gone"}]},
    "no user": {"user.absent": [{"name": "toolgone"}]},
    "alias": {
        "alias.present": [
            {"name": "postmaster"},
            {"target": "root"},
            {"require": [{"pkg": "tool"}]},
        ]
    },
    "one line": {"file.append": [{"name": "/etc/tool-line"}, {"text": "key = 1"}]},
    "setting": {
        "ini.options_present": [
            {"name": "/etc/tool-ini"},
            {"sections": {"DEFAULT_IMPLICIT": {"key": "1"}}},
        ]
    },
}
# by which package, nobody can tell
BY_ANY = {
    "a template": {"file.managed": [{"name": "/srv/own/t"}, {"source": "salt://t.j2"}, JINJA]},
    "a guard's function": {"test.nop": [{"onlyif": [{"fun": "dig.A", "host": "x"}]}]},
    "says yes": {"own.says": [{"answer": True}]},
    "says no": {"own.says": [{"answer": False}]},
}
OWN = """
def says(name, answer):
    return {"name": name, "result": answer, "comment": "Said", "changes": {}}
"""
DECIDED = {
    "d guard": {"test.nop": [{"unless": "test -f /srv/own/there"}]},
    "d guard absent": {"test.nop": [{"unless": "test -f /home/x"}]},
    "d guard grep": {"test.nop": [{"unless": "grep -q x /srv/own/there"}]},
    "d guard there": {"test.nop": [{"unless": "test -f /etc/hostname"}]},
    "d guard program": {"test.nop": [{"onlyif": "grep -q root /etc/hostname"}]},
    "d creates": {"cmd.run": [{"name": "true"}, {"creates": "/srv/own/there"}]},
    "d written": {"file.managed": [{"name": "/etc/tool-own"}, {"contents": "x"}]},
    "d own": {"file.directory": [{"name": "/opt/own/a"}]},
    "d deeper": {"file.managed": [{"name": "/opt/own/a/b"}, {"contents": "x"}, {"replace": False}]},
    "d local": {"file.directory": [{"name": "/usr/local/tool"}]},
    "d mode": {"file.directory": [{"name": "/etc/other"}, {"mode": "0700"}]},
    "d in it": {"file.directory": [{"name": "/etc/other/one"}]},
    "d in that": {"file.managed": [{"name": "/etc/other/one/c"}, {"replace": False}]},
    "d gone": {"file.absent": [{"name": "/srv/own/nothing"}]},
    "d user": {"user.present": [{"name": "deploy"}, {"shell": "/bin/bash"}]},
}


def test_what_a_pending_package_may_bring_is_undecided(debian: Debian) -> None:
    debian.run(MAKE)
    debian.write("/etc/runner/runner.yaml", "foresee: {packages: never}\n")
    debian.write("/srv/runner/states/t.j2", "{{ salt['dig.A']('localhost') }}")
    debian.write("/srv/runner/states/_states/own.py", OWN)
    packages = {name: {"pkg.installed": []} for name in ("aaa", "tool", "ufw")}
    firewall = {"a firewall": {"ufw.enabled": []}}
    debian.tree(all=json.dumps(packages | UNDECIDED | DECIDED | BY_ANY | firewall))
    recording = '#!/bin/sh\necho "$0 $*" >>/tmp/asked; exec /usr/bin/${0##*/} "$@"\n'
    for program in ("apt-get", "apt-cache", "dpkg"):
        debian.write(f"/usr/local/sbin/{program}", recording)
    debian.run("chmod 755 /usr/local/sbin/*")
    own = debian.read("/usr/bin/dpkg --print-architecture").strip()
    asked_for = f"apt-cache -o APT::Architectures::={own} policy -- aaa tool ufw"  # and no more
    dry = debian.results("sls", "all", "--test")
    asked = re.sub(r" -o Dir::Cache::\S+", "", debian.run("cat /tmp/asked").stdout)
    assert asked == f"/usr/local/sbin/{asked_for}\n"
    debian.run("rm /usr/local/sbin/*")
    decides = {
        name: re.search(r"(?:depends on|decided when) (pkg: \w+)", each["comment"])
        for name, each in dry.items()
    }
    assert {name: told and told[1] for name, told in decides.items()} == {
        **dict.fromkeys(packages | DECIDED),
        **dict.fromkeys(UNDECIDED, "pkg: tool"),
        **dict.fromkeys(BY_ANY, "pkg: aaa"),
        "a firewall": "pkg: ufw",
    }
    assert {dry[name]["result"] for name in UNDECIDED | BY_ANY} == {None}
    assert not any(dry[name]["changes"] for name in UNDECIDED | BY_ANY)
    real = debian.results("sls", "all", code=2)
    assert {name: bool(dry[name]["changes"]) for name in DECIDED} == {
        name: bool(real[name]["changes"]) for name in DECIDED
    }
