# SPDX-License-Identifier: Apache-2.0
"""Environments of Jinja with Salt's filters, tests and globals, for texts with Jinja in them."""

from __future__ import annotations

import os
from collections import OrderedDict

import jinja2

from runner.language.filters import TESTS, Filters
from runner.language.render.code_revision import pyyaml_files
from runner.language.render.jinja.bounded_operations import checked
from runner.language.render.jinja.cache import Pack
from runner.language.render.jinja.environment import (
    Find,
    LenientUndefined,
    PlacedEnvironment,
    StrictUndefined,
    TreeLoader,
)
from runner.language.render.jinja.tags import SaltTags
from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.support.files.trusted_folder import TrustedFolder
from runner.support.own_modules import revision_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from runner.support.redaction import Keep


class RaisedByTemplate(Exception):
    """The error that `raise()` in a template raises."""


class Environments:
    """The environments of a run, which share the compiled templates on disk."""

    def __init__(
        self,
        find: Find,
        opts: Mapping[str, Any],
        folder: TrustedFolder | None,
        lenient: bool,
        missing_hint: Find,
        seen: Callable[[str], None],
        keep: Keep,
    ) -> None:
        """folder: of the compiled templates. The rest are arguments of `Jinja`."""
        self._find, self._missing_hint, self._seen = find, missing_hint, seen
        self._opts = opts
        self._pack = Pack(folder, str(_revision()), keep) if folder else None
        self._undefined = LenientUndefined if lenient else StrictUndefined

    def make(
        self,
        saltenv: str,
        options: Mapping[str, Any],
        configured_at: Callable[[], tuple[str, Source]],
    ) -> PlacedEnvironment:
        """An environment with some options of Jinja. configured_at: who sets these, and where.

        Raises RunnerError for options that do not go together.
        """
        try:
            environment = PlacedEnvironment(
                loader=TreeLoader(self._find, saltenv, self._missing_hint, self._opts, self._seen),
                undefined=self._undefined,
                extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols", SaltTags],
                # what a filter finds (a file, the time, chance) must not be kept in a compiled one
                optimized=False,
                cache_size=-1,
                **options,
            )
        except AssertionError as problem:
            setter, place = configured_at()
            raise RunnerError(f"{setter}: {problem}", place) from None
        environment.saltenv = saltenv
        environment.files, environment.verbatims, environment.units = {}, {}, {}
        environment.codes = {}
        environment.store = self._pack.of(str(sorted(options.items()))) if self._pack else None
        environment.filters = Filters(environment.filters, checked)
        environment.tests.update(TESTS)
        own = {
            "raise": _raise,
            "show_full_context": _full_context,
            "odict": OrderedDict,
            "ifelse": _ifelse,
        }
        environment.globals.update(own)
        environment.own_globals, environment.fresh = environment.globals, {}
        return environment


def _revision() -> list[tuple[int, int]]:
    """The revision of the code that compiles a template or reads data: an old one is of no use to a
    new runner.
    """
    names = (
        "codegen.py",
        "environment.py",
        "parsing.py",
        "repeatable.py",
        "shared_code.py",
        "tags.py",
        "../../filters/__init__.py",
        "../../../support/yaml/load.py",
        "static_files.py",
        "untouched.py",
    )
    files = [os.path.join(os.path.dirname(__file__), name) for name in names]
    return revision_of([*files, *pyyaml_files()])


def _raise(message: str) -> None:
    raise RaisedByTemplate(message)


_raise.__qualname__ = "raise"  # as Python names it when its arguments are wrong


@jinja2.pass_context
def _full_context(context: Any) -> dict[str, Any]:
    return dict(context.get_all())


_full_context.__name__ = _full_context.__qualname__ = "show_full_context"


@jinja2.pass_context
def _ifelse(context: Any, *pairs: Any, **options: Any) -> Any:
    """The value beside the first target that means this machine; the last argument when there is
    none.
    """
    return context["salt"]["match.ifelse"](*pairs, **options)
