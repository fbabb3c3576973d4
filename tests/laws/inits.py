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


# services of users only systemd has
openrc = on_machine(before=OPENRC, layer="openrc", name="tick", provider="openrc")


ticking = on_machine(before=TICKING, name="replaced", provider="sysv")

SCENARIOS = [
    ticking("service.current"),
    ticking("service.current restart=true keep=other*"),
    ticking("service.current keep=[tic?]", plans=False),
    ticking("service.current restart=false", plans=False),
    openrc("service.running enable=true runlevels=[boot,default]", "touch /run/tick"),
    openrc("service.enabled runlevels=boot"),
    openrc("service.enabled runlevels=boot", "rc-update add tick boot", plans=False),
    openrc("service.disabled runlevels=boot", "rc-update add tick boot"),
    openrc("service.disabled runlevels=default", "rc-update add tick boot", plans=False),
    # the machine of the laws has no init; under systemd: tests/machine/test_systemd_unit.py
    Scenario(
        "systemd.unit name=tick enable=true running=true restart=false user=root",
        {
            "contents": "[Service]\nExecStart=/bin/true\n",
            "drop_ins": {"nice": "[Service]\nNice=5\n"},
            "timer": "[Timer]\nOnCalendar=daily\n",
        },
        fails="needs systemd, which does not run this machine",
        machine=True,
    ),
    Scenario("user.present name=zoe linger=true", fails="linger needs", machine=True),
    Scenario(
        "user.present name=zoe subuids=900000-900009 subgids=[900000-900009,910000-910009]",
        machine=True,
        prepare="useradd zoe",
    ),
    Scenario("user.present name=zoe", {"subuids": ["12"]}, fails="12", machine=True),
    openrc("service.dead enable=false runlevels=[default]", "rc-update add tick default"),
    *(
        openrc(f"service.{function}", fails="openrc has no services of users", user="root")
        for function in ("running", "dead", "enabled", "disabled", "masked", "unmasked")
    ),
]
