# SPDX-License-Identifier: Apache-2.0
"""Python packages, with pip."""

from __future__ import annotations

import itertools
import json
import os
import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from modules import _paths, cmd
from modules._machine import fetching
from modules._machine.scripts import temporary_script
from modules._planned.machine import merged
from modules._planned.overlay import planned_machine
from modules.git import _run
from modules.languages import virtualenv
from runner.api import (
    CommandFailed,
    StateFailed,
    Unforeseen,
    cached_look,
    changer,
    leave_pending,
    refuse_unforeseen,
)
from runner.api.planning import in_stand_in


def _argv(bin_env: str | None) -> list[str]:
    """The words that call pip: of an environment, a pip, or the system's."""
    if not bin_env:
        python = cmd.which("python3")
        if python is None:
            raise CommandFailed(
                "there is no python3 on this machine", missing=("command", "python3")
            )
        return [python, "-m", "pip"]
    if _paths.isdir(bin_env):
        if not _paths.exists(os.path.join(bin_env, "bin/python")):
            raise CommandFailed(
                f"there is no Python environment at {bin_env}", missing=("file", bin_env)
            )
        return [virtualenv.python_of(bin_env), "-m", "pip"]
    if not _paths.exists(bin_env):
        raise CommandFailed(f"there is no {bin_env}", missing=("file", bin_env))
    return [bin_env, "-m", "pip"] if os.path.basename(bin_env).startswith("python") else [bin_env]


QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_NO_COLOR": "1"}
# a look writes no compiled files beside what it looks at
LEAVES_NOTHING = {"PYTHONDONTWRITEBYTECODE": "1"}


IMPATIENT = {"PIP_RETRIES": "1"}


def normal(name: str) -> str:
    """A name as packages are compared: case, dots and underscores do not count."""
    return re.sub(r"[-_.]+", "-", name.partition("[")[0]).lower()


@cached_look("pip")
def list_(
    prefix: str | None = None,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    target: str | None = None,
) -> dict[str, str]:
    """The installed packages with their versions. Raises CommandFailed when pip does not work.

    prefix: only those whose name begins so. target: those that were installed into a folder.

    {{ salt['pip.list'](bin_env='/srv/venv') }}
    """
    argv = [*_argv(bin_env), "list", "--format=json", *(["--path", target] if target else [])]
    with in_stand_in():
        done = cmd.complete(argv, cwd=cwd, runas=user, env=QUIET, python_shell=False)
    done.or_fail("pip does not work", missing=("command", "pip"))
    packages: list[Mapping[str, str]] = json.loads(done.stdout[done.stdout.find("[") :])
    installed = {package["name"]: package["version"] for package in packages}
    if planned := planned_machine().python_packages.get(_key(bin_env)) if not target else None:
        known = {normal(name) for name in planned}
        rest = {name: each for name, each in installed.items() if normal(name) not in known}
        installed = merged(rest, planned)
    return {
        name: version
        for name, version in installed.items()
        if not prefix or name.lower().startswith(prefix.lower())
    }


def list_upgrades(
    bin_env: str | None = None, user: str | None = None, cwd: str | None = None
) -> dict[str, str]:
    """The packages that have a newer version, with it. Raises CommandFailed when pip cannot look
    for them.
    """
    argv = [*_argv(bin_env), "list", "--outdated", "--format=json"]
    done = cmd.complete(argv, cwd=cwd, runas=user, env=QUIET, python_shell=False)
    done.or_fail("pip cannot look for newer versions")
    return {
        package["name"]: package["latest_version"] for package in json.loads(done.stdout or "[]")
    }


def version(bin_env: str | None = None) -> str:
    """The version of pip."""
    done = cmd.complete([*_argv(bin_env), "--version"], env=QUIET, python_shell=False)
    words = done.stdout.split()
    return words[1] if len(words) > 1 else ""


def freeze(
    bin_env: str | None = None, user: str | None = None, cwd: str | None = None
) -> list[str]:
    """The installed packages as pip's requirements have them. Raises CommandFailed when pip does
    not work.

    {{ salt['pip.freeze'](bin_env='/srv/venv') }}
    """
    refuse_unforeseen("pip freeze")
    done = cmd.complete(
        [*_argv(bin_env), "freeze", "--all"], cwd=cwd, runas=user, env=QUIET, python_shell=False
    )
    if done.retcode:
        raise CommandFailed(f"pip does not work: {done.error_text}", missing=("command", "pip"))
    return done.stdout.splitlines()


def _key(bin_env: str | None) -> str:
    return (bin_env or "").rstrip("/")


def _plan_change(
    words: Sequence[str],
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    env: Any = None,
    becomes: Mapping[str, str | None] | None = None,
) -> str:
    """Plan which packages there are; what is in them stays open."""
    if becomes is None or {*_ELSEWHERE} & {*words}:
        raise Unforeseen("what pip makes of it")
    planned = planned_machine().python_packages.setdefault(_key(bin_env), {})
    known = {normal(name): name for name in planned}
    for name, version in becomes.items():
        planned.pop(known.get(normal(name), ""), None)
        planned[name] = version
    leave_pending()
    return ""


@changer(touches=["pip", "files"], planned=_plan_change)
def change(
    words: Sequence[str],
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    env: Any = None,
    becomes: Mapping[str, str | None] | None = None,
) -> str:
    """Run pip. Raises StateFailed with what it says. becomes: the packages that it is known to
    install, with their versions, and to remove.
    """
    with _without_logins(words, user) as (left, logins):
        variables = {**QUIET, **(env if isinstance(env, dict) else {}), **logins}
        done = cmd.complete(
            [*_argv(bin_env), *left], cwd=cwd, runas=user, env=variables, python_shell=False
        )
    if done.retcode:
        raise StateFailed(_said(done))
    return done.stdout


def _said(done: cmd.Completed) -> str:
    """What pip printed, as Salt puts it together, without tracebacks of its own."""
    out, errors = map(cmd.without_traceback, (done.stdout, done.stderr))
    return f"{out} {errors}".rstrip() + _MANAGED * ("externally-managed-environment" in errors)


_MANAGED = (
    "\nin a state: `- bin_env:` is the path of a virtualenv.managed, or"
    " `- extra_args: --break-system-packages`"
)


_ELSEWHERE = ("--target", "-t", "--root", "--prefix")  # than where this Python has its packages


def refuse_managed(
    bin_env: str | None,
    user: str | None,
    cwd: str | None,
    env: Any = None,
    words: Sequence[str] = (),
) -> None:
    """Raise StateFailed, with what pip says, where the system keeps it from changing a Python
    (PEP 668): `pip install --dry-run --report` does not look.
    """
    options = {word.partition("=")[0] for word in words}
    own = bin_env and _paths.exists(os.path.join(bin_env, "pyvenv.cfg"))
    if own or options & {*_ELSEWHERE, "--break-system-packages"}:
        return
    argv = [*_argv(bin_env), "install", "--dry-run", "--quiet", "--no-index", "--no-deps", "pip"]
    variables = {**QUIET, **LEAVES_NOTHING, **(env or {})}
    done = cmd.complete(argv, cwd=cwd, runas=user, env=variables, python_shell=False)
    if done.retcode and "externally-managed-environment" in done.stderr:
        raise StateFailed(_said(done))


def would_install(
    words: Sequence[str], bin_env: str | None, user: str | None, cwd: str | None, env: Any = None
) -> dict[str, str] | None:
    """The packages that pip would install, with versions; None where pip is too old to say so.

    Raises StateFailed with what pip has against it.
    """
    with _without_logins(words, user) as (left, logins):
        argv = [*_argv(bin_env), "install", "--dry-run", "--quiet", "--report", "-", *left]
        patience = IMPATIENT if fetching.is_foreseen() else {}
        variables = {**QUIET, **LEAVES_NOTHING, **patience, **(env or {}), **logins}
        with in_stand_in():
            done = cmd.complete(argv, cwd=cwd, runas=user, env=variables, python_shell=False)
    if done.retcode:
        if any(f"no such option: {option}" in done.stderr for option in ("--dry-run", "--report")):
            return None
        fetching.refuse_unreachable("what pip would install", done.stderr)
        raise StateFailed(_said(done).lstrip())
    try:
        report = json.loads(done.stdout[done.stdout.find("{") :])
    except ValueError:
        return None
    metadata = [package["metadata"] for package in report.get("install", ())]
    there = {**planned_machine().python_packages.get(_key(bin_env), {})}
    versions = {package["name"]: package["version"] for package in metadata}
    return {name: version for name, version in versions.items() if there.get(name) != version}


def is_installed(
    pkgname: str, bin_env: str | None = None, user: str | None = None, cwd: str | None = None
) -> bool:
    """Return whether a package is installed."""
    return normal(pkgname) in {normal(name) for name in list_(None, bin_env, user, cwd)}


def normalize(name: str) -> str:
    """The name of a package as pip compares it: small letters, hyphens between its words."""
    return normal(name)


def upgrade_available(
    pkg: str, bin_env: str | None = None, user: str | None = None, cwd: str | None = None
) -> bool:
    """Return whether there is a newer version of a package.

    {{ salt['pip.upgrade_available']('django', bin_env='/srv/venv') }}
    """
    newer = list_upgrades(bin_env, user, cwd)
    return normal(pkg) in {normal(name) for name in newer}


def upgrade(
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    use_vt: bool = False,
) -> dict[str, Any]:
    """Upgrade all packages that have a newer version: {changes, result, comment}.

    bin_env: a virtual environment, or a pip. user, cwd: as whom and where pip runs. use_vt: not
    used.

        {% do salt['pip.upgrade'](bin_env='/srv/venv') %}
    """
    old = list_(None, bin_env, user, cwd)
    newer = list_upgrades(bin_env, user, cwd)
    if not newer:
        return {"changes": {}, "result": True, "comment": ""}
    done = _answer(["install", "--upgrade", "--", *newer], bin_env, user, cwd)
    new = list_(None, bin_env, user, cwd)
    changes = {
        name: {"old": old.get(name, ""), "new": new.get(name, "")}
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    }
    failed = done["retcode"] != 0
    comment = cmd.without_traceback(done["stderr"]) if failed else ""
    return {"changes": changes, "result": not failed, "comment": comment}


def list_all_versions(
    pkg: str,
    bin_env: str | None = None,
    include_alpha: bool = False,
    include_beta: bool = False,
    include_rc: bool = False,
    user: str | None = None,
    cwd: str | None = None,
    index_url: str | None = None,
    extra_index_url: str | None = None,
) -> list[str]:
    """The versions of a package that can be installed, the newest last. Raises CommandFailed when
    pip cannot look for them, or knows no such package.

    include_alpha, include_beta, include_rc: also such versions.

        {{ salt['pip.list_all_versions']('django')[-1] }}
    """
    indexes = {"--index-url": index_url, "--extra-index-url": extra_index_url}
    words = [word for option, url in indexes.items() if url for word in (option, url)]
    with _without_logins(["index", "versions", "--pre", *words], user) as (left, logins):
        argv = [*_argv(bin_env), *left, "--", pkg]
        done = cmd.complete(argv, cwd=cwd, runas=user, env=QUIET | logins, python_shell=False)
    listed = re.search(r"^Available versions: (.*)$", done.stdout, re.M)
    if done.retcode or not listed:
        raise CommandFailed(f"pip finds no versions of {pkg}: {done.error_text}")
    wanted = {"a": include_alpha, "b": include_beta, "rc": include_rc}
    kinds = {version: re.search(r"\d(a|b|rc)\d", version) for version in listed[1].split(", ")}
    return [version for version, kind in kinds.items() if kind is None or wanted[kind[1]]][::-1]


Some = str | Sequence[str] | None


def install(
    pkgs: Some = None,
    requirements: Some = None,
    bin_env: str | None = None,
    editable: Some = None,
    find_links: Some = None,
    index_url: str | None = None,
    extra_index_url: Some = None,
    no_index: bool = False,
    target: str | None = None,
    upgrade: bool = False,
    force_reinstall: bool = False,
    ignore_installed: bool = False,
    no_deps: bool = False,
    pre_releases: bool = False,
    proxy: str | None = None,
    timeout: int | None = None,
    trusted_host: Some = None,
    extra_args: Sequence[str] | None = None,
    env_vars: Mapping[str, Any] | None = None,
    user: str | None = None,
    cwd: str | None = None,
) -> dict[str, Any]:
    """Install packages; the pid, retcode, stdout and stderr of pip.

    pkgs: names or requirements, a list or with commas. requirements: files, of the tree (salt://)
    too. bin_env: a virtual environment, or a pip. What else there is, pip has by the same name.

        {{ salt['pip.install'](requirements='/srv/app/requirements.txt', bin_env='/srv/app/venv') }}
    """
    several: dict[str, Sequence[object]] = {
        "--requirement": [_local(path) for path in _many(requirements)],
        "--editable": _many(editable),
        "--find-links": _many(find_links),
        "--extra-index-url": _many(extra_index_url),
        "--trusted-host": _many(trusted_host),
        **{
            name: [value]
            for name, value in {
                "--index-url": index_url,
                "--target": target,
                "--proxy": proxy,
            }.items()
        },
        "--timeout": [timeout],
    }
    switches = {
        "--no-index": no_index,
        "--upgrade": upgrade,
        "--force-reinstall": force_reinstall,
        "--ignore-installed": ignore_installed,
        "--no-deps": no_deps,
        "--pre": pre_releases,
    }
    words = [
        word
        for name, values in several.items()
        for option_value in values
        if option_value
        for word in (name, str(option_value))
    ]
    wanted = _many(pkgs)
    if not wanted and not requirements and not editable:
        return {"retcode": 0, "stdout": "No packages to install."}
    words += [name for name, chosen in switches.items() if chosen]
    return _answer(
        ["install", *words, *(extra_args or ()), "--", *wanted], bin_env, user, cwd, env_vars
    )


def uninstall(
    pkgs: Some = None,
    requirements: Some = None,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    extra_args: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Remove packages; the pid, retcode, stdout and stderr of pip. Arguments as those of
    pip.install.
    """
    files = [word for path in _many(requirements) for word in ("--requirement", _local(path))]
    return _answer(
        ["uninstall", "-y", *files, *(extra_args or ()), "--", *_many(pkgs)], bin_env, user, cwd
    )


def _many(some: Some) -> list[str]:
    texts = some.split(",") if isinstance(some, str) else some or ()
    return [str(text).strip() for text in texts]


def _local(path: str) -> str:
    local = _paths.fetched(path) if path.startswith("salt://") else path
    if local is None:
        raise StateFailed(f"{path} does not exist")
    return local


@changer(touches=["pip", "files"])
def _answer(
    words: Sequence[str],
    bin_env: str | None,
    user: str | None,
    cwd: str | None,
    env: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    with _without_logins(words, user) as (left, logins):
        variables = {**QUIET, **(env or {}), **logins}
        return cmd.run_all(
            [*_argv(bin_env), *left], cwd=cwd, runas=user, env=variables, python_shell=False
        )


FROM = ("--index-url", "--extra-index-url", "--find-links", "--proxy")
LOGIN = re.compile("://[^/]*@")
LISTED = ("-e", "--editable", "-r", "--requirement", "-c", "--constraint")


@contextmanager
def _without_logins(
    words: Sequence[str], user: str | None
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The words without URLs that have a login, and variables with these: all users can read a
    command line. A requirement that pip logs in for itself goes into a file that only the user can
    read, for as long as the words are used.
    """
    values: dict[str, list[str]] = {}
    for option, value in itertools.pairwise(words):
        if option in FROM:
            values.setdefault(option, []).append(value)
    apart = {
        option: addresses
        for option, addresses in values.items()
        if any(LOGIN.search(url) for url in addresses)
    }
    left, skip = [], False
    for word in words:
        if not skip and word not in apart:
            left.append(word)
        skip = word in apart and not skip
    left, variables = _without_git_logins(left)
    variables |= {
        f"PIP_{option[2:].replace('-', '_').upper()}": " ".join(urls)
        for option, urls in apart.items()
    }
    left, lines = _without_listed_logins(left)
    if not lines:
        yield left, variables
        return
    with temporary_script("".join(f"{line}\n" for line in lines), "requirements", user) as path:
        at = left.index("--") if "--" in left else len(left)
        yield [*left[:at], "--requirement", path, *left[at:]], variables


def _without_listed_logins(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words without the requirements that have a login, and these as lines of a file."""
    left: list[str] = []
    lines = []
    for word in words:
        option = left[-1] if left and left[-1] in LISTED else ""
        name, _, value = word.partition("=")
        if not LOGIN.search(word) or (word.startswith("-") and name not in LISTED):
            left.append(word)
        elif word.startswith("-"):
            lines.append(f"{name} {value}")
        else:
            lines.append(f"{left.pop()} {word}" if option else word)
    return left, lines


GIT_LOGIN = re.compile(r"(?<=git\+)(https?://)([^/\s@:]+)(?::([^/\s@]*))?@([^/\s]+)([^\s@#]*)")


def _without_git_logins(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words, in which `git+https://` has no login, and variables that let git log in: with the
    first login of a host to all of that host, with each other one to its own address.

    Raises StateFailed for two logins to one address.
    """
    of_hosts: dict[str, tuple[str, str]] = {}
    of_addresses: dict[str, tuple[str, str]] = {}

    def without(match: re.Match[str]) -> str:
        bare = match[1] + match[4]
        login = (urllib.parse.unquote(match[2]), urllib.parse.unquote(match[3] or ""))
        if of_hosts.setdefault(_run.host_of(bare), login) != login:
            address = bare + match[5]
            if of_addresses.setdefault(address, login) != login:
                raise StateFailed(f"there are two logins for {address}")
        return bare + match[5]

    left = [GIT_LOGIN.sub(without, word) if "git+http" in word else word for word in words]
    return left, _run.logins({**of_hosts, **of_addresses})


__func_alias__ = {"list_": "list"}
