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
    on("group.present name=zoo gid=4800 system=true non_unique=true"),
    on("group.present name=zoo gid=4850 addusers=[zoe]", USER),
    on("group.present name=zoo delusers=[zoe]", USER + "; gpasswd -a zoe zoo"),
    on("group.present name=zoo members=[zoe]", USER),
    on("group.present name=zoo", "groupadd zoo", plans=False),
    on("group.present name=zoo members=[nobodyhere]", fails="are not present"),
    on("group.absent name=zoo local=true", "groupadd zoo"),
    on("group.absent name=zoo", plans=False),
    on(
        "user.present name=zoe uid=4801 shell=/bin/sh fullname='Zoe Z' createhome=true",
        roomnumber="1",
    ),
    on("user.present name=zoe gid=zoo groups=[zoo] optional_groups=[nope] home=/z", "groupadd zoo"),
    on(
        "user.present name=zoe system=true usergroup=false", workphone="2", homephone="3", other="4"
    ),
    on("user.present name=zoe enforce_password=true unique=false", password=HASH),
    on("user.present name=zoe empty_password=true createhome=false"),
    on("user.present name=zoe groups=[zoo] remove_groups=false shell=/bin/bash", USER),
    on("user.present name=zoe uid=4899 allow_uid_change=true", USER),
    on("user.present name=zoe gid=zap allow_gid_change=true", USER),
    on("user.present name=zoe gid=zap groups=[zoe] allow_gid_change=true", USER),
    on("user.present name=zoe uid=4899", USER, fails="not permitted"),
    on("user.present name=zoe groups=[nope]", fails="are not present: nope"),
    on("user.present name=zoe uid=4801", USER, plans=False),
    on("user.absent name=zoe purge=true force=true", USER),
    on("user.absent name=zoe", plans=False),
    on("service.running name=tick enable=true provider=sysv", SERVICE),
    on("service.running name=tick no_block=false", SERVICE + "touch /run/tick", plans=False),
    on("service.running name=nosuchservice", fails="is not available"),
    on("service.dead name=tick init_delay=0", SERVICE + "touch /run/tick"),
    on("service.dead name=tick", SERVICE, plans=False),
    on("service.enabled name=tick", SERVICE),
    on("service.enabled name=tick", SERVICE + "update-rc.d tick disable"),
    on("service.disabled name=tick", SERVICE + "update-rc.d tick defaults"),
    on("pkg.installed name=hello refresh=true install_recommends=false"),
    on("pkg.installed pkgs=[hello]", "apt-get install -y hello", plans=False),
    on("pkg.latest name=hello refresh=false"),
    on("pkg.removed name=hello", "apt-get install -y hello"),
    on("pkg.removed pkgs=[hello]", plans=False),
    on("pkg.purged name=hello", "apt-get install -y hello"),
    on("pkg.purged name=hello", plans=False),
    on("cron.present name='/bin/true a' minute=5 hour=*/2 identifier=one comment=why", CRON),
    on("cron.present name=/bin/true daymonth=1 month=2 dayweek=3 user=root commented=true", CRON),
    on("cron.present name=/bin/true special=@daily identifier=false", CRON),
    on("cron.present name=/bin/true minute=random", CRON),
    on("cron.present name=/bin/new minute=7 identifier=kept", CRON + ENTRY),
    on("cron.present name=/bin/old minute=1 identifier=kept", CRON + ENTRY, plans=False),
    on("cron.present name=/bin/true user=nobodyhere", CRON, fails="there is no user"),
    on("cron.absent name=/bin/old identifier=kept user=root", CRON + ENTRY),
    on("cron.absent name=/bin/old", CRON, plans=False),
    on("cron.absent name=/bin/old user=nobodyhere", CRON, plans=False),
    on("cron.env_absent name=PATH user=nobodyhere", CRON, plans=False),
]
