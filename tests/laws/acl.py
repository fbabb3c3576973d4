# SPDX-License-Identifier: Apache-2.0
"""How access control lists are tried: with the real tools, on a copy of this computer."""

from __future__ import annotations

from laws import on_machine

PATH = "apt-get install -y -q acl; mkdir -p /srv/d/sub; touch /srv/d/sub/f; useradd zoe; "
HAS = PATH + "setfacl -R -m u:zoe:r,u:daemon:rwx /srv/d; "
ZOE = {"acl_type": "user", "acl_name": "zoe"}
BOTH = {"acl_type": "user", "acl_names": ["zoe", "daemon"]}


on = on_machine("acl.", PATH, name="/srv/d")


SCENARIOS = [
    on("present", perms="rwx", recurse=True, **ZOE),
    on("present", HAS, perms="6", force=True, **ZOE),
    on("present", HAS, plans=False, perms="r", recurse=True, **ZOE),
    on("present", acl_type="d:g", acl_name="users", perms="rx", recurse=True),
    on("present", acl_type="other", perms="0"),
    on("present", name="/srv/none", perms="r", fails="/srv/none does not exist", **ZOE),
    on("present", "mkdir /srv/d", perms="r", fails="it comes with acl", **ZOE),
    on("absent", HAS, recurse=True, perms="r", **ZOE),
    on("absent", plans=False, **ZOE),
    on("absent", HAS, acl_type="user", fails="say in acl_name whose"),
    on("absent", HAS, acl_type="mask", fails="the mask of those who are named, cannot go"),
    on("absent", PATH + "setfacl -m m:r /srv/d; ", acl_type="mask"),
    on("list_absent", HAS, acl_type="d:g", plans=False),
    on("list_absent", HAS, acl_type="g", fails="say in acl_name whose"),
    on("list_present", HAS, perms="rwx", recurse=True, force=True, **BOTH),
    on("list_present", HAS, plans=False, perms="4", acl_type="user", acl_names="zoe"),
    on("list_absent", HAS, recurse=True, **BOTH),
    on("list_absent", plans=False, **BOTH),
]
