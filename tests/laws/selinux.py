# SPDX-License-Identifier: Apache-2.0
"""How SELinux is tried. No machine of the tests has it in its kernel: the tools are played by
scripts.
"""

from __future__ import annotations

from typing import Any

from laws import offline_too, on_machine

TOOLS = r"""
cat >/usr/local/sbin/semanage <<'X'
#!/bin/sh
if test $1 = port; then
    for last; do :; done
    for word; do
        case $word in --type=*) type=${word#*=} ;; --proto=*) proto=${word#*=} ;; esac
    done
    case $2 in
    --list) cat /srv/ports ;;
    --add | --modify) echo "$type $proto $last" >>/srv/ports ;;
    --delete) sed -i "/ $proto $last$/d" /srv/ports ;;
    esac
    exit
fi
if test $2 = --modify; then
    for last; do :; done
    sed -i "s/^$last .*/$last ${3#--} ${3#--}/" /srv/booleans
    exit
fi
echo 'SELinux boolean                State  Default Description'
while read name now kept; do
    printf '%-30s (%-5s,%5s)  About it\n' $name $now $kept
done </srv/booleans
X
cat >/usr/local/sbin/setsebool <<'X'
#!/bin/sh
test "$1" = -P && keep=1 && shift
for pair; do sed -i "s/^${pair%=*} [a-z]*/${pair%=*} ${pair#*=}/" /srv/booleans
test -z "$keep" || sed -i "s/^\(${pair%=*} .*\) .*/\1 ${pair#*=}/" /srv/booleans; done
X
cat >/usr/local/sbin/semodule <<'X'
#!/bin/sh
test "$1" != --noreload || shift
case $1 in
--list-modules=full) cat /srv/modules ;;
--enable) sed -i "s/ $2 pp disabled/ $2 pp/" /srv/modules ;;
--disable) sed -i "s/ $2 pp/ $2 pp disabled/" /srv/modules ;;
--install) echo "100 $(basename $2 .pp) pp" >>/srv/modules ;;
--remove) sed -i "/ $2 pp/d" /srv/modules ;;
esac
X
chmod 755 /usr/local/sbin/se*
printf '100 abrt pp\n100 nagios pp disabled\n' >/srv/modules; touch /srv/site.pp
printf 'http_port_t   tcp   80, 443, 8000-8100\ndns_port_t udp 53\n' >/srv/ports
printf 'use_nfs on off\nuse_ssh off off\n' >/srv/booleans
mkdir -p /etc/selinux; printf '# c\nSELINUX=permissive\nSELINUXTYPE=default\n' >/etc/selinux/config
"""


on = on_machine("selinux.", TOOLS)


PORT: dict[str, Any] = {"sel_type": "http_port_t", "name": "web", "protocol": "tcp"}
SCENARIOS = [
    on("port_policy_present name=tcp/9080 sel_type=http_port_t sel_range=s0"),
    on("port_policy_present port=9080", **PORT),
    on("port_policy_present port=8000-8100", **PORT, plans=False),
    on("port_policy_present name=tcp/443 sel_type=http_port_t", plans=False),
    on("port_policy_present name=udp/53 sel_type=own_port_t"),
    on("port_policy_present name=web sel_type=http_port_t", fails='Invalid name "web"'),
    on("port_policy_present port=none", **PORT, fails='Invalid name "web"'),
    on("port_policy_absent name=udp/53"),
    on("port_policy_absent name=dns protocol=udp port=53 sel_type=dns_port_t"),
    on("port_policy_absent name=udp/53 sel_type=own_port_t", plans=False),
    on("port_policy_absent name=udp/54", plans=False),
    on("boolean name=use_ssh value=true"),
    on("boolean name=use_nfs", plans=False, value="on"),
    on("boolean name=use_nfs value=1 persist=true"),
    on("boolean name=x value=false booleans='[{use_ssh: true},use_nfs]'"),
    on("boolean name=x persist=true", booleans={"use_ssh": "yes", "use_nfs": "on"}),
    on("boolean name=nothing_like_it value=true", fails="Boolean nothing_like_it is not available"),
    on(
        "boolean name=use_nfs value=perhaps",
        fails="perhaps is not a valid value for the boolean use_nfs",
    ),
    on(
        "boolean name=use_nfs value=true",
        prepare="",
        fails="it comes with policycoreutils-python-utils",
    ),
    on("mode name=disabled"),
    on("mode name=enforcing", fails="the kernel was started without SELinux"),
    on("mode name=perhaps", fails="perhaps is not an accepted mode"),
    on(
        "mode name=disabled",
        plans=False,
        prepare=TOOLS + "echo SELINUX=disabled >/etc/selinux/config",
    ),
    on("module name=nagios version=any"),
    on("module name=abrt module_state=Disabled"),
    on("module name=abrt", plans=False),
    on("module name=abrt remove=true"),
    on("module name=site install=true source=/srv/site.pp"),
    on("module name=site", fails="Module site is not available"),
    on("module_install name=/srv/site.pp"),
    on("module_install name=/srv/abrt.pp", plans=False),
    on("module_install name=/srv/none.pp", fails="does not exist"),
    on("module_remove name=abrt"),
    on("module_remove name=site", plans=False),
]
OFF = on_machine("selinux.", TOOLS, offline=True)
SCENARIOS += offline_too([each for each in SCENARIOS if each.function != "selinux.boolean"], "")
SCENARIOS += [
    OFF("boolean name=use_ssh value=true", plans=False),
    OFF("boolean name=use_ssh value=true persist=true"),
    OFF("boolean name=x persist=true", booleans={"use_ssh": "off"}, plans=False),
    OFF("mode name=enforcing"),
    OFF("mode name=permissive", plans=False),
]
