# SPDX-License-Identifier: Apache-2.0
"""The grains of hosts that earlier fleet runs have seen, below the cache folder; nobody else can
read them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

from runner.support.files.trusted_folder import TrustedFolder, UntrustedFile, trusted_folder
from runner.tools.fleet.records import Host
from runner.tools.fleet.targets import HostGrains


class FactsCache:
    """A file a host."""

    def __init__(self, cachedir: str) -> None:
        self._cachedir = cachedir

    def _folder(self) -> TrustedFolder:
        return trusted_folder(self._cachedir).below("fleet", "grains")

    def facts(self, host: Host) -> HostGrains:
        """Return what is known of a host: what the inventory says wins."""
        try:
            kept = json.loads(self._folder().read(_file(host.name)))
            seen, grains = float(kept["seen"]), dict(kept["grains"])
        except (OSError, UntrustedFile, ValueError, KeyError, TypeError):
            return HostGrains(host.grains)
        return HostGrains({**grains, **host.grains}, max(time.time() - seen, 0.0))

    def keep(self, name: str, grains: Mapping[str, Any]) -> None:
        """Remember the grains of a host."""
        text = json.dumps({"id": name, "seen": time.time(), "grains": grains}, default=str)
        self._folder().write(_file(name), text.encode())


def _file(name: str) -> str:
    """The file of a host; its name may be any text."""
    return f"{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()}.json"
