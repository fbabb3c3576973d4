# SPDX-License-Identifier: Apache-2.0
"""How capabilities of files are tried: by setcap, on a throw-away copy of the machine."""

from __future__ import annotations

from laws import on_machine

THERE = "cp /bin/true /srv/web; "
SET = THERE + "setcap cap_net_bind_service=ep /srv/web; "
on = on_machine("file.", name="/srv/web")
SCENARIOS = [
    on("capability", THERE, caps="cap_net_bind_service=ep"),
    on("capability", THERE, caps=["cap_net_raw=ep", "cap_kill+ep"]),
    on("capability", SET, plans=False, caps="cap_net_bind_service+ep"),
    on("capability", SET, caps="cap_net_raw=ep"),
    on("capability", SET, caps=[]),
    on("capability", THERE, plans=False, caps=[]),
    on("capability", THERE, caps="cap_fly=ep", fails="setcap knows no capabilities 'cap_fly=ep'"),
    on("capability", "rm $(which getcap); " + THERE, caps=[], fails="getcap is missing"),
    on("capability", caps="cap_kill=ep", fails="/srv/web does not exist"),
    on("capability", f"{THERE}chmod 666 /srv/web", caps="cap_kill=ep", fails="others than root"),
    on(
        "capability",
        f"{THERE}chmod 1777 /srv; chown 1 /srv/web",
        caps="cap_kill=ep",
        fails="others than",
    ),
    on("capability", "ln -s /bin/true /srv/web", caps="cap_kill=ep", fails="is no plain file"),
]
