# SPDX-License-Identifier: Apache-2.0
"""`--root DIR`: the command goes on in a process whose machine is the tree below a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from runner.engine.rehearsal import image
from runner.model.errors import UsageError
from runner.model.nested import strings
from runner.model.paths import leave_host, of_host, on_host
from runner.sources.config import load

if TYPE_CHECKING:
    from runner.cli.running.options import Common
    from runner.sources.config.options import Options

# the settings that name files and folders of the host, beside the roots
OF_HOST = (
    "conf_file config_dir module_dirs states_dirs grains_dirs render_dirs utils_dirs ext_pillar"
    " age_identities gpg_keydir plan_allowed_signers"
).split()
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
    _refuse_repositories(options)
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


def _refuse_repositories(options: Options) -> None:
    if not isinstance(options.file_roots, dict):
        raise UsageError(
            "--root: `gitfs_remotes` are not looked up for an image",
            hint="check them out, and name them with --state-tree",
        )


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
    return options._replace(
        file_roots=_seen(options.file_roots),
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
