# SPDX-License-Identifier: Apache-2.0
"""Apache as Debian sets it up: what is available, and what a2enmod and its like have enabled."""

from __future__ import annotations

import os

from modules import _paths, cmd, file
from modules._machine.processes import missing
from modules._texts.lines import plain_name
from runner.api import StateFailed, changer
from runner.api.near import closest

ROOT = "/etc/apache2"
FOLDERS = {"mod": "mods", "site": "sites", "conf": "conf"}
SUFFIXES = {"mod": ".load", "site": ".conf", "conf": ".conf"}


def _path(kind: str, name: str, state: str) -> str:
    if kind not in SUFFIXES:
        raise StateFailed(f"{kind!r} is none of {', '.join(SUFFIXES)}")
    suffix = SUFFIXES[kind]
    return f"{ROOT}/{FOLDERS[kind]}-{state}/{name.removesuffix(suffix)}{suffix}"


def is_enabled(kind: str, name: str) -> bool:
    """Return whether a module, site or configuration is enabled. kind: mod, site or conf."""
    return file.lexists(_path(kind, name, "enabled"))


def is_installed() -> bool:
    """Return whether Apache is there."""
    return file.is_file(f"{ROOT}/apache2.conf")


def check_mod_enabled(mod: str) -> bool:
    """Return whether a module is enabled.

    {{ salt['apache.check_mod_enabled']('ssl') }}
    """
    return is_enabled("mod", mod)


def check_site_enabled(site: str) -> bool:
    """Return whether a site is enabled; `default` is 000-default, too.

    {{ salt['apache.check_site_enabled']('example.com') }}
    """
    return is_enabled("site", site) or (site == "default" and is_enabled("site", "000-default"))


def check_conf_enabled(conf: str) -> bool:
    """Return whether a configuration is enabled.

    {{ salt['apache.check_conf_enabled']('security') }}
    """
    return is_enabled("conf", conf)


def exists(kind: str, name: str) -> None:
    """Raise StateFailed for what cannot be enabled. kind: mod, site or conf."""
    path = _path(kind, name, "available")
    if not is_installed():
        raise StateFailed(
            "there is no Apache: it comes with apache2",
            missing=[("pkg", "apache2"), ("file", path)],
        )
    if not file.exists(path):
        near = closest(name, _available(kind))
        meant = f": did you mean {near}?" if near else ""
        raise StateFailed(f"{path} does not exist{meant}", missing=("file", path))


def _available(kind: str) -> list[str]:
    suffix = SUFFIXES[kind]
    folder = f"{ROOT}/{FOLDERS[kind]}-available"
    names = file.listdir(folder) if file.is_dir(folder) else ()
    return [name.removesuffix(suffix) for name in names if name.endswith(suffix)]


@changer
def act(program: str, name: str) -> dict[str, str]:
    """Call a2enmod, a2dismod, a2ensite, a2dissite, a2enconf or a2disconf. Raises StateFailed when
    the program is missing.
    """
    if not any(
        _paths.access(f"{folder}/{program}", os.X_OK) for folder in ("/usr/sbin", "/usr/local/sbin")
    ):
        raise missing(program, "apache2")
    done = cmd.execute([program, plain_name(name, f"the name for {program}")])
    kind = program.removeprefix("a2en").removeprefix("a2dis")
    word = "enabled" if program.startswith("a2en") else "disabled"
    status = f"{kind.capitalize()} {name} {'Not found' if done.retcode == 1 else word}"
    if done.retcode > 1:
        status = done.error_text
    return {
        "Name": f"Apache2 {word.removesuffix('d')} {kind}",
        kind.capitalize(): name,
        "Status": status,
    }


def a2enmod(mod: str) -> dict[str, str]:
    """Enable a module."""
    return act("a2enmod", mod)


def a2dismod(mod: str) -> dict[str, str]:
    """Disable a module."""
    return act("a2dismod", mod)


def a2ensite(site: str) -> dict[str, str]:
    """Enable a site."""
    return act("a2ensite", site)


def a2dissite(site: str) -> dict[str, str]:
    """Disable a site."""
    return act("a2dissite", site)


def a2enconf(conf: str) -> dict[str, str]:
    """Enable a configuration."""
    return act("a2enconf", conf)


def a2disconf(conf: str) -> dict[str, str]:
    """Disable a configuration."""
    return act("a2disconf", conf)
