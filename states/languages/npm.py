# SPDX-License-Identifier: Apache-2.0
"""Packages of Node.js."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modules.languages import npm
from runner.api import AbsolutePath, Line, Name, Plan, Planned, here, open_at
from runner.api.opposite import Opposite, Removal
from states._run_as import dry_run_check as dry_run_check
from states._tools import Variables, explained

NON_IDEMPOTENT = {"installed": "with force_reinstall it installs in each run"}


def installed(
    name: Name,
    pkgs: list[Name] | None = None,
    dir: AbsolutePath | None = None,
    user: Name | None = None,
    force_reinstall: bool = False,
    registry: Line | None = None,
    env: Variables | None = None,
) -> Planned:
    """Make sure that packages are installed.

    name: One package, also with a version (name@1.2.3), a range (name@^1.2), a tag (name@latest),
      an address or the path of an archive.
    pkgs: Several packages.
    dir: The project; without it they are installed globally.
    user: The user who installs them.
    force_reinstall: Install packages again that are installed already.
    registry: The address of the registry that they come from.
    env: Further variables, as of cmd.run.

        express@^4:
          npm.installed:
            - dir: /srv/app
            - user: app

    Behaviour: Salt 3007's npm.installed; ranges and tags are compared by npm.
    """
    wanted = pkgs or [name]
    satisfied = f"Package(s) '{', '.join(wanted)}' satisfied by "
    with explained(f"Error looking up '{name}'"):
        packages = npm.list_(None, dir, user, env, 0)
        missing = [
            spec
            for spec in wanted
            if force_reinstall or not npm.is_met(spec, packages, dir, user, env)
        ]
    if not missing:
        return satisfied + ", ".join(_versions(packages, wanted))
    failed = f"Error installing '{name}'"
    with explained(failed, *(("npm", spec) for spec in missing)):
        changes = npm.would_change(missing, dir, user, registry, env)
    here.follows(*missing)
    if not changes and not force_reinstall:
        return satisfied + ", ".join(_versions(packages, wanted))
    listed = ", ".join(missing)
    pending = f"NPM package(s) '{listed}' are set to be installed"
    brought = open_at(dir, named=map(_bare, missing))
    yield Plan({"old": [], "new": missing}, pending, provides=brought)
    with explained(failed):
        npm.install(None, missing, dir, user, registry, env)
    return f"Package(s) '{listed}' successfully installed"


def _versions(packages: dict[str, dict[str, str]], wanted: list[str]) -> list[str]:
    """The packages that are installed, with their versions, for those that are wanted."""
    names = [npm.split_spec(spec)[0] for spec in wanted]
    return [
        f"{name}@{packages[name].get('version')}" if name in packages else spec
        for name, spec in zip(names, wanted, strict=True)
    ]


def removed(name: Name, dir: AbsolutePath | None = None, user: Name | None = None) -> Planned:
    """Make sure that a package is not installed.

    name: The package.
    dir: The project; without it the global packages.
    user: The user who removes it.

        express:
          npm.removed:
            - dir: /srv/app
    """
    with explained(f"Error uninstalling '{name}'"):
        packages = npm.list_(None, dir, user, None, 0)
    if name not in packages:
        return f"Package '{name}' is not installed"
    yield Plan({name: "Removed"}, f"Package '{name}' is set to be removed")
    with explained(f"Error removing package '{name}'"):
        npm.uninstall(name, dir, user)
    return f"Package '{name}' was successfully removed"


def bootstrap(name: AbsolutePath, user: Name | None = None, silent: bool = True) -> Planned:
    """Make sure that what a project's package.json asks for is installed in it.

    name: The directory of the project.
    user: The user who installs it.
    silent: Ignored; what npm prints is reported where it fails.

        /srv/app:
          npm.bootstrap:
            - user: app
    """
    failed = f"Error Bootstrapping '{name}'"
    with explained(failed, ("npm", name)):
        pending = npm.would_change([], name, user)
    if not pending:
        return "Directory is already bootstrapped"
    comment = f"{name} is set to be bootstrapped"
    yield Plan({name: "Bootstrapped"}, comment, provides=open_at(name))
    with explained(failed):
        npm.install(None, None, name, user)
    return "Directory was successfully bootstrapped"


def cache_cleaned(
    name: Name | None = None, user: Name | None = None, force: bool = False
) -> Planned:
    """Make sure that npm's cache has nothing of a package, or nothing at all.

    name: The package, or a key of the cache; null for all.
    user: The user whose cache it is.
    force: Remove all of the cache, which npm does only so.

        express:
          npm.cache_cleaned: []
        all of the cache:
          npm.cache_cleaned:
            - name: null
            - force: true
    """
    what = name or "packages"
    with explained(f"Error looking up cached {what}"):
        keys = npm.cache_list(name, user)
    if not keys:
        return f"Package {name} is not in the cache" if name else "The cache is empty"
    yield Plan({name or "cache": "Removed"}, f"Cached {what} set to be removed")
    with explained(f"Error cleaning cached {what}"):
        npm.cache_clean(name, user, None, force)
    return f"Cached {what} successfully removed"


def autorequire(
    name: str, dir: str | None = None, user: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """Packages come after npm, the user who installs them, and the project."""
    yield "pkg", "npm"
    yield "pkg", "nodejs"
    if user:
        yield "user", user
    for path in (dir, name if name.startswith("/") else None):
        if path:
            yield "file", path.rstrip("/")
            yield "file", f"{path.rstrip('/')}/package.json"


def _bare(spec: str) -> str:
    """A package without the version that is asked for."""
    return spec[:1] + spec[1:].partition("@")[0]  # a scope begins with @


def _packages(
    name: str, pkgs: Sequence[str] | None = None, **arguments: object
) -> Iterator[Removal]:
    """Each package, without the version that is asked for."""
    where = {key: arguments[key] for key in ("dir", "user") if arguments.get(key)}
    for spec in pkgs or [name]:
        bare = _bare(spec)
        thing = f"{bare} in {where.get('dir', 'the system')}"
        yield Removal(bare, where, {**where, "name": spec}, thing=thing)


OPPOSITE = {"installed": Opposite("removed", things=_packages)}
