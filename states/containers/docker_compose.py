# SPDX-License-Identifier: Apache-2.0
"""Projects of Docker Compose, on Docker or Podman. Salt has nothing like it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from modules.containers.docker import compose
from modules.containers.docker.compose import PACKAGES, Project
from runner.api import (
    AbsolutePath,
    Done,
    Duration,
    Group,
    Line,
    Name,
    Pattern,
    Plan,
    Planned,
    Record,
    StateFailed,
    here,
)
from states.containers._docker import ENGINE, image_facts

ProjectName = Annotated[
    Name, Pattern("[a-z0-9][a-z0-9_-]*", "name of small letters, digits, '_' and '-'")
]
Lines = list[Line]


class ProjectArguments(Record):
    """Which project a state is about.

    project_src: The folder, where the name is something else.
    definition: The services, networks and volumes themselves, instead of files; its relative paths
      start at project_src, else at /.
    project_name: The project, which else is called like its folder.
    files: The project's files, in the folder; without them compose.yaml or docker-compose.yml, and
      what overrides it.
    env_files: Files with values for the project's files, instead of .env.
    profiles: Profiles whose services count, too.
    """

    project_src: AbsolutePath | None = None
    definition: dict[str, Any] | None = None
    project_name: ProjectName | None = None
    files: Lines | None = None
    env_files: Lines | None = None
    profiles: Lines | None = None

    def project(self, name: str) -> Project:
        """The project. Raises StateFailed."""
        folder = self.project_src or (name if name.startswith("/") else None)
        if folder is None and self.definition is None:
            raise StateFailed(
                f"{name} is no folder: name the project's folder by `project_src`, or say its"
                " services by `definition`"
            )
        folder = (folder or "/").rstrip("/") or "/"
        if self.definition is not None and self.files:
            raise StateFailed("Only one of 'definition' and 'files' is permitted")
        own = name.startswith("/") or self.definition is None
        called = self.project_name or ("" if own else name)
        if self.definition is not None and not called:
            raise StateFailed("A definition needs a `project_name`")
        beside = [
            tuple(f"{folder}/{each}" if each[:1] != "/" else each for each in given or ())
            for given in (self.files, self.env_files)
        ]
        found = () if self.definition is not None else beside[0] or compose.found(folder)
        text = None if self.definition is None else json.dumps(self.definition)
        return Project(called, folder, found, text, beside[1], tuple(self.profiles or ()))


Given = Annotated[ProjectArguments, Group()]


def up(
    name: Line,
    given: Given = ProjectArguments(),
    services: Lines | None = None,
    remove_orphans: bool = False,
    wait: bool = False,
    wait_timeout: Duration[int] | None = None,
) -> Planned:
    """Make sure that the services of a Compose project run as its files say.

    Compose itself (`docker compose`, `docker-compose` or `podman compose`, 2.18 or newer) says what
    it would do, service by service: images that it pulls or builds, containers that it creates,
    recreates, starts or removes. A container that has ended with exit code 0 has done its work, and
    is no reason to start it again. An image that is there is not pulled anew.

    name: The folder with the project's files, or the name of a project.
    services: These services, and those that they depend on, instead of all.
    remove_orphans: Remove the containers of services that the project no longer has.
    wait: Wait until all services run and are healthy, and fail else; services that end make it
      fail, too.
    wait_timeout: The seconds to wait.

        /srv/shop:
          docker_compose.up:
            - remove_orphans: True

        cache:
          docker_compose.up:
            - definition:
                services:
                  redis:
                    image: docker.io/library/redis:7
                    restart: always

    With `watch` of a file that a service reads, the services that run are restarted. Salt has
    nothing like it.
    """
    project, config = compose.read(given.project(name))
    action = ["up", "--detach", *(["--remove-orphans"] if remove_orphans else [])]
    chosen = ["--", *services] if services else []
    would = compose.foreseen(project, *action, *chosen)
    has = ", ".join(config.get("services") or {}) or "none"
    if would.retcode:
        images = [each.get("image") for each in (config.get("services") or {}).values()]
        raise StateFailed(
            f"Compose cannot start {project.name} (its services: {has}): {compose.words(would)}",
            missing=[fact for image in images if image for fact in image_facts(image)],
        )
    there = {each["Name"]: each for each in compose.containers(project)}
    plan = _without_those_at_rest(compose.changes(project, config, would), there)
    ill = [name for name, each in there.items() if each.get("Health") == "unhealthy"]
    if not plan:
        if ill and wait:
            raise StateFailed(f"{', '.join(ill)} of {project.name} is unhealthy")
        if ill:
            here.warn(f"{', '.join(ill)} of {project.name} is unhealthy")
        return f"The services of {project.name} are up: {_told(there)}"
    of_services = [of for of in plan.values() if isinstance(of, dict)]
    begun = [key for of in of_services for key in of if key != "image" and of[key] != "removed"]
    facts = [("docker_container", name) for name in begun]
    yield Plan(plan, f"The services of {project.name} are to be brought up", provides=facts)
    if wait:
        action += ["--wait", *(["--wait-timeout", str(wait_timeout)] if wait_timeout else [])]
    done = compose.act(project, *action, *chosen)
    if done.retcode:
        changes = compose.changes(project, config, done)
        raise StateFailed(f"Compose failed to start {project.name}: {compose.words(done)}", changes)
    compose.check_at_end(project, begun)
    told = _told({each["Name"]: each for each in compose.containers(project)})
    return Done(f"The services of {project.name} were brought up: {told}", plan)


def down(
    name: Line,
    given: Given = ProjectArguments(),
    remove_orphans: bool = False,
    remove_volumes: bool = False,
    remove_images: Literal["all", "local"] | None = None,
    timeout: Duration[int] | None = None,
) -> Planned:
    """Make sure that a Compose project has no containers and networks.

    name: As of docker_compose.up; the name of a project whose files are gone is enough.
    remove_orphans: As of docker_compose.up.
    remove_volumes: Remove its volumes, too: what is in them is lost.
    remove_images: Remove the images of its services, too: `all`, or `local`: those without a name
      of their own.
    timeout: Seconds until a container that does not stop is killed.

        /srv/shop:
          docker_compose.down: []
    """
    config: dict[str, Any] = {}
    if name.startswith("/") or given.project_src or given.definition is not None:
        project, config = compose.read(given.project(name))
    else:
        project = Project(given.project_name or name)
    options = {"--volumes": remove_volumes, "--remove-orphans": remove_orphans}
    action = ["down", *(option for option, given in options.items() if given)]
    action += [f"--rmi={remove_images}"] if remove_images else []
    action += [f"--timeout={timeout}"] if timeout is not None else []
    would = compose.foreseen(project, *action)
    if would.retcode:
        raise StateFailed(f"Compose cannot stop {project.name}: {compose.words(would)}")
    plan = compose.without_what_is_gone(compose.changes(project, config, would))
    if not plan:
        return f"The services of {project.name} are down"
    yield Plan(plan, f"The services of {project.name} are to be taken down")
    done = compose.act(project, *action)
    if done.retcode:
        changes = compose.changes(project, config, done)
        raise StateFailed(f"Compose failed to stop {project.name}: {compose.words(done)}", changes)
    return f"The services of {project.name} were taken down"


REACTS = ("up",)


def mod_watch(
    name: Line,
    sfun: Line,
    given: Given = ProjectArguments(),
    services: Lines | None = None,
    **others: Any,
) -> Planned:
    """Restart the services that run because something that they watch changed."""
    if sfun not in REACTS:
        return f"{name}: a watched change makes docker_compose.{sfun} look again, no more"
    project, _ = compose.read(given.project(name))
    run = [each["Service"] for each in compose.containers(project) if each["State"] == "running"]
    chosen = sorted({service for service in run if not services or service in services})
    if not chosen:
        return f"No service of {project.name} runs"
    yield Plan(
        dict.fromkeys(chosen, "restarted"),
        f"The services of {project.name} are to be restarted",
    )
    done = compose.act(project, "restart", "--", *chosen)
    if done.retcode:
        raise StateFailed(f"Compose failed to restart {project.name}: {compose.words(done)}")
    return f"The services of {project.name} were restarted"


def _without_those_at_rest(plan: dict[str, Any], there: dict[str, Any]) -> dict[str, Any]:
    """Nothing, where all that would happen is the start of what has done its work."""
    rest = {name for name, each in there.items() if compose.at_rest(each)}
    starts = all(
        isinstance(of, dict)
        and all(word == "started" and name in rest for name, word in of.items())
        for of in plan.values()
    )
    return {} if starts else plan


def _told(containers: dict[str, Any]) -> str:
    """How the containers are, service by service."""
    states = {
        name: each.get("Health") or str(each.get("State")) for name, each in containers.items()
    }
    return ", ".join(f"{name} {state}" for name, state in sorted(states.items())) or "none"


def autorequire(
    name: str, project_src: str | None = None, files: object = None, **_: object
) -> Iterator[tuple[str, str]]:
    """A project comes after the engine, Compose, its folder and its files."""
    yield from ENGINE
    yield from (("pkg", package) for package in PACKAGES)
    folder = project_src or name
    yield "file", folder
    given = [each for each in files if isinstance(each, str)] if isinstance(files, list) else ()
    for each in (*given, *compose.FILES, ".env"):
        yield "file", f"{folder}/{each}"
