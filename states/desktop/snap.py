# SPDX-License-Identifier: Apache-2.0
"""Applications of snapd."""

from __future__ import annotations

from functools import partial

from modules.desktop import snap
from runner.api import OPEN, Name, Planned
from runner.api.kinds import Kind, Property, Wording, comes_after
from states._tools import explained

DECIDES = {"installed": "channel classic"}
OPPOSITE = {"installed": "removed"}
SNAP = Kind(
    'Package "{name}"',
    Wording(
        "{title} is already installed",
        "{title} would have been installed",
        "{title} was installed",
        "{title} failed to install",
        {"old": None, "new": "{name}"},
        OPEN,
    ),
    Wording(
        "",
        "{title} would have been switched to channel {channel}",
        "{title} was switched to channel {channel}",
        "Failed to switch {title} to channel {channel}",
        {"old": "{tracking}", "new": "{channel}"},
    ),
    Wording(
        "{title} is not installed",
        "{title} would have been removed",
        "{title} removed",
        "{title} failed to remove",
        {"old": "{version}", "new": None},
    ),
)


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
    with explained(f'Package "{name}" failed to install'):
        versions = snap.versions_installed(name)
    tracking = versions[0].get("tracking", "") if versions else ""
    another = None if channel is None or _whole(channel, tracking) == tracking else channel
    install = partial(snap.install, name, channel, bool(versions), classic)
    properties = [Property("channel", another, lambda: tracking)]
    about = {"name": name, "channel": channel, "tracking": tracking}
    return SNAP.present(bool(versions), install, properties, lambda _: install(), **about)


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
    """
    with explained(f'Package "{name}" failed to remove'):
        versions = snap.versions_installed(name)
    version = versions[0]["version"] if versions else None
    return SNAP.absent(version, lambda: snap.remove(name), name=name, version=version)


autorequire = comes_after("Snaps come after snapd.", ("pkg", "snapd"), ("service", "snapd"))
