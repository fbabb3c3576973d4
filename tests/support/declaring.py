"""pkg.declared on a machine whose package manager has `words`, `phrase` that needs it, `greeting`
and another package: the same for each package manager.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from debian import Debian

GOES = {"old": "manual", "new": "automatic"}
COMES = {"old": "automatic", "new": "manual"}


def declares(machine: Debian, package: str, keep: str) -> None:
    """Have a highstate that declares one package, and keeps others."""
    states = {
        "nothing else": {"pkg.declared": [{"keep": [keep, "base"]}]},
        package: {"pkg.installed": []},
    }
    machine.tree(top="base: {'*': [site]}", site=json.dumps(states))


def try_declared(machine: Debian, there: Callable[[], str], kept: str, version: str) -> None:
    """Try it, all four packages being installed by hand.

    there: the names of the installed packages. kept: the package that the highstate keeps.
    """
    before = there()
    declares(machine, "phrase", f"{kept[0]}*{kept[-1]}")
    dry = machine.results("highstate", "--test")["nothing else"]
    assert dry["result"] is None
    assert dry["changes"] == {"greeting": {"old": version, "new": ""}, "words": GOES}, dry
    assert there() == before
    real = machine.results("highstate")["nothing else"]
    assert (real["result"], real["changes"]) == (True, dry["changes"])
    again = machine.results("highstate", "--test")["nothing else"]
    assert (again["comment"], again["changes"]) == ("Only declared packages are installed", {})

    declares(machine, "words", kept)
    dry = machine.results("highstate", "--test")["nothing else"]
    assert {name: change["new"] for name, change in dry["changes"].items()} == {
        "phrase": "",
        "words": "manual",
    }
    real = machine.results("highstate")["nothing else"]
    assert (real["result"], real["changes"]) == (True, dry["changes"])
    assert {*there().split()} == {*before.split()} - {"greeting", "phrase"}
