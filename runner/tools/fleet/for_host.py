# SPDX-License-Identifier: Apache-2.0
"""What a host needs to run a tree: the bundle, the tree and its own pillar, made on this machine.

The collection for Ansible starts this as a process for each host, and asks by lines of JSON on its
standard input: {"config", "id", "pillar"} first, answered with the digests of the archives (that of
runner alone where there is no "id"); then {"archive": NAME}, answered with the path of a file,
{"grains"}, answered with the pillar as one line, and {"there": TEXTS}, answered with what a host
said, the files of its tree as they are called here. Nothing of the pillar is written anywhere.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from runner.model.errors import RunnerError
from runner.model.handed_over_pillar import line
from runner.model.records import Record
from runner.output.diagnostics import format_one
from runner.pipeline.session import Session
from runner.sources import bundle
from runner.sources.config import load
from runner.support.files.trusted_folder import TrustedFolder, Untrusted, trusted_folder
from runner.tools.fleet.facts import FactsCache
from runner.tools.fleet.host_pillar import session_of_host
from runner.tools.fleet.tree_archive import archive

BUNDLE, TREE = "bundle", "tree"
LEVEL = 4  # of gzip: the next ones take twice the time for 2 % less
KEPT = 4  # archives of a kind in the cache


class Archive(Record):
    """A tar file for hosts. digest: its SHA-256; file: where it lies, compressed."""

    digest: str
    file: str


def answers(questions: Iterable[str]) -> Iterator[str]:
    """The line of JSON that answers each question."""
    host: ForHost | None = None
    for question in questions:
        try:
            asked = json.loads(question)
            host = host or ForHost(asked)
            answer = host.answer(asked)
        except RunnerError as error:
            answer = {"error": "\n".join(map(format_one, error.diagnostics))}
        except OSError as error:
            answer = {"error": f"{error.filename or 'runner'}: {error.strerror}"}
        yield json.dumps(answer)


class ForHost:
    """What one host needs. Raises RunnerError where the configuration or the tree is not usable."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        overrides = {"id": asked["id"], "pillar": asked["pillar"]} if "id" in asked else {}
        options, warnings = load.load(asked.get("config"), overrides, os.environ)
        self._session = Session(options)
        self._warnings = [problem.message for problem in warnings if problem.severity != "info"]
        folder = trusted_folder(os.path.join(options.cachedir, "fleet"))
        self._archives = {BUNDLE: _bundle(folder)}
        self._sources: Mapping[str, str] = {}
        if overrides:
            with self._session.opened():
                packed = archive(self._session)
            self._archives[TREE], self._sources = _tree(folder, packed.data), packed.sources

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a question."""
        if "archive" in asked:
            return {"file": self._archives[asked["archive"]].file}
        if "grains" in asked:
            return {"pillar": self.pillar_line(asked["grains"], asked.get("given") or {})}
        if "there" in asked:
            return {"here": [self.here(text) for text in asked["there"]]}
        digests = {name: made.digest for name, made in self._archives.items()}
        return {"archives": digests, "warnings": self._warnings}

    def here(self, text: str) -> str:
        """A text of the host, of JSON perhaps, with the files of the tree as they are called on
        this machine.
        """
        inside = rf'/[^\s"]*?/{TREE}/{self._archives[TREE].digest}/([^\s":,()\\]+)'

        def local(match: re.Match[str]) -> str:
            source = self._sources.get(match[1])
            return json.dumps(source)[1:-1] if source else match[0]

        return re.sub(inside, local, text)

    def pillar_line(self, grains: Mapping[str, Any], given: Mapping[str, Any]) -> str:
        """The pillar of the host with these grains, and the secrets in it, as one line. given: more
        grains, of the inventory, which the line hands over, too.
        """
        options = self._session.options
        with suppress(OSError, Untrusted):  # for targets of later fleet runs
            FactsCache(options.cachedir).keep(options.id, grains)
        run = session_of_host(options, {**grains, **given}).run
        return line(run.pillar, run.secrets.values, given)


def _bundle(folder: TrustedFolder) -> Archive:
    """The bundle, made anew when a file of it has another time or size than before."""
    contents = bundle.contents()
    state = hashlib.sha256()
    for path, content in sorted(contents.items()):
        state.update(f"{path} {_state(content)}\n".encode())
    return _archive(folder, BUNDLE, state.hexdigest(), lambda: bundle.archived(contents))


def _state(content: Path | bytes) -> str:
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    status = content.stat()
    return f"{status.st_size} {status.st_mtime_ns}"


def _tree(folder: TrustedFolder, data: bytes) -> Archive:
    return _archive(folder, TREE, hashlib.sha256(data).hexdigest(), lambda: data)


def _archive(folder: TrustedFolder, kind: str, state: str, make: Callable[[], bytes]) -> Archive:
    """The archive of that state, from the folder if it is there. Its name there says its digest."""
    start = f"{kind}-{state[:32]}-"
    name = next((name for name in folder.names() if _is_archive(name, start)), None)
    if name is None:
        data = make()
        name = f"{start}{hashlib.sha256(data).hexdigest()}.tar.gz"
        folder.write(name, gzip.compress(data, LEVEL, mtime=0))
        _remove_old(folder, kind)
    digest = name.removesuffix(".tar.gz").rpartition("-")[2]
    return Archive(digest, os.path.join(folder.path, name))


def _is_archive(name: str, start: str) -> bool:
    return name.startswith(start) and name.endswith(".tar.gz")


def _remove_old(folder: TrustedFolder, kind: str) -> None:
    names = [name for name in folder.names() if _is_archive(name, f"{kind}-")]
    times = {name: os.stat(os.path.join(folder.path, name)).st_mtime for name in names}
    for name in sorted(names, key=lambda name: times[name])[:-KEPT]:
        folder.remove(name)
