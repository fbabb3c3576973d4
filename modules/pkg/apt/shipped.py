# SPDX-License-Identifier: Apache-2.0
"""What Debian's packages bring, as dpkg wrote it down when it unpacked them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from modules import _paths, cmd
from modules._paths import text_of
from modules.pkg.apt.questions import STATUS
from modules.pkg.package_manager import Shipped
from runner.api import Record, cached_look

INFO = "/var/lib/dpkg/info"
DIVERSIONS = "/var/lib/dpkg/diversions"
UCF = "/var/lib/ucf/hashfile"  # configuration files that packages hand to their own tool
EMPTY = "md5:d41d8cd98f00b204e9800998ecf8427e"
MERGED = ("/bin/", "/sbin/", "/lib/", "/lib64/", "/lib32/")  # directories that are links into /usr
# the users and groups that Debian always has, and those of systemd's packages
ACCOUNTS = ("/usr/share/base-passwd/*.master", "/usr/lib/sysusers.d/*.conf")
_MAKES_ACCOUNT = re.compile(
    r"(?i)(?:add-?user|user-?add|add-?group|group-?add|user-?mod|(?:user|group)\w*=)"
)
_CONFFILE = re.compile(r" (/.*) ([0-9a-f]{32})( obsolete)?$")
_USUAL = ("required", "important", "standard")  # priorities of what an installation begins with


def read_all(pattern: str) -> str:
    """The contents of files, one behind the other; without those that cannot be read."""
    return "".join(text_of(path, "surrogateescape") for path in sorted(_paths.glob(pattern)))


def listed_elsewhere(stems: Sequence[str], paths: Sequence[str]) -> set[str]:
    """Return those paths that other packages list. stems: the names that a package may have."""
    found: set[str] = set()
    own = {f"{INFO}/{stem}.list" for stem in stems}
    for listed in _paths.glob(f"{INFO}/*.list"):
        if listed not in own:
            found.update({*paths}.intersection(read_all(listed).split("\n")))
    return found


def scripts(stems: Sequence[str]) -> dict[str, str]:
    """Return the scripts of an installed package. stems: the names that it may have."""
    found = {}
    for stem in stems:
        for kind in ("preinst", "postinst", "prerm", "postrm", "triggers"):
            if text := read_all(f"{INFO}/{stem}.{kind}"):
                found[kind] = text
    return found


@cached_look("packages", STATUS, INFO, UCF)
def shipped() -> Shipped:
    """Return what the installed packages brought."""
    listed = (read_all(f"{INFO}/*.list") + read_all(DIVERSIONS)).splitlines()
    paths = {path: "" for path in listed if path.startswith("/")}
    paths |= {f"/usr{path}": "" for path in paths if path.startswith(MERGED)}
    for line in read_all(UCF).splitlines():
        digest, _, path = line.partition("  ")
        paths[path] = f"md5:{digest}"
    packages = _packages()
    usual = frozenset(each.name for each in packages if each.is_usual)
    configuration = {
        path: digest
        for each in packages
        if each.is_installed
        for path, digest in each.configuration.items()
        if path not in each.obsolete
    }
    digests = {f"md5:{line[:32]}" for line in read_all(f"{INFO}/*.md5sums").splitlines()}
    copies = digests | {*configuration.values()}
    scripts = read_all(f"{INFO}/*.p[or][se]*inst").replace("\\\n", " ")
    making = filter(_MAKES_ACCOUNT.search, scripts.splitlines())
    words = re.findall(r"[\w-]+", "\n".join(making))
    words += re.findall(r"[\w-]+", "".join(map(read_all, ACCOUNTS)))
    return Shipped(paths | configuration, frozenset(copies - {EMPTY}), frozenset(words), usual)


def configuration(names: Iterable[str]) -> dict[str, str]:
    """Return the configuration files of packages, with their digests."""
    wanted = {*names}
    found: dict[str, str] = {}
    for each in _packages():
        if not wanted.isdisjoint((each.name, f"{each.name}:{each.architecture}")):
            found |= each.configuration
    return found


class _Package(Record):
    """A package as dpkg knows it. is_usual: each installation has it. configuration: its files of
    that kind with their digests; obsolete: those that it brings no more.
    """

    name: str
    architecture: str
    is_installed: bool
    is_usual: bool
    configuration: dict[str, str]
    obsolete: set[str]


@cached_look("packages", STATUS)
def _packages() -> list[_Package]:
    fields = "${Package}\\t${Architecture}\\t${db:Status-Status}\\t${Essential}\\t${Priority}\\n"
    asked = ["dpkg-query", "-W", "-f", fields + "${Conffiles}\\n"]
    found: list[_Package] = []
    for line in cmd.probe(asked).stdout.splitlines():
        if match := _CONFFILE.match(line):
            found[-1].configuration[match[1]] = f"md5:{match[2]}"
            if match[3]:
                found[-1].obsolete.add(match[1])
        elif "\t" in line and not line.startswith(" "):
            name, architecture, state, essential, priority = line.split("\t")
            is_usual = essential == "yes" or priority in _USUAL
            found.append(_Package(name, architecture, state == "installed", is_usual, {}, set()))
    return found


def paths(stems: Sequence[str]) -> list[str]:
    """Return the files and folders of an installed package. stems: the names that it may have."""
    lines = "".join(read_all(f"{INFO}/{stem}.list") for stem in stems).splitlines()
    return [line for line in lines if line.startswith("/") and line != "/."]
