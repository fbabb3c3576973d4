# SPDX-License-Identifier: Apache-2.0
"""How containers, images, networks and volumes are tried: on a stand-in for Docker that answers in
the form of its API (tests/support/engine.py). tests/machine/test_containers.py has a real Podman.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine import Engine, start_engine
from laws import Scenario

Prepare = Callable[[Engine], object]


def container(state: str = "running", **body: Any) -> Prepare:
    """Have a container named web."""

    def prepare(engine: Engine) -> None:
        engine.create({"name": "web"}, {"Image": "box:1", **body})
        for action in {"running": ["start"], "paused": ["start", "pause"]}.get(state, []):
            engine.change("web", action, {})

    return prepare


def both(*prepares: Prepare) -> Prepare:
    return lambda engine: [prepare(engine) for prepare in prepares]


def on(
    function: str,
    prepare: Prepare = lambda engine: None,
    plans: bool = True,
    fails: str | None = None,
    breaks: str | None = None,
    converges: bool = True,
    **args: Any,
) -> Scenario:
    """A scenario with an engine that has the image box:1."""

    def setup(tmp: Path) -> None:
        (tmp / "build").mkdir()
        (tmp / "build" / "Dockerfile").write_text("FROM box:1\n")
        (tmp / "box.tar").write_bytes(b"an image")
        engine = start_engine(tmp / "engine.json")
        prepare(engine)
        engine.save()

    args.setdefault("name", "web")
    return Scenario(
        f"docker_{function}", args, setup, plans and not fails, fails, breaks, converges=converges
    )


WEB: Prepare = lambda engine: engine.add_network("front", {})  # noqa: E731
NETS = both(WEB, lambda engine: engine.add_network("back", {}))
POOL = {"Config": [{"Subnet": "10.50.0.0/24", "Gateway": "10.50.0.1"}]}
SCENARIOS = [
    on(
        "container.running",
        image="box:1",
        command="sleep 5",
        env="A=1",
        binds="/srv:/srv:ro",
        port_bindings=["8080:80"],
        client_timeout=30,
        restart_policy="always",
    ),
    on("container.running", container(), plans=False, image="box:1"),
    on("container.running", container("stopped"), image="box:1"),
    on("container.running", container("stopped"), plans=False, image="box:1", start=False),
    on("container.running", container(), image="box:1", user="nobody", shutdown_timeout=1),
    on("container.running", container(Tty=True), image="box:1", start=False),
    on("container.running", container(), image="box:1", force=True, converges=False),
    on("container.running", container(), image="nginx:1"),
    on("container.running", image="app:2"),
    on("container.running", fails="manifest for none:3 not found", image="none:3"),
    on("container.running", fails="The 'image' argument is required"),
    on(
        "container.running",
        fails="'x' is not a valid IP address",
        image="box:1",
        dns="x",
        shm_size="much",
    ),
    on("container.running", image="box:1", extra_hosts="a:x", validate_ip_addrs=False),
    on(
        "container.running",
        image="box:1",
        skip_translate="labels",
        labels={"a": "b,c"},
        watch_action="SIGHUP",
    ),
    on("container.running", fails="cannot both be used", image="box:1", cmd="a", command="b"),
    on("container.running", image="box:1", cmd="a", command="b", ignore_collisions=True),
    on("container.running", container("paused"), fails="is paused", image="box:1"),
    on("container.running", NETS, image="box:1", networks=[{"front": [{"aliases": "w"}]}, "back"]),
    on("container.running", both(NETS, container()), image="box:1", networks="front"),
    on("container.running", image="box:1", networks=[]),
    on("container.running", fails="are not present: nowhere", image="box:1", networks="nowhere"),
    on(
        "container.running",
        fails="has no option 'alias'",
        image="box:1",
        networks=[{"a": {"alias": 1}}],
    ),
    on("container.running", breaks="it exited with code 1", image="box:1", command="false"),
    on("container.stopped", container(), shutdown_timeout=1),
    on("container.stopped", container("paused"), unpause=True),
    on("container.stopped", container("paused"), fails="are paused: web"),
    on("container.stopped", container("stopped"), plans=False),
    on("container.stopped", fails="are absent: web"),
    on("container.stopped", plans=False, error_on_absent=False, containers=["a", "b"]),
    on("container.absent", container("stopped")),
    on("container.absent", container(), force=True),
    on("container.absent", container(), fails="set force to True"),
    on("container.absent", plans=False),
    on(
        "container.run",
        converges=False,
        image="app:2",
        command="sleep 1",
        rm=True,
        tail=3,
        client_timeout=30,
        networks=[],
        skip_translate="command",
        ignore_collisions=True,
        validate_ip_addrs=False,
    ),
    on("container.run", image="box:1", bg=True, replace=True, force=True, converges=False),
    on("container.run", container(), fails="already exists", image="box:1"),
    on("container.run", container(), fails="is running, use force", image="box:1", replace=True),
    on("container.run", breaks="return code of 1", image="box:1", cmd="false"),
    on("container.run", image="box:1", cmd="false", failhard=False, converges=False),
    on("image.present", name="nginx", tag=1, client_timeout=5, insecure_registry=True),
    on("image.present", plans=False, name="box:1"),
    on("image.present", fails="manifest unknown", name="nginx", tag="0"),
    on("image.present", name="own", tag="1", load="{tmp}/box.tar"),
    on(
        "image.present", name="own", tag="1", load="{tmp}/none.tar", fails="none.tar does not exist"
    ),
    on(
        "image.present",
        name="own",
        tag="1",
        build="{tmp}/build",
        dockerfile="Dockerfile",
        buildargs={"a": 1},
    ),
    on("image.present", name="box", tag="1", build="{tmp}/build", force=True, converges=False),
    on("image.present", name="own", tag="1", build="{tmp}", fails="There is no /"),
    on("image.present", name="own", tag="1", build="app", fails="neither an absolute path nor"),
    on("image.present", name="own", tag="1", build="https://x/a.git"),
    on("image.present", name="own", build="{tmp}", fails="The 'tag' argument is required"),
    on("image.absent", name="box:1"),
    on("image.absent", images=["box:1", "none"]),
    on("image.absent", plans=False, name="none"),
    on("image.absent", container(), name="box:1", breaks="container is using it"),
    on("image.absent", container(), name="box:1", force=True),
    on("network.present", labels=["a=b", "c"], driver_opts="mtu=1400", attachable=True),
    on(
        "network.present",
        container(),
        containers="web",
        subnet="10.50.0.0/24",
        iprange="10.50.0.128/25",
        gateway="10.50.0.1",
        aux_addresses=["a=10.50.0.5"],
        name="front",
    ),
    on("network.present", WEB, plans=False, name="front"),
    on(
        "network.present",
        both(WEB, container(HostConfig={"NetworkMode": "front"})),
        name="front",
        internal=True,
        driver="bridge",
    ),
    on(
        "network.present",
        both(WEB, container(HostConfig={"NetworkMode": "front"})),
        name="front",
        enable_ipv6=True,
        reconnect=False,
        ipam_pools=[{"subnet": "10.51.0.0/24"}, {"subnet": "fd00:5::/64"}],
    ),
    on(
        "network.present",
        scope="local",
        ingress=False,
        options={"a": "b"},
        ipam=POOL,
        ignore_collisions=True,
        skip_translate=True,
    ),
    on(
        "network.present",
        ipam_driver="default",
        ipam_opts="a=b",
        validate_ip_addrs=False,
        subnet="x",
    ),
    on("network.present", fails="'x' is not a valid subnet", subnet="x"),
    on("network.absent", WEB, name="front"),
    on("network.absent", both(WEB, container(HostConfig={"NetworkMode": "front"})), name="front"),
    on("network.absent", plans=False),
    on("volume.present", name="data", driver="local", driver_opts=["type=tmpfs", {"device": "x"}]),
    on("volume.present", lambda e: e.create_volume({"Name": "data"}), plans=False, name="data"),
    on(
        "volume.present",
        lambda e: e.create_volume({"Name": "data"}),
        name="data",
        driver="other",
        force=True,
    ),
    on(
        "volume.present",
        lambda e: e.create_volume({"Name": "data"}),
        name="data",
        driver="other",
        fails="and force is False",
    ),
    on("container.running", image="box:1", log_driver="nosuch", fails="no log driver nosuch; it"),
    on("container.running", image="box:1", log_driver="none", runtime="runc"),
    on(
        "container.running", image="box:1", runtime="nosuch", fails="no runtime nosuch; it has runc"
    ),
    on("container.run", image="box:1", runtime="nosuch", fails="no runtime nosuch; it has runc"),
    on("volume.present", name="data", driver="nosuch", fails="no volume driver nosuch; it has"),
    on("network.present", driver="nosuch", fails="no network driver nosuch; it has bridge"),
    on("volume.absent", lambda e: e.create_volume({"Name": "data"}), name="data", driver="local"),
    on("volume.absent", plans=False, name="data"),
]
