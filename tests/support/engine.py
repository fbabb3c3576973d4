# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Docker: its API on a Unix socket, as far as tests need it, in this process.

It answers in Docker's form, written after the documentation of its API. What there is stands in a
JSON file, so that a test can see whether anything was changed.
"""

from __future__ import annotations

import atexit
import copy
import functools
import http.server
import itertools
import json
import os
import re
import socketserver
import tempfile
import threading
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
# what Docker reports of a container that asks for nothing
CONFIG: Json = {
    "Domainname": "",
    "User": "",
    "AttachStdin": False,
    "AttachStdout": False,
    "AttachStderr": False,
    "Tty": False,
    "OpenStdin": False,
    "StdinOnce": False,
    "Volumes": None,
    "WorkingDir": "",
    "Entrypoint": None,
    "OnBuild": None,
}
HOST_CONFIG: Json = {
    "Binds": None,
    "ContainerIDFile": "",
    "LogConfig": {"Type": "json-file", "Config": {}},
    "NetworkMode": "bridge",
    "PortBindings": {},
    "AutoRemove": False,
    "VolumeDriver": "",
    "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
    "VolumesFrom": None,
    "ConsoleSize": [0, 0],
    "CapAdd": None,
    "CapDrop": None,
    "CgroupnsMode": "private",
    "Dns": [],
    "DnsOptions": [],
    "DnsSearch": [],
    "ExtraHosts": None,
    "GroupAdd": None,
    "IpcMode": "private",
    "Cgroup": "",
    "Links": None,
    "OomScoreAdj": 0,
    "PidMode": "",
    "Privileged": False,
    "PublishAllPorts": False,
    "ReadonlyRootfs": False,
    "SecurityOpt": None,
    "UTSMode": "",
    "UsernsMode": "",
    "ShmSize": 67108864,
    "Runtime": "runc",
    "Isolation": "",
    "CpuShares": 0,
    "Memory": 0,
    "NanoCpus": 0,
    "CgroupParent": "",
    "BlkioWeight": 0,
    "BlkioWeightDevice": [],
    "BlkioDeviceReadBps": [],
    "BlkioDeviceWriteBps": [],
    "BlkioDeviceReadIOps": [],
    "BlkioDeviceWriteIOps": [],
    "CpuPeriod": 0,
    "CpuQuota": 0,
    "CpuRealtimePeriod": 0,
    "CpuRealtimeRuntime": 0,
    "CpusetCpus": "",
    "CpusetMems": "",
    "Devices": [],
    "DeviceCgroupRules": None,
    "DeviceRequests": None,
    "MemoryReservation": 0,
    "MemorySwap": 0,
    "Ulimits": [],
    "MemorySwappiness": None,
    "OomKillDisable": None,
    "PidsLimit": None,
    "CpuCount": 0,
    "CpuPercent": 0,
    "IOMaximumIOps": 0,
    "IOMaximumBandwidth": 0,
}
IMAGE_CONFIG: Json = {
    "Env": ["PATH=/usr/bin:/bin", "FROM=image"],
    "Cmd": ["sleep", "1000"],
    "Entrypoint": None,
    "Labels": {"by": "test"},
    "WorkingDir": "",
    "User": "",
}
PLUGINS = {
    "Volume": ["local", "other"],
    "Network": ["bridge", "host", "macvlan", "null"],
    "Log": ["json-file", "journald", "local", "syslog"],
}
INFO = {"Driver": "overlay2", "Plugins": PLUGINS, "Runtimes": {"runc": {}}}
EMPTY_NETWORK: Json = {
    "Scope": "local",
    "Driver": "bridge",
    "EnableIPv6": False,
    "Internal": False,
    "Attachable": False,
    "Ingress": False,
    "Options": {},
    "Labels": {},
    "Containers": {},
}


class Refusal(Exception):
    """An answer with an error: its status and text."""


class Engine:
    """What there is, and what requests make of it. registry: the images that can be pulled."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.registry = {"nginx:1", "app:2"}
        self.numbers = itertools.count(1)
        self.things: Json = {"containers": {}, "images": {}, "networks": {}, "volumes": {}}
        self.image("box:1")
        self.add_network("bridge", {})
        self.save()

    def save(self) -> None:
        self.path.write_text(json.dumps(self.things, indent=1, sort_keys=True))

    def id(self, kind: int) -> str:
        return f"{kind:x}{next(self.numbers):063x}"

    def image(self, name: str, **config: Any) -> Json:
        """Add an image."""
        made = {
            "Id": "sha256:" + self.id(10),
            "RepoTags": [name],
            "Config": {**IMAGE_CONFIG, **config},
        }
        self.things["images"][name] = made
        return made

    def add_network(self, name: str, body: Json) -> Json:
        if body.get("Driver") not in (None, *PLUGINS["Network"]):
            raise Refusal(404, f"could not find plugin {body['Driver']}: plugin not found")
        pools = (body.get("IPAM") or {}).get("Config") or [
            {"Subnet": "172.17.0.0/16", "Gateway": "172.17.0.1"}
        ]
        driver = (body.get("IPAM") or {}).get("Driver") or "default"
        given = {key: value for key, value in body.items() if value is not None and key != "IPAM"}
        ipam = {"Driver": driver, "Options": {}, "Config": pools}
        made = {
            **copy.deepcopy(EMPTY_NETWORK),
            **given,
            "Name": name,
            "Id": self.id(11),
            "IPAM": ipam,
        }
        self.things["networks"][name] = made
        return made

    # -------------------------------------------------- looks

    def find(self, kind: str, name: str) -> Json:
        """A thing by its name or ID."""
        for key, value in self.things[kind].items():
            own = value.get("Id", "")
            bare = own.removeprefix("sha256:")
            if name in (key, own) or (len(name) >= 12 and bare.startswith(name)):
                return value  # type: ignore[no-any-return]
        if kind == "images" and ":" not in name.rpartition("/")[2]:
            return self.find(kind, f"{name}:latest")
        raise Refusal(404, f"No such {kind.removesuffix('s')}: {name}")

    def answer(self, method: str, path: str, query: Json, body: Any) -> Any:
        """The answer to a request; a list is a stream of messages."""
        for verb, pattern, function in ROUTES:
            match = re.fullmatch(pattern, path)
            if verb == method and match:
                try:
                    return function(self, *match.groups(), query=query, body=body)
                finally:
                    if method != "GET":
                        self.save()
        raise Refusal(404, "page not found")

    def inspect(self, name: str) -> Json:
        return self.find("containers", name)

    def listed(self, query: Json) -> list[Json]:
        return [
            {
                "Id": item["Id"],
                "Names": [item["Name"]],
                "Image": item["Config"]["Image"],
                "State": item["State"]["Status"],
                "Created": 1000000000,
                "Ports": [],
            }
            for item in self.things["containers"].values()
            if item["State"]["Running"] or query.get("all") in ("1", "True")
        ]

    # -------------------------------------------------- containers

    def create(self, query: Json, body: Json) -> Json:
        image = self.find("images", body["Image"])
        name = query.get("name") or f"nameless{next(self.numbers)}"
        if name in self.things["containers"]:
            raise Refusal(409, f'The container name "/{name}" is already in use')
        host = body.pop("HostConfig", {})
        endpoints = (body.pop("NetworkingConfig", None) or {}).get("EndpointsConfig") or {}
        config = {**copy.deepcopy(CONFIG), **_with_image(body, image["Config"])}
        made = {
            "Id": self.id(12),
            "Name": f"/{name}",
            "Image": image["Id"],
            "Config": {"Hostname": "0123456789ab", **config},
            "HostConfig": {**copy.deepcopy(HOST_CONFIG), **host},
            "Mounts": [],
            "NetworkSettings": {"Ports": {}, "Networks": {}},
        }
        made["State"] = _state("created")
        self.things["containers"][name] = made
        mode = made["HostConfig"]["NetworkMode"]
        for network in endpoints or ([mode] if mode not in ("none", "host") else []):
            self.attach(network, made, endpoints.get(network) or {})
        return {"Id": made["Id"], "Warnings": []}

    def change(self, name: str, action: str, query: Json) -> Any:
        container = self.inspect(name)
        state = container["State"]["Status"]
        if action == "rename":
            old = container["Name"].lstrip("/")
            self.things["containers"][query["name"]] = self.things["containers"].pop(old)
            container["Name"] = "/" + query["name"]
        elif action == "wait":
            container["State"] = _state("exited", container["State"]["ExitCode"])
            return {"StatusCode": container["State"]["ExitCode"]}
        elif action == "start" and "false" in (container["Config"].get("Cmd") or ()):
            container["State"] = _state("exited", 1)
        elif action == "kill" and query.get("signal") not in (None, "SIGKILL", "KILL", "9"):
            container["State"]["Signals"] = [query["signal"]]
        elif action in ("start", "restart", "unpause"):
            container["State"] = _state("running")
        elif action == "pause":
            container["State"] = _state("paused")
        elif state in ("running", "paused"):
            container["State"] = _state("exited", 137)
            if container["HostConfig"]["AutoRemove"]:
                del self.things["containers"][container["Name"].lstrip("/")]
        return None

    def remove(self, name: str, query: Json) -> None:
        container = self.inspect(name)
        if container["State"]["Running"] and query.get("force") != "True":
            raise Refusal(409, "You cannot remove a running container")
        for network in list(container["NetworkSettings"]["Networks"]):
            self.detach(network, container)
        del self.things["containers"][container["Name"].lstrip("/")]

    # -------------------------------------------------- networks

    def attach(self, network: str, container: Json, settings: Json) -> None:
        there = self.find("networks", "bridge" if network == "default" else network)
        there["Containers"][container["Id"]] = {"Name": container["Name"].lstrip("/")}
        container["NetworkSettings"]["Networks"][there["Name"]] = {
            "IPAMConfig": settings.get("IPAMConfig"),
            "Aliases": settings.get("Aliases"),
            "Links": settings.get("Links"),
            "IPAddress": "172.17.0.2",
        }

    def detach(self, network: str, container: Json) -> None:
        self.find("networks", network)["Containers"].pop(container["Id"], None)
        container["NetworkSettings"]["Networks"].pop(network, None)

    def remove_network(self, name: str) -> None:
        network = self.find("networks", name)
        if network["Containers"]:
            raise Refusal(403, f"error while removing network: network {name} has active endpoints")
        del self.things["networks"][network["Name"]]

    # -------------------------------------------------- images

    def pull(self, query: Json) -> list[Json]:
        name = f"{query['fromImage']}:{query.get('tag') or 'latest'}"
        self.distribution(name)
        self.image(name)
        return [
            {"status": "Pull complete", "id": "0a1b2c3d4e5f"},
            {"status": f"Status: Downloaded newer image for {name}"},
        ]

    def distribution(self, name: str) -> Json:
        if name not in self.registry:
            raise Refusal(404, f"manifest for {name} not found: manifest unknown")
        return {"Descriptor": {"digest": "sha256:0"}}

    def build(self, query: Json) -> list[Json]:
        made = self.image(query["t"])
        return [{"stream": "Step 1/1\n"}, {"stream": f"Successfully built {made['Id'][7:19]}\n"}]

    def load(self) -> list[Json]:
        self.image("loaded:0")
        return [{"stream": "Loaded image: loaded:0\n"}]

    def tag(self, name: str, query: Json) -> None:
        image = self.find("images", name)
        alias = f"{query['repo']}:{query['tag']}"
        self.things["images"][alias] = {**image, "RepoTags": [alias]}

    def untag(self, name: str, query: Json) -> list[Json]:
        image = self.find("images", name)
        users = [c for c in self.things["containers"].values() if c["Image"] == image["Id"]]
        if users and query.get("force") != "True":
            raise Refusal(409, f"conflict: unable to remove {name}: container is using it")
        del self.things["images"][image["RepoTags"][0]]
        return [{"Untagged": name}]

    # -------------------------------------------------- volumes

    def create_volume(self, body: Json) -> Json:
        driver = body.get("Driver") or "local"
        if driver not in PLUGINS["Volume"]:
            raise Refusal(400, f'plugin "{driver}" not found')
        made = {
            "Name": body["Name"],
            "Driver": driver,
            "Options": body.get("DriverOpts"),
            "Mountpoint": f"/var/lib/docker/volumes/{body['Name']}/_data",
            "Labels": {},
        }
        self.things["volumes"][body["Name"]] = made
        return made

    def remove_volume(self, name: str) -> None:
        self.find("volumes", name)
        del self.things["volumes"][name]


def _with_image(body: Json, image: Json) -> Json:
    """The configuration of a container: what is not asked for is the image's."""
    result = {**image, **{key: value for key, value in body.items() if value is not None}}
    own = {item.partition("=")[0] for item in body.get("Env") or []}
    inherited = [item for item in image["Env"] if item.partition("=")[0] not in own]
    result["Env"] = [*(body.get("Env") or []), *inherited]
    result["Labels"] = {**(image["Labels"] or {}), **(body.get("Labels") or {})}
    if body.get("Entrypoint") and not body.get("Cmd"):
        result["Cmd"] = None
    return result


def _state(status: str, code: int = 0) -> Json:
    return {
        "Status": status,
        "Running": status in ("running", "paused"),
        "ExitCode": code,
        "Paused": status == "paused",
        "Pid": 77 if status == "running" else 0,
    }


def _attach(engine: Engine, name: str, query: Json, body: Json) -> None:
    container = engine.inspect(body["Container"])
    engine.attach(name, container, body.get("EndpointConfig") or {})


Route = Callable[..., Any]
_C, _N, _V, _I = r"/containers/([^/]+)", r"/networks/([^/]+)", r"/volumes/([^/]+)", r"/images/(.+)"
ROUTES: list[tuple[str, str, Route]] = [
    ("GET", "/version", lambda e, query, body: VERSION),
    ("GET", "/info", lambda e, query, body: INFO),
    ("GET", "/containers/json", lambda e, query, body: e.listed(query)),
    ("POST", "/containers/create", lambda e, query, body: e.create(query, body)),
    ("GET", f"{_C}/json", lambda e, n, query, body: e.inspect(n)),
    ("GET", f"{_C}/logs", lambda e, n, query, body: b"\1\0\0\0\0\0\0\6words\n"),
    ("DELETE", _C, lambda e, n, query, body: e.remove(n, query)),
    ("POST", rf"{_C}/([a-z]+)", lambda e, n, action, query, body: e.change(n, action, query)),
    ("GET", "/images/json", lambda e, query, body: list(e.things["images"].values())),
    ("POST", "/images/create", lambda e, query, body: e.pull(query)),
    ("POST", "/images/load", lambda e, query, body: e.load()),
    ("POST", "/build", lambda e, query, body: e.build(query)),
    ("GET", f"{_I}/json", lambda e, n, query, body: e.find("images", n)),
    ("POST", f"{_I}/tag", lambda e, n, query, body: e.tag(n, query)),
    ("DELETE", _I, lambda e, n, query, body: e.untag(n, query)),
    ("GET", "/distribution/(.+)/json", lambda e, n, query, body: e.distribution(n)),
    ("GET", "/networks", lambda e, query, body: list(e.things["networks"].values())),
    ("POST", "/networks/create", lambda e, query, body: e.add_network(body.pop("Name"), body)),
    ("GET", _N, lambda e, n, query, body: e.find("networks", n)),
    ("DELETE", _N, lambda e, n, query, body: e.remove_network(n)),
    ("POST", f"{_N}/connect", _attach),
    (
        "POST",
        f"{_N}/disconnect",
        lambda e, n, query, body: e.detach(n, e.inspect(body["Container"])),
    ),
    ("GET", "/volumes", lambda e, query, body: {"Volumes": list(e.things["volumes"].values())}),
    ("POST", "/volumes/create", lambda e, query, body: e.create_volume(body)),
    ("GET", _V, lambda e, n, query, body: e.find("volumes", n)),
    ("DELETE", _V, lambda e, n, query, body: e.remove_volume(n)),
]
VERSION = {
    "Version": "27.3.1",
    "ApiVersion": "1.47",
    "MinAPIVersion": "1.24",
    "Os": "linux",
    "Components": [{"Name": "Engine", "Version": "27.3.1"}],
}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _answer(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(re.sub(r"^/v[\d.]+(?=/)", "", url.path))
        query = dict(urllib.parse.parse_qsl(url.query))
        data = self._body()
        is_json = self.headers.get("Content-Type") == "application/json" and data
        try:
            body = json.loads(data) if is_json else {}
            answer = self.server.engine.answer(self.command, path, query, body)
            if self.command == "POST" and isinstance(answer, list):
                self._stream(answer)
            else:
                self._send(200, _encoded(answer))
        except Refusal as refusal:
            status, message = refusal.args
            self._send(status, json.dumps({"message": message}).encode())

    do_GET = do_POST = do_DELETE = _answer

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
            return b""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, messages: list[Json]) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for message in messages:
            line = json.dumps(message).encode() + b"\r\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")

    def address_string(self) -> str:
        return "local"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _encoded(answer: Any) -> bytes:
    if isinstance(answer, bytes):
        return answer
    return b"" if answer is None else json.dumps(answer).encode()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    engine: Engine


@functools.cache
def _server() -> _Server:
    """The server of this process; its folder goes with it."""
    folder = tempfile.TemporaryDirectory(prefix="engine-")  # the path of a socket has to be short
    atexit.register(folder.cleanup)
    server = _Server(f"{folder.name}/sock", _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def start_engine(path: Path) -> Engine:
    """An engine whose things stand in a file, instead of the last one; DOCKER_HOST leads to it."""
    server = _server()
    server.engine = Engine(path)
    os.environ["DOCKER_HOST"] = f"unix://{server.server_address!s}"
    return server.engine
