# SPDX-License-Identifier: Apache-2.0
"""The package cryptography: whether it is there, and what it refuses as failures for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from runner.api import CommandFailed, StateFailed
from runner.api.extras import how_to_install

OLDEST = 42  # the first version whose dates have a time zone


def need() -> None:
    """Raise CommandFailed where the package is missing or too old."""
    try:
        import cryptography
    except ImportError:
        raise CommandFailed(
            f"keys and certificates need the Python package cryptography: {how_to_install('x509')}",
            missing=("pkg", "python3-cryptography"),
        ) from None
    version = str(cryptography.__version__)
    if int(version.partition(".")[0]) < OLDEST:
        raise CommandFailed(
            f"the Python package cryptography is version {version}, and keys and certificates need"
            f" {OLDEST} or newer: {how_to_install('x509')}"
        )


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn what the package refuses into a failure. what: the thing that it was given."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        yield
    except StateFailed:
        raise
    except (ValueError, TypeError, OverflowError, UnsupportedAlgorithm) as problem:
        raise CommandFailed(f"{what}: {problem}") from None
