# SPDX-License-Identifier: Apache-2.0
"""Certificates of an ACME authority (Let's Encrypt), by certbot."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from modules import _paths, cmd
from modules._machine import processes
from modules._texts.lines import plain_name
from runner.api import CommandFailed, changer, for_states

LIVE = "/etc/letsencrypt/live"
WINDOW = 30  # days before the end in which certbot renews


@for_states
def path(name: str, file: str = "cert.pem") -> str:
    """The path of a file of a certificate. Raises CommandFailed for what is no name."""
    if "/" in name or name.startswith((".", "-")):
        raise CommandFailed(f"{name!r} cannot be the name of a certificate")
    return f"{LIVE}/{name}/{file}"


def certs() -> list[str]:
    """The names of the certificates.

    {{ salt['acme.certs']() }}
    """
    return sorted(name for name in _listed(LIVE) if _paths.isfile(f"{LIVE}/{name}/cert.pem"))


def _listed(folder: str) -> list[str]:
    return _paths.listdir(folder) if _paths.isdir(folder) else []


def has(name: str) -> bool:
    """Return whether there is a certificate."""
    return _paths.isfile(path(name))


def info(name: str) -> dict[str, str]:
    """Return what openssl says of a certificate: {text}; empty where there is none."""
    return {"text": _openssl(name, "-text")} if has(name) else {}


def _openssl(name: str, what: str) -> str:
    processes.needs("openssl", "openssl")
    done = cmd.probe(["openssl", "x509", "-in", path(name), "-noout", what])
    if done.retcode:
        raise CommandFailed(f"{path(name)} is no certificate: {done.stderr}")
    return done.stdout


def _end(name: str) -> datetime:
    text = _openssl(name, "-enddate").partition("=")[2].strip()
    return datetime.strptime(text, "%b %d %H:%M:%S %Y GMT").replace(tzinfo=UTC)


def expires(name: str) -> str | None:
    """When a certificate ends, in the form of ISO 8601; none where there is none."""
    return _end(name).replace(tzinfo=None).isoformat() if has(name) else None


def renew_by(name: str, window: int | None = None) -> str | None:
    """When a certificate should be renewed: so many days before its end."""
    if not has(name):
        return None
    by = _end(name) - timedelta(days=WINDOW if window is None else window)
    return by.replace(tzinfo=None).isoformat()


def needs_renewal(name: str, window: int | str | bool | None = None) -> bool:
    """Return whether a certificate should be renewed. window: days before its end; True or `force`:
    it should be in any case.
    """
    if window is True or window == "force":
        return True
    days = WINDOW if window in (None, False) else int(window or 0)
    return has(name) and _end(name) - timedelta(days=days) <= datetime.now(UTC)


@changer
def cert(name: str, **options: Any) -> dict[str, Any]:
    """Obtain or renew a certificate: {result, comment}. options: as of the state acme.cert."""
    argv = command(name, **options)
    done = cmd.execute(argv)
    if done.retcode:
        said = (done.stderr or done.stdout).strip()
        raise CommandFailed(f"certbot did not get the certificate {name}: {said}")
    return {"result": True, "comment": f"Certificate {name} obtained"}


@for_states
def command(name: str, **options: Any) -> list[str]:
    """The command line of certbot."""
    processes.needs("certbot", "certbot")
    given = {key: value for key, value in options.items() if value not in (None, False, [], "")}
    names = [plain_name(domain, "name") for domain in (name, *given.get("aliases", []))]
    argv = ["certbot", "certonly", "--non-interactive", "--agree-tos"]
    argv += [f"--cert-name={given.get('certname') or name}", f"--domains={','.join(names)}"]
    email = given.get("email")
    argv += [f"--email={email}"] if email else ["--register-unsafely-without-email"]
    plugin = given.get("dns_plugin")
    if given.get("webroot"):
        argv += ["--webroot", f"--webroot-path={given['webroot']}"]
    elif plugin:
        argv.append(f"--dns-{plugin}")
        credentials = given.get("dns_plugin_credentials")
        argv += [f"--dns-{plugin}-credentials={credentials}"] if credentials else []
    elif given.get("manual_auth_hook"):
        argv.append("--manual")
    else:
        argv.append("--standalone")
    for key, option in _OPTIONS.items():
        argv += [f"{option}={given[key]}"] if key in given else []
    argv += ["--test-cert"] if given.get("test_cert") else []
    argv += ["--expand"] if given.get("aliases") else []
    return [*argv, "--renew-by-default"] if given.get("renew") else [*argv, "--keep-until-expiring"]


_OPTIONS = {
    "keysize": "--rsa-key-size",
    "server": "--server",
    "preferred_challenges": "--preferred-challenges",
    "http_01_port": "--http-01-port",
    "http_01_address": "--http-01-address",
    "manual_auth_hook": "--manual-auth-hook",
    "manual_cleanup_hook": "--manual-cleanup-hook",
}
