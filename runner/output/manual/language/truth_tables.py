# SPDX-License-Identifier: Apache-2.0
"""What a requisite does, case by case: one table for each kind.

tests/runner/output/test_truth_tables.py has the program carry out each line, in a real and in a
dry run, and all pairs of a reaction and another requisite.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.records import Record

# what became of the state that is listed
CHANGED = "changed something"
UNCHANGED = "had nothing to change"
FAILED = "failed"
FAILED_LATE = "changed something, then failed"
UNMET = "did not run, as a requisite of its own failed"
GUARDED = "was skipped by its `onlyif`, `unless` or `creates`"
SKIPPED = "was skipped by a requisite of its own"
NOOP = "would change something, but has `noop: true`"
# these exist in a dry run only
COMMAND = "would run a command, which may fail"
UNDECIDED = "has a guard whose answer a pending change may alter"

# what becomes of the state that has the requisite
RUNS = "runs"
REACTS = "runs and reacts"
REACTS_LATE = "runs, and reacts at the end"
DOES_NOT_RUN = "does not run"
FAILS = "fails without running"
OPEN = "undecided"
NEVER = "–"  # the case does not exist

# what becomes of a reaction that is due to that state
DONE = "done"
STAYS = "stays pending"
VOID = "not due any more"
ENDS = {RUNS: DONE, REACTS: DONE, REACTS_LATE: DONE, DOES_NOT_RUN: VOID, FAILS: STAYS, NEVER: NEVER}


class TruthRow(Record):
    """outcomes: of the states that are listed. real, dry: what becomes of the one that lists them,
    in a run and in a dry run. hindered: what keeps it from running is a failure.
    """

    outcomes: tuple[str, ...]
    real: str
    dry: str
    hindered: bool = False

    @property
    def due(self) -> str:
        """What becomes of a reaction that is due to it, for another state or from an earlier run:
        only a failure puts it off.
        """
        return STAYS if self.hindered else ENDS[self.real]


def _of_one(**lines: str | tuple[str, str] | tuple[str, str, bool]) -> tuple[TruthRow, ...]:
    """Lines by the names of their outcomes; the fields of one where both runs differ, or a failure
    is what counts.
    """
    return tuple(
        TruthRow((globals()[name],), *((line, line) if isinstance(line, str) else line))
        for name, line in lines.items()
    )


TABLES: Mapping[str, tuple[TruthRow, ...]] = {
    "require": _of_one(
        CHANGED=RUNS,
        UNCHANGED=RUNS,
        FAILED=FAILS,
        FAILED_LATE=(FAILS, RUNS),
        UNMET=FAILS,
        GUARDED=RUNS,
        SKIPPED=RUNS,
        NOOP=RUNS,
        COMMAND=(NEVER, RUNS),
        UNDECIDED=(NEVER, RUNS),
    ),
    "watch": _of_one(
        CHANGED=REACTS,
        UNCHANGED=RUNS,
        FAILED=FAILS,
        FAILED_LATE=(FAILS, REACTS),
        UNMET=FAILS,
        GUARDED=RUNS,
        SKIPPED=RUNS,
        NOOP=RUNS,
        COMMAND=(NEVER, REACTS),
        UNDECIDED=(NEVER, REACTS),
    ),
    "onchanges": _of_one(
        CHANGED=RUNS,
        UNCHANGED=DOES_NOT_RUN,
        FAILED=(DOES_NOT_RUN, DOES_NOT_RUN, True),
        FAILED_LATE=(DOES_NOT_RUN, RUNS, True),
        UNMET=(DOES_NOT_RUN, DOES_NOT_RUN, True),
        GUARDED=DOES_NOT_RUN,
        SKIPPED=DOES_NOT_RUN,
        NOOP=DOES_NOT_RUN,
        COMMAND=(NEVER, RUNS),
        UNDECIDED=(NEVER, OPEN),
    ),
    "onfail": _of_one(
        CHANGED=DOES_NOT_RUN,
        UNCHANGED=DOES_NOT_RUN,
        FAILED=RUNS,
        FAILED_LATE=(RUNS, DOES_NOT_RUN),
        UNMET=RUNS,
        GUARDED=DOES_NOT_RUN,
        SKIPPED=DOES_NOT_RUN,
        NOOP=DOES_NOT_RUN,
        COMMAND=(NEVER, OPEN),
        UNDECIDED=(NEVER, OPEN),
    ),
    "prereq": _of_one(
        CHANGED=RUNS,
        UNCHANGED=DOES_NOT_RUN,
        FAILED=FAILS,
        FAILED_LATE=RUNS,
        UNMET=FAILS,
        GUARDED=DOES_NOT_RUN,
        SKIPPED=DOES_NOT_RUN,
        NOOP=RUNS,
        COMMAND=(NEVER, RUNS),
        UNDECIDED=(NEVER, RUNS),
    ),
    "listen": _of_one(
        CHANGED=REACTS_LATE,
        UNCHANGED=RUNS,
        FAILED=RUNS,
        FAILED_LATE=REACTS_LATE,
        UNMET=RUNS,
        GUARDED=RUNS,
        SKIPPED=RUNS,
        NOOP=RUNS,
        COMMAND=(NEVER, REACTS_LATE),
        UNDECIDED=(NEVER, REACTS_LATE),
    ),
    "require_any": (
        TruthRow((CHANGED, FAILED), RUNS, RUNS),
        TruthRow((UNCHANGED, FAILED), RUNS, RUNS),
        TruthRow((FAILED, FAILED), FAILS, FAILS),
        TruthRow((GUARDED, FAILED), RUNS, RUNS),
        TruthRow((SKIPPED, FAILED), FAILS, FAILS),
        TruthRow((UNMET, FAILED), FAILS, FAILS),
        TruthRow((SKIPPED, SKIPPED), RUNS, RUNS),
        TruthRow((COMMAND, FAILED), NEVER, RUNS),
    ),
    "watch_any": (
        TruthRow((CHANGED, UNCHANGED), REACTS, REACTS),
        TruthRow((CHANGED, FAILED), REACTS, REACTS),
        TruthRow((UNCHANGED, UNCHANGED), RUNS, RUNS),
        TruthRow((UNCHANGED, FAILED), RUNS, RUNS),
        TruthRow((FAILED, FAILED), FAILS, FAILS),
        TruthRow((GUARDED, FAILED), RUNS, RUNS),
        TruthRow((SKIPPED, FAILED), FAILS, FAILS),
        TruthRow((UNMET, FAILED), FAILS, FAILS),
        TruthRow((COMMAND, FAILED), NEVER, REACTS),
        TruthRow((UNDECIDED, UNCHANGED), NEVER, REACTS),
    ),
    "onchanges_any": (
        TruthRow((CHANGED, UNCHANGED), RUNS, RUNS),
        TruthRow((CHANGED, FAILED), RUNS, RUNS),
        TruthRow((UNCHANGED, UNCHANGED), DOES_NOT_RUN, DOES_NOT_RUN),
        TruthRow((UNCHANGED, FAILED), DOES_NOT_RUN, DOES_NOT_RUN, True),
        TruthRow((FAILED, FAILED), DOES_NOT_RUN, DOES_NOT_RUN, True),
        TruthRow((GUARDED, UNCHANGED), DOES_NOT_RUN, DOES_NOT_RUN),
        TruthRow((COMMAND, UNCHANGED), NEVER, RUNS),
        TruthRow((UNDECIDED, UNCHANGED), NEVER, OPEN),
    ),
    "onfail_any": (
        TruthRow((FAILED, FAILED), RUNS, RUNS),
        TruthRow((FAILED, CHANGED), RUNS, RUNS),
        TruthRow((FAILED, UNCHANGED), RUNS, RUNS),
        TruthRow((UNMET, UNMET), RUNS, RUNS),
        TruthRow((UNMET, UNCHANGED), DOES_NOT_RUN, DOES_NOT_RUN),
        TruthRow((CHANGED, UNCHANGED), DOES_NOT_RUN, DOES_NOT_RUN),
        TruthRow((GUARDED, GUARDED), DOES_NOT_RUN, DOES_NOT_RUN),
        TruthRow((COMMAND, UNCHANGED), NEVER, OPEN),
        TruthRow((COMMAND, FAILED), NEVER, RUNS),
    ),
    "onfail_all": (
        TruthRow((FAILED, FAILED), RUNS, RUNS),
        TruthRow((FAILED, UNMET), RUNS, RUNS),
        TruthRow((UNMET, UNMET), RUNS, RUNS),
        TruthRow((FAILED, CHANGED), DOES_NOT_RUN, DOES_NOT_RUN),
        TruthRow((FAILED, UNCHANGED), DOES_NOT_RUN, DOES_NOT_RUN),
        TruthRow((FAILED, SKIPPED), DOES_NOT_RUN, DOES_NOT_RUN),
        TruthRow((COMMAND, FAILED), NEVER, OPEN),
        TruthRow((COMMAND, UNCHANGED), NEVER, DOES_NOT_RUN),
    ),
}


def as_markdown(kind: str) -> str:
    """The table of a kind."""
    lines = TABLES[kind]
    alone = len(lines[0].outcomes) == 1
    head = ["the listed state"] if alone else ["one listed state", "another"]
    rows = [head, ["---"] * len(head), *(line.outcomes for line in lines)]
    last = ("run", "dry run", "a reaction that is due")
    ends = [last, ["---"] * len(last), *((line.real, line.dry, line.due) for line in lines)]
    return "\n".join(f"| {' | '.join((*row, *end))} |" for row, end in zip(rows, ends, strict=True))
