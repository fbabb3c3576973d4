# SPDX-License-Identifier: Apache-2.0
"""States that edit one file of the system after each other write it once."""

from __future__ import annotations

import json

from debian import Debian

from runner.api.own_program import MAIN, own_python

INIT = "none"
COUNTING = """
import atexit, sys
named = []
sys.addaudithook(lambda event, said: event == "os.rename" and named.append(str(said[1])))
atexit.register(lambda: print("named", named.count("hosts"), file=sys.stderr))
from runner.engine import shared_commit
shared_commit.LONGEST_WAIT = 3600
"""
SITE = (
    "".join(f"h{n}: {{host.present: [ip: 192.0.2.{n}, comment: c{n}]}}\n" for n in range(20))
    + "h3 again: {host.absent: [name: h3, ip: 192.0.2.3]}\n"
    + "192.0.2.4: {host.only: [hostnames: [four]]}\n"
    + "h5 again: {host.present: [name: h5, ip: 192.0.2.55, clean: true]}\n"
)


def test_names_of_addresses_are_written_once(debian: Debian) -> None:
    debian.tree(site=SITE)
    before = debian.path("/etc/hosts").read_text()
    found = []
    for alone in ("false", "true"):
        debian.run(f"echo 'failhard: {alone}' > /srv/runner/one.yaml")
        argv = [*own_python(COUNTING + MAIN), "sls", "site", "--state-tree", "/srv/runner/states"]
        done = debian.run(*argv, "-c", "/srv/runner/one.yaml", "--out", "json")
        assert f"named {23 if alone == 'true' else 1}\n" in done.stderr
        told = json.loads(done.stdout)["local"].values()
        kept = ("comment", "changes", "result", "__run_num__")
        results = [{key: each[key] for key in kept} for each in told]
        found.append((results, debian.path("/etc/hosts").read_text()))
        assert all(each["changes"] for each in results)
        debian.run(*own_python(MAIN), "undo", "-c", "/srv/runner/one.yaml")
        assert debian.path("/etc/hosts").read_text() == before
    assert found[0] == found[1]
