# SPDX-License-Identifier: Apache-2.0
"""pkg.declared on a machine whose package manager has `words`, `phrase` that needs it, `greeting`
and another package: the same for each package manager.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from debian import Debian

MARKED = {
    "phrase": {"old": "automatic", "new": "manual"},
    "words": {"old": "manual", "new": "automatic"},
}


def try_declared(machine: Debian, there: Callable[[], str], kept: str, version: str) -> None:
    """Try it. All four packages are there, all but `phrase` as installed by hand.

    there: the names of the installed packages. kept: the fourth. version: that of `greeting`.
    """
    keep = {"keep": [f"{kept[0]}*{kept[-1]}", "base"]}
    states = {"nothing else": {"pkg.declared": [keep]}, "phrase": {"pkg.installed": []}}
    machine.tree(top="base: {'*': [site]}", site=json.dumps(states))
    before = there()
    dry = machine.results("highstate", "--test")["nothing else"]
    assert dry["result"] is None, dry
    assert dry["changes"] == {"greeting": {"old": version, "new": ""}, **MARKED}
    assert there() == before
    real = machine.results("highstate")["nothing else"]
    assert (real["result"], real["changes"]) == (True, dry["changes"])
    assert {*there().split()} == {*before.split()} - {"greeting"}
    again = machine.results("highstate", "--test")["nothing else"]
    assert (again["comment"], again["changes"]) == ("Only declared packages are installed", {})
