# SPDX-License-Identifier: Apache-2.0
"""The part of a build that writes down its commit, which `runner --version` shows."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILE = "runner/commit.txt"


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds a file with the commit to what is built in a checkout; an unpacked source package has
    that file.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        commit = "" if version == "editable" else self._commit()
        if commit:
            with tempfile.NamedTemporaryFile("w", delete=False) as file:
                file.write(f"{commit}\n")
            self._written = file.name
            build_data["force_include"][file.name] = FILE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if written := getattr(self, "_written", ""):
            os.unlink(written)

    def _commit(self) -> str:
        """The commit of the checkout, and whether files differ from it; empty without one."""
        if not os.path.exists(os.path.join(self.root, ".git")):  # that of a folder above is another
            return ""
        try:
            commit = self._git("rev-parse", "--short=12", "HEAD")
            return f"{commit} with changes" if self._git("status", "--porcelain") else commit
        except (OSError, subprocess.CalledProcessError):
            return ""

    def _git(self, *words: str) -> str:
        argv = ["git", "-C", self.root, *words]
        # in a hook of git GIT_DIR names another repository
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(argv, check=True, capture_output=True, text=True, env=clean)
        return done.stdout.strip()
