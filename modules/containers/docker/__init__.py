# SPDX-License-Identifier: Apache-2.0
"""Containers, images, networks and volumes of Docker and Podman: what the docker_* states look at
and change, and Salt's functions.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from typing import Any

from modules._texts.call_options import options_of
from modules.containers.docker import _containers, _engine, _images, _networks, forms, options
from modules.containers.docker._containers import (
    check_at_end,
    exists,
    info,
    inspect_container,
    kill,
    last_words,
    list_containers,
    logs,
    pause,
    pid,
    port,
    ps,
    restart,
    signal,
    start,
    state,
    state_of,
    stop,
    unpause,
    version,
)
from modules.containers.docker._containers import look as find_container
from modules.containers.docker._engine import (
    PACKAGES,
    SERVICES,
    engine,
    lacking_driver,
    lacking_runtime,
)
from modules.containers.docker._images import (
    archive,
    build,
    full_name,
    history,
    images,
    inspect_image,
    list_tags,
    load,
    pull,
    refuse_to_build,
    registry_problem,
    resolve_image_id,
    resolve_tag,
    rmi,
    tag,
)
from modules.containers.docker._images import look as find_image
from modules.containers.docker._networks import (
    connect_container_to_network,
    connected,
    create_network,
    create_volume,
    disconnect_container_from_network,
    inspect_network,
    inspect_volume,
    networks,
    remove_network,
    remove_volume,
    reported_name,
    volumes,
)
from modules.containers.docker._networks import look as find_network
from modules.containers.docker._networks import look_volume as find_volume
from modules.containers.docker.options import Declared, Json
from runner.api import CommandFailed, changer, here

# what of `networks` goes to the engine, and how people may write it
NETWORK_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "aliases": forms.texts,
    "links": forms.pairs,
    "ipv4_address": forms.address,
    "ipv6_address": forms.address,
    "link_local_ips": forms.addresses,
    "driver_opt": forms.pairs,
    "mac_address": forms.text,
}
Networks = dict[str, Json] | None  # by name; None: what the engine does on its own


def read_networks(given: Any) -> Networks:
    """The networks of a container: names with commas, or a list of names and mappings. Raises
    ValueError.
    """
    if given is None:
        return None
    result: dict[str, Json] = {}
    for item in given if isinstance(given, list) else forms.texts(given):
        for name, settings in (item if isinstance(item, Mapping) else {item: None}).items():
            result[str(name)] = _network_settings(str(name), settings)
    return result


def _network_settings(network: str, settings: Any) -> Json:
    result = {}
    parts = [settings] if isinstance(settings, Mapping) else settings or []
    for key, value in ((k, v) for part in parts for k, v in dict(part).items()):
        if key not in NETWORK_OPTIONS:
            raise ValueError(
                f"network '{network}' has no option {key!r}; there are: "
                + ", ".join(NETWORK_OPTIONS)
            )
        if value is None:
            raise ValueError(f"Config option '{key}' for network '{network}' is missing a value")
        result[key] = NETWORK_OPTIONS[key](value)
    return result


# ---------------------------------------------------------------- made and removed


@changer(touches=[])
def make(name: str | None, image: str, declared: Declared, networks: Networks) -> Json:
    """Make a container, which does not run yet; its Id and Name."""
    body = declared.body(image)
    rest = dict(networks or {})
    if networks is not None and "network_mode" not in declared.values:
        first = next(iter(rest), None)
        body["HostConfig"]["NetworkMode"] = first or "none"
        if first:
            endpoint = _engine.ask("create_endpoint_config", **rest.pop(first))
            body["NetworkingConfig"] = {"EndpointsConfig": {first: endpoint}}
    made: Json = _engine.ask("create_container_from_config", body, name)
    try:
        for network, settings in rest.items():
            _engine.ask("connect_container_to_network", made["Id"], network, **settings)
    except CommandFailed:
        _engine.ask("remove_container", made["Id"], force=True)
        raise
    named = name or str(_containers.inspect_container(made["Id"])["Name"]).lstrip("/")
    return {"Id": made["Id"], "Name": named}


@changer(touches=[])
def put_in_place(
    name: str, image: str, declared: Declared, networks: Networks, timeout: int | None
) -> Json:
    """Replace a container by a new one, which is made first: when it cannot be made, the old one
    goes on. Returns the removed IDs and the added one. timeout: seconds until the old one is
    killed.
    """
    unfinished = f"{name}-runner-new"  # of a run that was killed, too
    if _containers.look(unfinished):
        _engine.ask("remove_container", unfinished, force=True)
    made = make(unfinished, image, declared, networks)
    removed = rm(name, stop=True, timeout=timeout)
    _engine.ask("rename", unfinished, name)
    return {"removed": removed, "added": made["Id"]}


@changer(touches=[])
def create(
    image: str,
    name: str | None = None,
    start: bool = False,
    skip_translate: str | list[str] | bool | None = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    client_timeout: int | None = None,
    networks: Any = None,
    **kwargs: Any,
) -> Json:
    """Create a container; its Id and Name. Raises CommandFailed.

    image: pulled where it is not there. start: it too. networks: those that it is on. kwargs: the
    options of docker_container.running. The rest as there.
    """
    declared = options.declare(_plain(kwargs), skip_translate, ignore_collisions, validate_ip_addrs)
    if _images.look(image) is None:
        _images.pull(image, client_timeout=client_timeout)
    began = time.time()
    made = make(name, image, declared, _valid_networks(networks))
    result = {**made, "Time_Elapsed": time.time() - began}
    return {**result, "Started": _containers.start(made["Name"])["result"]} if start else result


def _plain(kwargs: Mapping[str, Any]) -> Json:
    """Options without what Salt adds to calls (__pub_fun, ...), whose secrets are hidden."""
    given = options_of(kwargs)
    here.hide_named(given)
    return given


def _valid_networks(given: Any) -> Networks:
    try:
        return read_networks(given)
    except ValueError as problem:
        raise CommandFailed(f"Invalid network configuration: {problem}") from None


@changer(touches=[])
def run_container(
    image: str,
    name: str | None = None,
    skip_translate: str | list[str] | bool | None = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    client_timeout: int | None = None,
    bg: bool = False,
    replace: bool = False,
    force: bool = False,
    networks: Any = None,
    **kwargs: Any,
) -> Json:
    """Create a container and run it to its end; its Id, Name, ExitCode and Logs. Raises
    CommandFailed.

    bg: do not wait for its end. replace: one of this name that is there already; force: also one
    that runs. stdout, stderr, tail, timestamps: as docker.logs takes them. The rest as
    docker.create.
    """
    wanted_logs = {key: kwargs.pop(key) for key in LOG_OPTIONS if key in kwargs}
    if name is not None and _containers.look(name) is not None:
        if not replace:
            raise CommandFailed(
                f"Container '{name}' already exists. Run with replace=True to remove the existing"
                " container"
            )
        rm(name, force=force)
    remove = not bg and bool(kwargs.pop("auto_remove", kwargs.pop("rm", False)))
    declared = options.declare(_plain(kwargs), skip_translate, ignore_collisions, validate_ip_addrs)
    if _images.look(image) is None:
        _images.pull(image, client_timeout=client_timeout)
    attached = _valid_networks(networks)
    return run_made(name, image, declared, attached, bg, remove, wanted_logs)


@changer(touches=[])
def run_made(
    name: str | None,
    image: str,
    declared: Declared,
    networks: Networks,
    bg: bool,
    remove: bool,
    logs: Json,
) -> Json:
    """Make a container and run it to its end; its Id, Name, ExitCode and Logs.

    bg: do not wait for its end. remove: it afterwards. logs: how docker.logs is called.
    """
    made = make(name, image, declared, networks)
    _engine.ask("start", made["Id"])
    if bg:
        return made
    made["ExitCode"] = _engine.ask("wait", made["Id"], timeout=None)["StatusCode"]
    made["Logs"] = _containers.logs(made["Id"], **logs)
    if remove:
        rm(made["Id"])
    return made


LOG_OPTIONS = ("stdout", "stderr", "tail", "timestamps", "since", "until")


@changer(touches=[])
def rm(
    name: str,
    force: bool = False,
    volumes: bool = False,
    stop: bool = False,
    timeout: int | None = None,
) -> list[str]:
    """Remove a container; its ID in a list. Raises CommandFailed for one that runs.

    force: kill it first. stop: stop it first; timeout: the seconds that it may take. volumes: also
    those that have no name.
    """
    container = _containers.inspect_container(name)
    if _containers.state_of(container) != "stopped" and not (force or stop):
        raise CommandFailed(
            f"Container '{name}' is running, use force=True to forcibly remove this container"
        )
    if stop and not force:
        _containers.stop(name, timeout=timeout, unpause=True)
    if _containers.look(name) is not None:  # auto_remove
        _engine.ask("remove_container", name, v=volumes, force=force)
    return [str(container["Id"])]


@changer(touches=[])
def rename(name: str, new_name: str) -> bool:
    """Give a container another name."""
    _containers.inspect_container(name)
    _engine.ask("rename", name, new_name)
    return True


# ---------------------------------------------------------------- commands in containers


@changer(touches=[])
def run_all(
    name: str,
    cmd: str | list[str],
    python_shell: bool = True,
    user: str | None = None,
    workdir: str | None = None,
    env: Any = None,
) -> Json:
    """Run a command in a container that runs: retcode, stdout and stderr.

    python_shell: by the container's /bin/sh; else a program with its words. user, workdir, env: of
    the command.
    """
    if isinstance(cmd, list):
        words = [str(word) for word in cmd]
    else:
        words = ["/bin/sh", "-c", str(cmd)] if python_shell else shlex.split(str(cmd))
    environment = forms.pairs(env) or None
    made = _engine.ask(
        "exec_create", name, words, user=user or "", workdir=workdir, environment=environment
    )
    stdout, stderr = _engine.ask("exec_start", made["Id"], demux=True)
    return {
        "pid": _engine.ask("exec_inspect", made["Id"]).get("Pid"),
        "retcode": _engine.ask("exec_inspect", made["Id"]).get("ExitCode"),
        "stdout": _text(stdout),
        "stderr": _text(stderr),
    }


def _text(output: bytes | None) -> str:
    return (output or b"").decode("utf-8", "replace").rstrip("\n")


@changer(touches=[])
def run(name: str, cmd: str | list[str], python_shell: bool = True, **kwargs: Any) -> str:
    """Run a command in a container; what it prints, errors included. The rest as run_all."""
    answer = run_all(name, cmd, python_shell, **kwargs)
    return "\n".join(text for text in (answer["stdout"], answer["stderr"]) if text)


@changer(touches=[])
def run_stdout(name: str, cmd: str | list[str], python_shell: bool = True, **kwargs: Any) -> str:
    """Run a command in a container; what it prints. The rest as run_all."""
    return str(run_all(name, cmd, python_shell, **kwargs)["stdout"])


@changer(touches=[])
def run_stderr(name: str, cmd: str | list[str], python_shell: bool = True, **kwargs: Any) -> str:
    """Run a command in a container; its errors. The rest as run_all."""
    return str(run_all(name, cmd, python_shell, **kwargs)["stderr"])


@changer(touches=[])
def retcode(name: str, cmd: str | list[str], python_shell: bool = True, **kwargs: Any) -> int:
    """Run a command in a container; its exit code. The rest as run_all."""
    return int(run_all(name, cmd, python_shell, **kwargs)["retcode"])


def inspect(name: str) -> dict[str, Any]:
    """Return what the engine knows of a container, an image, a volume or a network of this name.
    Raises CommandFailed where there is none.

    {{ salt['docker.inspect']('web') | json }}
    """
    for look in (_containers.look, _images.look, _networks.look_volume, _networks.look):
        found = look(name)
        if found is not None:
            return found
    raise CommandFailed(f"Error 404: No such image/container/volume/network: {name}")
