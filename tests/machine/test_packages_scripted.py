# SPDX-License-Identifier: Apache-2.0
"""What a dry run knows of maintainer scripts: accounts, services, files and alternatives, as the
real run finds them; and what it leaves open, by name.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from both_runs import assert_foreseen, tree
from debian import Debian
from debian_archive import INDEX, package

POSTINST = r"""#!/bin/sh
set -e
. /usr/share/debconf/confmodule
case "$1" in
    configure)
        if ! getent passwd toolsys >/dev/null; then
            adduser --system --group --quiet --home /var/lib/toolsys --no-create-home \
                --gecos "The tool" --shell /bin/false toolsys
        fi
        adduser --system --quiet toolhome --home /var/lib/toolhome
        addgroup --system toolgroup
        adduser --quiet toolsys toolgroup
        groupadd -r toolraw
        useradd -r -g toolraw -d /nowhere -s /usr/sbin/nologin toolraw || true
        for d in /var/lib/toolsys /var/log/tool; do
            mkdir -p "$d"
            if ! dpkg-statoverride --list "$d" >/dev/null 2>&1; then
                chown toolsys:adm "$d"
                chmod 2750 "$d"
            fi
        done
        mkdir -p `dirname /etc/tool/conf.d/$(basename /usr/share/own.conf)`
        install -d -o toolsys -g toolgroup -m 0770 /var/spool/tool
        install -m 640 -g toolgroup /dev/null /etc/tool/secret
        ucf --three-way /usr/share/tool/tool.conf /etc/tool/tool.conf
        ucfr tool /etc/tool/tool.conf
        if [ -z "$2" ] && [ ! -e /etc/tool/enabled ]; then
            ln -s /etc/tool/plain /etc/tool/enabled
        fi
        systemd-sysusers tool.conf
        echo "$(id -u toolown) $(id -g toolown)" >/etc/tool/numbers
        echo "made = yes" >/etc/tool/made
        cat >>/etc/tool/made <<EOT
by = $DPKG_MAINTSCRIPT_PACKAGE
EOT
        if dpkg --compare-versions "$2" lt-nl 0.5; then
            rm -f /etc/tool/plain
        fi
        update-alternatives --install /usr/bin/tooling tooling /usr/bin/tool 50 \
            --slave /usr/share/tooling.txt tooling.txt /usr/share/tool/tool.conf
    ;;
    *)
        exit 1
    ;;
esac
if [ "$1" = "configure" ]; then
    if [ -x "$(command -v systemd-tmpfiles)" ]; then
        systemd-tmpfiles --create tool.conf >/dev/null || true
    fi
    deb-systemd-helper unmask 'tool.service' >/dev/null || true
    if deb-systemd-helper --quiet was-enabled 'tool.service'; then
        deb-systemd-helper enable 'tool.service' >/dev/null || true
    else
        deb-systemd-helper update-state 'tool.service' >/dev/null || true
    fi
    if [ -d /run/systemd/system ]; then
        systemctl --system daemon-reload >/dev/null || true
        if [ -n "$2" ]; then _dh_action=restart; else _dh_action=start; fi
        deb-systemd-invoke $_dh_action 'tool.service' 'tool-idle.service' >/dev/null || true
    fi
fi
"""
SERVICE = "[Service]\nExecStart=/usr/bin/sleep 1000"
FILES = {
    "DEBIAN/postinst": POSTINST,
    "etc/tool/plain": "plain",
    "usr/bin/tool": "#!/bin/sh\necho tool",
    "usr/share/tool/tool.conf": "port = 1",
    "usr/lib/sysusers.d/tool.conf": "u toolown - 'Own' /var/lib/toolown",
    "usr/lib/tmpfiles.d/tool.conf": "d /run/tool 0710 toolsys toolgroup -",
    "usr/lib/systemd/system/tool.service": f"{SERVICE}\n[Install]\nWantedBy=multi-user.target\n"
    "Alias=tool-by-alias.service",
    "usr/lib/systemd/system/tool-idle.service": SERVICE,
}
MAKE = f"""
{package("tool", files=FILES)}
{INDEX}
"""
STATES: dict[str, dict[str, list[dict[str, Any]]]] = {
    "system user": {"user.present": [{"name": "toolsys"}, {"shell": "/bin/false"}]},
    "other shell": {"user.present": [{"name": "toolhome"}, {"shell": "/bin/sh"}]},
    "raw user": {"user.present": [{"name": "toolraw"}, {"home": "/nowhere"}]},
    "members": {"group.present": [{"name": "toolgroup"}, {"addusers": ["toolsys"]}]},
    "folder": {"file.directory": [{"name": "/var/log/tool"}, {"user": "toolsys"}, {"mode": "750"}]},
    "home": {"file.directory": [{"name": "/var/lib/toolhome"}, {"user": "toolhome"}]},
    "spool": {"file.directory": [{"name": "/var/spool/tool"}, {"mode": "0770"}]},
    "named": {"file.directory": [{"name": "/etc/tool/conf.d"}]},
    "run": {"file.directory": [{"name": "/run/tool"}, {"mode": "0755"}]},
    "secret": {"file.managed": [{"name": "/etc/tool/secret"}, {"mode": "0640"}]},
    "ucf": {"file.managed": [{"name": "/etc/tool/tool.conf"}, {"contents": "port = 2"}]},
    "enabled": {"file.symlink": [{"name": "/etc/tool/enabled"}, {"target": "/etc/tool/plain"}]},
    "made": {"file.append": [{"name": "/etc/tool/made"}, {"text": ["by = tool", "more = 1"]}]},
    "kept": {"file.exists": [{"name": "/etc/tool/plain"}]},
    "alternative": {"file.exists": [{"name": "/usr/share/tooling.txt"}]},
    "guarded": {"test.nop": [{"onlyif": "grep -q ^toolsys: /etc/passwd"}]},
    "owned": {
        "file.managed": [
            {"name": "/etc/tool/own"},
            {"contents": "x"},
            {"user": "toolsys"},
            {"group": "toolgroup"},
        ]
    },
    "running": {"service.running": [{"name": "tool"}, {"enable": True}]},
    "numbers": {"file.managed": [{"name": "/etc/tool/numbers"}, {"contents": "own"}]},
    "alias": {"service.running": [{"name": "tool-by-alias"}]},
    "idle": {"service.dead": [{"name": "tool-idle"}]},
}


def test_what_a_script_does_is_foreseen(debian: Debian) -> None:
    debian.run(MAKE)
    debian.tree(all=tree(("tool",), STATES))
    dry = assert_foreseen(debian)
    assert "-port = 1" in dry["ucf"]["changes"]["diff"]
    for name in ("system user", "running", "idle", "enabled", "secret", "guarded"):
        assert dry[name]["result"] is True, dry[name]


OLD_SERVICE = {
    "etc/init.d/aged": r"""#!/bin/sh
### BEGIN INIT INFO
# Provides: aged
# Required-Start: $remote_fs
# Required-Stop: $remote_fs
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
### END INIT INFO
case $1 in
start) touch /run/aged ;;
stop) rm -f /run/aged ;;
status) test -e /run/aged || exit 3 ;;
esac
""",
    "DEBIAN/postinst": r"""#!/bin/sh
set -e
start() { local service action; service=$1; action=start; invoke-rc.d $service $action; }
service=none
update-rc.d aged defaults >/dev/null
start aged
test $service = none && touch /etc/aged.done
""",
}


@pytest.mark.parametrize(
    "states",
    [
        {"aged": {"service.dead": [{"enable": False}]}},
        {"aged": {"service.running": [{"enable": True}]}},
        {"aged": {"service.disabled": []}, "done": {"file.exists": [{"name": "/etc/aged.done"}]}},
    ],
)
def test_an_init_script_of_a_package_is_a_service(debian: Debian, states: dict[str, Any]) -> None:
    debian.run(f"{package('aged', files=OLD_SERVICE)}\n{INDEX}")
    service = {**states["aged"], "pkg.installed": []}
    assert_foreseen(debian, {**states, "aged": dict(reversed(service.items()))})


OPEN = r"""#!/bin/sh
set -e
makecluster --all /etc/cluster/main
if other-program | grep -q something; then
    adduser --system --quiet perhaps
fi
adduser --system --quiet --home "$(other-program)" homed || true
"""
UNDECIDED = {
    "its path": {"file.directory": [{"name": "/etc/cluster/main"}, {"makedirs": True}]},
    "like the package": {"file.managed": [{"name": "/etc/strangetool/x"}, {"replace": False}]},
    "user of a home": {"user.present": [{"name": "homed"}, {"createhome": False}]},
    "its user": {"user.present": [{"name": "perhaps"}, {"createhome": False}]},
}
DECIDED = {
    "elsewhere": {"file.directory": [{"name": "/etc/else"}]},
    "other user": {"user.present": [{"name": "somebody"}]},
    "of the package": {"file.exists": [{"name": "/etc/plainly"}]},
}


def test_what_is_not_understood_is_named(debian: Debian) -> None:
    files = {"DEBIAN/postinst": OPEN, "etc/plainly": "x"}
    debian.run(f"{package('strangetool', files=files)}\n{INDEX}")
    debian.tree(all=tree(("strangetool",), {**UNDECIDED, **DECIDED}))
    dry = debian.results("sls", "all", "--test")
    for name in UNDECIDED:
        assert " pkg: strangetool" in dry[name]["comment"], dry[name]
    for name in DECIDED:
        assert "decided when" not in dry[name]["comment"], dry[name]
    comment = dry["its path"]["comment"]
    assert "(postinst of strangetool calls makecluster --all /etc/cluster/main" in comment


REMOVAL = {
    "DEBIAN/prerm": "#!/bin/sh\nset -e\nrm -f /etc/going.made\n",
    "DEBIAN/postrm": '#!/bin/sh\nif [ "$1" = purge ]; then rm -rf /var/lib/going; fi\n',
    "etc/going.made": "x",
    "var/lib/going/data": "x",
}


@pytest.mark.parametrize("function", ["removed", "purged"])
def test_what_scripts_of_removal_take_away(debian: Debian, function: str) -> None:
    debian.run(f"{package('going', files=REMOVAL)}\n{INDEX}\napt-get -y install going")
    debian.run("touch /var/lib/going/more")
    debian.tree(
        all=json.dumps(
            {
                "going": {f"pkg.{function}": []},
                "more": {"file.absent": [{"name": "/var/lib/going/more"}]},
                "made": {"file.absent": [{"name": "/etc/going.made"}]},
            }
        )
    )
    assert_foreseen(debian)
