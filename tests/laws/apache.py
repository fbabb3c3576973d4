# SPDX-License-Identifier: Apache-2.0
"""How Apache's tools are tried, by the links that they make; tests/machine/test_apache.py asks the
server.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario, scenario

KINDS = {
    "module": ("mod", "mods", "load"),
    "site": ("site", "sites", "conf"),
    "conf": ("conf", "conf", "conf"),
}


def on(function: str, enabled: bool = False, there: bool = True, **given: Any) -> Scenario:
    kind, folder, suffix = KINDS[function.split(".")[0]]
    made = f"cd /etc/apache2; touch apache2.conf {folder}-available/x.{suffix}; "
    made += f"ln -s ../{folder}-available/x.{suffix} {folder}-enabled/; " if enabled else ""
    tools = (
        f"mkdir -p /etc/apache2/{folder}-available /etc/apache2/{folder}-enabled; cd"
        f" /usr/local/sbin; printf '#!/bin/sh\\nln -s ../{folder}-available/$1.{suffix}"
        f" /etc/apache2/{folder}-enabled/' >a2en{kind}; printf '#!/bin/sh\\nrm"
        f" /etc/apache2/{folder}-enabled/$1.{suffix}' >a2dis{kind}; chmod 755 a2*; "
    )
    prepare = tools + made if there else ""
    return scenario(f"apache_{function}", machine=True, prepare=prepare, **{"name": "x", **given})


SCENARIOS = [
    *(on(f"{each}.enabled") for each in KINDS),
    *(on(f"{each}.disabled", enabled=True) for each in KINDS),
    on("module.enabled", plans=False, enabled=True),
    on("site.disabled", plans=False),
    on("conf.enabled", fails="it comes with apache2", there=False),
    on("module.enabled", name="xx", fails="xx.load does not exist: did you mean x?"),
]
