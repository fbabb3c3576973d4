# SPDX-License-Identifier: Apache-2.0
"""Python environments."""

from __future__ import annotations

from typing import Any

from modules import file
from modules.languages import pip, virtualenv
from runner.api import (
    AbsolutePath,
    Done,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    StateFailed,
    first_plan,
    open_at,
)
from runner.api.claims import makes
from runner.api.kinds import comes_after
from states import _run_as
from states.languages._requirements import files
from states.languages.pip import PipOptions, installed

DECIDES = {"managed": "system_site_packages python"}
owns = makes()


def dry_run_check(plan: Plan, name: str, user: str | None = None, **arguments: object) -> None:
    """Raise StateFailed where the caller may not make it, or not run a program as that user."""
    _run_as.dry_run_check(plan, name, user)
    if not file.lexists(name):
        file.refuse_put(name)


Where = tuple[str, str | None, str | None]  # the environment, who runs pip, and where


def managed(
    name: AbsolutePath,
    venv_bin: Line | None = None,
    requirements: Line | None = None,
    system_site_packages: bool = False,
    distribute: bool = False,
    use_wheel: bool = False,
    clear: bool = False,
    python: Line | None = None,
    extra_search_dir: OneOrMany[Line] | None = None,
    never_download: bool | None = None,
    prompt: Line | None = None,
    user: Name | None = None,
    cwd: AbsolutePath | None = None,
    index_url: Line | None = None,
    extra_index_url: OneOrMany[Line] | None = None,
    pre_releases: bool = False,
    no_deps: bool = False,
    pip_download: Line | None = None,
    pip_download_cache: Line | None = None,
    pip_exists_action: Line | None = None,
    pip_ignore_installed: bool = False,
    proxy: Line | None = None,
    use_vt: bool = False,
    env_vars: dict[Line, Line] | None = None,
    no_use_wheel: bool = False,
    pip_upgrade: bool = False,
    pip_pkgs: OneOrMany[Line] | None = None,
    pip_no_cache_dir: bool = False,
    pip_cache_dir: Line | None = None,
    process_dependency_links: bool = False,
    no_binary: OneOrMany[Line] | None = None,
) -> Planned:
    """Make sure that there is a Python environment, with some packages.

    name: The folder.
    venv_bin: The program virtualenv, by name or path; without it Python's own venv.
    requirements, index_url, extra_index_url, pre_releases, no_deps, proxy, no_binary: as of
      pip.installed.
    system_site_packages: Let it see the system's packages, too.
    distribute: ignored; setuptools took its place.
    use_wheel: refused; today's pip takes wheels by itself.
    clear: Make it anew in each run.
    python: The interpreter; without it the system's.
    extra_search_dir: ignored; where wheels of pip are looked for.
    never_download: ignored; today's tools do so without being asked.
    prompt: What the shell shows in front of its prompt.
    user: The user whose environment it is.
    cwd: The folder that pip runs in.
    pip_download: ignored; today's pip downloads by a command of its own.
    pip_download_cache: ignored; write pip_cache_dir.
    pip_exists_action: What pip does with a path that exists: `s`witch, `i`gnore, `w`ipe, `b`ackup
      or `a`bort.
    pip_ignore_installed: Install without regard to what is there.
    use_vt: ignored; there is no terminal to wait at.
    env_vars: Further variables for pip.
    no_use_wheel: refused; write no_binary.
    pip_upgrade: Bring the packages to their newest version.
    pip_pkgs: Packages beside those of requirements.
    pip_no_cache_dir: Have pip use no cache.
    pip_cache_dir: The folder of pip's cache.
    process_dependency_links: ignored; today's pip has it no more.

        /srv/app/venv:
          virtualenv.managed:
            - requirements: salt://app/requirements.txt
    """
    exists = virtualenv.is_there(name)
    if exists and not clear:
        virtualenv.refuse_lost_python(name)
    _needs_old_pip(name if exists else None, use_wheel=use_wheel, no_use_wheel=no_use_wheel)
    how = PipOptions(
        index_url=index_url,
        extra_index_url=extra_index_url,
        pre_releases=pre_releases,
        no_deps=no_deps,
        proxy=proxy,
        upgrade=pip_upgrade,
        ignore_installed=pip_ignore_installed,
        no_cache_dir=pip_no_cache_dir,
        cache_dir=pip_cache_dir,
        exists_action=pip_exists_action,
        no_binary=no_binary,
    )
    words: dict[str, Any] = {
        "bin_env": name,
        "user": user,
        "cwd": cwd,
        "env_vars": env_vars,
        "how": how,
    }
    place = (name, user, cwd)
    if not exists:
        virtualenv.refuse_place(name, user)
    wanted: dict[str, dict[str, Any]] = (
        {"requirements": {"requirements": requirements}} if requirements else {}
    )
    wanted |= {"packages": {"pkgs": list(pip_pkgs)}} if pip_pkgs else {}
    if exists and not clear:
        return (
            yield from _updated(
                {key: installed(name, **source, **words) for key, source in wanted.items()}, place
            )
        )
    virtualenv.refuse_program(venv_bin)
    files(requirements)  # which have to be there
    why = "there is no environment yet that could say what it would install" if wanted else None
    old = virtualenv.version(name) if exists else ""
    changes: dict[str, Any] = {"new": old}
    if exists:
        changes |= {"cleared_packages": pip.freeze(*place) if old else [], "old": old}
    comment = f"Virtualenv {name} is set to be {'cleared' if exists else 'created'}"
    yield Plan(changes, comment, exact=not wanted, why=why, provides=open_at(name))
    virtualenv.create(name, python, venv_bin, system_site_packages, user, clear, prompt)
    changes |= {"new": virtualenv.version(name)}
    done = f"{'Cleared existing' if exists else 'Created new'} virtualenv"
    before = pip.freeze(*place) if wanted else []
    for source in wanted.values():
        _carry_out(installed(name, **source, **words), done, changes)
    return Done(done, changes | (_packages(before, pip.freeze(*place)) if wanted else {}))


def _updated(parts: dict[str, Planned], place: Where) -> Planned:
    """Packages of an environment that is there."""
    looked = {key: plan for key, part in parts.items() if (plan := _plan_of(part))}
    if not looked:
        already = f"Virtualenv {place[0]} is already created"
        return Done("virtualenv exists", in_dry_run=already)
    exact = all(plan.exact for plan in looked.values())
    why = next((plan.why for plan in looked.values() if plan.why), None)
    planned = {"packages": {key: plan.changes for key, plan in looked.items()}}
    yield Plan(
        planned,
        "\n".join(plan.comment for plan in looked.values()),
        exact=exact,
        why=why,
        provides=open_at(place[0]),
    )
    before = pip.freeze(*place)
    for key in looked:
        _carry_out(parts[key], "virtualenv exists", {})
    return Done("virtualenv exists", _packages(before, pip.freeze(*place)))


def _plan_of(part: Planned) -> Plan | None:
    try:
        return first_plan(part)
    except StopIteration:
        return None


def _packages(before: list[str], after: list[str]) -> dict[str, Any]:
    """The changes by pip, as Salt tells it."""
    new, old = (
        [package for package in after if package not in before],
        [package for package in before if package not in after],
    )
    return {"packages": {"new": new or "", "old": old or ""}} if new or old else {}


def _carry_out(part: Planned, done: str, changes: dict[str, Any]) -> None:
    """Carry out a part, whether or not it has been looked at. Raises StateFailed with what was done
    before it.
    """
    try:
        for _ in part:
            pass
    except StateFailed as failure:
        raise StateFailed(f"{done}\n{failure.message}", changes=changes) from None


def _needs_old_pip(place: str | None, **options: bool) -> None:
    for option in (option for option, value in options.items() if value):
        had = f"The '{option}' option is only supported in pip between 1.4 and 9.0.3."
        raise StateFailed(f"{had} The version of pip detected was {pip.version(place)}.")


manage = managed  # its older name


autorequire = comes_after(
    "An environment comes after the folders above it, its user, and venv.",
    ("pkg", "python3-venv"),
    above="name",
    user="user",
)
