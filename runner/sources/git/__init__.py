# SPDX-License-Identifier: Apache-2.0
"""Repositories of others, kept as bare copies below runner's own cache; all is done by the program
git.
"""

from __future__ import annotations

from runner.sources.git.checkout import export
from runner.sources.git.mirror import WHOLE_COMMIT, Mirror, mirror_folder
from runner.sources.git.program import FullDisk, GitError, Remote, display_url
from runner.sources.git.signatures import Signers, Untrusted

__all__ = [
    "WHOLE_COMMIT",
    "FullDisk",
    "GitError",
    "Mirror",
    "Remote",
    "Signers",
    "Untrusted",
    "display_url",
    "export",
    "mirror_folder",
]
