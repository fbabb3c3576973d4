# SPDX-License-Identifier: Apache-2.0
"""What states make on the machine, so that it can be removed when no state declares it any more."""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Thing(Record):
    """Something that a state makes, with the state that would remove it.

    name: what it is called among all things of the machine: "user bob".
    function, arguments: the state that removes it; no function: nothing removes it.
    check: the arguments with which the state that made it looks at this thing alone.
    existed: it was there before.
    removed: the state does not make but remove it.
    """

    name: str
    function: str = ""
    arguments: Mapping[str, Any] = {}
    check: Mapping[str, Any] = {}
    existed: bool = False
    removed: bool = False
