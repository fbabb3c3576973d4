# SPDX-License-Identifier: Apache-2.0
"""Values of arguments that are refused before anything is looked at."""

from __future__ import annotations

import pytest
from command import Machine

SIZE = "size=1M"
ENTRY = ("crypttab.present", "name=data", "device=/dev/vdx")
PATH = "packages have no path with"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("swap.file", "name=/swap", SIZE, "priority=-2"), "a number from -1 to 32767"),
        (("swap.file", "name=/swap", SIZE, "priority=32768"), "a number from -1 to 32767"),
        (("dconf.set", "name=/org/a/b=c", "value=1"), "the path of a key"),
        (("dconf.lock", "name=/org/a]/b"), "the path of a key"),
        (("dconf.reset", "name=/org/a/#b"), "the path of a key"),
        (("pkg.diverted", "name=/usr//bin/a"), PATH),
        (("pkg.undiverted", "name=/usr/bin/a/"), PATH),
        (("pkg.diverted", "name=/usr/bin/a", "divert_to=/usr/../a"), PATH),
        (("pkg.statoverride", "name=/usr/bin/", "mode=0755"), PATH),
        (("crypttab.present", "name=a b", "device=/dev/vdx"), "below /dev/mapper"),
        (("crypttab.present", "name=data", "device=/dev/my disk"), "has no space"),
        ((*ENTRY, "options={discards: true}"), "no option discards"),
        (("host.present", "name=db", "ip=10.0.0.300"), "expected an IP address, and 10.0.0.300 is"),
        (
            ("host.present", "name=db", "ip=[10.0.0.1, db]"),
            "expected an IP address, and db is none",
        ),
        (
            ("mysql_grants.present", "g", "grant=all", "database=app", "user=a"),
            "expected db.table,",
        ),
        (
            ("mysql_grants.present", "g", "grant=selct,insert", "database=app.*", "user=a"),
            "no right SELCT: did you mean SELECT?",
        ),
        (
            ("postgres_privileges.present", "r", "object_name=t", "object_type=table")
            + ("privileges=[updte]",),
            "no right UPDTE: did you mean UPDATE?",
        ),
        (("firewalld.present", "name=z", "ports=[80/tcp, 99999/tcp]"), "a port to 65535"),
        (("firewalld.service", "name=s", "ports=[http]"), "a slash and a protocol, not http"),
        (("host.only", "name=db", "hostnames=[::1]"), "expected an IP address, and db is none"),
        ((*ENTRY, "options={'x-a,b': true}"), "no option x-a,b"),
        ((*ENTRY, "options={tries: true}"), "tries: expected a number"),
        ((*ENTRY, "options={tries: some}"), "tries: expected a number"),
        ((*ENTRY, "options={luks: 1}"), "luks: expected true or false"),
        ((*ENTRY, "options={header: 'a,b'}"), "header: expected a value without"),
        (("file.missing", "name="), "expected a value that is not empty"),
        (("grains.absent", "name="), "expected a value that is not empty"),
    ],
)
def test_a_value_is_refused(machine: Machine, words: tuple[str, ...], why: str) -> None:
    assert why in machine("single", *words, "--test", code=1).stderr
