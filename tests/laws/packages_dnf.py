# SPDX-License-Identifier: Apache-2.0
"""How packages and repositories are tried with a real dnf: on a throw-away copy of the machine, in
which apt is out of the way.

Its repository has `greeting` in the versions 1.0 and 2.0, `phrase` that needs `words`, and the
group `talking`, the module `dialect` with the streams 1 and 2, and an advisory for `greeting` 2.0.
"""

from __future__ import annotations

from laws import on_machine
from starting import starts

DNF = "mv /usr/bin/apt-get /usr/bin/no-apt-get; "
OLD = "rpm -i --nosignature /usr/local/rpms/greeting-1.0-1.noarch.rpm; "
IDIOM = "rpm -i --nosignature /usr/local/rpms/idiom-1.0-1.noarch.rpm; "
HELD = OLD + "dnf -q -C versionlock add greeting; "
ENABLED = "dnf -q -y module enable dialect:1; "
REPOSITORIES = "/etc/yum.repos.d"
# dnf copies nothing from a repository that is a folder
SERVER = ("python3", "-m", "http.server", "-b", "127.0.0.1", "-d", "/usr/local/rpms", "8099")
SERVED = (
    starts(*SERVER, ready="curl -sf http://127.0.0.1:8099/")
    + "; sed -i 's#file:///usr/local/rpms#http://127.0.0.1:8099#'"
    f" {REPOSITORIES}/local.repo; dnf -q makecache --refresh; "
)
BAD = f"printf '[old]\\nname=Old\\nmirrorlist=http://x.org/\\n' >{REPOSITORIES}/old.repo; "


on = on_machine("pkg.", before=DNF, layer="dnf", name="greeting")


SCENARIOS = [
    on("installed", OLD, version="2.0", hold=True, setopt="obsoletes=0", enablerepo="local"),
    on("installed", OLD, plans=False, pkgs=[{"greeting": "<2"}]),
    on("installed", HELD, version="2.*", fails="Set update_holds to True"),
    on("installed", name="phrase", fromrepo="local", skip_verify=True, install_recommends=False),
    on("latest", OLD),
    on("removed", OLD),
    on("purged", OLD),
    on("uptodate", OLD),
    on("uptodate", OLD + IDIOM, security=True),
    on("uptodate", IDIOM, plans=False, security=True),
    on("autoremoved", "dnf -q -y install phrase; dnf -q -y mark remove phrase words; "),
    on("held", OLD),
    on("unheld", HELD),
    on("group_installed", name="talking", skip=["greeting"], include=["old"]),
    on("group_installed", name="talking", fromrepo="local", skip_verify=True, refresh=True),
    on("group_installed", name="nosuch", fails="Group 'nosuch' not found"),
    on("downloaded", SERVED, name="phrase"),
    on("patch_installed", OLD, name="TEST-2024:1"),
    on("patch_installed", plans=False, fails="No information found", name="TEST-2024:9"),
    on("module_enabled", name="dialect", stream="1"),
    on("module_enabled", ENABLED, name="dialect:2"),
    on("module_enabled", ENABLED, plans=False, name="dialect"),
    on("module_enabled", name="dialect", fails="has no default stream: name one of 1, 2"),
    on("module_disabled", ENABLED, name="dialect"),
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
