# SPDX-License-Identifier: Apache-2.0
"""Compile SLS texts without a machine: what tests of the pure stages share."""

from __future__ import annotations

from typing import Any

import yaml

from runner.language.compiler import high, low, ordering, requisites
from runner.model.chunk import Chunk, Relations, Request, SlsFile
from runner.model.errors import CompileError


def gather(files: dict[str, str], *names: str, auto_order: bool = True) -> high.Gatherer:
    """High data of some SLS texts ({"a.b": text})."""

    def read(sls: str, saltenv: str) -> SlsFile:
        from runner.model.errors import RunnerError

        for name, is_init in ((sls, False), (f"{sls}.init", True)):
            if name in files:
                return SlsFile(yaml.safe_load(files[name]), f"{name}.sls", is_init)
        raise RunnerError(f"Specified SLS {sls} in saltenv {saltenv} is not available")

    gatherer = high.Gatherer(read, lambda env: files, auto_order)
    gatherer.gather([Request(name, "base") for name in names or (next(iter(files)),)])
    return gatherer


def compile_tree(
    files: dict[str, str] | str, *names: str, **more: Any
) -> tuple[tuple[Chunk, ...], Relations, list[str]]:
    """Chunks, relations and the messages of all mistakes."""
    if isinstance(files, str):
        files = {"main": files}
    gatherer = gather(files, *names, **more)
    problems = list(gatherer.problems)
    chunks, found = low.lower(gatherer.high)
    relations, unmet = requisites.resolve(chunks, frozenset())
    errors = [
        problem.message for problem in [*problems, *found, *unmet] if problem.severity == "error"
    ]
    return chunks, relations, errors


def order(files: dict[str, str] | str, *names: str, looks: bool = False, **more: Any) -> list[str]:
    """The names of the states in the order of the run; the messages of mistakes when there are any.

    looks: with the looks of prereqs.
    """
    chunks, relations, errors = compile_tree(files, *names, **more)
    if errors:
        return errors
    try:
        nodes = ordering.sequence(chunks, relations)
        found = nodes if looks else ordering.arrange(nodes)
        return [chunks[position].name for position in found]
    except CompileError as error:
        return [problem.message for problem in error.diagnostics]
