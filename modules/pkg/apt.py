"""Packages on Debian and its relatives: dpkg-query to look, apt-get to change."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from modules import cmd
from modules.pkg import _apt_depends, _apt_get
from modules.pkg.need import Need
from runner.api import CommandFailed, cached_look, changer, fetcher, here

NAMES: tuple[str, ...] = ("apt", "aptpkg")
INSTALLED = (
    "installed",
    "triggers-awaited",
    "triggers-pending",
)  # the last two until dpkg's next run
STATUS = ("/var/lib/dpkg/status", "/var/lib/dpkg/updates")
SOURCES = tuple(
    f"/etc/apt/{name}" for name in ("sources.list", "sources.list.d", "preferences.d", "apt.conf.d")
)
_INSTALLED = re.compile(r"Inst (?P<name>\S+) (?:\[(?P<old>[^\]]+)\] )?\((?P<new>\S+)")
_REMOVED = re.compile(r"(?:Remv|Purg) (?P<name>\S+) \[(?P<old>[^\]]+)\]")


def suits() -> bool:
    """Whether this machine has apt."""
    return os.path.exists("/usr/bin/apt-get")


def database() -> str:
    """The file of what is installed."""
    return STATUS[0]


@cached_look("packages", *STATUS)
def states() -> dict[str, tuple[str, str]]:
    """Each package that dpkg knows: its state (installed, config-files, ...) and version."""
    done = cmd.probe(
        ["dpkg-query", "-W", "-f", "${binary:Package}\\t${db:Status-Status}\\t${Version}\\n"]
    )
    found = {}
    for line in done.stdout.splitlines():
        name, state, version = line.split("\t")
        found[normal(name)] = (state, version)
    return found


@cached_look("packages")
def architecture() -> str:
    """What this machine's own packages are built for."""
    return cmd.probe(["dpkg", "--print-architecture"]).stdout


def normal(name: str) -> str:
    """A package's name without the architecture, unless that is a foreign one."""
    bare, colon, built_for = name.partition(":")
    return bare if colon and built_for in (architecture(), "all") else name


def file_info(path: str) -> tuple[str, str]:
    """The name and the version of a package in a file. Raises CommandFailed for what is no package."""
    done = cmd.probe(["dpkg-deb", "--showformat=${Package}\\t${Version}", "--show", "--", path])
    if done.retcode:
        raise CommandFailed(f"{path} is no package: {done.stderr.strip()}")
    name, version = done.stdout.split("\t")
    return name, version


ARCHIVES = "/var/cache/apt/archives"


def archives() -> dict[str, dict[str, Any]]:
    """The packages that lie in apt's cache: name -> version -> path, size and time."""
    found: dict[str, dict[str, Any]] = {}
    for entry in (
        sorted(os.scandir(ARCHIVES), key=lambda each: each.name) if os.path.isdir(ARCHIVES) else ()
    ):
        parts = entry.name.removesuffix(".deb").split("_")
        if entry.name.endswith(".deb") and len(parts) == 3:
            seen = entry.stat()
            about = {
                "path": entry.path,
                "size": seen.st_size,
                "creation_date_time_t": int(seen.st_ctime),
            }
            found.setdefault(parts[0], {})[parts[1].replace("%3a", ":")] = about
    return found


def list_pkgs() -> dict[str, str]:
    """The installed packages with their versions."""
    return {name: version for name, (state, version) in states().items() if state in INSTALLED}


@cached_look("candidates", *STATUS, "/var/lib/apt/lists", *SOURCES)
def candidates(names: tuple[str, ...]) -> dict[str, str]:
    """The newest version of each package that apt would install; packages that it does not know are
    missing.
    """
    done = cmd.probe(["apt-cache", "policy", "--", *names])
    found: dict[str, str] = {}
    name = ""
    for line in done.stdout.splitlines():
        if line and not line.startswith(" "):
            name = line.rstrip(":")
        elif line.strip().startswith("Candidate:"):
            version = line.split(":", 1)[1].strip()
            if version != "(none)":
                found[name] = version
    return found


def versions(name: str) -> list[str]:
    """All versions of a package that apt could install, newest first."""
    done = cmd.probe(["apt-cache", "madison", "--", name])
    return list(
        dict.fromkeys(
            line.split("|")[1].strip() for line in done.stdout.splitlines() if "|" in line
        )
    )


def compare(left: str, relation: str, right: str) -> bool:
    """Whether one version stands in a relation (lt, le, eq, ne, ge, gt) to another."""
    return cmd.probe(["dpkg", "--compare-versions", "--", left, relation, right]).retcode == 0


def lists_age() -> float | None:
    """Seconds since the package lists were renewed; None when there are none."""
    import time

    folder = "/var/lib/apt/lists"
    times = (
        [
            entry.stat().st_mtime
            for entry in os.scandir(folder)
            if entry.is_file() and entry.name != "lock"
        ]
        if os.path.isdir(folder)
        else []
    )
    return time.time() - max(times) if times else None


def simulate(
    action: str, targets: Sequence[str], options: Iterable[str] = ()
) -> dict[str, dict[str, str]] | None:
    """What apt-get would change, dependencies included; None when it cannot say (an unknown
    package).
    """
    if _apt_get.interrupted():
        here.warn(
            "dpkg was interrupted: the next change first finishes what was left (dpkg"
            " --configure -a)"
        )
    done = _simulated(action, targets, options)
    if done.retcode:
        return None
    found = {}
    for line in done.stdout.splitlines():
        match = _INSTALLED.match(line) or _REMOVED.match(line)
        if match:
            new = match.groupdict().get("new") or ""
            found[normal(match["name"])] = {"old": match["old"] or "", "new": new}
    return found


def refusal(action: str, targets: Sequence[str], options: Iterable[str] = ()) -> str:
    """Why apt-get would not do it, in its words; empty when it would, or is to repair first what
    was interrupted.
    """
    done = _simulated(action, targets, options)
    return _apt_get.errors(done) if done.retcode and not _apt_get.repairs(done) else ""


def _simulated(action: str, targets: Sequence[str], options: Iterable[str]) -> cmd.Completed:
    # without its log of what it plans: a look writes nothing
    asked = [
        "apt-get",
        "-s",
        "-q",
        "-y",
        "-o",
        "Dir::Log::Planner=/dev/null",
        *options,
        action,
        "--",
        *targets,
    ]
    return cmd.probe(asked, env=_apt_get.QUIET)


@cached_look("candidates", *STATUS, "/var/lib/apt/lists", *SOURCES)
def foresee(
    action: str, targets: tuple[str, ...], options: tuple[str, ...]
) -> dict[str, dict[str, str]] | None:
    """As `simulate`, asked once: what several states would change together."""
    return simulate(action, targets, options)


@cached_look("candidates", *STATUS, "/var/lib/apt/lists", *SOURCES)
def needs(names: tuple[str, ...]) -> dict[str, list[Need]]:
    """What packages bring along in the version that apt would install; what they recommend if apt
    installs that.
    """
    unread = ["conflicts", "breaks", "replaces", "enhances"]
    unread += [
        kind
        for kind, default in (("recommends", True), ("suggests", False))
        if not _installs(kind, default)
    ]
    done = cmd.probe(["apt-cache", "depends", *(f"--no-{kind}" for kind in unread), "--", *names])
    return {
        normal(name): list(found)
        for name, found in _apt_depends.parse(done.stdout.splitlines(), normal)
    }


@cached_look("candidates", *SOURCES)
def _installs(kind: str, default: bool) -> bool:
    said = cmd.probe(["apt-config", "shell", "found", f"APT::Install-{kind.title()}/b"]).stdout
    return default if not said else "true" in said


@fetcher(refreshes="package lists")
def refresh_db() -> bool:
    """Renew the package lists. Raises CommandFailed when that fails."""
    _apt_get.run("update")
    return True


@changer(touches=["package lists", "candidates"])
def renew_db() -> None:
    """Renew the package lists after the sources changed."""
    _apt_get.run("update")


@changer(touches=["packages", "candidates", "services", "users", "groups", "files"])
def install(targets: Sequence[str], options: Iterable[str] = ()) -> None:
    """Install packages: names, `name=version`, or paths of .deb files."""
    _apt_get.run("install", *options, "--", *targets)


@changer(touches=["files"])
def download(targets: Sequence[str], options: Iterable[str] = ()) -> None:
    """Have packages, and what they need, in apt's cache."""
    _apt_get.run("install", *options, "--", *targets)


@changer(touches=["packages", "candidates", "services", "users", "groups", "files"])
def remove(names: Sequence[str], purge: bool = False) -> None:
    """Remove packages, with their configuration when asked."""
    _apt_get.run("purge" if purge else "remove", "--", *names)


@cached_look("packages", *STATUS)
def held() -> list[str]:
    """The packages that stay at their version."""
    return cmd.probe(["apt-mark", "showhold"]).stdout.split()


@changer(touches=["packages", "candidates"])
def hold(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Keep packages at their version, and let others go."""
    for action, chosen in (("hold", names), ("unhold", release)):
        if chosen:
            done = cmd.probe(["apt-mark", action, "--", *chosen])
            if done.retcode:
                raise CommandFailed(f"apt-mark {action}: {done.stderr.strip()}")


@changer(touches=["packages", "candidates", "services", "users", "groups", "files"])
def upgrade(names: Sequence[str] = ()) -> None:
    """Bring all packages, or some, to their newest version."""
    if names:
        _apt_get.run("install", "--only-upgrade", "--", *names)
    else:
        _apt_get.run("dist-upgrade")
