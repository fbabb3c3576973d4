"""Archives that packages come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from modules import file, pkg
from modules.file import get_hash
from modules.pkg import apt_keys as keys
from modules.pkg import apt_sources as apt
from runner.api import (
    ONE_LINE,
    AbsolutePath,
    Check,
    CommandFailed,
    Done,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    StateFailed,
    here,
    line_problem,
)

Words = OneOrMany[Line]
LATER = (
    "This may cause pkg states to behave differently than stated if this action is repeated without"
    " test=True, due to the differences in the configured repositories."
)


def managed(
    name: Line,
    ppa: Name | None = None,
    copr: Line | None = None,
    aptkey: bool = True,
    file_: AbsolutePath | None = None,
    key_url: Words | None = None,
    key_text: str | None = None,
    keyid: OneOrMany[Line | int] | None = None,
    keyserver: Line | None = None,
    signedby: Annotated[AbsolutePath, Check(line_problem, ONE_LINE)] | None = None,
    dist: Name | None = None,
    comps: Words | None = None,
    architectures: Words | None = None,
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
) -> Planned:
    """Make sure that apt knows an archive.

    name: the entry as in sources.list (`deb [options] URI dist components`); dist and comps may be
    given apart, options as architectures, signedby, trusted. file: the list that it belongs in
    (`*.sources`: as a stanza) when it has to be written; without it where it already is, else
    /etc/apt/sources.list. disabled (or enabled: false): known, but not used. comments: behind it.
    clean_file: what else the file says goes. consolidate: other files lose the archive. key_url
    (salt://, /path, http://), key_text, or keyid with keyserver: the key that the archive is signed
    with; it goes to signedby (or what the entry names), else to apt's trusted keys. aptkey: False
    insists on signedby. allow_insecure_key: False refuses a key_url with http. refresh (refresh_db
    is an older name): renew the package lists after a change, as happens without it. ppa:
    `user/archive` of Launchpad, on Ubuntu, with its key. humanname, copr, gpgcheck, baseurl,
    mirrorlist, metalink, gpgkey, gpgautoimport, priority: are for other package managers and mean
    nothing to apt.

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
    wanted = _wanted(
        entry, dist, comps, architectures, signedby, trusted, comments, _off(disabled, enabled)
    )
    if ppa and file_ is None:
        file_ = f"{apt.PARTS}/{ppa.replace('/', '-')}-{wanted.dist}.list"
    known = apt.where(wanted, file_)
    path = file_ or (known[0] if known else apt.MAIN)
    if not aptkey and not {"signed-by", "trusted"} & dict(wanted.options).keys():
        raise StateFailed(
            _failed(entry, "missing 'signedby' or 'trusted' option when apt-key is missing")
        )
    _secure([*(key_url or ())], allow_insecure_key)
    given = [str(each) for each in keyid or ()]
    if ppa and not (given or key_url or key_text):
        given, keyserver = [keys.of_ppa(ppa)], None
    new_keys = _keys(wanted, [*(key_url or ())], key_text, given, keyserver)
    same = known is not None and known[1].says(wanted, known[0].endswith(".sources"))
    noted = not wanted.comment or (known is not None and known[1].comment == wanted.comment)
    there = same and (known is None or known[0] != path or (noted and not clean_file))
    texts = _texts([] if there else [path], wanted, clean_file) | (
        _elsewhere(path, wanted) if consolidate else {}
    )
    if same and not texts and not new_keys:
        return f"Package repo '{entry}' already configured"
    changes = (_difference(known[1], wanted) if known and not same else {}) or {"repo": entry}
    yield Plan(
        changes,
        f"Package repo '{entry}' would be configured. {LATER}",
        provides=[("file", path), ("package lists", "")],
    )
    for key_path, key in new_keys.items():
        file.makedirs(key_path.rpartition("/")[0], mode="0755")
        file.write(key_path, key, mode="0644")
    for changed, text in texts.items():
        _put(changed, text)
    if refresh is not False and refresh_db is not False:
        _refresh(entry)
    return Done(f"Configured package repo '{entry}'", changes)


def absent(
    name: Line,
    ppa: Name | None = None,
    copr: Line | None = None,
    keyid: OneOrMany[Line | int] | None = None,
    keyid_ppa: bool = False,
    file_: AbsolutePath | None = None,
    dist: Name | None = None,
    comps: Words | None = None,
    refresh: bool | None = None,
    aptkey: bool = True,
) -> Planned:
    """Make sure that apt does not know an archive.

    name: the entry as in sources.list; components and options need not be right. file: accepted;
    all lists are searched. ppa: `user/archive` of Launchpad instead. keyid: the trusted keys that
    pkgrepo.managed fetched by these IDs go too, when the archive does. refresh: renew the package
    lists after a change, as happens without it. keyid_ppa, copr, aptkey, dist, comps: accepted for
    trees that say them.

        old archive:
          pkgrepo.absent:
            - name: deb http://old.example.com/debian bookworm main

    Behaviour: Salt 3008's pkgrepo.absent with apt.
    """
    _apt_only()
    entry = (
        f"{ppa} of Launchpad"
        if ppa and here.grains.get("os") != "Ubuntu"
        else _ppa(ppa)
        if ppa
        else name
    )
    if apt.parsed(entry) is None:
        here.warn(f"{entry} is no entry for apt (deb URI dist components): no list can have it")
        return f"Package repo {name} is absent"
    unwanted = _wanted(entry, dist, comps, None, None, None, None, False)
    paths = [
        path for path in apt.files() if any(source.means(unwanted) for source in apt.sources(path))
    ]
    if not paths:
        return f"Package repo {entry} is absent"
    changes: dict[str, Any] = {"repo": entry} | (
        {"keyid": ", ".join(map(str, keyid))} if keyid else {}
    )
    yield Plan(changes, f"Package repo '{entry}' will be removed. {LATER}")
    for path in paths:
        _put(path, apt.without_source(path, unwanted))
    for each in keyid or ():
        if file.is_file(f"{keys.TRUSTED}/{each}.asc"):
            file.remove(f"{keys.TRUSTED}/{each}.asc")
    if refresh is not False:
        _refresh(entry)
    return f"Removed repo {entry}" + (f", and keyid {changes['keyid']}" if keyid else "")


def _apt_only() -> None:
    if here.grains.get("os_family") != "Debian":
        raise StateFailed("pkgrepo knows apt only so far; this machine does not have it")


def _off(disabled: bool | None, enabled: bool | None) -> bool:
    return disabled if disabled is not None else enabled is False


def _ppa(ppa: str) -> str:
    if here.grains.get("os") != "Ubuntu":
        raise StateFailed(
            "ppa is for Ubuntu; name the whole entry (deb URI dist components) instead"
        )
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
        why = (
            f"Name {entry} is not valid. This must be the complete repo entry as seen in the"
            " sources file"
        )
        raise StateFailed(_failed(entry, why))
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
        raise StateFailed(_failed(entry, "it names no distribution; say it, or give `dist`"))
    return found


def _split(words: Sequence[str]) -> list[str]:
    return [part for word in words for part in word.replace(",", " ").split()]


def _difference(old: apt.Source, new: apt.Source) -> dict[str, Any]:
    options = [dict(source.options) for source in (old, new)]
    architectures = [each["arch"].split(",") if each.get("arch") else [] for each in options]
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


def _texts(paths: Sequence[str], wanted: apt.Source, clean: bool) -> dict[str, str]:
    """The files to write, with their new texts."""
    found = {}
    for path in paths:
        alone = wanted.stanza if path.endswith(".sources") else f"{wanted.line}\n"
        found[path] = alone if clean else apt.with_source(path, wanted)
    return {path: text for path, text in found.items() if text != apt.read(path)}


def _elsewhere(path: str, wanted: apt.Source) -> dict[str, str]:
    """The other files that have the archive, with their texts without it."""
    having = [
        other for other in apt.files() if any(source.means(wanted) for source in apt.sources(other))
    ]
    return {other: apt.without_source(other, wanted) for other in having if other != path}


def _put(path: str, text: str) -> None:
    if text.strip() or path == apt.MAIN:
        file.write(path, text.encode(), mode=None if file.is_file(path) else "0644")
    else:
        file.remove(path)


def _refresh(entry: str) -> None:
    try:
        pkg.renew_db()
    except CommandFailed as failure:
        raise StateFailed(_failed(entry, failure.message)) from None


def _failed(entry: str, why: str) -> str:
    return f"Failed to configure repo '{entry}': {why}"


def _secure(urls: Sequence[str], insecure: bool) -> None:
    if not insecure and any(url.startswith("http://") for url in urls):
        raise StateFailed("Cannot have 'key_url' using http with 'allow_insecure_key' set to True")


def _keys(
    wanted: apt.Source,
    urls: Sequence[str],
    text: str | None,
    ids: Sequence[str],
    server: str | None,
) -> dict[str, bytes]:
    """The keys that have to be written, by their paths."""
    found: dict[str, bytes] = {}
    named = dict(wanted.options).get("signed-by")
    given = [(url, None) for url in urls] + (
        [(wanted.uri.partition("://")[2], text)] if text else []
    )
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
