# SPDX-License-Identifier: Apache-2.0
"""What a Salt master needs to go on with a tree: its configuration, a roster, and the execution
module `runner`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from runner.model.diagnostics import Diagnostic
from runner.model.errors import UsageError
from runner.sources.config.file import is_store, setting_place
from runner.sources.config.keys import DEFAULTS, SETTINGS, salt_keys
from runner.sources.config.options import Options
from runner.tools.fleet.salt_module import OF_MASTER

MARK = "# Written by `runner fleet export salt`"
MODULES = "modules"  # a folder of file_roots of its own: minions may read all that lies there
# of a master, beside OF_MASTER, which is what it says about states to all its minions:
# how it makes the pillar, ...
OF_PILLAR = tuple(
    """
    decrypt_pillar decrypt_pillar_default decrypt_pillar_delimiter decrypt_pillar_renderers
    ext_pillar ext_pillar_first gpg_decrypt_must_succeed gpg_keydir master_tops on_demand_ext_pillar
    pillar_includes_override_sls pillar_merge_lists pillar_opts pillar_raise_on_missing
    pillar_source_merging_strategy renderer_blacklist renderer_whitelist vault
    """.split()
)
# ... and what its file server serves
OF_FILES = (
    "file_ignore_glob",
    "file_ignore_regex",
    "fileserver_backend",
    "fileserver_followsymlinks",
    "fileserver_ignoresymlinks",
    "hash_type",
)
PREFIXES = ("gitfs_", "git_pillar_")
# of runner alone, for all machines of the tree: they go with the tree, to the module `runner`
OF_RUNNER = tuple(
    """
    auto_relationships defaults durable edit_size_limit history_days history_runs html_report_runs
    noop render_limit secret_keys sls_size_limit state_max_parallel strict unknown_states vars
    verify
    """.split()
)
# what is the master's own affair, or is written in another form
ELSEWHERE = tuple(
    """
    __cli __role cachedir conf_file config_dir said_in default_include file_client file_roots fleet
    id include local pillar_roots root_dir state_dir
    """.split()
)


Hosts = Mapping[str, Mapping[str, Any]]  # of an inventory, with Ansible's variables


def export(options: Options, folder: str, hosts: Hosts = MappingProxyType({})) -> list[str]:
    """Write the master's configuration, the roster and the module; return the paths.

    Raises UsageError for a file in the way that is not from here, or cannot be written.
    """
    folder = os.path.abspath(folder)
    roots = {env: list(folders) for env, folders in options.file_roots.items()}
    roots.setdefault("base", []).append(os.path.join(folder, MODULES))
    pillar = {env: list(folders) for env, folders in options.pillar_roots.items()}
    own = _chosen(options)
    master = {
        "file_roots": roots,
        "pillar_roots": pillar,
        **{key: value for key, value in own.items() if _is_of_master(key, value)},
        "roster_file": os.path.join(folder, "roster"),
    }
    about = (
        f"{MARK}: a master of this tree. Use it with `salt-master -c {folder}`, or copy it\n"
        f"# to /etc/salt/master.d/runner.conf. `salt '*' saltutil.sync_modules` brings the module\n"
        f"# `runner` to the minions: `salt '*' runner.highstate test=True`.\n"
    )
    kept = {key: own[key] for key in OF_RUNNER if key in own}
    # a configuration can hold passwords; the modules are for all, and read by Salt's own user
    texts = {
        "master": about + _yaml(master),
        "roster": f"{MARK}: for salt-ssh.\n"
        + _yaml({name: _entry(name, hosts[name]) for name in hosts}),
        f"{MODULES}/_modules/runner.py": f"{MARK}\n{_module()}",
        f"{MODULES}/runner_options.json": _json(kept),
    }
    paths = {name: os.path.join(folder, name) for name in texts}
    for path in paths.values():
        _refuse_foreign(path)
    for name, text in texts.items():
        _write(paths[name], text, 0o644 if name.startswith(MODULES) else 0o600)
    return list(paths.values())


def left_out(options: Options, hosts: Hosts = MappingProxyType({})) -> list[Diagnostic]:
    """Return what the export leaves out, or what Salt itself does not do with it."""
    problems = []
    for key, value in _chosen(options).items():
        if _is_of_master(key, value):
            continue
        if key in OF_RUNNER:
            message = f"{key} is not a key of Salt: `state.apply` does not know it"
            hint = "`salt '*' runner.highstate` obeys it"
        elif key in salt_keys() or key in DEFAULTS or key == "grains":
            message = f"{key} belongs to the minions: it is not exported"
            hint = f"write it into their configuration: `{key}: ...` in /etc/salt/minion"
        elif key in SETTINGS:
            message, hint = f"{key} is not a key of Salt: it is not exported", None
        else:
            message = f"{key} is not exported: it may be for the minions alone"
            hint = "copy it into the master's configuration if the pillar needs it"
        place = setting_place(options.raw, key) if options.raw.get("conf_file") else None
        problems.append(Diagnostic(message, place, hint, "export", "warning", subject=key))
    for name, variables in hosts.items():
        if PASSWORDS & set(variables):
            message = f"the roster has no password of {name}"
            hint = "let salt-ssh use a key, or add `passwd` to the roster"
            problems.append(Diagnostic(message, None, hint, "export", "warning", subject=name))
    return problems


def _chosen(options: Options) -> dict[str, Any]:
    """Return what the configuration says that is not said anyway."""
    return {
        key: value
        for key, value in options.raw.items()
        if key not in ELSEWHERE and value not in (None, {}, []) and value != DEFAULTS.get(key)
    }


def _is_of_master(key: str, value: Any) -> bool:
    known = key in OF_MASTER or key in OF_PILLAR or key in OF_FILES or key.startswith(PREFIXES)
    return known or is_store(value)


# ---------------------------------------------------------------- the roster

PASSWORDS = {
    "ansible_become_pass",
    "ansible_become_password",
    "ansible_password",
    "ansible_ssh_pass",
    "ansible_sudo_pass",
}
ROSTER = {  # a key of a roster: Ansible's names of it
    "host": ("ansible_host", "ansible_ssh_host"),
    "user": ("ansible_user", "ansible_ssh_user"),
    "port": ("ansible_port", "ansible_ssh_port"),
    "priv": ("ansible_ssh_private_key_file", "ansible_private_key_file"),
}


def _entry(name: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a roster says about a host; passwords stay where they are."""
    entry: dict[str, Any] = {"host": name}
    for key, names in ROSTER.items():
        values = [variables[other] for other in names if variables.get(other) not in (None, "")]
        if values:
            entry[key] = values[0]
    if variables.get("ansible_become"):
        entry["sudo"] = True
    return entry


# ---------------------------------------------------------------- files


def _module() -> str:
    with open(os.path.join(os.path.dirname(__file__), "salt_module.py"), encoding="utf-8") as file:
        return file.read()


def _yaml(value: Any) -> str:
    import yaml

    return yaml.safe_dump(json.loads(_json(value)), sort_keys=False, allow_unicode=True)


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, default=list) + "\n"


def _refuse_foreign(path: str) -> None:
    """Refuse to replace what was not written from here."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            ours = path.endswith(".json") or file.readline().startswith(MARK)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{path} cannot be replaced: {error.strerror}") from None
    if not ours:
        raise UsageError(
            f"{path} was not written by `runner fleet export salt`: it is not replaced",
            hint="export into an empty folder",
        )


def _write(path: str, text: str, mode: int) -> None:
    """Write a file whole."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        new = f"{path}.new"
        with suppress(FileNotFoundError):
            os.unlink(new)  # of an export that was killed, or of somebody else
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(new, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
