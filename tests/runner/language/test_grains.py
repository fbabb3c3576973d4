# SPDX-License-Identifier: Apache-2.0
"""Grains; the os ones are what a real Salt makes of the same os-release files."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runner.language.grains import Grains, groups, network, system
from runner.language.grains import reboot_required as restart
from runner.language.grains.groups import GrainGroup
from runner.language.grains.system import osgrains

OS_RELEASES = {
    "debian": (
        'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\n'
        'VERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n'
    ),
    "sid": (
        'PRETTY_NAME="Debian GNU/Linux forky/sid"\nNAME="Debian'
        ' GNU/Linux"\nVERSION_CODENAME=forky\nID=debian\n'
    ),
    "raspbian": (
        'NAME="Raspbian'
        ' GNU/Linux"\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\nID=raspbian\nID_LIKE=debian\n'
    ),
    "ubuntu": 'NAME="Ubuntu"\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\nID=ubuntu\n',
    "mint": (
        'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu'
        ' debian"\nVERSION_ID="21.3"\nVERSION_CODENAME=virginia\n'
    ),
    "pop": 'NAME="Pop!_OS"\nID=pop\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\n',
    "kali": 'NAME="Kali GNU/Linux"\nVERSION_ID="2024.1"\nVERSION_CODENAME=kali-rolling\nID=kali\n',
    "devuan": 'NAME="Devuan GNU/Linux"\nVERSION_ID="5"\nVERSION_CODENAME="daedalus"\nID=devuan\n',
    "rhel": (
        'NAME="Red Hat Enterprise Linux"\nVERSION="9.4 (Plow)"\nID="rhel"\nVERSION_ID="9.4"\n'
        'PRETTY_NAME="Red Hat Enterprise Linux 9.4 (Plow)"\n'
    ),
    "rocky": (
        'NAME="Rocky Linux"\nVERSION="9.4 (Blue Onyx)"\nID="rocky"\nVERSION_ID="9.4"\n'
        'PRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"\n'
    ),
    "alma": (
        'NAME="AlmaLinux"\nVERSION="9.4 (Seafoam Ocelot)"\nID="almalinux"\nVERSION_ID="9.4"\n'
        'PRETTY_NAME="AlmaLinux 9.4 (Seafoam Ocelot)"\n'
    ),
    "centos7": (
        'NAME="CentOS Linux"\nVERSION="7 (Core)"\nID="centos"\nVERSION_ID="7"\n'
        'PRETTY_NAME="CentOS Linux 7 (Core)"\n'
    ),
    "stream": (
        'NAME="CentOS Stream"\nVERSION="9"\nID="centos"\nVERSION_ID="9"\nPRETTY_NAME="CentOS Stream'
        ' 9"\n'
    ),
    "fedora": (
        'NAME="Fedora Linux"\nVERSION="40 (Server'
        ' Edition)"\nID=fedora\nVERSION_ID=40\nVERSION_CODENAME=""\nPRETTY_NAME="Fedora Linux 40'
        ' (Server Edition)"\n'
    ),
    "oracle": (
        'NAME="Oracle Linux Server"\nVERSION="8.9"\nID="ol"\nVERSION_ID="8.9"\n'
        'PRETTY_NAME="Oracle Linux Server 8.9"\n'
    ),
    "amazon": (
        'NAME="Amazon Linux"\nVERSION="2023"\nID="amzn"\nVERSION_ID="2023"\nPRETTY_NAME="Amazon'
        ' Linux 2023"\n'
    ),
    "leap": (
        'NAME="openSUSE Leap"\nVERSION="15.5"\nID="opensuse-leap"\nVERSION_ID="15.5"\n'
        'PRETTY_NAME="openSUSE Leap 15.5"\n'
    ),
    "tumbleweed": (
        'NAME="openSUSE Tumbleweed"\nID="opensuse-tumbleweed"\nVERSION_ID="20240501"\n'
        'PRETTY_NAME="openSUSE Tumbleweed"\n'
    ),
    "sles": (
        'NAME="SLES"\nVERSION="15-SP5"\nVERSION_ID="15.5"\nID="sles"\n'
        'PRETTY_NAME="SUSE Linux Enterprise Server 15 SP5"\n'
    ),
    "arch": 'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n',
    "manjaro": 'NAME="Manjaro Linux"\nPRETTY_NAME="Manjaro Linux"\nID=manjaro\n',
    "alpine": (
        'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.19.1\nPRETTY_NAME="Alpine Linux v3.19"\n'
    ),
    "nixos": (
        'NAME=NixOS\nID=nixos\nVERSION_ID="23.11"\nVERSION_CODENAME=tapir\nPRETTY_NAME="NixOS 23.11'
        ' (Tapir)"\n'
    ),
    "photon": (
        'NAME="VMware Photon OS"\nID=photon\nVERSION_ID=5.0\nPRETTY_NAME="VMware Photon OS/Linux"\n'
    ),
    "kitten": 'NAME="AlmaLinux Kitten"\nVERSION="10 (Lion Cub)"\nID="almalinux"\nVERSION_ID="10"\n',
    "alibaba": (
        'NAME="Alibaba Cloud Linux"\nVERSION="3 (OpenAnolis'
        ' Edition)"\nID="alinux"\nVERSION_ID="3"\nPRETTY_NAME="Alibaba Cloud Linux 3"\n'
    ),
    "openeuler": (
        'NAME="openEuler"\nVERSION="24.03'
        ' (LTS)"\nID="openEuler"\nVERSION_ID="24.03"\nPRETTY_NAME="oE 24"\n'
    ),
    "tumbleweed of old": (
        'NAME="openSUSE"\nVERSION="Tumbleweed"\nID="opensuse"\nVERSION_ID="20160504"\n'
        'PRETTY_NAME="openSUSE Tumbleweed (20160504)"\n'
    ),
    "micro": (
        'NAME="SL-Micro"\nVERSION_ID="6.0"\nID="sl-micro"\nPRETTY_NAME="SUSE Linux Micro 6.0"\n'
        'CPE_NAME="cpe:/o:suse:sl-micro:6.0"\n'
    ),
    "arm": 'NAME="Arch Linux ARM"\nPRETTY_NAME="Arch Linux ARM"\nID=archarm\n',
    "manjaro arm": 'NAME="Manjaro ARM"\nPRETTY_NAME="Manjaro ARM"\nID=manjaro-arm\n',
    "mendel": (
        'NAME="Mendel GNU/Linux"\nPRETTY_NAME="Mendel GNU/Linux 5'
        ' (Eagle)"\nID=mendel\nVERSION_CODENAME=eagle\n'
    ),
    "parrot": 'NAME="Parrot OS"\nID=parrot\nVERSION_ID="5.1"\nVERSION_CODENAME=ara\n',
    "orel": 'NAME="Astra Linux (Orel)"\nID=astra\nVERSION_ID="2.12"\nVERSION_CODENAME=orel\n',
    "smolensk": (
        'NAME="Astra Linux'
        ' (Smolensk)"\nID=astra\nVERSION_ID="1.6"\nVARIANT_ID=smolensk\nPRETTY_NAME="Astra"\n'
    ),
    "foo": 'NAME="Foo Linux"\nID=foo\nID_LIKE="debian"\nVERSION_ID="3.1"\nVERSION_CODENAME=bar\n',
}
# os, os_family, osfullname, osrelease, osmajorrelease, oscodename, osfinger
EXPECTED: dict[str, tuple[Any, ...]] = {
    "debian": ("Debian", "Debian", "Debian GNU/Linux", "12", 12, "bookworm", "Debian-12"),
    "sid": ("Debian", "Debian", "Debian GNU/Linux", "12.11", 12, "forky", "Debian-12"),
    "raspbian": ("Raspbian", "Debian", "Raspbian GNU/Linux", "12", 12, "bookworm", "Raspbian-12"),
    "ubuntu": ("Ubuntu", "Debian", "Ubuntu", "22.04", 22, "jammy", "Ubuntu-22.04"),
    "mint": ("Mint", "Debian", "Linux Mint", "21.3", 21, "virginia", "Linux Mint-21"),
    "pop": ("Pop", "Debian", "Pop!_OS", "22.04", 22, "jammy", "Pop!_OS-22.04"),
    "kali": (
        "Kali",
        "Debian",
        "Kali GNU/Linux",
        "2024.1",
        2024,
        "kali-rolling",
        "Kali GNU/Linux-2024",
    ),
    "devuan": ("Devuan", "Debian", "Devuan GNU/Linux", "5", 5, "daedalus", "Devuan GNU/Linux-5"),
    "rhel": (
        "RedHat",
        "RedHat",
        "Red Hat Enterprise Linux",
        "9.4",
        9,
        "Plow",
        "Red Hat Enterprise Linux-9",
    ),
    "rocky": ("Rocky", "RedHat", "Rocky Linux", "9.4", 9, "Blue Onyx", "Rocky Linux-9"),
    "alma": ("AlmaLinux", "RedHat", "AlmaLinux", "9.4", 9, "Seafoam Ocelot", "AlmaLinux-9"),
    "centos7": (
        "CentOS",
        "RedHat",
        "CentOS Linux",
        "7",
        7,
        "CentOS Linux 7 (Core)",
        "CentOS Linux-7",
    ),
    "stream": (
        "CentOS Stream",
        "RedHat",
        "CentOS Stream",
        "9",
        9,
        "CentOS Stream 9",
        "CentOS Stream-9",
    ),
    "fedora": ("Fedora", "RedHat", "Fedora Linux", "40", 40, "", "Fedora Linux-40"),
    "oracle": (
        "OEL",
        "RedHat",
        "Oracle Linux Server",
        "8.9",
        8,
        "Oracle Linux Server 8.9",
        "Oracle Linux Server-8",
    ),
    "amazon": (
        "Amazon",
        "RedHat",
        "Amazon Linux",
        "2023",
        2023,
        "Amazon Linux 2023",
        "Amazon Linux-2023",
    ),
    "leap": ("SUSE", "Suse", "Leap", "15.5", 15, "openSUSE Leap 15.5", "Leap-15"),
    "tumbleweed": (
        "SUSE",
        "Suse",
        "openSUSE Tumbleweed",
        "20240501",
        20240501,
        "openSUSE Tumbleweed",
        "openSUSE Tumbleweed-20240501",
    ),
    "sles": ("SUSE", "Suse", "SLES", "15.5", 15, "SUSE Linux Enterprise Server 15 SP5", "SLES-15"),
    "arch": ("Arch", "Arch", "Arch Linux", "", None, "Arch Linux", None),
    "manjaro": ("Manjaro", "Arch", "Manjaro Linux", "", None, "Manjaro Linux", None),
    "alpine": (
        "Alpine",
        "Alpine",
        "Alpine Linux",
        "3.19.1",
        3,
        "Alpine Linux v3.19",
        "Alpine Linux-3",
    ),
    "nixos": ("NixOS", "NixOS", "NixOS", "23.11", 23, "tapir", "NixOS-23.11"),
    "photon": (
        "VMware Photon OS",
        "RedHat",
        "VMware Photon OS",
        "5.0",
        5,
        "VMware Photon OS/Linux",
        None,
    ),
    "kitten": ("AlmaLinux", "RedHat", "AlmaLinux Kitten", "10", 10, "Lion Cub", "AlmaLinux-10"),
    "alibaba": (
        "Alinux",
        "RedHat",
        "Alibaba Cloud Linux",
        "3",
        3,
        "Alibaba Cloud Linux 3",
        "Alibaba Cloud Linux-3",
    ),
    "openeuler": ("openEuler", "RedHat", "openEuler", "24.03", 24, "oE 24", "openEuler-24"),
    "tumbleweed of old": (
        "SUSE",
        "Suse",
        "Tumbleweed",
        "20160504",
        20160504,
        "openSUSE Tumbleweed (20160504)",
        "Tumbleweed-20160504",
    ),
    "micro": ("SUSE", "Suse", "SL-Micro", "6.0", 6, "SUSE Linux Micro 6.0", "SL-Micro-6"),
    "arm": ("Arch ARM", "Arch", "Arch Linux ARM", "", None, "Arch Linux ARM", None),
    "manjaro arm": ("Manjaro ARM", "Arch", "Manjaro ARM", "", None, "Manjaro ARM", None),
    "mendel": ("Mendel", "Debian", "Mendel GNU/Linux", "5", 5, "eagle", "Mendel GNU/Linux-5"),
    "parrot": ("Parrot OS", "Debian", "Parrot OS", "5.1", 5, "ara", "Parrot OS-5"),
    "orel": (
        "AstraLinuxCE",
        "Debian",
        "Astra Linux (Orel)",
        "2.12",
        2,
        "orel",
        "Astra Linux (Orel)-2",
    ),
    "smolensk": (
        "AstraLinuxSE",
        "Debian",
        "Astra Linux (Smolensk)",
        "1.6",
        1,
        "smolensk",
        "Astra Linux (Smolensk)-1",
    ),
    "foo": ("Foo", "Foo", "Foo Linux", "3.1", 3, "bar", "Foo Linux-3"),
}
KEYS = ("os", "os_family", "osfullname", "osrelease", "osmajorrelease", "oscodename", "osfinger")


@pytest.mark.parametrize("name", EXPECTED)
def test_operating_systems(name: str) -> None:
    found = osgrains(OS_RELEASES[name], "12.11\n")
    expected = dict(zip(KEYS, EXPECTED[name], strict=True))
    if name == "photon":
        expected["osfinger"] = "VMware Photon OS-5"
    assert {key: found.get(key) for key in KEYS} == expected


def test_versions_in_their_parts() -> None:
    assert osgrains(OS_RELEASES["ubuntu"])["osrelease_info"] == (22, 4)
    assert osgrains(OS_RELEASES["leap"])["lsb_distrib_id"] == "openSUSE Leap"
    assert (
        osgrains(OS_RELEASES["rhel"])["lsb_distrib_codename"]
        == "Red Hat Enterprise Linux 9.4 (Plow)"
    )
    exact = osgrains(
        OS_RELEASES["centos7"], redhat_release="CentOS Linux release 7.9.2009 (Core)\n"
    )
    assert (exact["osrelease"], exact["osmajorrelease"], exact["osfinger"]) == (
        "7.9.2009",
        7,
        "CentOS Linux-7",
    )
    assert "osrelease_info" not in osgrains(OS_RELEASES["arch"])
    assert osgrains("")["os"] == "Linux"


def test_release_values() -> None:
    text = '# comment\nA=plain\nB="a \\"b\\" \\$c"\nC=\'single\'\nD=\nE="\nrubbish\n'
    assert system.release_values(text) == {
        "A": "plain",
        "B": 'a "b" $c',
        "C": "single",
        "D": "",
        "E": '"',
    }


# ---------------------------------------------------------------- this machine


@pytest.fixture(scope="module")
def everything() -> dict[str, Any]:
    return Grains({}, id="vm").copy()


TYPES: dict[str, type] = {
    **dict.fromkeys(
        ("os", "os_family", "osarch", "kernel", "kernelrelease", "cpuarch", "cpu_model", "virtual"),
        str,
    ),
    **dict.fromkeys(
        ("host", "fqdn", "domain", "localhost", "nodename", "init", "path", "shell", "username"),
        str,
    ),
    **dict.fromkeys(("saltversion", "saltpath", "pythonexecutable", "cwd", "ps", "groupname"), str),
    **dict.fromkeys(
        ("mem_total", "swap_total", "num_cpus", "uid", "gid", "pid", "server_id", "num_gpus"), int
    ),
    **dict.fromkeys(
        ("cpu_flags", "ipv4", "ipv6", "fqdn_ip4", "fqdn_ip6", "fqdns", "disks", "ssds", "gpus"),
        list,
    ),
    **dict.fromkeys(
        ("saltversioninfo", "pythonversion", "pythonpath", "systempath", "kernelparams"), list
    ),
    **dict.fromkeys(
        ("ip_interfaces", "ip4_interfaces", "ip6_interfaces", "hwaddr_interfaces", "dns"), dict
    ),
    **dict.fromkeys(("efi", "efi-secure-boot", "transactional", "ip_gw"), bool),
    "locale_info": dict,
}


@pytest.mark.parametrize("name", TYPES)
def test_types(everything: dict[str, Any], name: str) -> None:
    assert type(everything[name]) is TYPES[name]


def test_values(everything: dict[str, Any]) -> None:
    assert everything["server_id"] == 2067164805  # what Salt makes of the ID `vm`
    assert (
        everything["kernel"] == os.uname().sysname
        and everything["nodename"] == socket.gethostname()
    )
    assert everything["saltversion"] == "3008.3" and everything["saltversioninfo"] == [3008, 3]
    assert everything["fqdn"].split(".")[0] == everything["host"]
    assert everything["uid"] == os.geteuid() and everything["pythonversion"] == list(
        sys.version_info
    )
    assert everything["num_cpus"] >= 1 and everything["mem_total"] > 0
    json.dumps(everything)


def test_every_name_of_a_group_is_its_own_and_nothing_comes_unnamed() -> None:
    named = [name for group in groups.GROUPS for name in group.names]
    assert len(named) == len(set(named))
    grains = Grains({}, id="vm")
    for group in groups.GROUPS:
        assert set(group.look(grains)) <= set(group.names)


def test_addresses_are_those_of_the_system() -> None:
    from shutil import which

    if which("ip") is None:
        pytest.skip("no `ip` to compare with")
    links = json.loads(
        subprocess.run(["ip", "-json", "addr"], capture_output=True, text=True, check=True).stdout
    )
    family = {"inet": "ip4_interfaces", "inet6": "ip6_interfaces"}
    grains = Grains({})
    for kind, name in family.items():
        expected = {
            link["ifname"]: [each["local"] for each in link["addr_info"] if each["family"] == kind]
            for link in links
        }
        assert grains[name] == expected
    assert grains["hwaddr_interfaces"]["lo"] == "00:00:00:00:00:00"


# ---------------------------------------------------------------- laziness


def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []

    def group(*names: str) -> GrainGroup:
        def look(grains: Mapping[str, Any]) -> dict[str, Any]:
            seen.append(names[0])
            return {name: f"core {name}" for name in names}

        return GrainGroup(names, look)

    monkeypatch.setattr(
        "runner.language.grains.groups.GROUPS",
        (group("os", "os_family"), group("ipv4"), group("host")),
    )
    return seen


def test_only_what_is_asked_for_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched(monkeypatch)
    grains = Grains({"roles": ["web"]}, id="web1")
    assert (
        grains["roles"] == ["web"]
        and grains["id"] == "web1"
        and "nope" not in grains
        and seen == []
    )
    assert grains.get("os") == "core os" and "os_family" in grains and seen == ["os"]
    assert sorted(grains) == ["host", "id", "ipv4", "os", "os_family", "roles"] and seen == [
        "os",
        "ipv4",
        "host",
    ]
    assert len(grains) == 6 and grains == dict(grains) and len(seen) == 3
    with pytest.raises(KeyError):
        grains["nope"]


def test_who_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Core, then the tree's functions, then the configuration, as in Salt."""
    watched(monkeypatch)
    own = {"os": "own", "host": "own", "more": 1}
    grains = Grains({"host": "static"}, {"m.f": lambda: own})
    assert [grains[name] for name in ("host", "os", "more", "os_family")] == [
        "static",
        "own",
        1,
        "core os_family",
    ]


def test_functions_of_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched(monkeypatch)
    calls = []

    def asks(grains: Mapping[str, Any]) -> dict[str, Any]:
        calls.append("asks")
        return {"seen": grains["os"]}

    def fails() -> None:
        raise ValueError("oops")

    grains = Grains({"s": 1}, [("m.asks", asks), ("m.fails", fails), ("m.odd", lambda: None)])
    assert grains["s"] == 1 and calls == []
    assert grains["seen"] == "core os" and seen == ["os"] and calls == ["asks"]
    assert dict(grains)["seen"] == "core os" and calls == ["asks"]
    assert [each.message for each in grains.problems] == [
        "the grains of m.fails are missing: ValueError: oops"
    ]


# ---------------------------------------------------------------- files of the network


@pytest.mark.parametrize(
    ("name", "hosts", "resolv", "expected"),
    [
        ("web", "127.0.0.1 localhost\n127.0.1.1 web.example.com web # x\n", "", "web.example.com"),
        ("web", "127.0.1.1 web web.example.com\n", "", "web.example.com"),
        ("web", "127.0.0.1 web\n", "", "web"),
        ("web", "127.0.0.1 website.org web2\n#1.2.3.4 web.x\n", "", "web"),
        ("web.a.b", "127.0.1.1 web.c web\n", "", "web.a.b"),
        ("web", "", "domain example.org\nsearch other.org\n", "web.example.org"),
        ("web", "", "search other.org\n", "web"),
    ],
)
def test_full_name(name: str, hosts: str, resolv: str, expected: str) -> None:
    assert network.full_name(name, hosts, resolv) == expected


def test_no_name_server_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a name was looked up")

    for name in ("getaddrinfo", "gethostbyname", "gethostbyaddr", "gethostbyname_ex", "getfqdn"):
        monkeypatch.setattr(socket, name, refuse)
    assert Grains({}, id="x").copy()["fqdn"]


def test_resolver_settings() -> None:
    text = (
        "# c\nnameserver 10.0.0.1\nnameserver fd00::1 # x\n;nameserver 1.1.1.1\nsearch a.org"
        " b.org\noptions ndots:2\n"
    )
    assert network.resolver_settings(text) == {
        "nameservers": ["10.0.0.1", "fd00::1"],
        "ip4_nameservers": ["10.0.0.1"],
        "ip6_nameservers": ["fd00::1"],
        "sortlist": [],
        "domain": "",
        "search": ["a.org", "b.org"],
        "options": ["ndots:2"],
    }


def test_gateways() -> None:
    head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
    rows = (
        "eth1 00000000 0202A8C0 0003 0 0 100 00000000 0 0 0\neth0 00000000 0102A8C0 0003 0 0 0"
        " 00000000 0 0 0\n"
    )
    if sys.byteorder == "little":
        assert network.default_gateway(head + rows) == "192.168.2.1"
    assert network.default_gateway(head) is None
    zero, gate = "0" * 32, "fd00" + "0" * 27 + "1"
    row = f"{zero} 00 {zero} 00 {gate} 00000400 00000001 00000000 00000003 eth0\n"
    assert (
        network.default_gateway6(f"{zero} 00 {zero} 00 {zero} ffffffff 1 0 00200200 lo\n{row}")
        == "fd00::1"
    )
    assert network.default_gateway6("") is None


def test_a_look_imports_only_what_it_needs() -> None:
    program = (
        "import sys; from runner.language.grains import Grains; Grains({'a': 1}, id='x')['a'];"
        " print('socket' in sys.modules)"
    )
    program += (
        "; Grains({}, id='x')['os_family']; print('socket' in sys.modules or 'subprocess' in"
        " sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("kvm", ("kvm", None)),
        ("lxc kvm", ("container", "LXC")),
        ("aws xen xen-hvm", ("xen", None)),
        ("vmware", ("VMware", None)),
        ("hyperv", ("HyperV", None)),
        ("docker", ("container", "Docker")),
        ("parallels", ("Parallels", None)),
        ("", ("physical", None)),
    ],
)
def test_virt_what_is_asked_first(
    words: str, expected: tuple[str, str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {"virt-what": words.replace(" ", "\\n"), "systemd-detect-virt": "qemu"}
    for name, said in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\nprintf '{said}'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    grains = Grains({})
    assert (grains["virtual"], grains.get("virtual_subtype")) == expected
    (tmp_path / "virt-what").write_text("#!/bin/sh\nexit 1\n")  # for one who is not root
    assert Grains({})["virtual"] == "qemu"


@pytest.mark.parametrize(
    ("running", "installed", "expected"),
    [
        ("6.1.0-25-amd64", ["6.1.0-9-amd64", "6.1.0-25-amd64"], False),
        ("6.1.0-9-amd64", ["6.1.0-9-amd64", "6.1.0-25-amd64"], True),
        ("6.1.0-25-amd64", ["6.1.0-25-amd64", "6.1.0-26-cloud-x"], False),
        ("6.6.1-arch1-1", ["6.6.2-arch1-1"], True),
        ("6.18.44-own", ["6.6.2-arch1-1"], False),
        ("6.18.44-own", [], False),
    ],
)
def test_kernels_decide_about_a_restart(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    running: str,
    installed: list[str],
    expected: bool,
) -> None:
    for name in ("ASKED", "CONTAINERS", "MODULES"):
        path = str(tmp_path / name)
        monkeypatch.setattr(restart, name, (path,) if name == "CONTAINERS" else path)
    for name in installed:
        (tmp_path / "MODULES" / name).mkdir(parents=True)
        (tmp_path / "MODULES" / name / "modules.dep").touch()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "m", running, "", "")))
    assert Grains({})["reboot_required"] is expected
    (tmp_path / "CONTAINERS").touch()
    assert Grains({})["reboot_required"] is False
    (tmp_path / "ASKED").touch()
    assert Grains({})["reboot_required"] is True


@pytest.mark.parametrize("name", ["dnf", "needs-restarting"])
def test_what_dnf_says_of_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It is asked where a package was changed since the kernel has started."""
    (tmp_path / name).write_text("#!/bin/sh\necho Reboot is required\nexit 1\n")
    (tmp_path / name).chmod(0o755)
    database = tmp_path / "rpm/rpmdb.sqlite"
    database.parent.mkdir()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(restart, "RPM", [str(database.parent)])
    for kernel in ("ASKED", "MODULES"):
        monkeypatch.setattr(restart, kernel, str(tmp_path / kernel))
    assert restart.why() == "", "there are no packages"
    database.touch()
    (database.parent / "rpmdb.sqlite-shm").touch()
    assert restart.why() == restart.PACKAGES
    os.utime(database, (0, 0))
    assert restart.why() == "", "of an earlier start, though somebody has read it"


def test_who_alters_the_configuration_adds_no_grain() -> None:
    static = {"role": "web"}
    grains = Grains(static, id="vm", folders=())
    static["new"] = "x"  # `salt['config.get']('grains').update(...)` in a template
    assert "new" not in grains
    assert grains.get("new", "none") == "none"
    assert grains["role"] == "web"
