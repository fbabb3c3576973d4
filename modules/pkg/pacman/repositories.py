# SPDX-License-Identifier: Apache-2.0
"""Repositories of pacman: a section of the configuration each.

A new one gets a file of its own below /etc/pacman.d, which pacman.conf includes at its end: pacman
asks repositories in their order. One that is there is changed where it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from modules.pkg.apt import keys as apt_keys
from modules.pkg.package_manager import RepositoryChange, RepositorySettings
from modules.pkg.pacman import conf as pacman_conf
from modules.pkg.pacman import keys as pacman_keys
from modules.pkg.pacman.conf import Section
from runner.api import StateFailed

_NAME = re.compile(r"(?!(options|local)$)[A-Za-z0-9@_][A-Za-z0-9@._+-]*$")
_LEVEL = re.compile(r"(Package|Database)?(Never|Optional|Required|TrustedOnly|TrustAll)$")
KEYSERVER = "keyserver.ubuntu.com"


def list_repos() -> dict[str, dict[str, Any]]:
    """Return the repositories by their names."""
    return {section.name: _described(section) for section in pacman_conf.repositories()}


def _described(section: Section) -> dict[str, Any]:
    return {
        "file": section.path,
        "server": list(section.values("Server")),
        "include": list(section.values("Include")),
        "siglevel": " ".join(section.values("SigLevel")),
        "usage": " ".join(section.values("Usage")),
        "enabled": True,
    }


def plan_repository(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that pacman knows a repository, with its keys.

    Raises StateFailed for a name or a signature level that pacman would refuse, and for keys that
    cannot be had.
    """
    _check(name, settings)
    section = _section(name, settings.file)
    path = section.path if section else settings.file or f"{pacman_conf.FOLDER}/{name}.conf"
    in_use = section is not None and path in pacman_conf.files()
    wanted = _wanted(settings)
    if not any(
        wanted.get(key) or (section and section.values(key)) for key in ("Server", "Include")
    ):
        raise StateFailed(
            _failure(name, "it needs `server` (or `baseurl`), or `mirrorlist`: a file with servers")
        )
    keys = _new_keys(settings)
    if settings.disabled:
        return _plan_disabled(name, path, wanted, section, keys)
    texts = {path: _with_section(path, name, section, wanted)}
    if path != pacman_conf.MAIN and not pacman_conf.includes(path):
        main = pacman_conf.read(pacman_conf.MAIN)
        texts[pacman_conf.MAIN] = pacman_conf.with_include(main, path)
    changes = _difference(section, wanted) if section and in_use else {"repo": name}
    return _change(name, changes, texts, keys)


def _plan_disabled(
    name: str,
    path: str,
    wanted: Mapping[str, tuple[str, ...]],
    section: Section | None,
    keys: tuple[bytes, ...],
) -> RepositoryChange:
    """Return what has to be written so that a repository has a file that nothing includes."""
    if path == pacman_conf.MAIN:
        raise StateFailed(
            _failure(
                name,
                f"it stands in {pacman_conf.MAIN}, where it cannot be disabled: use pkgrepo.absent",
            )
        )
    main = pacman_conf.read(pacman_conf.MAIN)
    texts = {
        path: _with_section(path, name, section, wanted),
        pacman_conf.MAIN: pacman_conf.without_include(main, path),
    }
    changed = any(text != pacman_conf.read(where) for where, text in texts.items())
    return _change(name, {"disabled": {"old": False, "new": True}} if changed else {}, texts, keys)


def _change(
    name: str, changes: Mapping[str, Any], texts: Mapping[str, str], keys: tuple[bytes, ...]
) -> RepositoryChange:
    files = {path: text.encode() for path, text in texts.items() if text != pacman_conf.read(path)}
    if not files and not keys:
        return RepositoryChange(name)
    added = {"keys": f"{len(keys)} new"} if keys else {}
    return RepositoryChange(name, {**changes, **added} or {"repo": name}, files, keys=keys)


def plan_repository_removal(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that pacman does not know a repository. Raises StateFailed
    when one file has it several times.
    """
    sections = [section for section in pacman_conf.repositories() if section.name == name]
    texts: dict[str, str] = {}
    for section in reversed(sections):
        if section.path in texts:
            raise StateFailed(
                f"{section.path} has the repository {name} several times: remove all but one"
            )
        texts[section.path] = pacman_conf.replaced_lines(
            section.path, section.start, section.end, []
        )
    contents: dict[str, bytes | None] = {}
    for path, text in texts.items():
        if path != pacman_conf.MAIN and not re.search(r"^\s*[^#\s]", text, re.MULTILINE):
            contents[path] = None
            main = texts.get(pacman_conf.MAIN) or pacman_conf.read(pacman_conf.MAIN)
            contents[pacman_conf.MAIN] = pacman_conf.without_include(main, path).encode()
        else:
            contents.setdefault(path, text.encode())
    return RepositoryChange(name, {"repo": name} if sections else {}, contents)


def _section(name: str, preferred: str | None) -> Section | None:
    """Return a repository's section: of a file in use, else of the file that it would get."""
    used = [section for section in pacman_conf.repositories() if section.name == name]
    path = preferred or f"{pacman_conf.FOLDER}/{name}.conf"
    unused = [section for section in pacman_conf.sections(path) if section.name == name]
    return next(iter([*used, *unused]), None)


def _check(name: str, settings: RepositorySettings) -> None:
    if not _NAME.match(name):
        raise StateFailed(
            _failure(
                name,
                "this is no name for a repository of pacman: letters, digits, @ . _ + -, but not"
                " `local` and `options`, which pacman uses itself",
            )
        )
    wrong = [word for word in (settings.siglevel or "").split() if not _LEVEL.match(word)]
    if wrong:
        raise StateFailed(
            _failure(
                name,
                f"siglevel {wrong[0]!r}: pacman knows Never, Optional, Required, TrustedOnly and"
                " TrustAll, also behind Package or Database",
            )
        )
    if "://" in (settings.mirrorlist or ""):
        raise StateFailed(
            _failure(name, "mirrorlist is a file with servers for pacman; give addresses as server")
        )


def _wanted(settings: RepositorySettings) -> dict[str, tuple[str, ...]]:
    """Return the settings that a state asks for, by pacman's names; what it does not say stays."""
    level = settings.siglevel
    if level is None and settings.gpgcheck is not None:
        level = "Required" if settings.gpgcheck else "Never"
    if level is None and settings.trusted is not None:
        level = "Optional TrustAll" if settings.trusted else "Required TrustedOnly"
    servers = settings.server or ((settings.baseurl,) if settings.baseurl else ())
    wanted: dict[str, tuple[str, ...]] = {}
    if level is not None:
        wanted["SigLevel"] = (level,)
    if servers or settings.mirrorlist:
        wanted["Server"] = servers
        wanted["Include"] = (settings.mirrorlist,) if settings.mirrorlist else ()
    return wanted


def _difference(section: Section, wanted: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, values in wanted.items():
        old = section.values(key)
        if old != values:
            changes[key.lower()] = {"old": list(old), "new": list(values)}
    return changes


def _with_section(
    path: str, name: str, section: Section | None, wanted: Mapping[str, tuple[str, ...]]
) -> str:
    """Return the text of a file with a repository as it should be; its other settings stay."""
    new = [f"{key} = {value}" for key, values in wanted.items() for value in values]
    if section is None:
        text = pacman_conf.read(path)
        return f"{text.rstrip()}\n\n".lstrip() + "\n".join([f"[{name}]", *new]) + "\n"
    if not _difference(section, wanted):
        return pacman_conf.read(path)
    lines = pacman_conf.read(path).splitlines()[section.start : section.end]
    setting = re.compile(rf"\s*({'|'.join(wanted)})\s*=")
    others = [line for line in lines[1:] if not setting.match(line)]
    return pacman_conf.replaced_lines(path, section.start, section.end, [lines[0], *new, *others])


def _new_keys(settings: RepositorySettings) -> tuple[bytes, ...]:
    """Return the keys that pacman does not trust yet."""
    if not (settings.key_url or settings.key_text or settings.keyid or settings.gpgkey):
        return ()
    if not settings.allow_insecure_key and any(
        url.startswith("http://") for url in settings.key_url
    ):
        raise StateFailed("Cannot have 'key_url' using http with 'allow_insecure_key' set to True")
    trusted = pacman_keys.trusted()
    urls = (*settings.key_url, *([settings.gpgkey] if settings.gpgkey else ()))
    keys = [apt_keys.from_url(url) for url in urls]
    keys += [settings.key_text.encode()] if settings.key_text else []
    unknown = [keyid for keyid in settings.keyid if not _is_among(keyid, trusted)]
    keys += [apt_keys.from_server(keyid, settings.keyserver or KEYSERVER) for keyid in unknown]
    return tuple(key for key in keys if not {*pacman_keys.fingerprints(key)} <= trusted)


def _is_among(keyid: str, fingerprints: Sequence[str] | set[str]) -> bool:
    digits = keyid.upper().removeprefix("0X").replace(" ", "")
    return any(fingerprint.endswith(digits) for fingerprint in fingerprints)


def _failure(name: str, why: str) -> str:
    return f"Failed to configure repo '{name}': {why}"
