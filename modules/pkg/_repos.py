"""Execution functions of package sources, as Salt answers for apt."""

from __future__ import annotations

from typing import Any

from modules.pkg import apt_sources


def list_repos(**kwargs: Any) -> dict[str, list[dict[str, Any]]]:
    """The sources of packages by their addresses, those that are switched off included.

    {{ salt['pkg.list_repos']() }}
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for path in apt_sources.files():
        for group in apt_sources.grouped(path):
            combine_plans = {
                "suites": list(dict.fromkeys(each.dist for each in group)),
                "types": list(dict.fromkeys(each.type for each in group)),
                "uris": list(dict.fromkeys(each.uri for each in group)),
            }
            for source in group:
                found.setdefault(source.uri, []).append(_told(path, source, combine_plans))
    return found


def _told(
    path: str, source: apt_sources.Source, combine_plans: dict[str, list[str]]
) -> dict[str, Any]:
    options = dict(source.options)
    architectures = options.get("arch", "")
    return {
        "file": path,
        "comps": list(source.comps),
        "disabled": source.disabled,
        "enabled": not source.disabled,
        "dist": source.dist,
        "suites": combine_plans["suites"],
        "type": source.type,
        "types": combine_plans["types"],
        "uri": source.uri,
        "uris": combine_plans["uris"],
        "line": source.line,
        "architectures": architectures.split(",") if architectures else [],
        "signedby": options.get("signed-by", ""),
    }
