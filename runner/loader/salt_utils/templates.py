"""salt.utils.templates: rendering."""

from __future__ import annotations

from typing import Any

from runner.api import here


def render_jinja_tmpl(tmplstr: str, context: dict[str, Any], tmplpath: str | None = None) -> str:
    """Render a text with Jinja."""
    given = {
        key: value
        for key, value in context.items()
        if key not in ("salt", "opts", "grains", "pillar")
    }
    return str(
        here.render(
            tmplstr,
            "jinja",
            given,
            file=tmplpath or "",
            saltenv=str(context.get("saltenv") or "base"),
        )
    )
