# SPDX-License-Identifier: Apache-2.0
"""Tasks of a Salt master: nothing here, so that trees that call it run."""

from __future__ import annotations

from typing import Any

from runner.api import RunnerError, here


def refresh_pillar(*args: Any, **kwargs: Any) -> bool:
    """Nothing to do: the pillar is read in each run."""
    return True


def refresh_grains(*args: Any, **kwargs: Any) -> bool:
    """Nothing to do: grains are looked up in each run."""
    return True


def sync_all(*args: Any, **kwargs: Any) -> dict[str, list[str]]:
    """Nothing to do: a tree's modules are used where they lie."""
    return {}


def sync_modules(*args: Any, **kwargs: Any) -> list[str]:
    """Nothing to do."""
    return []


sync_states = sync_grains = sync_utils = sync_modules
sync_renderers = sync_returners = sync_output = sync_serializers = sync_pillar = sync_matchers = (
    sync_modules
)
sync_beacons = sync_clouds = sync_engines = sync_executors = sync_log_handlers = sync_modules
sync_outputters = sync_proxymodules = sync_resources = sync_sdb = sync_thorium = sync_modules
sync_tops = sync_wrapper = sync_modules


def refresh_modules(*args: Any, **kwargs: Any) -> bool:
    """Nothing to do: each run looks at the tree anew."""
    return True


pillar_refresh = clear_cache = refresh_matchers = refresh_beacons = refresh_modules
refresh_resources = refresh_modules


def running() -> list[Any]:
    """No jobs of a master."""
    return []


def is_running(fun: str) -> list[Any]:
    """No jobs of a master."""
    return []


def find_job(jid: str) -> dict[str, Any]:
    """No job of a master."""
    return {}


def list_extmods() -> dict[str, list[str]]:
    """Nothing is synchronised: a tree's modules are used where they lie."""
    return {}


# a master's runners that a machine can answer by itself, by the execution function that does
_RUNNERS = {
    **dict.fromkeys(("mine.get", "config.get", "http.query", "test.arg", "network.wol"), ""),
    "pillar.show_pillar": "pillar.items",
}


_OF_THIS_MACHINE = ("cache.grains", "cache.pillar", "manage.up", "salt.cmd")


def cmd(
    tgt: Any,
    fun: str,
    arg: Any = (),
    timeout: float | None = None,
    tgt_type: str = "glob",
    ret: str = "",
    kwarg: Any = None,
    ssh: bool = False,
) -> dict[str, dict[str, Any]]:
    """The answers of the machines that a target names: at most of this one, by its ID.

    timeout, ret, ssh: of a Salt master.

        {{ salt['saltutil.cmd'](grains.id, 'test.ping') }}
    """
    if not here.match(tgt, tgt_type):
        return {}
    args = list(arg) if isinstance(arg, list | tuple) else [arg]
    own = str(here.opts.get("id", "local"))
    return {own: {"ret": here.call(fun, *args, **(kwarg or {})), "retcode": 0, "success": True}}


def runner(name: str, arg: Any = None, kwarg: Any = None, **options: Any) -> Any:
    """The answer of a master's runner of this machine alone.

    name: mine.get, config.get, http.query, pillar.show_pillar, cache.grains, cache.pillar,
    salt.cmd, manage.up. arg, kwarg: its arguments, which may be named, too. Raises RunnerError for
    other runners.

        {{ salt['saltutil.runner']('mine.get', tgt='*', fun='network.ip_addrs') }}
    """
    args = arg if isinstance(arg, list) else [] if arg is None else [arg]
    unused = ("saltenv", "jid", "asynchronous", "full_return")
    kwargs = {
        **(kwarg or {}),
        **{key: value for key, value in options.items() if key not in unused},
    }
    own = str(here.opts.get("id", "local"))
    if name == "salt.cmd" and args:
        return here.call(str(args[0]), *args[1:], **kwargs)
    if name in ("cache.grains", "cache.pillar"):
        return {own: dict(here.grains if name == "cache.grains" else here.pillar)}
    if name in ("manage.up", "manage.present", "manage.alived"):
        return [own]
    if name not in _RUNNERS:
        raise RunnerError(
            f"the runner {name!r} is a Salt master's",
            hint="runner works on one machine; of a master's runners it has "
            + ", ".join(sorted((*_RUNNERS, *_OF_THIS_MACHINE))),
        )
    return here.call(
        _RUNNERS[name] or name, *(() if name == "pillar.show_pillar" else args), **kwargs
    )
