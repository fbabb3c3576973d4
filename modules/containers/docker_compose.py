# SPDX-License-Identifier: Apache-2.0
"""Projects of Compose that are known by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modules.containers.docker import compose
from modules.containers.docker.compose import Project
from runner.api import CommandFailed


def ps(name: str) -> list[dict[str, Any]]:
    """The containers of a project, as Compose lists them. Raises CommandFailed without Compose.

    runner call docker_compose.ps shop
    """
    return compose.containers(Project(name))


def state(name: str) -> dict[str, Any]:
    """The containers of a project, its services, and the files that these were made of; empty where
    it has no containers. Raises CommandFailed without Compose.

    {{ salt['docker_compose.state']('shop') | json }}
    """
    return compose.state_of(name)


def up(
    name: str,
    folder: str,
    files: Sequence[str],
    services: Sequence[str] = (),
    env_files: Sequence[str] = (),
) -> None:
    """Bring up a project, or some of its services. Raises CommandFailed with what Compose has
    against it.

    folder: that relative paths start at. files: those of Compose. env_files: with values for these.

    runner call docker_compose.up shop /srv/shop '[/srv/shop/compose.yaml]'
    """
    project = Project(name, folder, tuple(files), None, tuple(env_files))
    _act(project, "up", "--detach", *(["--", *services] if services else []))


def stop(name: str, services: Sequence[str]) -> None:
    """Stop services of a project. Raises CommandFailed with what Compose has against it."""
    _act(Project(name), "stop", "--", *services)


def down(name: str) -> None:
    """Remove the containers and networks of a project; its volumes stay. Raises CommandFailed with
    what Compose has against it.

    runner call docker_compose.down shop
    """
    _act(Project(name), "down")


def _act(project: Project, *action: str) -> None:
    done = compose.act(project, *action)
    if done.retcode:
        raise CommandFailed(f"compose {action[0]} of {project.name}: {compose.words(done)}")
