# SPDX-License-Identifier: Apache-2.0
"""The connection to an engine: who is asked, and what is said when nobody answers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from engine import Engine, Refusal, start_engine
from harness import HarnessHere, apply, look

from modules.containers import docker
from modules.containers.docker import _engine
from runner.api import CommandFailed, StateFailed, changes_allowed, running
from states.containers import docker_container, docker_image, docker_network


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = start_engine(tmp_path / "engine.json")
    made.create({"name": "web"}, {"Image": "box:1", "Env": ["DB_PASSWORD=sesame-open-1"]})
    made.change("web", "start", {})
    return made


def test_a_container_that_cannot_be_made_leaves_the_old_one(engine: Engine) -> None:
    engine.create({"name": "web-runner-new"}, {"Image": "box:1"})  # of a run that was killed
    old = engine.inspect("web")["Id"]
    create = engine.create

    def full(query: Any, body: Any) -> Any:
        raise Refusal(500, "no space left on device")

    engine.create = full  # type: ignore[method-assign]
    with pytest.raises(StateFailed, match="no space left") as failure:
        apply(docker_container.running, "web", image="box:1", user="www")
    assert failure.value.changes == {}
    assert engine.inspect("web")["Id"] == old and engine.inspect("web")["State"]["Running"]
    engine.create = create  # type: ignore[method-assign]
    done = apply(docker_container.running, "web", image="box:1", user="www")
    assert done.changes and done.changes["container_id"]["removed"] == [old]
    assert list(engine.things["containers"]) == ["web"]
    assert engine.inspect("web")["Config"]["User"] == "www"


def test_an_image_without_a_tag_is_the_latest(engine: Engine) -> None:
    engine.registry = {"nginx:latest"}
    apply(docker_image.present, "nginx")
    assert "nginx:latest" in engine.things["images"]


def test_a_network_that_is_replaced_gets_its_containers_back(engine: Engine) -> None:
    engine.add_network("front", {})
    engine.attach("front", engine.inspect("web"), {"Aliases": ["www"]})
    done = apply(docker_network.present, "front", internal=True)
    assert done.changes == {
        "front": {"Internal": {"old": False, "new": True}},
        "recreated": True,
        "reconnected": ["web"],
    }
    assert engine.inspect("web")["NetworkSettings"]["Networks"]["front"]["Aliases"] == ["www"]


SITE = """
conf:
  file.managed: [{name: '{tmp}/conf'}, {contents: a}]
web:
  docker_container.running:
    - image: box:1
    - environment: [DB_PASSWORD=PASSWORD]
    - watch_action: SIGHUP
    - watch: [file: conf]
"""


def test_as_a_user_sees_it(engine: Engine, machine: Machine) -> None:
    machine.environment["DOCKER_HOST"] = os.environ["DOCKER_HOST"]
    machine.write(
        site=SITE.replace("=PASSWORD", "=sesame-open-1"),
        other=SITE.replace("=PASSWORD", "=sesame-shut-2"),
        wrong="a:\n  docker_container.running:\n    - imag: x\n    - enviroment: [A=1]\n"
        "b:\n  docker_container.run:\n    - tial: 3\n"
        "c:\n  docker_image.present:\n    - base: x\n",
        old="web: {docker_container.running: [image: web, replace: false]}\n",
    )
    told = machine("sls", "old", "--test", code=None).stderr
    assert "docker_container.running has no argument 'replace'; it is ignored" in told
    assert machine.results("sls", "site")["web"]["changes"] == {"signal": "SIGHUP"}
    assert engine.inspect("web")["State"]["Signals"] == ["SIGHUP"]
    for words in (["--test"], []):
        shown = machine("sls", "other", *words).stdout
        assert "DB_PASSWORD=**********" in shown and "sesame" not in shown
    assert "sesame" not in machine("call", "docker.inspect", "web").stdout
    wrong = machine("check", "wrong", code=1)
    text = " ".join((wrong.stdout + wrong.stderr).split())
    assert "docker_container.running has no argument 'enviroment'" in text
    assert "wrong.sls:4:7" in text and "did you mean 'environment'?" in text
    assert "docker_container.run has no argument 'tial'" in text and "'tail'" in text
    assert "docker_image.present: runner does not do what 'base' asks for" in text
    assert (
        "docker_container.running has no argument 'imag'" in machine("sls", "wrong", code=1).stderr
    )


def problem(where: str, **opts: Any) -> CommandFailed:
    """Return what is said about an engine that does not answer, by a look and by a dry run."""
    current = HarnessHere(opts={"docker.url": where, "test": True, **opts})
    with running(current), pytest.raises(CommandFailed) as called:
        docker.version()
    with pytest.raises(StateFailed) as dry:
        look(docker_container.absent, "web", current=current)
    assert dry.value.message == called.value.message
    return called.value


def test_nobody_answers(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    missing = problem(f"unix://{tmp_path}/none/podman.sock")
    assert "/none/podman.sock does not exist; start podman.socket" in missing.message
    assert ("service", "docker") in missing.missing and ("pkg", "podman") in missing.missing
    with socket.socket(socket.AF_UNIX) as closed:
        closed.bind("dead")
    dead = problem(f"unix://{tmp_path}/dead").message
    assert "has nobody who answers (Connection refused); start the service docker" in dead
    assert "tcp://127.0.0.1:1 cannot be reached" in problem("tcp://127.0.0.1:1").message

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_engine.socket.socket, "connect", refuse)
    assert "you may not use the socket" in problem(f"unix://{tmp_path}/dead").message
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setattr(_engine, "sockets", lambda: ["/nowhere/a.sock"])
    nobody = problem("").message
    assert nobody.startswith("There is no container engine: /nowhere/a.sock")


def test_which_engine_is_asked(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.environ["DOCKER_HOST"]
    with running(HarnessHere()):
        assert docker.list_containers() == ["web"]
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
    with running(HarnessHere(opts={"docker.url": here})):
        assert docker.list_containers() == ["web"] and docker.state("web") == "running"
        with changes_allowed():
            assert docker.create("box:1", "new", env="A=1", start=True)["Started"] is True
        assert docker.ps(verbose=True).keys() == docker.ps(all=True).keys()
        assert docker.inspect("bridge")["Driver"] == "bridge"
        with pytest.raises(CommandFailed, match="No such container: none"):
            docker.state("none")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    failure = problem("unix:///nowhere")
    assert f"pip --python {sys.executable} install 'docker>=" in failure.message
    assert failure.missing == (("pkg", "python3-docker"),)


def test_the_package_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, json; from states.containers import docker_container, docker_image;"
        " from states.containers import docker_network, docker_volume;"
        " print(json.dumps([m for m in sys.modules if m in ('docker', 'requests', 'urllib3')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
