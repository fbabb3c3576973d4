# SPDX-License-Identifier: Apache-2.0
"""A check of a tree with an editor's unsaved texts, and what it learns beside the mistakes.

It runs in a child process of its own (`workers`). Unsaved text is rendered as `runner check` does,
but starts nothing that the saved tree does not start: half a command is no command. Where it would,
the file is looked at as it was saved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runner.model.chunk import Chunk, Relations, Request
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.model.records import Record
from runner.pipeline.session import Session
from runner.sources.config.load import load
from runner.support.files import text as files_text
from runner.tools.check import Observer, check, tree_files

# first lines that make a file a program; a renderer of the tree's own is one as well
DATA_RENDERERS = frozenset(["jinja", "yaml", "yamlex", "json", "toml", "gpg", "age", "stateconf"])
# functions of the library that do in a template what their arguments say
ACTIVE = ("cmd.", "http.", "slsutil.", "saltutil.", "module.", "state.", "event.", "publish.")
DEEPEST = 12  # levels of pillar and grains that are offered for completion


class Job(Record):
    """The work for one child. calls: what the saved tree calls in templates. grains: whether their
    keys are asked for. part: the environment and the name of the only SLS file that is checked;
    elsewhere: what others declare.
    """

    folder: str  # where `runner check` would be called
    config: str | None
    overrides: Mapping[str, Any]
    lenient: bool
    unsaved: Mapping[str, str]  # path -> text
    calls: Sequence[str] = ()
    grains: bool = True
    part: Sequence[str] = ()
    elsewhere: Sequence[str] = ()


class Declared(Record):
    """A state as rendering made it."""

    id: str
    name: str
    function: str
    sls: str
    file: str
    line: int
    column: int
    requisites: Sequence[str] = ()  # kinds, functions and names


class Analysis(Record):
    """The answer of a child. pillar, grains: keys, each with its keys, or with None below it.

    refused: what unsaved text would have started, and where; then there is nothing else. own,
    elsewhere: what the SLS files of this machine declare, and all, as a requisite names it.
    """

    problems: Sequence[Diagnostic] = ()
    declared: Sequence[Declared] = ()
    pillar: Mapping[str, Any] = {}
    grains: Mapping[str, Any] = {}
    calls: Sequence[str] = ()
    refused: Diagnostic | None = None
    loaded: Sequence[str] = ()  # the modules of the child
    own: Sequence[str] = ()
    elsewhere: Sequence[str] = ()

    def as_data(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return self._asdict() | {
            "problems": [_diagnostic_as_data(problem) for problem in self.problems],
            "declared": [list(declared) for declared in self.declared],
            "refused": self.refused and _diagnostic_as_data(self.refused),
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Analysis:
        """The answer that JSON has."""
        refused = data["refused"]
        return cls(
            [_diagnostic_of_data(problem) for problem in data["problems"]],
            [Declared(*declared) for declared in data["declared"]],
            data["pillar"],
            data["grains"],
            data["calls"],
            _diagnostic_of_data(refused) if refused else None,
            data["loaded"],
            data["own"],
            data["elsewhere"],
        )


def _diagnostic_as_data(problem: Diagnostic) -> dict[str, Any]:
    places = [problem.source, *problem.source.via] if problem.source else []
    return {
        "places": [[place.file, place.line, place.column] for place in places],
        **{name: value for name, value in problem._asdict().items() if name != "source"},
    }


def _diagnostic_of_data(data: dict[str, Any]) -> Diagnostic:
    places = [Source(*place) for place in data.pop("places")]
    source = places[0]._replace(via=tuple(places[1:])) if places else None
    return Diagnostic(source=source, **data)


class _WouldStart(BaseException):
    """Unsaved text would start something. No Exception, so that no template handles it."""

    def __init__(self, what: str, source: Source) -> None:
        super().__init__(what)
        self.what, self.source = what, source


def analyse(job: Job) -> Analysis:
    """The answer to a job; in the folder of the job, and with the texts of its editor."""
    os.chdir(job.folder)
    try:
        options, warnings = load(job.config, job.overrides, os.environ, fetch=False)
    except RunnerError as error:
        return Analysis(error.diagnostics)
    unsaved = {os.path.realpath(path): text for path, text in job.unsaved.items()}
    for path, text in unsaved.items():
        if _is_program(path, text, options.renderer):
            return Analysis(refused=_refusal(Source(path, 1, 1), "this file is a program"))
    files_text.UNSAVED.update(
        (path, text.encode("utf-8", "replace")) for path, text in unsaved.items()
    )
    observer = _TreeIndex(job.calls if unsaved else None)
    if job.part:
        env, name = job.part
        observer.part = (Request(name, env), frozenset(job.elsewhere))
    try:
        problems = check(options, (), job.lenient, warnings, (), observer)
        return observer.answer(problems, job.grains)
    except _WouldStart as refused:
        return Analysis(refused=_refusal(refused.source, f"this would call {refused.what}"))


def _refusal(source: Source, why: str) -> Diagnostic:
    message = f"{why}: until it is saved, the saved text is looked at"
    return Diagnostic(message, source, None, "unsaved", "info")


def _is_program(path: str, text: str, usual: str) -> bool:
    line = text.partition("\n")[0].strip()
    pipe = line[2:] if line.startswith("#!") and not line.startswith("#!/") else usual
    names = [words[0] for part in pipe.split("|") if (words := part.split())]
    return path.endswith(".py") or not DATA_RENDERERS.issuperset(names)


class _TreeIndex(Observer):
    """Collects what a tree declares, and refuses calls of unsaved text. calls: that are allowed;
    None for all.
    """

    def __init__(self, calls: Sequence[str] | None) -> None:
        self._allowed = None if calls is None else frozenset(calls)
        self._session: Session | None = None
        self._calls: dict[str, None] = {}
        self._declared: dict[Declared, None] = {}

    def begins(self, session: Session) -> None:
        self._session = session
        find = session.registry.function

        def function(name: str) -> Callable[..., Any]:
            made = find(name)
            return made if _only_looks(name, made) else self._watched(name, made)

        session.registry.function = function  # type: ignore[method-assign]

    def _watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            where = tree_files.template_line()
            if where is not None:
                shown = f"{name} {', '.join(map(repr, args))}".rstrip()
                key = f"{shown} {sorted(kwargs.items())!r}"
                if self._allowed is not None and key not in self._allowed:
                    raise _WouldStart(shown, where)
                self._calls[key] = None
            return function(*args, **kwargs)

        return call

    def compiled(self, chunks: Sequence[Chunk], relations: Relations) -> None:
        for number, chunk in enumerate(chunks):
            source = chunk.place.source
            targets = ((edge.kind, chunks[edge.target]) for edge in relations.of(number))
            requisites = [f"{kind} {target.function} {target.name}" for kind, target in targets]
            where = (source.file, source.line, source.column)
            made = (str(chunk.id), str(chunk.name), chunk.function, chunk.sls)
            self._declared[Declared(*made, *where, tuple(requisites))] = None

    def answer(self, problems: Sequence[Diagnostic], with_grains: bool) -> Analysis:
        """All that was learnt."""
        session = self._session
        pillar: Mapping[str, Any] = {}
        grains: Mapping[str, Any] = {}
        if session is not None and "run" in session.__dict__:
            pillar = _keys(session.run.pillar)
            grains = _keys(dict(session.grains)) if with_grains else {}
        return Analysis(
            problems,
            list(self._declared),
            pillar,
            grains,
            list(self._calls),
            own=list(self.own),
            elsewhere=list(self.elsewhere),
        )


def _only_looks(name: str, function: Callable[..., Any]) -> bool:
    """Return whether a function of the library reads and nothing else (changers refuse to run in
    templates).
    """
    own = str(getattr(function, "__module__", "")).startswith(("modules.", "runner."))
    return own and not name.startswith(ACTIVE) and not hasattr(function, "fetches")


def _keys(value: Any, depth: int = 0) -> Any:
    """The keys of a value and of those below it, without any value: they may be secrets."""
    if not isinstance(value, Mapping) or depth == DEEPEST:
        return None
    return {str(key): _keys(inner, depth + 1) for key, inner in value.items()}
