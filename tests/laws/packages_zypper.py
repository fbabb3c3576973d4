# SPDX-License-Identifier: Apache-2.0
"""How packages and their repositories are tried with a real zypper: on a throw-away machine that
has a repository of rpms (debian_layer.RPMS): greeting 1.0 and 2.0, words, phrase (which needs
words), rude (which conflicts with greeting), and a patch that brings greeting 2.0.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario

OLD = "zypper -q -n install greeting=1.0; "
REPOSITORY = {"name": "more", "baseurl": "file:///usr/local/more"}
MORE = "mkdir /usr/local/more; cp /usr/local/rpms/old*.rpm /usr/local/more; "
MORE += "createrepo_c -q /usr/local/more; "
THERE = MORE + "zypper -q addrepo --no-gpgcheck file:///usr/local/more more; "


def on(
    function: str, prepare: str = "", plans: bool = True, fails: str | None = None, **args: Any
) -> Scenario:
    given = {} if "advisory_ids" in args else {"name": "greeting"}
    return Scenario(
        f"pkg.{function}" if "." not in function else function,
        {**given, **args},
        plans=plans and not fails,
        fails=fails,
        machine=True,
        layer="zypper",
        prepare=prepare,
    )


SCENARIOS = [
    on("installed", version="1.0", hold=True, no_recommends=True),
    on("installed", OLD, version=">=2.0,<3", fromrepo="local"),
    on("installed", OLD + "zypper -q addlock greeting; ", version="2.*", update_holds=True),
    on("installed", OLD, name="rude", fails="conflicts with greeting"),
    on("installed", name="nosuchpackage", fails="nosuchpackage"),
    on(
        "installed",
        name="x",
        sources=[{"words": "/usr/local/rpms/words-1.0-1.noarch.rpm"}],
        skip_verify=True,
    ),
    on("installed", name="vocabulary", resolve_capabilities=True),
    on(
        "installed",
        OLD + "echo x >> /etc/greeting.conf",
        pkg_verify=True,
        ignore_types=["config"],
        plans=False,
    ),
    on("latest", OLD),
    on("removed", "zypper -q -n install phrase; ", name="words"),
    on("purged", OLD),
    on("uptodate", OLD),
    on("autoremoved", "zypper -q -n install phrase; zypper -q -n remove phrase; "),
    on("held", OLD),
    on("unheld", "zypper -q addlock greeting; "),
    on("downloaded", version="1.0"),
    on("group_installed", name="talking", fails="Group 'talking' not found"),
    on("patch_installed", OLD, advisory_ids=["TEST-2026-1"]),
    on("patch_downloaded", OLD, advisory_ids=["TEST-2026-1"]),
    on("patch_installed", name="TEST-2026-9", fails="No information found for 'TEST-2026-9'"),
    on(
        "pkgrepo.managed",
        MORE,
        **REPOSITORY,
        humanname="More",
        priority=50,
        gpgcheck=False,
        cache=True,
        refresh=True,
    ),
    on("pkgrepo.managed", THERE, **REPOSITORY, gpgcheck=0, plans=False),
    on("pkgrepo.managed", THERE, **REPOSITORY, enabled=False, priority=10),
    on(
        "pkgrepo.managed",
        THERE,
        name="other",
        baseurl=REPOSITORY["baseurl"],
        fails="already exists as 'more'",
    ),
    on("pkgrepo.managed", name="other", fails="neither 'baseurl' nor 'mirrorlist'"),
    on("pkgrepo.absent", THERE, name="more"),
]
