# SPDX-License-Identifier: Apache-2.0
"""The configuration of the network: each call goes to the tool that this machine uses."""

from __future__ import annotations

from modules.ip.configuration import NetworkTool
from runner.api import Feature, ProviderModule, Providers, for_states

PROVIDERS: Providers[NetworkTool] = Providers(
    "tool that configures the network",
    NetworkTool,
    (  # the module, and the programs that show that its tool is here; ifupdown is the last resort
        ProviderModule("modules.ip.netplan", ("/usr/sbin/netplan", "/sbin/netplan")),
        ProviderModule("modules.ip.networkmanager", ("/usr/bin/nmcli",)),
        ProviderModule(
            "modules.ip.networkd",
            ("/lib/systemd/systemd-networkd", "/usr/lib/systemd/systemd-networkd"),
        ),
        ProviderModule("modules.ip.ifcfg", ("/etc/sysconfig/network-scripts",)),
        ProviderModule("modules.ip.ifcfg_suse", ("/etc/sysconfig/network",)),
        ProviderModule("modules.ip.ifupdown", ("/",)),
    ),
    {
        "commands": Feature(
            "the tool runs commands when an interface comes up or goes down; with others a cmd.run"
            " that watches the interface does"
        ),
        "peers": Feature("an interface has settings of interfaces(5): pointopoint, scope"),
        "sources": Feature("the tool's file takes in others"),
        "global_settings": Feature(
            "there is a file with settings of all interfaces; with others write gateway and dns to"
            " the interface",
            ("present_settings", "settings_texts"),
        ),
    },
    module="network",
)


@for_states
def provider(chosen: str | None = None) -> NetworkTool:
    """Return the tool that the state or the configuration names, else the one of this machine.
    Raises StateFailed without one.

    chosen: the name; None: what the state says.
    """
    return PROVIDERS(chosen)


@for_states
def peers_or_provider(name: str | None) -> NetworkTool:
    """Return the tool for an interface of type pppoe, whose `provider` names a file of
    /etc/ppp/peers unless it names a tool. Raises StateFailed without one.
    """
    tool = PROVIDERS.certain(name) or PROVIDERS.certain()
    return tool or PROVIDERS("ifupdown")


def get_interface(iface: str) -> list[str]:
    """The configuration of an interface, line by line, as this machine's tool has it.

    {{ salt['ip.get_interface']('eth0') }}
    """
    return [line for text in provider().present(iface).values() for line in text.splitlines()]


def get_routes(iface: str) -> list[str]:
    """The configuration of an interface's routes, line by line."""
    texts = provider().present_routes(iface)
    return [line for text in texts.values() for line in text.splitlines()]


def is_up(iface: str) -> bool:
    """Return whether the tool has brought an interface up."""
    return provider().is_up(iface)


def up(iface: str) -> bool:
    """Bring an interface up as it is configured."""
    tool = provider()
    texts = tool.present(iface)
    tool.configure(iface, texts, texts, "up")
    return True


def down(iface: str) -> bool:
    """Take an interface down."""
    tool = provider()
    texts = tool.present(iface)
    tool.configure(iface, texts, texts, "down")
    return True
