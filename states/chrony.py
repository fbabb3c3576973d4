# SPDX-License-Identifier: Apache-2.0
"""The servers and pools that chronyd takes its time from."""

from __future__ import annotations

from modules import chrony, file
from runner.api import FilePath, Line, Name, Plan, Planned, WordsLine
from runner.api.claims import edits

DECIDES = {"managed": "* servers pools"}
TOLD_APART_BY = "conf_file"
owns = edits("conf_file")


@file.validated
def managed(
    name: Line,
    servers: list[Name] | None = None,
    pools: list[Name] | None = None,
    options: WordsLine = "iburst",
    conf_file: FilePath | None = None,
) -> Planned:
    """Make sure that chronyd's configuration names these servers and pools, and no others.

    name: Names the state.
    servers: The names of servers, in order; without it their lines stay.
    pools: The names of pools, in order; without it their lines stay.
    options: What follows each name, such as `iburst`.
    conf_file: The configuration; /etc/chrony/chrony.conf or /etc/chrony.conf unless it is given.
      Its other lines stay; `chronyd -p` reads it first, where it is installed. Restart the service
      by a watch.

        time:
          chrony.managed:
            - servers: [ntp.example.org]
            - pools: []

    Salt has nothing like it.
    """
    path = conf_file or chrony.configuration()
    wanted = {
        directive: [chrony.source(directive, host, options) for host in hosts]
        for directive, hosts in (("server", servers), ("pool", pools))
        if hosts is not None
    }
    before = chrony.get_sources(path)
    kept = [line for line in before if line.split()[0] not in wanted]
    lines = [str(source) for group in wanted.values() for source in group]
    present = {kind: [line for line in before if line.split()[0] == kind] for kind in wanted}
    if present == {kind: [*map(str, group)] for kind, group in wanted.items()}:
        return "The sources of chrony are in the correct state"
    text = chrony.with_sources(path, wanted)
    chrony.verify(text)
    file.refuse_rewrite(file.real_path(path))
    yield Plan(
        {"sources": {"old": before, "new": [*kept, *lines]}},
        f"The sources of chrony in {path} are set to be changed",
    )
    file.write(path, text.encode("utf-8", "surrogateescape"))
    return f"The sources of chrony in {path} were changed"
