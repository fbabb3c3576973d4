# SPDX-License-Identifier: Apache-2.0
"""The servers and pools that chronyd takes its time from."""

from __future__ import annotations

from modules import _paths, cmd
from modules._texts import time_sources
from modules._texts.time_sources import TimeSource
from runner.api import CommandFailed, for_states, here

CONFIGURATIONS = ("/etc/chrony/chrony.conf", "/etc/chrony.conf")
DIRECTIVES = ("server", "pool")


@for_states
def configuration() -> str:
    """The path of the configuration that there is."""
    return next(filter(_paths.isfile, CONFIGURATIONS), CONFIGURATIONS[0])


def get_sources(conf_file: str | None = None) -> list[str]:
    """The lines of the configuration that name servers and pools.

    {{ salt['chrony.get_sources']() }}
    """
    text = time_sources.read(conf_file or configuration())
    return [str(source) for source in time_sources.sources(text, DIRECTIVES)]


@for_states
def source(directive: str, host: str, options: str) -> TimeSource:
    """A line that names a server or a pool."""
    return TimeSource(directive, host, options)


@for_states
def with_sources(path: str, wanted: dict[str, list[TimeSource]]) -> str:
    """The text of a configuration with these servers and pools."""
    return time_sources.with_sources(time_sources.read(path), wanted)


@for_states
def verify(text: str) -> None:
    """Have chronyd read a configuration, if it is installed. Raises CommandFailed with what it
    refuses.
    """

    program = _paths.which("chronyd") or _paths.which("chronyd", path="/usr/sbin:/usr/local/sbin")
    if not program:
        return
    path = f"{here.scratch()}/chrony.conf"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(text)
    done = cmd.probe([program, "-p", "-f", path])
    if done.retcode:
        problem = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise CommandFailed(
            "chronyd refuses the new configuration: "
            + "".join(problem).replace(path, "chrony.conf")
        )
