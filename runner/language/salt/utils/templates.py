# SPDX-License-Identifier: Apache-2.0
"""salt.utils.templates: rendering."""

from __future__ import annotations

from typing import Any

from runner.api import RunnerError, here, reason_of


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


def _engine(name: str) -> Any:
    def render(
        sfn: str, to_str: bool = True, context: Any = None, tmplpath: str | None = None, **more: Any
    ) -> dict[str, Any]:
        given = {**(context or {}), **(more.get("kws") or {})}
        try:
            with open(sfn, encoding="utf-8") as file:
                text = here.render(file.read(), name, given, file=tmplpath or sfn)
        except (OSError, RunnerError) as problem:
            return {"result": False, "data": reason_of(problem)}
        return {"result": True, "data": text}

    return render


TEMPLATE_DIRNAME = "/usr/share/salt/templates"  # of Salt's own, which are not here
TEMPLATE_REGISTRY = {name: _engine(name) for name in ("jinja", "mako", "py")}
JINJA, MAKO, PY = TEMPLATE_REGISTRY["jinja"], TEMPLATE_REGISTRY["mako"], TEMPLATE_REGISTRY["py"]
