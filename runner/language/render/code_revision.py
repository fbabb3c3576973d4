# SPDX-License-Identifier: Apache-2.0
"""The revision of code whose results are kept between runs: what an old one made is of no use to a
new runner.
"""

from __future__ import annotations

import os

from runner.model import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def revision_of(files: Iterable[str]) -> list[tuple[int, int]]:
    """When each of these files was written, in nanoseconds since 1970, and how long it is."""
    return [(status.st_mtime_ns, status.st_size) for status in map(os.stat, files)]


def parser_files() -> list[str]:
    """The files of the code that makes values of YAML."""
    loader = os.path.join(os.path.dirname(__file__), "../../support/yaml/load.py")
    return [loader, places.__file__, *pyyaml_files()]


def pyyaml_files() -> list[str]:
    """The file by which PyYAML is known, without its import; none where it is not installed."""
    from importlib.util import find_spec

    yaml = find_spec("yaml")
    return [yaml.origin] if yaml and yaml.origin else []
