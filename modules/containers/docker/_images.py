# SPDX-License-Identifier: Apache-2.0
"""Images: Salt's functions to look at them, to pull, load, build, tag and remove them."""

from __future__ import annotations

import os
import re
import time
from typing import Any
from urllib.parse import quote

from modules import _paths
from modules.containers.docker._containers import with_local_time
from modules.containers.docker._engine import (
    EngineFailed,
    ask,
    engine,
    fetch,
    find,
    no_such,
    stream,
)
from modules.file._look import opened_to_read
from runner.api import CommandFailed, changer, for_states

Json = dict[str, Any]
BUILD_TIMEOUT = 600  # seconds that one step of a build may take


def look(name: str) -> Json | None:
    """Return what the engine knows of an image; None where there is none."""
    image: Json | None = find("inspect_image", name)
    return image


def inspect_image(name: str) -> Json:
    """Return what the engine knows of an image. Raises CommandFailed where there is none.

    {{ salt['docker.inspect_image']('nginx:1.27').Id }}
    """
    image = look(name)
    if image is None:
        raise no_such("image", name, full_name(name))
    return image


def full_name(name: str) -> str:
    """The name of an image with its tag (latest where it has none)."""
    last = name.rpartition("/")[2]
    return name if ":" in last or "@" in last else f"{name}:latest"


def resolve_image_id(name: str) -> str | bool:
    """The ID of an image; false where there is none.

    {{ salt['docker.resolve_image_id']('nginx:1.27') }}
    """
    image = look(name)
    return str(image["Id"]) if image else False


def resolve_tag(name: str, all: bool = False) -> str | list[str] | bool:
    """A name of an image, or its ID where it has no name; false where there is no image.

    all: its names.

        {{ salt['docker.resolve_tag']('nginx') }}
    """
    image = look(name)
    if image is None:
        return False
    tags: list[str] = image.get("RepoTags") or [str(image["Id"])]
    return tags if all else tags[0]


def images(verbose: bool = False, all: bool = False) -> Json:
    """The images that have a name, by their IDs. all: also the others. verbose: with all that the
    engine knows of each, under Info.

    {{ salt['docker.images']() | json }}
    """
    result = {}
    for item in ask("images", all=all):
        if all or item.get("RepoTags") not in (None, [], ["<none>:<none>"]):
            shown = with_local_time(item)
            for key in ("Size", "VirtualSize"):
                if key in shown:
                    shown[f"{key}_Human"] = _human(shown[key])
            result[item["Id"]] = shown
    if verbose:
        for key, value in result.items():
            value["Info"] = inspect_image(key)
    return result


def _human(size: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:3.1f} {unit}"
        size /= 1024
    return f"{size:3.1f} TB"


def list_tags() -> list[str]:
    """The names of all images.

    {{ salt['docker.list_tags']() | json }}
    """
    return sorted(tag for item in ask("images") for tag in item.get("RepoTags") or [])


def history(name: str, quiet: bool = False) -> list[Any]:
    """The layers of an image, the oldest first. quiet: only the commands that made them.

    {{ salt['docker.history']('nginx:1.27', quiet=True) | json }}
    """
    layers = [dict(layer) for layer in reversed(ask("history", name))]
    return [layer.get("CreatedBy") for layer in layers] if quiet else layers


def registry_problem(name: str) -> str | None:
    """The reason why an image cannot be pulled, which its registry is asked for; None where it
    can.
    """
    full = full_name(name)
    if engine() == "podman":
        answer = fetch(f"/v4.0.0/libpod/manifests/{quote(full, safe='')}/json")
        problem = str(answer.get("message") or "")
        # others are about the form of what it found
        return problem if problem.startswith("reading image") else None
    try:
        ask("inspect_distribution", full)
    except EngineFailed as failure:
        return failure.message
    return None


@changer(touches=[])
def pull(
    image: str,
    insecure_registry: bool = False,
    api_response: bool = False,
    client_timeout: int | None = None,
) -> Json:
    """Pull an image from its registry; its layers. Raises CommandFailed with what the registry
    says.

    insecure_registry: taken for Salt's sake; the engine's own configuration decides. api_response:
    also what the engine answered. client_timeout: seconds that it may be silent.
    """
    began = time.time()
    messages = stream("pull", image, stream=True, decode=True, patience=client_timeout)
    result: Json = {"Time_Elapsed": time.time() - began}
    layers: dict[str, list[str]] = {}
    for message in messages:
        status, layer = str(message.get("status") or ""), message.get("id")
        if layer and status == "Already exists":
            layers.setdefault("Already_Pulled", []).append(layer)
        elif layer and status in ("Pull complete", "Download complete"):
            pulled = layers.setdefault("Pulled", [])
            pulled += [] if layer in pulled else [layer]
        elif status.startswith("Status: "):
            result["Status"] = status.removeprefix("Status: ")
    if layers:
        result["Layers"] = layers
    if not messages:
        raise CommandFailed(f"Unable to pull {image}: the engine said nothing")
    return {**result, "API_Response": messages} if api_response else result


@changer(touches=[])
def load(path: str, repository: str | None = None, tag: str | None = None) -> Json:
    """Load an image from an archive (`docker save`), and name it. Raises CommandFailed.

    path: a file, or salt://.
    """
    if bool(repository) != bool(tag):
        raise CommandFailed("If tagging, both a repository and tag are required")
    local = archive(path)
    began, before = time.time(), set(images(all=True))
    with opened_to_read(local) as archived:
        messages = stream("load_image", archived)
    loaded = re.findall(
        r"Loaded image(?: ID)?(?:\(s\))?: *(\S+)",
        "\n".join(str(message.get("stream") or "") for message in messages),
    )
    new = [key for key in images(all=True) if key not in before]
    result: Json = {
        "Path": path,
        "Layers": [key.removeprefix("sha256:")[:12] for key in new],
        "Time_Elapsed": time.time() - began,
    }
    if repository and tag:
        if len(loaded) == 1:
            ask("tag", loaded[0], repository, tag)
            result["Image"] = f"{repository}:{tag}"
        else:
            result["Warning"] = f"{len(loaded)} images were loaded, no image was tagged"
    return result


def archive(path: str) -> str:
    """The file of an archive. Raises CommandFailed where there is none."""
    local = _paths.fetched(path)
    if local is None or not _paths.isfile(local):
        raise CommandFailed(f"Source file {path} does not exist", missing=("file", path))
    return local


REMOTE = ("http://", "https://", "git://", "github.com/", "git@")  # what an engine fetches itself


@for_states
def refuse_to_build(path: str, dockerfile: str | None = None) -> None:
    """Raise CommandFailed where there is nothing to build an image of."""
    if path.startswith(REMOTE):
        return
    if not path.startswith("/"):
        raise CommandFailed(
            f"{path!r} is neither an absolute path nor an address ({', '.join(REMOTE)})"
        )
    file = os.path.join(path, dockerfile or "Dockerfile")
    if not _paths.isfile(file):
        raise CommandFailed(f"There is no {file}", missing=("file", file))


@changer(touches=[])
def build(
    path: str,
    repository: str | None = None,
    tag: str | None = None,
    cache: bool = True,
    rm: bool = True,
    dockerfile: str | None = None,
    buildargs: Json | None = None,
    client_timeout: int | None = None,
) -> Json:
    """Build an image from a folder with a Dockerfile; its ID. Raises CommandFailed with what the
    engine says.

    cache: use layers that were built before. rm: remove intermediate containers. dockerfile: its
    path in the folder. buildargs: values for ARG.
    """
    refuse_to_build(path, dockerfile)
    name = f"{repository}:{tag or 'latest'}" if repository else None
    began = time.time()
    messages = stream(
        "build",
        path=path,
        tag=name,
        rm=rm,
        nocache=not cache,
        dockerfile=dockerfile,
        buildargs={key: str(value) for key, value in (buildargs or {}).items()},
        decode=True,
        patience=client_timeout or BUILD_TIMEOUT,
    )
    text = "".join(str(message.get("stream") or "") for message in messages)
    built = re.findall(r"Successfully built (\w+)", text) or ([name] if name else [])
    if not built:
        raise CommandFailed(f"Build failed for {path}. {text.strip()[-500:]}")
    image = inspect_image(built[-1])
    result: Json = {"Id": image["Id"].removeprefix("sha256:")[:12], "Image": image["RepoTags"]}
    return {**result, "Time_Elapsed": time.time() - began}


@changer(touches=[])
def tag(name: str, repository: str, tag: str = "latest", force: bool = False) -> bool:
    """Give an image one more name."""
    return bool(ask("tag", name, repository, tag, force=force))


@changer(touches=[])
def rmi(*names: str, force: bool = False, prune: bool = True) -> Json:
    """Remove images by their names; what was untagged and deleted, and Errors.

    force: also those that containers use. prune: also their parents without a name.
    """
    before, tags = set(images(all=True)), set(list_tags())
    errors = []
    for name in names:
        try:
            ask("remove_image", name, force=force, noprune=not prune)
        except EngineFailed as failure:
            errors.append(failure.message)
    removed = {
        "Layers": sorted(before - set(images(all=True))),
        "Tags": sorted(tags - set(list_tags())),
        "Errors": errors,
    }
    return {key: value for key, value in removed.items() if value}
