# SPDX-License-Identifier: Apache-2.0
"""What a dry run fetches from web servers, and what it says where it does not."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import tarfile
from typing import Any, ClassVar

import pytest
from command import Machine
from serving import served

TEXT = b"one\n"


def _archive() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        member = tarfile.TarInfo("top/conf")
        member.size = len(TEXT)
        archive.addfile(member, io.BytesIO(TEXT))
    return made.getvalue()


class Web(http.server.BaseHTTPRequestHandler):
    """Gives what FILES has, one without saying how large it is."""

    FILES: ClassVar[dict[str, bytes]] = {
        "/conf": TEXT,
        "/large": bytes((1 << 20) + 1),
        "/endless": bytes((1 << 20) + 1),
        "/top.tar": _archive(),
    }
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        data = self.FILES[self.path]
        self.send_response(200)
        if self.path != "/endless":
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def web(machine: Machine) -> str:
    """A server, and a tree that takes its files."""
    url = served(Web)
    Web.asked.clear()
    states = {
        "conf": {"file.managed": [{"name": "{tmp}/conf"}, {"source": f"{url}/conf"}]},
        "top": {"archive.extracted": [{"name": "{tmp}/top"}, {"source": f"{url}/top.tar"}]},
        "more": {"file.append": [{"name": "{tmp}/top/top/conf"}, {"text": "two"}]},
        "cached": {"file.cached": [{"name": f"{url}/conf"}]},
        "guard": {"cmd.run": [{"name": "true"}, {"creates": "{tmp}/top/top/conf"}]},
        "own": {"file.managed": [{"name": "{tmp}/own"}, {"contents": "x"}]},
    }
    for name in ("conf", "top", "cached"):
        next(iter(states[name].values())).append({"skip_verify": True})
    machine.write(all=json.dumps(states))
    return url


def dry(machine: Machine, name: str = "all", **foresee: object) -> dict[str, Any]:
    machine.config["foresee"] = foresee
    return machine.results("sls", name, "--test")


def test_what_is_downloaded_is_there_for_later_states(machine: Machine, web: str) -> None:
    planned = dry(machine)
    real = machine.results("sls", "all")
    assert "+two" in planned["more"]["changes"]["diff"]
    for name, result in real.items():
        assert planned[name]["changes"] == result["changes"], name
    assert planned["guard"]["result"] is True


def test_without_downloads_nothing_is_asked_for(machine: Machine, web: str) -> None:
    planned = dry(machine, downloads=False)
    assert not Web.asked
    undecided = {name for name, result in planned.items() if result["result"] is None}
    assert undecided == {*planned}
    assert planned.pop("own")["changes"], "which takes nothing from there"
    assert not any(result["changes"] for result in planned.values())
    assert planned["conf"]["comment"] == (
        f"What {web}/conf has is not known: `foresee: {{downloads: true}}` has it fetched"
    )
    for name in ("more", "guard"):
        assert planned[name]["__decided_by__"] == "archive: top"
    report = machine("sls", "all", "--test", "--explain").stdout
    assert "5 undecided" in report
    conf = f"file.managed  conf ({machine.folder}/conf)"
    assert f"Not known, as they say:\n  {conf}\n" in report


def test_what_is_there_already_needs_no_download(machine: Machine, web: str) -> None:
    found = hashlib.sha256(TEXT).hexdigest()
    states = {
        name: {"file.managed": [{"source": f"{web}/conf"}, {"source_hash": f"sha256={found}"}]}
        for name in (f"{machine.folder}/old", f"{machine.folder}/new")
    }
    machine.write(conf=json.dumps(states))
    machine.folder.joinpath("old").write_bytes(TEXT)
    planned = dry(machine, "conf", downloads=False)
    assert planned[f"{machine.folder}/old"]["result"] is True
    assert planned[f"{machine.folder}/new"]["changes"] == {}
    dry(machine, "conf")
    assert len(Web.asked) == 1
    planned = dry(machine, "conf", downloads=False)
    assert planned[f"{machine.folder}/new"]["changes"]["diff"] == "New file"


@pytest.mark.parametrize(
    ("path", "foresee", "told"),
    [
        ("large", {"size": 1}, "2 MiB would be fetched; `foresee: {size: MiB}` allows more"),
        ("endless", {"size": 1}, "2 MiB would be fetched; `foresee: {size: MiB}` allows more"),
        ("conf", {"seconds": 0}, "took too long; `foresee: {seconds: SECONDS}` allows more"),
    ],
)
def test_limits_are_told(
    machine: Machine, web: str, path: str, foresee: dict[str, int], told: str
) -> None:
    state = {"file.managed": [{"source": f"{web}/{path}"}, {"skip_verify": True}]}
    name = f"{machine.folder}/got"
    machine.write(one=json.dumps({name: state}))
    planned = dry(machine, "one", **foresee)[name]
    assert planned["result"] is None
    assert planned["comment"].startswith(f"What {web}/{path} has is not known: ")
    assert planned["comment"].endswith(told)
    assert not planned["changes"]
    assert machine.results("sls", "one")[name]["changes"]["diff"] == "New file"


def test_limits_are_those_of_a_dry_run(machine: Machine, web: str) -> None:
    """A look for a prereq is part of a real run."""
    name = f"{machine.folder}/conf"
    states = {
        "before": {"cmd.run": [{"name": f"touch {machine.folder}/before"}]},
        name: {"file.managed": [{"source": f"{web}/conf"}, {"skip_verify": True}]},
    }
    states["before"]["cmd.run"].append({"prereq": [{"file": name}]})  # type: ignore[dict-item]
    machine.write(one=json.dumps(states))
    machine.config["foresee"] = {"downloads": False, "size": 0}
    assert machine.results("sls", "one")["before"]["result"] is True
    assert machine.folder.joinpath("before").exists()
