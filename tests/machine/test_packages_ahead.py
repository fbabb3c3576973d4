# SPDX-License-Identifier: Apache-2.0
"""What a dry run of many packages says, compared with the real run, and how often apt is asked for
it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from both_runs import unlike
from debian import Debian
from debian_archive import INDEX

# package: what it says of others
GRAPH = {
    "lib": "",
    "web": "Depends: lib",
    "app": "Depends: web, lib\nRecommends: extra, no-such-thing",
    "extra": "",
    "lang": "Depends: mod | fpm | cgi",
    "mod": "Depends: web",
    "fpm": "Depends: lib",
    "cgi": "",
    "mailer": "Provides: mta",
    "post": "Provides: mta\nConflicts: oldest",
    "rival": "Conflicts: cgi",
    "report": "Recommends: mailer | mta",
    "old": "",
    "older": "Depends: old",
    "oldest": "",
    "broken": "Depends: nothing-of-that-name",
    "shared": "",
    "enough": "Depends: shared (>= 1.0)",
    "needy": "Depends: shared (>= 2.0)",
    "breaker": "Breaks: shared (<< 2.0)",
    "pair": "",
    "twin": "Depends: pair (= 1.0)",
    "pairing": "Depends: pair (>= 2.0)",
}
NEWER = {"shared": "", "pair": "", "twin": "Depends: pair (= 2.0)"}
MAKE = f"""
set -e
mkdir -p /srv/archive; cd /srv/archive
for dir in /srv/packages/*; do
    dpkg-deb -b $dir . >/dev/null
done
{INDEX}
tar -cf /root/archive.tar -C / srv/archive etc/apt/sources.list.d/own.list
"""
FURNISH = """
set -e
tar -xf /root/archive.tar -C /
apt-get -q update
cd /srv/archive
echo 'APT::Install-Recommends "true";' >/etc/apt/apt.conf.d/zz-recommends
apt-get -q -y install older oldest
dpkg -i shared_1.0_all.deb pair_1.0_all.deb twin_1.0_all.deb
for name in apt-get apt-cache; do
    printf '#!/bin/sh\\necho '$name' "$@" >>/run/asked\\nexec /usr/bin/'$name' "$@"\\n' \\
        >/usr/local/sbin/$name
    chmod 755 /usr/local/sbin/$name
done
"""


@pytest.fixture(scope="module")
def archive(workshop: Debian) -> bytes:
    """A tar file of the packages, as what apt installs from."""
    for version, packages in (("1.0", GRAPH), ("2.0", NEWER)):
        for name, more in packages.items():
            about = (
                f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer:"
                f" me\n{more}\nDescription: {name}\n"
            )
            control = f"/srv/packages/{name}-{version}/DEBIAN/control"
            workshop.write(control, about.replace("\n\n", "\n"))
    workshop.run(MAKE)
    return workshop.path("/root/archive.tar").read_bytes()


@pytest.fixture
def graph(debian: Debian, archive: bytes) -> Debian:
    """A machine that has some of the packages, and notes what apt is asked."""
    debian.path("/root/archive.tar").write_bytes(archive)
    debian.run(FURNISH)
    return debian


def installed(*names: str, **more: Any) -> dict[str, Any]:
    return {
        name: {"pkg.installed": [{"name": name}, *({key: value} for key, value in more.items())]}
        for name in names
    }


def latest(*names: str) -> dict[str, Any]:
    return {name: {"pkg.latest": [{"name": name}]} for name in names}


def removed(*names: str) -> dict[str, Any]:
    return {name: {"pkg.removed": [{"name": name}]} for name in names}


ONE = [{"name": "all of them"}, {"pkgs": ["web", "fpm"]}]
# what a tree says, and how many simulations its dry run may take
STAYS = {"stays": {"pkg.held": [{"name": "web"}]}}
GONE = {"gone": {"pkg.removed": [{"name": "web"}]}}
CASES = {
    "brought by one before": ({**installed("app", "web", "extra"), **latest("lib"), **STAYS}, 1),
    "an alternative that is there by then": (
        {"both": {"pkg.installed": ONE}, **installed("lang")},
        1,
    ),
    "an alternative that is asked for later": (installed("lang", "fpm"), 2),
    "who provides it is asked for later": (
        {**installed("report"), **latest("web", "fpm"), **GONE},
        2,
    ),
    "other options": (
        {**installed("app", install_recommends=False), **installed("report", "cgi")},
        2,
    ),
    "what takes another away": (installed("web", "mailer", "post", "fpm"), 5),
    "what takes a planned one away": (installed("cgi", "web", "mailer", "rival"), 6),
    "in one transaction": (installed("app", "cgi", "web", "mailer", aggregate=True), 5),
    "an installed one is new enough for the first": (installed("enough", "needy", "web"), 1),
    "an installed one is broken": (installed("enough", "breaker", "needy"), 1),
    "an installed one changes with another": (installed("enough", "pairing", "web"), 2),
    "removed one by one": (removed("oldest", "older"), 1),
    "removed with another": (removed("oldest", "old", "older"), 3),
}


@pytest.mark.parametrize("case", CASES)
def test_the_dry_run_says_what_the_real_one_does(graph: Debian, case: str) -> None:
    tree, simulations = CASES[case]
    graph.tree(graph=json.dumps(tree))
    dry = graph.results("sls", "graph", "--test")
    asked = graph.read("cat /run/asked").split("\n")
    real = graph.results("sls", "graph")
    assert unlike(dry, real) == {}
    assert len([line for line in asked if " -s " in line]) <= simulations, asked
    assert len([line for line in asked if line.startswith("apt-cache policy")]) <= 1, asked


def test_apt_answers_each_question_once_for_all_states(graph: Debian) -> None:
    """Files that are planned in between, those of packages as well, are none that it goes by."""
    between = {
        name: {"file.managed": [{"name": name}, {"contents": "x"}]}
        for name in ("/etc/between", "/usr/local/lib/between")
    }
    tree: dict[str, Any] = {}
    for package, path in zip(("web", "app", "extra"), [*between, ""], strict=True):
        tree |= installed(package) | ({path: between[path]} if path else {})
    graph.tree(graph=json.dumps(tree))
    dry = graph.results("sls", "graph", "--test")
    asked = graph.read("cat /run/asked").split("\n")
    assert len(asked) == len({*asked}), asked
    kinds = [word for line in asked for word in ("policy", "-s", "--print-uris", "depends")]
    told = {kind: sum(f" {kind} " in line for line in asked) for kind in kinds}
    assert told == {"policy": 1, "-s": 1, "--print-uris": 1, "depends": 1}, asked
    assert unlike(dry, graph.results("sls", "graph")) == {}


def test_recommendations_that_are_off_bring_nothing(graph: Debian) -> None:
    graph.tree(graph=json.dumps(installed("app", "web", "extra")))
    for setting, brought in (("false", set()), ("true", {"extra"})):
        graph.write("/etc/apt/apt.conf.d/zz-recommends", f'APT::Install-Recommends "{setting}";\n')
        assert (
            graph.results("sls", "graph", "--test")["app"]["changes"].keys()
            == {"app", "web", "lib"} | brought
        )


def test_what_cannot_be_installed_or_removed_fails_in_both_runs_alike(graph: Debian) -> None:
    wrong = {
        **installed("broken"),
        **removed("dash"),
        "the newest": {"pkg.latest": [{"name": "broken"}]},
    }
    graph.tree(graph=json.dumps({**wrong, **latest("web")}))
    dry, real = (graph.results("sls", "graph", *words, code=2) for words in (["--test"], []))
    for name, told in (
        ("broken", "unmet dependencies"),
        ("dash", "Essential packages"),
        ("the newest", "unmet"),
    ):
        assert dry[name]["result"] is real[name]["result"] is False
        assert dry[name]["comment"] == real[name]["comment"], told
    assert dry["web"]["result"] is None
    assert real["web"]["result"] is True


def test_a_real_run_simulates_nothing(graph: Debian) -> None:
    graph.tree(graph=json.dumps({**installed("app", "mailer"), **latest("lang")}))
    graph.runner("sls", "graph")
    assert " -s " not in graph.read("cat /run/asked")
    assert graph.read("dpkg-query -Wf '${Version}' extra") == "1.0"


def test_a_state_that_does_not_run_brings_nothing(graph: Debian) -> None:
    skipped = {"app": {"pkg.installed": [{"name": "app"}, {"unless": "true"}]}}
    graph.tree(graph=json.dumps({**skipped, **installed("web", "fpm")}))
    assert graph.results("sls", "graph", "--test")["web"]["changes"].keys() == {"web", "lib"}


def test_what_is_only_planned_is_not_there_for_what_runs(graph: Debian) -> None:
    planned = {"app": {"pkg.installed": [{"name": "app"}, {"noop": True}]}}
    graph.tree(graph=json.dumps({**planned, **installed("web")}))
    results = graph.results("sls", "graph")
    assert (results["app"]["result"], results["web"]["result"]) == (None, True)
    assert results["web"]["changes"].keys() == {"web", "lib"}


CHAIN: list[tuple[str, dict[str, Any]]] = [
    ("pkg.installed", {"name": "app"}),
    ("pkg.installed", {"name": "web"}),
    ("pkg.installed", {"name": "app"}),
    ("pkg.removed", {"name": "lib"}),
    ("pkg.installed", {"pkgs": ["web", "extra"]}),
    ("pkg.held", {"name": "web"}),
    ("pkg.held", {"name": "web"}),
    ("pkg.removed", {"name": "web"}),
    ("pkg.unheld", {"name": "web"}),
    ("pkg.removed", {"name": "web"}),
    ("pkg.purged", {"name": "web"}),
    ("pkg.removed", {"name": "old"}),
    ("pkg.latest", {"name": "older"}),
    ("pkg.purged", {"name": "old"}),
    ("pkg.installed", {"name": "older"}),
    ("pkg.installed", {"name": "post"}),
    ("pkg.removed", {"name": "oldest"}),
    ("pkg.installed", {"name": "oldest"}),
    ("pkg.uptodate", {"name": "all"}),
]


def test_each_state_sees_the_packages_of_those_before_it(graph: Debian) -> None:
    graph.tree(
        chain=json.dumps(
            {
                f"{position} {function} {arguments}": {
                    function: [{key: value} for key, value in {"name": "x", **arguments}.items()]
                }
                for position, (function, arguments) in enumerate(CHAIN)
            }
        )
    )
    dry = graph.results("sls", "chain", "--test", code=None)
    real = graph.results("sls", "chain", code=None)
    wrong = unlike(dry, real)
    assert not wrong, json.dumps(wrong, indent=1)
