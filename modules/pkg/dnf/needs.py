# SPDX-License-Identifier: Apache-2.0
"""What packages bring along, asked of dnf and rpm for many packages at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from modules import _paths, cmd
from modules._paths import text_of
from modules.pkg.dnf import run as dnf_run
from modules.pkg.package_manager import Need
from modules.pkg.rpm import needs as rpm_needs
from modules.pkg.rpm import packages as rpm
from modules.pkg.rpm.needs import Dependencies

_KINDS = ("provides", "requires", "recommends", "supplements")
_START, _FIELD = "@package\t", "@then"
QUERY = f"{_START}%{{name}}\t%{{arch}}\n" + "".join(f"%{{{kind}}}\n{_FIELD}\n" for kind in _KINDS)
PROVIDING = f"{_START}%{{name}}\t%{{arch}}\n%{{provides}}\n"
OWNING = PROVIDING + f"{_FIELD}\n" * len(_KINDS) + "%{files}\n"
_TAGS = ("PROVIDENEVRS", "REQUIRENEVRS", "RECOMMENDNEVRS", "SUPPLEMENTNEVRS", "FILENAMES")
INSTALLED = f"{_START}%{{NAME}}\t%{{ARCH}}\n" + f"{_FIELD}\n".join(
    f"[%{{{tag}}}\n]" for tag in _TAGS
)
_SETTINGS = ("/etc/dnf/dnf.conf", "/etc/dnf/libdnf5.conf.d/*.conf")
_WEAK_OFF = re.compile(r"(?mi)^\s*install_weak_deps\s*=\s*(0|no|false|off)\s*$")


def needs(names: tuple[str, ...]) -> dict[str, list[Need]]:
    """Return what packages bring along: those that are installed as they are; where one is not,
    all in the newest version.
    """
    present = rpm.list_pkgs()
    installing = any(name not in present for name in names)
    packages = _installed([name for name in names if name in present])
    if installing:  # what is installed may become newer, too
        packages |= _available(QUERY, "--latest-limit=1", *names)
    packages = {name: packages[name] for name in names if name in packages}
    if not _weak_dependencies():
        packages = {
            name: package._replace(recommends=(), supplements=())
            for name, package in packages.items()
        }
    conditions = rpm_needs.conditions(packages.values())
    installed: dict[str, Dependencies] = {}
    available: dict[str, Dependencies] = {}
    if installing and conditions:
        providing = _installed(["--whatprovides", *conditions])
        installed = {name: providing[name] for name in providing if name not in packages}
        available = _providing(rpm_needs.undecided(conditions, packages, installed))
        packages = {  # with the files that are asked for
            name: package._replace(files=available.get(name, package).files)
            for name, package in packages.items()
        }
    resolved = rpm_needs.resolve(packages, available, installed)
    return {name: resolved.get(name, [rpm_needs.UNKNOWN]) for name in names}


def _installed(words: Sequence[str]) -> dict[str, Dependencies]:
    if not words:
        return {}
    return _parsed(cmd.probe(["rpm", "-q", "--qf", INSTALLED, *words]).stdout)


def _available(query: str, *words: str) -> dict[str, Dependencies]:
    return _parsed(dnf_run.look("repoquery", "--qf", query, *words).stdout)


def _providing(conditions: Sequence[str]) -> dict[str, Dependencies]:
    """Return the packages in the repositories that provide something or have a file."""
    if not conditions:
        return {}
    query = OWNING if any(name.startswith("/") for name in conditions) else PROVIDING
    return _available(query, "--latest-limit=1", "--whatprovides", ",".join(conditions))


def _parsed(output: str) -> dict[str, Dependencies]:
    """Return the packages with the lists that a query has printed of them, a line for each item."""
    packages: dict[str, Dependencies] = {}
    for text in f"\n{output}".split(f"\n{_START}")[1:]:
        title, _, rest = text.partition("\n")
        name, _, built_for = title.partition("\t")
        if built_for in ("src", "nosrc"):
            continue
        lists: list[list[str]] = [[]]
        for line in filter(None, map(str.strip, rest.splitlines())):
            if line == _FIELD:
                lists.append([])
            else:
                lists[-1].append(line)
        full_name = rpm.name_with_architecture(name, built_for)
        packages[full_name] = Dependencies(*map(tuple, lists[: len(_TAGS)]))
    return packages


def _weak_dependencies() -> bool:
    """Return whether dnf's settings let it install what packages recommend."""
    paths = (path for pattern in _SETTINGS for path in sorted(_paths.glob(pattern)))
    return not any(_WEAK_OFF.search(text_of(path)) for path in paths)
