"""How packages and repositories are tried with a real dnf: on a throw-away copy of the machine, in
which apt is out of the way.

Its repository has `greeting` in the versions 1.0 and 2.0, `phrase` that needs `words`, and the
group `talking`.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario

DNF = "mv /usr/bin/apt-get /usr/bin/no-apt-get; "
OLD = "rpm -i --nosignature /usr/local/rpms/greeting-1.0-1.noarch.rpm; "
HELD = OLD + "dnf -q -C versionlock add greeting; "
REPOSITORIES = "/etc/yum.repos.d"
# dnf copies nothing from a repository that is a folder
SERVED = (
    "cd /usr/local/rpms; setsid python3 -m http.server -b 127.0.0.1 8099 >/dev/null 2>&1 &"
    " sleep 1; sed -i 's#file:///usr/local/rpms#http://127.0.0.1:8099#'"
    f" {REPOSITORIES}/local.repo; dnf -q makecache --refresh; "
)
BAD = f"printf '[old]\\nname=Old\\nmirrorlist=http://x.org/\\n' >{REPOSITORIES}/old.repo; "


def on(
    function: str, prepare: str = "", plans: bool = True, fails: str | None = None, **args: Any
) -> Scenario:
    given = {"name": "greeting", **args}
    return Scenario(
        function if "." in function else f"pkg.{function}",
        given,
        plans=plans and not fails,
        fails=fails,
        machine=True,
        layer="dnf",
        prepare=DNF + prepare,
    )


SCENARIOS = [
    on("installed", OLD, version="2.0", hold=True, setopt="obsoletes=0", enablerepo="local"),
    on("installed", OLD, plans=False, pkgs=[{"greeting": "<2"}]),
    on("installed", HELD, version="2.*", fails="Set update_holds to True"),
    on("installed", name="phrase", fromrepo="local", skip_verify=True, install_recommends=False),
    on("latest", OLD),
    on("removed", OLD),
    on("purged", OLD),
    on("uptodate", OLD),
    on("held", OLD),
    on("unheld", HELD),
    on("group_installed", name="talking", skip=["greeting"], include=["old"]),
    on("group_installed", name="nosuch", fails="Group 'nosuch' not found"),
    on("downloaded", SERVED, name="phrase"),
    on(
        "pkgrepo.managed",
        BAD,
        name="old",
        humanname="Older",
        baseurl="file:///usr/local/rpms",
        gpgcheck=False,
        sslverify=0,
        comments=["moved"],
    ),
    on("pkgrepo.managed", name="who", copr="who/what", refresh=False),
    on("pkgrepo.managed", name="none", fails="it does not exist, and needs one of baseurl"),
    on("pkgrepo.absent", BAD, name="old"),
]
