# SPDX-License-Identifier: Apache-2.0
"""Python packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from modules.languages import pip
from runner.api import (
    AbsolutePath,
    Done,
    Duration,
    Group,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    Record,
    StateFailed,
    here,
    open_at,
)
from runner.api.opposite import Opposite, Removal
from states._run_as import dry_run_check as dry_run_check
from states._tools import explained
from states.languages._requirements import check, files, lines, met, name_of, spec_of

_ODD = {"pre_releases": "--pre", "global_options": "--global-option", "source": "--src"}


class PipOptions(Record):
    """What pip has an option for, in the order that pip gets them.

    proxy: The proxy that pip goes through.
    timeout: Seconds to wait for an answer of a server.
    index_url: The address of the index, instead of PyPI.
    target: The folder that the packages are put in, instead of the environment.
    cert: A file with the authorities that pip trusts.
    extra_index_url: The addresses of further indexes.
    find_links: Further places with packages: addresses, folders.
    trusted_host: Servers that are trusted without a valid certificate.
    no_index: Look only in find_links, in no index.
    pre_releases: Take also versions that are not finished.
    no_deps: Do not install what the packages need.
    no_cache_dir: Use no cache.
    upgrade: Bring the packages to their newest version.
    force_reinstall: Install packages anew that are there already.
    ignore_installed: Install without regard to what is there.
    no_binary: Packages that are built from their sources, `:all:` for all.
    global_options: Options for setup.py, before its command.
    editable: Projects that are installed as they lie, in a folder or a repository.
    cache_dir: The folder of the cache.
    exists_action: What pip does with a path that exists: `s`witch, `i`gnore, `w`ipe, `b`ackup or
      `a`bort.
    log: The file that pip writes a log to.
    source: The folder that editable projects from repositories are kept in.
    """

    proxy: Line | None = None
    timeout: Duration[int] | None = None
    index_url: Line | None = None
    target: AbsolutePath | None = None
    cert: Line | None = None
    extra_index_url: OneOrMany[Line] | None = None
    find_links: OneOrMany[Line] | None = None
    trusted_host: OneOrMany[Line] | None = None
    no_index: bool = False
    pre_releases: bool = False
    no_deps: bool = False
    no_cache_dir: bool = False
    upgrade: bool = False
    force_reinstall: bool = False
    ignore_installed: bool = False
    no_binary: OneOrMany[Line] | None = None
    global_options: OneOrMany[Line] | None = None
    editable: OneOrMany[Line] | None = None
    cache_dir: Line | None = None
    exists_action: Line | None = None
    log: Line | None = None
    source: Line | None = None

    def words(self) -> list[str]:
        """Return them as pip has them."""
        words: list[str] = []
        for name, value in self._asdict().items():
            option = _ODD.get(name, f"--{name.replace('_', '-')}")
            if value is True:
                words.append(option)
            elif isinstance(value, list):
                words += [word for item in value for word in (option, str(item))]
            elif value not in (None, False):
                words += [option, str(value)]
        return words


class FormerOptions(Record):
    """What today's pip has no option for.

    no_install: refused; today's pip always installs.
    no_download: refused; write no_index and find_links.
    download: refused; today's pip downloads by a command of its own.
    build: refused; today's pip chooses where it builds.
    mirrors: refused; today's pip knows no mirrors.
    install_options: refused; today's pip hands no options to setup.py install.
    allow_all_external: refused; today's indexes have no external packages.
    allow_external: refused; write the address of the package.
    allow_unverified: refused; write trusted_host.
    process_dependency_links: refused; write `name @ address` in what needs it.
    """

    no_install: bool = False
    no_download: bool = False
    download: Line | None = None
    build: Line | None = None
    mirrors: OneOrMany[Line] | None = None
    install_options: OneOrMany[Line] | None = None
    allow_all_external: bool = False
    allow_external: Line | None = None
    allow_unverified: Line | None = None
    process_dependency_links: bool = False

    def refuse(self) -> None:
        """Raise StateFailed for what is given all the same."""
        for name, value in self._asdict().items():
            if value:
                raise StateFailed(f"{name}: today's pip has this no more; take it out")


def installed(
    name: Name,
    pkgs: list[Name | dict[Name, Any]] | None = None,
    pip_bin: Line | None = None,
    requirements: OneOrMany[Line] | None = None,
    bin_env: AbsolutePath | None = None,
    use_wheel: bool | None = None,
    no_use_wheel: bool | None = None,
    repo: Line | None = None,
    download_cache: Line | None = None,
    user: Name | None = None,
    cwd: AbsolutePath | None = None,
    env_vars: dict[Line, Line] | None = None,
    use_vt: bool = False,
    extra_args: OneOrMany[Line] | None = None,
    disable_version_check: bool = True,
    how: Annotated[PipOptions, Group()] = PipOptions(),
    former: Annotated[FormerOptions, Group()] = FormerOptions(),
) -> Planned:
    """Make sure that Python packages are installed.

    name: One package, also as `name==1.2` or `name>=1,<2`; with pkgs, requirements or editable only
      the state's name.
    pkgs: Several packages.
    pip_bin: An older name of bin_env.
    requirements: A file with packages, or several (salt:// too).
    bin_env: The environment, or the pip to use; without it the system's.
    use_wheel: ignored; pip takes wheels by itself.
    no_use_wheel: ignored; write no_binary.
    repo: The same as a name that begins with git+https://.
    download_cache: ignored; write cache_dir.
    user: The user that pip runs as; without it the caller.
    cwd: The folder that pip runs in.
    env_vars: Further variables for pip.
    use_vt: ignored; pip has no terminal to wait at.
    extra_args: Further options of pip.
    disable_version_check: ignored; pip never looks for a newer pip.

        /srv/venv packages:
          pip.installed:
            - pkgs: [requests>=2.31, gunicorn]
            - bin_env: /srv/venv
    """
    former.refuse()
    where = _Where(bin_env or pip_bin, user, cwd)
    paths = files(requirements)
    specs = [spec_of(package) for package in pkgs or ()]
    if not pkgs and not requirements and not how.editable:
        specs = [repo or name]
    check(specs)
    words = [
        *how.words(),
        *(extra_args or ()),
        *(word for path in paths for word in ("--requirement", path)),
    ]
    before = _present(f"Error installing '{name}'", *where, how.target)
    missing = [spec for spec in specs if not met(spec, before)]
    always = how.upgrade or how.force_reinstall or how.ignore_installed
    always = always or bool(how.editable) or bool(paths)
    if not missing and not always:
        return _already(specs)
    broken = _broken(specs, requirements, how.editable)
    would, problem = _would_install([*_without_log(words), *specs], where, env_vars)
    nothing_new = would is not None and (not would or (how.target and not _changes(before, would)))
    if nothing_new and not how.force_reinstall:
        return "Requirements were already installed." if paths else _already(specs)

    def refuse() -> None:
        if problem:
            lacking = [("pip", each) for each in [*specs, name]]
            raise StateFailed(broken + problem.message, changes={}, missing=lacking) from None
        _refuse_managed(where, broken, env_vars, words)

    planned: dict[str, Any] = {f"{name_of(spec)}==???": "Installed" for spec in missing}
    planned = _changes(before, would) if would is not None else planned
    yield Plan(
        {"requirements": True} if paths else planned,
        _pending(specs, bool(pkgs), requirements, how.editable),
        exact=would is not None,
        why="pip cannot say what it would install",
        provides=_brought(where.place, how.target, [*specs, *(would or ())]),
        in_dry_run=refuse,
    )
    try:
        pip.change(["install", *words, *specs], *where, env_vars, would)
    except StateFailed as failure:
        left = _changes(before, pip.list_(None, *where, how.target))
        raise StateFailed(broken + failure.message, changes=left) from None
    if requirements:
        done = f"Successfully processed requirements file {_named(requirements)}."
        return Done(done, {"requirements": True})
    again = would or {} if how.force_reinstall else {}
    changed = {
        key: version
        for key, version in pip.list_(None, *where, how.target).items()
        if before.get(key) != version or key in again
    }
    already = [] if always else [spec for spec in specs if spec not in missing]
    lines = [f"Python package {spec} was already installed" for spec in already]
    return Done(
        "\n".join([*lines, "All packages were successfully installed"]), _changes({}, changed)
    )


def _brought(bin_env: str | None, target: str | None, specs: Iterable[str]) -> list[Any]:
    """What packages bring: files in their environment, and programs that are called like them."""
    names = (name_of(spec) for spec in specs)
    places = [("made", path.rstrip("/")) for path in (bin_env, target) if path]
    return [*open_at(named=[name for name in names if name]), *places]


class _Where(Record):
    """The environment whose pip is run, as which user, in which folder."""

    place: str | None
    user: str | None
    cwd: str | None


def _would_install(
    words: list[str], where: _Where, env_vars: dict[str, str] | None
) -> tuple[dict[str, str] | None, StateFailed | None]:
    """(What pip would install; None when it cannot say, what it has against it)."""
    try:
        return pip.would_install(words, *where, env_vars), None
    except StateFailed as failure:
        return None, failure


def _refuse_managed(
    where: _Where, broken: str, env_vars: dict[str, str] | None = None, words: Sequence[str] = ()
) -> None:
    """Raise StateFailed where pip will refuse to change a Python of the system."""
    with explained(broken, changes={}):
        pip.refuse_managed(*where, env_vars, words)


def _present(
    problem: str, place: str | None, user: str | None, cwd: str | None, target: str | None = None
) -> dict[str, str]:
    """Return what is installed. Raises StateFailed when there is no pip to ask."""
    with explained(problem):
        return pip.list_(None, place, user, cwd, target)


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
    timeout: Duration[int] | None = None,
    user: Name | None = None,
    cwd: AbsolutePath | None = None,
    use_vt: bool = False,
) -> Planned:
    """Make sure that Python packages are not installed.

    name: One package, or with pkgs or requirements only the state's name.
    pkgs: Several packages.
    requirements: A file with the packages that go, or several.
    bin_env, user, cwd: As of pip.installed.
    log: ignored; the log of pip.
    proxy: ignored; nothing is fetched.
    timeout: ignored; no server is asked.
    use_vt: ignored; pip has no terminal to wait at.

        simplejson:
          pip.removed:
            - bin_env: /srv/venv
    """
    have = {
        pip.normal(package): package
        for package in _present(f"Error uninstalling '{name}'", bin_env, user, cwd)
    }
    names = [name_of(package) for package in pkgs or [name]]
    if requirements:
        names = [name_of(line) for path in files(requirements) for line in lines(path)]
    there = [have[pip.normal(package)] for package in names if pip.normal(package) in have]
    if not there:
        return "Package is not installed." if len(names) == 1 else "Packages are not installed."
    where = _Where(bin_env, user, cwd)
    removed = dict.fromkeys(there, "Removed")
    yield Plan(removed, _going(there), in_dry_run=partial(_refuse_managed, where, ""))
    pip.change(["uninstall", "--yes", *there], *where, becomes=dict.fromkeys(there))
    return f"Package{'s were' if len(there) > 1 else ' was'} successfully removed."


def uptodate(
    name: Name,
    bin_env: AbsolutePath | None = None,
    user: Name | None = None,
    cwd: AbsolutePath | None = None,
    use_vt: bool = False,
) -> Planned:
    """Make sure that all Python packages of an environment are in their newest version.

    name: Names the state.
    bin_env, user, cwd: As of pip.installed.
    use_vt: as of pip.installed.

        /srv/venv is up to date:
          pip.uptodate:
            - bin_env: /srv/venv
    """
    newer = pip.list_upgrades(bin_env, user, cwd)
    here.follows(repr(newer))
    if not newer:
        return "System is already up-to-date."
    before = pip.list_(None, bin_env, user, cwd)
    changes = {
        package: {"old": before.get(package, ""), "new": version}
        for package, version in newer.items()
    }
    refuse = partial(_refuse_managed, _Where(bin_env, user, cwd), "")
    brought = _brought(bin_env, None, newer)
    yield Plan(changes, "System update will be performed", provides=brought, in_dry_run=refuse)
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


def autorequire(
    name: str, bin_env: str | None = None, user: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """Packages come after their environment, the user who installs them, and pip."""
    if bin_env:
        yield "virtualenv", bin_env.rstrip("/")
    if user:
        yield "user", user
    yield "pkg", "python3-pip"


def _already(specs: Sequence[str]) -> str:
    comments = [f"Python package {spec} was already installed" for spec in specs]
    return "\n".join([*comments, "All specified packages are already installed"])


def _changes(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    return {
        f"{name}=={version}": "Installed"
        for name, version in after.items()
        if before.get(name) != version
    }


def _named(requirements: OneOrMany[str]) -> str:
    return str(requirements[0] if len(requirements) == 1 else requirements)


def _packages(
    name: str, pkgs: Sequence[Any] | None = None, requirements: object = None, **arguments: Any
) -> Iterator[Removal]:
    """Each package, in its environment; those of requirements are in files of the tree."""
    given = {key: arguments[key] for key in ("bin_env", "user", "cwd") if arguments.get(key)}
    where = arguments.get("bin_env") or "the system"
    for entry in () if requirements else pkgs or [name]:
        spec = str(next(iter(entry))) if isinstance(entry, Mapping) else str(entry)
        bare = name_of(spec)
        yield Removal(bare, given, {**given, "name": spec}, thing=f"{bare} in {where}")


OPPOSITE = {"installed": Opposite("removed", things=_packages)}
