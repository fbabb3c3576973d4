# SPDX-License-Identifier: Apache-2.0
"""What the hook `resources` of a state module gives: parts of the machine, as states."""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.places import Value
from runner.model.records import Record


class Resource(Record):
    """A part of the machine, as the state that would make it so: a value of the hook `resources`.

    function: the state function ("user.present"); empty: the resource is a remark only.
    name: the `name` of the state. arguments: its other arguments, none by default.
    note: a remark for people; empty by default.
    shipped: the distribution brings it like this; left out where the whole machine is asked for.
    files: those that hold it; they are not listed as files, too.
    source: the contents of a file, which may be put beside the SLS as `source`.
    """

    function: str
    name: str
    arguments: Mapping[str, Value] = {}
    note: str = ""
    shipped: bool = False
    files: tuple[str, ...] = ()
    source: bytes | None = None
