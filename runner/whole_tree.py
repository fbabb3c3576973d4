"""What `runner check` looks at beside the states: other machines' pillar, modules, and commands that templates run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from runner import top
from runner.errors import Diagnostic, RunnerError
from runner.model import Source
from runner.session import Session
from runner.top_includes import including

MODULES = ("_states", "_modules", "_grains", "_utils", "_renderers")


def of_pillar(session: Session) -> Iterator[Diagnostic]:
    """Lines of the pillar's top file that name nothing, and SLS files that cannot be read, whoever gets them."""
    tree, envs = session.pillar_tree, list(session.options.pillar_roots)
    try:
        read = including(session.read_pillar_top, tree.sls_names, session.read_pillar)
        found = top.names(
            read, envs, lambda target, kind: True, session.options.pillarenv, pillar=True, mistake=session.mistake
        )
    except RunnerError as error:
        yield from error.diagnostics
        return
    yield from (each._replace(severity="error") for each in found.warnings)
    for line in found.lines:
        plain = not any(mark in line.sls for mark in "*?[")
        if plain and not line.ignore_missing and tree.sls_path(line.sls, line.env) is None:
            near = tree.suggest(line.sls, line.env)
            hint = f"did you mean {near}?" if near else f"looked in {', '.join(tree.folders_of(line.env))}"
            message = f"Specified SLS {line.sls!r} in environment {line.env!r} is not available in the pillar"
            yield Diagnostic(message, line.place.source, hint, "missing-sls")
    for env in envs:
        for name in tree.sls_names(env):
            try:
                session.read_pillar(name, env)
            except RunnerError as error:
                yield from error.diagnostics


def of_modules(session: Session) -> Iterator[Diagnostic]:
    """Modules of the tree that are no Python, used or not."""
    roots = [root for roots in session.options.file_roots.values() for root in roots]
    for folder in [os.path.join(root, name) for root in roots for name in MODULES]:
        for path, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith(".py"):
                    yield from _module(os.path.join(path, name))


def _module(path: str) -> Iterator[Diagnostic]:
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        place = Source(path, getattr(error, "lineno", 0) or 0, getattr(error, "offset", 0) or 0)
        hint = "Python could not go on here; look at this line and at the one above"
        message = f"{os.path.basename(path)} is not Python: {getattr(error, 'msg', error)}"
        yield Diagnostic(message, place, hint, "module")
    except OSError:
        return


def listening(session: Session, heard: list[Diagnostic]) -> None:
    """Note each command that a template runs."""
    find = session.registry.function

    def function(name: str) -> Callable[..., Any]:
        found = find(name)
        if not name.startswith("cmd.") or name in ("cmd.which", "cmd.which_bin", "cmd.has_exec"):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            where = _template_line()
            if where:
                command = args[0] if args else kwargs.get("cmd", kwargs.get("name", ""))
                message = f"the template runs a command: {name} {command!r}"
                heard.append(Diagnostic(message, where, None, "template-command", "info"))
            return found(*args, **kwargs)

        return call

    session.registry.function = function  # type: ignore[method-assign]


def _template_line() -> Source | None:
    """The line of the innermost template that is being rendered."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if template is not None:
            file = str(frame.f_globals.get("placed_file", template.filename))
            return Source(file, template.get_corresponding_lineno(frame.f_lineno))
        frame = frame.f_back
    return None
