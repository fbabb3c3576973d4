# SPDX-License-Identifier: Apache-2.0
"""The steps of a pipe of renderers."""

from __future__ import annotations

from runner.model.records import Record

CIPHERS = ("age", "gpg")  # renderers that decrypt data or text
SOPS = "sops"  # the renderer of whole files that sops encrypted


class RendererStep(Record):
    """One renderer of a pipe."""

    name: str
    arguments: tuple[str, ...] = ()
