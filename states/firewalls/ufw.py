# SPDX-License-Identifier: Apache-2.0
"""ufw: the firewall of Ubuntu and Debian that is easy to set. Salt has nothing like it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from modules.firewalls import ufw
from runner.api import Check, Group, Line, Name, Plan, Planned, Record
from runner.api.kinds import comes_after
from runner.api.offline import at_boot
from states._rights import only_root
from states._tools import explained

DECIDES = {"default": "policy"}

dry_run_check = only_root("ufw")

Direction = Literal["in", "out"]
Port = int | Name


class Packets(Record):
    """The packets that a rule is about.

    port: The port, or `any` for all ports.
    proto: The protocol, such as `tcp` or `udp`; without it any.
    source: The address or network that packets come from.
    destination: The address or network that packets go to.
    interface: Only packets of this interface.
    direction: Whether packets come `in` or go `out`.
    comment: A comment that is kept with the rule.
    """

    port: Port | None = None
    proto: Name | None = None
    source: Name = "any"
    destination: Name = "any"
    interface: Name | None = None
    direction: Direction = "in"
    comment: Line | None = None


ChosenPackets = Annotated[Packets, Group()]
# an argument that is ignored would open a port to more than was written
Refused = Annotated[
    Any,
    Check(
        lambda value: "a rule of ufw has no such argument; without it more packets are meant",
        f"they have {', '.join(Packets._fields)}: from whom is `source`, to whom `destination`",
    ),
]


@at_boot(lambda name: "The firewall (ufw) is on at boot")
def enabled(name: Name) -> Planned:
    """Make sure that the firewall is on, now and at the next start. The rules that let you in come
    before it.

    name: Names the state.

        OpenSSH:
          ufw.allow: []
        firewall:
          ufw.enabled:
            - require:
              - ufw: OpenSSH
    """
    return (yield from _switched(True))


def disabled(name: Name) -> Planned:
    """Make sure that the firewall is off, now and at the next start; its rules stay.

    name: Names the state.

        firewall:
          ufw.disabled: []
    """
    return (yield from _switched(False))


def _switched(on: bool) -> Planned:
    word = "enabled" if on else "disabled"
    if ufw.is_enabled() is on and ufw.is_active() is on:
        return f"ufw is already {word}"
    yield Plan({"enabled": {"old": not on, "new": on}}, f"ufw would be {word}")
    _change("enable" if on else "disable")
    return f"ufw is {word}"


def default(
    name: Literal["incoming", "outgoing", "routed"], policy: Literal["allow", "deny", "reject"]
) -> Planned:
    """Make sure what is done with packets that no rule decides.

    name: The direction: incoming, outgoing or routed.
    policy: What becomes of such packets: `allow`, `deny` or `reject`.

        incoming:
          ufw.default:
            - policy: deny
    """
    old = ufw.default_policy(name)
    if old == policy:
        return f"The default policy for {name} packets is already {policy}"
    yield Plan(
        {name: {"old": old, "new": policy}},
        f"The default policy for {name} packets would be {policy}",
    )
    _change("default", policy, name)
    return f"The default policy for {name} packets is {policy}"


def allow(name: Name, packets: ChosenPackets = Packets(), **others: Refused) -> Planned:
    """Make sure that packets are let through. A rule with another action for the same packets is
    replaced.

    Any other argument is refused: without it more packets would be meant.

    name: The port (22/tcp, 8000:8010/udp, 80,443/tcp), service or application, unless port says it.

        22/tcp:
          ufw.allow: []
        the database for the web servers:
          ufw.allow:
            - port: 5432
            - proto: tcp
            - source: 10.0.0.0/24
            - interface: eth1
    """
    return (yield from _ruled("allow", name, packets))


def deny(name: Name, packets: ChosenPackets = Packets(), **others: Refused) -> Planned:
    """Make sure that packets are dropped: their sender learns nothing.

    Any other argument is refused, as in ufw.allow.

    name: As of ufw.allow.

        mail goes out by the relay alone:
          ufw.deny:
            - port: 25/tcp
            - direction: out
    """
    return (yield from _ruled("deny", name, packets))


def limit(name: Name, packets: ChosenPackets = Packets(), **others: Refused) -> Planned:
    """Make sure that packets are let through, but not for an address that connects six times in
    thirty seconds.

    Any other argument is refused, as in ufw.allow.

    name: As of ufw.allow.

        22/tcp:
          ufw.limit: []
    """
    return (yield from _ruled("limit", name, packets))


def reject(name: Name, packets: ChosenPackets = Packets(), **others: Refused) -> Planned:
    """Make sure that packets are refused, which their sender learns.

    Any other argument is refused, as in ufw.allow.

    name: As of ufw.allow.

        113/tcp:
          ufw.reject: []
    """
    return (yield from _ruled("reject", name, packets))


def _ruled(action: str, name: str, packets: Packets) -> Planned:
    port = str(name if packets.port is None else packets.port)
    with explained(f"Failed to set the rule of ufw for {name}"):
        words = ufw.rule(action, **packets._replace(port=port)._asdict())
        shown = " ".join(words)
        present = ufw.has_rule(words)
    if present:
        return f"ufw has the rule already: {shown}"
    yield Plan({"rule": shown}, f"ufw would get the rule: {shown}")
    _change(*words)
    return f"ufw has the rule: {shown}"


def _change(*words: str) -> None:
    with explained(f"ufw {' '.join(words)}", changes={}):
        ufw.change(*words)


autorequire = comes_after("The firewall comes after its package.", ("pkg", "ufw"))
