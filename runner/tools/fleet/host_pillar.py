# SPDX-License-Identifier: Apache-2.0
"""The pillar of another machine, rendered here: its ID, its grains, the trees of this one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Session
from runner.sources.config.options import Options


def pillar_of(options: Options, host: str, grains: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pillar that this configuration gives a host with these grains. Raises RunnerError where
    it cannot be rendered.
    """
    raw = {**options.raw, "id": host}
    return session_of_host(options._replace(id=host, raw=raw), grains).run.pillar


def session_of_host(options: Options, grains: Mapping[str, Any]) -> Session:
    """A session that has the pillar of the host whose ID the options have. Raises RunnerError where
    it cannot be rendered.
    """
    session = Session(options)
    session.__dict__["grains"] = {**grains, "id": options.id}  # not those of this machine
    with session.opened():
        read_pillar(session)
    return session
