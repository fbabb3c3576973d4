# SPDX-License-Identifier: Apache-2.0
"""Pillar: its SLS files with their includes, merged in the order of the top file; what the command
line says wins.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from runner.language.pillar.merge import merge
from runner.model import ordered_dict
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.model.places import Place, Untyped, item_place, value_place
from runner.model.records import Record
from runner.model.stdlib import like

Read = Callable[[str, str], tuple[Any, str, bool]]  # (sls, saltenv) -> value, file, is init.sls
# with variables for the template too
ReadWith = Callable[[str, str, Mapping[str, Any]], tuple[Any, str, bool]]
Names = Callable[[str], Iterable[str]]  # saltenv -> the names of all SLS files


class Include(Record):
    """One item of an `include:` list."""

    sls: str
    dotless: str  # how it is written without its leading dots, empty where it has none
    key: str  # where its data goes ("a:b"), empty for the top level
    defaults: Mapping[str, Any]
    place: Place


class _PillarFile(Record):
    """What an SLS of the pillar says. value: without places, which take more memory than it, and
    without its `include`. included: that, with its place.
    """

    value: Any
    included: tuple[Any, Place] | None
    file: str
    is_init: bool

    def copied(self) -> _PillarFile:
        """The same with a value of its own."""
        if not isinstance(self.value, Mapping):
            return self
        known: dict[int, Any] = {}  # what an alias shares stays shared
        own = {name: ordered_dict.ordered(item, known) for name, item in self.value.items()}
        return self._replace(value=own)


def _pillar_file(value: Any, file: str, is_init: bool) -> _PillarFile:
    """Return what was read of a file; a value that is no mapping is left as it is."""
    if not isinstance(value, Mapping):
        return _PillarFile(value, None, file, is_init)
    place = value_place(value, "include", Place(Untyped(file), 1, 1))
    included = (value["include"], place) if "include" in value else None
    own = {name: item for name, item in ordered_dict.ordered(value).items() if name != "include"}
    return _PillarFile(own, included, file, is_init)


class Pillar:
    """Collects the pillar SLS files of one machine.

    strategy, lists: pillar_source_merging_strategy and pillar_merge_lists.
    read_with: reads an SLS with the `defaults` of an include as variables. names: for globs.
    optional: (environment, SLS) that may be missing (`ignore_missing`). includes_win:
    pillar_includes_override_sls.
    """

    def __init__(
        self,
        read: Read,
        strategy: str = "smart",
        lists: bool = False,
        *,
        read_with: ReadWith | None = None,
        names: Names = lambda saltenv: (),
        optional: Collection[tuple[str, str]] = (),
        includes_win: bool = False,
    ) -> None:
        self._read = read
        self._read_with = read_with
        self._names = names
        self._optional = optional
        self._strategy = strategy
        self._lists = lists
        self._includes_win = includes_win
        self._problems: list[Diagnostic] = []
        self._once: dict[tuple[str, str], _PillarFile] = {}  # by environment and SLS
        # those that were read with the defaults of an include
        self._filled: set[tuple[str, str]] = set()

    def compile(
        self, requests: Iterable[tuple[str, str, Place]], override: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The merged pillar. Raises CompileError with the places of all mistakes."""
        pillar: dict[str, Any] = {}
        for env, sls, place in requests:
            pillar = self._merge(
                pillar, self._compile_names(Include(sls, "", "", {}, place), env, ())
            )
        if self._problems:
            raise CompileError(
                problem._replace(rendering=problem.rendering or "pillar")
                for problem in self._problems
            )
        return self._merge(pillar, override) if override else pillar

    def _merge(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
        return merge(old, new, self._strategy, self._lists)

    def _compile_names(self, include: Include, env: str, chain: tuple[str, ...]) -> dict[str, Any]:
        """The merged pillar data of a name or glob. An SLS that includes itself on some way is read
        over, as Salt does.
        """
        merged: dict[str, Any] = {}
        for sls in self._expanded(include, env):
            if sls not in chain:
                data = self._compile_sls(include._replace(sls=sls), env, chain)
                for part in reversed(include.key.split(":") if include.key and data else ()):
                    data = {part: data}
                merged = self._merge(merged, data)
        return merged

    def _expanded(self, include: Include, env: str) -> list[str]:
        """The SLS files that an include means. Salt takes what its name means without the dots,
        too; what is beside the including SLS wins.
        """
        pattern = any(mark in include.sls for mark in "*?[")
        if not pattern and not include.dotless:
            return [include.sls]
        known = list(self._names(env))
        names = sorted(like(known, include.sls))
        names = [*sorted({*like(known, include.dotless)} - {*names}), *names]
        if not names and pattern and (env, include.sls) not in self._optional:
            message = (
                f"Specified SLS {include.sls!r} in environment {env!r} is not available on the salt"
                " master"
            )
            self._problem(message, include.place, "no SLS of the pillar matches", "missing-sls")
        return names if names or pattern else [include.sls]

    def _compile_sls(self, include: Include, env: str, chain: tuple[str, ...]) -> dict[str, Any]:
        sls = include.sls
        again = bool(chain) and (env, sls) in self._once
        try:
            read = self._of_file(include, env, included=bool(chain))
        except RunnerError as error:
            if (
                error.code not in ("missing-sls", "missing-env")
                or (env, sls) not in self._optional
                or chain
            ):
                place = include.place
                rendering = "pillar" if error.code.startswith("missing-") else f"pillar {sls}"
                self._problems += [
                    item._replace(source=item.source or place.source, rendering=rendering)
                    for item in error.diagnostics
                ]
            return {}
        if read.value is None:
            return {}
        if not isinstance(read.value, Mapping):
            start = Place(Untyped(read.file), 1, 1)
            hint = (
                "a pillar SLS is a mapping: write `key: value` lines, without a dash before the"
                " keys"
            )
            self._problem(
                f"SLS {sls!r} does not render to a dictionary",
                getattr(read.value, "place", start),
                hint,
            )
            return {}
        included: dict[str, Any] = {}
        package = sls.replace("/", ".").split(".")
        package = package if read.is_init and package[-1] != "init" else package[:-1]
        # an SLS that is included twice brings its own includes once, as in Salt
        if read.included and not again:
            listed, where = read.included
            for included_name in list(
                self._includes(listed, sls, package, include.defaults, where)
            ):
                included = self._merge(
                    included, self._compile_names(included_name, env, (*chain, sls))
                )
        own = read.value
        if self._includes_win and not chain:  # Salt: of what the top file names only
            return self._merge(own, included)
        return self._merge(included, own)

    def _of_file(self, include: Include, env: str, *, included: bool) -> _PillarFile:
        """Return what an SLS says: rendered once, with the defaults of its first include; for the
        top file without them.
        """
        known = (env, include.sls)
        if known not in self._once or (known in self._filled and not included):
            self._filled.discard(known)
            if include.defaults and self._read_with:
                self._filled.add(known)
                self._once[known] = _pillar_file(
                    *self._read_with(include.sls, env, include.defaults)
                )
            else:
                self._once[known] = _pillar_file(*self._read(include.sls, env))
            return self._once[known]
        return self._once[known].copied()

    def _includes(
        self, listed: Any, sls: str, package: list[str], defaults: Mapping[str, Any], where: Place
    ) -> Iterator[Include]:
        """The includes of one SLS; the defaults of one hold for plain names after it too, as in
        Salt.
        """
        if not isinstance(listed, list):
            hint = f"write\n    include:\n      - {listed if isinstance(listed, str) else 'NAME'}"
            return self._problem(
                f"Include Declaration in SLS {sls!r} is not formed as a list", where, hint
            )
        for number, item in enumerate(listed):
            place = item_place(listed, number, where)
            name: Any = item
            options: Any = {}
            if isinstance(item, Mapping) and len(item) == 1:
                name, options = next(iter(item.items()))
                options = {} if options is None else options
                defaults = self._defaults(options, place)
            if isinstance(options, Mapping) and not isinstance(options.get("key") or "", str):
                self._problem(
                    f"the key of an include is a text, not {options['key']!r}",
                    place,
                    "write `key: a:b`",
                )
            elif isinstance(name, str) and name and isinstance(options, Mapping):
                key = str(options.get("key") or "")
                dotless = name.lstrip(".") if name.startswith(".") else ""
                yield Include(_absolute(name, package), dotless, key, defaults, place)
            else:
                hint = (
                    "write `- NAME`, or `- NAME:` and below it, indented, `key: WHERE` or"
                    " `defaults: {...}`"
                )
                self._problem(f"{item!r} is not the name of an SLS", place, hint)

    def _defaults(self, options: Any, place: Place) -> Mapping[str, Any]:
        if not isinstance(options, Mapping):
            return {}
        for key in options:
            if key not in ("defaults", "key"):
                self._problem(
                    f"an include has no {key!r}", place, "it may have `defaults` and `key`"
                )
        defaults = options.get("defaults") or {}
        if isinstance(defaults, Mapping):
            return defaults
        self._problem(
            "the defaults of an include are not a mapping", place, "write `defaults: {name: value}`"
        )
        return {}

    def _problem(
        self, message: str, place: Place, hint: str | None = None, code: str = "pillar"
    ) -> None:
        self._problems.append(Diagnostic(message, place.source, hint, code))


def _absolute(name: str, package: list[str]) -> str:
    """`.x` is beside the including SLS, `..x` a package further up."""
    rest = name.lstrip(".")
    up = len(name) - len(rest)
    return ".".join([*package[: len(package) - up + 1], rest]) if up else name
