# SPDX-License-Identifier: Apache-2.0
"""Packages of Node.js, with npm 7 or later."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from modules._machine import fetching
from modules._machine.surroundings import parse_variables
from modules._machine.tools import TOPIC, Tool, refuse_open, unforeseen
from modules._planned.machine import merged
from modules._planned.overlay import planned_machine
from modules._texts.lines import plain_name
from runner.api import (
    CommandFailed,
    Unforeseen,
    cached_look,
    changer,
    fetcher,
    for_states,
    here,
    leave_pending,
)

NEEDS_PROGRAM = "npm"  # without it templates find no function of this module
QUIET = {
    "npm_config_loglevel": "error",
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_progress": "false",
}
LEAVES_NOTHING = {"npm_config_logs_max": "0"}
IMPATIENT = {"npm_config_fetch_retries": "0", "npm_config_fetch_timeout": "20000"}  # milliseconds
_SPEC = re.compile(r"(?P<name>(?:@[^/@\s]+/)?[^/@:\s]+)(?:@(?P<version>.*))?")
_FORESEEN = "npm foreseen"  # what npm said that it would install
_EXACT = re.compile(r"v?\d+\.\d+\.\d+[-+.\w]*")


@for_states
def split_spec(spec: str) -> tuple[str, str]:
    """The name and the wanted version of a package (`@scope/name@1.2`); empty texts for an address
    or a path, which names no package.

    >>> split_spec("@babel/core@^7")
    ('@babel/core', '^7')
    """
    match = _SPEC.fullmatch(spec)
    return (match["name"], match["version"] or "") if match else ("", "")


@for_states
def is_met(
    spec: str, packages: Mapping[str, Any], dir: str | None, runas: str | None, env: Any
) -> bool:
    """Return whether one of the installed packages is what a specification asks for; False for one
    that only the registry can decide (`name@latest`, an address).
    """
    name, version = split_spec(spec)
    if name not in packages:
        return False
    if not version:
        return True
    if _EXACT.fullmatch(version):
        return str(packages[name].get("version")) == version.removeprefix("v")
    return name in list_(spec, dir, runas, env, 0)


@cached_look(TOPIC)
def list_(
    pkg: str | None = None,
    dir: str | None = None,
    runas: str | None = None,
    env: Any = None,
    depth: int | None = None,
) -> dict[str, Any]:
    """The installed packages by name, each with its version. Raises CommandFailed when npm does not
    work.

    pkg: this one only, also with a version (name@^1.2). dir: those of a project; without it the
    global ones. depth: how deep their dependencies are listed.

    {{ salt['npm.list'](dir='/srv/app', depth=0) | json }}
    """
    refuse_open(_place(dir, runas))
    words = ["--depth", str(depth)] if depth is not None else ["--all"]
    words += [plain_name(pkg, "pkg")] if pkg else []
    report = _report("ls", words, dir, runas, {**LEAVES_NOTHING, **parse_variables(env)})
    packages: dict[str, Any] = report.get("dependencies", {})
    there = {name: package for name, package in packages.items() if not package.get("missing")}
    planned = planned_machine().tool_packages.get(_place(dir, runas), {})
    name, version = split_spec(pkg) if pkg else ("", "")
    if version and name in planned:
        raise Unforeseen(f"whether npm takes what is planned of {name} for {pkg}")
    return merged(there, {each: planned[each] for each in planned if name in ("", each)})


@fetcher
def would_change(
    pkgs: Sequence[str],
    dir: str | None = None,
    runas: str | None = None,
    registry: str | None = None,
    env: Any = None,
) -> bool:
    """Return whether npm would change anything to install packages, or without any those of a
    project. Raises CommandFailed with what npm has against it.
    """
    words = ["--dry-run", "--", *(plain_name(pkg, "pkgs") for pkg in pkgs)]
    patience = IMPATIENT if fetching.is_foreseen() else {}  # not to fail for one lost answer
    variables = {**LEAVES_NOTHING, **patience, **_variables(registry, env)}
    with fetching.asking("what npm would install"):
        report = _report("install", words, dir, runas, variables)
    versions = [(change["from"], change["to"]) for change in report.get("change", ())]
    coming = [*report.get("add", ()), *(new for _, new in versions)]
    here.store(_FORESEEN)[_place(dir, runas), (*pkgs,)] = {each["name"]: each for each in coming}
    same: int = sum(old.get("version") == new.get("version") for old, new in versions)
    counts: list[int] = [report.get(key, 0) for key in ("added", "removed", "changed")]
    return sum(counts) > same


def install(
    pkg: str | None = None,
    pkgs: Sequence[str] | None = None,
    dir: str | None = None,
    runas: str | None = None,
    registry: str | None = None,
    env: Any = None,
    dry_run: bool = False,
    silent: bool = True,
) -> dict[str, Any] | bool:
    """Install packages, or what the package.json of a project asks for: npm's report; in a dry run
    whether there is anything to do. Raises CommandFailed with what npm has against it.

    pkg, pkgs: names, also with a version (name@1.2). dir: the project; without it they are
    installed globally. silent: accepted, npm's output is its report.

    runner call npm.install express dir=/srv/app
    """
    chosen = list(pkgs or ([pkg] if pkg else []))
    if dry_run:
        return would_change(chosen, dir, runas, registry, env)
    names = [plain_name(name, "pkgs") for name in chosen]
    return _change("install", ["--", *names], dir, runas, _variables(registry, env))


def uninstall(
    pkg: str, dir: str | None = None, runas: str | None = None, env: Any = None
) -> dict[str, Any]:
    """Remove a package: npm's report. Raises CommandFailed with what npm has against it. Arguments
    as those of npm.install.
    """
    return _change("uninstall", ["--", plain_name(pkg, "pkg")], dir, runas, parse_variables(env))


def cache_list(path: str | None = None, runas: str | None = None, env: Any = None) -> list[str]:
    """The keys of npm's cache. Raises CommandFailed when npm does not work. path: those of one
    package only.
    """
    variables = {**QUIET, **LEAVES_NOTHING, **parse_variables(env)}
    tool = Tool("npm", "npm", runas, None, variables)
    keys = [line for line in tool.output("cache", "ls").splitlines() if line]
    return keys if path is None else [key for key in keys if _is_of(key, path)]


def cache_path(runas: str | None = None, env: Any = None) -> str:
    """The directory of npm's cache. Raises CommandFailed when npm does not work."""
    variables = {**QUIET, **LEAVES_NOTHING, **parse_variables(env)}
    return Tool("npm", "npm", runas, None, variables).output("config", "get", "cache").strip()


@changer(touches=[TOPIC])
def cache_clean(
    path: str | None = None, runas: str | None = None, env: Any = None, force: bool = False
) -> bool:
    """Remove from npm's cache what it has of one package, or all of it, which npm does with force
    only. Raises CommandFailed with what npm has against it.
    """
    keys = cache_list(path, runas, env) if path is not None else []
    if path is not None and not keys:
        return True
    words = ["--force"] if force else []
    Tool("npm", "npm", runas, None, {**QUIET, **parse_variables(env)}).output(
        "cache", "clean", *words, "--", *keys
    )
    return True


def _is_of(key: str, package: str) -> bool:
    """Return whether a key of the cache belongs to a package: it is an address of the registry."""
    if key == package:
        return True
    escaped = re.escape(package).replace("/", "(?:/|%2[fF])")
    return bool(re.search(rf"//[^/]+/(?:[^@/][^/]*/)*{escaped}(?:/-/[^/]*)?$", key))


def _variables(registry: str | None, env: Any) -> dict[str, str]:
    """The variables of npm; a registry may have a login, which all users could read in a command
    line.
    """
    return {**({"npm_config_registry": registry} if registry else {}), **parse_variables(env)}


def _place(dir: str | None, runas: str | None) -> tuple[str, str]:
    """Where packages are, for the planned machine: of a user, without a project."""
    return "npm", dir or f"~{runas or ''}"


def _plan_change(
    command: str, words: list[str], dir: str | None, runas: str | None, env: dict[str, str]
) -> dict[str, Any]:
    """Plan which packages there are; what is in them stays open."""
    place, specs = _place(dir, runas), tuple(words[1:])
    becomes: dict[str, Any] = dict.fromkeys(specs)
    if command == "install":
        coming = here.store(_FORESEEN).get((place, specs), {})
        names = [split_spec(spec)[0] for spec in specs]
        if not names or not coming.keys() >= {*names}:
            raise unforeseen(place, "which packages npm installs")
        becomes = {name: {"version": coming[name]["version"]} for name in names}
    planned_machine().tool_packages.setdefault(place, {}).update(becomes)
    leave_pending()
    return {}


@changer(touches=[TOPIC, "files"], planned=_plan_change)
def _change(
    command: str, words: list[str], dir: str | None, runas: str | None, env: dict[str, str]
) -> dict[str, Any]:
    return _report(command, words, dir, runas, env)


def _report(
    command: str, words: list[str], dir: str | None, runas: str | None, env: dict[str, str]
) -> dict[str, Any]:
    """Return npm's answer in JSON. Raises CommandFailed with its reason."""
    tool = Tool("npm", "npm", runas, dir, {**QUIET, **env})
    done = tool.run(command, "--json", *([] if dir else ["--global"]), *words)
    match = re.search(r"^\{.*", done.stdout, re.MULTILINE | re.DOTALL)
    try:
        report = json.loads(match[0]) if match else {}
    except ValueError:
        report = {}
    error = report.get("error") if isinstance(report, dict) else None
    if isinstance(error, Mapping):
        texts = [str(error.get(key) or "").strip() for key in ("summary", "detail")]
        raise tool.failure(command, "\n".join(text for text in texts if text))
    if done.retcode and (command != "ls" or not match):  # ls: some of what it lists has a problem
        raise tool.failure(command, done.error_text)
    if not isinstance(report, dict):
        raise CommandFailed(f"npm {command}: its answer is not understood: {done.stdout[:200]}")
    return report


__func_alias__ = {"list_": "list"}
