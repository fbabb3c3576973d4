# SPDX-License-Identifier: Apache-2.0
"""Looks at packages: their files, details and versions."""

from __future__ import annotations

from modules import _paths
from modules.pkg._planned import held
from modules.pkg.package_manager import Shipped
from modules.pkg.providers import provider, require
from runner.api import StateFailed, for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def owner(*paths: str, **_: Any) -> Any:
    """Return the package that a file belongs to ("" when there is none); of several, a mapping.

    {{ salt['pkg.owner']('/usr/bin/env') }}
    """
    manager = require("ownership", "pkg.owner")
    owners = {path: manager.owner(path) for path in paths}
    return owners[paths[0]] if len(paths) == 1 else owners


@for_states
def owners(paths: Sequence[str]) -> dict[str, str]:
    """Return the packages of those paths that belong to one, by this name or the one that their
    links lead to.
    """
    try:
        manager = provider()
    except StateFailed:  # a machine without packages
        return {}
    if not manager.has("ownership") or not paths:
        return {}
    real = {path: _paths.realpath(path) for path in paths}
    names = [*dict.fromkeys([*paths, *real.values()])]
    several = getattr(manager, "owners", None)
    found = several(names) if several else {name: manager.owner(name) for name in names}
    return {
        path: owner for path in paths if (owner := found.get(path) or found.get(real[path], ""))
    }


@for_states
def shipped() -> Shipped | None:
    """Return what packages brought to this machine; None where that is not known: the provider has
    no `shipped`.
    """
    try:
        look: Callable[[], Shipped] | None = getattr(provider(), "shipped", None)
    except StateFailed:  # a machine without packages
        return None
    return look() if look else None


def list_repo_pkgs(*args: str, byrepo: bool = False, **_: Any) -> dict[str, list[str]]:
    """Return the versions of packages in the repositories, the newest first, by name; without
    names of all packages, where the package manager lists them.

    {{ salt['pkg.list_repo_pkgs']('rclone')['rclone'] | first }}
    """
    if byrepo:
        raise StateFailed("pkg.list_repo_pkgs: `byrepo` is not known here: name packages")
    manager = provider()
    if args:
        found = {name: manager.versions(name) for name in args}
        return {name: versions for name, versions in found.items() if versions}
    every: Callable[[], dict[str, list[str]]] | None = getattr(manager, "available", None)
    if every is None:
        raise StateFailed("pkg.list_repo_pkgs: name packages; they are not listed here")
    return every()


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


def info_installed(
    *names: str, attr: str | Sequence[str] | None = None, failhard: bool = True, **_: Any
) -> dict[str, dict[str, Any]]:
    """Return details of installed packages (of all without names): version, architecture, license,
    summary, ...

    attr: only these, a list or with commas. failhard: raise StateFailed for a package that is not
    installed, instead of leaving it out.

    {{ salt['pkg.info_installed']('bash').bash.version }}
    """
    described = require("information", "pkg.info_installed").info_installed(names)
    missing = [name for name in names if name not in described]
    if missing and failhard:
        raise StateFailed(f"package {missing[0]} is not installed")
    if attr is None:
        return described
    wanted = attr.replace(" ", "").split(",") if isinstance(attr, str) else [*attr]
    return {
        name: {key: details[key] for key in wanted if key in details}
        for name, details in described.items()
    }


def show(
    *names: str, filter: str | Sequence[str] | None = None, **_: Any
) -> dict[str, dict[str, dict[str, str]]]:
    """Return what the package lists say of packages, by name and version.

    filter: only these fields, a list or with commas; capitals do not count.

    {{ salt['pkg.show']('bash', filter='Homepage') }}
    """
    described = require("descriptions", "pkg.show").show(names)
    if filter is None:
        return described
    listed = filter.split(",") if isinstance(filter, str) else filter
    wanted = {str(field).strip().lower() for field in listed}
    return {
        name: {
            version: {key: value for key, value in fields.items() if key.lower() in wanted}
            for version, fields in versions.items()
        }
        for name, versions in described.items()
    }


def list_downloaded(**_: Any) -> dict[str, dict[str, Any]]:
    """Return the packages that lie in the package manager's cache: their versions with path and
    size.

    {{ salt['pkg.list_downloaded']() }}
    """
    return require("downloadable", "pkg.list_downloaded").archives()


def list_holds(**_: Any) -> list[str]:
    """Return the packages that are kept at their version.

    {{ salt['pkg.list_holds']() }}
    """
    require("holdable", "pkg.list_holds")
    return held()


def group_info(name: str, **_: Any) -> dict[str, Any]:
    """Return the packages of a group: which belong to it in any case, by default, if wanted. Raises
    StateFailed for an unknown group.

    {{ salt['pkg.group_info']('development').mandatory }}
    """
    group = require("groups", "pkg.group_info").group(name)
    if group is None:
        raise StateFailed(f"Group '{name}' not found")
    kinds = group._asdict()
    return {"group": name, **{kind: list(packages) for kind, packages in kinds.items()}}


def verify(*names: str, ignore_types: str | Sequence[str] = (), **_: Any) -> list[str]:
    """Return those packages of which installed files were altered (of all without names).

    ignore_types: files that do not count, such as config and doc.

    {{ salt['pkg.verify']('openssh-server') }}
    """
    ignored = ignore_types.split(",") if isinstance(ignore_types, str) else [*ignore_types]
    manager = require("verifiable", "pkg.verify")
    return manager.verify(names or tuple(manager.list_pkgs()), ignored)
