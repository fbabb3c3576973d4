"""Archives that packages come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modules import _apt_keys as keys
from modules import _apt_sources as apt
from modules import file, pkg
from modules.file import get_hash
from runner.api import AbsolutePath, Done, OneOrMany, Plan, Planned, StateFailed, here

Words = OneOrMany[str]
LATER = (
    "This may cause pkg states to behave differently than stated if this action is repeated without test=True, due to "
    "the differences in the configured repositories."
)


def managed(
    name: str,
    ppa: str | None = None,
    copr: str | None = None,
    aptkey: bool = True,
    file_: AbsolutePath | None = None,
    key_url: Words | None = None,
    key_text: str | None = None,
    keyid: OneOrMany[str | int] | None = None,
    keyserver: str | None = None,
    signedby: AbsolutePath | None = None,
    dist: str | None = None,
    comps: Words | None = None,
    architectures: Words | None = None,
    disabled: bool | None = None,
    enabled: bool | None = None,
    comments: Words | None = None,
    clean_file: bool = False,
    consolidate: bool = False,
    refresh: bool | None = None,
    refresh_db: bool | None = None,
    humanname: str | None = None,
    trusted: bool | None = None,
    gpgcheck: bool | int | None = None,
    allow_insecure_key: bool = True,
) -> Planned:
    """Make sure that apt knows an archive.

    name: the entry as in sources.list (`deb [options] URI dist components`); dist and comps may be given apart, options
    as architectures, signedby, trusted. file: the list that it belongs in (`*.sources`: as a stanza); without it where
    it already is, else /etc/apt/sources.list. disabled (or enabled: false): known, but not used. comments: behind it.
    clean_file: what else the file says goes. key_url (salt://, /path, http://), key_text, or keyid with keyserver: the
    key that the archive is signed with; it goes to signedby (or what the entry names), else to apt's trusted keys.
    refresh (refresh_db is an older name): renew the package lists after a change, as happens without it.
    ppa: `user/archive` of Launchpad, on Ubuntu. aptkey, consolidate, humanname, gpgcheck, allow_insecure_key, copr:
    accepted for trees that say them; apt-key is never used.

        docker:
          pkgrepo.managed:
            - name: deb https://download.docker.com/linux/debian bookworm stable
            - signedby: /etc/apt/keyrings/docker.asc
            - file: /etc/apt/sources.list.d/docker.list
            - key_url: salt://docker/docker.asc

    Behaviour: Salt 3008's pkgrepo.managed with apt.
    """
    _apt_only()
    entry = _ppa(ppa) if ppa else name
    wanted = _wanted(entry, dist, comps, architectures, signedby, trusted, comments, _off(disabled, enabled))
    known = apt.where(wanted, file_)
    path = file_ or (known[0] if known else apt.MAIN)
    new_keys = _keys(wanted, [*(key_url or ())], key_text, [str(each) for each in keyid or ()], keyserver)
    text = apt.with_source(path, wanted) if not clean_file else _alone(path, wanted)
    moved = file_ is not None and known is not None and known[0] != file_ and not consolidate
    same = known is not None and not moved and _same(known[1], wanted) and (not clean_file or text == apt.read(path))
    if same and not new_keys:
        return f"Package repo '{entry}' already configured"
    changes: dict[str, Any] = {"repo": entry}
    if known is not None and not moved and not same:
        changes = _difference(known[1], wanted) or changes
    yield Plan(changes, f"Package repo '{entry}' would be configured. {LATER}", provides=[("file", path)])
    for key_path, key in new_keys.items():
        file.makedirs(key_path.rpartition("/")[0], mode="0755")
        file.write(key_path, key, mode="0644")
    if not same:
        file.write(path, text.encode(), mode=None if file.is_file(path) else "0644")
    if refresh is not False and refresh_db is not False:
        pkg.refresh_db()
    return Done(f"Configured package repo '{entry}'", changes)


def absent(
    name: str,
    ppa: str | None = None,
    copr: str | None = None,
    keyid: OneOrMany[str | int] | None = None,
    keyid_ppa: bool = False,
    file_: AbsolutePath | None = None,
    dist: str | None = None,
    comps: Words | None = None,
    refresh: bool | None = None,
    aptkey: bool = True,
) -> Planned:
    """Make sure that apt does not know an archive.

    name: the entry as in sources.list; components and options need not be right. file: accepted; all lists are
    searched. ppa: `user/archive` of Launchpad instead. refresh: renew the package lists after a change.
    keyid, keyid_ppa, copr, aptkey, dist, comps: accepted for trees that say them; keys stay.

        old archive:
          pkgrepo.absent:
            - name: deb http://old.example.com/debian bookworm main

    Behaviour: Salt 3008's pkgrepo.absent with apt.
    """
    _apt_only()
    entry = _ppa(ppa) if ppa else name
    unwanted = _wanted(entry, dist, comps, None, None, None, None, False)
    paths = [path for path in apt.files() if any(source.means(unwanted) for source in apt.sources(path))]
    if not paths:
        return f"Package repo {entry} is absent"
    texts = {path: apt.without_source(path, unwanted) for path in paths}
    yield Plan({"repo": entry}, f"Package repo '{entry}' will be removed. {LATER}")
    for path, text in texts.items():
        if text.strip() or path == apt.MAIN:
            file.write(path, text.encode())
        else:
            file.remove(path)
    if refresh:
        pkg.refresh_db()
    return f"Removed repo {entry}"


def _apt_only() -> None:
    if here.grains.get("os_family") != "Debian":
        raise StateFailed("pkgrepo knows apt only so far; this machine does not have it")


def _off(disabled: bool | None, enabled: bool | None) -> bool:
    return disabled if disabled is not None else enabled is False


def _ppa(ppa: str) -> str:
    if here.grains.get("os") != "Ubuntu":
        raise StateFailed("ppa is for Ubuntu; name the whole entry (deb URI dist components) instead")
    return f"deb https://ppa.launchpadcontent.net/{ppa}/ubuntu {here.grains.get('oscodename')} main"


def _wanted(
    entry: str,
    dist: str | None,
    comps: Sequence[str] | None,
    architectures: Sequence[str] | None,
    signedby: str | None,
    trusted: bool | None,
    comments: Sequence[str] | None,
    off: bool,
) -> apt.Source:
    said = apt.parsed(entry)
    if said is None:
        why = f"Name {entry} is not valid. This must be the complete repo entry as seen in the sources file"
        raise StateFailed(f"Failed to configure repo '{entry}': {why}")
    options = dict(said.options)
    if architectures:
        options["arch"] = ",".join(_split(architectures))
    if signedby:
        options["signed-by"] = signedby
    if trusted is not None:
        options["trusted"] = "yes" if trusted else "no"
    found = said._replace(
        dist=dist or said.dist,
        comps=tuple(_split(comps)) if comps else said.comps,
        options=tuple(options.items()),
        disabled=off or said.disabled,
        comment=" ".join(comments) if comments else said.comment,
    )
    if not found.dist:
        raise StateFailed(f"Failed to configure repo '{entry}': it names no distribution; say it, or give `dist`")
    return found


def _split(words: Sequence[str]) -> list[str]:
    return [part for word in words for part in word.replace(",", " ").split()]


def _same(first: apt.Source, second: apt.Source) -> bool:
    plain = [source._replace(comment="", options=tuple(sorted(source.options))) for source in (first, second)]
    return plain[0] == plain[1]


def _difference(old: apt.Source, new: apt.Source) -> dict[str, Any]:
    lines = [source.line.removeprefix("# ") for source in (old, new)]
    parts: list[tuple[str, Any, Any]] = [
        ("comps", list(old.comps), list(new.comps)),
        ("disabled", old.disabled, new.disabled),
        ("line", lines[0], lines[1]),
    ]
    return {key: {"old": was, "new": now} for key, was, now in parts if was != now}


def _alone(path: str, wanted: apt.Source) -> str:
    return wanted.stanza if path.endswith(".sources") else f"{wanted.line}\n"


def _keys(
    wanted: apt.Source, urls: Sequence[str], text: str | None, ids: Sequence[str], server: str | None
) -> dict[str, bytes]:
    """The keys that have to be written, by their paths."""
    found: dict[str, bytes] = {}
    named = dict(wanted.options).get("signed-by")
    given = [(url, None) for url in urls] + ([(wanted.uri.partition("://")[2], text)] if text else [])
    for origin, key_text in given:
        key = keys.from_url(origin) if key_text is None else key_text.encode()
        path = named or keys.place(origin, key.lstrip().startswith(b"-----BEGIN"))
        found[path] = found.get(path, b"") + keys.shaped(key, path)
    for each in ids:
        path = named or f"{keys.TRUSTED}/{each}.asc"
        if not file.is_file(path):
            found[path] = keys.shaped(keys.from_server(each, server) or b"", path)
    return {path: key for path, key in found.items() if not _has(path, key)}


def _has(path: str, key: bytes) -> bool:
    import hashlib

    return file.is_file(path) and get_hash(path, "sha256") == hashlib.sha256(key).hexdigest()
