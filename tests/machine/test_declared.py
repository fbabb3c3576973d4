# SPDX-License-Identifier: Apache-2.0
"""pkg.declared with a real apt: what no state of the highstate declares goes, and nothing else."""

from __future__ import annotations

import json

import pytest
from debian import Debian

# package: what it says beside its name
PACKAGES = {
    "app": "Depends: app-lib",
    "app-lib": "",
    "tool": "Depends: tool-lib",
    "tool-lib": "Depends: tool-data",
    "tool-data": "",
    "pinned-one": "",
    "needed": "Priority: required",
    "on-hold": "",
    "beside": "",
}
MAKE = """
set -e
apt-get -q -y autoremove >/dev/null
cd /srv/packages; apt-mark showmanual >/run/before
for dir in *; do dpkg-deb -b $dir /srv/$dir.deb >/dev/null; done
dpkg -i /srv/*.deb
apt-mark -q auto app tool-lib tool-data; apt-mark -q hold on-hold
"""
SITE = {"app": {"pkg.installed": []}}
RUN = {"beside": {"pkg.installed": []}}
# comes first, and is last
PRUNE = {"nothing else": {"pkg.declared": [{"keep": ["pinned-*"]}]}}
GOES = {"old": "1.0", "new": ""}


@pytest.fixture
def machine(debian: Debian) -> Debian:
    for name, more in PACKAGES.items():
        about = f"Package: {name}\nVersion: 1.0\nArchitecture: all\nMaintainer: me\n"
        about += f"{more}\n" if more else ""
        debian.write(f"/srv/packages/{name}/DEBIAN/control", f"{about}Description: {name}\n")
    debian.run(MAKE)
    by_hand = debian.read("cat", "/run/before").split()
    keep = PRUNE["nothing else"]["pkg.declared"][0]["keep"] + by_hand
    prune = {"nothing else": {"pkg.declared": [{"keep": keep}]}}
    top = {"base": {"*": ["prune", "site", "more.*"]}}
    debian.tree(top=json.dumps(top), prune=json.dumps(prune), site=json.dumps(SITE))
    debian.tree(**{"more/beside": json.dumps(RUN)})
    return debian


def packages(machine: Debian) -> tuple[str, str]:
    """The packages of this test that are there, and those that were installed by hand."""
    there = machine.read("dpkg-query", "-W", "-f", "${Package} ${Status}\n")
    own = [line.split()[0] for line in there.splitlines() if line.endswith(" installed")]
    by_hand = machine.read("apt-mark", "showmanual").split()
    return (
        " ".join(name for name in PACKAGES if name in own),
        " ".join(name for name in PACKAGES if name in by_hand),
    )


def test_only_what_is_declared_stays(machine: Debian) -> None:
    before = packages(machine)
    assert before == (" ".join(PACKAGES), "app-lib tool pinned-one needed on-hold beside")
    partial = machine.results("sls", "prune,site", "--test", code=2)["nothing else"]
    assert "this run lacks SLS files of the highstate" in partial["comment"]
    assert "(more.beside)" in partial["comment"]
    machine.tree(site=json.dumps({**SITE, "no-such-package": {"pkg.installed": []}}))
    failed = machine.results("highstate", code=2)["nothing else"]
    assert "because states of pkg failed: no-such-package" in failed["comment"]
    machine.tree(site=json.dumps({**SITE, "greeting": {"pkg.installed": []}}))
    assert packages(machine) == before

    dry = machine.results("highstate", "--test")["nothing else"]
    assert dry["result"] is None
    assert dry["changes"] == {
        **dict.fromkeys(("tool", "tool-data", "tool-lib"), GOES),
        "app": {"old": "automatic", "new": "manual"},
        "app-lib": {"old": "manual", "new": "automatic"},
    }
    assert "would be removed: tool, tool-data, tool-lib. Needed by others" in dry["comment"]
    assert dry["__run_num__"] == 3
    assert packages(machine) == before

    results = machine.results("highstate")
    real = results["nothing else"]
    assert (real["result"], real["changes"]) == (True, dry["changes"])
    assert results["greeting"]["changes"]  # what another state of the run installs stays
    assert packages(machine) == (
        "app app-lib pinned-one needed on-hold beside",
        "app pinned-one needed on-hold beside",
    )
    again = machine.results("highstate")["nothing else"]
    assert (again["changes"], again["comment"]) == ({}, "Only declared packages are installed")
