# SPDX-License-Identifier: Apache-2.0
"""Images of Docker and Podman."""

from __future__ import annotations

from typing import Any

from modules.containers import docker
from runner.api import (
    CommandFailed,
    Done,
    Duration,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    StateFailed,
)
from runner.api.kinds import comes_after
from states._tools import explained
from states.containers._docker import (
    ENGINE,
    PULLED,
    image_facts,
    pull_failure,
    refuse_without_image,
)

NON_IDEMPOTENT = {"present": "with force it pulls, loads or builds in each run"}


def present(
    name: Name,
    tag: Line | int | float | None = None,
    build: Line | None = None,
    load: Line | None = None,
    force: bool = False,
    insecure_registry: bool = False,
    client_timeout: Duration[int] = 60,
    dockerfile: Line | None = None,
    buildargs: dict[str, Any] | None = None,
) -> Planned:
    """Make sure that there is an image: pulled, loaded from an archive, or built.

    name: The image, with or without its tag.
    tag: The tag; needed with build and load.
    build: The folder of a Dockerfile.
    load: An archive of `docker save`, a path or salt://.
    force: Get it again if it is there already.
    insecure_registry: Ignored; the engine's configuration names registries without TLS.
    client_timeout: Seconds that the engine may be silent.
    dockerfile: The name of the Dockerfile below `build`.
    buildargs: Values for the arguments (`ARG`) of its Dockerfile.

        nginx:
          docker_image.present:
            - tag: '1.27'

        app:
          docker_image.present:
            - tag: '3'
            - load: salt://images/app-3.tar
    """
    if build and load:
        raise StateFailed("Only one of 'build' or 'load' is permitted.")
    if (build or load) and not tag:
        raise StateFailed("The 'tag' argument is required if any one of 'build' or 'load' is used.")
    full = f"{name}:{tag}" if tag else name
    there = docker.find_image(full)
    if there is not None and not force:
        return f"Image {full} already present"
    action = "built" if build else "loaded" if load else "pulled"
    _look_at_source(full, build, load, dockerfile)
    yield Plan(
        {},
        f"Image {full} will be {action}",
        exact=False,
        why=PULLED if action == "pulled" else f"what the image holds is known when it is {action}",
        provides=image_facts(full),
    )
    try:
        if build:
            changes = docker.build(
                build, name, str(tag), dockerfile=dockerfile, buildargs=buildargs
            )
        elif load:
            changes = docker.load(load, name, str(tag))
        else:
            changes = docker.pull(full, insecure_registry, client_timeout=client_timeout)
    except CommandFailed as failure:
        raise StateFailed(_failure(full, build, load, failure.message), changes={}) from None
    after = docker.inspect_image(full)
    if there is not None and after["Id"] == there["Id"]:
        return Done(f"Image '{name}' was {action}, but there were no changes", {})
    return Done(f"Image '{full}' was {action}", changes)


def _look_at_source(full: str, build: str | None, load: str | None, dockerfile: str | None) -> None:
    """Raise StateFailed where there is nothing to make the image of."""
    if load:
        docker.archive(load)
    elif build is None:
        refuse_without_image(full)
    else:
        with explained(f"Cannot build {full}"):
            docker.refuse_to_build(build, dockerfile)


def _failure(full: str, build: str | None, load: str | None, problem: str) -> str:
    if build:
        return f"Encountered error building {build} as {full}: {problem}"
    if load:
        return f"Encountered error loading {load} as {full}: {problem}"
    return f"Encountered error pulling {full}: {pull_failure(full, problem)}"


def absent(
    name: Name | None = None, images: OneOrMany[Name] | None = None, force: bool = False
) -> Planned:
    """Make sure that there are no such images.

    name: The image; without a tag `latest`.
    images: Several images instead.
    force: Remove images that containers use, too.

        old images:
          docker_image.absent:
            - images: [busybox, 'nginx:1.25']
    """
    targets = images or ([name] if name else [])
    if not targets:
        raise StateFailed("One of 'name' and 'images' must be provided")
    there = {target: docker.find_image(target) for target in targets}
    to_delete = [target for target, image in there.items() if image is not None]
    if not to_delete:
        if len(targets) == 1:
            return f"Image {targets[0]} is not present"
        return "All specified images are not present"
    several = len(to_delete) > 1
    listed = ", ".join(to_delete)
    yield Plan(
        {"Tags": to_delete},
        f"The following images will be removed: {listed}"
        if several
        else f"Image {listed} will be removed",
        exact=False,
        why="which layers no other image has is known when it is removed",
    )
    result = docker.rmi(*to_delete, force=force)
    failed = [target for target in to_delete if docker.find_image(target) is not None]
    if failed:
        raise StateFailed(
            f"The following image(s) failed to be removed: {', '.join(failed)}. The following"
            f" errors were encountered: {'; '.join(result.get('Errors', []))}",
            changes={} if failed == to_delete else result,
        )
    if several:
        return Done(f"The following images were removed: {listed}", result)
    return Done(f"Image {listed} was removed", result)


REACTS = ("present",)


def mod_watch(
    name: Name,
    sfun: Line,
    tag: Line | int | float | None = None,
    build: Line | None = None,
    load: Line | None = None,
    insecure_registry: bool = False,
    client_timeout: Duration[int] = 60,
    dockerfile: Line | None = None,
    buildargs: dict[str, Any] | None = None,
) -> Planned:
    """Pull, load or build an image again because something that it watches changed. Arguments as
    docker_image.present.
    """
    if sfun not in REACTS:
        raise StateFailed(f"watch requisite is not implemented for {sfun}")
    return (
        yield from present(
            name,
            tag,
            build,
            load,
            force=True,
            insecure_registry=insecure_registry,
            client_timeout=client_timeout,
            dockerfile=dockerfile,
            buildargs=buildargs,
        )
    )


autorequire = comes_after(
    "An image comes after the engine, and what it is built of or loaded from.",
    *ENGINE,
    build="file",
    load="file",
)
