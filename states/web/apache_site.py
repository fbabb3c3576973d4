# SPDX-License-Identifier: Apache-2.0
"""Apache's sites, as Debian's tools enable them."""

from __future__ import annotations

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
    return _apache.switched("site", name, True)


def disabled(name: Name) -> Planned:
    """Make sure that a site of Apache is not enabled.

    name: The site.

        example.com:
          apache_site.disabled: []
    """
    return _apache.switched("site", name, False)


autorequire = _apache.after("site")
