# SPDX-License-Identifier: Apache-2.0
"""salt.utils.hashutils: digests."""

from __future__ import annotations

import base64

from runner.language.filters.files import file_hashsum as get_hash
from runner.language.filters.hashing import base64_decode as base64_b64decode
from runner.language.filters.hashing import base64_encode as base64_b64encode
from runner.language.filters.hashing import hmac as hmac_signature
from runner.language.filters.hashing import hmac_compute
from runner.language.filters.hashing import md5 as md5_digest
from runner.language.filters.hashing import rand_str as random_hash
from runner.language.filters.hashing import sha1 as sha1_digest
from runner.language.filters.hashing import sha256 as sha256_digest
from runner.language.filters.hashing import sha512 as sha512_digest


def base64_encodestring(instr: str) -> str:
    """Base64 in lines."""
    return base64.encodebytes(instr.encode()).decode()


def base64_decodestring(instr: str) -> str | bytes:
    """Decode a Base64 text: a text, or bytes where it is none."""
    decoded = base64.decodebytes(instr.encode())
    try:
        return decoded.decode()
    except UnicodeDecodeError:
        return decoded
