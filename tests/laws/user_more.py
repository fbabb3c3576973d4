# SPDX-License-Identifier: Apache-2.0
"""How the passwords, dates and homes of users are tried: on a throw-away copy of the machine."""

from __future__ import annotations

from functools import partial

from laws import Scenario, on_machine

HASH = (
    "$6$salt$IxDD3jeSOb5eB1CX5LBsqZFVkJdido3OUILO5Ifz5iwMuTS4XMS130MTSuDDl3aCI6WouIL9AjRbLCelDCy.g."
)
OTHER = "$5$salt$Gcm6FsVtF/Qa77ZKD.iwsJlCVPY0XSMgLJL0Hnww/c1"
USER = "useradd -m -u 4801 -s /bin/sh zoe; groupadd zoo; "
HAS = f"{USER} printf '%s\\n' 'zoe:{HASH}' | chpasswd -e; "
OLD = f"{HAS} chage -d 18000 zoe; "


on = partial(on_machine("user.", name="zoe"), "present")


SCENARIOS = [
    on(password="a b", hash_password=True, nologinit=True, local=True, loginclass="staff"),
    on(
        password=HASH,
        password_lock=True,
        mindays=1,
        maxdays=90,
        warndays=3,
        inactdays=5,
        expire="2030-01-31",
    ),
    on(USER, password="a b", hash_password=True),
    on(USER + "echo 'zoe:a b' | chpasswd; ", plans=False, password="a b", hash_password=True),
    on(OLD, password=OTHER),
    on(OLD, password=OTHER, date=18000),
    on(OLD, plans=False, password=HASH, date="2019-04-14", maxdays=99999),
    on(OLD, plans=False, password=OTHER, enforce_password=False),
    on(USER, password=OTHER, enforce_password=False),
    on(OLD, plans=False, password=""),
    on(OLD, empty_password=True),
    on(USER, date=18000, mindays=1, maxdays=-1, warndays=0, inactdays=7, expire=20000),
    on(USER, plans=False, inactdays=-1, expire=0),
    on(USER, fails="is neither a date", expire="someday"),
    on(HAS, password_lock=True),
    on(HAS + "usermod -L zoe", password_lock=False),
    on(HAS + "usermod -L zoe", plans=False, password_lock=True, password=HASH),
    on(HAS + "usermod -L zoe", password=OTHER, password_lock=True),
    on(USER, fails="has no password that could be unlocked", password_lock=False),
    on(USER + "rm -r /home/zoe"),
    on(USER + "rm -r /home/zoe", plans=False, createhome=False),
    on(USER, home="/srv/deep/zoe"),
    on(USER + "touch /home/zoe/kept", home="/home/zoe2", persist_home=True),
    on(USER, plans=False, home="", shell=""),
    on(USER + "gpasswd -a zoe zoo", groups=[]),
    on(USER + "gpasswd -a zoe zoo", plans=False, optional_groups=["no-such-group"]),
    on(USER, gid="zoo", uid=4802, allow_gid_change=True, allow_uid_change=True, unique=False),
    on(USER, fails="gid (4801 -> zoo) not permitted", gid="zoo", uid=4802),
    on(
        fullname="Zoe",
        usergroup=True,
        win_homedrive="H:",
        win_profile="p",
        win_logonscript="l",
        win_description="d",
    ),
    on(gid_from_name=True),
    on("groupadd zoe; groupadd zoo", groups=["zoe", "zoo"]),
    on("groupadd zoe", optional_groups=["zoe"], usergroup=True),
    on("groupadd zoe", groups=["zoe"], usergroup=False),
    Scenario("group.present name=n local=true non_unique=true", machine=True),
    Scenario("group.present name=zoo addusers=zoe delusers=root", machine=True, prepare=USER),
    Scenario(
        "group.present name=n gid=4801", fails="n is not present but", machine=True, prepare=USER
    ),
    Scenario(
        "group.present name=zoo gid=0", fails="zoo is present but gid 0", machine=True, prepare=USER
    ),
    Scenario("user.absent name=zoe local=true", machine=True, prepare=USER),
]
