# SPDX-License-Identifier: Apache-2.0
"""What Apache has enabled now."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from modules import file
from modules.web import apache
from runner.api import Resource

ROLE = "services"
# what Debian's package enables itself
USUAL = {
    "mod": tuple(
        """
        access_compat alias auth_basic authn_core authn_file authz_core authz_host authz_user
        autoindex deflate dir env filter mime mpm_event negotiation reqtimeout setenvif status
        """.split()
    ),
    "site": ("000-default",),
    "conf": (
        "charset",
        "localized-error-pages",
        "other-vhosts-access-log",
        "security",
        "serve-cgi-bin",
    ),
}


def _enabled(kind: str, function: str) -> Callable[[str | None], Iterator[Resource]]:
    """The hook of a kind: mod, site or conf."""
    folder = f"{apache.ROOT}/{apache.FOLDERS[kind]}-enabled"

    def resources(name: str | None) -> Iterator[Resource]:
        """What is enabled."""
        for entry in sorted(file.listdir(folder)) if file.is_dir(folder) else ():
            known = entry.removesuffix(apache.SUFFIXES[kind])
            if known == entry or name not in (None, known) or not file.is_link(f"{folder}/{entry}"):
                continue
            files = (f"{folder}/{entry}", f"{folder}/{known}.conf")
            yield Resource(function, known, shipped=known in USUAL[kind], files=files)

    return resources


apache_conf_resources = _enabled("conf", "apache_conf.enabled")
apache_module_resources = _enabled("mod", "apache_module.enabled")
apache_site_resources = _enabled("site", "apache_site.enabled")
