# SPDX-License-Identifier: Apache-2.0
"""Flags, environment and file -> Options. The file has Salt's minion keys."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from functools import partial

from runner.model import handed_over_pillar
from runner.model.errors import Diagnostic, RunnerError, UsageError
from runner.model.records import Record
from runner.sources import formulas, gitfs, trees
from runner.sources.config import of_tree
from runner.sources.config import report as config_report
from runner.sources.config.file import (
    LoadYaml,
    expand,
    is_minion_config,
    own_grains_of,
    read_settings,
    safe_load,
    setting_place,
)
from runner.sources.config.keys import DEFAULTS
from runner.sources.config.options import KEYS_OF_OPTIONS, LISTS, Options
from runner.sources.trees import source as trees_source
from runner.support.files.text import read_bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from runner.sources.trees import Tree
    from runner.sources.trees.source import TreeSource

SALT_MINION = "/etc/salt/minion"
SYSTEM = "/etc/runner/runner.yaml"


def load(
    config_file: str | None,
    overrides: Mapping[str, Any],
    environ: Mapping[str, str],
    load_yaml: LoadYaml | None = None,
    tree: Tree | Literal["current"] | None = "current",
    fetch: bool = True,
) -> tuple[Options, tuple[Diagnostic, ...]]:
    """The options and what is odd about them.

    config_file: named on the command line; without it the usual places are searched.
    overrides: what the command line says, under the configuration's names.
    tree: the pulled tree to use where the configuration has `tree`; None for the machine's own
    settings alone. fetch: whether git repositories of file roots are fetched when they are
    first asked for.
    Raises RunnerError for a file that is missing, unreadable or no mapping, or for values of the
    wrong type.
    """
    warnings: list[Diagnostic] = []
    yaml = load_yaml or safe_load
    path = _find(config_file, environ, warnings, bool(overrides.get("as_salt")))
    files: list[str] = []
    settings = read_settings(path, yaml, warnings, files) if path else {}
    base = os.path.dirname(os.path.abspath(path)) if path else _standing()
    own_grains, own_roots = settings.get("grains") or {}, settings.get("file_roots")
    salts = path is not None and is_minion_config(path)
    of_tree = _OfTree()
    if settings.get("tree"):
        folders = _folders(settings, overrides, base, environ, salts)
        of_tree = _of_tree(settings, base, folders["state_dir"], tree, yaml, warnings, files)
        settings = of_tree.settings
    raw = {**DEFAULTS, **settings, **overrides}
    raw |= _folders(settings, overrides, base, environ, salts)
    for key, usual in _USUAL_ROOTS.items():
        raw[key] = _roots(key, overrides.get(key) or settings.get(key), base, usual)
    raw.pop("whole_pillar", None)  # not for templates that show `opts`
    if raw.get("root"):  # an image, which has a name of its own
        raw["root"] = os.path.join(_standing() if overrides.get("root") else base, raw["root"])
    else:
        raw["id"] = raw.get("id") or _saved_id(path) or host_name()
    raw["id"] = str(raw.get("id") or "")
    own_grains = {**(overrides.get("grains") or own_grains), **_handed_over(overrides)}
    raw["grains"] = {**of_tree.grains, **own_grains_of(path or SYSTEM, yaml), **own_grains}
    where = of_tree.tree.folder if of_tree.tree else base if path and not of_tree.source else ""
    formulas = _with_formulas(raw, where, files) if where else {}
    raw |= {"conf_file": os.path.abspath(path) if path else None}
    raw |= {"config_dir": os.path.dirname(os.path.abspath(path or SYSTEM))}
    report = None
    if raw.get("report"):
        report = config_report.destination(raw["report"], base)
        raw["report"] = config_report.shown(raw["report"], report)
    pillarenv = raw.get("pillarenv")
    files += [os.path.join(raw["config_dir"], name) for name in ("grains", "minion_id")]
    files = [os.path.abspath(file) for file in files if os.path.isfile(file)]
    options = _options(raw, settings, overrides)._replace(
        own_grains=own_grains,
        tree_grains=of_tree.grains,
        report=report,
        tree_source=of_tree.source,
        tree=of_tree.tree,
        awaits_tree=bool(of_tree.source and not of_tree.tree and not overrides.get("file_roots")),
        files=tuple(files),
        **formulas,
    )
    if "gitfs_remotes" in settings and not overrides.get("file_roots"):
        options = _with_repositories(options, warnings, fetch)
    of_roots = own_roots if of_tree.source and not overrides.get("file_roots") else None
    said = pillarenv if path and "pillarenv" not in overrides else None
    warnings += _unused(raw, options, of_roots, pillarenv, said)
    return options, tuple(warnings)


def _unused(
    raw: dict[str, Any], options: Options, roots: object, pillarenv: str | None, said: str | None
) -> Iterator[Diagnostic]:
    """What does nothing as it stands. roots: the machine's, beside a tree's. said: pillarenv, where
    the configuration says it.
    """
    if roots:
        message = "file_roots of the machine is used, so that no state of the tree is"
        hint = "remove it: those of a tree are where its own runner.yaml says (docs/pull.md)"
        yield Diagnostic(message, setting_place(raw, "file_roots"), hint, "config", "warning")
    if (
        pillarenv
        and not raw["ext_pillar"]
        and pillarenv not in options.pillar_roots
        and "__env__" not in options.pillar_roots
    ):
        place = setting_place(raw, "pillarenv") if said else None
        message = f"pillarenv: there is no environment {pillarenv!r}, so that the pillar is empty"
        hint = f"pillar_roots has: {', '.join(options.pillar_roots)}"
        yield Diagnostic(message, place, hint, "config", "warning")


class _OfTree(Record):
    """What a pulled tree brings. settings: those of machine and tree together."""

    settings: dict[str, Any] = {}
    grains: Mapping[str, Any] = {}
    source: TreeSource | None = None
    tree: Tree | None = None


def _of_tree(
    machine: dict[str, Any],
    base: str,
    state_dir: str,
    wanted: Tree | Literal["current"] | None,
    load_yaml: LoadYaml,
    warnings: list[Diagnostic],
    files: list[str],
) -> _OfTree:
    """The settings of the machine with those of its tree. base: the folder of the machine's."""
    source, store = trees_source.source_of(machine["tree"], base), trees.TreeStore(state_dir)
    tree = store.current() if wanted == "current" else wanted
    read: list[str] = []
    more = (
        of_tree.settings_of(tree.folder, load_yaml, warnings, read)
        if tree
        else of_tree.no_settings(store.path)
    )
    files[:0] = read  # those of the machine win, and the last one does
    both = of_tree.combined(machine, more)
    both["tree"] = {**machine["tree"], "remote": source.shown}  # templates see it as `opts`
    return _OfTree(both, more.get("grains") or {}, source, tree)


def _with_formulas(raw: dict[str, Any], folder: str, files: list[str]) -> dict[str, Any]:
    """Append the installed formulas to the roots, where a formulas.yml lies beside the
    configuration; what the options say of them. files: gets the files that were read.
    """
    if not os.path.lexists(os.path.join(folder, "formulas.yml")):
        return {}
    found = formulas.installed_roots(folder, raw["cachedir"])
    roots: dict[str, list[str]] = raw["file_roots"]
    own = roots.get("base", [])
    more = [root for root in found.folders if root not in own]
    raw["file_roots"] = {**roots, "base": [*own, *more]}
    files += [os.path.join(folder, name) for name in ("formulas.yml", "formulas.lock")]
    return {
        "formula_folder": folder,
        "formula_roots": tuple(more),
        "formula_problems": found.problems,
    }


def _handed_over(overrides: Mapping[str, Any]) -> Mapping[str, Any]:
    """The grains that came with a pillar from another machine."""
    whole = overrides.get("whole_pillar")
    if not whole:
        return {}
    given = whole.get(handed_over_pillar.GRAINS)
    return given if isinstance(given, Mapping) else {}


def _with_repositories(options: Options, warnings: list[Diagnostic], fetch: bool) -> Options:
    """The options with the environments of `gitfs_remotes` beside those of `file_roots`."""
    if not gitfs.uses_git(options.raw):
        return options
    remotes, problems = gitfs.fileserver_remotes(options.raw, partial(setting_place, options.raw))
    warnings += problems
    roots = gitfs.EnvironmentRoots(
        options.file_roots, options.raw, options.cachedir, remotes, fetch, options.saltenv
    )
    return options._replace(file_roots=roots)


def _standing() -> str:
    """The folder that the caller stands in; it may be gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "/"


def roots_at_hand(options: Options) -> Mapping[str, tuple[str, ...]]:
    """The file roots of the environments that are looked at as a whole: all, but of git
    repositories only those that this run is about.
    """
    at_hand = getattr(options.file_roots, "at_hand", None)
    chosen: Mapping[str, tuple[str, ...]] = (
        at_hand(options.saltenv) if at_hand else options.file_roots
    )
    return chosen


def with_fresh_grains(options: Options, beside: Mapping[str, Any] | None = None) -> Options:
    """The options with the static grains that the file beside the configuration has by now.
    beside: what a dry run would have it have.
    """
    if beside is None:
        beside = own_grains_of(options.raw.get("conf_file") or SYSTEM, safe_load)
    return options._replace(grains={**options.tree_grains, **beside, **options.own_grains})


def _options(
    raw: dict[str, Any], settings: Mapping[str, Any], overrides: Mapping[str, Any]
) -> Options:
    raw["saltenv"] = raw["saltenv"] or settings.get("environment")
    if raw["pillarenv_from_saltenv"] and not raw["pillarenv"]:
        raw["pillarenv"] = raw["saltenv"]
    aggregate = raw["state_aggregate"]
    said = {key: raw[key] for key in KEYS_OF_OPTIONS if raw.get(key) is not None}
    said |= {key: tuple(said[key]) for key in LISTS if key in said}
    # what is no key of a configuration
    typed = {key: overrides[key] for key in overrides if key in Options._fields}
    return Options(**{**typed, **said})._replace(
        file_roots={env: tuple(folders) for env, folders in raw["file_roots"].items()},
        pillar_roots={env: tuple(folders) for env, folders in raw["pillar_roots"].items()},
        raw=raw,
        state_top=raw["state_top"].removeprefix("salt://"),
        pillar=overrides.get("pillar") or {},
        pillar_of_file=settings.get("pillar") or {},
        state_aggregate=tuple(aggregate) if isinstance(aggregate, list) else bool(aggregate),
        typed=frozenset(overrides),
    )


# ---------------------------------------------------------------- which file


def find_file(config_file: str | None, environ: Mapping[str, str]) -> str | None:
    """The configuration file, whatever it says; None where there is none."""
    try:
        return _find(config_file, environ, [])
    except RunnerError:
        return None


def find_metrics_file(config_file: str | None, environ: Mapping[str, str]) -> str | None:
    """The `prometheus_textfile` of a configuration that is otherwise not usable, or not even YAML;
    None where it does not say so on a line of its own.
    """
    try:
        path = find_file(config_file, environ)
        text = read_bounded(path).decode("utf-8", "replace") if path else ""
    except (OSError, RunnerError):
        return None
    line = re.search(r"^prometheus_textfile:[ \t]+(['\"]?)(/[^'\"\n]*?)\1[ \t]*(#.*)?$", text, re.M)
    return line[2] if line else None


def _find(
    config_file: str | None,
    environ: Mapping[str, str],
    warnings: list[Diagnostic],
    as_salt: bool = False,
) -> str | None:
    """The configuration file. as_salt: a line that was written for Salt means Salt's, where runner
    has none.
    """
    named = config_file or environ.get("RUNNER_CONFIG")
    if named:
        if os.path.isdir(named):
            inside = (os.path.join(named, name) for name in ("runner.yaml", "minion"))
            named = next(filter(os.path.isfile, inside), named)
        if not os.path.isfile(named):
            who = "--config" if config_file else "$RUNNER_CONFIG"
            raise UsageError(
                f"the configuration file {named} {_unusable(named)}", hint=f"{who} names it"
            )
        return named
    if _may_read_current_folder(warnings):
        return "runner.yaml"
    own = own_file(environ)
    for candidate in dict.fromkeys((own, SYSTEM)):
        if os.path.isfile(candidate):
            return candidate
    if os.path.isfile(SALT_MINION):
        if as_salt:
            return SALT_MINION
        hint = f"use it with: runner highstate --config {SALT_MINION}"
        warnings.append(
            Diagnostic(
                f"no configuration; {SALT_MINION} is not used automatically",
                None,
                hint,
                "config-unused",
                "info",
            )
        )
    return None


def _unusable(path: str) -> str:
    """Why what somebody names is no configuration."""
    try:
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        return "does not exist"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "has no runner.yaml and no minion" if is_folder else "is not a regular file"


def own_file(environ: Mapping[str, str]) -> str:
    """Where the configuration of this user belongs: root's is that of the machine."""
    if os.geteuid() == 0:
        return SYSTEM
    return os.path.join(_folder(environ, "XDG_CONFIG_HOME", ".config"), "runner", "runner.yaml")


def _may_read_current_folder(warnings: list[Diagnostic]) -> bool:
    """Check whether to use ./runner.yaml: a stranger's file would run as the caller."""
    try:
        stats = [os.stat("runner.yaml"), os.stat("."), os.lstat("runner.yaml")]
    except OSError:
        if os.path.islink("runner.yaml"):
            message = f"{os.path.abspath('runner.yaml')} is not used: it is a link to nothing"
            warnings.append(Diagnostic(message, None, None, "config", "warning"))
        return False
    trusted = (0, os.geteuid())
    if all(status.st_uid in trusted for status in stats) and not any(
        status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for status in stats[:2]
    ):
        warnings.append(
            Diagnostic(f"using {os.path.abspath('runner.yaml')}", None, None, "config-used", "info")
        )
        return True
    message = f"{os.path.abspath('runner.yaml')} is not used: others can write it or its folder"
    warnings.append(
        Diagnostic(message, None, "--config runner.yaml uses it anyway", "config", "warning")
    )
    return False


def _folder(environ: Mapping[str, str], name: str, below_home: str) -> str:
    return environ.get(name) or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), below_home
    )


# ---------------------------------------------------------------- what the machine says


def _saved_id(path: str | None) -> str | None:
    """The ID that a Salt minion keeps beside its configuration."""
    try:
        with open(
            os.path.join(os.path.dirname(os.path.abspath(path or "")), "minion_id"),
            encoding="utf-8",
        ) as file:
            return file.read().strip() if path else None
    except (OSError, UnicodeDecodeError):
        return None


def host_name() -> str:
    """This machine's name, as /etc/hosts completes it; asks no name server."""
    name = os.uname().nodename
    if "." in name:
        return name
    try:
        with open("/etc/hosts", encoding="utf-8", errors="replace") as file:
            lines = [line.partition("#")[0].split()[1:] for line in file]
    except OSError:
        return name
    return next(
        (word for words in lines if name in words for word in words if word.startswith(f"{name}.")),
        name,
    )


# ---------------------------------------------------------------- folders

_USUAL_ROOTS = {
    "file_roots": ("/srv/runner/states", "/srv/salt"),
    "pillar_roots": ("/srv/runner/pillar", "/srv/pillar"),
}


def _folders(
    settings: Mapping[str, Any],
    overrides: Mapping[str, Any],
    base: str,
    environ: Mapping[str, str],
    salts: bool,
) -> dict[str, str]:
    """cachedir and state_dir, as absolute paths."""
    cache, state = usual_folders(environ)
    if overrides.get("cachedir"):
        cache = os.path.abspath(overrides["cachedir"])
        state = f"{cache}/state"
    elif settings.get("cachedir"):
        cache = os.path.join(base, settings["cachedir"])
        state = state if salts else f"{cache}/state"
    if overrides.get("state_dir"):
        state = os.path.abspath(overrides["state_dir"])
    elif settings.get("state_dir"):  # a place of its own, wherever the cache is
        state = os.path.join(base, settings["state_dir"])
    return {"cachedir": os.path.normpath(cache), "state_dir": os.path.normpath(state)}


def usual_folders(environ: Mapping[str, str]) -> tuple[str, str]:
    """cachedir and state_dir where nothing says otherwise."""
    if os.geteuid() == 0:
        return "/var/cache/runner", "/var/lib/runner"
    cache = _folder(environ, "XDG_CACHE_HOME", ".cache")
    state = _folder(environ, "XDG_STATE_HOME", ".local/state")
    return f"{cache}/runner", f"{state}/runner"


def _roots(
    key: str, configured: Mapping[Any, Any] | None, base: str, usual: tuple[str, ...]
) -> dict[str, list[str]]:
    if not configured:
        return {"base": [folder for folder in usual if os.path.isdir(folder)] or [usual[0]]}
    roots = {
        str(env): [
            os.path.normpath(path)
            for folder in ([folders] if isinstance(folders, str) else folders or ())
            for path in expand(os.path.join(base, folder))
        ]
        for env, folders in configured.items()
    }
    for env, folder in ((env, folder) for env, own in roots.items() for folder in own):
        if os.path.realpath(folder) == "/":
            raise RunnerError(
                f"{key}: {env}: {folder} is the whole machine, in which SLS files are looked for",
                None,
                f"name the directory of the tree, such as {usual[0]}",
            )
    return roots
