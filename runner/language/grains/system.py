# SPDX-License-Identifier: Apache-2.0
"""The operating system, its init and the process that asks."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Mapping

from runner.api.inits import BY_PROGRAM, init_of_files
from runner.language.grains.files import output_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Grains = Mapping[str, "Any"]
Facts = dict[str, "Any"]

# ID of os-release -> os
NAMES = {
    "alinux": "Alinux",
    "almalinux": "AlmaLinux",
    "alpine": "Alpine",
    "amzn": "Amazon",
    "arch": "Arch",
    "archarm": "Arch ARM",
    "centos": "CentOS",
    "debian": "Debian",
    "devuan": "Devuan",
    "fedora": "Fedora",
    "gentoo": "Gentoo",
    "kali": "Kali",
    "linuxmint": "Mint",
    "neon": "KDE neon",
    "ol": "OEL",
    "opensuse": "SUSE",
    "opensuse-leap": "SUSE",
    "opensuse-tumbleweed": "SUSE",
    "pop": "Pop",
    "raspbian": "Raspbian",
    "rhel": "RedHat",
    "rocky": "Rocky",
    "scientific": "ScientificLinux",
    "sled": "SUSE",
    "sles": "SUSE",
    "sles_sap": "SUSE",
    "ubuntu": "Ubuntu",
}
# (ID, NAME) -> os
EDITIONS = {
    ("astra", "Astra Linux (Orel)"): "AstraLinuxCE",
    ("astra", "Astra Linux (Smolensk)"): "AstraLinuxSE",
}
_FAMILIES = {
    "Arch": "Arch, Arch ARM, Antergos, EndeavourOS, Manjaro, Manjaro ARM",
    "Debian": (
        "Debian, Devuan, Kali, Mint, Pop, Raspbian, Ubuntu, Deepin, Trisquel, Cumulus, Parrot OS,"
        " LMDE, KDE neon, AstraLinuxCE, AstraLinuxSE, Mendel, OSMC, Univention, antiX, elementary,"
        " elementary OS, TurnKey, Linaro"
    ),
    "Gentoo": "Gentoo, Funtoo",
    "RedHat": (
        "AlmaLinux, AlmaLinux Kitten, Alinux, ALT, AlterOS, Amazon, CentOS, CentOS Stream, Chapeau,"
        " CloudLinux, Fedora, Korora, OEL, RED OS, RedHat, RES, Rocky, Sangoma, ScientificLinux,"
        " VMware Photon OS, Virtuozzo, XCP, XCP-ng, XenServer, openEuler"
    ),
    "Suse": "SUSE, SLES, openSUSE",
}
FAMILIES = {name: family for family, names in _FAMILIES.items() for name in names.split(", ")}
WHOLE_VERSION_IN_FINGER = ("Ubuntu", "Pop", "NixOS")
SHORT_NAME_IN_FINGER = ("Debian", "Raspbian", "AlmaLinux")


def release_values(text: str) -> dict[str, str]:
    """The variables of an os-release file."""
    values = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith("#"):
            quote = (
                value[:1]
                if value[:1] in "\"'" and value[-1:] == value[:1] and len(value) > 1
                else ""
            )
            values[key] = re.sub(r"\\(.)", r"\1", value[1:-1]) if quote else value
    return values


def osgrains(os_release: str, debian_version: str = "", redhat_release: str = "") -> Facts:
    """The os grains that the texts of /etc/os-release, debian_version and redhat-release give.

    >>> osgrains('ID=debian\\nVERSION_ID="12"\\nNAME="Debian GNU/Linux"')["osfinger"]
    'Debian-12'
    """
    values = release_values(os_release)
    full = values.get("NAME", "Linux")
    name = _name(values, full)
    version = _version(values, debian_version, redhat_release)
    code, lsb_code = _codenames(values)
    facts = {
        "os": name,
        "os_family": FAMILIES.get(name, name),
        "osfullname": _full_name(values, name, full),
        "osrelease": version,
        "oscodename": code,
        "lsb_distrib_id": full,
        "lsb_distrib_codename": lsb_code,
    }
    if "VERSION_ID" in values:
        facts["lsb_distrib_release"] = values["VERSION_ID"]
    return facts | _version_grains(version, name, facts["osfullname"])


def _name(values: Mapping[str, str], full: str) -> str:
    if full == "CentOS Stream":
        return full
    id = values.get("ID", "")
    if re.match(r"cpe:(/[aoh]|2\.3:[aoh]):(open)?suse:", values.get("CPE_NAME", "")):
        return "SUSE"
    return (
        EDITIONS.get((id, full))
        or NAMES.get(id)
        or re.sub(r"\W(gnu/)?linux", "", full, flags=re.I).strip()
    )


def _full_name(values: Mapping[str, str], name: str, full: str) -> str:
    if full == "openSUSE Leap":
        return "Leap"
    return "Tumbleweed" if name == "SUSE" and values.get("VERSION") == "Tumbleweed" else full


def _version(values: Mapping[str, str], debian_version: str, redhat_release: str) -> str:
    """VERSION_ID; CentOS 7, and Debian and Mendel without one say it elsewhere."""
    version = values.get("VERSION_ID", "")
    if values.get("ID") == "centos" and "." not in version:
        exact = re.search(r"release (\d+\.\d[\d.]*)", redhat_release)
        return exact.group(1) if exact else version
    if not version and values.get("ID") == "debian" and debian_version[:1].isdigit():
        return debian_version.strip()
    if not version and values.get("ID") == "mendel":  # "Mendel GNU/Linux 5 (Eagle)"
        return (values.get("PRETTY_NAME", "").split() + [""] * 3)[2]
    return version


def _version_grains(version: str, name: str, full: str) -> Facts:
    if not version:  # a rolling distribution: Salt has none of these then
        return {}
    info = tuple(int(part) if part.isdigit() else part for part in version.split("."))
    shown = version if name in WHOLE_VERSION_IN_FINGER else version.split(".")[0]
    facts = {
        "osrelease_info": info,
        "osfinger": f"{name if name in SHORT_NAME_IN_FINGER else full}-{shown}",
    }
    return {**facts, "osmajorrelease": info[0]} if isinstance(info[0], int) else facts


def _codenames(values: Mapping[str, str]) -> tuple[str, str]:
    """(oscodename, lsb_distrib_codename)."""
    pretty = values.get("VERSION_CODENAME", values.get("PRETTY_NAME", ""))
    if "VERSION_CODENAME" not in values and values.get("ID") == "astra":
        return values.get("VARIANT_ID", ""), pretty
    bracketed = re.search(r"\((.+)\)", values.get("VERSION", ""))
    if bracketed and values.get("ID") in ("almalinux", "rocky"):
        return bracketed.group(1), bracketed.group(1)
    if bracketed and values.get("ID") == "rhel":
        return bracketed.group(1), pretty
    return pretty, pretty


def operating_system(grains: Grains) -> Facts:
    """Its name, family and version."""
    return osgrains(
        text_of("/etc/os-release") or text_of("/usr/lib/os-release"),
        text_of("/etc/debian_version"),
        text_of("/etc/centos-release") or text_of("/etc/redhat-release"),
    )


# dpkg's names, for a machine on which dpkg cannot be asked
DPKG_NAMES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "i686": "i386",
    "armv7l": "armhf",
    "ppc64le": "ppc64el",
}

RPM_FAMILIES = ("RedHat", "Suse")


def architecture(grains: Grains) -> Facts:
    """The architecture of packages, in the package manager's words."""
    machine = os.uname().machine
    if grains.get("os_family") == "Debian":
        return {
            "osarch": (
                output_of("dpkg", "--print-architecture").strip()
                or DPKG_NAMES.get(machine, machine)
            )
        }
    if grains.get("os_family") in RPM_FAMILIES:
        return {"osarch": output_of("rpm", "--eval", "%{_host_cpu}").strip() or machine}
    return {"osarch": machine}


def kernel(grains: Grains) -> Facts:
    """The answers of uname."""
    uname = os.uname()
    return {
        "kernel": uname.sysname,
        "kernelrelease": uname.release,
        "kernelversion": uname.version,
        "nodename": uname.nodename,
        "cpuarch": uname.machine,
    }


def kernel_parameters(grains: Grains) -> Facts:
    """The kernel's command line."""
    pairs = [word.partition("=") for word in text_of("/proc/cmdline").split()]
    return {"kernelparams": [(key, value if equals else None) for key, equals, value in pairs]}


def machine_id(grains: Grains) -> Facts:
    """systemd's or dbus's; absent where there is none."""
    text = text_of("/etc/machine-id").strip() or text_of("/var/lib/dbus/machine-id").strip()
    return {"machine_id": text} if text else {}


def server_id(grains: Grains) -> Facts:
    """A number made of the ID."""
    return {
        "server_id": (
            int(
                hashlib.sha256(
                    str(grains.get("id", "")).encode(errors="surrogateescape")
                ).hexdigest(),
                16,
            )
            % 2**31
        )
    }


# ---------------------------------------------------------------- init, security

INITS = tuple(
    "runit openrc-init s6-svscan tini dumb-init my_init supervisord shepherd upstart".split()
)


# programs that, as process 1, start the services of a machine
BOOTING = tuple(
    "systemd init openrc-init runit runit-init runsvdir s6-svscan my_init upstart shepherd".split()
)


def booted(grains: Grains) -> Facts:
    """Return whether an init has started this system: none has in a chroot, nor where a container
    is built.
    """
    try:
        in_chroot = not os.path.samestat(os.stat("/proc/1/root"), os.stat("/"))
    except FileNotFoundError:
        in_chroot = True  # no /proc, or another system's
    except OSError:  # only who may trace it may look, which is not root everywhere
        its, own = _root_of("1"), _root_of("self")
        in_chroot = bool(its) and its != own
    if in_chroot:
        return {"booted": False}
    runs = os.path.isdir("/run/systemd/system") or os.path.exists("/run/openrc")
    return {"booted": runs or _first_program() in BOOTING}


def _root_of(process: str) -> list[str]:
    """The file system that a process has for its root, and the folder of that; empty where this is
    not to be known.
    """
    mounts = [line.split(" ")[2:5] for line in text_of(f"/proc/{process}/mountinfo").splitlines()]
    return next((fields for fields in reversed(mounts) if fields[2:] == ["/"]), [])


def _first_program() -> str:
    return os.path.basename(text_of("/proc/1/cmdline").partition("\0")[0].partition(" ")[0])


def init(grains: Grains) -> Facts:
    """The program that runs as process 1; of a system that does not run, the one that its files
    speak of.
    """
    if not booted(grains)["booted"]:
        by_files = init_of_files(os.path.exists, os.path.realpath)
        first = _first_program()
        return {"init": first if by_files == "unknown" and first in INITS else by_files}
    if os.path.isdir("/run/systemd/system"):
        return {"init": "systemd"}
    first = _first_program()
    if first == "init":
        first = (
            "openrc"
            if os.path.exists("/run/openrc")
            else "sysvinit"
            if os.path.exists("/etc/inittab")
            else first
        )
        return {"init": first if first != "init" else "unknown"}
    return {"init": BY_PROGRAM.get(first, first if first in INITS else "unknown")}


def systemd(grains: Grains) -> Facts:
    """Its version and features, wherever it is installed."""
    lines = output_of("systemctl", "--version").splitlines()
    words = lines[0].split() if lines else []
    if len(words) < 2:
        return {}
    return {"systemd": {"version": words[1], "features": lines[1] if len(lines) > 1 else ""}}


def transactional(grains: Grains) -> Facts:
    """Return whether the system is changed by snapshots (transactional-update)."""
    return {"transactional": os.path.exists("/usr/sbin/transactional-update")}


def selinux(grains: Grains) -> Facts:
    """Only where SELinux's programs are installed, as in Salt."""
    enforcing = text_of("/sys/fs/selinux/enforce").strip()
    if not enforcing and not os.path.exists("/usr/sbin/selinuxenabled"):
        return {}
    enforced = {"1": "Enforcing", "0": "Permissive"}.get(enforcing, "Disabled")
    return {"selinux": {"enabled": bool(enforcing), "enforced": enforced}}


def efi(grains: Grains) -> Facts:
    """Return whether the firmware is EFI, and checks signatures."""
    is_efi = os.path.isdir("/sys/firmware/efi")
    secure = False
    if is_efi:
        for path in glob.glob("/sys/firmware/efi/efivars/SecureBoot-*"):
            try:
                with open(path, "rb") as file:
                    secure = file.read()[-1:] == b"\x01"
            except OSError:
                continue
    return {"efi": is_efi, "efi-secure-boot": secure}
