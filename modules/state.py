# SPDX-License-Identifier: Apache-2.0
"""Look-ups of the state tree itself for templates."""

from __future__ import annotations

from collections.abc import Sequence

from runner.api import here


def show_top() -> dict[str, list[str]]:
    """The SLS files that the top file gives this machine, by environment.

    {% if 'docker' in salt['state.show_top']()['base'] %}
    """
    return {env: list(names) for env, names in here.top().items()}


def sls_exists(mods: str | Sequence[str], saltenv: str | None = None) -> bool:
    """Return whether there are SLS files of these names; they are not read. mods: a list, or names
    with commas between them.

    {% if salt['state.sls_exists']('nginx.local') %}
    """
    names = mods.split(",") if isinstance(mods, str) else mods
    paths = [name.strip().replace(".", "/").strip("/") for name in names]
    env, find = saltenv or here.saltenv, here.tree.find
    return all(find(f"{path}.sls", env) or find(f"{path}/init.sls", env) for path in paths)
