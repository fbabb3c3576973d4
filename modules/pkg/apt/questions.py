# SPDX-License-Identifier: Apache-2.0
"""Asking programs of apt what only looks.

Each of them starts dpkg three times to hear of which architectures packages may be, which costs it
more than the answer to most questions. They are told what dpkg's own files say of that. Where apt
is to keep no index of its lists, as in images of containers, each would make it anew: then one is
kept for the run.
"""

from __future__ import annotations

import os

from modules import cmd
from runner.api import at_present, cached_look, here, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

STATUS = "/var/lib/dpkg/status"
UPDATES = "/var/lib/dpkg/updates"  # what dpkg will write into it
ARCHITECTURES = "/var/lib/dpkg/arch"  # all of them, where there are others than dpkg's own
SETTINGS = ("/etc/apt/apt.conf", "/etc/apt/apt.conf.d")
_DPKG = pattern(r"(?ms)^Package: dpkg\n(?:(?!\n\n).)*?^Architecture: (\S+)$")
# settings by which apt may have others, hears of them from another dpkg, or reads more settings
_OTHERS = pattern(
    r"(?i)(?<!\()\barchitectures?\b|rootdir|chroot-directory|bin::dpkg|\bbin\s*\{"
    r"|--(?:admindir|root)|#\s*include"
)
_NO_INDEX = pattern(r'(?i)\bsrcpkgcache\s*""')


def probe(program: str, *words: str, env: Mapping[str, str] | None = None) -> cmd.Completed:
    """Run one of apt's programs, which only looks."""
    return cmd.probe([program, *_architectures(), *_index(), *words], env=env)


def own_architecture() -> str:
    """Return what dpkg itself is built for, as this machine's own packages are; empty where its
    record is not to be read now.
    """
    found = None if _names(UPDATES) else _DPKG.search(_text(STATUS))
    return str(found[1]) if found else ""


@cached_look("packages", STATUS, ARCHITECTURES, *SETTINGS, f"{SETTINGS[1]}/*")
def _architectures() -> list[str]:
    """The options that tell apt of which architectures packages may be; none where that is not
    certain.
    """
    own = own_architecture()
    if not own or any(map(_OTHERS.search, _settings())):
        return []
    names = dict.fromkeys([own, *_text(ARCHITECTURES).split()])
    return [word for name in names for word in ("-o", f"APT::Architectures::={name}")]


def _index() -> list[str]:
    """The option for an index of this run, where apt keeps none."""
    if not any(map(_NO_INDEX.search, _settings())):
        return []
    made = here.store("apt")
    if "index" not in made:
        made["index"] = here.scratch(of_run=True)
    return ["-o", f"Dir::Cache::srcpkgcache={made['index']}/index"]


@cached_look("settings of apt", *SETTINGS, f"{SETTINGS[1]}/*")
def _settings() -> list[str]:
    """The texts of apt's settings."""
    single, folder = SETTINGS
    files = [single, *(f"{folder}/{name}" for name in _names(folder))]
    return [*map(_text, files), _text(os.environ.get("APT_CONFIG") or os.devnull)]


def _text(path: str) -> str:
    """The text of a file as programs see it, which see no plan."""
    try:
        with open(at_present(path), encoding="latin-1") as file:  # os: as a program sees it
            return file.read()
    except OSError:
        return ""


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(at_present(folder))  # os: as a program sees it
    except OSError:
        return []
