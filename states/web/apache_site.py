# SPDX-License-Identifier: Apache-2.0
"""Apache's sites, as Debian's tools enable them."""

from __future__ import annotations

from collections.abc import Iterator

from runner.api import Name, Planned
from states._rights import writing
from states.web import _apache

dry_run_check = writing("/etc/apache2/sites-enabled")
OPPOSITE = {"enabled": "disabled"}


def enabled(name: Name) -> Planned:
    """Make sure that a site of Apache is enabled.

    name: The site.

        example.com:
          apache_site.enabled: []

    Behaviour: Salt's apache_site.enabled; one that is not there fails in a dry run, too.
    """
    return (yield from _apache.enabled("site", name))


def disabled(name: Name) -> Planned:
    """Make sure that a site of Apache is not enabled.

    name: The site.

        example.com:
          apache_site.disabled: []

    Behaviour: Salt's apache_site.disabled.
    """
    return (yield from _apache.disabled("site", name))


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """The package and the file that it comes after."""
    yield from _apache.after("site", name)
