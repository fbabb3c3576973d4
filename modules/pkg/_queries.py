"""Which files packages have, and the other way round."""

from __future__ import annotations

from typing import Any

from modules.pkg.providers import require


def owner(*paths: str, **_: Any) -> Any:
    """Return the package that a file belongs to ("" when there is none); of several, a mapping.

    {{ salt['pkg.owner']('/usr/bin/env') }}
    """
    manager = require("ownership", "pkg.owner")
    owners = {path: manager.owner(path) for path in paths}
    return owners[paths[0]] if len(paths) == 1 else owners


def file_list(*packages: str, **_: Any) -> dict[str, list[str]]:
    """Return the files of installed packages, and what went wrong.

    {% for path in salt['pkg.file_list']('coreutils').files %}
    """
    manager = require("ownership", "pkg.file_list")
    files: list[str] = []
    errors: list[str] = []
    for name in packages:
        own = manager.file_list(name)
        files += own
        errors += [] if own else [f"package '{name}' is not installed"]
    return {"errors": errors, "files": files}
