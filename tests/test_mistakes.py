# SPDX-License-Identifier: Apache-2.0
"""Typical mistakes, one after another: each has its place, its cause and its cure, and is told
once.

The data is in tests/mistakes; a case is one call in this process.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mistakes import Mistake, all_mistakes

from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.output import diagnostics
from runner.pipeline import stages
from runner.sources.config import load
from runner.tools import check

MISTAKES = all_mistakes()


def checked(mistake: Mistake, folder: Path) -> list[Diagnostic]:
    """Return what `runner check` says of a tree, the configuration's mistakes among it."""
    try:
        options, warnings = load.load(
            str(mistake.configuration(folder)), {"cachedir": str(folder / "cache")}, {}
        )
        return check.check(options, mistake.names, configuration=warnings)
    except RunnerError as error:
        return list(error.diagnostics)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_named_where_it_was_typed(mistake: Mistake, tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    place = mistake.written(tmp_path)
    found = checked(mistake, tmp_path)
    shown = "\n".join(diagnostics.format_one(problem) for problem in found)
    (problem,) = [each for each in found if each.severity == "error"] or pytest.fail(
        f"no error: {shown}"
    )
    source = problem.source
    assert source is not None, shown
    assert (source.file, source.line) == place[:2], shown
    assert source.column == place[2] or not mistake.column, shown
    assert re.search(mistake.cause, problem.message, re.I | re.S), shown
    assert problem.hint, shown
    assert re.search(mistake.cure, problem.hint, re.I | re.S), shown
    for words in mistake.also:
        assert re.search(words, shown), shown


@pytest.mark.parametrize(
    "mistake", [each for each in MISTAKES if not each.check_only], ids=lambda mistake: mistake.name
)
def test_a_run_refuses_it_as_well(mistake: Mistake, tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    mistake.written(tmp_path)
    expected = {each for each in checked(mistake, tmp_path) if each.severity == "error"}
    with pytest.raises(RunnerError) as raised:
        more = {"cachedir": str(tmp_path / "cache"), "test": True}
        options, _ = load.load(str(mistake.configuration(tmp_path)), more, {})
        stages.sls(options, mistake.names) if mistake.names else stages.highstate(options)
    assert {each for each in raised.value.diagnostics if each.severity == "error"} == expected


def test_names_are_unique() -> None:
    names = [mistake.name for mistake in MISTAKES]
    assert len(names) == len(set(names))
