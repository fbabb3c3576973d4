# SPDX-License-Identifier: Apache-2.0
"""Keys, signatures and messages, with gpg."""

from __future__ import annotations

from modules.gpg._keys import (
    create_key,
    delete_key,
    export_key,
    get_key,
    get_secret_key,
    import_key,
    list_keys,
    list_secret_keys,
    read_key,
    receive_keys,
    search_keys,
    trust_key,
)
from modules.gpg._messages import decrypt, encrypt, sign, signers, verify
