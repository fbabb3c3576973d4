# SPDX-License-Identifier: Apache-2.0
"""SELinux: its mode, booleans and modules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from modules import cmd, file
from modules._machine.processes import needs
from modules._texts.lines import plain_name
from runner.api import CommandFailed, StateFailed, changer, for_states
from runner.api.offline import is_offline, offline_as

CONFIG = "/etc/selinux/config"
SWITCH = "/sys/fs/selinux/enforce"
PACKAGES = {
    "semanage": "policycoreutils-python-utils",
    "semodule": "policycoreutils",
    "setsebool": "policycoreutils",
    "setenforce": "selinux-utils",
}


@offline_as(lambda: configured().capitalize() or "Disabled")
def getenforce() -> str:
    """Enforcing, Permissive or Disabled; what is configured as disabled is so from the next start
    on.

    {{ salt['selinux.getenforce']() }}
    """
    if configured() == "disabled" or not file.is_file(SWITCH):
        return "Disabled"
    return "Enforcing" if file.read_bytes(SWITCH).strip() == b"1" else "Permissive"


def configured() -> str:
    """The mode that the machine starts with; empty without a configuration."""
    text = file.read_bytes(CONFIG).decode("utf-8", "replace") if file.is_file(CONFIG) else ""
    modes = re.findall(r"^\s*SELINUX\s*=\s*(\w+)", text, re.MULTILINE)
    return str(modes[-1]).lower() if modes else ""


def setenforce(mode: str) -> str:
    """Set the mode (Enforcing, Permissive, Disabled), now where that can be, and for the next
    start.
    """
    text = (
        file.read_bytes(CONFIG).decode("utf-8", "surrogateescape")
        if file.is_file(CONFIG)
        else "SELINUX=\n"
    )
    changed = re.sub(r"(?m)^\s*SELINUX\s*=.*$", f"SELINUX={mode.lower()}", text)
    file.write(CONFIG, changed.encode("utf-8", "surrogateescape"))
    if mode != "Disabled" and file.is_file(SWITCH) and not is_offline():
        _do("setenforce", "1" if mode == "Enforcing" else "0")
    return getenforce()


def list_sebool() -> dict[str, dict[str, str]]:
    """The booleans: State (now), Default (kept) and Description.

    {{ salt['selinux.list_sebool']()['use_nfs_home_dirs'].State }}
    """
    booleans = {}
    for line in _ask("semanage", "boolean", "--list").splitlines():
        match = re.match(r"(\S+)\s+\(\s*(on|off)\s*,\s*(on|off)\s*\)\s*(.*)", line)
        if match:
            booleans[match[1]] = {"State": match[2], "Default": match[3], "Description": match[4]}
    return booleans


def getsebool(boolean: str) -> dict[str, str]:
    """One boolean; empty when there is no such."""
    return list_sebool().get(boolean, {})


def _keep_booleans(pairs: Mapping[str, str], persist: bool = False) -> bool:
    if not persist:
        raise StateFailed("this system does not run: without `persist` nothing of it would be set")
    _refuse_other_kernel()
    for name, value in pairs.items():
        boolean = plain_name(name, "the boolean")
        _do("semanage", "boolean", "--modify", f"--{value}", "--noreload", boolean)
    return True


@offline_as(_keep_booleans)
@changer
def setsebools(pairs: Mapping[str, str], persist: bool = False) -> bool:
    """Set booleans to on or off. persist: also for the next start."""
    return _do(
        "setsebool",
        *(["-P"] if persist else []),
        *(plain_name(f"{name}={value}", "the boolean") for name, value in pairs.items()),
    )


def list_semod() -> dict[str, dict[str, str]]:
    """The modules of the policy: Enabled and Version, for which today's tools say nothing.

    {{ salt['selinux.list_semod']() }}
    """
    modules = {}
    for words in (line.split() for line in _ask("semodule", "--list-modules=full").splitlines()):
        if len(words) > 1:
            modules[words[1]] = {"Enabled": str("disabled" not in words[2:]), "Version": ""}
    return modules


@changer
def setsemod(module: str, enabled: bool) -> bool:
    """Enable or disable a module of the policy."""
    return _change_modules("enable" if enabled else "disable", module)


@changer
def install_semod(module_path: str) -> bool:
    """Install a module of the policy from a file."""
    return _change_modules("install", module_path)


@changer
def remove_semod(module: str) -> bool:
    """Remove a module of the policy."""
    return _change_modules("remove", module)


def _change_modules(action: str, module: str) -> bool:
    return _do("semodule", *_unloaded(), f"--{action}", plain_name(module, "the module"))


def _unloaded() -> list[str]:
    """The option that keeps a changed policy from the kernel of a system that does not run: it is
    loaded at boot.
    """
    return ["--noreload"] if is_offline() else []


def _refuse_other_kernel() -> None:
    """Raise StateFailed where the tools would set what is in force on the machine around."""
    if file.is_file(SWITCH):
        raise StateFailed(
            "the SELinux of this kernel is another system's, whose booleans would be set, too: with"
            " --root, or without /sys/fs/selinux, those of this system alone are"
        )


def port_get_policy(
    name: str, sel_type: str | None = None, protocol: str | None = None, port: Any = None
) -> dict[str, str] | None:
    """The entry of a port, `tcp/8080` or by protocol and port: sel_type, protocol and port; null
    without one. sel_type: only an entry with this type.

    {{ salt['selinux.port_get_policy']('tcp/8080').sel_type }}
    """
    wanted = port_of(name, protocol, port)
    for line in _ask("semanage", "port", "--list", "--noheading").splitlines():
        words = line.replace(",", " ").split()
        if len(words) > 2 and words[1] == wanted[0] and wanted[1] in words[2:]:
            if sel_type in (None, words[0]):
                return {"sel_type": words[0], "protocol": words[1], "port": ", ".join(words[2:])}
    return None


@for_states
def port_of(name: str, protocol: str | None, port: Any) -> tuple[str, str]:
    """The protocol and the port (or `from-to`) that are meant. Raises CommandFailed where they are
    said nowhere.
    """
    for said in (name, f"{protocol}/{port}"):
        if found := re.fullmatch(r"(tcp|udp|dccp|sctp)/(\d+(?:-\d+)?)", said):
            return found[1], found[2]
    raise CommandFailed(
        f'Invalid name "{name}" format and protocol and port not provided or invalid:'
        f' "{protocol}" "{port}".'
    )


@changer
def port_change_policy(
    action: Literal["add", "modify", "delete"],
    protocol: str,
    port: str,
    sel_type: str | None = None,
    sel_range: str | None = None,
) -> bool:
    """Add the entry of a port to the policy, give it another type, or delete it."""
    given = {"type": sel_type, "range": sel_range}
    words = [f"--{key}={plain_name(value, key)}" for key, value in given.items() if value]
    return _do(
        "semanage",
        "port",
        f"--{action}",
        *_unloaded(),
        *words,
        f"--proto={plain_name(protocol, 'protocol')}",
        "--",
        port,
    )


def _ask(program: str, *words: str) -> str:
    needs(program, PACKAGES[program])
    return cmd.probe([program, *words]).or_fail(f"{program} {' '.join(words)}").stdout


def _do(program: str, *words: str) -> bool:
    needs(program, PACKAGES[program])
    done = cmd.execute([program, *words])
    if done.retcode:
        raise StateFailed(f"{program} {' '.join(words)}: {done.error_text}")
    return True
