# SPDX-License-Identifier: Apache-2.0
"""SELinux: its mode, booleans, modules and ports."""

from __future__ import annotations

from typing import Any, Literal

from modules import file
from modules.security import selinux
from runner.api import AbsolutePath, Column, Line, Name, Plan, Planned, StateFailed
from runner.api.offline import is_offline, offline_as
from states._rights import only_root

DECIDES = {"boolean": "value", "mode": "* name"}

dry_run_check = only_root("semanage")

MODES = {"enforcing": "Enforcing", "1": "Enforcing", "permissive": "Permissive", "0": "Permissive"}
ON = ("on", "true", "yes", "1")
Protocol = Literal["tcp", "udp", "dccp", "sctp"]
OFF = ("off", "false", "no", "0")


def mode(name: Name) -> Planned:
    """Make sure of the mode, now and for the next start; disabled holds from the next start on.

    name: Enforcing, permissive or disabled.

        enforcing:
          selinux.mode: []
    """
    wanted = (MODES | {"disabled": "Disabled"}).get(name.lower())
    if wanted is None:
        raise StateFailed(f"{name} is not an accepted mode")
    now = selinux.getenforce()
    if now == wanted and selinux.configured() in ("", wanted.lower()):
        return f"SELinux is already in {wanted} mode"
    if wanted != "Disabled" and not is_offline() and not file.is_file(selinux.SWITCH):
        raise StateFailed(
            f"Failed to set SELinux to {wanted} mode: the kernel was started without SELinux"
        )
    old = selinux.configured().capitalize() if now == wanted else now
    yield Plan({"old": old, "new": wanted}, f"SELinux mode is set to be changed to {wanted}")
    selinux.setenforce(wanted)
    return f"SELinux has been set to {wanted} mode"


def _boolean_in_force(
    name: str, value: Any = None, booleans: Any = None, persist: bool = False
) -> Planned | str:
    if persist:
        return _set_booleans(name, value, booleans, persist)
    return f"Without `persist` {name} is of the running kernel alone"


@offline_as(_boolean_in_force)
def boolean(
    name: Name,
    value: bool | Line | int | None = None,
    booleans: dict[Line, Any] | list[Line | dict[Line, Any]] | None = None,
    persist: bool = False,
) -> Planned:
    """Make sure that booleans of the policy have a value.

    name: The boolean.
    value: Whether it is on or off.
    booleans: Several booleans, as a list or with a value each; those without take `value`.
    persist: Have it so after the next start, too.

        httpd_can_network_connect:
          selinux.boolean:
            - value: True
            - persist: True
    """
    return (yield from _set_booleans(name, value, booleans, persist))


def _set_booleans(name: str, value: Any, booleans: Any, persist: bool) -> Planned:
    wanted = {key: _switch(key, switch) for key, switch in _pairs(name, value, booleans).items()}
    known = selinux.list_sebool()
    unknown = [key for key in wanted if key not in known]
    if unknown:
        raise StateFailed("\n".join(f"Boolean {key} is not available" for key in unknown))
    now = {
        key: [known[key]["State"], *([known[key]["Default"]] if persist else [])] for key in wanted
    }
    differing = {key: switch for key, switch in wanted.items() if set(now[key]) != {switch}}
    unchanged = ", ".join(sorted(set(wanted) - set(differing)))
    comments = (
        [f"The following booleans were in the correct state: {unchanged}"] if unchanged else []
    )
    if not differing:
        return comments[0]
    changes = {key: _change(now[key], switch) for key, switch in differing.items()}
    names = ", ".join(sorted(differing))
    yield Plan(changes, "\n".join([*comments, f"The following booleans would be changed: {names}"]))
    selinux.setsebools(differing, persist)
    return "\n".join([*comments, f"The following booleans have been changed: {names}"])


def _pairs(name: str, value: Any, booleans: dict[str, Any] | list[Any] | None) -> dict[str, Any]:
    if booleans is None:
        return {name: value}
    if isinstance(booleans, dict):
        return booleans
    pairs: dict[str, Any] = {}
    for item in booleans:
        pairs |= item if isinstance(item, dict) else {item: value}
    return pairs


def _switch(name: str, value: Any) -> str:
    word = str(value).lower()
    if word not in (*ON, *OFF):
        raise StateFailed(f"{value} is not a valid value for the boolean {name}")
    return "on" if word in ON else "off"


def _change(now: list[str], wanted: str) -> dict[str, Any]:
    if len(now) == 1:
        return {"old": now[0], "new": wanted}
    return {"old": now, "new": [wanted, wanted]}


def module(
    name: Name,
    module_state: Literal["Enabled", "Disabled"] = "Enabled",
    version: Name = "any",
    install: bool = False,
    remove: bool = False,
    source: AbsolutePath | None = None,
) -> Planned:
    """Make sure that a module of the policy is enabled or disabled.

    name: The module.
    module_state: `Enabled` or `Disabled`.
    version: The version that the module has to have, `any` for all; today's policies have none.
    install: Install a missing module from source.
    remove: Make sure that there is no such module, instead.
    source: The file of the module (.pp), for install.

        nagios:
          selinux.module:
            - module_state: Disabled
    """
    known = selinux.list_semod()
    if remove:
        return (yield from module_remove(name))
    if name not in known:
        if install and source:
            return (yield from module_install(source))
        raise StateFailed(f"Module {name} is not available")
    if version not in ("any", known[name]["Version"]):
        raise StateFailed(
            f"Module version is {known[name]['Version']} and does not match the desired version of"
            f" {version}"
        )
    if known[name]["Enabled"] == str(module_state == "Enabled"):
        return f"Module {name} is in the desired state"
    old = "Enabled" if known[name]["Enabled"] == "True" else "Disabled"
    changes = {name: {"old": old, "new": module_state}}
    yield Plan(changes, f"Module {name} is set to be toggled to {module_state}")
    selinux.setsemod(name, module_state == "Enabled")
    return f"Module {name} has been set to {module_state}"


def module_install(name: AbsolutePath) -> Planned:
    """Make sure that a module of the policy is installed.

    name: The file of the module (.pp); the module is called as the file.

        /usr/local/share/selinux/site.pp:
          selinux.module_install: []

    Behaviour: Salt 3008's selinux.module_install, which installs it in each run.
    """
    module = name.rpartition("/")[2].partition(".")[0]
    if module in selinux.list_semod():
        return f"Module {module} is installed"
    if not file.is_file(name):
        raise StateFailed(f"The module {name} does not exist", missing=("file", name))
    yield Plan({module: "installed"}, f"Module {name} is set to be installed")
    selinux.install_semod(name)
    return f"Module {name} has been installed"


def module_remove(name: Name) -> Planned:
    """Make sure that a module of the policy is not installed.

    name: The module.

        nagios:
          selinux.module_remove: []
    """
    if name not in selinux.list_semod():
        return f"Module {name} is not available"
    yield Plan({name: "removed"}, f"Module {name} is set to be removed")
    selinux.remove_semod(name)
    return f"Module {name} has been removed"


def port_policy_present(
    name: Name,
    sel_type: Column,
    protocol: Protocol | None = None,
    port: int | Name | None = None,
    sel_range: Column | None = None,
) -> Planned:
    """Make sure that a port has a type in the policy.

    name: The protocol and the port, such as `tcp/8080` or `udp/5000-5010`.
    sel_type: The type, such as http_port_t.
    protocol: The protocol, where the name does not say it.
    port: The port or `from-to`, where the name does not say it.
    sel_range: The range of a new entry, for MLS and MCS.

        tcp/8008:
          selinux.port_policy_present:
            - sel_type: http_port_t
    """
    wanted = selinux.port_of(name, protocol, port)
    if selinux.port_get_policy(name, sel_type, protocol, port):
        return (
            f'SELinux policy for "{name}" already present with specified sel_type "{sel_type}",'
            f' protocol "{protocol}" and port "{port}".'
        )
    old = selinux.port_get_policy(name, None, protocol, port)
    new = {"sel_type": sel_type, "protocol": wanted[0], "port": wanted[1]}
    yield Plan({"old": old, "new": new}, f"{name} is set to have the type {sel_type}")
    selinux.port_change_policy("modify" if old else "add", *wanted, sel_type, sel_range)
    return f"{name} has the type {sel_type}"


def port_policy_absent(
    name: Name,
    sel_type: Column | None = None,
    protocol: Protocol | None = None,
    port: int | Name | None = None,
) -> Planned:
    """Make sure that the policy has no entry of a port. One that is no addition of this machine
    cannot go.

    name, protocol, port: as of selinux.port_policy_present.
    sel_type: Only an entry with this type.

        tcp/8008:
          selinux.port_policy_absent: []
    """
    wanted = selinux.port_of(name, protocol, port)
    old = selinux.port_get_policy(name, sel_type, protocol, port)
    if not old:
        return (
            f'SELinux policy for "{name}" already absent with specified sel_type "{sel_type}",'
            f' protocol "{protocol}" and port "{port}".'
        )
    yield Plan({"old": old, "new": None}, f"The entry of {name} is set to be removed")
    selinux.port_change_policy("delete", *wanted)
    return f"The entry of {name} has been removed"
