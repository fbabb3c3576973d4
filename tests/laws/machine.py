# SPDX-License-Identifier: Apache-2.0
"""How states that change the whole machine are tried: on a copy of it (tests/machine)."""

from laws import Scenario


def on_machine(
    function: str, prepare: str = "", plans: bool = True, fails: str | None = None, **args: object
) -> Scenario:
    return Scenario(function, args, plans=plans, fails=fails, machine=True, prepare=prepare)


USER = "useradd -m -u 4801 -s /bin/sh zoe; groupadd zoo; groupadd zap"
HASH = (
    "$6$salt$IxDD3jeSOb5eB1CX5LBsqZFVkJdido3OUILO5Ifz5iwMuTS4XMS130MTSuDDl3aCI6WouIL9AjRbLCelDCy.g."
)
SERVICE = """cat > /etc/init.d/tick <<'X'
#!/bin/sh
### BEGIN INIT INFO
# Provides: tick
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
### END INIT INFO
case $1 in
start) touch /run/tick ;;
stop) rm -f /run/tick ;;
restart|reload) echo $1 >> /run/tick ;;
status) test -e /run/tick ;;
esac
X
chmod 755 /etc/init.d/tick; rm -f /run/tick; """
CRON = "apt-get install -y -q cron; "
ENTRY = """printf '%s\\n' '5 5 * * * /bin/theirs' \\
'# Lines below here are managed by Salt, do not edit' \\
'# SALT_CRON_IDENTIFIER:kept' '1 * * * * /bin/old' | crontab -u root -; """

SCENARIOS = [
    on_machine("group.present", name="zoo", gid=4800, system=True, non_unique=True),
    on_machine("group.present", USER, name="zoo", gid=4850, addusers=["zoe"]),
    on_machine("group.present", USER + "; gpasswd -a zoe zoo", name="zoo", delusers=["zoe"]),
    on_machine("group.present", USER, name="zoo", members=["zoe"]),
    on_machine("group.present", "groupadd zoo", plans=False, name="zoo"),
    on_machine("group.present", fails="are not present", name="zoo", members=["nobodyhere"]),
    on_machine("group.absent", "groupadd zoo", name="zoo", local=True),
    on_machine("group.absent", plans=False, name="zoo"),
    on_machine(
        "user.present",
        name="zoe",
        uid=4801,
        shell="/bin/sh",
        fullname="Zoe Z",
        roomnumber="1",
        createhome=True,
    ),
    on_machine(
        "user.present",
        "groupadd zoo",
        name="zoe",
        gid="zoo",
        groups=["zoo"],
        optional_groups=["nope"],
        home="/z",
    ),
    on_machine(
        "user.present",
        name="zoe",
        system=True,
        usergroup=False,
        workphone="2",
        homephone="3",
        other="4",
    ),
    on_machine("user.present", name="zoe", password=HASH, enforce_password=True, unique=False),
    on_machine("user.present", name="zoe", empty_password=True, createhome=False),
    on_machine(
        "user.present", USER, name="zoe", groups=["zoo"], remove_groups=False, shell="/bin/bash"
    ),
    on_machine("user.present", USER, name="zoe", uid=4899, allow_uid_change=True),
    on_machine("user.present", USER, name="zoe", gid="zap", allow_gid_change=True),
    on_machine("user.present", USER, name="zoe", gid="zap", groups=["zoe"], allow_gid_change=True),
    on_machine("user.present", USER, fails="not permitted", name="zoe", uid=4899),
    on_machine("user.present", fails="are not present: nope", name="zoe", groups=["nope"]),
    on_machine("user.present", USER, plans=False, name="zoe", uid=4801),
    on_machine("user.absent", USER, name="zoe", purge=True, force=True),
    on_machine("user.absent", plans=False, name="zoe"),
    on_machine("service.running", SERVICE, name="tick", enable=True, provider="sysv"),
    on_machine(
        "service.running", SERVICE + "touch /run/tick", plans=False, name="tick", no_block=False
    ),
    on_machine("service.running", fails="is not available", name="nosuchservice"),
    on_machine("service.dead", SERVICE + "touch /run/tick", name="tick", init_delay=0),
    on_machine("service.dead", SERVICE, plans=False, name="tick"),
    on_machine("service.enabled", SERVICE, name="tick"),
    on_machine("service.disabled", SERVICE + "update-rc.d tick defaults", name="tick"),
    on_machine("pkg.installed", name="hello", refresh=True, install_recommends=False),
    on_machine("pkg.installed", "apt-get install -y hello", plans=False, pkgs=["hello"]),
    on_machine("pkg.latest", name="hello", refresh=False),
    on_machine("pkg.removed", "apt-get install -y hello", name="hello"),
    on_machine("pkg.removed", plans=False, pkgs=["hello"]),
    on_machine("pkg.purged", "apt-get install -y hello", name="hello"),
    on_machine("pkg.purged", plans=False, name="hello"),
    on_machine(
        "cron.present",
        CRON,
        name="/bin/true a",
        minute=5,
        hour="*/2",
        identifier="one",
        comment="why",
    ),
    on_machine(
        "cron.present",
        CRON,
        name="/bin/true",
        daymonth=1,
        month=2,
        dayweek=3,
        user="root",
        commented=True,
    ),
    on_machine("cron.present", CRON, name="/bin/true", special="@daily", identifier=False),
    on_machine("cron.present", CRON, name="/bin/true", minute="random"),
    on_machine("cron.present", CRON + ENTRY, name="/bin/new", minute=7, identifier="kept"),
    on_machine(
        "cron.present", CRON + ENTRY, plans=False, name="/bin/old", minute=1, identifier="kept"
    ),
    on_machine("cron.present", CRON, fails="there is no user", name="/bin/true", user="nobodyhere"),
    on_machine("cron.absent", CRON + ENTRY, name="/bin/old", identifier="kept", user="root"),
    on_machine("cron.absent", CRON, plans=False, name="/bin/old"),
]
