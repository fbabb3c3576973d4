"""Python environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import pip, virtualenv
from runner.api import OPEN, AbsolutePath, Done, OneOrMany, Plan, Planned, together
from states.pip import installed


def managed(
    name: AbsolutePath,
    venv_bin: str | None = None,
    requirements: str | None = None,
    system_site_packages: bool = False,
    distribute: bool = False,
    use_wheel: bool = False,
    clear: bool = False,
    python: str | None = None,
    extra_search_dir: OneOrMany[str] | None = None,
    never_download: bool | None = None,
    prompt: str | None = None,
    user: str | None = None,
    cwd: AbsolutePath | None = None,
    index_url: str | None = None,
    extra_index_url: OneOrMany[str] | None = None,
    pre_releases: bool = False,
    no_deps: bool = False,
    pip_download: str | None = None,
    pip_download_cache: str | None = None,
    pip_exists_action: str | None = None,
    pip_ignore_installed: bool = False,
    proxy: str | None = None,
    use_vt: bool = False,
    env_vars: dict[str, str] | None = None,
    no_use_wheel: bool = False,
    pip_upgrade: bool = False,
    pip_pkgs: OneOrMany[str] | None = None,
    pip_no_cache_dir: bool = False,
    pip_cache_dir: str | None = None,
    process_dependency_links: bool = False,
    no_binary: OneOrMany[str] | None = None,
) -> Planned:
    """Make sure that there is a Python environment, with some packages.

    name: the folder. python: the interpreter. venv_bin: virtualenv or its path; without it Python's own venv.
    system_site_packages: see the system's packages, too. clear: make it anew. user: whose it is. prompt: its prompt.
    requirements, pip_*, index_url, extra_index_url, pre_releases, no_deps, no_binary, proxy, cwd, env_vars: packages
    and how to get them, as with pip.installed. Others: accepted; today's tools have them no more.

        /srv/app/venv:
          virtualenv.managed:
            - requirements: salt://app/requirements.txt

    Behaviour: Salt 3008's virtualenv.managed.
    """
    there = virtualenv.is_there(name)
    words: dict[str, Any] = {
        "bin_env": name,
        "user": user,
        "cwd": cwd,
        "index_url": index_url,
        "extra_index_url": extra_index_url,
        "pre_releases": pre_releases,
        "no_deps": no_deps,
        "proxy": proxy,
        "upgrade": pip_upgrade,
        "ignore_installed": pip_ignore_installed,
        "no_cache_dir": pip_no_cache_dir,
        "cache_dir": pip_cache_dir,
        "exists_action": pip_exists_action,
        "no_binary": no_binary,
        "env_vars": env_vars,
    }
    if there and not clear:
        parts = {}
        if requirements:
            parts["requirements"] = installed(name, requirements=requirements, **words)
        if pip_pkgs:
            parts["packages"] = installed(name, pkgs=list(pip_pkgs), **words)
        done = yield from together(parts)
        changed = {key: value for each in done.values() for key, value in (each.changes or {}).items()}
        return Done("Updated packages", changed) if changed else "virtualenv exists"
    told = f"Virtualenv {name} is set to be {'cleared' if there else 'created'}"
    has_packages = bool(requirements or pip_pkgs)
    changes: dict[str, Any] = {"cleared_packages" if there else "new": name}
    why = "there is no environment yet that could say what it would install" if has_packages else None
    yield Plan(changes, told, sure=not has_packages, why=why, provides=OPEN)
    virtualenv.create(name, python, venv_bin, system_site_packages, user, clear, prompt)
    if requirements:
        _run(installed(name, requirements=requirements, **words))
    if pip_pkgs:
        _run(installed(name, pkgs=list(pip_pkgs), **words))
    if has_packages:
        changes = {**changes, "packages": pip.list_(None, name, user, cwd)}
    return Done(f"{'Cleared' if there else 'Created new'} virtualenv", changes)


manage = managed  # its older name


def _run(part: Planned) -> None:
    """Carry out a part whose look was not possible before: there was no environment yet."""
    for _ in part:
        pass


def autorequire(name: str, user: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """An environment comes after the folders above it, its user, and venv."""
    if user:
        yield "user", user
    yield "pkg", "python3-venv"
    above = name.rstrip("/").rpartition("/")[0]
    while above:
        yield "file", above
        above = above.rpartition("/")[0]


__all__ = ["autorequire", "manage", "managed"]
