# SPDX-License-Identifier: Apache-2.0
"""Projects of Compose: what its own program says that it would do, and does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from modules import _paths, cmd
from modules.cmd import Completed
from modules.containers.docker import _images, _networks
from modules.containers.docker._engine import reached
from runner.api import CommandFailed, FormerState, Record, StateFailed, changer, here
from runner.api.later import check_later

PROGRAMS = (("docker", "compose"), ("docker-compose",), ("podman", "compose"))
PACKAGES = ("docker-compose-plugin", "docker-compose-v2", "docker-compose")
OLDEST = (2, 18)  # the first that says what it would do
FILES = tuple("compose.yaml compose.yml docker-compose.yaml docker-compose.yml".split())
LASTS = 1  # seconds that what was started has to run
# as each begins: of a container that is only started the program says `Created`, too
DONE = {"Creating": "created", "Recreate": "recreated", "Starting": "started"}
DONE |= {"Removing": "removed"}
EVENT = re.compile(
    r"(?:DRY-RUN MODE -)?\s*(?P<kind>Container|Network|Volume|Image)\s+\"?(?P<name>\S+?)\"?\s+"
    r"(?P<word>\w+)(?P<more> .*)?"
)
IMAGE = re.compile(
    r"(?:DRY-RUN MODE -)?\s*(?:(?P<pulled>\S+) Pulling|build service (?P<built>\S+)"
    r"|Service (?P<service>\S+) +Building)"
)
REPLACED = re.compile("[0-9a-f]{12}_")  # before the name of a container that gives way
WARNING = re.compile(r'time="[^"]*" level=warning msg="((?:[^"\\]|\\.)*)"')
TOLD = (EVENT, IMAGE, WARNING, re.compile(">>>> "))  # the last: podman compose, of its program
CONTROLS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # of terminals
QUIET = {"PODMAN_COMPOSE_WARNING_LOGS": "false"}
Json = dict[str, Any]


class Project(Record):
    """A project of Compose.

    name: empty where its files or its folder say it. folder: that relative paths start at. files:
    paths. definition: its text instead; what has neither is known by its name alone.
    """

    name: str
    folder: str = "/"
    files: tuple[str, ...] = ()
    definition: str | None = None
    env_files: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """The words of the command line that say which project."""
        files = ("-",) if self.definition is not None else self.files
        given = [("-p", (self.name,) if self.name else ()), ("-f", files)]
        given += [("--env-file", self.env_files), ("--profile", self.profiles)]
        words = [word for option, values in given for value in values for word in (option, value)]
        return [*words, "--project-directory", self.folder] if files else words


def found(folder: str) -> tuple[str, ...]:
    """The files of a project's folder that Compose reads unasked. Raises StateFailed."""
    paths = [f"{folder}/{name}" for name in FILES]
    base = next((path for path in paths if _paths.isfile(path)), None)
    if base is None:
        raise StateFailed(
            f"There is no Compose file in {folder} ({', '.join(FILES)})",
            missing=[("file", path) for path in paths],
        )
    stem = base.rpartition(".")[0]
    more = (f"{stem}.override.{end}" for end in ("yml", "yaml"))
    return (base, *[path for path in more if _paths.isfile(path)][:1])


# ---------------------------------------------------------------- its program


def _program() -> Sequence[str]:
    """The program of Compose that is there. Raises CommandFailed, with the cure, without one."""
    known = here.store("compose")
    if "program" not in known:
        seen = {" ".join(words): _version(words) for words in PROGRAMS if _paths.which(words[0])}
        fits = (words for words in PROGRAMS if (seen.get(" ".join(words)) or (0,)) >= OLDEST)
        known["program"] = next(fits, None)
        known["seen"] = [
            f"{name} is {'.'.join(map(str, version))}" for name, version in seen.items() if version
        ]
    program: Sequence[str] | None = known["program"]
    if program is None:
        lacking = "; ".join(known["seen"]) or "there is none"
        oldest = ".".join(map(str, OLDEST))
        raise CommandFailed(
            f"Compose {oldest} or newer is needed ({lacking}): install {PACKAGES[0]}, or"
            " docker-compose 2, which works with Podman's socket, too (podman-compose cannot say"
            " what it would do)",
            missing=[("pkg", name) for name in PACKAGES],
        )
    return program


def _version(words: Sequence[str]) -> tuple[int, ...]:
    """The version of a program of Compose; nothing where it has no such word."""
    done = cmd.probe([*words, "version", "--short"], env=QUIET)
    match = re.match(r"v?(\d+)\.(\d+)", done.stdout.strip())
    return () if done.retcode or match is None else tuple(map(int, match.groups()))


def _called(project: Project, *words: str) -> dict[str, Any]:
    """The arguments of a call of the program."""
    argv = [*_program(), "--ansi", "never", *project.words(), *words]
    env = {**QUIET, "DOCKER_HOST": reached()}
    return {"argv": argv, "env": env, "cwd": "/", "stdin": project.definition}


# ---------------------------------------------------------------- looks


def read(project: Project) -> tuple[Project, Json]:
    """A project with its name, and what Compose makes of its files. Raises StateFailed with its
    words.
    """
    done = cmd.probe(**_called(project, "config", "--format", "json"))
    if done.retcode:
        where = ", ".join(project.files) or "the definition"
        raise StateFailed(f"Compose refuses {where}: {words(done)}")
    answer: Json = json.loads(done.stdout)
    for service in (answer.get("services") or {}).values():
        here.hide_named(service.get("environment") or {})
    return project._replace(name=answer["name"]), answer


def foreseen(project: Project, *action: str) -> Completed:
    """What Compose says that it would do."""
    done = cmd.probe(**_called(project, "--dry-run", *action))
    for warning in WARNING.findall(done.stderr):
        here.warn(f"Compose: {warning}")
    return done


def containers(project: Project) -> list[Json]:
    """The containers of a project."""
    done = cmd.probe(**_called(project, "ps", "--all", "--format", "json"))
    if done.retcode:
        raise CommandFailed(f"Compose cannot list the containers of {project.name}: {words(done)}")
    text = done.stdout.strip()
    listed: list[Json] = json.loads(text if text[:1] == "[" else f"[{','.join(text.splitlines())}]")
    return listed


def without_what_is_gone(told: Mapping[str, Any]) -> dict[str, Any]:
    """What happens, without the volumes and images that are gone already: Compose would say that it
    removes them.
    """
    looks = {"volume": _networks.look_volume, "image": _images.look}
    return {
        key: value
        for key, value in told.items()
        if not (look := looks.get(key.partition(" ")[0])) or look(key.partition(" ")[2])
    }


def at_rest(container: Json) -> bool:
    """Return whether a container has done its work, and needs no start."""
    return container.get("State") == "exited" and container.get("ExitCode") == 0


def words(done: Completed) -> str:
    """What the program said beside what happened."""
    lines = [
        line.strip().removeprefix("DRY-RUN MODE -").strip()
        for line in f"{done.stderr}\n{done.stdout}".splitlines()
        if line.strip()
    ]
    said = [line for line in lines if not any(form.match(line) for form in TOLD)]
    return "\n".join(dict.fromkeys(said[-10:])) or f"exit code {done.retcode}"


def changes(project: Project, config: Json, done: Completed) -> dict[str, Any]:
    """What happens to the services of a project, as the program tells it: of each its image and its
    containers; and to the rest.
    """
    services = (config.get("services") or {}).items()
    names = {each["container_name"]: name for name, each in services if "container_name" in each}
    told: dict[str, Any] = {}
    in_use = set()
    for line in map(str.strip, f"{done.stdout}\n{done.stderr}".splitlines()):
        if match := IMAGE.match(line):
            service = match["pulled"] or match["built"] or match["service"]
            told.setdefault(service, {})["image"] = "pulled" if match["pulled"] else "built"
        match = EVENT.fullmatch(line)
        if match is None:
            continue
        thing, word = match["name"], match["word"]
        happened = DONE.get(word)
        if match["kind"] != "Container":
            if happened:
                told[f"{match['kind'].lower()} {thing}"] = happened
            elif "still in use" in line:
                in_use.add(f"{match['kind'].lower()} {thing}")
        elif happened:
            container = REPLACED.sub("", thing)
            of_service = told.setdefault(_service(project.name, container, names), {})
            # a container that is made is started, too
            if happened != "started" or container not in of_service:
                of_service[container] = happened
    if not any(isinstance(value, dict) for value in told.values()):
        for thing in in_use:  # by others; what this project uses goes first
            told.pop(thing, None)
    return {
        key: dict(sorted(value.items())) if isinstance(value, dict) else value
        for key, value in sorted(told.items())
    }


def _service(project: str, container: str, names: Mapping[str, str]) -> str:
    match = re.fullmatch(rf"{re.escape(project)}[-_](.+)[-_]\d+", container)
    return names.get(container) or (match[1] if match else container)


# ---------------------------------------------------------------- changes


def _label(container: Json, name: str) -> str:
    """A label of Compose's: they are one text, in which values may have commas."""
    labels = str(container.get("Labels") or "")
    match = re.search(rf"com\.docker\.compose\.{name}=(.*?)(?:,[\w.-]+=|$)", labels)
    return match[1] if match else ""


def state_of(name: str) -> Json:
    """A project as undo restores it: its containers, and the files that they were made of; empty
    where it has none.
    """
    there = containers(Project(name))
    if not there:
        return {}
    parts = ("working_dir", "config_files", "environment_file")
    folder, files, env_files = (_label(there[0], f"project.{part}") for part in parts)
    return {
        "containers": sorted(
            f"{each['Name']} {str(each.get('ID'))[:12]} {each.get('State')}" for each in there
        ),
        "services": sorted({str(each.get("Service")) for each in there}),
        "folder": folder,
        "files": [path for path in files.split(",") if path],
        "env_files": [path for path in env_files.split(",") if path],
    }


def _before(project: Project, action: str, *words: str) -> FormerState | Json | None:
    """The former state of a project; None where its volumes or images go."""
    if action == "restart":
        return {}
    if any(word.startswith(("--volumes", "--rmi")) for word in words):
        return None
    return FormerState("compose project", project.name, state_of(project.name))


@changer(touches=[], before=_before)
def act(project: Project, *action: str) -> Completed:
    """Have Compose do something with a project."""
    return cmd.execute(**_called(project, *action))


def check_at_end(project: Project, started: Iterable[str]) -> None:
    """Check containers that were started before the run ends: some programs fail a moment after a
    good start.
    """
    names = set(started)

    def problem() -> str:
        dead = [
            each["Name"]
            for each in containers(project)
            if each["Name"] in names and each.get("ExitCode") and each.get("State") != "running"
        ]
        if not dead:
            return ""
        tail = cmd.probe(**_called(project, "logs", "--no-color", "--tail", "10")).stdout
        tail = CONTROLS.sub("", tail)
        return f"{', '.join(dead)} had started, and is dead at the end of the run\n{tail}".rstrip()

    check_later(f"compose {project.name}", LASTS, problem)
