# SPDX-License-Identifier: Apache-2.0
"""Keys of a Salt minion that ask for something which runner does in another way, or not."""

from __future__ import annotations

import os
import pwd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_CLONE = (
    "copy it into a folder of file_roots (from a timer), or have it in a git repository:"
    " gitfs_remotes"
)
_NAMED = "add gitfs to fileserver_backend, as for Salt:\n    fileserver_backend: [roots, gitfs]"
_PROXY_OF_GIT = "set http_proxy and https_proxy in the environment of runner"
_NO_PASSPHRASE = "take a key without one (ssh-keygen -p), or give it to an ssh-agent"
_SCHEDULE = "`runner schedule install` has the system start runner"
_RESULTS = (
    "`report: {to: postgresql://...}` delivers each run into the tables of the returner pgjsonb, or"
    " elsewhere (docs/reports.md)"
)
_COMMANDS = "no command is refused for its name: give the user who runs runner no further rights"
_OF_TREE = "take what is not to be loaded out of the tree: `_modules`, `_states`, ..."
_EVENTS = "there is no daemon to wait for events: let a systemd path or timer unit start `runner`"
_ID = "write the ID itself: `id: NAME`"
_PROXY = "set http_proxy and https_proxy in the environment of runner"

INSTEAD: Mapping[str, str] = {
    "aliases.file": "alias.* and aliases.* write /etc/aliases: write another file with file.line",
    "append_domain": _ID,
    "beacons": _EVENTS,
    "cmd_blacklist_glob": _COMMANDS,
    "cmd_whitelist_glob": _COMMANDS,
    "disable_grains": "write the grains that differ below `grains:`",
    "disable_modules": "leave the functions out of the tree",
    "disabled_requisites": "take the requisites out of the tree",
    "engines": "run the program as a service of its own",
    "extmod_blacklist": _OF_TREE,
    "extmod_whitelist": _OF_TREE,
    "ext_job_cache": _RESULTS,
    "fileserver_backend": _CLONE,
    "fips_mode": "have the system itself in FIPS mode, and name digests that it has in the states",
    "git_pillar_passphrase": _NO_PASSPHRASE,
    "git_pillar_proxy": _PROXY_OF_GIT,
    "gitfs_passphrase": _NO_PASSPHRASE,
    "gitfs_proxy": _PROXY_OF_GIT,
    "gitfs_remotes": _NAMED,
    "global_state_conditions": (
        "write `onlyif` or `unless` in the states, or put them into an SLS with a condition"
    ),
    "grains_blacklist": "write the grains that differ below `grains:`",
    "grains_deep_merge": "write the grains that differ below `grains:`",
    "hgfs_remotes": _CLONE,
    "hosts.file": "host.* and hosts.* write /etc/hosts: write another file with file.line",
    "id_function": _ID,
    "iptables.save_filters": "`save` writes all rules: have others set after it, by another state",
    "mine_functions": (
        "there is no master to keep it: what other machines know belongs in the pillar"
    ),
    "minion_id_lowercase": _ID,
    "minion_id_remove_domain": _ID,
    "obfuscate_templates": "write `show_changes: false` in the states whose changes are secret",
    "proxy_host": _PROXY,
    "random_startup_delay": "`runner schedule install --splay TIME` delays runs",
    "reactor": _EVENTS,
    "return": _RESULTS,
    "s3.buckets": _CLONE,
    "schedule": (
        f"{_SCHEDULE}; other functions belong in a crontab or a timer that starts `runner call`"
    ),
    "snapper_states": (
        "take the snapshots with cmd.run, or around `runner` in the unit that starts it"
    ),
    "startup_states": f"{_SCHEDULE}, after each boot too",
    "state_queue": "`--wait` or `wait: -1` waits for another run",
    "sudo_user": "start runner as the user who is to do the work",
    "svnfs_remotes": _CLONE,
    "user": "start runner as the user who is to do the work",
    "whitelist_modules": "leave the functions out of the tree",
    "whitelist_state_modules": "leave the states out of the tree",
    "yum_provider": "write\n    providers: {pkg: dnf}",
}

# keys of how Salt prints results: many files have them, so that nothing is reported of them
PRINTING: Mapping[str, str] = dict.fromkeys(
    (
        "state_output",
        "state_output_diff",
        "state_output_profile",
        "state_tabular",
        "state_verbose",
        "output",
    ),
    "it may stay; `-v` shows unchanged states, `--diff` whole changes, `--out FORM` other forms",
)


def unused(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys that ask for what is not done, with what to use."""
    for key, instead in INSTEAD.items():
        value = settings.get(key)
        if key == "fileserver_backend":
            value = [name for name in _listed(value) if name not in {"roots", "file", *_GIT}]
        if key == "gitfs_remotes" and _GIT & set(_listed(settings.get("fileserver_backend"))):
            continue
        if value and not (key == "user" and value == _own_name()):
            yield key, instead


def _own_name() -> str:
    """The name of who runs this; empty without an account."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""


_GIT = {"git", "gitfs"}


def _listed(value: Any) -> list[str]:
    """The names of `fileserver_backend`, which may be one alone."""
    return [value] if isinstance(value, str) else [str(name) for name in value or ()]
