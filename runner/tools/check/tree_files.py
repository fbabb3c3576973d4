# SPDX-License-Identifier: Apache-2.0
"""The parts of a tree that `runner check` reads beside the states: roots, other machines' pillar,
modules, commands of templates.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

from runner.language.targeting import top
from runner.language.targeting.top_includes import including
from runner.model.chunk import Request
from runner.model.diagnostics import Diagnostic, suggestion
from runner.model.errors import RunnerError, not_python
from runner.model.places import Source
from runner.pipeline import undecrypted
from runner.pipeline.session import Session
from runner.sources.config.file import setting_place
from runner.sources.fileroots import FileTree
from runner.support.files.text import read_bounded

OF_A_REPOSITORY = ("FORMULA", "pillar.example", ".git", "kitchen.yml", ".kitchen.yml")
DATA = ("pillar", "pillars", "_pillar")
TESTS = ("test", "tests")
MODULES = ("_states", "_modules", "_grains", "_utils", "_renderers")


def of_roots(session: Session) -> Iterator[Diagnostic]:
    """An error when the folders of the configuration hold nothing to look at, or when somebody
    named those of the states, or an environment, and there is none of them.
    """
    env = session.options.saltenv
    if env and not session.tree.folders_of(env):
        known = f"there is: {', '.join(session.tree.roots)}"
        yield Diagnostic(f"there is no environment {env!r} in file_roots", None, known, "no-tree")
    folders = [folder for folders in session.options.file_roots.values() for folder in folders]
    raw = session.options.raw
    place = setting_place(raw, "file_roots") if raw.get("conf_file") else None
    named = "file_roots" in session.options.typed or bool(place and place.line)
    lost = named and bool(folders) and not any(map(os.path.isdir, folders))
    if _has_sls(session.tree, session.roots) or (
        not lost and _has_sls(session.pillar_tree, session.pillar_tree.roots)
    ):
        return
    shown = [
        f"{folder}{'' if os.path.isdir(folder) else ' (there is no such folder)'}"
        for folder in folders
    ]
    message = f"there is no tree to check: no SLS file below {', '.join(shown)}"
    hint = (
        "change to its folder or name the configuration with --config; without one name the"
        " folder of the SLS files with --state-tree; `runner init` begins a tree"
    )
    yield Diagnostic(message, place if place and place.line else None, hint, "no-tree")


def _has_sls(tree: FileTree, environments: Iterable[str]) -> bool:
    return any(path.endswith(".sls") for env in environments for path in tree.files("", env))


def served(session: Session, requests: Iterable[Request]) -> tuple[list[Request], list[Diagnostic]]:
    """The SLS files that this configuration can serve to a machine, and how many others its folders
    hold.

    The others are of another tree inside this one, as formulas bring it along for their tests. What
    formulas.yml brings is the work of others: of that only what the tree uses is looked at.
    """
    readable: list[Request] = []
    left: dict[str, int] = {}
    for request in requests:
        path = session.tree.sls_path(request.sls, request.env) or ""
        if session.tree.root_of(path) in session.options.formula_roots:
            continue
        folder = _other_tree(session, path)
        if folder is None:
            readable.append(request)
        else:
            left[folder] = left.get(folder, 0) + 1
    if not left:
        return readable, []
    folders = ", ".join(f"{folder} ({count})" for folder, count in sorted(left.items()))
    count = sum(left.values())
    files, them = (
        ("1 SLS file is", "it is") if count == 1 else (f"{count} SLS files are", "they are")
    )
    message = (
        f"{files} left out, because {them} of another tree than that of the configuration:"
        f" {folders}"
    )
    return readable, [
        Diagnostic(message, None, "`runner check NAME` checks one anyway", "left-out", "info")
    ]


def _other_tree(session: Session, path: str) -> str | None:
    """The folder of the tree that a file belongs to which lies below the roots, but is no state for
    any machine.
    """
    root = session.tree.root_of(path)
    if root is None:
        return None
    parts = os.path.dirname(os.path.relpath(path, root)).split("/")
    for count, name in enumerate(parts, 1):
        folder = os.path.join(root, *parts[:count])
        tests = (
            count == 1
            and name in TESTS
            and any(map(os.path.exists, (f"{root}/{e}" for e in OF_A_REPOSITORY)))
        )
        if name and (
            name in DATA or tests or os.path.isfile(os.path.join(folder, session.options.state_top))
        ):
            return folder
    return None


def of_pillar(session: Session) -> Iterator[Diagnostic]:
    """Lines of the pillar's top file that name nothing, and SLS files that cannot be read, whoever
    gets them.
    """
    tree, envs = session.pillar_tree, list(session.options.pillar_roots)
    given = dict(session.pillar_read)  # the defaults of includes, as this machine's pillar has them
    try:
        read = including(session.read_pillar_top, tree.sls_names, session.read_pillar)
        contents = top.names(
            read,
            envs,
            lambda target, kind: True,
            session.options.pillarenv,
            pillar=True,
            mistake=session.mistake,
        )
    except RunnerError as error:
        yield from error.diagnostics
        return
    yield from (warning._replace(severity="error") for warning in contents.warnings)
    for line in contents.lines:
        plain = not any(mark in line.sls for mark in "*?[")
        if plain and not line.ignore_missing and tree.sls_path(line.sls, line.env) is None:
            near = tree.suggest(line.sls, line.env)
            hint = suggestion(near) if near else f"looked in {', '.join(tree.folders_of(line.env))}"
            message = (
                f"Specified SLS {line.sls!r} in environment {line.env!r} is not available in the"
                " pillar"
            )
            yield Diagnostic(message, line.place.source, hint, "missing-sls")
    for env in envs:
        for name in tree.sls_names(env):
            try:
                value, path, _ = session.read_pillar(name, env, given.get((name, env)))
            except RunnerError as error:
                yield from error.diagnostics
            else:
                yield from undecrypted.of_file(session, value, path)


def of_modules(session: Session) -> Iterator[Diagnostic]:
    """Modules of the tree that are no Python, used or not."""
    roots = [root for roots in session.roots.values() for root in roots]
    for folder in [os.path.join(root, name) for root in roots for name in MODULES]:
        for path, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith(".py"):
                    yield from _module(os.path.join(path, name))


def _module(path: str) -> Iterator[Diagnostic]:
    try:
        compile(read_bounded(path), path, "exec", dont_inherit=True)
    except RunnerError as error:
        yield from error.diagnostics
    except (SyntaxError, ValueError) as error:
        yield from not_python(error, path).diagnostics
    except OSError:
        return


def listening(session: Session, heard: list[Diagnostic]) -> None:
    """Note each command that a template runs."""
    find = session.registry.function

    def function(name: str) -> Callable[..., Any]:
        path = find(name)
        if not name.startswith("cmd.") or name in ("cmd.which", "cmd.which_bin", "cmd.has_exec"):
            return path

        def call(*args: Any, **kwargs: Any) -> Any:
            where = template_line()
            if where:
                command = args[0] if args else kwargs.get("cmd", kwargs.get("name", ""))
                message = f"the template runs a command: {name} {command!r}"
                heard.append(Diagnostic(message, where, None, "template-command", "info"))
            return path(*args, **kwargs)

        return call

    session.registry.function = function  # type: ignore[method-assign]


def template_line() -> Source | None:
    """The line of the innermost template that is being rendered."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if template is not None:
            file = str(frame.f_globals.get("placed_file", template.filename))
            return Source(file, template.get_corresponding_lineno(frame.f_lineno))
        frame = frame.f_back
    return None
