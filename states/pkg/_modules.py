# SPDX-License-Identifier: Apache-2.0
"""Modules of packages, of which each machine follows one stream; only dnf has them."""

from __future__ import annotations

from modules import pkg
from runner.api import Line, Name, Plan, Planned, StateFailed, requires_feature
from states.pkg import _selection as selection


@requires_feature("modules")
def module_enabled(name: Name, stream: Line | None = None) -> Planned:
    """Make sure that a stream of a module is enabled: its packages come from this stream.

    name: The module, or `module:stream`.
    stream: The stream; without it the default one, unless another one is enabled already. Packages
      that are installed from another stream stay until pkg.installed or pkg.latest changes them.

        nodejs module:
          pkg.module_enabled:
            - name: nodejs
            - stream: 20

        nodejs packages:
          pkg.installed:
            - name: nodejs
            - require:
              - pkg: nodejs module

    Salt has no such state.
    """
    module, _, named_stream = name.partition(":")
    streams = _streams(module)
    wanted = stream or named_stream or _preferred(module, streams)
    if wanted not in streams:
        known = ", ".join(streams)
        raise StateFailed(f"The module {module} has no stream {wanted} (there are {known})")
    enabled = [stream_name for stream_name, state in streams.items() if "enabled" in state]
    if wanted in enabled:
        return f"The stream {module}:{wanted} is already enabled"
    change = {module: {"old": ", ".join(enabled), "new": wanted}}
    yield Plan(change, f"The stream {module}:{wanted} would be enabled", provides=[selection.LISTS])
    pkg.provider().set_module_stream(module, wanted)
    return f"The stream {module}:{wanted} was enabled"


@requires_feature("modules")
def module_disabled(name: Name) -> Planned:
    """Make sure that a module is disabled: none of its packages can be installed.

    name: The module.

        nodejs:
          pkg.module_disabled: []

    Salt has no such state.
    """
    streams = _streams(name)
    if all("disabled" in state for state in streams.values()):
        return f"The module {name} is already disabled"
    enabled = [stream_name for stream_name, state in streams.items() if "enabled" in state]
    change = {name: {"old": ", ".join(enabled), "new": ""}}
    yield Plan(change, f"The module {name} would be disabled", provides=[selection.LISTS])
    pkg.provider().set_module_stream(name, "")
    return f"The module {name} was disabled"


def _streams(module: str) -> dict[str, tuple[str, ...]]:
    streams = pkg.provider().module_streams(module)
    if not streams:
        raise StateFailed(f"No module {module} was found", missing=selection.LISTS)
    return streams


def _preferred(module: str, streams: dict[str, tuple[str, ...]]) -> str:
    """The stream that is enabled, else the default one."""
    for kind in ("enabled", "default"):
        if named := next(
            (stream_name for stream_name, state in streams.items() if kind in state), None
        ):
            return named
    raise StateFailed(
        f"The module {module} has no default stream: name one of {', '.join(streams)}"
    )
