# SPDX-License-Identifier: Apache-2.0
"""What results that are kept between runs go by: digests of what they were made from, and the
revision of the code that made them, as what an old one made is of no use to a new runner.
"""

from __future__ import annotations

import os
import sys
from zlib import crc32  # a tenth of a hash

from runner.model import places
from runner.model.stdlib import blake2b
from runner.support.own_modules import executed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def revision_of(files: Iterable[str]) -> list[tuple[int, int]]:
    """When each of these files was written, in nanoseconds since 1970, and how long it is."""
    return [(status.st_mtime_ns, status.st_size) for status in map(os.stat, files)]


def loaded_code() -> tuple[str, ...]:
    """The files of the modules that are loaded, but for those of Python itself, and of the parser,
    which is not where its work was kept.
    """
    own = os.path.dirname(os.__file__)
    files = {getattr(module, "__file__", None) for module in map(executed, [*sys.modules])}
    others = [file for file in files if file and not file.startswith(own)]
    packages = [file for file in files if file and "-packages/" in file]
    return tuple(sorted({*others, *packages, *parser_files()}))


def checksum(body: bytes | memoryview) -> bytes:
    """Of what this version of Python wrote: another one may not be able to read it."""
    return crc32(body, sys.hexversion).to_bytes(4)


def digest_of(data: bytes) -> bytes:
    """Of what a result was made from, or of the result."""
    made: bytes = blake2b(data, digest_size=16).digest()
    return made


def digest_of_text(text: str) -> bytes:
    return digest_of(text.encode("utf-8", "surrogatepass"))


def parser_files() -> list[str]:
    """The files of the code that makes values of YAML."""
    loader = os.path.join(os.path.dirname(__file__), "../../support/yaml/load.py")
    return [loader, places.__file__, *pyyaml_files()]


def pyyaml_files() -> list[str]:
    """The file by which PyYAML is known, without its import; none where it is not installed."""
    from importlib.util import find_spec

    yaml = find_spec("yaml")
    return [yaml.origin] if yaml and yaml.origin else []
