# SPDX-License-Identifier: Apache-2.0
"""The network of this machine, for templates."""

from __future__ import annotations

from modules.network._addresses import (
    in_subnet,
    ip_addrs,
    ip_addrs6,
    ip_networks,
    ip_networks6,
    ipaddrs,
    ipaddrs6,
    subnets,
    subnets6,
)
from modules.network._arithmetic import (
    calc_net,
    convert_cidr,
    ip_in_subnet,
    iphexval,
    is_loopback,
    is_private,
    reverse_ip,
)
from modules.network._hostname import former_hostname as former_hostname
from modules.network._hostname import keep_hostname, kept_hostname, mod_hostname
from modules.network._links import hw_addr, ifacestartswith, interface, interface_ip, interfaces
from modules.network._reach import (
    connect,
    dig,
    fqdns,
    get_fqdn,
    get_hostname,
    ping,
    traceroute,
    wol,
)
from modules.network._routes import arp, default_route, get_route, ip_neighs, ip_neighs6, routes
from modules.network._sockets import active_tcp, netstat

hwaddr = hw_addr
ipneighs = ip_neighs
ipneighs6 = ip_neighs6
