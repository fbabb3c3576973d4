# SPDX-License-Identifier: Apache-2.0
"""The table of grains and the functions that find them.

A file here that the table does not use is one grain of its name: `weather.py` with a function
`weather`, which returns {"weather": ...}.
"""

from __future__ import annotations

import os

from runner.model.records import Record
from runner.support.own_modules import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Facts = dict[str, Any]


class GrainGroup(Record):
    """Grains that are found together. of_hardware: an image has none of them."""

    names: tuple[str, ...]
    look: Callable[[Mapping[str, Any]], Facts]
    of_hardware: bool = False


_used: set[str] = set()  # the files of the table


def _group(names: str, function: str) -> GrainGroup:
    """function: "module.name"; imported at the first look (sockets alone cost 3 ms)."""
    module, _, name = function.partition(".")
    _used.add(module)

    def look(grains: Mapping[str, Any]) -> Facts:
        found = import_module(f"runner.language.grains.{module}")
        facts: Facts = getattr(found, name)(grains)
        return facts

    return GrainGroup(tuple(names.split()), look, module == "hardware")


_OS = """
    os os_family osfullname osrelease osrelease_info osmajorrelease oscodename osfinger
    lsb_distrib_id lsb_distrib_codename lsb_distrib_release
"""
_PROCESS = "username groupname uid gid shell path systempath cwd ps pid"
_PYTHON = "pythonversion pythonexecutable pythonpath"
_SALT = "saltversion saltversioninfo saltpath master package zmqversion"
_INTERFACES = "ip_interfaces ip4_interfaces ip6_interfaces ipv4 ipv6 hwaddr_interfaces"
_DMI = "manufacturer productname biosversion biosvendor biosreleasedate serialnumber uuid boardname"

_HELPERS = ("__init__", "groups", "files", "external")


def _alone() -> Iterator[GrainGroup]:
    """The grains that have a file of their own."""
    for name, ending in map(os.path.splitext, sorted(os.listdir(os.path.dirname(__file__)))):
        if ending == ".py" and name not in _used and name not in _HELPERS:
            yield _group(name, f"{name}.{name}")


# groups without a program or a file of their own first: the order in which `grains` shows them
GROUPS: tuple[GrainGroup, ...] = (
    _group(_OS, "system.operating_system"),
    _group("osarch", "system.architecture"),
    _group("kernel kernelrelease kernelversion nodename cpuarch", "system.kernel"),
    _group("kernelparams", "system.kernel_parameters"),
    _group("host localhost fqdn domain", "network.names"),
    _group("fqdn_ip4 fqdn_ip6", "network.addresses_of_name"),
    _group("fqdns", "network.names_of_addresses"),
    _group("machine_id", "system.machine_id"),
    _group("server_id", "system.server_id"),
    _group("booted", "system.booted"),
    _group("init", "system.init"),
    _group("systemd", "system.systemd"),
    _group("transactional", "system.transactional"),
    _group("selinux", "system.selinux"),
    _group("efi efi-secure-boot", "system.efi"),
    _group("locale_info", "process.locale_info"),
    _group(_PROCESS, "process.process"),
    _group(_PYTHON, "process.python"),
    _group(_SALT, "process.salt"),
    _group("num_cpus cpu_model cpu_flags", "hardware.processors"),
    _group("mem_total swap_total", "hardware.memory"),
    _group("disks ssds", "hardware.disks"),
    _group("gpus num_gpus", "hardware.graphics"),
    _group("virtual virtual_subtype", "hardware.virtual"),
    _group(_DMI, "hardware.firmware"),
    _group(_INTERFACES, "network.interfaces"),
    _group("ip_gw ip4_gw ip6_gw", "network.gateways"),
    _group("dns", "network.resolver"),
    *_alone(),
)
