# SPDX-License-Identifier: Apache-2.0
"""What states do to a system that does not run: a root without an init, whose kernel is that of
somebody else. What is kept is changed; nothing is started, loaded or mounted.
"""

from laws import on_machine

# a unit and an init script, neither of which anything starts
UNITS = """cd /usr/lib/systemd/system || exit
printf '[Service]\\nExecStart=/bin/sleep 9\\n' | tee still.service >tick.service
printf '[Install]\\nWantedBy=multi-user.target\\n' >>tick.service
printf '%s\\n' '#!/bin/sh' '### BEGIN INIT INFO' '# Provides: old' '# Default-Start: 2 3 4 5' \\
    '### END INIT INFO' 'echo started >>/run/tick' >/etc/init.d/old
chmod 755 /etc/init.d/old
"""
ENABLED = "systemctl --root=/ enable tick; "
MASKED = "systemctl --root=/ mask tick; "
OPENRC = """mkdir -p /etc/runlevels/default; rm -f /sbin/init; rm -f /run/systemd -r
printf '#!/sbin/openrc-run\\nstart() { touch /run/tick; }\\n' >/etc/init.d/tick
chmod 755 /etc/init.d/tick
"""
SETTING = {"name": "limits", "daemon": "journald"}
LOADED = "echo floppy >/etc/modules-load.d/salt_managed.conf; "
LINE = "printf '/dev/vdx\\t\\t/data\\text4\\tdefaults\\t0 0\\n' >>/etc/fstab; "
DATA = {"name": "/data", "device": "/dev/vdx", "fstype": "ext4"}
SWAPPING = """printf '#!/bin/sh\\ntouch /run/tick; exit 1\\n' >/usr/local/sbin/swapon
cp /usr/local/sbin/swapon /usr/local/sbin/swapoff; chmod 755 /usr/local/sbin/swap*
"""
MADE = """head -c 1M /dev/zero >/swap; chmod 600 /swap; mkswap /swap
echo '/swap none swap defaults 0 0' >/etc/fstab
"""
# ifupdown is there, and would bring up at once
IFUPDOWN = """printf '#!/bin/sh\\ntouch /run/tick; exit 1\\n' >/usr/sbin/ifup
cp /usr/sbin/ifup /usr/sbin/ifdown; chmod 755 /usr/sbin/ifup /usr/sbin/ifdown
mkdir -p /etc/network; printf 'auto lo\\niface lo inet loopback\\n' >/etc/network/interfaces
"""
NETPLAN = "mkdir -p /etc/netplan; echo 'network: {version: 2}' >/etc/netplan/a.yaml; "
STATIC = {"name": "eth7", "type": "eth", "proto": "static", "ipaddr": "10.1.0.7/24"}
KEYFILE = r"""cd /etc/NetworkManager/system-connections || exit
printf '[connection]\nid=eth7\ntype=ethernet\ninterface-name=eth7\n[ipv4]\nmethod=auto\n' \
    >eth7.nmconnection; chmod 600 eth7.nmconnection
"""
ROUTE = {"ipaddr": "10.2.0.0", "netmask": "255.255.255.0", "gateway": "10.1.0.3"}
DEMO = """printf '#!/bin/sh\\ntest "$1" = -N && echo demo || touch /run/tick\\n' \\
    >/usr/sbin/apparmor_parser; chmod 755 /usr/sbin/apparmor_parser
mkdir -p /etc/apparmor.d/disable; cd /etc/apparmor.d || exit; echo 'profile demo {}' >demo
"""
KEEP = "mkdir -p /etc/systemd/logind.conf.d; date >/etc/systemd/logind.conf.d/keep.conf; "
ADDED = "rc-update add tick default; "

on = on_machine(before=UNITS, offline=True)
desktop = on_machine(layer="desktop", offline=True)
networks = on_machine(layer="networks", offline=True)
openrc = on_machine(before=OPENRC, layer="openrc", offline=True)

SCENARIOS = [
    on("service.running name=tick enable=true"),
    on("service.running name=tick enable=true unmask=true", MASKED),
    on("service.running name=tick", plans=False),
    on("service.running name=tick enable=true", ENABLED, plans=False),
    on("service.running name=tick enable=false", ENABLED),
    on("service.running name=old enable=true"),
    on("service.running name=nosuchservice", fails="is not available"),
    on("service.running name=tick", MASKED, plans=False),
    on("service.dead name=tick enable=false", ENABLED),
    on("service.dead name=tick", ENABLED, plans=False),
    on("service.dead name=nosuchservice", plans=False),
    on("service.current name='what runs'", plans=False),
    on("service.enabled name=tick"),
    on("service.enabled name=tick", ENABLED, plans=False),
    on("service.enabled name=still", plans=False),
    on("service.enabled name=old"),
    on("service.disabled name=tick", ENABLED),
    on("service.masked name=tick"),
    on("service.masked name=tick", MASKED, plans=False),
    on("service.unmasked name=tick", MASKED),
    on("service.enabled name=mine user=zoe", "useradd -m zoe", fails="is not available"),
    on("systemd.setting name=keep daemon=journald settings='{Storage: none}'"),
    on("systemd.setting name=deep daemon=system settings='{DefaultTasksMax: 77}'"),
    on("systemd.setting_absent name=keep daemon=logind", KEEP),
    on(
        "systemd.unit name=tock enable=true running=true restart=false",
        contents="[Service]\nExecStart=/bin/true\n",
        drop_ins={"nice": "[Service]\nNice=5\n"},
        timer="[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n",
    ),
    on("systemd.unit name=tick enable=false running=false", ENABLED),
    on("systemd.unit name=tick running=true", plans=False),
    on("systemd.setting settings='{SystemMaxUse: 200M}'", **SETTING),
    on(
        "systemd.setting_absent",
        "mkdir -p /etc/systemd/journald.conf.d; echo x >/etc/systemd/journald.conf.d/limits.conf",
        **SETTING,
    ),
    on("user.present name=zoe linger=true"),
    on(
        "user.present name=zoe linger=false",
        "useradd zoe; mkdir -p /var/lib/systemd/linger; touch $_/zoe",
    ),
    on("pkg.installed name=hello refresh=true"),
    on("sysctl.present name=vm.swappiness value=7"),
    on("sysctl.present name=no.such.key value='a b' config=/etc/sysctl.d/x.conf"),
    on(
        "sysctl.present name=vm.swappiness value=7",
        "echo 'vm.swappiness = 7' >/etc/sysctl.d/99-salt.conf",
        plans=False,
    ),
    on("sysctl.present name=vm.swappiness value=7 persist=false", plans=False),
    on("kmod.present name=br_netfilter persist=true"),
    on("kmod.present name=x mods=[br_netfilter,loop] persist=true"),
    on("kmod.present name=br_netfilter", plans=False),
    on("kmod.absent name=floppy persist=true", LOADED),
    on("kmod.absent name=floppy persist=true", plans=False),
    on("mount.mounted mkmnt=true opts=noatime", **DATA),
    on("mount.mounted", **DATA),
    on("mount.mounted mkmnt=true", f"{LINE}mkdir /data", **DATA, plans=False),
    on("mount.mounted mkmnt=true", LINE, **DATA),
    on("mount.mounted persist=false", **DATA, plans=False),
    on("mount.unmounted name=/data persist=true", LINE),
    on("mount.unmounted name=/data", LINE, plans=False),
    on("mount.unmounted name=/proc", plans=False),
    on("mount.swap name=/swapfile"),
    on("mount.swap name=/swapfile persist=false", plans=False),
    on("mount.fstab_present name=/dev/vdx fs_file=/data fs_vfstype=ext4"),
    on("network.system name=net hostname=image.example apply_hostname=true"),
    on("swap.file name=/swap size=1M", SWAPPING),
    on("swap.file name=/swap size=1M", f"{SWAPPING}{MADE}", plans=False),
    on("swap.absent name=/swap", f"{SWAPPING}{MADE}"),
    on("mount.fstab_absent name=/dev/vdx fs_file=/data", LINE),
    on("network.managed name=eth7 type=eth proto=static ipaddr=10.1.0.7/24", IFUPDOWN),
    on("network.managed name=lo type=eth enabled=false proto=none", IFUPDOWN),
    on("network.routes name=eth7", IFUPDOWN, routes=[{**ROUTE, "name": "far"}]),
    networks("network.managed", **STATIC),  # NetworkManager, which is enabled
    networks("network.routes name=eth7", KEYFILE, routes=[{**ROUTE, "name": "far"}]),
    networks("network.managed", NETPLAN, **STATIC),
    on("apparmor.enforced name=demo", f"{DEMO}ln -s $PWD/demo disable"),
    on("apparmor.enforced name=demo", DEMO, plans=False),
    on("apparmor.complain name=demo", DEMO),
    on("apparmor.disabled name=demo", DEMO),
    on("system.reboot name=now", "touch /run/reboot-required; ", plans=False),
    on("timezone.system name=Asia/Tokyo utc=false"),
    on("process.absent name=python", plans=False),
    desktop("at.present name=date timespec='10:00 2035-11-23'"),
    desktop("at.absent name=date", "cd /; echo date | at '10:00 2035-11-23'; "),
    openrc("service.running name=tick enable=true"),
    openrc("service.running name=tick enable=true", ADDED, plans=False),
    openrc("service.dead name=tick enable=false", ADDED),
    openrc("service.enabled name=tick"),
    openrc("service.disabled name=tick", ADDED),
]
