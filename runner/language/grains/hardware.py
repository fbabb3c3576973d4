# SPDX-License-Identifier: Apache-2.0
"""Processors, memory, disks, and what the machine itself is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from runner.language.grains.files import output_of, printed, text_of

Grains = Mapping[str, Any]
Facts = dict[str, Any]


def processors(grains: Grains) -> Facts:
    """Their number, model and flags, as /proc/cpuinfo tells."""
    text = text_of("/proc/cpuinfo")
    lines = [line.partition(":") for line in text.splitlines()]
    fields: dict[str, str] = {}
    for key, _, value in lines:
        fields.setdefault(key.strip().lower(), value.strip())
    count = sum(key.strip().lower() == "processor" for key, _, _ in lines)
    model = next(
        (fields[key] for key in ("model name", "cpu", "hardware") if fields.get(key)), "Unknown"
    )
    flags = fields.get("flags") or fields.get("features") or ""
    return {
        "num_cpus": count or os.cpu_count() or 1,
        "cpu_model": model,
        "cpu_flags": flags.split(),
    }


def memory(grains: Grains) -> Facts:
    """In MiB."""
    sizes = dict(re.findall(r"(?m)^(MemTotal|SwapTotal):\s+(\d+)", text_of("/proc/meminfo")))
    return {
        "mem_total": int(sizes.get("MemTotal", 0)) // 1024,
        "swap_total": int(sizes.get("SwapTotal", 0)) // 1024,
    }


def disks(grains: Grains) -> Facts:
    """Block devices: those that turn and those that do not."""
    names: dict[str, list[str]] = {"disks": [], "ssds": []}
    for name in sorted(os.listdir("/sys/block")) if os.path.isdir("/sys/block") else ():
        turns = text_of(f"/sys/block/{name}/queue/rotational").strip()
        if turns and not name.startswith(("loop", "ram", "zram")):
            names["disks" if turns == "1" else "ssds"].append(name)
    return names


VENDORS = {
    "0x10de": "nvidia",
    "0x1002": "amd",
    "0x1022": "amd",
    "0x8086": "intel",
    "0x15ad": "vmware",
    "0x1af4": "virtio",
    "0x102b": "matrox",
    "0x1a03": "aspeed",
    "0x1013": "cirrus",
    "0x80ee": "virtualbox",
}


def graphics(grains: Grains) -> Facts:
    """Display controllers on the PCI bus; the model is its number."""
    cards = []
    folder = "/sys/bus/pci/devices"
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if text_of(f"{folder}/{name}/class").startswith("0x03"):
            vendor = text_of(f"{folder}/{name}/vendor").strip()
            model = text_of(f"{folder}/{name}/device").strip()
            cards.append({"vendor": VENDORS.get(vendor, "unknown"), "model": model})
    return {"num_gpus": len(cards), "gpus": cards}


# systemd-detect-virt's words -> virtual, virtual_subtype
KINDS: Mapping[str, tuple[str, str]] = {
    "none": ("physical", ""),
    "kvm": ("kvm", ""),
    "qemu": ("qemu", ""),
    "vmware": ("VMware", ""),
    "microsoft": ("VirtualPC", ""),
    "oracle": ("VirtualBox", ""),
    "xen": ("xen", ""),
    "amazon": ("Nitro", "Amazon EC2"),
    "parallels": ("Parallels", ""),
    "bochs": ("kvm", ""),
    "docker": ("container", "Docker"),
    "podman": ("container", "Podman"),
    "lxc": ("container", "LXC"),
    "lxc-libvirt": ("container", "LXC"),
    "systemd-nspawn": ("container", "systemd-nspawn"),
    "openvz": ("openvzve", ""),
    "wsl": ("container", "WSL"),
}


# virt-what's words; what it does not name is metal
VIRT_WHAT: Mapping[str, tuple[str, str]] = {
    "kvm": ("kvm", ""),
    "qemu": ("qemu", ""),
    "xen": ("xen", ""),
    "uml": ("uml", ""),
    "vmware": ("VMware", ""),
    "hyperv": ("HyperV", ""),
    "parallels": ("Parallels", ""),
    "docker": ("container", "Docker"),
    "lxc": ("container", "LXC"),
}


def virtual(grains: Grains) -> Facts:
    """Metal, a virtual machine or a container: as virt-what says where it is there, else systemd or
    the firmware.
    """
    printed_kind = printed("virt-what")
    words = printed_kind.split() if printed_kind is not None else []
    kind, subtype = next((VIRT_WHAT[word] for word in words if word in VIRT_WHAT), ("", ""))
    if not kind:
        word = (
            "none" if printed_kind == "" else output_of("systemd-detect-virt").strip() or _guess()
        )
        kind, subtype = KINDS.get(word, (word, ""))
    return {"virtual": kind, "virtual_subtype": subtype} if subtype else {"virtual": kind}


def _guess() -> str:
    """Without systemd's program: files that container runtimes leave, then the firmware's words."""
    if os.path.exists("/.dockerenv"):
        return "docker"
    if os.path.exists("/run/.containerenv"):
        return "podman"
    environment = text_of("/proc/1/environ")
    if "container=lxc" in environment:
        return "lxc"
    named = " ".join(
        text_of(f"/sys/class/dmi/id/{name}")
        for name in ("product_name", "sys_vendor", "bios_vendor")
    )
    marks = {
        "VMware": "vmware",
        "VirtualBox": "oracle",
        "Microsoft": "microsoft",
        "Xen": "xen",
        "Amazon EC2": "amazon",
    }
    marks |= {
        "KVM": "kvm",
        "QEMU": "kvm",
        "Google": "kvm",
        "OpenStack": "kvm",
        "Parallels": "parallels",
    }
    guess = next((kind for mark, kind in marks.items() if mark in named), "")
    return guess or (
        "kvm" if re.search(r"(?m)^flags\s*:.*\bhypervisor\b", text_of("/proc/cpuinfo")) else "none"
    )


DMI = {
    "manufacturer": "sys_vendor",
    "productname": "product_name",
    "serialnumber": "product_serial",
    "uuid": "product_uuid",
    "biosversion": "bios_version",
    "biosvendor": "bios_vendor",
    "biosreleasedate": "bios_date",
    "boardname": "board_name",
}


def firmware(grains: Grains) -> Facts:
    """The machine as the firmware describes it; nothing where that cannot be read."""
    values = {name: text_of(f"/sys/class/dmi/id/{file}").strip() for name, file in DMI.items()}
    values["uuid"] = values["uuid"].lower()
    return {name: value for name, value in values.items() if value}
