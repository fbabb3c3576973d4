# SPDX-License-Identifier: Apache-2.0
"""Apache's modules, as Debian's tools enable them."""

from __future__ import annotations

from runner.api import Name, Planned
from states._rights import writing
from states.web import _apache

dry_run_check = writing("/etc/apache2/mods-enabled")
OPPOSITE = {"enabled": "disabled"}


def enabled(name: Name) -> Planned:
    """Make sure that a module of Apache is enabled.

    name: The module.

        ssl:
          apache_module.enabled: []

    Behaviour: Salt's apache_module.enabled; one that is not there fails in a dry run, too.
    """
    return _apache.switched("mod", name, True)


def disabled(name: Name) -> Planned:
    """Make sure that a module of Apache is not enabled.

    name: The module.

        ssl:
          apache_module.disabled: []
    """
    return _apache.switched("mod", name, False)


autorequire = _apache.after("mod")
