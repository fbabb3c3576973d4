# SPDX-License-Identifier: Apache-2.0
"""What a provider has to define: the interface of one kind is a Protocol below this one."""

from __future__ import annotations

from typing import Protocol


class Provider(Protocol):
    """A way to manage a kind of thing: a module, an instance or any other object with NAMES and
    suits(); the rest is added.

    NAMES: the names by which `provider:` of a state may call it.
    """

    NAMES: tuple[str, ...]

    def suits(self) -> bool:
        """Return whether it is the one for this machine."""
        ...

    def features(self) -> list[str]:
        """The names of its features."""
        ...

    def has(self, *names: str) -> bool:
        """Return whether it has all these features."""
        ...
