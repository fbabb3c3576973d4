# SPDX-License-Identifier: Apache-2.0
"""The state tree of a configuration as an archive for other machines: what runner reads of it
there, and nothing of the pillar.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from runner.model.errors import RunnerError
from runner.model.plain_values import plain
from runner.model.records import Record
from runner.pipeline.session import Session
from runner.sources.bundle import archived
from runner.sources.config.keys import DEFAULTS
from runner.sources.config.options import Options
from runner.sources.fileroots import FileTree

CONFIG, ROOTS, CODE = "runner.yaml", "roots", "code"  # what the archive has
FOLDERS_OF_CODE = ("states_dirs", "module_dirs", "grains_dirs", "utils_dirs", "render_dirs")
VERSION_CONTROL = frozenset((".git", ".hg", ".svn"))
# keys of the configuration that are about the pillar, this machine, or how the tree came here
STAYING = frozenset(
    """
    id pillar pillar_roots pillar_cache ext_pillar ext_pillar_first decrypt_pillar
    decrypt_pillar_default decrypt_pillar_delimiter pillar_opts age_identities age_recipients
    gpg_recipients vault gpg_keydir cachedir state_dir log_file log_level log_fmt_console
    log_fmt_logfile log_datefmt log_datefmt_console log_datefmt_logfile log_granular_levels
    log_level_logfile conf_file config_dir said_in include default_include tree otel_endpoint
    otel_headers html_report html_report_runs report prometheus_textfile fleet fileserver_backend
    file_ignore_glob file_ignore_regex fileserver_ignoresymlinks pillarenv wait
    fileserver_followsymlinks strict_permissions only exclude quiet
    """.split()
)
_OF_GIT = ("gitfs_", "git_pillar_")  # keys that begin so say how its repositories are reached


class Packed(Record):
    """A tree as a tar archive. sources: what each path in it is on this machine."""

    data: bytes
    sources: Mapping[str, str]


def archive(session: Session) -> Packed:
    """The tree of a configuration. Raises RunnerError where the pillar lies in it, or a file cannot
    be read.
    """
    options, tree = session.options, session.tree
    _refuse_pillar(options)
    sources: dict[str, str] = {}
    roots: dict[str, list[str]] = {}
    private = [*_folders(options.pillar_roots), options.cachedir, options.state_dir]
    for env in _environments(tree.roots):
        roots[env] = [f"{ROOTS}/{env}"]
        for path in tree.files("", env):
            file = tree.find(path, env)
            if file and not _stays(path, file, tree.root_of(file) or "/", private):
                sources[f"{ROOTS}/{env}/{path}"] = file
    code = {key: _code(options, key, sources) for key in FOLDERS_OF_CODE if options.raw.get(key)}
    settings = {**_settings(options), "file_roots": roots, **code}
    try:
        modes = {path: stat.S_IMODE(os.stat(file).st_mode) for path, file in sources.items()}
        entries = {path: _read(file) for path, file in sources.items()}
    except OSError as error:
        raise RunnerError(f"{error.filename} cannot be read: {error.strerror}") from None
    entries[CONFIG] = json.dumps(settings, indent=1, sort_keys=True).encode()
    data = archived(entries, {path: mode for path, mode in modes.items() if mode != 0o644})
    folders = {f"{ROOTS}/{env}": ", ".join(tree.roots.get(env, ())) for env in roots}
    return Packed(data, {**sources, **{path: names for path, names in folders.items() if names}})


def _read(file: str) -> bytes:
    with open(file, "rb") as opened:
        return opened.read()


def _folders(roots: Mapping[str, Iterable[str]]) -> list[str]:
    return [folder for folders in roots.values() for folder in folders]


def _refuse_pillar(options: Options) -> None:
    """Refuse a tree that lies in the pillar: each host would get that of all others."""
    for folder in _folders(options.file_roots):
        for pillar in _folders(options.pillar_roots):
            inside = os.path.realpath(folder) + "/"
            if os.path.isdir(pillar) and inside.startswith(os.path.realpath(pillar) + "/"):
                message = f"the states in {folder} lie in the pillar ({pillar})"
                hint = (
                    "each host would get the pillar of all others: keep it in a folder of its own"
                )
                raise RunnerError(message, hint=hint)


def _stays(path: str, file: str, root: str, private: Iterable[str]) -> bool:
    """Return whether a file of a root is none of the tree: of version control, of the pillar, of
    runner's own. A root may lie among the latter itself: formulas, a pulled tree, one of git.
    """
    if not VERSION_CONTROL.isdisjoint(path.split("/")):
        return True
    real, real_root = os.path.realpath(file), os.path.realpath(root) + "/"
    around = (os.path.realpath(folder) + "/" for folder in private)
    return any(
        place.startswith(folder)
        for folder in around
        if not real_root.startswith(folder)
        for place in (real, file)
    )


def _environments(roots: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The environments; `__env__` stands for the folders that are there."""
    named: list[str] = []
    for env, folders in roots.items():
        if env != "__env__":
            named.append(env)
            continue
        for folder in folders:
            above, _, below = folder.partition("__env__")
            for name in sorted(os.listdir(above or ".")) if os.path.isdir(above or ".") else ():
                if os.path.isdir(f"{above}{name}{below}"):
                    named.append(name)
    yield from dict.fromkeys(named)


def _code(options: Options, key: str, sources: dict[str, str]) -> list[str]:
    """The folders of modules that the configuration names, as they are called in the archive."""
    folders = []
    for number, folder in enumerate(options.raw[key] or ()):
        path = os.path.join(str(options.raw.get("config_dir") or ""), str(folder))
        name = f"{CODE}/{key}/{number}"
        folders.append(name)
        for inner in FileTree({"base": [path]}).files("", "base"):
            if inner.endswith(".py"):
                sources[f"{name}/{inner}"] = f"{path}/{inner}"
    return folders


def _settings(options: Options) -> dict[str, Any]:
    """The configuration, as far as it is for any machine."""
    settings = {
        key: value
        for key, value in options.raw.items()
        if key not in STAYING and not key.startswith(_OF_GIT) and value != DEFAULTS.get(key)
    }
    settings |= {"grains": options.own_grains, "pillar_roots": {"base": []}}
    return {key: plain(value) for key, value in settings.items() if value is not None}
