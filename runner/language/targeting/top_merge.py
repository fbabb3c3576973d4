# SPDX-License-Identifier: Apache-2.0
"""Several top files of states or of the pillar, made one: the ways to do so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.language.targeting.top import Target

    Load = Callable[[str], list[Target]]


def merge(load: Load, envs: list[str], default_top: str) -> list[Target]:
    """The base top file speaks for all environments it names, another only for its own if base is
    silent on it.
    """
    targets: list[Target] = []
    for env in sorted(envs, key=lambda env: env != "base"):
        environments = {target.env for target in targets}
        targets += [
            target
            for target in load(env)
            if env == "base" or (target.env == env and env not in environments)
        ]
    return targets


def same(load: Load, envs: list[str], default_top: str) -> list[Target]:
    """Each top file speaks for its own environment, `default_top` for those that have none."""
    targets: list[Target] = []
    for env in envs:
        own = load(env) or (load(default_top) if default_top != env else [])
        targets += [target for target in own if target.env == env]
    return targets


def merge_all(load: Load, envs: list[str], default_top: str) -> list[Target]:
    """Group the lines of one target in several top files where the target came first."""
    joined: dict[tuple[str, str], Target] = {}
    for target in (target for env in envs for target in load(env)):
        before = joined.get((target.env, target.expression))
        if before:
            known = {line.sls for line in before.lines}
            target = before._replace(
                lines=before.lines + tuple(line for line in target.lines if line.sls not in known)
            )
        joined[target.env, target.expression] = target
    return list(joined.values())


def merge_pillar(load: Load, envs: list[str], default_top: str) -> list[Target]:
    """A target's lines in a later top file replace those of an earlier one."""
    return list(
        {(target.env, target.expression): target for env in envs for target in load(env)}.values()
    )


STRATEGIES = {"merge": merge, "same": same, "merge_all": merge_all}
