# SPDX-License-Identifier: Apache-2.0
"""The servers that ntpd takes its time from."""

from __future__ import annotations

from modules import _paths, file
from modules._texts import time_sources
from modules._texts.time_sources import TimeSource
from runner.api import CommandFailed, for_states, name_problem

CONFIGURATIONS = ("/etc/ntpsec/ntp.conf", "/etc/ntp.conf")
DIRECTIVES = ("server",)


@for_states
def configuration() -> str:
    """The path of the configuration that there is."""
    return next(filter(_paths.isfile, CONFIGURATIONS), CONFIGURATIONS[-1])


def get_servers(conf_file: str | None = None) -> list[str]:
    """The servers of the configuration.

    {{ salt['ntp.get_servers']() }}
    """
    text = time_sources.read(conf_file or configuration())
    return [source.host for source in time_sources.sources(text, DIRECTIVES)]


def set_servers(*servers: str, conf_file: str | None = None) -> list[str]:
    """Set the servers of the configuration; the other lines stay. Raises CommandFailed for what is
    no name.
    """
    for server in servers:
        if problem := name_problem(server):
            raise CommandFailed(problem)
    path = conf_file or configuration()
    text = time_sources.read(path)
    options = {source.host: source for source in time_sources.sources(text, DIRECTIVES)}
    wanted = [options.get(server, TimeSource("server", server, "iburst")) for server in servers]
    file.write(path, time_sources.with_sources(text, {"server": wanted}).encode())
    return get_servers(path)
