# SPDX-License-Identifier: Apache-2.0
"""`gitfs_remotes` and the external pillar `git`: git repositories whose branches and tags are
environments, as folders in runner's own cache.
"""

from __future__ import annotations

from runner.sources.gitfs.environment_roots import EnvironmentRoots
from runner.sources.gitfs.pillar_sources import PillarFolder, pillar_folders
from runner.sources.gitfs.settings import fileserver_remotes, pillar_remotes, uses_git

__all__ = [
    "EnvironmentRoots",
    "PillarFolder",
    "fileserver_remotes",
    "pillar_folders",
    "pillar_remotes",
    "uses_git",
]
