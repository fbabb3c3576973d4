# SPDX-License-Identifier: Apache-2.0
"""Containers of Docker and Podman."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from modules.containers import docker
from modules.containers.docker import options
from runner.api import Done, Duration, Line, Name, Named, OneOrMany, Plan, Planned, StateFailed
from states._tools import explained
from states.containers._docker import ENGINE, OwnName, WantedContainer

DECIDES = {"running": "image"}
MEANS = {"image": docker.full_name}

NON_IDEMPOTENT = {
    "run": "it runs a container each time, unless `creates` or another guard says that it is done"
}
RUN_OPTIONS = (*options.NAMES, *docker.LOG_OPTIONS)
Option = Annotated[Any, Named(options.is_option, options.NAMES)]
RunOption = Annotated[Any, Named(lambda name: name in RUN_OPTIONS, RUN_OPTIONS)]


def running(
    name: OwnName,
    image: Line | None = None,
    skip_translate: OneOrMany[Line] | bool | None = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    force: bool = False,
    watch_action: Line | int = "force",
    start: bool = True,
    shutdown_timeout: Duration[int] | None = None,
    client_timeout: Duration[int] = 60,
    networks: list[Any] | Line | None = None,
    **option: Option,
) -> Planned:
    """Make sure that a container runs, and is as declared: one that differs is replaced.

    Any other argument is an option of the container. What it runs: command (cmd), entrypoint,
    environment (env), working_dir (workdir), user, group_add, hostname, domainname, labels (label),
    tty, stdin_open (interactive), init, stop_signal, stop_timeout, healthcheck, auto_remove (rm),
    restart_policy (restart), detach. What it sees: binds, volumes (volume), volumes_from,
    volume_driver, tmpfs, devices (device), read_only, shm_size, storage_opt. Network: port_bindings
    (publish), ports (expose), publish_all_ports (publish_all), network_mode (net),
    network_disabled, mac_address, dns, dns_opt (dns_option), dns_search, extra_hosts (add_host),
    links (link). Rights: privileged, cap_add, cap_drop, security_opt (security_opts), userns_mode
    (user_ns_mode), ipc_mode (ipc), pid_mode (pid), uts_mode (uts), cgroupns, cgroup_parent,
    device_cgroup_rules, sysctls (sysctl), ulimits (ulimit), runtime, isolation. Resources:
    mem_limit (memory), mem_reservation, memswap_limit (memory_swap), mem_swappiness, cpu_shares,
    cpu_period, cpu_quota, nano_cpus, cpuset_cpus (cpuset), cpuset_mems, cpu_rt_period,
    cpu_rt_runtime, pids_limit, blkio_weight, blkio_weight_device, device_read_bps,
    device_write_bps, device_read_iops, device_write_iops, device_requests, oom_kill_disable,
    oom_score_adj. Logs: log_driver, log_opt, log_config. All are written as for `docker run`
    (`8080:80`, `/srv:/data:ro`, `512m`, `NAME=value`).

    name: The name of the container.
    image: The image that it is made of; pulled where it is missing.
    skip_translate: Options that are already what the engine's API takes; true for all.
    ignore_collisions: Accept an option by two of its names.
    validate_ip_addrs: Check that addresses are addresses.
    force: Replace the container in any case.
    watch_action: What a watch does: `force` (replace it), or a signal to send.
    start: Start it when it is made or stopped; false leaves it stopped.
    shutdown_timeout: Seconds until the old one is killed.
    client_timeout: Seconds that the engine may be silent during a pull.
    networks: All networks that it is on, alone or with aliases, links, ipv4_address, ipv6_address,
      link_local_ips, driver_opt, mac_address.

        web:
          docker_container.running:
            - image: nginx:1.27
            - port_bindings: 8080:80
            - binds: /srv/www:/usr/share/nginx/html:ro
            - environment:
              - TZ: UTC
            - restart_policy: always

    Behaviour: Salt 3007's docker_container.running; nothing is made for a comparison.
    """
    wanted = WantedContainer.of(
        name,
        image,
        options.declare(option, skip_translate, ignore_collisions, validate_ip_addrs),
        networks,
    )
    return (yield from wanted.ensure(start, force, shutdown_timeout, client_timeout))


def stopped(
    name: Name | None = None,
    containers: OneOrMany[Name] | None = None,
    shutdown_timeout: Duration[int] | None = None,
    unpause: bool = False,
    error_on_absent: bool = True,
) -> Planned:
    """Make sure that containers do not run.

    name: The name of the container.
    containers: The names of several containers instead.
    shutdown_timeout: Seconds until a container is killed; without it those that it was made with,
      else 10.
    unpause: Stop paused containers, too; without it they are a failure.
    error_on_absent: Fail for a container that there is not; false does not.

        old site:
          docker_container.stopped:
            - containers: [web, worker]
    """
    targets = containers or ([name] if name else [])
    if not targets:
        raise StateFailed("One of 'name' and 'containers' must be provided")
    states: dict[str, list[str]] = {}
    for target in targets:
        container = docker.find_container(target)
        state = "absent" if container is None else docker.state_of(container)
        states.setdefault(state, []).append(target)
    _refuse(states, unpause, error_on_absent)
    to_stop = [*states.get("running", []), *states.get("paused", [])]
    if not to_stop:
        whose = f"Container '{targets[0]}' is" if len(targets) == 1 else _ALL
        return f"{whose} {'absent or ' if 'absent' in states else ''}not running"
    plan = {
        target: {"result": True, "state": {"old": state, "new": "stopped"}}
        for state in ("running", "paused")
        for target in states.get(state, [])
    }
    listed = ", ".join(to_stop)
    yield Plan(plan, f"The following container(s) will be stopped: {listed}")
    changes, problems = {}, []
    for target in to_stop:
        answer = docker.stop(target, timeout=shutdown_timeout, unpause=unpause)
        if answer["result"]:
            changes[target] = answer
        else:
            problems.append(answer.get("comment") or f"Failed to stop container '{target}'")
    if problems:
        raise StateFailed("; ".join(problems), changes=changes)
    return Done(f"The following container(s) were stopped: {listed}", changes)


_ALL = "All specified containers are"


def _refuse(states: dict[str, list[str]], unpause: bool, error_on_absent: bool) -> None:
    problems = []
    if error_on_absent and "absent" in states:
        problems.append(f"The following container(s) are absent: {', '.join(states['absent'])}")
    if not unpause and "paused" in states:
        problems.append(f"The following container(s) are paused: {', '.join(states['paused'])}")
    if problems:
        missing = [("docker_container", target) for target in states.get("absent", [])]
        raise StateFailed(". ".join(problems), missing=missing)


def absent(name: Name, force: bool = False) -> Planned:
    """Make sure that there is no such container.

    name: The name of the container.
    force: Remove it even if it runs.

        old:
          docker_container.absent:
            - force: True
    """
    container = docker.find_container(name)
    if container is None:
        return f"Container '{name}' does not exist"
    state = docker.state_of(container)
    if state != "stopped" and not force:
        raise StateFailed("Container is running, set force to True to forcibly remove it")
    yield Plan({"removed": [container["Id"]]}, f"Container '{name}' will be removed")
    with explained(f"Failed to remove container '{name}'", changes={}):
        docker.rm(name, force=force)
    method = "Successfully" if state == "stopped" else "Forcibly"
    return f"{method} removed container '{name}'"


def run(
    name: OwnName,
    image: Line | None = None,
    bg: bool = False,
    failhard: bool = True,
    replace: bool = False,
    force: bool = False,
    skip_translate: OneOrMany[Line] | bool | None = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    client_timeout: Duration[int] = 60,
    networks: list[Any] | Line | None = None,
    **option: RunOption,
) -> Planned:
    """Run a container to its end, as cmd.run runs a command. `creates` and other guards say when.

    Any other argument is an option as of docker_container.running, or one of stdout, stderr, tail,
    since, until, timestamps of docker.logs.

    name: The name of the container; without it the engine chooses one.
    image, skip_translate, ignore_collisions, validate_ip_addrs, client_timeout, networks: as of
      docker_container.running.
    bg: Do not wait for its end.
    failhard: Fail when its exit code is not zero.
    replace: Remove a container of this name first.
    force: With replace, remove also one that runs.

        build:
          docker_container.run:
            - image: builder:3
            - binds: /srv/builds:/builds
            - command: /scripts/build.sh 1.0
            - creates: /srv/builds/app-1.0.tar
            - replace: True
            - rm: True
    """
    logs = {key: option.pop(key) for key in docker.LOG_OPTIONS if key in option}
    declared = options.declare(option, skip_translate, ignore_collisions, validate_ip_addrs)
    remove = bool(declared.values.get("auto_remove")) and not bg
    if remove:  # its exit code and its logs are needed first
        del declared.values["auto_remove"]
    wanted = WantedContainer.of(name, image, declared, networks)
    wanted.look_at_image()
    wanted.look_at_engine()
    if wanted.container is not None and not replace:
        raise StateFailed(
            f"Encountered error running container: Container '{name}' already exists. Run with"
            " replace=True to remove the existing container"
        )
    if wanted.container and docker.state_of(wanted.container) != "stopped" and not force:
        raise StateFailed(
            f"Encountered error running container: Container '{name}' is running, use force=True"
            " to forcibly remove this container"
        )
    yield Plan(
        {},
        f"Container would be run{' in the background' if bg else ''}",
        exact=False,
        why="what it prints is known when it has run",
        provides=[("docker_container", name)],
    )
    return wanted.run(bg, failhard, remove, client_timeout, logs)


REACTS = ("running",)


def mod_watch(
    name: Name,
    sfun: Line,
    image: Line | None = None,
    watch_action: Line | int = "force",
    shutdown_timeout: Duration[int] | None = None,
    client_timeout: Duration[int] = 60,
    start: bool = True,
    skip_translate: OneOrMany[Line] | bool | None = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    networks: list[Any] | Line | None = None,
    **option: Option,
) -> Planned:
    """Replace a container because something that it watches changed, or send it a signal.

    watch_action: force, or the signal. The rest as docker_container.running.
    """
    if sfun not in REACTS:
        raise StateFailed(f"watch requisite is not implemented for {sfun}")
    declared = options.declare(option, skip_translate, ignore_collisions, validate_ip_addrs)
    wanted = WantedContainer.of(name, image, declared, networks)
    if watch_action == "force":
        return (yield from wanted.ensure(start, True, shutdown_timeout, client_timeout))
    if wanted.state != "running" or wanted.differences() or wanted.network_differences():
        return (yield from wanted.ensure(start, False, shutdown_timeout, client_timeout))
    yield Plan({"signal": watch_action}, f"Signal {watch_action} would be sent to container")
    docker.signal(name, watch_action)
    return f"Sent signal {watch_action} to container"


def autorequire(
    name: str, image: str | None = None, networks: list[Any] | Line | None = None, **option: object
) -> Iterator[tuple[str, str]]:
    """A container comes after the engine, its image and its networks."""
    yield from ENGINE
    if image:
        yield "docker_image", image
        yield "docker_image", image.partition(":")[0]
    try:
        for network in docker.read_networks(networks) or ():
            yield "docker_network", network
    except ValueError:
        return
