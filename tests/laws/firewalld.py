# SPDX-License-Identifier: Apache-2.0
"""How firewalld is tried: a script plays firewall-cmd here; tests/machine/test_firewalld.py has the
real one.
"""

from __future__ import annotations

from typing import Any

from laws import offline_too, on_machine

TOOL = r"""
cat >/usr/local/bin/firewall-cmd <<'X'
#!/bin/sh
for word; do case $word in --zone=*|--service=*) of=${word#*=} ;; esac; last=$word; done
value=${last#*=}; kind=${last%%=*}; kind=${kind#--}
kind=${kind%-from-zone}
list() { cat /srv/fw/$of/$1 2>/dev/null | tr '\n' ' '; }
case $kind in
get-zones) echo public work ;;
get-default-zone) cat /srv/fw/default ;;
set-default-zone) echo $value >/srv/fw/default ;;
get-services) ls /srv/fw/known | tr '\n' ' ' ;;
get-icmptypes) echo echo-reply echo-request ;;
new-service) mkdir -p /srv/fw/$value; touch /srv/fw/known/$value ;;
get-ports) list port ;;
get-protocols) list protocol ;;
list-all) echo "$of"
    for kind in service port source interface; do echo "  ${kind}s: $(list $kind)"; done
    echo "  icmp-blocks: $(list icmp-block)"
    echo "  masquerade: $(cat /srv/fw/$of/masquerade || echo no)"
    echo "  forward-ports: "; sed 's/^/\t/' /srv/fw/$of/forward-port
    echo "  rich rules: "; sed 's/^/\t/' /srv/fw/$of/rich-rule ;;
add-masquerade) echo yes >/srv/fw/$of/masquerade ;;
remove-masquerade) echo no >/srv/fw/$of/masquerade ;;
add-*) mkdir -p /srv/fw/$of; echo "$value" >>/srv/fw/$of/${kind#add-} ;;
remove-*) file=/srv/fw/$of/${kind#remove-}; grep -vxF "$value" $file >/srv/fw/new
    mv /srv/fw/new $file ;;
esac 2>/dev/null
true
X
chmod 755 /usr/local/bin/firewall-cmd; mkdir -p /srv/fw/known /srv/fw/public
cd /srv/fw; echo public >default
touch known/ssh known/http; echo ssh >public/service; echo 22/tcp >public/port
"""
RULE = "rule family=ipv4 source address=10.0.0.0/8 accept"
FULL: dict[str, Any] = {
    "block_icmp": ["echo-reply"],
    "interfaces": ["eth7"],
    "sources": "10.0.0.0/8",
    "rich_rules": RULE,
    "port_fwd": ["22:2222:tcp:10.0.0.5"],
    "masquerade": True,
    "default": True,
}
PRUNED = {
    f"prune_{each}": True
    for each in ("block_icmp", "interfaces", "sources", "rich_rules", "port_fwd", "ports")
}
KEPT = "mv /usr/local/bin/firewall-cmd /usr/local/bin/firewall-offline-cmd"


on = on_machine("firewalld.", TOOL)


SCENARIOS = [
    on("present name=public services=[http] prune_services=true ports=[80/tcp]", **PRUNED, **FULL),
    on("present name=public services=[ssh] ports=22/tcp masquerade=false", plans=False),
    on("present name=work default=true"),
    on("present name=public services=[gopher]", fails="firewalld knows no service 'gopher'"),
    on("present name=public block_icmp=[gopher]", fails="firewalld knows no kind of ICMP 'gopher'"),
    on("present name=public", port_fwd=["22"], fails="'22' is not a forwarded port"),
    on("present name=public", prepare="", fails="it comes with firewalld"),
    on("service name=exporter ports=[9100/tcp] protocols=ah"),
    on("service name=http", plans=False),
]
SCENARIOS += offline_too(SCENARIOS, KEPT)
