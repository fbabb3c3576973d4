# SPDX-License-Identifier: Apache-2.0
"""States that edit one file of the system after each other write it once; a name in capitals and an
address that is written in another way are the same.
"""

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


HELD = """127.0.0.1 localhost
10.1.1.1\tWeb.Example.com web # keep me
10.1.1.2 db
2001:db8:0:0::1 six
2001:db8::2 gone other
2001:db8::3 three
"""
SAME = """
web.example.com: {host.present: [ip: 10.1.1.9, clean: true]}
DB: {host.present: [ip: 10.1.1.2]}
six: {host.present: [ip: ['2001:DB8::1', '2001:db8:0::1']]}
Six2: {host.present: [ip: '2001:DB8::1']}
GONE: {host.absent: [ip: '2001:DB8::2']}
2001:DB8::3: {host.only: [hostnames: [Three, drei]]}
"""


def test_names_and_addresses_are_the_same_however_they_are_written(debian: Debian) -> None:
    debian.tree(site=SAME)
    debian.write("/etc/hosts", HELD)
    for words in (("--test",), ()):
        results = debian.results("sls", "site", *words)
        changed = [id_ for id_, result in results.items() if result["changes"]]
        assert changed == ["web.example.com", "Six2", "GONE", "2001:DB8::3"]
    assert debian.read("getent hosts web.example.com").split()[0] == "10.1.1.9"
    assert debian.path("/etc/hosts").read_text() == (
        "127.0.0.1 localhost\n10.1.1.1\t\tweb\t\t# keep me\n10.1.1.2 db\n"
        "2001:db8:0:0::1\t\tsix Six2\n2001:db8::2\t\tother\n2001:DB8::3\t\tThree drei\n"
        "10.1.1.9\t\tweb.example.com\n"
    )
    assert not [each for each in debian.results("sls", "site").values() if each["changes"]]
