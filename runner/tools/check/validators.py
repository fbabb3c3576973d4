# SPDX-License-Identifier: Apache-2.0
"""Hints of `runner check` at `validate`: for files that a program is known to judge, and where
`check_cmd` judges a file that has taken its place already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic

Expects = Callable[[Chunk, str], object]  # what an argument takes, if there is such an argument

_NETPLAN = (
    """sh -c 'd=$(mktemp -d) && install -Dm600 "$0" "$d/etc/netplan/new.yaml" &&"""
    """ netplan generate --root-dir "$d"; r=$?; rm -rf "$d"; exit $r'"""
)
# the files that a program can judge, by patterns, with the command to write
VALIDATORS = {
    "/etc/sudoers": "visudo -cf",
    "/etc/sudoers.d/*": "visudo -cf",
    "/etc/ssh/sshd_config": "sshd -t -f",
    "/etc/ssh/sshd_config.d/*.conf": "sshd -t -f",
    "/etc/nginx/nginx.conf": "nginx -t -c",
    "/etc/apache2/apache2.conf": "apache2ctl -t -f",
    "/etc/httpd/conf/httpd.conf": "httpd -t -f",
    "/etc/haproxy/haproxy.cfg": "haproxy -c -f",
    "/etc/keepalived/keepalived.conf": "keepalived -t -f",
    "/etc/squid/squid.conf": "squid -k parse -f",
    "/etc/crontab": "crontab -n",
    "/etc/cron.d/*": "crontab -n",
    "/etc/fstab": "findmnt --verify --tab-file",
    "/etc/bind/named.conf*": "named-checkconf",
    "/etc/named.conf": "named-checkconf",
    "/etc/unbound/unbound.conf": "unbound-checkconf",
    "/etc/dnsmasq.conf": "dnsmasq --test --conf-file=%s",
    "/etc/dhcp/dhcpd.conf": "dhcpd -t -cf",
    "/etc/samba/smb.conf": "testparm -s",
    "/etc/prometheus/prometheus.yml": "promtool check config",
    "/etc/nftables.conf": "nft --check -f",
    "/etc/iptables/rules.v4": "iptables-restore --test",
    "/etc/iptables/rules.v6": "ip6tables-restore --test",
    "/etc/netplan/*.yaml": _NETPLAN,
    "/etc/logrotate.conf": "logrotate -d",
    "/etc/logrotate.d/*": "logrotate -d",
    **dict.fromkeys(
        [
            f"{folder}/*.{kind}"
            for folder in ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
            for kind in ("service", "timer", "socket", "mount", "path", "target", "slice")
        ],
        "systemd-analyze verify --man=no",
    ),
}
_NOTES = {"crontab -n": " (`crontab -T` where cron is cronie)"}
# without one of these file.managed writes no contents
_CONTENTS = ("source", "contents", "contents_pillar", "contents_grains")


def hints(chunks: Sequence[Chunk], expects: Expects) -> Iterator[Diagnostic]:
    """All of them."""
    for chunk in chunks:
        if "validate" in chunk.args or not expects(chunk, "validate"):
            continue
        if "check_cmd" not in chunk.args:
            yield from _known(chunk)
        elif not expects(chunk, "check_cmd"):  # it is the one of every state
            message = f"check_cmd of {chunk.name} comes too late: the file has changed by then"
            hint = (
                "write `validate`: it gets the path of the new contents (`%s`), and what it refuses"
                " is not written"
            )
            place = chunk.arg_places.get("check_cmd", chunk.place)
            yield Diagnostic(message, place.source, hint, "check-too-late", "warning")


def _known(chunk: Chunk) -> Iterator[Diagnostic]:
    if chunk.function == "file.managed" and not any(key in chunk.args for key in _CONTENTS):
        return
    path = f"{chunk.name}/file" if chunk.function == "file.recurse" else chunk.name
    command = next((VALIDATORS[glob] for glob in VALIDATORS if fnmatchcase(path, glob)), "")
    if command:
        message = f"nothing judges {chunk.name} before it takes its place"
        hint = f"add `- validate: {command}`{_NOTES.get(command, '')}"
        yield Diagnostic(message, chunk.place.source, hint, "validate", "info")
