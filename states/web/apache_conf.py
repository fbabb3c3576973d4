# SPDX-License-Identifier: Apache-2.0
"""Apache's configurations, as Debian's tools enable them."""

from __future__ import annotations

from runner.api import Name, Planned
from states._rights import writing
from states.web import _apache

dry_run_check = writing("/etc/apache2/conf-enabled")
OPPOSITE = {"enabled": "disabled"}


def enabled(name: Name) -> Planned:
    """Make sure that a configuration of Apache is enabled.

    name: The configuration.

        security:
          apache_conf.enabled: []

    Behaviour: Salt's apache_conf.enabled; one that is not there fails in a dry run, too.
    """
    return _apache.switched("conf", name, True)


def disabled(name: Name) -> Planned:
    """Make sure that a configuration of Apache is not enabled.

    name: The configuration.

        security:
          apache_conf.disabled: []
    """
    return _apache.switched("conf", name, False)


autorequire = _apache.after("conf")
