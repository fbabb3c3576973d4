# SPDX-License-Identifier: Apache-2.0
"""What a requisite does, case by case: one table for each kind (truth_tables.txt).

tests/runner/output/test_truth_tables.py has the program carry out each line, in a real and in a
dry run, and all pairs of a reaction and another requisite.
"""

from __future__ import annotations

from runner.model import text_tables
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
MAY_REACT = "runs; its reaction is undecided"
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


def _tables() -> dict[str, list[TruthRow]]:
    tables: dict[str, list[TruthRow]] = {}
    for kind, (outcomes, real, *more) in text_tables.rows(__package__, "truth_tables.txt"):
        names = globals()
        said = tuple(names[name] for name in outcomes.split())
        dry = names[more[0] if more else real]
        tables.setdefault(kind, []).append(TruthRow(said, names[real], dry, "hindered" in more))
    return tables


TABLES = _tables()


def as_markdown(kind: str) -> str:
    """The table of a kind."""
    lines = TABLES[kind]
    alone = len(lines[0].outcomes) == 1
    head = ["the listed state"] if alone else ["one listed state", "another"]
    rows = [head, ["---"] * len(head), *(line.outcomes for line in lines)]
    last = ("run", "dry run", "a reaction that is due")
    ends = [last, ["---"] * len(last), *((line.real, line.dry, line.due) for line in lines)]
    return "\n".join(f"| {' | '.join((*row, *end))} |" for row, end in zip(rows, ends, strict=True))
