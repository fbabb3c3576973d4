# SPDX-License-Identifier: Apache-2.0
"""The servers that ntpd takes its time from."""

from __future__ import annotations

from modules import file, ntp
from runner.api import FilePath, Line, Name, Plan, Planned, StateFailed
from runner.api.claims import edits

DECIDES = {"managed": "* servers"}
TOLD_APART_BY = "conf_file"
owns = edits("conf_file")


@file.validated
def managed(
    name: Line, servers: list[Name] | None = None, conf_file: FilePath | None = None
) -> Planned:
    """Make sure that ntpd's configuration names these servers, and no others.

    name: Names the state.
    servers: The names of the servers, in order.
    conf_file: The configuration; /etc/ntpsec/ntp.conf or /etc/ntp.conf unless it is given. Its
      other lines stay, options of servers that stay, too; new servers get iburst. Restart the
      service by a watch.

        time:
          ntp.managed:
            - servers: [0.pool.ntp.org, 1.pool.ntp.org]

    Behaviour: Salt's ntp.managed, which today knows Windows alone.
    """
    wanted = servers or []
    if not wanted:
        raise StateFailed("servers: expected at least one")
    path = conf_file or ntp.configuration()
    present = ntp.get_servers(path)
    if present == wanted:
        return "NTP servers already configured as specified"
    file.refuse_rewrite(file.real_path(path))
    yield Plan(
        {"old": present, "new": wanted}, f"NTP servers will be updated to: {', '.join(wanted)}"
    )
    ntp.set_servers(*wanted, conf_file=path)
    return "NTP servers updated"
