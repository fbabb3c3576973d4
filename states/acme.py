"""Certificates of an ACME authority (Let's Encrypt), by certbot."""

from __future__ import annotations

from typing import Any

from modules import acme, file
from runner.api import AbsolutePath, Line, Mode, Name, Plan, Planned, StateFailed

LIVE = acme.LIVE


def cert(
    name: Name,
    aliases: list[Name] | None = None,
    email: Name | None = None,
    webroot: AbsolutePath | None = None,
    certname: Name | None = None,
    test_cert: bool = False,
    renew: int | bool | Line | None = None,
    keysize: int | None = None,
    server: Name | None = None,
    owner: Name = "root",
    group: Name = "root",
    mode: Mode = "0640",
    preferred_challenges: Name | None = None,
    http_01_port: int | None = None,
    http_01_address: Name | None = None,
    dns_plugin: Name | None = None,
    dns_plugin_credentials: AbsolutePath | None = None,
    manual_auth_hook: Line | None = None,
    manual_cleanup_hook: Line | None = None,
) -> Planned:
    """Make sure that certbot has a certificate for a domain, valid for some time yet.

    name: the domain. aliases: more domains. email: of the account. webroot: the folder of a web
    server that shows the authority's file; else dns_plugin (with dns_plugin_credentials, a file),
    manual_auth_hook (with manual_cleanup_hook), or certbot's own server. certname: the
    certificate's name, the domain unless it is given. test_cert: of the authority's test server.
    renew: the days before its end in which it is renewed, 30 unless it is given; force: always.
    keysize: of an RSA key. server: the address of another authority. owner, group, mode: of the
    private key. preferred_challenges, http_01_port, http_01_address: as of certbot.

        www.example.org:
          acme.cert:
            - email: root@example.org
            - webroot: /var/www/html

    Behaviour: Salt 3007's acme.cert; the end is read from the certificate.
    """
    what = certname or name
    options: dict[str, Any] = {
        **{"aliases": aliases, "email": email, "webroot": webroot, "certname": certname},
        **{"test_cert": test_cert, "keysize": keysize, "server": server},
        **{"preferred_challenges": preferred_challenges, "http_01_port": http_01_port},
        **{"http_01_address": http_01_address, "dns_plugin": dns_plugin},
        "dns_plugin_credentials": dns_plugin_credentials,
        **{"manual_auth_hook": manual_auth_hook, "manual_cleanup_hook": manual_cleanup_hook},
    }
    present = acme.has(what)
    due = present and acme.needs_renewal(what, renew)
    key = acme.path(what, "privkey.pem")
    uid, gid = file.uid_of(owner), file.gid_of(group)
    if uid is None:
        raise StateFailed(f"User {owner} is not available", missing=("user", owner))
    if gid is None:
        raise StateFailed(f"Group {group} is not available", missing=("group", group))
    changes: dict[str, Any] = {}
    comment = f"Certificate {what} exists and does not need renewal."
    if due or not present:
        verb = "renewed" if due else "obtained"
        changes[what] = verb
        comment = f"Certificate {what} would have been {verb}."
        acme.command(name, **options)
    elif file.exists(key):
        stat = file.stat(key)
        if (stat.uid, stat.gid, stat.mode) != (uid, gid, mode):
            changes["privkey.pem"] = {"owner": owner, "group": group, "mode": mode}
            comment = f"The private key of {what} would have been given to {owner}"
    if not changes:
        return comment
    yield Plan(changes, comment, provides=[("file", key)])
    if what in changes:
        acme.cert(name, **options, renew=due)
    real = file.real_path(key)
    file.chown(real, uid, gid)
    file.set_mode(real, mode)
    return f"Certificate {what} {changes[what]}" if what in changes else f"{key} was changed"
