# SPDX-License-Identifier: Apache-2.0
"""How packages and their repositories are tried with a real zypper: on a throw-away machine that
has a repository of rpms (debian_layer.RPMS): greeting 1.0 and 2.0, words, phrase (which needs
words), rude (which conflicts with greeting), and a patch that brings greeting 2.0.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario, on_machine

OLD = "zypper -q -n install greeting=1.0; "
REPOSITORY = {"name": "more", "baseurl": "file:///usr/local/more"}
MORE = "mkdir /usr/local/more; cp /usr/local/rpms/old*.rpm /usr/local/more; "
MORE += "createrepo_c -q /usr/local/more; "
THERE = MORE + "zypper -q addrepo --no-gpgcheck file:///usr/local/more more; "


zypper = on_machine("pkg.", layer="zypper")


def on(function: str, prepare: str = "", **given: Any) -> Scenario:
    usual = {} if "advisory_ids" in function else {"name": "greeting"}
    return zypper(function, prepare, **{**usual, **given})


SCENARIOS = [
    on("installed hold=true no_recommends=true", version="1.0"),
    on("installed version=>=2.0,<3 fromrepo=local", OLD),
    on("installed version=2.* update_holds=true", OLD + "zypper -q addlock greeting; "),
    on("installed name=rude", OLD, fails="conflicts with greeting"),
    on("installed name=nosuchpackage", fails="nosuchpackage"),
    on(
        "installed name=x sources='[{words: /usr/local/rpms/words-1.0-1.noarch.rpm}]'"
        " skip_verify=true"
    ),
    on("installed name=vocabulary resolve_capabilities=true"),
    on(
        "installed pkg_verify=true ignore_types=[config]",
        OLD + "echo x >> /etc/greeting.conf",
        plans=False,
    ),
    on("latest", OLD),
    on("removed name=words", "zypper -q -n install phrase; "),
    on("purged", OLD),
    on("uptodate", OLD),
    on("autoremoved", "zypper -q -n install phrase; zypper -q -n remove phrase; "),
    on("held", OLD),
    on("unheld", "zypper -q addlock greeting; "),
    on("downloaded", version="1.0"),
    on("group_installed name=talking", fails="Group 'talking' not found"),
    on("patch_installed advisory_ids=[TEST-2026-1]", OLD),
    on("patch_downloaded advisory_ids=[TEST-2026-1]", OLD),
    on("patch_installed name=TEST-2026-9", fails="No information found for 'TEST-2026-9'"),
    on(
        "pkgrepo.managed humanname=More priority=50 gpgcheck=false cache=true refresh=true",
        MORE,
        **REPOSITORY,
    ),
    on("pkgrepo.managed gpgcheck=0", THERE, **REPOSITORY, plans=False),
    on("pkgrepo.managed enabled=false priority=10", THERE, **REPOSITORY),
    on(
        "pkgrepo.managed name=other",
        THERE,
        baseurl=REPOSITORY["baseurl"],
        fails="already exists as 'more'",
    ),
    on("pkgrepo.managed name=other", fails="neither 'baseurl' nor 'mirrorlist'"),
    on("pkgrepo.absent name=more", THERE),
]
