# SPDX-License-Identifier: Apache-2.0
"""What SLS files compile to, kept between runs.

Templates are rendered in each run, since they may look at the machine, unless it is known what they
render to (`kept_results.py`). What is made of their texts is a function of these texts, of the
configuration and of runner's code alone: where none of them has changed, the states of the run
before are taken as they were, bound, related and in order; what depends on more than that is looked
up anew (`compile.py`).

One file for each list of SLS files that is asked for, in a folder that only the caller can write.
A tree is kept when two runs have had the same texts, so that one whose texts have the time in them
costs nothing more.
"""

from __future__ import annotations

import marshal
import os
from contextlib import suppress
from functools import cached_property

from runner.api.argtypes import times_asked
from runner.engine.step import Step
from runner.language.render import code_revision, jinja
from runner.model import nested
from runner.model.errors import RunnerError
from runner.model.places import Later, Written
from runner.model.records import Record
from runner.model.stdlib import checksum, digest_of, digest_of_text
from runner.pipeline import compiled_bytes
from runner.pipeline.kept_plan import CompiledPlan, NotKept, from_bytes
from runner.pipeline.session import Session
from runner.sources.config.options import EVERYTHING, OF_THE_RUN
from runner.support.files.text import read_bounded, size_limit
from runner.support.files.trusted_folder import trusted_folder
from runner.support.own_modules import is_own, revision_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from runner.model.chunk import Request, SlsFile
    from runner.pipeline.kept_plan import Text
    from runner.support.yaml.rendered_text import Rendered

_MARK = b"tree"  # what a file begins with; its checksum follows, then the length of the facts
_HEAD = len(_MARK) + 4 + 8


class Said(Record):
    """One SLS file of a tree. text: the digest of what it rendered to."""

    env: str
    sls: str
    path: str
    text: bytes


class PlanSources(Record):
    """What a plan was made from. code: the files of the modules that made it; there are none while
    there is no plan. plain: the numbers of the files that are their own text, without Jinja.
    """

    settings: bytes
    files: tuple[Said, ...]
    code: tuple[str, ...] = ()
    revision: list[tuple[int, int]] = []
    plain: list[int] = []

    def is_of_same_texts(self, other: PlanSources) -> bool:
        """Return whether others have the same texts and settings."""
        return (self.settings, self.files) == (other.settings, other.files)


class CompileCache:
    """The kept form of what some SLS files compile to."""

    def __init__(self, session: Session, requests: Sequence[Request]) -> None:
        self._session = session
        self._requests = [(request.env, request.sls) for request in requests]
        # texts of this run: those that were looked at already, and all in the order of the tree
        self._texts: dict[tuple[str, str], tuple[str, Rendered | None]] = {}
        self._failed: dict[tuple[str, str], RunnerError] = {}  # of those that were looked at
        self._read: dict[Said, Rendered] = {}
        self._later: list[tuple[Said, Later]] = []  # that are not rendered
        self._usable = not (
            session.defaults
            or session.undecrypted  # what states are given of it is looked at in each run
            or session.options.strict
            or session.options.shuffle
            or any(getattr(session.options, name) for name in EVERYTHING)
            or any(request.outside for request in requests)
        )
        self._former: PlanSources | None = None  # those of the run before
        self._homes = times_asked()

    # -------------------------------------------------- from the run before

    def recall(self) -> tuple[CompiledPlan, frozenset[tuple[str, str]], bytes] | None:
        """The kept plan, its SLS files (environment, name) and the digest of all that it was made
        from; None where there is none of what is there now. Raises Untrusted where others can write
        the folder.
        """
        if not self._usable or not os.path.exists(os.path.join(self._folder, self._name)):
            return None
        folder = trusted_folder(self._folder, make=False)
        with suppress(OSError, NotKept, RunnerError):
            self._former, data = _parts(folder.read(self._name))
            if not data or self._former.settings != self._settings:
                return None
            if not is_own(self._former.code, self._former.revision):
                return None
            plain = {*self._former.plain}
            documents: list[Text] = [
                self._unrendered(said) if number in plain else self._known(said)
                for number, said in enumerate(self._former.files)
            ]
            plan = from_bytes(data, documents, self._session.registry)
            files = frozenset((said.env, said.sls) for said in self._former.files)
            made_from = self._former.settings, self._former.files, self._former.revision
            return plan, files, _digest(made_from)
        return None

    def _known(self, said: Said) -> Rendered | Later:
        """The text of an SLS, as of this run. Raises NotKept where it is another one."""
        path, known = self._session.known_text(said.sls, said.env, said.text)
        if path != said.path:
            raise NotKept(path)
        if known is not None:
            self._later.append((said, known))
            return known
        # it may alter what those before it look at
        for other, later in self._later:
            if (rendered := later.rendered()) is None:
                raise NotKept(other.path)
            self._texts[other.env, other.sls] = other.path, rendered
        self._later.clear()
        try:
            path, text = self._session.read_text(said.sls, said.env, said.text)
        except RunnerError as error:
            self._failed[said.env, said.sls] = error
            raise
        self._texts[said.env, said.sls] = path, text
        if text is None or _said(said.env, said.sls, path, text) != said:
            raise NotKept(path)
        return text

    def _unrendered(self, said: Said) -> Written:
        """The same of one that was its own text, which it is as long as it is the same file."""
        path = self._session.sls_path(said.sls, said.env)
        data = read_bounded(path, size_limit(self._session.options.raw))
        if path != said.path or digest_of(data) != said.text:
            raise NotKept(path)
        return Written(data.decode("utf-8", "surrogatepass"), path)

    # -------------------------------------------------- for the next run

    def read(self, sls: str, saltenv: str) -> SlsFile:
        """One SLS of the tree, as `Session.read` gives it; notes its text."""
        if not self._usable:
            return self._session.read(sls, saltenv)
        if (saltenv, sls) in self._failed:  # what it asks for is asked once
            raise self._failed[saltenv, sls]
        if (saltenv, sls) not in self._texts:
            probably = self._probably.get((saltenv, sls), b"")
            self._texts[saltenv, sls] = self._session.read_text(sls, saltenv, probably)
        path, text = self._texts.pop((saltenv, sls))
        if text is None:
            self._usable = False
            return self._session.read(sls, saltenv)
        self._read[_said(saltenv, sls, path, text)] = text
        return self._session.parsed(text, path, sls, saltenv)

    @cached_property
    def _probably(self) -> Mapping[tuple[str, str], bytes]:
        """The digests of the texts of the run before."""
        files = self._former.files if self._former else ()
        return {(said.env, said.sls): said.text for said in files}

    def names(self, saltenv: str) -> Iterable[str]:
        """The names of all SLS files, for a pattern: what it means depends on the tree."""
        self._usable = False
        return self._session.tree.sls_names(saltenv)

    def keep(self, plan: CompiledPlan) -> None:
        """Keep a plan for the next run. Raises Untrusted where others can write the folder."""
        if not self._usable:
            return
        if times_asked() != self._homes or not all(map(_is_certain, plan.steps)):
            return
        facts = PlanSources(self._settings, tuple(self._read))
        data = b""
        with suppress(OSError, NotKept, ValueError, RecursionError):
            if self._former and self._former.is_of_same_texts(facts):
                code = code_revision.loaded_code()
                revision = revision_of(code)
                plain = [number for number, said in enumerate(facts.files) if self._is_plain(said)]
                facts = facts._replace(code=code, revision=revision, plain=plain)
                secrets = self._session.run.secrets
                mask = secrets.mask if secrets or plan.secrets else None
                data = compiled_bytes.to_bytes(plan, [*self._read.values()], mask, plain)
            trusted_folder(self._folder).write(self._name, _file(facts, data))

    def _is_plain(self, said: Said) -> bool:
        """Return whether a file is what it rendered to, and nothing in it is for a renderer."""
        data = read_bounded(said.path, 0)
        if data[:2] == b"#!" or digest_of(data) != said.text:
            return False
        return jinja.is_plain(self._session.options.raw, data.decode(), said.path)

    # -------------------------------------------------- where, and made from what

    @property
    def _folder(self) -> str:
        return os.path.join(self._session.options.cachedir, "compiled")

    @property
    def _name(self) -> str:
        return _digest(self._requests).hex()

    @cached_property
    def _settings(self) -> bytes:
        settings = self._session.options._asdict()
        settings |= dict.fromkeys(OF_THE_RUN)
        settings["raw"] = {
            name: value for name, value in settings["raw"].items() if name not in OF_THE_RUN
        }
        return _digest((self._requests, settings))


def _is_certain(step: Step) -> bool:
    """Return whether a state can be bound in the next run as in this one: it is already, or has a
    slot that is filled when it runs.
    """
    return step.call is not None or nested.has_slot(step.chunk.args)


def _said(env: str, sls: str, path: str, text: Rendered) -> Said:
    return Said(env, sls, path, digest_of_text(text.text))


def _file(facts: PlanSources, data: bytes) -> bytes:
    """Return what a file holds: the facts, and the plan where there is one."""
    files = [tuple(said) for said in facts.files]
    made = marshal.dumps((facts.settings, files, facts.code, facts.revision, facts.plain))
    body = made + data
    return _MARK + checksum(body) + len(made).to_bytes(8) + body


def _parts(data: bytes) -> tuple[PlanSources, memoryview]:
    """The facts and the plan that a file holds. Raises NotKept for one that is not whole."""
    body = memoryview(data)[_HEAD:]
    if data[: _HEAD - 8] != _MARK + checksum(body):
        raise NotKept("checksum")
    length = int.from_bytes(data[_HEAD - 8 : _HEAD])
    settings, files, *code = marshal.loads(body[:length])
    return PlanSources(settings, tuple(Said(*said) for said in files), *code), body[length:]


def _digest(facts: object) -> bytes:
    return digest_of_text(repr(facts))
