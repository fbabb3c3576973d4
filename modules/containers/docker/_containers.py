# SPDX-License-Identifier: Apache-2.0
"""Containers: Salt's functions to look at them and to change them."""

from __future__ import annotations

import fnmatch
import time
from typing import Any

from modules import network
from modules.containers.docker import forms
from modules.containers.docker._engine import ask, find, no_such
from runner.api import changer, here
from runner.api.later import check_later, forget_check

LASTS = 1  # seconds that a container has to run after a start
SHUTDOWN_TIMEOUT = 10  # seconds until a container that does not stop is killed
Json = dict[str, Any]


# ---------------------------------------------------------------- looks


def look(name: str) -> Json | None:
    """Return what the engine knows of a container; None where there is none."""
    container: Json | None = find("inspect_container", name)
    if container is not None:
        # passwords that were handed over in the environment are shown nowhere
        here.hide_named(forms.pairs((container.get("Config") or {}).get("Env") or []))
    return container


def inspect_container(name: str) -> Json:
    """Return what the engine knows of a container. Raises CommandFailed where there is none.

    {{ salt['docker.inspect_container']('web').NetworkSettings.IPAddress }}
    """
    container = look(name)
    if container is None:
        raise no_such("container", name)
    return container


def state_of(container: Json) -> str:
    """The state of an inspected container: running, paused or stopped."""
    values = container.get("State") or {}
    if values.get("Paused"):
        return "paused"
    return "running" if values.get("Running") else "stopped"


def state(name: str) -> str:
    """The state of a container: running, paused or stopped. Raises CommandFailed where there is
    none.

    {{ salt['docker.state']('web') }}
    """
    return state_of(inspect_container(name))


def exists(name: str) -> bool:
    """Return whether there is a container.

    {{ salt['docker.exists']('web') }}
    """
    return look(name) is not None


def pid(name: str) -> int:
    """The process ID of a container's first process; 0 while it does not run.

    {{ salt['docker.pid']('web') }}
    """
    return int(inspect_container(name)["State"].get("Pid") or 0)


def port(name: str, private_port: int | str | None = None) -> Json:
    """The published ports of a container, or of those that a glob matches.

    private_port: this one only (80, 53/udp).

        {{ salt['docker.port']('web', 80) | json }}
    """
    globbing = any(letter in name for letter in "*?[")
    names = fnmatch.filter(list_containers(all=True), name) if globbing else [name]
    text = "*" if private_port is None else str(private_port)
    wanted = text if text == "*" or "/" in text else f"{text}/*"
    result = {}
    for item in names:
        ports = inspect_container(item)["NetworkSettings"].get("Ports") or {}
        result[item] = {key: ports[key] for key in fnmatch.filter(ports, wanted)}
    return result if globbing else result[name]


def ps(
    filters: Json | None = None, all: bool = False, host: bool = False, verbose: bool = False
) -> Json:
    """The containers that run, by their IDs.

    filters: of the API ({'label': 'x=y'}). all: also those that do not run. host: the interfaces of
    the machine as well. verbose: with all that the engine knows of each, under Info.

        {{ salt['docker.ps'](all=True) | json }}
    """
    result: Json = {}
    for item in ask("containers", all=True, filters=filters):
        if all or str(item.get("State") or "").lower() in ("running", "paused"):
            result[item["Id"]] = with_local_time(item)
    if verbose:
        for key, value in result.items():
            value["Info"] = inspect_container(key)
    if host:
        result["host"] = {"interfaces": network.interfaces()}
    return result


def with_local_time(item: Json) -> Json:
    """An entry of a list as Salt shows it: when it was made in two forms, without the ID."""
    shown = {key: value for key, value in item.items() if key not in ("Id", "Created")}
    created = item.get("Created")
    if isinstance(created, int):
        local = time.localtime(created)
        shown["Time_Created_Epoch"] = created
        shown["Time_Created_Local"] = time.strftime("%Y-%m-%d %H:%M:%S %Z", local)
    return shown


def list_containers(all: bool = False) -> list[str]:
    """The names of the containers that run. all: also of those that do not.

    {{ salt['docker.list_containers'](all=True) | json }}
    """
    names = {name.lstrip("/") for item in ps(all=all).values() for name in item.get("Names") or []}
    return sorted(names)


def logs(
    name: str,
    stdout: bool = True,
    stderr: bool = True,
    timestamps: bool = False,
    tail: int | str = "all",
    since: int | None = None,
    until: int | None = None,
) -> str:
    """Return what a container has printed.

    tail: the last lines only. since, until: times, in seconds since 1970. timestamps: each line
    with its own.

        {{ salt['docker.logs']('web', tail=10) }}
    """
    inspect_container(name)
    output = ask(
        "logs",
        name,
        stdout=stdout,
        stderr=stderr,
        timestamps=timestamps,
        tail=tail,
        since=since,
        until=until,
    )
    return str(output.decode("utf-8", "replace"))


def last_words(name: str) -> str:
    """The end of a message on a container that does not run: its exit code and what it printed."""
    container = look(name)
    if container is None:
        return ""
    code = container["State"].get("ExitCode")
    text = logs(name, tail=5).strip()
    return f": it exited with code {code}" + (f"; its last words:\n{text}" if text else "")


def version() -> Json:
    """The versions of the engine and its API, with VersionInfo and ApiVersionInfo as numbers.

    {{ salt['docker.version']().Version }}
    """
    answer: Json = dict(ask("version", api_version=False))
    for key in ("Version", "ApiVersion"):
        if key in answer:
            answer[f"{key}Info"] = tuple(
                int(part) if part.isdigit() else part for part in str(answer[key]).split(".")
            )
    return answer


def info() -> Json:
    """Return what the engine knows of itself.

    {{ salt['docker.info']().Driver }}
    """
    answer: Json = ask("info")
    return answer


def check_at_end(name: str) -> None:
    """Check a container that was started before the run ends: some programs fail a moment after a
    good start.
    """

    def problem() -> str:
        container = look(name)
        values = (container or {}).get("State") or {}
        if not values.get("ExitCode") or values.get("Running"):
            return ""
        return f"Container {name} had started, and is dead at the end of the run{last_words(name)}"

    check_later(f"container {name}", LASTS, problem)


# ---------------------------------------------------------------- changes of state


@changer(touches=[])
def start(name: str) -> Json:
    """Start a container; its former state and the new one."""
    if state(name) == "paused":
        return _unchanged("paused", f"Container '{name}' is paused, cannot start")
    return _change_state(name, "start", "running")


@changer(touches=[])
def stop(name: str, timeout: int | None = None, unpause: bool = False) -> Json:
    """Stop a container; its former state and the new one.

    timeout: seconds until it is killed; by default those that it was made with, else 10. unpause:
    let a paused one go on first.
    """
    container = inspect_container(name)
    if timeout is None:
        timeout = (container.get("Config") or {}).get("StopTimeout") or SHUTDOWN_TIMEOUT
    before = state_of(container)
    if before == "paused":
        if not unpause:
            return _unchanged(
                before,
                f"Container '{name}' is paused, run with unpause=True to unpause before stopping",
            )
        ask("unpause", name)
    answer = _change_state(name, "stop", "stopped", timeout=timeout)
    answer["state"]["old"] = before
    return answer


@changer(touches=[])
def restart(name: str, timeout: int = SHUTDOWN_TIMEOUT) -> Json:
    """Restart a container. timeout: seconds until it is killed."""
    answer = _change_state(name, "restart", "running", timeout=timeout)
    return {**answer, "restarted": True} if answer["result"] else answer


@changer(touches=[])
def kill(name: str) -> Json:
    """Kill a container; its former state and the new one."""
    return _change_state(name, "kill", "stopped")


@changer(touches=[])
def pause(name: str) -> Json:
    """Pause a container; its former state and the new one."""
    if state(name) == "stopped":
        return _unchanged("stopped", f"Container '{name}' is stopped, cannot pause")
    return _change_state(name, "pause", "paused")


@changer(touches=[])
def unpause(name: str) -> Json:
    """Let a paused container go on; its former state and the new one."""
    if state(name) == "stopped":
        return _unchanged("stopped", f"Container '{name}' is stopped, cannot unpause")
    return _change_state(name, "unpause", "running")


@changer(touches=[])
def signal(name: str, signal: str | int) -> bool:
    """Send a signal to a container."""
    inspect_container(name)
    ask("kill", name, signal)
    return True


def _unchanged(state: str, comment: str) -> Json:
    return {"result": False, "state": {"old": state, "new": state}, "comment": comment}


def _change_state(name: str, action: str, wanted: str, timeout: int | None = None) -> Json:
    before = state(name)
    if action != "restart" and before == wanted:
        return _unchanged(wanted, f"Container '{name}' already {wanted}")
    forget_check(f"container {name}")
    ask(action, name, **({} if timeout is None else {"timeout": timeout}))
    container = look(name)  # one with auto_remove is gone by now
    after = state_of(container) if container else None
    return {
        "result": after == wanted or (container is None and wanted == "stopped"),
        "state": {"old": before, "new": after},
    }
