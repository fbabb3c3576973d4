# SPDX-License-Identifier: Apache-2.0
"""ssh: the keys that let users in, and those by which other machines are known.

What states use is in `keys` and `known_hosts`; these are Salt's functions.
"""

from __future__ import annotations

from modules.ssh._authorized import (
    auth_keys,
    check_key,
    check_key_file,
    host_keys,
    key_is_encrypted,
    rm_auth_key,
    rm_auth_key_from_file,
    set_auth_key,
    set_auth_key_from_file,
    user_keys,
)
from modules.ssh._known import (
    check_known_host,
    get_known_host_entries,
    hash_known_hosts,
    recv_known_host_entries,
    rm_known_host,
    set_known_host,
)
