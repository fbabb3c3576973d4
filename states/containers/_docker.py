# SPDX-License-Identifier: Apache-2.0
"""The base of the states of containers: what one shall be, how it differs, how it is made so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from modules.containers import docker
from modules.containers.docker import Networks
from modules.containers.docker.options import Declared
from runner.api import CommandFailed, Done, Name, Pattern, Plan, Planned, Record, StateFailed
from states._tools import explained

Json = dict[str, Any]
PULLED = "the image is pulled first, and what it holds is not known before"
NEW = "a new ID"  # of a container that is yet to be made
# engines take no others; what has `..` in it would be another address of their API
OwnName = Annotated[
    Name, Pattern("/?[a-zA-Z0-9][a-zA-Z0-9_.-]*", "name of letters, digits, '_', '.' and '-'")
]
NO_NETWORK = ("none", "host")  # how engines report containers that are on no network


def sentences(*comments: str) -> str:
    """Comments as Salt joins them."""
    return ". ".join(comments) + ("." if len(comments) > 1 else "")


ENGINE = (  # what all of these come after
    *(("service", name) for name in docker.SERVICES),
    *(("pkg", name) for name in docker.PACKAGES),
)


def refuse_without_image(image: str) -> None:
    """Raise StateFailed for an image that the registry does not have, as far as it can be known."""
    problem = docker.registry_problem(image)
    if problem is not None:
        raise StateFailed(pull_failure(image, problem), missing=image_facts(image))


def refuse_without_driver(kind: str, name: str | None) -> None:
    """Raise StateFailed for a driver that the engine does not have, as far as it can be known."""
    if name and (problem := docker.lacking_driver(kind, name)):
        raise StateFailed(problem, missing=("docker_plugin", name))


def refuse_without_runtime(name: str | None) -> None:
    """Raise StateFailed for a runtime that the engine does not have, as far as it can be known."""
    if name and (problem := docker.lacking_runtime(name)):
        raise StateFailed(problem, missing=[*ENGINE, ("file", "/etc/docker/daemon.json")])


def pull_failure(image: str, problem: str) -> str:
    """The message of a pull that fails: the cause and the cure."""
    return (
        f"Failed to pull {image}: {problem}; check the name and the tag, whether this machine"
        " reaches the registry, and `docker login` where it asks for a password"
    )


def image_facts(image: str) -> list[tuple[str, str]]:
    """The facts that an image is there, by its names."""
    return [("docker_image", name) for name in dict.fromkeys([image, docker.full_name(image)])]


class WantedContainer(Record):
    """A container that shall be, beside the one that there is, and the image that there is."""

    name: str
    image: str
    declared: Declared
    networks: Networks
    container: Json | None
    image_there: Json | None

    @classmethod
    def of(cls, name: str, image: str | None, declared: Declared, networks: Any) -> WantedContainer:
        """The container that a state declares. Raises StateFailed where something is missing."""
        if image is None:
            raise StateFailed("The 'image' argument is required")
        try:
            attached = docker.read_networks(networks)
        except ValueError as problem:
            raise StateFailed(f"Invalid network configuration: {problem}") from None
        missing = [item for item in sorted(attached or ()) if docker.find_network(item) is None]
        if missing:
            raise StateFailed(
                f"The following networks are not present: {', '.join(missing)}",
                missing=[("docker_network", item) for item in missing],
            )
        there = docker.find_container(name)
        return cls(name, image, declared, attached, there, docker.find_image(image))

    @property
    def state(self) -> str | None:
        """The state of the container that there is."""
        return docker.state_of(self.container) if self.container else None

    @property
    def has_new_image(self) -> bool:
        """Return whether the image is another one than that of the container that there is."""
        if self.container is None:
            return False
        return self.image_there is None or self.container["Image"] != self.image_there["Id"]

    def look_at_image(self) -> None:
        """Raise StateFailed where the image is missing and cannot be pulled."""
        if self.image_there is None:
            refuse_without_image(self.image)

    def look_at_engine(self) -> None:
        """Raise StateFailed where the engine has no such driver of logs, or no such runtime."""
        wanted = self.declared.body(self.image)["HostConfig"]
        refuse_without_driver("Log", (wanted.get("LogConfig") or {}).get("Type"))
        refuse_without_runtime(wanted.get("Runtime"))

    # -------------------------------------------------- differences

    def differences(self) -> Json:
        """Return what of the container that there is is not as declared."""
        if self.container is None or self.image_there is None:
            return {}
        return dict(
            self.declared.differences(
                self.container, self.image_there, networks=self.networks is not None
            )
        )

    def network_differences(self) -> dict[str, Json]:
        """Return what has to change on the networks of the container, by network."""
        if self.networks is None:
            return {}
        settings = (self.container or {}).get("NetworkSettings") or {}
        attached: dict[str, Json] = settings.get("Networks") or {}
        wanted = {docker.reported_name(name): value for name, value in self.networks.items()}
        result = {}
        for name, options in wanted.items():
            found = _network_changes(options, attached.get(name))
            if found:
                result[name] = found
        for name in attached.keys() - wanted.keys():
            if name not in NO_NETWORK or wanted:
                result[name] = {"IPConfiguration": {"old": "automatic", "new": "not connected"}}
        return result

    # -------------------------------------------------- the change

    def ensure(
        self, start: bool, force: bool, shutdown_timeout: int | None, client_timeout: int
    ) -> Planned:
        """Plan what is to be done, and do it."""
        self.look_at_image()
        making, networks = self.container is None, self.network_differences()
        different = {} if force or self.has_new_image else self.differences()
        replacing = not making and (force or self.has_new_image or bool(different))
        starting = making or (start and (replacing or self.state != "running"))
        if self.state == "paused" and starting and not replacing:
            raise StateFailed(f"Container '{self.name}' is paused, cannot start")
        if not (replacing or starting or networks):
            return f"Container '{self.name}' is already configured as specified"
        if making or replacing:
            self.look_at_engine()
        changes = self._changes(different, networks, replacing, starting)
        comments = _comments(self.name, making, replacing, bool(networks), starting)
        yield Plan(
            changes,
            sentences(*comments),
            exact=self.image_there is not None,
            why=PULLED if self.image_there is None else None,
            provides=[("docker_container", self.name)],
            reacted_by=("container_id",),  # a new network alone is no answer to a watch
        )
        done = []
        if self.image_there is None:
            changes["image"] = {**changes.get("image", {}), **self._pull(client_timeout)}
        if making:
            changes["container_id"] = {"added": self._create()}
            done.append(f"Created container '{self.name}'")
        elif replacing:
            changes["container_id"] = self._swap(shutdown_timeout)
            done.append(f"Replaced container '{self.name}'")
        elif networks:
            done += self._attach(networks)
        return self._started(changes, done, starting)

    def _changes(self, different: Json, networks: Json, replacing: bool, starting: bool) -> Json:
        changes: Json = {}
        if self.image_there is None or self.has_new_image:
            new = self.image_there["Id"] if self.image_there else self.image
            changes["image"] = {"old": self.container and self.container["Image"], "new": new}
        if different or networks:
            changes["container"] = {**different, **({"Networks": networks} if networks else {})}
        if self.container is None:
            changes["container_id"] = {"added": NEW}
        elif replacing:
            changes["container_id"] = {"removed": [self.container["Id"]], "added": NEW}
        after = "running" if starting else "stopped" if replacing else self.state
        if after != self.state:
            changes["state"] = {"old": self.state, "new": after}
        return changes

    def _pull(self, client_timeout: int) -> Json:
        try:
            docker.pull(self.image, client_timeout=client_timeout)
        except CommandFailed as failure:
            message = pull_failure(self.image, failure.message)
            raise StateFailed(message, changes={}, missing=image_facts(self.image)) from None
        return {"new": docker.inspect_image(self.image)["Id"]}

    def _create(self) -> str:
        try:
            made = docker.make(self.name, self.image, self.declared, self.networks)
        except CommandFailed as failure:
            raise StateFailed(failure.message, changes={}) from None
        return str(made["Id"])

    def _swap(self, timeout: int | None) -> Json:
        with explained(f"Failed to replace container '{self.name}'", changes={}):
            return docker.put_in_place(self.name, self.image, self.declared, self.networks, timeout)

    def _attach(self, changes: Mapping[str, Json]) -> list[str]:
        """Connect and disconnect the container that there is; comments."""
        settings = (self.container or {}).get("NetworkSettings") or {}
        attached = settings.get("Networks") or {}
        wanted = {docker.reported_name(name): name for name in self.networks or ()}
        done = []
        for name in sorted(changes, key=lambda item: item in wanted):  # `none` goes first
            if name in attached:
                docker.disconnect_container_from_network(self.name, name)
            if name not in wanted:
                done.append(f"Disconnected from network '{name}'")
                continue
            own = wanted[name]
            docker.connect_container_to_network(self.name, own, **(self.networks or {})[own])
            done.append(
                f"Reconnected to network '{own}' with updated configuration"
                if name in attached
                else f"Connected to network '{own}'"
            )
        return done

    def _started(self, changes: Json, done: list[str], starting: bool) -> Done:
        """The result, with the container started where it shall be."""
        if starting:
            try:
                after = docker.start(self.name)["state"]["new"]
            except CommandFailed as failure:
                message = f"Failed to start container '{self.name}': '{failure.message}'"
                changes.pop("state", None)
                raise StateFailed(sentences(*done, message), changes=changes) from None
            if after != "running":
                changes["state"] = {"old": self.state, "new": after}
                message = "Container is not running" + docker.last_words(self.name)
                raise StateFailed(sentences(*done, message), changes=changes)
            docker.check_at_end(self.name)
        if "state" in changes and self.state is not None:
            states = changes["state"]
            done.append(f"State changed from '{states['old']}' to '{states['new']}'")
        if self.has_new_image:
            done.append("Container has a new image")
        return Done(sentences(*done), changes)

    # -------------------------------------------------- to its end

    def run(self, bg: bool, failhard: bool, remove: bool, client_timeout: int, logs: Json) -> Done:
        """Run the container to its end, in place of one that is there."""
        with explained("Encountered error running container", changes={}):
            if self.image_there is None:
                self._pull(client_timeout)
            if self.container is not None:
                docker.rm(self.name, force=True)
            changes = docker.run_made(
                self.name, self.image, self.declared, self.networks, bg, remove, logs
            )
        if bg:
            return Done("Container was run in the background", changes)
        code = changes["ExitCode"]
        comment = f"Container ran and exited with a return code of {code}"
        if failhard and code != 0:
            raise StateFailed(comment, changes=changes)
        return Done(comment, changes)


def _comments(
    name: str, making: bool, replacing: bool, networks: bool, starting: bool
) -> list[str]:
    if making or replacing:
        return [f"Container '{name}' would be {'created' if making else 'replaced'}"]
    comments = ["Network configuration would be updated"] if networks else []
    return [*comments, *(["Container would be started"] if starting else [])]


def _network_changes(wanted: Mapping[str, Any], attached: Json | None) -> Json:
    """Return what has to change on a network; empty where nothing has."""
    address = wanted.get("ipv4_address")
    if attached is None:
        new = f"static: {address}" if address else "automatic"
        return {"IPConfiguration": {"old": None, "new": new}}
    result: Json = {}
    configured = attached.get("IPAMConfig") or {}
    for key, field, old in (
        ("ipv4_address", "IPv4Address", configured.get("IPv4Address") or attached.get("IPAddress")),
        (
            "ipv6_address",
            "IPv6Address",
            configured.get("IPv6Address") or attached.get("GlobalIPv6Address"),
        ),
    ):
        # one that does not run has no address yet where the engine reports no other
        if wanted.get(key) and old and wanted[key] != old:
            result[field] = {"old": old, "new": wanted[key]}
    aliases = attached.get("Aliases") or []
    if not set(wanted.get("aliases") or ()) <= set(aliases):
        result["Aliases"] = {"old": aliases, "new": wanted["aliases"]}
    return result
