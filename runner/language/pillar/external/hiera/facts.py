# SPDX-License-Identifier: Apache-2.0
"""The facts that a hierarchy names, as Puppet's Facter calls them, from this machine's grains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

Grains = Mapping[str, Any]
# names that Facter has another word for
_OS = {"Arch": "Archlinux", "OEL": "OracleLinux", "Leap": "OpenSuSE", "Tumbleweed": "OpenSuSE"}
_FAMILIES = {"Arch": "Archlinux"}
_VIRTUAL = {"VirtualBox": "virtualbox", "VMware": "vmware", "HyperV": "hyperv"}
_SUBTYPES = {
    "Docker": "docker",
    "LXC": "lxc",
    "Podman": "podman",
    "systemd-nspawn": "systemd_nspawn",
}
# what Facter tells and grains do not, as globs
_UNKNOWN = tuple(
    """
    augeas* blockdevice* dhcp_servers disks* facterversion filesystems fips_enabled hardwareisa
    hypervisors* identity* interfaces load_averages* lsbdistdescription lsbminordistrelease
    memoryfree* memorysize* mountpoints* netmask* network network6 network[_6]* partitions* path
    processor[0-9]* physicalprocessorcount puppetversion ruby* scope6* ssh*key ssh ssh.* sshfp_*
    swap*_mb swapfree swapsize system_uptime* timezone uptime* ipaddress_* ipaddress6_* macaddress_*
    mtu_* dmi.board* dmi.chassis* dmi.bios.vendor dmi.bios.release_date memory.system.[acu]*
    memory.system.total memory.swap.[acu]* memory.swap.total networking.dhcp networking.mtu
    networking.netmask* networking.network* networking.scope6 networking.interfaces.*.[bdns]*
    networking.interfaces.*.mtu os.selinux.[cp]* os.selinux.enforced processors.[ps]*
    processors.cores
    """.split()
)


def is_unknown(fact: str) -> bool:
    """Return whether Facter would tell a fact (`a.b`) that runner does not know."""
    return any(fnmatchcase(fact, pattern) for pattern in _UNKNOWN)


class FacterFacts(Mapping[str, Any]):
    """Facter's facts, and below their names all grains that are called otherwise. Each is made when
    it is asked for.
    """

    def __init__(self, grains: Grains) -> None:
        self._grains = grains

    def __getitem__(self, name: str) -> Any:
        return _FACTS[name](self._grains) if name in _FACTS else self._grains[name]

    def __contains__(self, name: object) -> bool:
        return name in _FACTS or name in self._grains

    def __iter__(self) -> Any:
        return iter(dict.fromkeys([*_FACTS, *self._grains]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _os(grains: Grains) -> dict[str, Any]:
    name, release = str(grains.get("os", "")), _release(grains)
    selinux = grains.get("selinux")
    return {
        "name": _OS.get(name, name),
        "family": _FAMILIES.get(str(grains.get("os_family", "")), grains.get("os_family", "")),
        "architecture": grains.get("osarch"),
        "hardware": grains.get("cpuarch"),
        "release": release,
        "distro": {
            "id": str(grains.get("lsb_distrib_id", name)).partition(" ")[0],
            "codename": grains.get("oscodename"),
            "description": f"{grains.get('osfullname')} {release['full']}",
            "release": release,
        },
        "selinux": {"enabled": isinstance(selinux, Mapping) and bool(selinux.get("enabled"))},
    }


def _release(grains: Grains) -> dict[str, str]:
    """The numbers of the system's release; Ubuntu's major one is the year with the month."""
    full = str(grains.get("osrelease", ""))
    major, _, minor = full.partition(".")
    if grains.get("os") == "Ubuntu":
        major, minor = full, ""
    return {"full": full, "major": major, **({"minor": minor.partition(".")[0]} if minor else {})}


def _networking(grains: Grains) -> dict[str, Any]:
    interfaces = {}
    hardware = _mapping(grains, "hwaddr_interfaces")
    for name, addresses in _mapping(grains, "ip_interfaces").items():
        ip4 = [address for address in addresses if ":" not in address]
        ip6 = [address for address in addresses if ":" in address]
        found = {"ip": ip4[:1], "ip6": ip6[:1], "mac": [hardware[name]] if name in hardware else []}
        interfaces[name] = {key: value[0] for key, value in found.items() if value}
    outer = [name for name, interface in interfaces.items() if name != "lo" and "ip" in interface]
    return {
        "hostname": grains.get("host"),
        "fqdn": grains.get("fqdn"),
        "domain": grains.get("domain"),
        "interfaces": interfaces,
        **({"primary": outer[0], **interfaces[outer[0]]} if outer else {}),
    }


def _mapping(grains: Grains, name: str) -> Mapping[str, Any]:
    value = grains.get(name)
    return value if isinstance(value, Mapping) else {}


def _virtual(grains: Grains) -> str:
    kind, subtype = str(grains.get("virtual", "")), str(grains.get("virtual_subtype", ""))
    return _SUBTYPES.get(subtype) or _VIRTUAL.get(kind) or kind


def _kernel_version(grains: Grains) -> str:
    return str(grains.get("kernelrelease", "")).partition("-")[0]


def _memory(grains: Grains) -> dict[str, Any]:
    total = int(grains.get("mem_total") or 0) * 1024 * 1024
    swap = int(grains.get("swap_total") or 0) * 1024 * 1024
    return {"system": {"total_bytes": total}, "swap": {"total_bytes": swap}}


def _dmi(grains: Grains) -> dict[str, Any]:
    return {
        "manufacturer": grains.get("manufacturer"),
        "product": {
            "name": grains.get("productname"),
            "serial_number": grains.get("serialnumber"),
            "uuid": grains.get("uuid"),
        },
        "bios": {"version": grains.get("biosversion")},
    }


def _of(grain: str) -> Callable[[Grains], Any]:
    return lambda grains: grains.get(grain)


def _in(whole: Callable[[Grains], dict[str, Any]], *keys: str) -> Callable[[Grains], Any]:
    def value(grains: Grains) -> Any:
        found: Any = whole(grains)
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    return value


_FACTS: Mapping[str, Callable[[Grains], Any]] = {
    "os": _os,
    "networking": _networking,
    "processors": lambda grains: {
        "count": grains.get("num_cpus"),
        "isa": grains.get("cpuarch"),
        "models": [grains.get("cpu_model")] * int(grains.get("num_cpus") or 0),
    },
    "memory": _memory,
    "dmi": _dmi,
    "virtual": _virtual,
    "is_virtual": lambda grains: _virtual(grains) != "physical",
    "kernel": _of("kernel"),
    "kernelrelease": _of("kernelrelease"),
    "kernelversion": _kernel_version,
    "kernelmajversion": lambda grains: ".".join(_kernel_version(grains).split(".")[:2]),
    # the older names, one for each value
    "architecture": _of("osarch"),
    "clientcert": _of("id"),
    "domain": _of("domain"),
    "fqdn": _of("fqdn"),
    "hardwaremodel": _of("cpuarch"),
    "hostname": _of("host"),
    "ipaddress": _in(_networking, "ip"),
    "ipaddress6": _in(_networking, "ip6"),
    "lsbdistcodename": _of("oscodename"),
    "lsbdistid": _in(_os, "distro", "id"),
    "lsbdistrelease": _in(_os, "release", "full"),
    "lsbmajdistrelease": _in(_os, "release", "major"),
    "macaddress": _in(_networking, "mac"),
    "manufacturer": _of("manufacturer"),
    "operatingsystem": _in(_os, "name"),
    "operatingsystemmajrelease": _in(_os, "release", "major"),
    "operatingsystemrelease": _in(_os, "release", "full"),
    "osfamily": _in(_os, "family"),
    "processorcount": _of("num_cpus"),
    "productname": _of("productname"),
    "selinux": _in(_os, "selinux", "enabled"),
    "serialnumber": _of("serialnumber"),
    "uuid": _of("uuid"),
}
