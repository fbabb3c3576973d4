# SPDX-License-Identifier: Apache-2.0
"""How augeas.change is tried, with the real augtool; tests/machine/test_volumes.py has the rest."""

from __future__ import annotations

from typing import Any

from laws import Scenario

HOSTS = "/files/etc/hosts"
ODD = "echo '= =' >/etc/odd.conf; mkdir /etc/lenses"


def on(
    *changes: str,
    plans: bool = True,
    fails: str | None = None,
    lens: str = "Hosts.lns",
    **args: Any,
) -> Scenario:
    given = {"name": "edit", "changes": list(changes), "context": HOSTS, "lens": lens, **args}
    return Scenario(
        "augeas.change",
        given,
        plans=plans,
        fails=fails,
        machine=True,
        layer="volumes",
        prepare=ODD,
    )


SCENARIOS = [
    on("set *[canonical='localhost']/alias me", "rm *[canonical='machine']"),
    on("set 1/canonical localhost", plans=False, load_path=["/etc/lenses"]),
    on("set 1[ x", fails="unmatched ["),
    on("set a 1", lens="Nosuch.lns", fails="Can not find lens Nosuch.lns"),
    on(
        "set a 1",
        context="/files/etc/odd.conf",
        lens="Simplevars.lns",
        fails="/etc/odd.conf, line 1: its lens cannot read it",
    ),
]
