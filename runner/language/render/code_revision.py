# SPDX-License-Identifier: Apache-2.0
"""The code that results were made by which are kept between runs: what an old one made is of no use
to a new runner.
"""

from __future__ import annotations

import importlib.util
import os
import sys

from runner.model import places
from runner.support.own_modules import executed

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


def loaded_code() -> tuple[str, ...]:
    """The files of the modules that are loaded, but for those of Python itself, and of the parser,
    which is not where its work was kept.
    """
    own = os.path.dirname(os.__file__)
    files = {getattr(module, "__file__", None) for module in map(executed, [*sys.modules])}
    others = [file for file in files if file and not file.startswith(own)]
    packages = [file for file in files if file and "-packages/" in file]
    return tuple(sorted({*others, *packages, *parser_files()}))


def parser_files() -> list[str]:
    """The files of the code that makes values of YAML."""
    loader = os.path.join(os.path.dirname(__file__), "../../support/yaml/load.py")
    return [loader, places.__file__, *pyyaml_files()]


def pyyaml_files() -> list[str]:
    """The file by which PyYAML is known, without its import; none where it is not installed."""
    yaml = importlib.util.find_spec("yaml")
    return [yaml.origin] if yaml and yaml.origin else []
