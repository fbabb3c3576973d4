# SPDX-License-Identifier: Apache-2.0
"""What Salt's providers of packages share, and templates call."""

from __future__ import annotations

from typing import Any

from modules import pkg
from runner.api import CommandFailed
from runner.api.versions import OPERATORS, holds


def version_compare(
    ver1: str | float, oper: str, ver2: str | float, ignore_epoch: bool = False
) -> bool:
    """Return whether one version of a package is to another as the operator says.

    oper: ==, !=, >=, <=, > or <. ignore_epoch: compare without what stands before a colon.

    {% if salt['pkg_resource.version_compare'](version, '>=', '3.3', ignore_epoch=True) %}
    """
    if oper not in OPERATORS:
        raise CommandFailed(f"{oper!r} is none of the operators {', '.join(OPERATORS)}")
    return holds(pkg.version_cmp(ver1, ver2, ignore_epoch), oper)


def version(*names: str, **_: Any) -> Any:
    """The version of an installed package ("" where it is not installed); of several, a mapping.

    {{ salt['pkg_resource.version']('bash') }}
    """
    return pkg.version(*names)
