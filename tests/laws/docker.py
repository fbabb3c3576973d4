# SPDX-License-Identifier: Apache-2.0
"""How containers, images, networks and volumes are tried: on a stand-in for Docker that answers in
the form of its API (tests/support/engine.py). tests/machine/test_containers.py has a real Podman.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine import Engine, start_engine
from laws import Scenario, scenario

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


def on(function: str, prepare: Prepare = lambda engine: None, /, **given: Any) -> Scenario:
    """A scenario with an engine that has the image box:1."""

    def setup(tmp: Path) -> None:
        (tmp / "build").mkdir()
        (tmp / "build" / "Dockerfile").write_text("FROM box:1\n")
        (tmp / "box.tar").write_bytes(b"an image")
        engine = start_engine(tmp / "engine.json")
        prepare(engine)
        engine.save()

    return scenario(f"docker_{function}", setup, **{"name": "web", **given})


WEB: Prepare = lambda engine: engine.add_network("front", {})  # noqa: E731
NETS = both(WEB, lambda engine: engine.add_network("back", {}))
POOL = {"Config": [{"Subnet": "10.50.0.0/24", "Gateway": "10.50.0.1"}]}
SCENARIOS = [
    on(
        "container.running image=box:1 command='sleep 5' env=A=1 binds=/srv:/srv:ro"
        " port_bindings=[8080:80] client_timeout=30 restart_policy=always"
    ),
    on("container.running image=box:1", container(), plans=False),
    on("container.running image=box:1", container("stopped")),
    on("container.running image=box:1 start=false", container("stopped"), plans=False),
    on("container.running image=box:1 user=nobody shutdown_timeout=1", container()),
    on("container.running image=box:1 start=false", container(Tty=True)),
    on("container.running image=box:1 force=true", container(), converges=False),
    on("container.running image=nginx:1", container()),
    on("container.running image=app:2"),
    on("container.running image=none:3", fails="manifest for none:3 not found"),
    on("container.running", fails="The 'image' argument is required"),
    on("container.running image=box:1 dns=x shm_size=much", fails="'x' is not a valid IP address"),
    on("container.running image=box:1 extra_hosts=a:x validate_ip_addrs=false"),
    on(
        "container.running image=box:1 skip_translate=labels watch_action=SIGHUP",
        labels={"a": "b,c"},
    ),
    on("container.running image=box:1 cmd=a command=b", fails="cannot both be used"),
    on("container.running image=box:1 cmd=a command=b ignore_collisions=true"),
    on("container.running image=box:1", container("paused"), fails="is paused"),
    on("container.running image=box:1 networks='[{front: [{aliases: w}]},back]'", NETS),
    on("container.running image=box:1 networks=front", both(NETS, container())),
    on("container.running image=box:1 networks=[]"),
    on("container.running image=box:1 networks=nowhere", fails="are not present: nowhere"),
    on("container.running image=box:1 networks='[{a: {alias: 1}}]'", fails="has no option 'alias'"),
    on("container.running image=box:1", breaks="it exited with code 1", command="false"),
    on("container.stopped shutdown_timeout=1", container()),
    on("container.stopped unpause=true", container("paused")),
    on("container.stopped", container("paused"), fails="are paused: web"),
    on("container.stopped", container("stopped"), plans=False),
    on("container.stopped", fails="are absent: web"),
    on("container.stopped error_on_absent=false containers=[a,b]", plans=False),
    on("container.absent", container("stopped")),
    on("container.absent force=true", container()),
    on("container.absent", container(), fails="set force to True"),
    on("container.absent", plans=False),
    on(
        "container.run image=app:2 command='sleep 1' rm=true tail=3 client_timeout=30"
        " networks=[] skip_translate=command ignore_collisions=true validate_ip_addrs=false",
        converges=False,
    ),
    on("container.run image=box:1 bg=true replace=true force=true", converges=False),
    on("container.run image=box:1", container(), fails="already exists"),
    on("container.run image=box:1 replace=true", container(), fails="is running, use force"),
    on("container.run image=box:1", breaks="return code of 1", cmd="false"),
    on("container.run image=box:1 failhard=false", cmd="false", converges=False),
    on("image.present name=nginx tag=1 client_timeout=5 insecure_registry=true"),
    on("image.present name=box:1", plans=False),
    on("image.present name=nginx", fails="manifest unknown", tag="0"),
    on("image.present name=own load={tmp}/box.tar", tag="1"),
    on("image.present name=own load={tmp}/none.tar", tag="1", fails="none.tar does not exist"),
    on(
        "image.present name=own build={tmp}/build dockerfile=Dockerfile buildargs='{a: 1}'", tag="1"
    ),
    on("image.present name=box build={tmp}/build force=true", tag="1", converges=False),
    on("image.present name=own", tag="1", build="{tmp}", fails="There is no /"),
    on("image.present name=own build=app", tag="1", fails="neither an absolute path nor"),
    on("image.present name=own build=https://x/a.git", tag="1"),
    on("image.present name=own", build="{tmp}", fails="The 'tag' argument is required"),
    on("image.absent name=box:1"),
    on("image.absent images=[box:1,none]"),
    on("image.absent name=none", plans=False),
    on("image.absent name=box:1", container(), breaks="container is using it"),
    on("image.absent name=box:1 force=true", container()),
    on("network.present labels=[a=b,c] driver_opts=mtu=1400 attachable=true"),
    on(
        "network.present containers=web subnet=10.50.0.0/24 iprange=10.50.0.128/25"
        " gateway=10.50.0.1 aux_addresses=[a=10.50.0.5] name=front",
        container(),
    ),
    on("network.present name=front", WEB, plans=False),
    on(
        "network.present name=front internal=true driver=bridge",
        both(WEB, container(HostConfig={"NetworkMode": "front"})),
    ),
    on(
        "network.present name=front enable_ipv6=true reconnect=false"
        " ipam_pools='[{subnet: 10.51.0.0/24},{subnet: fd00:5::/64}]'",
        both(WEB, container(HostConfig={"NetworkMode": "front"})),
    ),
    on(
        "network.present scope=local ingress=false options='{a: b}' ignore_collisions=true"
        " skip_translate=true",
        ipam=POOL,
    ),
    on("network.present ipam_driver=default ipam_opts=a=b validate_ip_addrs=false subnet=x"),
    on("network.present subnet=x", fails="'x' is not a valid subnet"),
    on("network.absent name=front", WEB),
    on("network.absent name=front", both(WEB, container(HostConfig={"NetworkMode": "front"}))),
    on("network.absent", plans=False),
    on("volume.present name=data driver=local driver_opts='[type=tmpfs,{device: x}]'"),
    on("volume.present name=data", lambda e: e.create_volume({"Name": "data"}), plans=False),
    on(
        "volume.present name=data driver=other force=true",
        lambda e: e.create_volume({"Name": "data"}),
    ),
    on(
        "volume.present name=data driver=other",
        lambda e: e.create_volume({"Name": "data"}),
        fails="and force is False",
    ),
    on("container.running image=box:1 log_driver=nosuch", fails="no log driver nosuch; it"),
    on("container.running image=box:1 log_driver=none runtime=runc"),
    on("container.running image=box:1 runtime=nosuch", fails="no runtime nosuch; it has runc"),
    on("container.run image=box:1 runtime=nosuch", fails="no runtime nosuch; it has runc"),
    on("volume.present name=data driver=nosuch", fails="no volume driver nosuch; it has"),
    on("network.present driver=nosuch", fails="no network driver nosuch; it has bridge"),
    on("volume.absent name=data driver=local", lambda e: e.create_volume({"Name": "data"})),
    on("volume.absent name=data", plans=False),
]
