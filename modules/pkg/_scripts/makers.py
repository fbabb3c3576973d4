# SPDX-License-Identifier: Apache-2.0
"""Commands of maintainer scripts that make files whose contents nobody knows before: keys,
certificates, clusters of databases. Who owns them, and their modes, are known.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from modules import _paths, file
from modules._texts.shell import Unread
from modules.pkg._scripts.known import Told, absolute, known, options
from modules.pkg._scripts.run import Outcome
from runner.api.doubts import CONTENTS


def _make(paths: Iterable[tuple[str, str]], user: str | int = 0, group: str | int = 0) -> Outcome:
    """Plan files (their paths and modes) that are not there yet."""
    made = []
    for path, mode in paths:
        if not _paths.lexists(path):
            file.write(path, CONTENTS, mode=mode, user=user, group=group)
            made.append(path)
    return Outcome(0, "", tuple(made))


@known("ssh-keygen")
def _ssh_keygen(words: list[str], text: str | None) -> Told:
    given, values, rest = options(words, ("-q", "-l", "-A"), ("-f", "-N", "-t", "-b", "-C"))
    if "-l" in given:
        return Outcome(0, None)
    if rest or "-A" in given or "-f" not in values:
        raise Unread("ssh-keygen")
    [path] = absolute([values["-f"]])
    return _make([(path, "0600"), (f"{path}.pub", "0644")])


@known("rndc-confgen")
def _rndc_confgen(words: list[str], text: str | None) -> Told:
    given, values, _ = options(words, ("-a", "-q"), ("-b", "-c", "-r", "-A", "-k", "-u"))
    if "-a" not in given:
        return Outcome(0, None)
    return _make([(values.get("-c", "/etc/bind/rndc.key"), "0600")])


@known("make-ssl-cert")
def _make_ssl_cert(words: list[str], text: str | None) -> Told:
    if [word for word in words if word != "--force-overwrite"] != ["generate-default-snakeoil"]:
        raise Unread("make-ssl-cert")
    made = _make([("/etc/ssl/certs/ssl-cert-snakeoil.pem", "0644")])
    key = _make([("/etc/ssl/private/ssl-cert-snakeoil.key", "0640")], 0, "ssl-cert")
    return made._replace(unknown=(*made.unknown, *key.unknown))


@known("openssl")
def _openssl(words: list[str], text: str | None) -> Told:
    """A random number, which it prints."""
    _, values, _ = options(words[1:], ("-base64", "-hex"), ("-out",))
    if words[:1] != ["rand"]:
        raise Unread("openssl")
    paths = absolute([*values.values()])
    return _make([(path, "0600") for path in paths]) if paths else Outcome(0, None)


@known("newaliases")
def _newaliases(words: list[str], text: str | None) -> Told:
    return _make([("/etc/aliases.db", "0644")])


# of a cluster of PostgreSQL: its settings, and their modes
SETTINGS = {"environment": "0644", "pg_ctl.conf": "0644", "start.conf": "0644"}
SETTINGS |= {"postgresql.conf": "0644", "pg_hba.conf": "0640", "pg_ident.conf": "0640"}


@known("pg_createcluster")
def _pg_createcluster(words: list[str], text: str | None) -> Told:
    flags = ("--no-status", "--start")
    _, values, rest = options(words, flags, ("-u", "--user"))
    if len(rest) != 2:
        raise Unread("pg_createcluster")
    user = values.get("-u") or values.get("--user") or "postgres"
    version, name = rest
    settings, data = (f"{top}/postgresql/{version}" for top in ("/etc", "/var/lib"))
    for path, mode in ((settings, "0755"), (f"{settings}/{name}", "0755"), (data, "0755")):
        _make_folder(path, mode, user)
    _make_folder(f"{settings}/{name}/conf.d", "0755", user)
    _make_folder(f"{data}/{name}", "0700", user)
    made = [(f"{settings}/{name}/{each}", mode) for each, mode in SETTINGS.items()]
    made.append((f"{data}/{name}/PG_VERSION", "0600"))
    outcome = _make(made, user, user)
    log = f"/var/log/postgresql/postgresql-{version}-{name}.log"
    more = _make([(log, "0640")], user, "adm")
    return outcome._replace(unknown=(*outcome.unknown, *more.unknown))


def _make_folder(path: str, mode: str, user: str) -> None:
    if not _paths.isdir(path):
        file.makedirs(os.path.dirname(path), mode="0755")
        file.mkdir(path, mode=mode, user=user, group=user)
