# SPDX-License-Identifier: Apache-2.0
"""The hash function of runner's own records.

It is that of `hashlib`, which loads all of OpenSSL at its import: as much as thirty modules here.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b as blake2b
except ImportError:  # a Python that was built otherwise
    from hashlib import blake2b as blake2b
