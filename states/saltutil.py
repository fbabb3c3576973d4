# SPDX-License-Identifier: Apache-2.0
"""Copies from Salt's master: nothing here, so that trees that ask for it run."""

from __future__ import annotations

from collections.abc import Callable

from runner.api import OneOrMany, here

KINDS = tuple(
    """
    beacons clouds engines executors grains log_handlers matchers modules output outputters pillar
    proxymodules renderers resources returners sdb serializers states thorium tops utils wrapper all
    """.split()
)


def _sync(kind: str) -> Callable[..., str]:
    def sync(
        name: str,
        refresh: bool = True,
        extmod_whitelist: OneOrMany[str] | None = None,
        extmod_blacklist: OneOrMany[str] | None = None,
    ) -> str:
        here.reload("modules")
        return "No updates to sync"

    sync.__name__ = sync.__qualname__ = f"sync_{kind}"
    sync.__doc__ = f"""Copy nothing: a tree's modules are used in place, also those this run wrote.

    name: names the state.
    refresh: ignored; there is nothing to renew.
    extmod_whitelist: ignored; the modules that Salt would copy.
    extmod_blacklist: ignored; the modules that Salt would not copy.

        sync_{kind}:
          saltutil.sync_{kind}

    Behaviour: Salt 3008's saltutil.sync_{kind} when there is nothing new.
    """
    return sync


globals().update({f"sync_{kind}": _sync(kind) for kind in KINDS})
