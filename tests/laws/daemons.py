# SPDX-License-Identifier: Apache-2.0
"""How daemons and their configuration are tried: logrotate, ntp and chrony by files (with the real
logrotate and chronyd in tests/machine/test_daemons.py); supervisorctl, AppArmor's programs and
certbot by programs that answer as they do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from laws import Scenario, on_machine, scenario

CONF = "weekly\nrotate 4\ninclude {tmp}/more\n\n/var/log/wtmp {\n    monthly\n}\n"
CTL = r"""#!/bin/sh
cd "$(dirname "$0")" || exit; test "$1" != -c || shift 2
case $1 in
status) cat processes;;
reread) echo;;
update) echo; grep -q new processes || echo 'new   STOPPED   Not started' >>processes;;
add) case $2 in nosuch) echo 'ERROR: no such process/group: nosuch'; exit 1; esac
    echo "$2   STARTING   " >>processes; echo "$2: added process group";;
start|restart) sed -i "s/^${2%\*}\([^ ]*\) .*/${2%\*}\1   RUNNING   pid 1/" processes;;
stop) sed -i "s/^${2%\*}\([^ ]*\) .*/${2%\*}\1   STOPPED   today/" processes;;
esac
"""
CERTBOT = r"""#!/bin/sh
mkdir -p /etc/letsencrypt/live/www.x; cd /etc/letsencrypt/live/www.x || exit
case "$*" in *bad.x*) echo 'Some challenges have failed.' >&2; exit 1; esac
openssl req -x509 -newkey rsa:2048 -nodes -keyout privkey.pem -out cert.pem -subj /CN=x \
-days ${DAYS:-90}
"""
PARSER = r"""#!/bin/sh
case $* in
*-N*broken) echo 'syntax error, unexpected end' >&2; exit 1;;
-N*) echo /usr/bin/demo;;
*-C*) echo complain >/run/demo;;
-R*) echo none >/run/demo;;
-r*) echo enforce >/run/demo;;
esac
"""
STATUS = r"""#!/bin/sh
read mode </run/demo
test "$mode" = none && echo '{"version": "2", "profiles": {}, "processes": {}}' ||
echo "{\"version\": \"2\", \"profiles\": {\"/usr/bin/demo\": \"$mode\"}, \"processes\": {}}"
"""


def files(**texts: str) -> Callable[[Path], None]:
    """A setup that writes files; those of programs go to the front of PATH."""

    def prepare(tmp: Path) -> None:
        (tmp / "more").mkdir()
        (tmp / "more/app").write_text("/var/log/app {\n\tdaily\n}\n")
        for name, text in texts.items():
            (tmp / name).write_text(text.replace("{tmp}", str(tmp)))
            (tmp / name).chmod(0o755)

    return prepare


def conf(key: str, value: Any, setting: Any = None, **given: Any) -> Scenario:
    usual = {"key": key, "value": value, "conf_file": "{tmp}/conf"}
    usual |= {} if setting is None else {"setting": setting}
    return scenario("logrotate.set", files(conf=CONF), **usual, **given)


def time(function: str, text: str, **given: Any) -> Scenario:
    return scenario(function, files(conf=text), conf_file="{tmp}/conf", **given)


LISTED = "one   RUNNING   pid 5\nold   STOPPED   Not started\ngroup:a   RUNNING   x\n"
LISTED += "group:b   EXITED   y\n"


def process(function: str, name: str, **given: Any) -> Scenario:
    usual = {"name": name, "bin_env": "{tmp}/ctl"}
    setup = files(ctl=CTL, processes=LISTED)
    return scenario(f"supervisord.{function}", setup, **{**usual, **given})


def tool(name: str, text: str) -> str:
    return f"cat >/usr/local/bin/{name} <<'STOP'\n{text}STOP\nchmod 755 /usr/local/bin/{name}\n"


def profile(function: str, mode: str, name: str = "usr.bin.demo", **given: Any) -> Scenario:
    prepare = tool("apparmor_parser", PARSER) + tool("aa-status", STATUS)
    prepare += "mkdir -p /etc/apparmor.d; cd /etc/apparmor.d; touch usr.bin.demo broken\n"
    prepare += f"echo {mode} >/run/demo\n"
    return scenario(f"apparmor.{function}", name=name, machine=True, prepare=prepare, **given)


cert = partial(on_machine("acme.", before=tool("certbot", CERTBOT), name="www.x"), "cert")


ALL_OPTIONS: dict[str, Any] = {
    "aliases": ["b.x"],
    "email": "a@x.org",
    "webroot": "/var/www",
    "certname": "www.x",
    "test_cert": True,
    "renew": 10,
    "keysize": 2048,
    "server": "https://acme.x",
    "owner": "root",
    "group": "daemon",
    "mode": "0640",
    "preferred_challenges": "http",
    "http_01_port": 80,
    "http_01_address": "192.0.2.1",
    "dns_plugin": "route53",
    "dns_plugin_credentials": "/root/c",
    "manual_auth_hook": "/bin/true",
    "manual_cleanup_hook": "/bin/true",
}
NTP = "driftfile /x\nserver a iburst minpoll 4\nrestrict default\nserver b\n"
CHRONY = "pool p iburst\nserver a iburst\nkeyfile /etc/chrony/keys\n"
SCENARIOS = [
    conf("rotate", 2),
    conf("rotate", 4, plans=False),
    conf("compress", True),
    conf("weekly", False),
    conf("/var/log/wtmp", "rotate", 2),
    conf("/var/log/wtmp", "monthly", True, plans=False),
    conf("/var/log/wtmp", "monthly", False),
    conf("/var/log/app", "rotate", 3),
    conf("/var/log/new", "rotate", 3),
    conf("/var/log/wtmp", 2, fails="includes a dict"),
    conf("weekly", "x", "y", fails="is no block"),
    conf("rotate", "2 }", fails="a brace begins or ends a block"),
    time("ntp.managed", NTP, servers=["b", "c"]),
    time("ntp.managed", NTP, servers=["a", "b"], plans=False),
    time("ntp.managed", NTP, servers=[], fails="expected at least one"),
    time("chrony.managed", CHRONY, servers=["b"], pools=[], options="iburst prefer"),
    time("chrony.managed", CHRONY, servers=["a"], pools=["p"], plans=False),
    time("chrony.managed", CHRONY, servers=["a"], plans=False),
    process("running", "one", plans=False, conf_file="{tmp}/c", user="root"),
    process("running", "one", restart=True, converges=False),
    process("running", "old"),
    process("running", "group:*"),
    process("running", "new", update=True),
    process("running", "added"),
    process("running", "nosuch", breaks="no such process/group"),
    process("dead", "one", conf_file="{tmp}/c", user="root"),
    process("dead", "old", plans=False),
    process("dead", "nosuch", plans=False),
    process("dead", "one", fails="is no program", bin_env="/nonexistent/ctl"),
    profile("enforced", "complain"),
    profile("enforced", "none", name="/usr/bin/demo"),
    profile("complain", "enforce"),
    profile("disabled", "enforce"),
    profile("disabled", "none", name="nosuch", fails="There is no profile nosuch"),
    profile("enforced", "none", name="broken", fails="apparmor_parser refuses"),
    cert(**ALL_OPTIONS),
    cert("certbot certonly; chmod 640 /etc/letsencrypt/live/www.x/privkey.pem\n", plans=False),
    cert("DAYS=60 certbot certonly\n", renew=80),
    cert(name="www/x", fails="cannot be the name of a certificate"),
]
