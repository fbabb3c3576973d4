# SPDX-License-Identifier: Apache-2.0
"""How states that change the whole machine are tried: on a copy of it (tests/machine)."""

from laws import on_machine

on = on_machine()


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
    on("group.present", name="zoo", gid=4800, system=True, non_unique=True),
    on("group.present", USER, name="zoo", gid=4850, addusers=["zoe"]),
    on("group.present", USER + "; gpasswd -a zoe zoo", name="zoo", delusers=["zoe"]),
    on("group.present", USER, name="zoo", members=["zoe"]),
    on("group.present", "groupadd zoo", plans=False, name="zoo"),
    on("group.present", fails="are not present", name="zoo", members=["nobodyhere"]),
    on("group.absent", "groupadd zoo", name="zoo", local=True),
    on("group.absent", plans=False, name="zoo"),
    on(
        "user.present",
        name="zoe",
        uid=4801,
        shell="/bin/sh",
        fullname="Zoe Z",
        roomnumber="1",
        createhome=True,
    ),
    on(
        "user.present",
        "groupadd zoo",
        name="zoe",
        gid="zoo",
        groups=["zoo"],
        optional_groups=["nope"],
        home="/z",
    ),
    on(
        "user.present",
        name="zoe",
        system=True,
        usergroup=False,
        workphone="2",
        homephone="3",
        other="4",
    ),
    on("user.present", name="zoe", password=HASH, enforce_password=True, unique=False),
    on("user.present", name="zoe", empty_password=True, createhome=False),
    on("user.present", USER, name="zoe", groups=["zoo"], remove_groups=False, shell="/bin/bash"),
    on("user.present", USER, name="zoe", uid=4899, allow_uid_change=True),
    on("user.present", USER, name="zoe", gid="zap", allow_gid_change=True),
    on("user.present", USER, name="zoe", gid="zap", groups=["zoe"], allow_gid_change=True),
    on("user.present", USER, fails="not permitted", name="zoe", uid=4899),
    on("user.present", fails="are not present: nope", name="zoe", groups=["nope"]),
    on("user.present", USER, plans=False, name="zoe", uid=4801),
    on("user.absent", USER, name="zoe", purge=True, force=True),
    on("user.absent", plans=False, name="zoe"),
    on("service.running", SERVICE, name="tick", enable=True, provider="sysv"),
    on("service.running", SERVICE + "touch /run/tick", plans=False, name="tick", no_block=False),
    on("service.running", fails="is not available", name="nosuchservice"),
    on("service.dead", SERVICE + "touch /run/tick", name="tick", init_delay=0),
    on("service.dead", SERVICE, plans=False, name="tick"),
    on("service.enabled", SERVICE, name="tick"),
    on("service.enabled", SERVICE + "update-rc.d tick disable", name="tick"),
    on("service.disabled", SERVICE + "update-rc.d tick defaults", name="tick"),
    on("pkg.installed", name="hello", refresh=True, install_recommends=False),
    on("pkg.installed", "apt-get install -y hello", plans=False, pkgs=["hello"]),
    on("pkg.latest", name="hello", refresh=False),
    on("pkg.removed", "apt-get install -y hello", name="hello"),
    on("pkg.removed", plans=False, pkgs=["hello"]),
    on("pkg.purged", "apt-get install -y hello", name="hello"),
    on("pkg.purged", plans=False, name="hello"),
    on(
        "cron.present",
        CRON,
        name="/bin/true a",
        minute=5,
        hour="*/2",
        identifier="one",
        comment="why",
    ),
    on(
        "cron.present",
        CRON,
        name="/bin/true",
        daymonth=1,
        month=2,
        dayweek=3,
        user="root",
        commented=True,
    ),
    on("cron.present", CRON, name="/bin/true", special="@daily", identifier=False),
    on("cron.present", CRON, name="/bin/true", minute="random"),
    on("cron.present", CRON + ENTRY, name="/bin/new", minute=7, identifier="kept"),
    on("cron.present", CRON + ENTRY, plans=False, name="/bin/old", minute=1, identifier="kept"),
    on("cron.present", CRON, fails="there is no user", name="/bin/true", user="nobodyhere"),
    on("cron.absent", CRON + ENTRY, name="/bin/old", identifier="kept", user="root"),
    on("cron.absent", CRON, plans=False, name="/bin/old"),
]
