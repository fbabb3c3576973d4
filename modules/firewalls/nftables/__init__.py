# SPDX-License-Identifier: Apache-2.0
"""The kernel's packet filter, with nft.

What the states use comes first, then Salt's functions that change it.
"""

from __future__ import annotations

from modules.firewalls.nftables._commands import (
    append,
    build_rule,
    delete,
    delete_chain,
    delete_table,
    flush,
    get_rule_handle,
    get_saved_rules,
    insert,
    new_chain,
    new_table,
    set_policy,
)
from modules.firewalls.nftables._kernel import (
    FAMILIES,
    SAVED_AT,
    Rule,
    chain_settings,
    chains,
    change,
    check,
    check_chain,
    check_table,
    family_of,
    get_policy,
    get_rules,
    get_rules_json,
    handles,
    is_saved,
    list_tables,
    listed_tables,
    port_range,
    refusal,
    rule,
    rules,
    save,
    version,
)

NEEDS_PROGRAM = "nft"  # without it templates find no function of this module
