# SPDX-License-Identifier: Apache-2.0
"""Where a state that failed on other machines is declared here."""

from __future__ import annotations

import re

from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.sources.config.options import Options
from runner.sources.fileroots import FileTree
from runner.support.files.text import text_to_show


class Places:
    """The SLS files of the tree, as their authors wrote them."""

    def __init__(self, options: Options) -> None:
        self._tree = FileTree(options.file_roots, options.raw)
        self._environments = list(options.file_roots)

    def of(self, sls: str, id: str) -> Source | None:
        """The place of an ID in an SLS file; without a line where a template makes the ID."""
        for environment in self._environments:
            path = self._tree.sls_path(sls, environment)
            if path is None:
                continue
            try:
                lines = text_to_show(path).splitlines()
            except (OSError, RunnerError):
                return Source(path)
            written = re.compile(rf"(['\"]?){re.escape(id)}\1\s*:(\s|$)")
            line = next((n for n, text in enumerate(lines, 1) if written.match(text)), 0)
            return Source(path, line)
        return None
