# SPDX-License-Identifier: Apache-2.0
"""Compile errors as salt-call words them, for the scripts that look for those words."""

from __future__ import annotations

from collections.abc import Sequence

from runner.model.diagnostics import Diagnostic

OF_PILLAR = "Pillar failed to render with the following messages:"


def worded(problems: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The same mistakes, beginning as Salt's messages do."""
    ahead = (
        (Diagnostic(OF_PILLAR),)
        if any(problem.rendering.startswith("pillar") for problem in problems)
        else ()
    )
    return (*ahead, *map(_worded, problems))


def _worded(problem: Diagnostic) -> Diagnostic:
    sls = problem.rendering.removeprefix("pillar").strip()
    return (
        problem._replace(message=f"Rendering SLS '{sls}' failed: {problem.message}")
        if sls
        else problem
    )
