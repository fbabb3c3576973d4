# SPDX-License-Identifier: Apache-2.0
"""The options of containers: one table that says for each of them where the engine's API has it,
what people may write, and how it is compared with the container that there is.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Collection, Mapping
from typing import Any

from modules.containers.docker import forms as form
from modules.containers.docker._engine import engine, find
from runner.api import Record, StateFailed, here

IMAGE: Any = "image"  # what is not declared is as the image says
ENGINE: Any = "engine"  # ... or as the engine chooses, which is not compared
Json = dict[str, Any]


# ---------------------------------------------------------------- comparing


def equal(wanted: Any, actual: Any) -> bool:
    """Return whether values are the same; nothing, zero, false and empty are."""
    return bool(wanted == actual or (not wanted and not actual))


def same_set(wanted: list[str], actual: list[str] | None) -> bool:
    return set(wanted or ()) == set(actual or ())


def at_least(wanted: Collection[str], actual: Collection[str] | None) -> bool:
    """Return whether everything that is wanted is there: engines add more on their own."""
    return set(wanted or ()) <= set(actual or ())


def same_capabilities(wanted: list[str], actual: list[str] | None) -> bool:
    return at_least(wanted, form.capabilities(actual or []))


def exact_capabilities(wanted: list[str], actual: list[str] | None) -> bool:
    return set(wanted) == set(form.capabilities(actual or []))


def same_security(wanted: list[str], actual: list[str] | None) -> bool:
    return at_least(wanted, form.security(actual or []))


def same_environment(wanted: list[str], actual: list[str] | None) -> bool:
    own, there = form.pairs(wanted or []), form.pairs(actual or [])
    return all(
        own.get(name) == there.get(name)
        for name in own.keys() | there.keys()
        if name in own or name not in ENGINE_VARIABLES
    )


ENGINE_VARIABLES = ("PATH", "TERM", "container", "HOSTNAME", "HOME")


def same_binds(wanted: list[str], actual: list[str] | None) -> bool:
    return _binds(wanted) == _binds(actual or [])


def _binds(binds: list[str]) -> set[tuple[str, str, bool]]:
    """The mounts, without the volumes that have no name but an ID."""
    result = set()
    for bind in binds:
        source, inside, *options = bind.split(":")
        if not re.fullmatch("[0-9a-f]{64}", source):
            read_only = "ro" in ",".join(options).split(",")
            result.add((source.rstrip("/") or "/", inside.rstrip("/") or "/", read_only))
    return result


def same_bindings(wanted: Json, actual: Json | None) -> bool:
    """Return whether the same ports are published; any port will do where none is wanted."""
    there = {port: bindings for port, bindings in (actual or {}).items() if bindings}
    if there.keys() != (wanted or {}).keys():
        return False
    return all(
        _sides(wanted[port], wanted[port]) == _sides(there[port], wanted[port]) for port in there
    )


def _sides(bindings: list[Json], wanted: list[Json]) -> list[tuple[str, str]]:
    any_port = not any(binding["HostPort"] for binding in wanted)
    return sorted(
        (
            "" if binding.get("HostIp") in ("0.0.0.0", "::", None) else binding["HostIp"],
            "" if any_port else str(binding.get("HostPort") or ""),
        )
        for binding in bindings
    )


def same_policy(wanted: Json, actual: Json | None) -> bool:
    name = (actual or {}).get("Name") or "no"
    count = (actual or {}).get("MaximumRetryCount") or 0
    return bool(
        wanted["Name"] == name and (name != "on-failure" or wanted["MaximumRetryCount"] == count)
    )


def same_limits(wanted: list[Json], actual: list[Json] | None) -> bool:
    return at_least(_limits(wanted), _limits(actual or []))


def _limits(limits: list[Json]) -> set[Any]:
    return {
        (item["Name"].lower().removeprefix("rlimit_"), item["Soft"], item["Hard"])
        for item in limits
    }


def same_devices(wanted: list[Json], actual: list[Json] | None) -> bool:
    """Return whether the same devices are passed on; Podman does not report the rights."""

    def plain(items: list[Json]) -> set[Any]:
        return {(item["PathOnHost"], item["PathInContainer"]) for item in items}

    rights = {item["PathOnHost"]: item["CgroupPermissions"] for item in wanted}
    return plain(wanted) == plain(actual or []) and all(
        (item.get("CgroupPermissions") or rights[item["PathOnHost"]]) == rights[item["PathOnHost"]]
        for item in actual or []
    )


def same_rates(wanted: list[Json], actual: list[Json] | None) -> bool:
    def plain(items: list[Json]) -> list[Any]:
        return sorted(tuple(sorted(map(str, item.values()))) for item in items)

    return plain(wanted) == plain(actual or [])


def same_log(wanted: Json, actual: Json | None) -> bool:
    """Return whether logs are written in the same way; Podman does not report the options."""
    there = actual or {}
    names = {"k8s-file": "json-file"}
    kind = wanted.get("Type")
    if kind and names.get(kind, kind) != names.get(there.get("Type", ""), there.get("Type")):
        return False
    options = there.get("Config")
    return options is None or wanted.get("Config", options) == options


def same_mounts(wanted: Mapping[str, str], actual: Mapping[str, str] | None) -> bool:
    there = actual or {}
    return all(
        place in there and at_least([o for o in options.split(",") if o], there[place].split(","))
        for place, options in wanted.items()
    )


def same_health(wanted: Json | None, actual: Json | None) -> bool:
    """Return whether the check is the same; engines fill in what is left out."""
    if not wanted:
        return not actual or actual.get("Test") in (None, [], ["NONE"])
    return all(equal(value, (actual or {}).get(key)) for key, value in wanted.items())


def same_signal(wanted: str | None, actual: str | None) -> bool:
    return _signal(wanted) == _signal(actual)


def _signal(name: str | None) -> str:
    """The name of a signal, which may be a number; the one that stops by default is SIGTERM."""
    word = str(name or "SIGTERM").upper().removeprefix("SIG")
    if word.isdigit():
        try:
            return signal.Signals(int(word)).name.removeprefix("SIG")
        except ValueError:
            return word
    return word


def same_folder(wanted: str | None, actual: str | None) -> bool:
    return (wanted or "/").rstrip("/") == (actual or "/").rstrip("/")


def same_address(wanted: str, actual: str | None) -> bool:
    """Return whether a MAC address is the same; some engines report it with the network only."""
    return not actual or wanted.lower() == actual.lower()


def same_links(wanted: list[str], actual: list[str] | None) -> bool:
    """Return whether links are the same: the engine writes /other:/name/alias."""
    there = [re.sub("^/([^:]*):.*/", r"\1:", item) for item in actual or []]
    return same_set(wanted, there)


def same_namespace(wanted: str, actual: str | None) -> bool:
    """Return whether a namespace is the same one; a container's is reported by the ID."""
    own, there = wanted or "", actual or ""
    if own.startswith("container:") and there.startswith("container:"):
        found = find("inspect_container", own.partition(":")[2]) or {}
        return there.partition(":")[2] in (own.partition(":")[2], found.get("Id"))
    return own == there or {own, there} <= OWN_NAMESPACE or {own, there} <= BRIDGE


OWN_NAMESPACE = {"", "private", "shareable", "default"}
BRIDGE = {"", "default", "bridge", "podman", "slirp4netns", "pasta"}


# ---------------------------------------------------------------- the table


class Option(Record):
    """An option of a container.

    field: where the API has it, with its section. form: what people write -> what the API takes.
    same: compares that with what the engine reports. otherwise: what holds when it is not declared.
    aliases: other names, those of the command line.
    """

    field: str
    form: Callable[[Any], Any]
    same: Callable[[Any, Any], bool] = equal
    otherwise: Any = ENGINE
    aliases: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        section, _, name = self.field.rpartition(".")
        return section or "Config", name


OPTIONS = {
    "command": Option("Cmd", form.command, equal, IMAGE, ("cmd",)),
    "entrypoint": Option("Entrypoint", form.command, equal, IMAGE),
    "environment": Option("Env", form.environment, same_environment, IMAGE, ("env",)),
    "labels": Option("Labels", form.labels, equal, IMAGE, ("label",)),
    "user": Option("User", form.text, equal, IMAGE),
    "working_dir": Option("WorkingDir", form.path, same_folder, IMAGE, ("workdir",)),
    "stop_signal": Option("StopSignal", form.text, same_signal, IMAGE),
    "healthcheck": Option("Healthcheck", form.healthcheck, same_health, IMAGE),
    "hostname": Option("Hostname", form.text),
    "domainname": Option("Domainname", form.text, equal, ""),
    "ports": Option("ExposedPorts", form.ports, at_least, ENGINE, ("expose",)),
    "stdin_open": Option("OpenStdin", form.flag, equal, False, ("interactive",)),
    "tty": Option("Tty", form.flag, equal, False),
    "detach": Option("", form.flag),
    "stop_timeout": Option("StopTimeout", form.integer),
    "volumes": Option("Volumes", form.volumes, at_least, ENGINE, ("volume",)),
    "mac_address": Option("MacAddress", form.text, same_address),
    "network_disabled": Option("NetworkDisabled", form.flag, equal, False),
    "auto_remove": Option("HostConfig.AutoRemove", form.flag, equal, False, ("rm",)),
    "binds": Option("HostConfig.Binds", form.binds, same_binds, []),
    "blkio_weight": Option("HostConfig.BlkioWeight", form.integer),
    "blkio_weight_device": Option(
        "HostConfig.BlkioWeightDevice", form.rates(form.integer, "Weight"), same_rates, []
    ),
    "cap_add": Option("HostConfig.CapAdd", form.capabilities, exact_capabilities, []),
    "cap_drop": Option("HostConfig.CapDrop", form.capabilities, same_capabilities),
    "cgroup_parent": Option("HostConfig.CgroupParent", form.text),
    "cgroupns": Option("HostConfig.CgroupnsMode", form.text),
    "cpu_period": Option("HostConfig.CpuPeriod", form.integer),
    "cpu_quota": Option("HostConfig.CpuQuota", form.integer),
    "cpu_rt_period": Option("HostConfig.CpuRealtimePeriod", form.integer),
    "cpu_rt_runtime": Option("HostConfig.CpuRealtimeRuntime", form.integer),
    "cpu_shares": Option("HostConfig.CpuShares", form.integer, equal, 0),
    "cpuset_cpus": Option("HostConfig.CpusetCpus", form.text, equal, "", ("cpuset",)),
    "cpuset_mems": Option("HostConfig.CpusetMems", form.text, equal, ""),
    "device_cgroup_rules": Option("HostConfig.DeviceCgroupRules", form.texts, same_set, []),
    "device_read_bps": Option(
        "HostConfig.BlkioDeviceReadBps", form.rates(form.size), same_rates, []
    ),
    "device_read_iops": Option(
        "HostConfig.BlkioDeviceReadIOps", form.rates(form.integer), same_rates, []
    ),
    "device_requests": Option("HostConfig.DeviceRequests", form.plain),
    "device_write_bps": Option(
        "HostConfig.BlkioDeviceWriteBps", form.rates(form.size), same_rates, []
    ),
    "device_write_iops": Option(
        "HostConfig.BlkioDeviceWriteIOps", form.rates(form.integer), same_rates, []
    ),
    "devices": Option("HostConfig.Devices", form.devices, same_devices, [], ("device",)),
    "dns": Option("HostConfig.Dns", form.addresses, equal, []),
    "dns_opt": Option("HostConfig.DnsOptions", form.texts, equal, [], ("dns_option",)),
    "dns_search": Option("HostConfig.DnsSearch", form.texts, equal, []),
    "extra_hosts": Option("HostConfig.ExtraHosts", form.hosts, same_set, [], ("add_host",)),
    "group_add": Option("HostConfig.GroupAdd", form.texts, same_set, []),
    "init": Option("HostConfig.Init", form.flag, equal, False),
    "ipc_mode": Option("HostConfig.IpcMode", form.text, same_namespace, "", ("ipc",)),
    "isolation": Option("HostConfig.Isolation", form.text),
    "links": Option("HostConfig.Links", form.links, same_links, [], ("link",)),
    "log_config": Option("HostConfig.LogConfig", form.plain, same_log),
    "log_driver": Option("HostConfig.LogConfig", lambda name: {"Type": form.text(name)}, same_log),
    "log_opt": Option(
        "HostConfig.LogConfig", lambda value: {"Config": form.pairs(value)}, same_log
    ),
    "mem_limit": Option("HostConfig.Memory", form.size, equal, 0, ("memory",)),
    "mem_reservation": Option("HostConfig.MemoryReservation", form.size, equal, 0),
    "mem_swappiness": Option("HostConfig.MemorySwappiness", form.integer),
    "memswap_limit": Option("HostConfig.MemorySwap", form.size, equal, ENGINE, ("memory_swap",)),
    "nano_cpus": Option("HostConfig.NanoCpus", form.integer),
    "network_mode": Option("HostConfig.NetworkMode", form.text, same_namespace, "", ("net",)),
    "oom_kill_disable": Option("HostConfig.OomKillDisable", form.flag, equal, False),
    "oom_score_adj": Option("HostConfig.OomScoreAdj", form.integer),
    "pid_mode": Option("HostConfig.PidMode", form.text, same_namespace, "", ("pid",)),
    "pids_limit": Option("HostConfig.PidsLimit", form.integer),
    "port_bindings": Option(
        "HostConfig.PortBindings", form.port_bindings, same_bindings, {}, ("publish",)
    ),
    "privileged": Option("HostConfig.Privileged", form.flag, equal, False),
    "publish_all_ports": Option(
        "HostConfig.PublishAllPorts", form.flag, equal, False, ("publish_all",)
    ),
    "read_only": Option("HostConfig.ReadonlyRootfs", form.flag, equal, False),
    "restart_policy": Option(
        "HostConfig.RestartPolicy",
        form.restart_policy,
        same_policy,
        {"Name": "no", "MaximumRetryCount": 0},
        ("restart",),
    ),
    "runtime": Option("HostConfig.Runtime", form.text),
    "security_opt": Option(
        "HostConfig.SecurityOpt", form.security, same_security, ENGINE, ("security_opts",)
    ),
    "shm_size": Option("HostConfig.ShmSize", form.size),
    "storage_opt": Option("HostConfig.StorageOpt", form.pairs, equal, {}),
    "sysctls": Option("HostConfig.Sysctls", form.pairs, equal, {}, ("sysctl",)),
    "tmpfs": Option("HostConfig.Tmpfs", form.tmpfs, same_mounts),
    "ulimits": Option("HostConfig.Ulimits", form.ulimits, same_limits, ENGINE, ("ulimit",)),
    "userns_mode": Option("HostConfig.UsernsMode", form.text, equal, ENGINE, ("user_ns_mode",)),
    "uts_mode": Option("HostConfig.UTSMode", form.text, equal, ENGINE, ("uts",)),
    "volume_driver": Option("HostConfig.VolumeDriver", form.text),
    "volumes_from": Option("HostConfig.VolumesFrom", form.texts, same_set, []),
}
ALIASES = {alias: name for name, option in OPTIONS.items() for alias in option.aliases}
NAMES = (*OPTIONS, *ALIASES)
# forms without a check of addresses
UNCHECKED: dict[str, Callable[[Any], Any]] = {"dns": form.texts, "extra_hosts": form.links}
# what Podman's compatible API does not report: it cannot be compared
UNREPORTED = {
    "podman": set(
        """
        Domainname MacAddress NetworkDisabled Init Links PublishAllPorts StorageOpt Sysctls
        DeviceCgroupRules DeviceRequests Isolation VolumeDriver Runtime UsernsMode CgroupnsMode
        CpuRealtimePeriod CpuRealtimeRuntime CgroupParent IpcMode
        """.split()
    )
}


# ---------------------------------------------------------------- what a container shall be


class Declared(Record):
    """What is declared of a container, as the API takes it, by the names of options."""

    values: dict[str, Any]

    def body(self, image: str) -> Json:
        """The request that makes such a container."""
        request: Json = {"Image": image, "HostConfig": {}}
        for name, value in self.values.items():
            section, field = OPTIONS[name].place
            target = request if section == "Config" else request["HostConfig"]
            if field and isinstance(value, dict) and isinstance(target.get(field), dict):
                target[field] = {**target[field], **value}
            elif field:
                target[field] = value
        return request

    def differences(
        self, container: Json, image: Json, networks: bool = False
    ) -> dict[str, dict[str, Json]]:
        """Return what of a container is not as declared: old and new by section and field.

        networks: those that it is on are declared, and so its network mode follows.
        """
        result: dict[str, dict[str, Json]] = {}
        defaults = image.get("Config") or {}
        for name, option in OPTIONS.items():
            section, field = option.place
            if not field or field in UNREPORTED.get(engine(), ()):
                continue
            wanted = self._wanted(name, option, defaults.get(field))
            if name == "network_mode" and networks and name not in self.values:
                continue
            actual = _reported(container, section, field)
            if wanted is not ENGINE and not option.same(wanted, actual):
                result.setdefault(section, {})[field] = {
                    "old": _shown(field, actual),
                    "new": _shown(field, wanted),
                }
        return result

    def _wanted(self, name: str, option: Option, in_image: Any) -> Any:
        """Return what the container is to have of an option, after the engine's rules."""
        if option.otherwise is IMAGE:
            if name == "command" and name not in self.values and self.values.get("entrypoint"):
                return None  # the image's command belongs to its own entrypoint
            if name == "environment":
                own = self.values.get(name) or []
                merged = form.pairs(in_image or []) | form.pairs(own)
                return [f"{key}={value}" for key, value in merged.items()]
            if name == "labels":
                return {**(in_image or {}), **(self.values.get(name) or {})}
        if name in self.values:
            return self.values[name]
        return in_image if option.otherwise is IMAGE else option.otherwise


def _reported(container: Json, section: str, field: str) -> Any:
    """Return what the engine reports of a field."""
    value = (container.get(section) or {}).get(field)
    if field == "Binds" and (container.get(section) or {}).get("VolumesFrom"):
        # Podman lists the mounts of the other container, too
        others = [
            find("inspect_container", name.partition(":")[0])
            for name in container[section]["VolumesFrom"]
        ]
        foreign = _binds(
            [bind for other in others if other for bind in other[section]["Binds"] or []]
        )
        return [bind for bind in value or () if not _binds([bind]) <= foreign]
    if field == "Volumes":  # Podman lists them among the mounts only
        return [*(value or ()), *(mount["Destination"] for mount in container.get("Mounts") or ())]
    return value


def _shown(field: str, value: Any) -> Any:
    """A value as changes show it, without what the engine added."""
    if field == "Env":
        return [item for item in value or () if item.partition("=")[0] not in ENGINE_VARIABLES]
    return value


def declare(
    given: Mapping[str, Any],
    as_they_are: str | list[str] | bool | None = None,
    collisions: bool = False,
    addresses: bool = True,
) -> Declared:
    """The options that are given, as the API takes them. Raises StateFailed with all mistakes.

    as_they_are: options that already are what the API takes (True: all). collisions: an option may
    be given by two of its names; its own name wins. addresses: check addresses.
    """
    kept = form.texts(as_they_are) if isinstance(as_they_are, str | list) else []
    problems = [f"{name}: there is no such option" for name in given if name not in NAMES]
    values: dict[str, Any] = {}
    for name, value in sorted(given.items(), key=lambda item: item[0] in OPTIONS):
        real = ALIASES.get(name, name)
        if real not in OPTIONS or value is None:
            continue
        if real in values and not collisions:
            alias = next(alias for alias in OPTIONS[real].aliases if alias in given)
            problems.append(f"'{alias}' is an alias for '{real}', they cannot both be used")
        try:
            raw = as_they_are is True or name in kept or real in kept
            unchecked = {} if addresses else UNCHECKED
            values[real] = value if raw else unchecked.get(real, OPTIONS[real].form)(value)
        except ValueError as problem:
            problems.append(f"{name}: {problem}")
    problems += _conflicts(values)
    if isinstance(values.get("environment"), list):
        here.hide_named(form.pairs(values["environment"]))
    if problems:
        raise StateFailed("; ".join(problems))
    return Declared(_completed(values))


def _conflicts(values: Mapping[str, Any]) -> list[str]:
    problems = []
    if values.get("port_bindings") and values.get("publish_all_ports"):
        problems.append("port_bindings: Cannot be used when publish_all_ports=True")
    if values.get("hostname") and values.get("network_mode") == "host":
        problems.append("hostname: Cannot be used when network_mode=host")
    return problems


def _completed(values: dict[str, Any]) -> dict[str, Any]:
    """The options with those that follow: published ports are exposed."""
    published = values.get("port_bindings")
    if isinstance(published, dict) and published:
        values["ports"] = {port: {} for port in published} | (values.get("ports") or {})
    return values


def is_option(name: str) -> bool:
    """Return whether containers have such an option, by its own name or another."""
    return name in NAMES
