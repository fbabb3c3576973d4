# SPDX-License-Identifier: Apache-2.0
"""Archives that packages come from."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Annotated

from modules import pkg
from modules.pkg import RepositorySettings
from runner.api import (
    ONE_LINE,
    AbsolutePath,
    Check,
    Column,
    Done,
    Fact,
    Line,
    Name,
    Named,
    NonEmptyLine,
    OneOrMany,
    Pattern,
    Plan,
    Planned,
    Trimmed,
    line_problem,
)
from runner.api.near import closest
from states._tools import explained

Words = OneOrMany[Trimmed]
Architectures = OneOrMany[
    Annotated[Line, Pattern(r"[\w\s,-]*", "architectures such as `amd64` or `amd64,i386`")]
]
# what repositories have in the files of dnf and zypper, beside the arguments
OPTIONS = frozenset(
    """
    autorefresh bandwidth cost countme deltarpm deltarpm_percentage enabled_metadata enablegroups
    exclude excludepkgs fastestmirror includepkgs ip_resolve keepcache keeppackages
    max_parallel_downloads metadata_expire minrate module_hotfixes password path proxy
    proxy_auth_method proxy_password proxy_username repo_gpgcheck retries skip_if_unavailable
    sslcacert sslclientcert sslclientkey sslverify sslverifystatus throttle timeout type user_agent
    username
    """.split()
)

DECIDES = {"managed": "baseurl mirrorlist disabled enabled gpgcheck"}
TOLD_APART_BY = "file"
OPPOSITE = {"managed": "absent"}


def _names_option(key: str) -> bool:
    """Return whether an argument is an option of a repository, and no misspelt argument."""
    arguments = inspect.signature(managed).parameters
    known = [*OPTIONS, *(name.rstrip("_") for name in arguments if name != "options")]
    return key in OPTIONS or closest(key, known, 0.8) is None


Option = Annotated[str | int | bool | list[Line | int] | None, Named(_names_option)]
LATER = (
    "This may cause pkg states to behave differently than stated if this action is repeated without"
    " test=True, due to the differences in the configured repositories."
)


def managed(
    name: NonEmptyLine,
    ppa: Name | None = None,
    copr: Line | None = None,
    aptkey: bool = True,
    file_: AbsolutePath | None = None,
    key_url: Words | None = None,
    key_text: str | None = None,
    keyid: OneOrMany[Line | int] | None = None,
    keyserver: Line | None = None,
    signedby: Annotated[AbsolutePath, Check(line_problem, ONE_LINE)] | None = None,
    dist: Column | None = None,
    comps: Words | None = None,
    architectures: Architectures | None = None,
    disabled: bool | None = None,
    enabled: bool | None = None,
    comments: Words | None = None,
    clean_file: bool = False,
    consolidate: bool = False,
    refresh: bool | None = None,
    refresh_db: bool | None = None,
    humanname: Line | None = None,
    trusted: bool | None = None,
    gpgcheck: bool | int | None = None,
    allow_insecure_key: bool = True,
    baseurl: Line | None = None,
    mirrorlist: Line | None = None,
    metalink: Line | None = None,
    gpgkey: Line | None = None,
    gpgautoimport: bool | None = None,
    priority: int | None = None,
    server: Words | None = None,
    siglevel: Line | None = None,
    **options: Option,
) -> Planned:
    """Make sure that the package manager knows an archive.

    Which arguments mean something depends on the package manager: apt takes an entry as in
    sources.list, dnf and zypper an ID with `baseurl`, `mirrorlist` or `metalink`, pacman a name
    with `server` or `mirrorlist`, apk an address.

    Any other argument goes into the repository's file of dnf and zypper as it is (`sslverify: 0`,
    `skip_if_unavailable: 1`, `exclude: kernel*`); an empty one goes. With zypper `cache` keeps
    downloaded packages. pacman's is written to /etc/pacman.d/NAME.conf, which pacman.conf includes
    at its end, or changed where it is.

    name: With apt the entry as in sources.list (`deb [options] URI dist components`), with dnf and
      pacman the name of the repository, with zypper its alias, with apk the address as in
      /etc/apk/repositories, with `@tag` in front of it if it has one.
    ppa: `user/archive` of Launchpad instead, on Ubuntu, with its key.
    copr: `user/project` of Fedora's Copr instead.
    aptkey: False insists on signedby, instead of apt's trusted keys.
    file: The list that it belongs in when it has to be written (`*.sources`: as a stanza); without
      it where it already is, else /etc/apt/sources.list, or with zypper
      /etc/zypp/repos.d/ALIAS.repo.
    key_url: Where the key that it is signed with comes from (salt://, /path, http(s)://); it goes
      to signedby or what the entry names, else to the trusted keys; apk keeps the name of the file.
    key_text: The key that it is signed with, as a text; with apk it needs signedby.
    keyid: The key that it is signed with, by its ID, from `keyserver`; with pacman a key to trust.
    keyserver: The server that has the keys of keyid; without it keyserver.ubuntu.com.
    signedby: The path of the key file that its packages are verified with.
    dist: The release, where the entry does not say it.
    comps: The components, where the entry does not say them.
    architectures: The architectures whose packages it is used for.
    disabled: Know it, but do not use it.
    enabled: False is the same as disabled.
    comments: Comments behind the entry.
    clean_file: Remove what else the file says.
    consolidate: Remove it from other files.
    refresh: False does not renew the package lists after a change; with zypper also whether it
      renews them by itself.
    refresh_db: An older name of refresh.
    humanname: The name that is shown.
    trusted: Whether its packages are trusted without a signature.
    gpgcheck: Whether its packages must be signed (dnf, zypper, pacman).
    allow_insecure_key: False refuses a key_url with http.
    baseurl: The address of the packages (dnf, zypper).
    mirrorlist: The address of a list of servers (dnf), or a file with servers (pacman).
    metalink: The address of a list of servers with checksums (dnf).
    gpgkey: The addresses of the keys, which dnf and zypper fetch themselves.
    gpgautoimport: Fetch and trust the keys that the repository offers when it is written (zypper).
    priority: The rank among repositories that have the same package; the smallest number wins (dnf,
      zypper).
    server: The addresses of the servers (pacman).
    siglevel: Which signatures pacman needs (`Required DatabaseOptional`); without it as gpgcheck
      says.

        docker:
          pkgrepo.managed:
            - name: deb https://download.docker.com/linux/debian bookworm stable
            - signedby: /etc/apt/keyrings/docker.asc
            - file: /etc/apt/sources.list.d/docker.list
            - key_url: salt://docker/docker.asc

        epel:
          pkgrepo.managed:
            - humanname: Extra Packages for Enterprise Linux
            - metalink: https://mirrors.fedoraproject.org/metalink?repo=epel-9&arch=$basearch
            - gpgkey: https://dl.fedoraproject.org/pub/epel/RPM-GPG-KEY-EPEL-9
            - gpgcheck: 1

    Behaviour: Salt 3008's pkgrepo.managed with apt and yum.
    """
    manager = pkg.require("repositories", "pkgrepo.managed")
    settings = RepositorySettings(
        ppa=ppa,
        copr=copr,
        aptkey=aptkey,
        file=file_,
        key_url=_words(key_url),
        key_text=key_text,
        keyid=_words(keyid),
        keyserver=keyserver,
        signedby=signedby,
        dist=dist,
        comps=_words(comps),
        architectures=_words(architectures),
        disabled=disabled if disabled is not None else enabled is False,
        comments=_words(comments),
        clean_file=clean_file,
        consolidate=consolidate,
        humanname=humanname,
        trusted=trusted,
        gpgcheck=None if gpgcheck is None else bool(gpgcheck),
        allow_insecure_key=allow_insecure_key,
        baseurl=baseurl,
        mirrorlist=mirrorlist,
        metalink=metalink,
        gpgkey=gpgkey,
        gpgautoimport=gpgautoimport,
        priority=priority,
        autorefresh=refresh,
        server=_words(server),
        siglevel=siglevel,
        options={key: _option(value) for key, value in options.items()},
    )
    change = manager.repositories.plan_repository(name, settings)
    entry = change.entry
    if not change.changes:
        return f"Package repo '{entry}' already configured"
    written: list[Fact] = [("file", path) for path in change.files]
    yield Plan(
        change.changes,
        f"Package repo '{entry}' would be configured. {LATER}",
        provides=[*written, ("package lists", "")],
    )
    pkg.write_repository(change)
    if refresh is not False and refresh_db is not False:
        _refresh(manager, entry)
    return Done(f"Configured package repo '{entry}'", change.changes)


def absent(
    name: NonEmptyLine,
    ppa: Name | None = None,
    copr: Line | None = None,
    keyid: OneOrMany[Line | int] | None = None,
    keyid_ppa: bool = False,
    file_: AbsolutePath | None = None,
    dist: Column | None = None,
    comps: Words | None = None,
    refresh: bool | None = None,
    aptkey: bool = True,
) -> Planned:
    """Make sure that the package manager does not know an archive.

    name: With apt the entry as in sources.list, in which components and options need not be right;
      with dnf and pacman the name of the repository, with zypper its alias.
    ppa: `user/archive` of Launchpad instead.
    copr: `user/project` of Fedora's Copr instead.
    keyid: The trusted keys that pkgrepo.managed fetched by these IDs, which go together with it.
    keyid_ppa: Ignored; the key of a PPA goes with it.
    file: Ignored; all lists are searched.
    dist: The release, where the entry does not say it.
    comps: The components, where the entry does not say them.
    refresh: False does not renew the package lists after a change.
    aptkey: Ignored; whether apt-key is used.

        old archive:
          pkgrepo.absent:
            - name: deb http://old.example.com/debian bookworm main

    Behaviour: Salt 3008's pkgrepo.absent with apt and yum.
    """
    manager = pkg.require("repositories", "pkgrepo.absent")
    settings = RepositorySettings(
        ppa=ppa, copr=copr, keyid=_words(keyid), file=file_, dist=dist, comps=_words(comps)
    )
    change = manager.repositories.plan_repository_removal(name, settings)
    entry = change.entry
    if not change.changes:
        return f"Package repo {entry} is absent"
    yield Plan(change.changes, f"Package repo '{entry}' will be removed. {LATER}")
    pkg.write_repository(change)
    if refresh is not False:
        _refresh(manager, entry)
    return f"Removed repo {entry}" + (f", and keyid {', '.join(settings.keyid)}" if keyid else "")


def _option(value: Option) -> str:
    """The value of an option as it stands in a file."""
    if isinstance(value, list):
        return "\n".join(map(_option, value))
    return str(int(value)) if isinstance(value, bool) else str(value or "")


def _words(values: Sequence[str | int] | None) -> tuple[str, ...]:
    return tuple(map(str, values or ()))


def _refresh(manager: pkg.PackageManager, entry: str) -> None:
    with explained(f"Failed to configure repo '{entry}'"):
        manager.renew_db()
