# SPDX-License-Identifier: Apache-2.0
"""Certificates of an ACME authority (Let's Encrypt), by certbot."""

from __future__ import annotations

from typing import Any, Literal

from modules import file
from modules.certificates import acme
from runner.api import AbsolutePath, Line, Mode, Name, Plan, Planned, StateFailed
from states._rights import writing

DECIDES = {"cert": "owner group email server"}

dry_run_check = writing("/etc/letsencrypt")

LIVE = acme.LIVE


def cert(
    name: Name,
    aliases: list[Name] | None = None,
    email: Name | None = None,
    webroot: AbsolutePath | None = None,
    certname: Name | None = None,
    test_cert: bool = False,
    renew: int | bool | Literal["force"] | None = None,
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

    name: The domain.
    aliases: More domains that the certificate is for.
    email: The address of the account.
    webroot: The folder of a web server that shows the authority's file; without it, dns_plugin and
      manual_auth_hook certbot starts a server of its own.
    certname: The name of the certificate; without it the domain.
    test_cert: Have the certificate made by the authority's test server.
    renew: The days before its end in which it is renewed; without it 30, `force` for always.
    keysize: The bits of an RSA key.
    server: The address of another authority.
    owner: The owner of the private key.
    group: The group of the private key.
    mode: The rights of the private key.
    preferred_challenges: How the domain is to be proved, as certbot names it: `http`, `dns`.
    http_01_port: The port that certbot's own server listens at.
    http_01_address: The address that certbot's own server listens at.
    dns_plugin: The plugin of certbot that proves the domain by DNS, such as `cloudflare`.
    dns_plugin_credentials: The file with what dns_plugin logs in with.
    manual_auth_hook: A command that proves the domain in another way.
    manual_cleanup_hook: A command that clears up after manual_auth_hook.

        www.example.org:
          acme.cert:
            - email: root@example.org
            - webroot: /var/www/html

    Behaviour: Salt 3007's acme.cert; the end is read from the certificate.
    """
    what = certname or name
    options: dict[str, Any] = {
        "aliases": aliases,
        "email": email,
        "webroot": webroot,
        "certname": certname,
        "test_cert": test_cert,
        "keysize": keysize,
        "server": server,
        "preferred_challenges": preferred_challenges,
        "http_01_port": http_01_port,
        "http_01_address": http_01_address,
        "dns_plugin": dns_plugin,
        "dns_plugin_credentials": dns_plugin_credentials,
        "manual_auth_hook": manual_auth_hook,
        "manual_cleanup_hook": manual_cleanup_hook,
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
