"""The mako renderer, where Mako is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.errors import RenderError
from runner.model import Source
from runner.render.linemap import Rendered

if TYPE_CHECKING:
    from runner.render import Scope


def rendered(text: str, scope: Scope) -> Rendered:
    """A text rendered by Mako. Raises RenderError, with the line where Mako tells it."""
    try:
        from mako import exceptions  # type: ignore[import-not-found,import-untyped,unused-ignore]
        from mako.template import Template  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        hint = "install it beside runner: pip install Mako"
        raise RenderError("a mako template needs the Python package Mako", Source(scope.path, 1), hint) from None
    try:
        return Rendered(str(Template(text, strict_undefined=True).render(**scope.names)), scope.path)
    except exceptions.MakoException as error:
        raise RenderError(f"Mako: {error}", Source(scope.path, getattr(error, "lineno", 0) or 0)) from None
    except Exception as error:
        line = exceptions.RichTraceback().lineno or 0
        raise RenderError(f"Mako: {type(error).__name__}: {error}", Source(scope.path, line)) from None
