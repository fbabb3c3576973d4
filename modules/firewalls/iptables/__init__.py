# SPDX-License-Identifier: Apache-2.0
"""The kernel's packet filter, with iptables and ip6tables.

What the states use comes first, then Salt's functions.
"""

from __future__ import annotations

from modules.firewalls.iptables._commands import (
    append,
    build_rule,
    check,
    check_chain,
    delete,
    delete_chain,
    flush,
    get_policy,
    get_rules,
    get_saved_policy,
    get_saved_rules,
    insert,
    new_chain,
    save,
    set_policy,
    version,
)
from modules.firewalls.iptables._kernel import (
    change,
    command,
    has_rule,
    is_saved,
    listed,
    program,
    rule,
    rules,
    saved_at,
    write_saved,
)
