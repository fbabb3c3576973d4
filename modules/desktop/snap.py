# SPDX-License-Identifier: Apache-2.0
"""Applications of snapd."""

from __future__ import annotations

import re

from modules._machine.tools import TOPIC, UNPINNED, Tool, change
from modules._texts.lines import plain_name
from runner.api import cached_look

NEEDS_PROGRAM = "snap"  # without it templates find no function of this module
_SNAP = Tool("snap", "snapd")


@cached_look(TOPIC)
def versions_installed(pkg: str) -> list[dict[str, str]]:
    """The installed versions of a snap: name, version, rev, tracking and notes; none when it is not
    installed. Raises CommandFailed when snapd does not answer.

    {{ salt['snap.versions_installed']('lxd') | json }}
    """
    planned: list[dict[str, str]] | None = _SNAP.planned.get(pkg)
    if planned is not None:
        return planned
    done = _SNAP.run("list", "--", plain_name(pkg, "pkg"))
    if done.retcode:
        if re.search("no matching snaps installed|no snaps are installed", done.stderr):
            return []
        raise _SNAP.failure("list", done.error_text)
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    return [
        dict(zip(("name", "version", "rev", "tracking"), row, strict=False))
        | {"notes": row[-1] if len(row) > 4 else ""}
        for row in rows
    ]


def is_installed(pkg: str) -> bool:
    """Return whether a snap is installed. Raises CommandFailed when snapd does not answer."""
    return bool(versions_installed(pkg))


def install(
    pkg: str, channel: str | None = None, refresh: bool = False, classic: bool = False
) -> str:
    """Install a snap: what snap prints. Raises CommandFailed with what snap has against it.

    channel: such as latest/edge. refresh: the snap is there, and only switched to the channel.
    classic: without confinement.

    runner call snap.install lxd channel=5.21/stable
    """
    words = ["refresh" if refresh else "install"]
    words += [f"--channel={plain_name(channel, 'channel')}"] if channel else []
    words += ["--classic"] if classic else []
    now = versions_installed(pkg) if refresh else [{"name": pkg, "version": UNPINNED}]
    becomes = [{**each, "tracking": channel or each.get("tracking", "")} for each in now]
    return change([*words, "--", plain_name(pkg, "pkg")], _SNAP, becomes={pkg: becomes})


def remove(pkg: str) -> str:
    """Remove a snap: what snap prints. Raises CommandFailed with what snap has against it."""
    words = ["remove", "--", plain_name(pkg, "pkg")]
    return change(words, _SNAP, becomes={pkg: []})
