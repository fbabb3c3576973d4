"""Keys of a Salt minion that ask for something which runner does in another way, or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_CLONE = (
    "clone the repository into a folder of file_roots (git.latest in a state, or `git pull` from a"
    " timer)"
)
_SCHEDULE = "`runner schedule install` has the system start runner"
_RESULTS = (
    "`--out json`, `runner history` and prometheus_textfile carry results; nothing is sent to a"
    " returner"
)
_EVENTS = "there is no daemon to wait for events: let a systemd path or timer unit start `runner`"
_ID = "write the ID itself: `id: NAME`"
_PROXY = "set http_proxy and https_proxy in the environment of runner"

INSTEAD: Mapping[str, str] = {
    "append_domain": _ID,
    "beacons": _EVENTS,
    "disable_grains": "write the grains that differ below `grains:`",
    "disable_modules": "leave the functions out of the tree",
    "disabled_requisites": "take the requisites out of the tree",
    "engines": "run the program as a service of its own",
    "ext_job_cache": _RESULTS,
    "fileserver_backend": _CLONE,
    "gitfs_remotes": _CLONE,
    "global_state_conditions": (
        "write `onlyif` or `unless` in the states, or put them into an SLS with a condition"
    ),
    "grains_blacklist": "write the grains that differ below `grains:`",
    "hgfs_remotes": _CLONE,
    "id_function": _ID,
    "mine_functions": (
        "there is no master to keep it: what other machines know belongs in the pillar"
    ),
    "minion_id_lowercase": _ID,
    "minion_id_remove_domain": _ID,
    "proxy_host": _PROXY,
    "random_startup_delay": "`runner schedule install --splay TIME` delays runs",
    "reactor": _EVENTS,
    "return": _RESULTS,
    "s3.buckets": _CLONE.replace("clone the repository", "copy the bucket").partition(" (")[0],
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
    "whitelist_modules": "leave the functions out of the tree",
    "whitelist_state_modules": "leave the states out of the tree",
}


def unused(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys that ask for what is not done, with what to use."""
    for key, instead in INSTEAD.items():
        value = settings.get(key)
        if key == "fileserver_backend":
            value = (
                [backend for backend in value if backend not in ("roots", "file")]
                if isinstance(value, list)
                else value
            )
            value = (
                None
                if value == "roots"
                or (settings.get("gitfs_remotes") and value in (["git"], ["gitfs"]))
                else value
            )
        if value:
            yield key, instead
