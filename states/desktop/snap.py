# SPDX-License-Identifier: Apache-2.0
"""Applications of snapd."""

from __future__ import annotations

from modules.desktop import snap
from runner.api import OPEN, Name, Plan, Planned, comes_after
from states._tools import carry_out, explained

OPPOSITE = {"installed": "removed"}


def installed(name: Name, channel: Name | None = None, classic: bool = False) -> Planned:
    """Make sure that a snap is installed.

    name: The snap.
    channel: Follow this one (stable, edge, 5.21/stable); without it the one that it follows, or its
      default.
    classic: Install it without confinement, for one that needs that.

        lxd:
          snap.installed:
            - channel: 5.21/stable

    Behaviour: Salt 3007's snap.installed, which lacks classic.
    """
    failed = f'Package "{name}" failed to install'
    with explained(failed):
        versions = snap.versions_installed(name)
    if not versions:
        return (
            yield from carry_out(
                Plan(
                    {"old": None, "new": name},
                    f'Package "{name}" would have been installed',
                    provides=OPEN,
                ),
                lambda: snap.install(name, channel, False, classic),
                f'Package "{name}" was installed',
                failed,
            )
        )
    tracking = versions[0].get("tracking", "")
    if channel is None or _whole(channel, tracking) == tracking:
        return f'Package "{name}" is already installed'
    return (
        yield from carry_out(
            Plan(
                {"old": tracking, "new": channel},
                f'Package "{name}" would have been switched to channel {channel}',
            ),
            lambda: snap.install(name, channel, True, classic),
            f'Package "{name}" was switched to channel {channel}',
            f'Failed to switch Package "{name}" to channel {channel}',
        )
    )


def _whole(channel: str, tracking: str) -> str:
    """A channel as snap lists it: a risk alone is one of the track latest, a track alone its stable
    one.
    """
    if "/" not in tracking:  # of an old snapd
        return channel
    if channel in ("stable", "candidate", "beta", "edge"):
        return f"latest/{channel}"
    return channel if "/" in channel else f"{channel}/stable"


def removed(name: Name) -> Planned:
    """Make sure that a snap is not installed.

    name: The snap.

        lxd:
          snap.removed: []

    Behaviour: Salt 3007's snap.removed.
    """
    failed = f'Package "{name}" failed to remove'
    with explained(failed):
        versions = snap.versions_installed(name)
    if not versions:
        return f'Package "{name}" is not installed'
    return (
        yield from carry_out(
            Plan(
                {"old": versions[0]["version"], "new": None},
                f'Package "{name}" would have been removed',
            ),
            lambda: snap.remove(name),
            f'Package "{name}" removed',
            failed,
        )
    )


autorequire = comes_after(("pkg", "snapd"), ("service", "snapd"))

__all__ = ["autorequire", "installed", "removed"]
