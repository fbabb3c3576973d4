# SPDX-License-Identifier: Apache-2.0
"""Repositories of apt: what has to be written for one to be known, with its keys."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from modules import file
from modules.pkg.apt import keys
from modules.pkg.apt import sources as apt_sources
from modules.pkg.apt.sources import AptSource
from modules.pkg.package_manager import RepositoryChange, RepositorySettings
from runner.api import StateFailed, here


def list_repos() -> dict[str, list[dict[str, Any]]]:
    """Return the sources of packages by their addresses, those that are switched off included."""
    repositories: dict[str, list[dict[str, Any]]] = {}
    for path in apt_sources.files():
        for group in apt_sources.grouped(path):
            merged = {
                "suites": list(dict.fromkeys(source.dist for source in group)),
                "types": list(dict.fromkeys(source.type for source in group)),
                "uris": list(dict.fromkeys(source.uri for source in group)),
            }
            for source in group:
                repositories.setdefault(source.uri, []).append(_described(path, source, merged))
    return repositories


def _described(path: str, source: AptSource, merged: dict[str, list[str]]) -> dict[str, Any]:
    options = dict(source.options)
    architectures = options.get("arch", "")
    return {
        "file": path,
        "comps": list(source.comps),
        "disabled": source.disabled,
        "enabled": not source.disabled,
        "dist": source.dist,
        "suites": merged["suites"],
        "type": source.type,
        "types": merged["types"],
        "uri": source.uri,
        "uris": merged["uris"],
        "line": source.line,
        "architectures": architectures.split(",") if architectures else [],
        "signedby": options.get("signed-by", ""),
    }


def plan_repository(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that apt knows an archive with its keys.

    name: the entry as in sources.list. Raises StateFailed for what is no entry, and for keys that
    cannot be had.
    """
    ppa = settings.ppa
    if settings.options:
        here.warn(f"apt's repositories have no {', '.join(settings.options)}: it is ignored")
    entry = _ppa_entry(ppa) if ppa else name
    wanted = _source(entry, settings)
    preferred = settings.file
    if ppa and preferred is None:
        preferred = f"{apt_sources.PARTS}/{ppa.replace('/', '-')}-{wanted.dist}.list"
    if preferred and apt_sources.is_passed_over(preferred):
        why = f"apt passes over {preferred}: it reads files that end in .list or .sources"
        raise StateFailed(failure(entry, f"{why}, such as {preferred}.list"))
    present = apt_sources.where(wanted, preferred)
    path = preferred or (present[0] if present else apt_sources.MAIN)
    if not settings.aptkey and not {"signed-by", "trusted"} & dict(wanted.options).keys():
        raise StateFailed(
            failure(entry, "missing 'signedby' or 'trusted' option when apt-key is missing")
        )
    new_keys = _new_keys(wanted, settings)
    same = present is not None and present[1].says(wanted, present[0].endswith(".sources"))
    noted = not wanted.comment or (present is not None and present[1].comment == wanted.comment)
    clean = settings.clean_file
    in_place = same and (present is None or present[0] != path or (noted and not clean))
    texts = _texts([] if in_place else [path], wanted, clean)
    texts |= _texts_without(path, wanted) if settings.consolidate else {}
    if same and not texts and not new_keys:
        return RepositoryChange(entry)
    changes = _difference(present[1], wanted) if present and not same else {}
    return RepositoryChange(
        entry,
        changes or {"repo": entry},
        {path: _contents(path, text) for path, text in texts.items()},
        new_keys,
    )


def plan_repository_removal(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that apt does not know an archive.

    name: the entry as in sources.list; components and options need not be right.
    """
    ppa = settings.ppa
    on_ubuntu = here.grains.get("os") == "Ubuntu"
    entry = name if not ppa else _ppa_entry(ppa) if on_ubuntu else f"{ppa} of Launchpad"
    if apt_sources.parsed(entry) is None:
        here.warn(f"{entry} is not an entry for apt (deb URI dist components): no list can have it")
        return RepositoryChange(name)
    unwanted = _source(entry, RepositorySettings(dist=settings.dist, comps=settings.comps))
    paths = [path for path in apt_sources.files() if _has_source(path, unwanted)]
    if not paths:
        return RepositoryChange(entry)
    files = {path: _contents(path, apt_sources.without_source(path, unwanted)) for path in paths}
    for keyid in settings.keyid:
        if file.is_file(f"{keys.TRUSTED}/{keyid}.asc"):
            files[f"{keys.TRUSTED}/{keyid}.asc"] = None
    gone_keys = {"keyid": ", ".join(settings.keyid)} if settings.keyid else {}
    return RepositoryChange(entry, {"repo": entry, **gone_keys}, files)


def failure(entry: str, why: str) -> str:
    """Return the message for a repository that cannot be configured."""
    return f"Failed to configure repo '{entry}': {why}"


def _has_source(path: str, wanted: AptSource) -> bool:
    return any(source.means(wanted) for source in apt_sources.sources(path))


def _ppa_entry(ppa: str) -> str:
    if here.grains.get("os") != "Ubuntu":
        raise StateFailed(
            "ppa is for Ubuntu; name the whole entry (deb URI dist components) instead"
        )
    return f"deb https://ppa.launchpadcontent.net/{ppa}/ubuntu {here.grains.get('oscodename')} main"


def _source(entry: str, settings: RepositorySettings) -> AptSource:
    """The entry with what the other arguments add. Raises StateFailed for what is not an entry."""
    source = apt_sources.parsed(entry)
    if source is None:
        why = (
            f"Name {entry} is not valid. This must be the complete repo entry as seen in the"
            " sources file"
        )
        raise StateFailed(failure(entry, why))
    options = dict(source.options)
    if settings.architectures:
        options["arch"] = ",".join(_split(settings.architectures))
    if settings.signedby:
        options["signed-by"] = settings.signedby
    if settings.trusted is not None:
        options["trusted"] = "yes" if settings.trusted else "no"
    source = source._replace(
        dist=settings.dist or source.dist,
        comps=tuple(_split(settings.comps)) if settings.comps else source.comps,
        options=tuple(options.items()),
        disabled=bool(settings.disabled) or source.disabled,
        comment=" ".join(settings.comments) if settings.comments else source.comment,
    )
    if not source.dist:
        raise StateFailed(failure(entry, "it names no distribution; say it, or give `dist`"))
    if apt_sources.parsed(source.line) != source:
        why = f"apt would read `{source.line}` as another entry: a blank, `]` or `#` ends its parts"
        raise StateFailed(failure(entry, why))
    return source


def _split(words: Sequence[str]) -> list[str]:
    return [part for word in words for part in word.replace(",", " ").split()]


def _difference(old: AptSource, new: AptSource) -> dict[str, Any]:
    options = [dict(source.options) for source in (old, new)]
    architectures = [
        source_options["arch"].split(",") if source_options.get("arch") else []
        for source_options in options
    ]
    parts: list[tuple[str, Any, Any]] = [
        ("uri", old.uri, new.uri),
        ("uris", [old.uri], [new.uri]),
        ("comps", list(old.comps), list(new.comps)),
        ("disabled", old.disabled, new.disabled),
        ("architectures", architectures[0], architectures[1]),
        ("signedby", options[0].get("signed-by", ""), options[1].get("signed-by", "")),
        ("line", old.line, new.line),
    ]
    return {key: {"old": was, "new": now} for key, was, now in parts if was != now}


def _texts(paths: Sequence[str], wanted: AptSource, clean: bool) -> dict[str, str]:
    """The files to write, with their new texts."""
    texts = {}
    for path in paths:
        alone = wanted.stanza if path.endswith(".sources") else f"{wanted.line}\n"
        texts[path] = alone if clean else apt_sources.with_source(path, wanted)
    return {path: text for path, text in texts.items() if text != apt_sources.read(path)}


def _texts_without(path: str, wanted: AptSource) -> dict[str, str]:
    """The other files that have the archive, with their texts without it."""
    others = [other for other in apt_sources.files() if other != path]
    return {
        other: apt_sources.without_source(other, wanted)
        for other in others
        if _has_source(other, wanted)
    }


def _contents(path: str, text: str) -> bytes | None:
    """Return what a list is to contain; None: an empty one goes, but for apt's main list."""
    return text.encode() if text.strip() or path == apt_sources.MAIN else None


def _new_keys(wanted: AptSource, settings: RepositorySettings) -> dict[str, bytes]:
    """The keys that have to be written, by their paths."""
    urls, text, ids, server = (
        settings.key_url,
        settings.key_text,
        settings.keyid,
        settings.keyserver,
    )
    if not settings.allow_insecure_key and any(url.startswith("http://") for url in urls):
        raise StateFailed("Cannot have 'key_url' using http with 'allow_insecure_key' set to True")
    if settings.ppa and not (ids or urls or text):
        ids, server = (keys.of_ppa(settings.ppa),), None
    written: dict[str, bytes] = {}
    named = dict(wanted.options).get("signed-by")
    given: list[tuple[str, str | None]] = [(url, None) for url in urls]
    given += [(wanted.uri.partition("://")[2], text)] if text else []
    for origin, key_text in given:
        key = keys.from_url(origin) if key_text is None else key_text.encode()
        if not keys.is_openpgp(key):
            raise StateFailed(
                f"{'the text of the key' if key_text else f'the key {origin}'} is no OpenPGP key"
            )
        path = named or keys.place(origin, key.lstrip().startswith(b"-----BEGIN"))
        written[path] = written.get(path, b"") + keys.shaped(key, path)
    for keyid in ids:
        path = named or f"{keys.TRUSTED}/{keyid}.asc"
        if not file.is_file(path):
            written[path] = keys.shaped(keys.from_server(keyid, server) or b"", path)
    return {path: key for path, key in written.items() if not _has_contents(path, key)}


def _has_contents(path: str, contents: bytes) -> bool:
    digest = hashlib.sha256(contents).hexdigest()
    return file.is_file(path) and file.get_hash(path, "sha256") == digest
