# SPDX-License-Identifier: Apache-2.0
"""Families of modules that few machines need: folders of `states/` and `modules/`.

What SLS files write does not know of them: `mysql_user` lies in `states/databases/`.
"""

from __future__ import annotations

FAMILIES = tuple(
    "certificates containers databases desktop firewalls formats languages messaging secrets"
    " security storage web".split()
)


def known_as(module: str) -> str:
    """The name of a module as users know it.

    >>> known_as("modules.databases.mysql"), known_as("modules.file")
    ('mysql', 'file')
    """
    _, _, name = module.partition(".")
    family, _, rest = name.partition(".")
    return rest if family in FAMILIES else name
