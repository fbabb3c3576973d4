# SPDX-License-Identifier: Apache-2.0
"""What of a compiled tree is kept for other runs."""

from __future__ import annotations

from runner.engine.step import Step
from runner.model.chunk import Relations
from runner.model.diagnostics import Diagnostic
from runner.model.records import Record


class NotKept(Exception):
    """A compiled tree cannot be brought back by another run."""


class CompiledPlan(Record):
    """What of a compiled tree is the same in each run that has the same texts, and in which
    templates of states use the same of the variables that these hand on: the positions of the
    states, the variables, the answers. secrets: those that are arguments which are always secret.
    """

    steps: tuple[Step, ...]
    relations: Relations
    order: tuple[int, ...]
    warnings: tuple[Diagnostic, ...] = ()
    handed_on: tuple[tuple[int, str, bool], ...] = ()
    secrets: tuple[str, ...] = ()
