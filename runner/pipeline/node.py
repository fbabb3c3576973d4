# SPDX-License-Identifier: Apache-2.0
"""What the top file says of this machine beside its SLS files."""

from __future__ import annotations

from runner.model.diagnostics import Diagnostic
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Node(Record):
    """The node scope (Puppet): what the top file says of this machine beside its SLS files."""

    vars: Mapping[str, Any] = {}
    defaults: Mapping[str, Mapping[str, Any]] = {}
    parameters: Mapping[str, Any] = {}  # what master_tops says: top scope
    warnings: tuple[Diagnostic, ...] = ()


# what templates have, whatever variables are called: `{{ vars.x }}` reaches those
GIVEN = frozenset(
    tuple("salt grains pillar opts saltenv sls slspath tplpath tplfile tpldir tpldot".split())
    + ("slsdotpath", "slscolonpath", "sls_path", "vars", "top", "show_full_context", "env", "data")
)
