# SPDX-License-Identifier: Apache-2.0
"""How augeas.change is tried, with the real augtool; tests/machine/test_volumes.py has the rest."""

from __future__ import annotations

from typing import Any

from laws import Scenario, on_machine

HOSTS = "/files/etc/hosts"
ODD = "echo '= =' >/etc/odd.conf; mkdir /etc/lenses"


edit = on_machine("augeas.", ODD, layer="volumes")


def on(*changes: str, **given: Any) -> Scenario:
    usual = {"name": "edit", "context": HOSTS, "lens": "Hosts.lns", "changes": list(changes)}
    return edit("change", **{**usual, **given})


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
