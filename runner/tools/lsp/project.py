# SPDX-License-Identifier: Apache-2.0
"""A tree that is edited: its configuration, its files with the editor's texts, its functions, and
what the last check has learnt. Nothing of the tree is executed here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import chdir, suppress
from functools import cached_property
from typing import Any

from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError, reason_of
from runner.model.records import Record
from runner.pipeline.session import Session
from runner.sources.config.load import load
from runner.sources.config.options import Options
from runner.sources.fileroots import FileTree
from runner.support.files import text as files_text
from runner.tools.lsp.analysis import Analysis
from runner.tools.lsp.documents import BOM, OpenDocument, on_disk

AT_ONCE = 20  # files that are read before other requests have their turn


class Texts:
    """The texts that are open in the editor; all others are those of the disk."""

    def __init__(self) -> None:
        self.open: dict[str, OpenDocument] = {}
        self.uris: dict[str, str] = {}  # path -> how the editor names it
        self._deleted: dict[str, int | None] = {}  # path -> version when its file was deleted
        self._disk: dict[str, tuple[tuple[int, int], OpenDocument]] = {}

    def put(self, uri: str, document: OpenDocument) -> None:
        """Take over a text of the editor."""
        self.open[document.path] = document
        self.uris[document.path] = uri
        self.note_unsaved()

    def close(self, path: str) -> None:
        """Forget a text of the editor; that of the disk counts again."""
        self.open.pop(path, None)
        self._deleted.pop(path, None)
        self.note_unsaved()

    def deleted(self, path: str) -> None:
        """Take note that a file is gone: what the editor still shows of it counts when it is
        edited again.
        """
        if path in self.open:
            self._deleted[path] = self.open[path].version
        self.note_unsaved()

    @property
    def unsaved(self) -> dict[str, str]:
        """Path -> text of what differs from the disk."""
        return {
            path: document.text.removeprefix(BOM)
            for path, document in self.open.items()
            if self._differs(document)
        }

    def _differs(self, document: OpenDocument) -> bool:
        saved = self._saved(document.path)
        if saved is None:
            return self._deleted.get(document.path, -1) != document.version
        return saved.text.removeprefix(BOM) != document.text.removeprefix(BOM)

    def note_unsaved(self) -> None:
        """Let the readers of this process see the editor's texts."""
        unsaved = self.unsaved
        files_text.UNSAVED.clear()
        files_text.UNSAVED.update(
            (os.path.realpath(path), text.encode("utf-8", "replace"))
            for path, text in unsaved.items()
        )

    def is_same(self, path: str, other: str) -> bool:
        """Return whether two paths lead to one file."""
        return path == other or os.path.realpath(path) == os.path.realpath(other)

    def opened_as(self, path: str) -> str:
        """The path by which the editor has a file open; the same path for one that is not."""
        if path in self.open:
            return path
        return next((known for known in self.open if self.is_same(known, path)), path)

    def get(self, path: str) -> OpenDocument | None:
        """The text of a file as the editor has it, or the disk."""
        return self.open.get(path) or self._saved(path)

    def _saved(self, path: str) -> OpenDocument | None:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            self._disk.pop(path, None)
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._disk.get(path)
        if known and known[0] == stamp:
            return known[1]
        shadowed = files_text.UNSAVED.pop(os.path.realpath(path), None)
        document = on_disk(path)
        if shadowed is not None:
            files_text.UNSAVED[os.path.realpath(path)] = shadowed
        if document:
            self._disk[path] = (stamp, document)
        return document


class SlsName(Record):
    """An SLS file under its name."""

    env: str
    name: str
    path: str


class Project:
    """The tree of one configuration."""

    def __init__(
        self, folder: str, config: str | None, overrides: Mapping[str, Any], texts: Texts
    ) -> None:
        self.folder, self.config, self.overrides, self.texts = folder, config, overrides, texts
        self.analysis = Analysis()
        self.problem: RunnerError | None = None  # of the configuration
        self.options: Options | None = None
        self.load()

    def load(self) -> None:
        """Read the configuration, as `runner check` in the folder does."""
        self.refresh()
        self.problem = None
        try:
            with chdir(self.folder):
                options, _ = load(self.config, self.overrides, os.environ, fetch=False)
            self.options = options
        except (RunnerError, OSError) as error:
            self.problem = (
                error if isinstance(error, RunnerError) else RunnerError(reason_of(error))
            )

    def refresh(self) -> None:
        """Look at the files anew."""
        self.__dict__.pop("session", None)
        self._sls_files: dict[FileTree, dict[str, SlsName]] = {}

    @cached_property
    def session(self) -> Session:
        assert self.options is not None, "holds() was asked before"
        return Session(self.options)

    def holds(self, path: str) -> bool:
        """Return whether a file is of this tree, its pillar or its configuration."""
        if self.options is None:
            return path.startswith(self.folder.rstrip("/") + "/")
        real = os.path.realpath(path)
        folders = [
            os.path.realpath(root)
            for roots in (self.options.file_roots, self.options.pillar_roots)
            for folders in roots.values()
            for root in folders
        ]
        return path in self.options.files or any(real.startswith(root + "/") for root in folders)

    @property
    def unsaved(self) -> dict[str, str]:
        """Path -> text of what the editor has not saved of this tree."""
        return {path: text for path, text in self.texts.unsaved.items() if self.holds(path)}

    @property
    def mistakes(self) -> Sequence[Diagnostic]:
        """What the last check found; each file by its whole path."""
        problems = self.problem.diagnostics if self.problem else self.analysis.problems
        return [
            problem._replace(
                source=problem.source._replace(file=os.path.join(self.folder, problem.source.file))
            )
            if problem.source
            else problem
            for problem in problems
        ]

    def is_in(self, problem: Diagnostic, path: str) -> bool:
        """Return whether a mistake is in a file."""
        source = problem.source
        return source is not None and self.texts.is_same(
            os.path.join(self.folder, source.file), path
        )

    # -------------------------------------------------- files

    def tree_of(self, path: str) -> FileTree:
        """The tree that a file is of: that of the pillar, or of the states."""
        tree, pillar = self.session.tree, self.session.pillar_tree
        return pillar if pillar.root_of(path) and not tree.root_of(path) else tree

    def env_of(self, path: str) -> str:
        """The environment that a file is of."""
        tree = self.tree_of(path)
        root = tree.root_of(path)
        envs = (env for env, roots in tree.roots.items() if root in [r.rstrip("/") for r in roots])
        return next(envs, "base")

    def sls_files(self, tree: FileTree) -> Collection[SlsName]:
        """The SLS files that can be named."""
        if tree not in self._sls_files:
            self._sls_files[tree] = {sls.path: sls for sls in self._listed(tree)}
        return self._sls_files[tree].values()

    def _listed(self, tree: FileTree) -> Iterator[SlsName]:
        for env in self.session.roots if tree is self.session.tree else tree.roots:
            with suppress(RunnerError):
                for name in tree.sls_names(env):
                    path = tree.sls_path(name, env)
                    if path:
                        yield SlsName(env, name, path)

    def sls_of(self, path: str) -> SlsName | None:
        """The name of an SLS file."""
        tree, env = self.tree_of(path), self.env_of(path)
        stem = os.path.relpath(path, tree.root_of(path) or "/").removesuffix(".sls")
        name = stem.removesuffix("/init").replace("/", ".")
        with suppress(RunnerError):
            if name in tree.sls_names(env) and tree.sls_path(name, env) == path:
                return SlsName(env, name, path)
        return None

    def is_top(self, document: OpenDocument) -> bool:
        """Return whether a text is a top file."""
        return self.options is not None and document.path.endswith(f"/{self.options.state_top}")

    def declares_states(self, document: OpenDocument) -> bool:
        """Return whether a text is an SLS file of the states."""
        return (
            self.tree_of(document.path) is self.session.tree
            and self.sls_of(document.path) is not None
        )

    async def documents(self) -> AsyncIterator[OpenDocument]:
        """All SLS files of the states; others get their turn in between."""
        for number, sls in enumerate(list(self.sls_files(self.session.tree))):
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
            document = self.texts.get(sls.path)
            if document:
                yield document

    def document(self, path: str) -> OpenDocument | None:
        return self.texts.get(path)

    def included(self, document: OpenDocument, name: str) -> str | None:
        """The file of an include: `a.b`, or `.b` beside the file."""
        tree, env = self.tree_of(document.path), self.env_of(document.path)
        if name.startswith("."):
            own = self.sls_of(document.path)
            if own is None:
                return None
            steps = own.name.split(".")
            if not document.path.endswith("/init.sls"):
                steps = steps[:-1]
            ups = len(name) - len(name.lstrip(".")) - 1
            steps = steps[: len(steps) - ups] if ups else steps
            name = ".".join([*steps, name.lstrip(".")])
        with suppress(RunnerError):
            return tree.sls_path(name, env)
        return None

    def imported(self, document: OpenDocument, path: str) -> str | None:
        """The file of a template that another one imports; it may be named from its own folder."""
        tree, env = self.tree_of(document.path), self.env_of(document.path)
        root = tree.root_of(document.path)
        folder = os.path.relpath(os.path.dirname(document.path), root) if root else ""
        places = [path, f"{folder}/{path}", f"{folder.split('/')[0]}/{path}"]
        for place in places:
            with suppress(RunnerError):
                file = tree.find(os.path.normpath(place.lstrip("/")), env)
                if file:
                    return file
        return None
