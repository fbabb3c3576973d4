"""Python packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from modules import pip
from runner.api import (
    OPEN,
    AbsolutePath,
    CommandFailed,
    Done,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    StateFailed,
    here,
)
from states._requirements import check, lines, met, name_of, spec_of


def installed(
    name: Name,
    pkgs: list[Name | dict[Name, Any]] | None = None,
    pip_bin: Line | None = None,
    requirements: OneOrMany[Line] | None = None,
    bin_env: AbsolutePath | None = None,
    use_wheel: bool | None = None,
    no_use_wheel: bool | None = None,
    log: Line | None = None,
    proxy: Line | None = None,
    timeout: int | None = None,
    repo: Line | None = None,
    mirrors: OneOrMany[Line] | None = None,
    editable: OneOrMany[Line] | None = None,
    find_links: OneOrMany[Line] | None = None,
    index_url: Line | None = None,
    extra_index_url: OneOrMany[Line] | None = None,
    no_index: bool = False,
    build: Line | None = None,
    target: AbsolutePath | None = None,
    download: Line | None = None,
    download_cache: Line | None = None,
    source: Line | None = None,
    upgrade: bool = False,
    force_reinstall: bool = False,
    ignore_installed: bool = False,
    exists_action: Line | None = None,
    no_deps: bool = False,
    no_install: bool = False,
    no_download: bool = False,
    install_options: OneOrMany[Line] | None = None,
    global_options: OneOrMany[Line] | None = None,
    user: Name | None = None,
    cwd: AbsolutePath | None = None,
    pre_releases: bool = False,
    cert: Line | None = None,
    allow_all_external: bool = False,
    allow_external: Line | None = None,
    allow_unverified: Line | None = None,
    process_dependency_links: bool = False,
    env_vars: dict[Line, Line] | None = None,
    use_vt: bool = False,
    trusted_host: OneOrMany[Line] | None = None,
    no_cache_dir: bool = False,
    cache_dir: Line | None = None,
    no_binary: OneOrMany[Line] | None = None,
    extra_args: OneOrMany[Line] | None = None,
    disable_version_check: bool = True,
) -> Planned:
    """Make sure that Python packages are installed.

    name: one package, also as `name==1.2` or `name>=1,<2`; pkgs: several; requirements: a file of
    them, or several (salt:// too). bin_env (pip_bin): the environment or the pip to use; without it
    the system's. user, cwd, env_vars: how pip runs. upgrade: to the newest version.
    force_reinstall, ignore_installed, no_deps, pre_releases, target, editable, no_binary,
    extra_args: as pip has them. index_url, extra_index_url, find_links, no_index, trusted_host,
    proxy, timeout, cert, cache_dir, no_cache_dir: where packages come from. source: where editable
    ones are kept. exists_action, log, global_options: as pip has them. repo: the same as a name
    that begins with git+https://. use_wheel, no_use_wheel, download_cache, disable_version_check,
    use_vt: accepted, today's pip needs them not. no_install, no_download, download, build, mirrors,
    install_options, allow_all_external, allow_external, allow_unverified, process_dependency_links:
    refused, today's pip has them no more.

        /srv/venv packages:
          pip.installed:
            - pkgs: [requests>=2.31, gunicorn]
            - bin_env: /srv/venv

    Behaviour: Salt 3008's pip.installed.
    """
    _refuse(
        no_install=no_install,
        no_download=no_download,
        download=download,
        build=build,
        mirrors=mirrors,
        install_options=install_options,
        allow_all_external=allow_all_external,
        allow_external=allow_external,
        allow_unverified=allow_unverified,
        process_dependency_links=process_dependency_links,
    )
    place = bin_env or pip_bin
    paths = _files(requirements)
    specs = (
        [spec_of(each) for each in pkgs]
        if pkgs
        else []
        if requirements or editable
        else [repo or name]
    )
    check(specs)
    words = _options(
        {
            "--proxy": proxy,
            "--timeout": timeout,
            "--index-url": index_url,
            "--target": target,
            "--cert": cert,
        },
        {
            "--extra-index-url": extra_index_url,
            "--find-links": find_links,
            "--trusted-host": trusted_host,
        },
        {
            "--no-index": no_index,
            "--pre": pre_releases,
            "--no-deps": no_deps,
            "--no-cache-dir": no_cache_dir,
        },
        {
            "--upgrade": upgrade,
            "--force-reinstall": force_reinstall,
            "--ignore-installed": ignore_installed,
        },
        {"--no-binary": no_binary, "--global-option": global_options, "--editable": editable},
        {"--cache-dir": cache_dir, "--exists-action": exists_action, "--log": log, "--src": source},
    )
    words += [*(extra_args or ()), *(word for path in paths for word in ("--requirement", path))]
    before = _present(f"Error installing '{name}'", place, user, cwd, target)
    missing = [spec for spec in specs if not met(spec, before)]
    always = upgrade or force_reinstall or ignore_installed or bool(editable) or bool(paths)
    if not missing and not always:
        return _already(specs)
    try:
        would = pip.would_install([*_without_log(words), *specs], place, user, cwd, env_vars)
    except StateFailed as failure:
        would = None
        if here.dry:
            told = _broken(specs, requirements, editable) + failure.message
            raise StateFailed(
                told, changes={}, missing=[("pip", each) for each in (*specs, name)]
            ) from None
    if (
        would is not None
        and (not would or (target and not _changes(before, would)))
        and not force_reinstall
    ):
        return "Requirements were already installed." if paths else _already(specs)
    planned: dict[str, Any] = (
        _changes(before, would)
        if would is not None
        else {f"{name_of(spec)}==???": "Installed" for spec in missing}
    )
    planned = {"requirements": True} if paths else planned
    told = _pending(specs, bool(pkgs), requirements, editable)
    yield Plan(
        planned,
        told,
        exact=would is not None,
        why="pip cannot say what it would install",
        provides=OPEN,
    )
    try:
        pip.change(["install", *words, *specs], place, user, cwd, env_vars)
    except StateFailed as failure:
        left = _changes(before, pip.list_(None, place, user, cwd, target))
        raise StateFailed(
            _broken(specs, requirements, editable) + failure.message, changes=left
        ) from None
    if requirements:
        return Done(
            f"Successfully processed requirements file {_named(requirements)}.",
            {"requirements": True},
        )
    after = pip.list_(None, place, user, cwd, target)
    again = would or {} if force_reinstall else {}
    changed = {
        key: version for key, version in after.items() if before.get(key) != version or key in again
    }
    kept = (
        []
        if always
        else [
            f"Python package {spec} was already installed" for spec in specs if spec not in missing
        ]
    )
    return Done(
        "\n".join([*kept, "All packages were successfully installed"]), _changes({}, changed)
    )


def _present(
    told: str, place: str | None, user: str | None, cwd: str | None, target: str | None = None
) -> dict[str, str]:
    """What is installed. Raises StateFailed when there is no pip to ask."""
    try:
        return pip.list_(None, place, user, cwd, target)
    except CommandFailed as failure:
        raise StateFailed(f"{told}: {failure.message}", missing=failure.missing) from None


def _pending(
    specs: list[str], many: bool, requirements: list[str] | None, editable: list[str] | None
) -> str:
    if requirements:
        return f"Requirements file '{_named(requirements)}' will be processed."
    if editable and not specs:
        mode = 'editable mode (i.e. setuptools "develop mode")'
        return f"Package will be installed in {mode} from {', '.join(editable)}."
    if many:
        return "\n".join(["Python package(s) set to be installed:", *specs])
    return f"Python package {specs[0]} is set to be installed"


def _broken(specs: list[str], requirements: list[str] | None, editable: list[str] | None) -> str:
    if requirements:
        return f'Unable to process requirements file "{_named(requirements)}" Error: '
    if editable and not specs:
        return f"Unable to install from VCS checkout {', '.join(editable)}. Error: "
    return f"Failed to install packages: {', '.join(specs)}. Error: "


def removed(
    name: Name,
    pkgs: list[Name] | None = None,
    requirements: OneOrMany[Line] | None = None,
    bin_env: AbsolutePath | None = None,
    log: Line | None = None,
    proxy: Line | None = None,
    timeout: int | None = None,
    user: Name | None = None,
    cwd: AbsolutePath | None = None,
    use_vt: bool = False,
) -> Planned:
    """Make sure that Python packages are not installed. Arguments as those of pip.installed.

        simplejson:
          pip.removed:
            - bin_env: /srv/venv

    Behaviour: Salt 3008's pip.removed.
    """
    have = {
        pip.normal(each): each
        for each in _present(f"Error uninstalling '{name}'", bin_env, user, cwd)
    }
    names = [name_of(each) for each in pkgs or [name]]
    if requirements:
        names = [name_of(line) for path in _files(requirements) for line in lines(path)]
    there = [have[pip.normal(each)] for each in names if pip.normal(each) in have]
    if not there:
        return "Package is not installed." if len(names) == 1 else "Packages are not installed."
    yield Plan(dict.fromkeys(there, "Removed"), _going(there))
    pip.change(["uninstall", "--yes", *there], bin_env, user, cwd)
    return f"Package{'s were' if len(there) > 1 else ' was'} successfully removed."


def uptodate(
    name: Name,
    bin_env: AbsolutePath | None = None,
    user: Name | None = None,
    cwd: AbsolutePath | None = None,
    use_vt: bool = False,
) -> Planned:
    """Make sure that all Python packages of an environment are in their newest version.

        /srv/venv is up to date:
          pip.uptodate:
            - bin_env: /srv/venv

    Behaviour: Salt 3008's pip.uptodate.
    """
    newer = pip.list_upgrades(bin_env, user, cwd)
    here.follows(repr(newer))
    if not newer:
        return "System is already up-to-date."
    before = pip.list_(None, bin_env, user, cwd)
    changes = {
        each: {"old": before.get(each, ""), "new": version} for each, version in newer.items()
    }
    yield Plan(changes, "System update will be performed", provides=OPEN)
    pip.change(["install", "--upgrade", *newer], bin_env, user, cwd)
    return "Upgrade ran successfully"


def _going(names: list[str]) -> str:
    several = len(names) > 1
    return (
        f"Package{'s' if several else ''} {', '.join(names)} {'are' if several else 'is'} set to be"
        " removed"
    )


NON_IDEMPOTENT = {
    "installed": "with force_reinstall, ignore_installed or editable it installs in each run"
}


def _without_log(words: list[str]) -> list[str]:
    """The words of a look: it writes nothing, no log either."""
    if "--log" not in words:
        return words
    at = words.index("--log")
    return [*words[:at], *words[at + 2 :]]


def _refuse(**given: Any) -> None:
    for argument, value in given.items():
        if value:
            raise StateFailed(f"{argument}: today's pip has this no more; take it out")


def autorequire(
    name: str, bin_env: str | None = None, user: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """Packages come after their environment, the user who installs them, and pip."""
    if bin_env:
        yield "virtualenv", bin_env.rstrip("/")
    if user:
        yield "user", user
    yield "pkg", "python3-pip"


def _options(*groups: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for key, value in (pair for group in groups for pair in group.items()):
        if value is True:
            words.append(key)
        elif isinstance(value, list):
            words += [word for each in value for word in (key, str(each))]
        elif value not in (None, False):
            words += [key, str(value)]
    return words


def _already(specs: Sequence[str]) -> str:
    told = [f"Python package {spec} was already installed" for spec in specs]
    return "\n".join([*told, "All specified packages are already installed"])


def _changes(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    return {
        f"{name}=={version}": "Installed"
        for name, version in after.items()
        if before.get(name) != version
    }


def _named(requirements: OneOrMany[str]) -> str:
    return str(requirements[0] if len(requirements) == 1 else requirements)


def _files(requirements: OneOrMany[str] | None) -> list[str]:
    """The files of an argument: one or several, also as a text with commas."""
    named = [requirements] if isinstance(requirements, str) else requirements or ()
    return [_file(part) for each in named for part in each.split(",")]


def _file(requirements: str) -> str:
    path = here.tree.fetch(requirements, here.saltenv)
    if path is None:
        missing = ("file", requirements) if requirements.startswith("/") else None
        raise StateFailed(f"requirements file '{requirements}' not found", missing=missing)
    return path
