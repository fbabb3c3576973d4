# SPDX-License-Identifier: Apache-2.0
"""The settings `gitfs_*` and `git_pillar_*`, each of which a remote may have for itself.

Behaviour: Salt's, as measured; what a GitPython or pygit2 of its alone can do goes for all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runner.model.diagnostics import Diagnostic, did_you_mean
from runner.model.errors import CompileError
from runner.model.places import Source
from runner.model.records import Record
from runner.sources.git import GitError, Remote, display_url
from runner.sources.git.program import checked_url

PlaceOf = Callable[[str], Source]  # of a key of the configuration
GIT = ("git", "gitfs")  # names of one backend
ROOTS = ("roots", "file")
BASE = "base"
REF_TYPES = ("branch", "tag", "sha")

TEXT, FLAG, NUMBER, LIST, VERIFY = (
    "a text",
    "true or false",
    "a number of seconds",
    "a list of texts",
    "true, false or a file",
)
# what a remote may say, and what each setting is
COMMON: Mapping[str, str] = {
    "base": TEXT,
    "root": TEXT,
    "mountpoint": TEXT,
    "fallback": TEXT,
    "ssl_verify": VERIFY,
    "privkey": TEXT,
    "pubkey": TEXT,
    "passphrase": TEXT,
    "user": TEXT,
    "password": TEXT,
    "insecure_auth": FLAG,
    "update_interval": NUMBER,
    "all_saltenvs": TEXT,
    "disable_saltenv_mapping": FLAG,
    "ref_types": LIST,
    "refspecs": LIST,
    "proxy": TEXT,
    "depth": NUMBER,
    "timeout": NUMBER,
}
GITFS: Mapping[str, str] = {
    **COMMON,
    "saltenv_whitelist": LIST,
    "saltenv_blacklist": LIST,
    "env_whitelist": LIST,  # their names in older releases
    "env_blacklist": LIST,
}
GIT_PILLAR: Mapping[str, str] = {**COMMON, "branch": TEXT, "env": TEXT}
DEFAULTS: Mapping[str, Any] = {
    "base": "master",
    "branch": "master",
    "ssl_verify": True,
    "update_interval": 60,
    "timeout": 60,
    "ref_types": REF_TYPES,
}
EMPTY: Mapping[str, Any] = {TEXT: "", FLAG: False, NUMBER: 0, LIST: (), VERIFY: True}
EXAMPLES: Mapping[str, str] = {TEXT: "such as salt/states", LIST: "such as [base, dev]"}
PASSPHRASE = (
    "git is run without anybody to type it: take a key without one (ssh-keygen -p), or give it to"
    " an ssh-agent"
)


class Environment(Record):
    """What `saltenv` says of one environment; an empty ref is the branch or tag of its name."""

    ref: str = ""
    root: str | None = None
    mountpoint: str | None = None


class FileserverRemote(Record):
    """An item of `gitfs_remotes`. name: what it is called in the cache."""

    remote: Remote
    name: str
    place: Source
    root: str
    mountpoint: str
    base: str
    interval: float
    fallback: str
    all_saltenvs: str
    unmapped: bool  # only the environments that `saltenv` names, and base
    ref_types: tuple[str, ...]
    refspecs: tuple[str, ...]
    whitelist: tuple[str, ...]
    blacklist: tuple[str, ...]
    environments: Mapping[str, Environment]


class PillarRemote(Record):
    """A repository of the external pillar `git`. env: empty for that of the branch."""

    remote: Remote
    name: str
    place: Source
    root: str
    mountpoint: str
    base: str
    interval: float
    fallback: str
    all_saltenvs: str
    branch: str
    env: str


def backends(raw: Mapping[str, Any]) -> list[str]:
    """Return what `fileserver_backend` names, in its order."""
    value = raw.get("fileserver_backend") or []
    return [value] if isinstance(value, str) else [str(name) for name in value]


def uses_git(raw: Mapping[str, Any]) -> bool:
    """Return whether files are served from git repositories."""
    return bool(raw.get("gitfs_remotes")) and any(name in GIT for name in backends(raw))


def fileserver_remotes(
    raw: Mapping[str, Any], place_of: PlaceOf
) -> tuple[tuple[FileserverRemote, ...], tuple[Diagnostic, ...]]:
    """The repositories of `gitfs_remotes`, and warnings. Raises CompileError with all mistakes."""
    reader = _RemoteReader("gitfs", GITFS, raw, place_of)
    remotes = tuple(reader.fileserver(url, own) for url, own in reader.listed(raw["gitfs_remotes"]))
    return remotes, reader.warnings()


def pillar_remotes(
    raw: Mapping[str, Any], items: Any, place_of: PlaceOf
) -> tuple[tuple[PillarRemote, ...], tuple[Diagnostic, ...]]:
    """The repositories of an `ext_pillar: git`, and warnings. Raises CompileError with all
    mistakes.
    """
    reader = _RemoteReader("git_pillar", GIT_PILLAR, raw, place_of)
    remotes = tuple(reader.pillar(line, own) for line, own in reader.listed(items))
    return remotes, reader.warnings()


class _RemoteReader:
    """Reads the remotes of one kind; its mistakes are raised together at the end."""

    def __init__(
        self, prefix: str, kinds: Mapping[str, str], raw: Mapping[str, Any], place_of: PlaceOf
    ) -> None:
        self.prefix, self.kinds, self.place_of = prefix, kinds, place_of
        self.list_key = "gitfs_remotes" if prefix == "gitfs" else "ext_pillar"
        self._problems: list[Diagnostic] = []
        self.shared: dict[str, Any] = {}
        for name, kind in kinds.items():
            key = f"{prefix}_{name}"
            self.shared[name] = DEFAULTS.get(name, EMPTY[kind])
            if raw.get(key) is not None:
                self.shared[name] = self._value(name, raw[key], key, key)
        self.shared_environments = self._environments(
            raw.get("gitfs_saltenv") if prefix == "gitfs" else None, "gitfs_saltenv"
        )

    def warnings(self) -> tuple[Diagnostic, ...]:
        """Its warnings. Raises CompileError where there are mistakes."""
        errors = [problem for problem in self._problems if problem.severity == "error"]
        if errors:
            raise CompileError(errors)
        return tuple(dict.fromkeys(self._problems))

    # ------------------------------------------------------------ remotes

    def listed(self, items: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each line of a list of remotes, with its own settings."""
        for item in [items] if isinstance(items, str) else items if _is_list(items) else ():
            if isinstance(item, str) and item.strip():
                yield item, {}
            elif isinstance(item, Mapping) and item:
                for line, settings in item.items():
                    yield str(line), self._own(str(line), settings)
            else:
                message = f"{self.list_key}: {item!r} is not the URL of a repository"
                self._wrong(message, self._example("- root: salt"))
        if not _is_list(items) and not isinstance(items, str):
            message = f"{self.list_key} has to list git repositories, not {items!r}"
            self._wrong(message, self._example("- root: salt"))

    def _own(self, line: str, settings: Any) -> dict[str, Any]:
        """The settings below a remote, by their names."""
        where = f"{self.list_key}: {display_url(line)}"
        parts = settings if _is_list(settings) else None
        if not parts or not all(isinstance(part, Mapping) and part for part in parts):
            trailing = "; without settings it ends with no colon" if settings is None else ""
            message = f"{where}: its settings have to be a list, not {settings!r}{trailing}"
            self._wrong(message, self._example("- root: salt"))
            return {}
        own: dict[str, Any] = {}
        for name, value in (pair for part in parts for pair in part.items()):
            if name in self.kinds:
                own[name] = self._value(name, value, f"{where}: {name}")
            elif name == "name":
                own[name] = self._value("root", value, f"{where}: name")
            elif name == "saltenv" and self.prefix == "gitfs":
                own[name] = self._environments(value, f"{where}: saltenv")
            else:
                known = [*self.kinds, "name", *(["saltenv"] if self.prefix == "gitfs" else [])]
                hint = did_you_mean(str(name), known) or f"there are {', '.join(known)}"
                self._wrong(f"{where} has no setting {name!r}", hint)
        return own

    def _remote(self, url: str, values: Mapping[str, Any]) -> Remote:
        where = f"{self.list_key}: {display_url(url)}"
        if values["passphrase"]:
            self._warn(f"{where}: the passphrase of its key is not used", PASSPHRASE)
        if values["proxy"]:
            cure = "set http_proxy and https_proxy in the environment of runner"
            self._warn(f"{where}: proxy has no effect in runner", cure)
        login = values["user"] or values["password"]
        if login and url.startswith("http://") and not values["insecure_auth"]:
            cure = "use https, or say `insecure_auth: True`"
            self._wrong(f"{where}: user and password would be sent without encryption", cure)
        try:
            checked_url(url)
        except GitError as error:
            self._wrong(f"{self.list_key}: {error.message}", error.hint or "such as https://...")
        by_password = url.startswith(("http://", "https://"))
        return Remote(
            url,
            deploy_key="" if by_password else values["privkey"],
            ssl_verify=values["ssl_verify"],
            user=values["user"] if by_password else "",
            password=values["password"] if by_password else "",
            timeout=float(values["timeout"] or DEFAULTS["timeout"]),
        )

    def fileserver(self, url: str, own: Mapping[str, Any]) -> FileserverRemote:
        """A repository of `gitfs_remotes`."""
        values = {**self.shared, **own}
        environments = {
            env: _over(self.shared_environments.get(env), own.get("saltenv", {}).get(env))
            for env in {**self.shared_environments, **own.get("saltenv", {})}
        }
        return FileserverRemote(
            remote=self._remote(url, values),
            name=values.get("name") or _name(url),
            place=self.place_of(self.list_key),
            root=_path(values["root"]),
            mountpoint=_mountpoint(values["mountpoint"]),
            base=own.get("saltenv", {}).get(BASE, Environment()).ref or values["base"],
            interval=values["update_interval"],
            fallback=values["fallback"],
            all_saltenvs=values["all_saltenvs"],
            unmapped=values["disable_saltenv_mapping"],
            ref_types=values["ref_types"],
            refspecs=self._refspecs(url, values["refspecs"]),
            whitelist=values["saltenv_whitelist"] or values["env_whitelist"],
            blacklist=values["saltenv_blacklist"] or values["env_blacklist"],
            environments=environments,
        )

    def pillar(self, line: str, own: Mapping[str, Any]) -> PillarRemote:
        """A repository of the external pillar: `BRANCH URL`, or a URL alone."""
        values = {**self.shared, **own}
        branch, _, url = line.strip().rpartition(" ")
        return PillarRemote(
            remote=self._remote(url, values),
            name=values.get("name") or _name(url),
            place=self.place_of(self.list_key),
            root=_path(values["root"]),
            mountpoint=_mountpoint(values["mountpoint"]),
            base=values["base"],
            interval=values["update_interval"],
            fallback=values["fallback"],
            all_saltenvs=values["all_saltenvs"],
            branch=branch.strip() or values["branch"],
            env=values["env"],
        )

    def _refspecs(self, url: str, refspecs: tuple[str, ...]) -> tuple[str, ...]:
        for spec in refspecs:
            if not re.fullmatch(r"\+?refs/(heads|tags)/[^:\s]+:refs/[^:\s]+", spec):
                message = f"gitfs_remotes: {display_url(url)}: the refspec {spec!r} has no effect"
                self._warn(message, "runner fetches branches and tags")
        return refspecs

    # ------------------------------------------------------------ values

    def _environments(self, value: Any, where: str) -> dict[str, Environment]:
        """Return what a list `saltenv` says of environments."""
        environments: dict[str, Environment] = {}
        for item in value or [] if _is_list(value) or value is None else [value]:
            parts = item.items() if isinstance(item, Mapping) else ()
            for env, settings in parts:
                named = f"{where}: {env}"
                pairs = [
                    pair
                    for part in (settings if _is_list(settings) else [settings])
                    for pair in (part.items() if isinstance(part, Mapping) else [(part, None)])
                ]
                environments[str(env)] = self._environment(pairs, named)
            if not parts:
                key = where.rpartition(" ")[2]
                hint = f"write\n    {key}:\n      - dev:\n        - ref: develop"
                self._wrong(f"{where} has to list environments, not {item!r}", hint)
        return environments

    def _environment(self, pairs: list[tuple[Any, Any]], where: str) -> Environment:
        settings: dict[str, str] = {}
        for name, value in pairs:
            if name not in Environment._fields:
                hint = f"there are {', '.join(Environment._fields)}"
                self._wrong(f"{where} has no setting {name!r}", hint)
            elif value is not None:
                settings[name] = self._value("root", value, f"{where}: {name}")
        if "root" in settings:
            settings["root"] = _path(settings["root"])
        if "mountpoint" in settings:
            settings["mountpoint"] = _mountpoint(settings["mountpoint"])
        return Environment(**settings)

    def _value(self, name: str, value: Any, where: str, key: str | None = None) -> Any:
        """A setting as its kind has it; a mistake gives the default."""
        kind = self.kinds[name]
        default = DEFAULTS.get(name, EMPTY[kind])
        if value is None:
            return default
        converted = _converted(kind, value)
        if converted is None:
            cure = EXAMPLES.get(kind) or f"such as {default!r}"
            self._wrong(f"{where} has to be {kind}, not {value!r}", cure, key)
            return default
        if name == "ref_types":
            for unknown in (item for item in converted if item not in REF_TYPES):
                cure = did_you_mean(unknown, REF_TYPES) or f"there are {', '.join(REF_TYPES)}"
                self._wrong(f"{where}: there is no {unknown!r}", cure, key)
        if name in ("root", "mountpoint") and ".." in converted.split("/"):
            self._wrong(f"{where}: {value!r} leads out of the repository", "leave out `..`", key)
        return converted

    def _example(self, setting: str) -> str:
        line = "https://example.org/states.git"
        if self.prefix == "gitfs":
            return f"write\n    gitfs_remotes:\n      - {line}:\n        {setting}"
        return f"write\n    ext_pillar:\n      - git:\n        - main {line}:\n          {setting}"

    def _wrong(self, message: str, hint: str | None, key: str | None = None) -> None:
        place = self.place_of(key or self.list_key)
        self._problems.append(Diagnostic(message, place, hint or None, "config"))

    def _warn(self, message: str, hint: str) -> None:
        place = self.place_of(self.list_key)
        self._problems.append(Diagnostic(message, place, hint, "config", "warning"))


def _converted(kind: str, value: Any) -> Any:
    """A value of this kind; None for one that cannot be."""
    if kind == TEXT:
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        return str(value) if plain and "\0" not in str(value) else None
    if kind == FLAG:
        return value if isinstance(value, bool) else None
    if kind == VERIFY:
        return value if isinstance(value, bool | str) else None
    if kind == NUMBER:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if number and value >= 0 else None
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if _is_list(value) and all(isinstance(item, str | int | float) for item in value):
        return tuple(str(item) for item in value)
    return None


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _over(shared: Environment | None, own: Environment | None) -> Environment:
    """Return what a remote says of an environment, over what is said for all remotes."""
    if shared is None or own is None:
        return own or shared or Environment()
    return Environment(
        own.ref or shared.ref,
        shared.root if own.root is None else own.root,
        shared.mountpoint if own.mountpoint is None else own.mountpoint,
    )


def _path(text: str) -> str:
    return "/".join(part for part in text.split("/") if part not in ("", "."))


def _mountpoint(text: str) -> str:
    return _path(text.removeprefix("salt://"))


def _name(url: str) -> str:
    """Return what a repository is called when nobody says: the end of its URL."""
    return display_url(url).rstrip("/").removesuffix(".git").rpartition("/")[2].rpartition(":")[2]
