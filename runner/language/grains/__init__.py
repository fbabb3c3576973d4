# SPDX-License-Identifier: Apache-2.0
"""Facts about this machine, each looked up when it is asked for. Names and values are Salt's."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from functools import cached_property

from runner.language.grains import external, groups
from runner.model.diagnostics import Diagnostic
from runner.model.errors import REFUSED, RunnerError
from runner.model.places import Source
from runner.model.plain_values import exception
from runner.support.files.group_commit import GROUP_COMMIT
from runner.support.log import DEBUG, LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from runner.language.grains.groups import Facts, GrainGroup

Function = Callable[..., "Any"]
EVERY = "*"  # stands for all names
# of further facts
FOLDERS = ("/etc/runner/facts.d", "/etc/ansible/facts.d", "/etc/puppetlabs/facter/facts.d")


def logged(problem: Diagnostic) -> None:
    """Write what is wrong with a tree's grains to the log."""
    place = f" (at {problem.source})" if problem.source else ""
    logging.getLogger("runner.grains").warning("%s%s", problem.message, place)


class Grains(Mapping[str, "Any"]):
    """All grains: a group of them is computed at the first look at one of its names, iterating
    computes all.

    static: from the configuration; they win over all others. functions: the tree's own (`_grains`),
    called before the first look at any other grain, since what they answer wins over the machine's
    own facts. folders: of files and programs with further facts, read at the first look at a name
    that nothing else has. id: this machine's ID. hardware: the machine has some. A function that
    fails leaves its grains out, as in Salt; what is wrong goes to `problems` and `report` (the
    log).
    """

    def __init__(
        self,
        static: Mapping[str, Any],
        functions: Mapping[str, Function] | Iterable[tuple[str, Function]] = (),
        *,
        id: str = "",
        report: Callable[[Diagnostic], None] = logged,
        folders: tuple[str, ...] = (),
        hardware: bool = True,
    ) -> None:
        self._known: Facts = {"id": id, **static}
        self._static = frozenset(static)  # templates may alter the configuration
        self._functions = list(functions.items() if isinstance(functions, Mapping) else functions)
        self._hardware = hardware
        self._computed: set[int] = set()
        self.asked: set[str] = set()  # names that were asked for since somebody cleared it
        self.problems: list[Diagnostic] = []
        self._report = report
        self._folders = folders

    @cached_property
    def _groups(self) -> dict[str, GrainGroup]:
        return {
            name: group
            for group in groups.GROUPS
            if self._hardware or not group.of_hardware
            for name in group.names
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        if name in self._static:
            return True
        if self._functions:
            self._call()
        if name not in self._known:
            if name in self._groups:
                self._compute(name)
            else:
                self._read_folders()
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        self.asked.add(EVERY)
        return f"Grains({self._known!r}, ...)"

    def copy(self) -> dict[str, Any]:
        """All grains as a plain dict."""
        return dict(self._all())

    def _compute(self, name: Any) -> None:
        group = self._groups[name]
        if id(group) not in self._computed:
            self._computed.add(id(group))
            GROUP_COMMIT.look_around()
            with LOG.timed(f"grains {', '.join(sorted(group.names))}", DEBUG):
                facts = group.look(self)
            for key, value in facts.items():
                self._known.setdefault(key, value)

    def _call(self) -> None:
        """The tree's own functions; they may look at grains themselves."""
        functions, self._functions = self._functions, []
        GROUP_COMMIT.look_around()
        for name, function in functions:
            try:
                with LOG.timed(f"grains of {name}", DEBUG):
                    facts = function(self) if _wants_grains(function) else function()
            except Exception as error:
                if isinstance(error, RunnerError) and error.code == REFUSED:
                    raise
                self._complain(name, error)
                continue
            if isinstance(facts, Mapping):
                self._known.update(
                    (key, value) for key, value in facts.items() if key not in self._static
                )

    def _complain(self, name: str, error: Exception) -> None:
        message, code = f"the grains of {name} are missing: ", "grains"
        if isinstance(error, RunnerError):  # its file could not be loaded
            source, cause = error.source, error.__cause__
            message += exception(cause) if isinstance(cause, ImportError) else error.message
            code = "module" if isinstance(cause, SyntaxError) else code
        else:
            source, message = _place(error), message + exception(error)
        problem = Diagnostic(message, source, "the run continues without them", code, "warning")
        self._tell(problem)

    def _tell(self, problem: Diagnostic) -> None:
        self.problems.append(problem)
        self._report(problem)

    def _read_folders(self) -> None:
        """The facts of `facts.d`: they add names, and replace no grain."""
        folders, self._folders = self._folders, ()
        if any(map(os.path.isdir, folders)):
            with LOG.timed(f"facts of {', '.join(folders)}", DEBUG):
                facts = external.external_facts(folders, self._tell)
            for key, value in facts.items():
                if key in self._groups:
                    continue  # what the machine says of itself
                self._known.setdefault(key, value)

    def _all(self) -> Facts:
        self.asked.add(EVERY)
        if self._functions:
            self._call()
        for name in self._groups:
            self._compute(name)
        self._read_folders()
        return self._known


def _place(error: Exception) -> Source | None:
    """The line that raised, in the innermost file of a tree."""
    source, trace = None, error.__traceback__
    while trace is not None:
        if "__grains__" in trace.tb_frame.f_globals:
            source = Source(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return source


def _wants_grains(function: Function) -> bool:
    """Salt hands the grains so far to a function with a parameter `grains`."""
    while hasattr(function, "__wrapped__"):  # the loader wraps what it loads
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    return (
        code is not None
        and "grains" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    )
