# SPDX-License-Identifier: Apache-2.0
"""Calls to other machines: there is no master here that would carry them, as with Salt's `salt-call
--local`.
"""

from __future__ import annotations

from typing import Any


def publish(
    tgt: Any,
    fun: str,
    arg: Any = None,
    tgt_type: str = "glob",
    returner: str = "",
    timeout: float = 5,
    via_master: str | None = None,
) -> dict[str, Any]:
    """The answers of other machines: none.

    {% for machine, addresses in salt['publish.publish']('web*', 'network.ip_addrs').items() %}
    """
    return {}


def full_data(
    tgt: Any,
    fun: str,
    arg: Any = None,
    tgt_type: str = "glob",
    returner: str = "",
    timeout: float = 5,
) -> dict[str, Any]:
    """The answers of other machines, with more about each: none.

    {{ salt['publish.full_data']('*', 'test.ping') }}
    """
    return {}


def runner(fun: str, arg: Any = None, timeout: float = 5) -> str:
    """The answer of a master's runner: that there is no master.

    {{ salt['publish.runner']('manage.up') }}
    """
    return "No access to master. If using salt-call with --local, please remove."
