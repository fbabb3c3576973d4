# SPDX-License-Identifier: Apache-2.0
"""What templates rendered to, kept between runs: as a digest, beside those of all that it was made
from. Who has a text at hand that may be the result, as the file that a state manages, need not
render again to know that it is.

A result is kept once it was found where it belongs, and only of templates that answer nothing but
what is asked for here (`jinja/repeatable.py`), and that left what others see as it was. What they
ask of execution functions is asked again (`noted.py`). No text is kept, and no arguments with a
secret in them.
"""

from __future__ import annotations

import marshal
import os
from contextlib import suppress
from functools import partial

from runner.api import here
from runner.language.grains import EVERY
from runner.language.render import code_revision
from runner.language.render.jinja.limits import bounded
from runner.language.render.noted import Answered, Notes, ask_again
from runner.language.render.renderers.files import read_text
from runner.language.render.value_digests import digest, written
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.model.stdlib import checksum, digest_of, digest_of_text
from runner.sources.config.options import OF_THE_RUN
from runner.support.files.group_commit import Version, version
from runner.support.files.trusted_folder import Untrusted, trusted_folder
from runner.support.own_modules import is_own, revision_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from runner.language.render.jinja import Jinja
    from runner.language.render.noted import Registry
    from runner.support.yaml.rendered_text import Rendered

    Find = Callable[[str, str], str | None]

NAME = "results"
MOST = 20_000  # results; those that were of use longest ago are forgotten
_ADDRESS = " at 0x"  # of an object that is no data: another one in each run
# bytes of pillar and configuration that a run looks at; then what asks for them is rendered
MOST_LOOKED_AT = 2 << 20
# the settings of the configuration that change what Jinja makes of a text
OPTIONS = ("jinja_env", "jinja_sls_env", "jinja_trim_blocks", "jinja_lstrip_blocks")


class Asked(Record):
    """A template of Jinja that is asked for. context: variables beside those that all have."""

    text: str
    file: str
    name: str
    saltenv: str
    context: Mapping[str, Any]
    sls: bool = False


class Result(Record):
    """A result and what it depends on beside its key. files: those that it imports, by their names;
    no path: there is none. functions: those that answer from pillar, configuration and grains, and
    `opts` for the variable. pillar, opts: their digests, empty where nothing looks at them. looks:
    other functions, their arguments and the digests of their answers, in their order.
    """

    digest: bytes
    files: tuple[tuple[str, tuple[str, bytes]], ...]  # name -> path, digest
    grains: tuple[tuple[str, bytes], ...]
    functions: tuple[str, ...] = ()
    pillar: bytes = b""
    opts: bytes = b""
    looks: tuple[tuple[str, bytes, bytes], ...] = ()


class KeptResults:
    """The results of earlier runs, and of this one."""

    def __init__(
        self,
        folder: str | None,
        find: Find,
        grains: Callable[[], Mapping[str, Any]],
        pillar: Callable[[], Mapping[str, Any]],
        opts: Mapping[str, Any],
        seen: Callable[[str], None],
        functions: Registry | None,
        holds_secret: Callable[[str], bool],
    ) -> None:
        """folder: made when there is something to keep. The rest: as for Renderer."""
        self._path, self._find, self._seen = folder, find, seen
        self._grains, self._pillar, self._opts = grains, pillar, opts
        self._functions, self._holds_secret = functions, holds_secret
        self._known: dict[bytes, Any] | None = None
        self._code: tuple[str, ...] = ()
        self._used: dict[bytes, Any] = {}
        self._has_new = False
        self._begun = self._underway = 0  # renderings; several threads may render
        self._of_pillar: tuple[Any, bytes | None] = (None, None)
        self._files: dict[tuple[str, Version], bytes] = {}  # digests
        self._of_opts: dict[tuple[Any, ...], bytes | None] = {}
        self._as_of = 0  # how many others had been asked for when these were made
        self._looked_at = 0  # bytes of both
        # looks of this run at what is to be rendered next, or may be: by its key
        self._asked_again: dict[bytes, list[Answered]] = {}

    def text(self, asked: Asked, names: Mapping[str, Any], probably: bytes, jinja: Jinja) -> str:
        """Return what a template renders to. names: all its variables. probably: what it may render
        to. Raises what `Jinja.render` raises, and Untrusted where others can write the folder.
        """
        if probably and self.holds(asked, expected := digest_of(probably)):
            jinja.require_own_folder()
            return probably.decode("utf-8", "surrogatepass")
        return self.rendered(asked, names, expected if probably else b"", jinja).text

    def rendered(
        self, asked: Asked, names: Mapping[str, Any], expected: bytes, jinja: Jinja
    ) -> Rendered:
        """Return what a template renders to, which is kept where it has the digest that is
        expected. The rest: as for `text`.
        """
        key = self._key(asked) if self._functions and (expected or self._asked_again) else None
        looks = self._asked_again.pop(key, []) if key else []
        if not (self._functions and key and (expected or looks)):
            try:
                return self._render(asked, names, jinja, None)
            finally:
                self.forget()
        others = self._underway, self._begun, self._functions.looks
        notes = Notes(self._functions, looks, partial(self._shared, asked), self._grain)
        is_kept = False
        if "salt" not in asked.context:
            names = {**names, "salt": notes.salt}
        try:
            made = self._render(asked, names, jinja, notes)
            # or what others asked for was noted here, or there
            alone = others == (0, self._begun - 1, self._functions.looks)
            same = digest_of_text(made.text) == expected and _ADDRESS not in made.text
            if alone and same and self._is_unaltered(notes):
                found = jinja.names(asked, notes.imports)
                if found is not None:
                    is_kept = self._note(key, asked.saltenv, expected, found, notes)
        finally:
            if not is_kept:
                self.forget()
        return made

    def _render(
        self, asked: Asked, names: Mapping[str, Any], jinja: Jinja, notes: Notes | None
    ) -> Rendered:
        of_grains: set[str] = getattr(self._grains(), "asked", set())
        others = of_grains.copy()
        of_grains.clear()
        if notes:
            notes.grains = of_grains
        self._begun += 1
        self._underway += 1
        text, file, name, saltenv, _, sls = asked
        try:
            with bounded(file, self._opts.get("render_limit")):
                return jinja.render(text, file, name, names, saltenv=saltenv, sls=sls, notes=notes)
        finally:
            if notes:
                notes.grains = of_grains.copy()
            of_grains |= others
            self._underway -= 1

    def _shared(self, asked: Asked) -> tuple[bytes | None, ...]:
        """The digests of what a template shares with others, which it may alter."""
        opts = self._opts_digest(("config.get", "opts"))
        return self._key(asked), self._pillar_digest(), opts

    def _is_unaltered(self, notes: Notes) -> bool:
        if notes.may_have_altered:
            self.forget()
        return notes.are_whole()

    # -------------------------------------------------- from the run before

    def holds(self, asked: Asked, expected: bytes) -> bool:
        """Return whether what a template renders to in this run has a digest; false where that is
        not known.
        """
        key = self._key(asked)
        kept = self._results().get(key) if key else None
        if key is None or kept is None:
            return False
        result = Result(*kept)
        if result.digest != expected or not self._is_as_before(key, result, asked):
            return False
        self._used[key] = kept
        return True

    def _key(self, asked: Asked) -> bytes | None:
        """What results are kept under; None for variables that are no plain data."""
        options = [self._opts.get(option) for option in OPTIONS]
        return digest((*asked._replace(context=dict(asked.context)), options))

    def _is_as_before(self, key: bytes, result: Result, asked: Asked) -> bool:
        if not self._is_of_same(result, asked.saltenv):
            return False
        if not result.looks:
            return True
        assert self._functions is not None, "it has looked"
        with bounded(asked.file, self._opts.get("render_limit")):
            looks, same = ask_again(result.looks, self._functions)
        if any(self._functions.is_of_the_tree(look.function) for look in looks):
            self.forget()  # which may have altered it
        same = same and self._is_of_same(result, asked.saltenv)
        if asked.sls or not same:
            self._asked_again[key] = looks  # an SLS may be rendered when somebody needs its text
        return same

    def _is_of_same(self, result: Result, saltenv: str) -> bool:
        """Return whether all that a result was made from is as it was, but for looks."""
        known = self._functions.is_of_the_run if self._functions else bool
        return (
            all(known(name) for name in result.functions if name != "opts")
            and (not result.pillar or result.pillar == self._pillar_digest())
            and (not result.opts or result.opts == self._opts_digest(result.functions))
            and all(digest(self._grain(name)) == value for name, value in result.grains)
            and all(self._file(name, saltenv) == file for name, file in result.files)
        )

    def _results(self) -> dict[bytes, Any]:
        """The results of earlier runs with this code. Raises Untrusted."""
        if self._known is None:
            data = b""
            if self._path is not None:
                with suppress(OSError):
                    data = trusted_folder(self._path, make=False).read(NAME)
            self._known = {}
            with suppress(OSError, ValueError, TypeError, EOFError):
                code, revision, known = marshal.loads(_unsealed(data))
                if is_own(code, revision):
                    self._code, self._known = code, known
        return self._known

    # -------------------------------------------------- for the next run

    def _note(
        self, key: bytes, saltenv: str, result: bytes, names: frozenset[str], notes: Notes
    ) -> bool:
        """Keep the result of a template with these names, if all that it asked for can be noted."""
        files, grains = notes.imports, notes.grains
        if any(name.startswith("/") or "?" in name for name in files) or EVERY in grains:
            return False
        of_grains = [(name, digest(self._grain(name))) for name in sorted(grains)]
        functions = (*sorted(notes.of_the_run), *(["opts"] if "opts" in names else ()))
        pillar = self._pillar_digest() if "pillar" in names or functions else b""
        opts = self._opts_digest(functions) if functions else b""
        if pillar is None or opts is None or None in dict(of_grains).values():
            return False
        if any(map(self._holds_secret, notes.texts())):
            return False
        found = tuple((name, self._file(name, saltenv)) for name in sorted(files))
        looks = tuple(look[:3] for look in notes.looks)
        self._used[key] = result, found, tuple(of_grains), functions, pillar, opts, looks
        self._has_new = True
        return True

    def forget(self) -> None:
        """Look at pillar and configuration anew: what was rendered may have altered them."""
        self._of_pillar = (None, None)
        self._of_opts.clear()

    def write(self) -> None:
        """Keep what is new for the next run, which says so where others can write the folder."""
        if not self._has_new or self._path is None:
            return
        former = self._results()
        code = code_revision.loaded_code()
        with suppress(OSError, ValueError, Untrusted):
            code = tuple(sorted({*self._code, *code}))
            known = {key: value for key, value in former.items() if key not in self._used}
            known |= self._used
            known = dict([*known.items()][-MOST:])
            body = marshal.dumps((code, revision_of(code), known))
            trusted_folder(self._path).write(NAME, checksum(body) + body)
        self._has_new = False

    # -------------------------------------------------- what a result is made from

    def _grain(self, name: str) -> Any:
        grains = self._grains()
        return (grains[name],) if name in grains else ()

    def _file(self, name: str, saltenv: str) -> tuple[str, bytes]:
        """The path of a file that templates import, and the digest of its text."""
        path = self._find(name, saltenv) or ""
        with suppress(OSError, RunnerError):  # which rendering tells of
            key = path, version(os.stat(path))  # a state may have written it meanwhile
            if key not in self._files:
                self._seen(path)
                self._files[key] = digest_of_text(read_text(path, self._opts))
            return path, self._files[key]
        return path, b""

    def _notice(self) -> None:
        """Look anew where others were asked for: code of the tree may alter pillar in place."""
        if self._functions and self._as_of != (looks := self._functions.looks):
            self._as_of = looks
            self.forget()

    def _pillar_digest(self) -> bytes | None:
        self._notice()
        pillar = self._pillar()
        if self._of_pillar[0] is not pillar:
            self._of_pillar = pillar, self._bounded_digest(pillar)
        return self._of_pillar[1]

    def _opts_digest(self, functions: Collection[str]) -> bytes | None:
        """The digest of the configuration; what is of one run alone, or of a state that is only
        looked at, `opts` and config.get answer.
        """
        self._notice()
        whole, raw = "config.get" in functions, "opts" in functions
        opts = here.opts if whole else self._opts
        seen = whole and bool(opts.get("test")), whole, raw
        if seen not in self._of_opts:
            own = {name: value for name, value in opts.items() if whole or name not in OF_THE_RUN}
            self._of_opts[seen] = self._bounded_digest((own, dict(self._opts) if raw else None))
        return self._of_opts[seen]

    def _bounded_digest(self, value: Any) -> bytes | None:
        """The digest of what templates may alter, and which is looked at anew after each that is
        not known; None where that takes longer than to render.
        """
        data = written(value) if self._looked_at < MOST_LOOKED_AT else None
        self._looked_at += len(data or b"")
        return None if data is None else digest_of(data)


def _unsealed(data: bytes) -> bytes:
    """What a file holds. Raises ValueError for one that is not whole."""
    if data[:4] != checksum(data[4:]):
        raise ValueError("checksum")
    return data[4:]
