# SPDX-License-Identifier: Apache-2.0
"""What is asked for, and what the reader of SLS files answers."""

from __future__ import annotations

from runner.model.places import Place, Untyped, Value
from runner.model.records import Record

NOWHERE = Place(Untyped("command line"))


class SlsFile(Record):
    """The answer of the reader of SLS files: the rendered value, and whether the file is the
    folder's init.sls.
    """

    value: Value
    file: str
    is_init: bool


class Request(Record):
    """An SLS to put into the run."""

    sls: str
    env: str
    place: Place = NOWHERE
    outside: bool = False  # the path of a file that is in no tree
