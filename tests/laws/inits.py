# SPDX-License-Identifier: Apache-2.0
"""Services of inits other than systemd; tests/machine/test_inits.py boots them."""

from laws import Scenario, on_machine
from starting import a_while, starts

# OpenRC's programs work, and take the machine for one that OpenRC has started
OPENRC = """mkdir -p /run/openrc; touch /run/openrc/softlevel
cat > /etc/init.d/tick <<'X'
#!/sbin/openrc-run
start() { touch /run/tick; }
stop() { rm -f /run/tick; }
status() { test -e /run/tick; }
X
chmod 755 /etc/init.d/tick; """
# a service whose program is replaced while it runs
TICKING = f"""cp /bin/sleep /usr/local/bin/ticking
cat > /etc/init.d/tick <<'X'
#!/bin/sh
case $1 in
start) {starts("/usr/local/bin/ticking", a_while())} >/run/tick.pid ;;
stop) kill $(cat /run/tick.pid) ;;
restart) $0 stop; $0 start ;;
status) kill -0 $(cat /run/tick.pid) ;;
esac
X
chmod 755 /etc/init.d/tick; /etc/init.d/tick start
cp /bin/sleep /usr/local/bin/new; mv -f /usr/local/bin/new /usr/local/bin/ticking
"""


def openrc(
    function: str, prepare: str = "", plans: bool = True, fails: str | None = None, **args: object
) -> Scenario:
    """A scenario of OpenRC's programs; services of users only systemd has."""
    return Scenario(
        function,
        {"name": "tick", "provider": "openrc", **args},
        plans=plans,
        fails=fails,
        machine=True,
        layer="openrc",
        prepare=OPENRC + prepare,
    )


ticking = on_machine(before=TICKING, name="replaced", provider="sysv")

SCENARIOS = [
    ticking("service.current"),
    ticking("service.current", restart=True, keep="other*"),
    ticking("service.current", plans=False, keep=["tic?"]),
    ticking("service.current", plans=False, restart=False),
    openrc("service.running", "touch /run/tick", enable=True, runlevels=["boot", "default"]),
    openrc("service.enabled", runlevels="boot"),
    openrc("service.enabled", "rc-update add tick boot", plans=False, runlevels="boot"),
    openrc("service.disabled", "rc-update add tick boot", runlevels="boot"),
    openrc("service.disabled", "rc-update add tick boot", plans=False, runlevels="default"),
    # the machine of the laws has no init; under systemd: tests/machine/test_systemd_unit.py
    Scenario(
        "systemd.unit",
        {
            "name": "tick",
            "contents": "[Service]\nExecStart=/bin/true\n",
            "drop_ins": {"nice": "[Service]\nNice=5\n"},
            "timer": "[Timer]\nOnCalendar=daily\n",
            "enable": True,
            "running": True,
            "restart": False,
            "user": "root",
        },
        fails="needs systemd, which does not run this machine",
        machine=True,
    ),
    Scenario("user.present", {"name": "zoe", "linger": True}, fails="linger needs", machine=True),
    Scenario(
        "user.present",
        {"name": "zoe", "subuids": "900000-900009", "subgids": ["900000-900009", "910000-910009"]},
        machine=True,
        prepare="useradd zoe",
    ),
    Scenario("user.present", {"name": "zoe", "subuids": ["12"]}, fails="12", machine=True),
    openrc("service.dead", "rc-update add tick default", enable=False, runlevels=["default"]),
    *(
        openrc(f"service.{function}", fails="openrc has no services of users", user="root")
        for function in ("running", "dead", "enabled", "disabled", "masked", "unmasked")
    ),
]
