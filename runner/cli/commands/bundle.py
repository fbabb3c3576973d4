# SPDX-License-Identifier: Apache-2.0
"""The command `bundle`: runner and what it needs as one file."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, argument
from runner.sources import bundle as bundling


def bundle(
    *,
    file: Annotated[
        str, argument(metavar="FILE.tar", help="Where to write it.", complete=("new-file",))
    ],
) -> int:
    """Write runner and what it needs to a tar file.

    For machines that have Python 3.11 or newer and nothing else: unpack it into a directory, and
    start `DIRECTORY/runner`. The same packages give the same bytes; the SHA-256 digest is printed,
    as `sha256sum --check` takes it.

    Example: runner bundle runner.tar
    """
    print(f"{bundling.build(file)}  {file}")
    return 0
