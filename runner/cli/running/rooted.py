# SPDX-License-Identifier: Apache-2.0
"""`--root DIR`: the command goes on in a process whose machine is the tree below a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.cli.running import answers
from runner.engine.rehearsal import image
from runner.model.diagnostics import Diagnostic
from runner.model.errors import UsageError
from runner.model.nested import strings
from runner.model.paths import leave_host, on_host
from runner.model.places import of_host
from runner.sources import gitfs
from runner.sources.config import load
from runner.sources.config.file import setting_place

if TYPE_CHECKING:
    from runner.cli.running.options import Common
    from runner.model.result import Report
    from runner.sources.config.options import Options

# the settings that name files and folders of the host, beside the roots
OF_HOST = (
    "conf_file config_dir module_dirs states_dirs grains_dirs render_dirs utils_dirs ext_pillar"
    " age_identities gpg_keydir plan_allowed_signers"
).split()
IN_MEMORY = ("/run", "/tmp")
WRITTEN = ("log_file", "html_report", "prometheus_textfile")


def entered(common: Common, options: Options) -> Options:
    """The settings of a run in the image that they name, in a process that is in it. Raises
    RunnerError where there can be none.
    """
    if "root" not in common.settings:
        raise UsageError(
            "`root` of the configuration names an image, and this command is about this machine",
            hint="--config FILE names a configuration without `root`",
        )
    options = _with_repositories(common, options)
    of_user = load.usual_folders(os.environ)
    standing = os.getcwd()
    written = [os.path.dirname(os.path.join(standing, path)) for path in _written(common, options)]
    streams = {sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__}
    for stream in filter(None, streams):
        stream.flush()
    image.enter(options.root, _visible(options), written)
    leave_host(standing)
    of_root = dict(zip(of_user, load.usual_folders(os.environ), strict=True))
    for stream in filter(None, streams):
        stream.__dict__["write"] = _with_paths_of_host(stream.write)
    options = _moved(options, of_root)
    if _is_file(common.log_file):
        options = options._replace(raw={**options.raw, "log_file": on_host(common.log_file or "")})
    name = options.id or load.host_name()
    return options._replace(id=name, raw={**options.raw, "id": name})


def _with_repositories(common: Common, options: Options) -> Options:
    """The settings with what git repositories have, fetched and exported before the image is
    entered, which has neither this machine's git nor its keys. Raises RunnerError.
    """
    roots, place_of = options.file_roots, partial(setting_place, options.raw)
    warnings: list[Diagnostic] = []
    if isinstance(roots, gitfs.EnvironmentRoots):
        warnings += roots.fetch()
        roots.export(options.saltenv)
    pillars = {}
    sources = options.raw.get("ext_pillar") or ()
    for items in (one["git"] for one in sources if isinstance(one, Mapping) and "git" in one):
        remotes, odd = gitfs.pillar_remotes(options.raw, items, place_of)
        pillars[repr(items)], more = gitfs.pillar_folders(
            options.cachedir, remotes, options.pillarenv, options.saltenv
        )
        warnings += (*odd, *more)
    if not common.quiet:
        answers.show_problems(warnings)
    return options._replace(git_pillars=pillars)


def _folder(path: str) -> str:
    """The folder at the top in which a path lies: of /var/run/x it is /run."""
    return "/".join(os.path.realpath(os.path.dirname(path)).split("/")[:2])


def in_memory(report: Report) -> list[Diagnostic]:
    """What is told of the states that have put something where it ends with the command."""
    names = {one.chunk.name for one in report if one.changes and not report.dry}
    paths = (name for name in names if name.startswith("/") and os.path.lexists(name))
    gone = sorted(path for path in paths if _folder(path) in IN_MEMORY)
    if not gone:
        return []
    message = f"what was made at {', '.join(gone)} is not in the image"
    hint = "its /run and /tmp are in memory while the command runs; /var/tmp is not"
    return [Diagnostic(message, hint=hint, severity="info")]


def _with_paths_of_host(write: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: write(of_host(text))


def _visible(options: Options) -> Iterator[str]:
    """Yield what a run reads of the host."""
    for roots in (options.file_roots, options.pillar_roots):
        for folders in roots.values():
            yield from (folder.partition("__env__")[0] for folder in folders)
    yield from options.files
    for key in OF_HOST:
        yield from _paths(options.raw.get(key))
    if options.formula_folder:
        yield options.formula_folder
    yield from (each.folder for folders in options.git_pillars.values() for each in folders)


def _written(common: Common, options: Options) -> Iterator[str]:
    """Yield the paths on the host that a run writes to."""
    log = common.log_file
    for path in (common.plan, common.events, log if _is_file(log) else None):
        if path and path != "-":
            yield path
    for key in WRITTEN:
        yield from _paths(options.raw.get(key))


def _is_file(log: str | None) -> bool:
    return bool(log) and "://" not in str(log) and log not in ("journald", "syslog")


def _paths(value: Any) -> Iterator[str]:
    yield from (text for text in strings(value) if text.startswith("/"))


def _moved(options: Options, folders: Mapping[str, str]) -> Options:
    """The settings with the host's paths as the image has them. folders: of a user -> of root."""
    own = {key: getattr(options, key) for key in ("cachedir", "state_dir")}
    own = {key: folders.get(folder, folder) for key, folder in own.items()}
    raw = {**options.raw, **own}
    raw |= {key: _seen(raw[key]) for key in (*OF_HOST, *WRITTEN) if raw.get(key)}
    raw |= {key: _seen(raw[key]) for key in ("file_roots", "pillar_roots")}
    roots = options.file_roots
    if isinstance(roots, gitfs.EnvironmentRoots):
        roots.move(on_host)
    else:
        roots = _seen(roots)
    pillars = {
        items: tuple(each._replace(folder=on_host(each.folder)) for each in folders)
        for items, folders in options.git_pillars.items()
    }
    return options._replace(
        file_roots=roots,
        git_pillars=pillars,
        pillar_roots=_seen(options.pillar_roots),
        files=_seen(options.files),
        formula_folder=_seen(options.formula_folder),
        formula_roots=_seen(options.formula_roots),
        tree=options.tree and options.tree._replace(folder=_seen(options.tree.folder)),
        raw=raw,
        **own,
    )


def _seen(value: Any) -> Any:
    """A value whose absolute paths are those of the host, seen from the image."""
    if isinstance(value, str):
        return on_host(value) if value.startswith("/") else value
    if isinstance(value, Mapping):
        return {key: _seen(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_seen(one) for one in value)
    return value
