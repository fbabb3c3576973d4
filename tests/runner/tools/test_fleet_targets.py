# SPDX-License-Identifier: Apache-2.0
"""Which hosts a target of `runner fleet` means, and when a host has to be asked first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import pytest

from runner.model.errors import RunnerError
from runner.tools.fleet.forms import junit
from runner.tools.fleet.grouping import failures, folded
from runner.tools.fleet.records import FAILED, OK, Host, HostOutcome
from runner.tools.fleet.targets import HostGrains, Selection, no_match, select

HOSTS = (
    Host("web1", {"roles": ["web"]}, ("web", "prod")),
    Host("web2", {"roles": ["web", "edge"]}, ("web",)),
    Host("db1", {}, ("db", "prod")),
    Host("db2", {}, ("db",)),
)
ASKED = {"web1": {"os": "Debian", "ipv4": ["10.0.0.1"]}, "db1": {"os": "Alpine", "ipv4": []}}
PILLAR = {"web1": {"role": "front"}, "db1": {"role": "back"}}


def chosen(target: str) -> Selection:
    def facts(host: Host) -> HostGrains:
        if host.name not in ASKED:
            return HostGrains(host.grains)
        return HostGrains({**ASKED[host.name], **host.grains}, 60.0 if host.name == "db1" else 5.0)

    def pillar(host: Host, grains: Mapping[str, Any]) -> Mapping[str, Any]:
        assert grains["id"] == host.name and "os" in grains
        if host.name == "db1" and target == "I@broken:yes":
            raise RunnerError("no such file")
        return PILLAR[host.name]

    return select(
        target,
        HOSTS,
        {"front": "web* and not web2", "list": ["L@db1,web1"], "debians": "G@os:Debian"},
        facts,
        pillar,
    )


@pytest.mark.parametrize(
    "target, hosts, undecided",
    [
        ("*", "web1 web2 db1 db2", ""),
        ("web*", "web1 web2", ""),
        ("E@(web|db)1$", "web1 db1", ""),
        ("L@db2,web1,none", "web1 db2", ""),
        ("N@front", "web1", ""),
        ("N@list", "web1 db1", ""),
        ("N@prod and not N@db", "web1", ""),  # groups of the inventory
        ("G@roles:edge", "web2", "db2"),  # db1 was asked: it has no roles
        ("G@roles:web", "web1 web2", "db2"),
        ("P@os:(Deb|Alp)", "web1 db1", "web2 db2"),
        ("web* and G@os:Debian", "web1", "web2"),
        ("G@os:Debian and web*", "web1", "web2"),
        ("not G@os:Debian and db1", "db1", ""),
        ("G@os:Debian or db2", "web1 db2", "web2"),
        ("not ( G@os:Debian or db2 )", "db1", "web2"),
        ("N@debians and web*", "web1", "web2"),
        ("( db1 or web1 ) and not G@os:Debian", "db1", ""),
        ("S@10.0.0.0/24", "web1", "web2 db2"),
        ("I@role:front", "web1", "web2 db2"),
        ("J@role:b.*", "db1", "web2 db2"),
        ("G@id:db2", "db2", ""),
    ],
)
def test_targets(target: str, hosts: str, undecided: str) -> None:
    selection = chosen(target)
    assert selection.hosts == tuple(hosts.split())
    assert selection.undecided == tuple(undecided.split())


def test_the_oldest_grains_that_were_looked_at_say_the_age() -> None:
    assert chosen("G@os:Debian").age == 60
    assert chosen("web* and G@os:Debian").age == 5
    assert chosen("web*").age is None


def test_a_pillar_that_cannot_be_rendered_leaves_no_host_out() -> None:
    selection = chosen("I@broken:yes")
    assert [*selection.unrendered] == ["db1"]
    assert selection.undecided == ("web2", "db2")


@pytest.mark.parametrize(
    "target, message, hint",
    [
        ("web* and", "nothing follows 'and'", "terms are joined"),
        ("N@fornt", "no node group 'fornt'", "front"),
        ("X@a", "no kind of target has the letter X", "G (grain)"),
        ("G@os", "'os' is a grain without a value", "`os:VALUE`"),
    ],
)
def test_mistakes_in_targets(target: str, message: str, hint: str) -> None:
    with pytest.raises(RunnerError) as raised:
        chosen(target)
    assert message in raised.value.message and hint in str(raised.value.hint)


@pytest.mark.parametrize(
    "target, hint",
    [
        ("wbe1", "did you mean web1?"),
        ("web1,db1", "a list of IDs is written L@web1,db1"),
        ("prd", "did you mean prod?"),
        ("zzzzz", "the hosts are web1, web2, db1, db2"),
    ],
)
def test_a_target_without_hosts_names_the_nearest(target: str, hint: str) -> None:
    assert no_match(target, HOSTS, "hosts.ini").hint == hint


@pytest.mark.parametrize(
    "names, shown",
    [
        ("web1 web2 web3 db1 web7", "web[1-3,7] db1"),
        ("n08.x n09.x n10.x n100.x", "n[08-10].x n100.x"),
        ("a b", "a b"),
        ("r1n1 r1n2 r2n1", "r1n[1-2] r2n1"),
    ],
)
def test_names_that_differ_in_a_number_are_a_range(names: str, shown: str) -> None:
    assert folded(names.split()) == shown.split()


def test_a_host_that_answers_nonsense_hides_no_other() -> None:
    nonsense = {"__run_num__": {}, "duration": "soon", "changes": [1], "comment": 3}
    odd = {"a_|-b_|-c_|-d": {"result": True, **nonsense}, "e_|-f_|-g_|-h": {"result": False}}
    outcomes = (HostOutcome("web1", FAILED, odd), HostOutcome("web2", FAILED, ["no tree"]))
    assert [group.hosts for group in failures(outcomes, lambda sls, id: None)] == [
        ("web1",),
        ("web2",),
    ]
    assert "no tree" in junit(outcomes)


# results of a host, and the element that is their test case's
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "same": ({"result": True}, "", ""),
    "changed": ({"result": True, "changes": {"a": "<b>"}}, "system-out", ""),
    "would change": ({"result": None, "changes": {"a": 1}}, "system-out", ""),
    "failed": ({"result": False, "comment": "no\nroom"}, "failure", "no"),
    "not run": ({"result": False, "__state_ran__": False, "comment": "why"}, "skipped", "why"),
    "waits": ({"result": None, "__decided_by__": "cmd: x"}, "skipped", "(decided by cmd: x)"),
    "open": ({"result": None, "comment": "who knows"}, "skipped", "undecided: who knows"),
}


def test_what_became_of_states_is_the_kind_of_their_test_case() -> None:
    answer = {f"test_|-{name}_|-x_|-nop": {"__id__": name, **CASES[name][0]} for name in CASES}
    (suite,) = ElementTree.fromstring(junit([HostOutcome("web1", OK, answer)]))
    for case, (_, tag, message) in zip(suite, CASES.values(), strict=True):
        assert [each.tag for each in case] == ([tag] if tag else [])
        assert message in "".join(each.get("message", "") for each in case)
    numbers = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert numbers == {"tests": "7", "failures": "1", "errors": "0", "skipped": "3"}
