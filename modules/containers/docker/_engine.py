# SPDX-License-Identifier: Apache-2.0
"""The connection to a container engine: Docker, or Podman by its compatible socket.

Its API is spoken by the Python package docker, which is imported when a state or a function needs
it. Every refusal becomes a message with the cause and the cure.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from modules import _paths, config
from runner.api import CommandFailed, for_states, here, refuse_unforeseen
from runner.api.extras import how_to_install

if TYPE_CHECKING:
    from docker import APIClient

TIMEOUT = 60  # seconds that the engine may take for an answer
SERVICES = ("docker", "docker.socket", "podman.socket", "podman")
PACKAGES = ("docker.io", "docker-ce", "docker", "moby-engine", "podman")
NOT_FOUND, CONFLICT = 404, 409


class EngineFailed(CommandFailed):
    """A request that the engine refuses. status: its HTTP status."""

    status: int = 0


def ask(method: str, *args: Any, **kwargs: Any) -> Any:
    """The answer of a method of the client. Raises CommandFailed with cause and cure."""
    with _explained():
        return getattr(client(), method)(*args, **kwargs)


def find(method: str, *args: Any, **kwargs: Any) -> Any:
    """The answer of a method of the client; None where the engine has no such thing."""
    try:
        return ask(method, *args, **kwargs)
    except EngineFailed as failure:
        if failure.status == NOT_FOUND:
            return None
        raise


def no_such(kind: str, name: str, full_name: str = "") -> CommandFailed:
    """The failure of an image, container, volume or network that the engine does not have."""
    missing = (f"docker_{kind}", full_name or name)
    return CommandFailed(f"Error 404: No such {kind}: {name}", missing=missing)


def stream(method: str, *args: Any, patience: float | None = None, **kwargs: Any) -> list[Any]:
    """The messages of a long action (pull, build, load). Raises CommandFailed when one of them is
    an error. patience: the seconds that each of them may take.
    """
    with _explained():
        messages = [
            message
            for message in getattr(client(patience), method)(*args, **kwargs)
            if isinstance(message, dict)
        ]
    for message in messages:
        if "error" in message or "errorDetail" in message:
            detail = message.get("errorDetail")
            text = (detail or {}).get("message") if isinstance(detail, dict) else None
            raise CommandFailed(str(text or message.get("error")).strip())
    return messages


def fetch(path: str) -> dict[str, Any]:
    """The JSON of an address of the engine's API that the client has no method for."""
    with _explained():
        connected = client()
        answer: dict[str, Any] = connected.get(
            connected.base_url + path, timeout=connected.timeout
        ).json()
    return answer


def engine() -> str:
    """The name of the engine: docker or podman."""
    known = here.store("docker")
    if "engine" not in known:
        parts = ask("version", api_version=False).get("Components") or []
        names = " ".join(str(part.get("Name")) for part in parts)
        known["engine"] = "podman" if "Podman" in names else "docker"
    return str(known["engine"])


def client(timeout: float | None = None) -> APIClient:
    """The client, which is connected once a run. Raises CommandFailed when no engine answers."""
    refuse_unforeseen("the container engine")
    timeout = timeout or TIMEOUT
    clients = here.store("docker clients")
    if timeout not in clients:
        docker = package()
        where = reached()
        with _explained(where):
            options = docker.utils.kwargs_from_env() if not configured() else {}
            options["base_url"] = where
            version = str(option("version") or "auto")
            clients[timeout] = docker.APIClient(version=version, timeout=timeout, **options)
    made: APIClient = clients[timeout]
    return made


def reached() -> str:
    """The address of the engine. Raises CommandFailed, with the cure, where nobody answers."""
    refuse_unforeseen("the container engine")
    where = address()
    _knock(where)
    return where


def package() -> Any:
    """The Python package docker. Raises CommandFailed where it is not installed."""
    try:
        import docker
    except ImportError:
        raise CommandFailed(
            "Containers are managed by means of the Python package docker, which is not installed:"
            f" {how_to_install('docker')}",
            missing=("pkg", "python3-docker"),
        ) from None
    return docker


# drivers that engines have and do not name
OWN = {
    "docker": [("Log", "none")],
    "podman": [("Volume", "image"), ("Log", "json-file"), ("Log", "none")],
}
PLUGINS = ("/run/docker/plugins", "/etc/docker/plugins", "/usr/lib/docker/plugins")


@for_states
def lacking_driver(kind: str, name: str) -> str | None:
    """The reason why the engine has no such driver; None where it has, or may have it.

    kind: Volume, Network or Log. What lies in PLUGINS an engine starts when it is asked for.
    """
    known = (ask("info").get("Plugins") or {}).get(kind)
    if known is None or name in known or f"{name}:latest" in known or not _is_local():
        return None
    files = (f"{name}{end}" for end in (".sock", ".spec", ".json", f"/{name}.sock"))
    if any(_paths.lexists(os.path.join(folder, file)) for file in files for folder in PLUGINS):
        return None
    if (kind, name) in OWN.get(engine(), ()):
        return None
    return f"the engine has no {kind.lower()} driver {name}; it has {', '.join(known)}"


@for_states
def lacking_runtime(name: str) -> str | None:
    """The reason why the engine has no such runtime; None where it has, or may have it: a path and
    a shim of containerd need no entry in its configuration.
    """
    known = ask("info").get("Runtimes")
    if not known or name in known or "/" in name or name.startswith("io.containerd."):
        return None
    return f"the engine has no runtime {name}; it has {', '.join(known)}"


def _is_local() -> bool:
    """Return whether the engine is one of this machine."""
    return "://" not in (where := address()) or where.startswith(("unix:", "http+unix:"))


def option(name: str) -> Any:
    """A setting of the configuration, the grains or the pillar: docker.url, docker.version."""
    return config.get(f"docker.{name}", None) or config.get(f"docker:{name}", None)


def configured() -> str:
    """The address that the configuration names; empty where it names none."""
    return str(option("url") or "")


def address() -> str:
    """The address of the engine: docker.url, DOCKER_HOST, or the first socket that there is."""
    chosen = configured() or os.environ.get("DOCKER_HOST", "")
    if chosen:
        return f"unix://{chosen}" if chosen.startswith("/") else chosen
    for path in sockets():
        if _paths.exists(path):
            return f"unix://{path}"
    raise CommandFailed(
        "There is no container engine: " + ", ".join(sockets()) + " do not exist. Install docker.io"
        " (and start the service docker) or podman (and start podman.socket), or set docker.url",
        missing=NO_ENGINE,
    )


NO_ENGINE = [*(("service", name) for name in SERVICES), *(("pkg", name) for name in PACKAGES)]


def sockets() -> list[str]:
    """The sockets of engines, in the order of preference: a user's own come first."""
    system = ["/var/run/docker.sock", "/run/podman/podman.sock"]
    if os.geteuid() == 0:
        return system
    own = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}"
    return [f"{own}/docker.sock", f"{own}/podman/podman.sock", *system]


@contextlib.contextmanager
def _explained(where: str | None = None) -> Iterator[None]:
    """What the client raises, as CommandFailed."""
    errors = package().errors
    from requests.exceptions import RequestException, Timeout

    try:
        yield
    except errors.APIError as error:
        failure = EngineFailed(_explanation(error))
        failure.status = error.status_code or 0
        raise failure from None
    except Timeout:
        raise CommandFailed(
            "The container engine does not answer in time: see `client_timeout`, and its log"
        ) from None
    except (errors.DockerException, RequestException, ValueError, OSError) as error:
        raise _unreachable(where or address(), error) from None


def _explanation(error: Any) -> str:
    """The engine's own words, under the number that Salt shows too."""
    text = error.explanation
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text or error)
    return f"Error {error.status_code}: {text.strip()}"


def _unreachable(where: str, error: Exception) -> CommandFailed:
    return CommandFailed(
        f"The container engine at {where} cannot be reached: {_last(error)}", missing=NO_ENGINE
    )


def _knock(where: str) -> None:
    """Raise CommandFailed, with the cure, where nobody answers at a socket of this machine."""
    path = re.sub("^(http\\+)?unix:/{0,2}(?=/)", "", where)
    if not path.startswith("/"):
        return
    cure = "start podman.socket" if "podman" in path else "start the service docker"
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(TIMEOUT)
            probe.connect(path)
    except PermissionError:
        raise CommandFailed(
            f"The container engine cannot be reached: you may not use the socket {path}; run as"
            " root, or let an administrator add you to the group that owns it (its members are as"
            " mighty as root)"
        ) from None
    except OSError as refusal:
        missing = isinstance(refusal, FileNotFoundError)
        why = "does not exist" if missing else f"has nobody who answers ({refusal.strerror})"
        raise CommandFailed(
            f"The container engine cannot be reached: the socket {path} {why}; {cure}",
            missing=NO_ENGINE,
        ) from None


def _last(error: Exception) -> str:
    """The innermost of wrapped causes, which says what happened."""
    text = str(error).strip()
    wrapped = re.findall(r"(?:Error|error)\(?['\"]?([^()'\"]{8,})", text)
    return (wrapped[-1] if wrapped else text).strip(" '\")")
