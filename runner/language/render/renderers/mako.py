# SPDX-License-Identifier: Apache-2.0
"""The mako renderer, where Mako is installed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from runner.language.render.renderers.files import read_text
from runner.model.errors import RenderError
from runner.model.places import Source
from runner.support.yaml.rendered_text import Rendered

if TYPE_CHECKING:
    from runner.language.render import Scope


def rendered(text: str, scope: Scope) -> Rendered:
    """A text rendered by Mako; it may include and inherit files of the tree. Raises RenderError
    with the line.
    """
    try:
        from mako import exceptions  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        hint = "install it beside runner: pip install Mako"
        raise RenderError(
            "a mako template needs the Python package Mako", Source(scope.path, 1), hint
        ) from None
    uri = str(scope.names.get("tplfile") or scope.path)
    lookup = _lookup(scope)
    try:
        return Rendered(str(lookup.made(text, uri, scope.path).render(**scope.names)), scope.path)
    except exceptions.MakoException as error:
        place = Source(
            getattr(error, "filename", None) or scope.path, getattr(error, "lineno", 0) or 0
        )
        raise RenderError(f"Mako: {error}", place) from None
    except RenderError:
        raise
    except (Exception, SystemExit) as error:
        traced = exceptions.RichTraceback()
        path = lookup.files.get(_uri(traced), scope.path)
        missing = isinstance(error, NameError) and re.fullmatch(
            r"'(\w+)' is not defined", str(error)
        )
        if missing:  # told when the template begins, whether the variable is used or not
            line = _line_of(
                missing[1], text if path == scope.path else read_text(path, scope.renderer.opts)
            )
            hint = f"where it may be missing write context.get({missing[1]!r}, DEFAULT)"
            raise RenderError(
                f"Mako: the variable {missing[1]!r} has no value", Source(path, line), hint
            ) from None
        raise RenderError(
            f"Mako: {type(error).__name__}: {error}", Source(path, traced.lineno or 0)
        ) from None


def _line_of(name: str, text: str) -> int:
    """The first line in which a name stands; 0 where there is none."""
    rows = enumerate(text.splitlines(), 1)
    return next((number for number, row in rows if re.search(rf"\b{name}\b", row)), 0)


def _uri(traced: Any) -> str:
    """The template in which an exception came by last."""
    return next((str(record[4]) for record in reversed(traced.records) if record[4]), "")


def _lookup(scope: Scope) -> Any:
    """Finds what a template includes: beside it, from the root with a leading `/`, or by `salt://`."""
    from mako.lookup import TemplateCollection  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from mako.template import Template  # type: ignore[import-not-found,import-untyped,unused-ignore]

    class Lookup(TemplateCollection):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            self.files: dict[str, str] = {}

        def made(self, text: str, uri: str, path: str) -> Any:
            self.files[uri] = path
            return Template(text, uri=uri, lookup=self, strict_undefined=True)  # as Salt has it

        def adjust_uri(self, uri: str, relativeto: str) -> str:
            if uri.startswith(("salt://", "/")):
                return uri
            return os.path.normpath(os.path.join(os.path.dirname(relativeto), uri))

        def get_template(self, uri: str, relativeto: str | None = None) -> Any:
            name = uri.removeprefix("salt://")
            path = scope.renderer.find(name, scope.saltenv)
            if path is None:
                hint = scope.renderer.missing_hint(name, scope.saltenv)
                raise RenderError(f"the template {uri} does not exist", Source(scope.path), hint)
            return self.made(
                read_text(path, scope.renderer.opts), uri.removeprefix("salt://").strip("/"), path
            )

    return Lookup()
