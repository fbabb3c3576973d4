# SPDX-License-Identifier: Apache-2.0
"""The SLS files that the top file gives this machine, with the lines that say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runner.language.targeting.top import Target, Top
from runner.model.places import Place

Problem = Callable[[str, str], str | None]  # (expression, kind) -> what is wrong with it


def text(top: Top, problem: Problem) -> str:
    """YAML: environments and their SLS files; the targets are comments."""
    lines = []
    for env in dict.fromkeys(line.env for line in top.lines):
        lines.append(f"{env}:")
        of_env = [line for line in top.lines if line.env == env]
        width = max(len(line.sls) for line in of_env)
        lines += [
            f"- {line.sls.ljust(width)}  # {line.target!r}, {_where(line.place)}" for line in of_env
        ]
    return "\n".join([*(lines or ["{}"]), *(f"# {line}" for line in _missed(top, problem))])


def _missed(top: Top, problem: Problem) -> Iterator[str]:
    for target in top.missed:
        why = problem(target.expression, target.kind)
        yield f"not this machine: {_said(target)}, {_where(target.place)}" + (
            f": {why}" if why else ""
        )


def _said(target: Target) -> str:
    kind = "" if target.kind == "compound" else f" ({target.kind})"
    return f"{target.expression!r}{kind}"


def _where(place: Place) -> str:
    return f"{place.source.file}:{place.source.line}"
