# SPDX-License-Identifier: Apache-2.0
"""Podman as a site uses it, by its compatible socket: containers, images, networks and volumes."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian
from starting import patiently

LAYER = "containers"
SITE = """
podman.socket:
  service.running: []
app:
  docker_image.present:
    - tag: 1
    - load: /usr/local/images/box.tar
built:
  docker_image.present:
    - tag: 1
    - build: /usr/local/images/build
    - buildargs: {word: hello}
    - require: [docker_image: app]
front:
  docker_network.present:
    - subnet: 10.50.0.0/24
    - gateway: 10.50.0.1
    - labels: [by=us]
data:
  docker_volume.present: []
/root/web.conf:
  file.managed:
    - contents: first
web:
  docker_container.running:
    - image: built:1
    - command: /bin/sleep 500
    - environment: [DB_PASSWORD=sesame-open-1, A=x]
    - port_bindings: [8080:80, '127.0.0.1:5353:53/udp', 90]
    - binds: [/root:/conf:ro, data:/data]
    - networks: [front: [ipv4_address: 10.50.0.9, aliases: [www]]]
    - watch: [file: /root/web.conf]
"""
# all that Podman takes here, in two containers: a second run has to find nothing to change
MANY = """
one:
  docker_container.running:
    - image: box:1
    - entrypoint: [/bin/sleep]
    - command: '600'
    - user: 1:1
    - working_dir: /tmp
    - stop_signal: SIGINT
    - stop_timeout: 1
    - healthcheck: {test: 'true', interval: 30s}
    - hostname: inside
    - domainname: example.org
    - labels: [a=b, c]
    - ports: 80,53/udp
    - stdin_open: True
    - tty: True
    - volumes: /data
    - mac_address: 02:42:ac:11:00:09
    - cap_add: CAP_NET_ADMIN
    - cap_drop: [MKNOD]
    - devices: /dev/null:/dev/n:r
    - dns: 9.9.9.9
    - dns_opt: ndots:2
    - dns_search: example.org
    - extra_hosts: w:10.0.0.1
    - group_add: 10
    - ipc_mode: private
    - log_driver: k8s-file
    - log_opt: max-size=1m
    - oom_score_adj: 10
    - restart_policy: on-failure:3
    - security_opt: [no-new-privileges, 'seccomp:unconfined']
    - shm_size: 1m
    - sysctls: net.core.somaxconn=100
    - tmpfs: [/run: size=1m]
    - read_only: True
two:
  docker_container.running:
    - image: box:1
    - network_mode: container:one
    - pid_mode: host
    - ipc_mode: host
    - privileged: True
    - volumes_from: one
    - cgroup_parent: machine.slice
    - auto_remove: True
    - require: [docker_container: one]
"""
WORK = """
job:
  docker_container.run:
    - image: box:1
    - cmd: /bin/sh -c 'echo $A; exit 3'
    - env: {A: x}
again:
  docker_container.run:
    - name: job
    - image: box:1
    - cmd: /bin/sh -c 'exit 4'
    - replace: True
    - rm: True
    - failhard: False
n1:
  docker_network.present: []
n2:
  docker_network.present: []
web:
  docker_container.running:
    - image: box:1
    - networks: n1
dies:
  docker_container.running:
    - image: box:1
    - cmd: /bin/sh -c 'sleep 0.3; echo no luck; exit 7'
"""
MOVE = """
web:
  docker_container.running:
    - image: box:1
    - networks: n2
"""
NOWHERE = """
nowhere:
  docker_image.present:
    - name: localhost:1/none
    - tag: 2
"""
FUNCTIONS = """
{{ move }}
commands:
  module.run:
    - docker.run_all:
      - name: web
      - cmd: test "$A" = 1
      - env: {A: 1}
    - docker.restart: [{name: web}, {timeout: 0}]
looks:
  test.configurable_test_state:
    - comment: >-
        {{ [salt['docker.connected']('n1'), salt['docker.list_containers'](),
        salt['docker.state']('web'), salt['docker.exists']('job'), salt['docker.exists']('dies'),
        salt['docker.version']().Components[0].Name,
        'localhost/box:1' in salt['docker.list_tags'](), salt['docker.logs']('dies'),
        salt['docker.inspect']('n2').Driver, salt['docker.port']('web'),
        salt['docker.history']('box:1') | length, salt['docker.volumes']().Volumes | length,
        salt['docker.ps']() | length, salt['docker.images']() | length > 0] | json }}
runs:
  docker_container.absent: [{name: web}, {order: 20000}]
stop:
  docker_container.stopped: [{name: web}, {shutdown_timeout: 0}, {order: 20001}]
gone:
  docker_container.absent: [{names: [web, dies]}, {order: 20002}]
n2:
  docker_network.absent: [{order: 20003}]
image:
  docker_image.absent: [{name: 'box:1'}, {force: True}, {order: 20004}]
"""


def inspect(debian: Debian, name: str) -> Any:
    """Return what Podman itself says."""
    return json.loads(debian.read("podman", "inspect", name))[0]


def test_a_site_whose_engine_does_not_run_yet(debian: Debian) -> None:
    debian.run("systemctl stop podman.socket podman.service; rm -f /run/podman/podman.sock")
    debian.tree(site=SITE + MANY)
    dry = debian.results("sls", "site", "--test")
    assert {result["result"] for result in dry.values()} == {None}
    real = debian.results("sls", "site")
    assert {result["result"] for result in real.values()} == {True}, real
    web = inspect(debian, "web")
    assert web["State"]["Running"] and "DB_PASSWORD=sesame-open-1" in web["Config"]["Env"]
    assert "WORD=hello" in debian.read("podman", "exec", "web", "env").split()
    assert web["NetworkSettings"]["Networks"]["front"]["IPAddress"] == "10.50.0.9"

    changed = SITE.replace("A=x", "A=y").replace("open-1", "shut-2")
    debian.tree(site=changed + MANY)
    for words in (["--test"], []):
        results = debian.results("sls", "site", *words)
        changes = results.pop("web")["changes"]
        environment = changes["container"]["Config"].pop("Env")
        assert "A=y" in environment["new"] and "sesame" not in str(environment)
        assert changes["container"] == {"Config": {}}
        assert changes["container_id"]["removed"] == [web["Id"]]
        assert not any(result["changes"] for result in results.values()), results
    before = inspect(debian, "web")["Id"]
    assert before == changes["container_id"]["added"]

    debian.tree(site=changed.replace("first", "second").replace("10.50.0.1\n", "10.50.0.2\n"))
    watched = debian.results("sls", "site")
    assert watched["web"]["changes"]["container_id"]["removed"] == [before]
    assert watched["front"]["changes"]["front"]["IPAM"]["old"][0]["Gateway"] == "10.50.0.1"
    debian.run("podman rm -f -t 0 two; podman rm -fa -t 0; podman network rm -f front")
    debian.run("podman volume prune -f")


def says(debian: Debian, seconds: float) -> list[str]:
    """Return what a command says that waits before and after it."""
    command = f"sleep {seconds}; echo out; echo err >&2; sleep {seconds}"
    words = ("call", "docker.run_all", "web", f"cmd={command}", "--out", "json")
    made = json.loads(debian.runner(*words).stdout)["local"]
    return [made["stdout"] + made["stderr"]]


def test_functions_and_the_other_states(debian: Debian) -> None:
    functions = FUNCTIONS.replace("{{ move }}", MOVE + NOWHERE)
    debian.tree(work=WORK, nowhere=NOWHERE, functions=functions)
    work = debian.results("sls", "work", code=2)
    assert work["job"]["changes"]["Logs"].strip() == "x"
    assert work["job"]["comment"] == "Container ran and exited with a return code of 3"
    assert work["again"]["result"] is True and work["again"]["changes"]["ExitCode"] == 4
    assert work["n1"]["changes"] == {"created": True}
    assert "it exited with code 7; its last words:\nno luck" in work["recheck_dies"]["comment"]
    dry = debian.results("sls", "nowhere", "--test", code=2)["nowhere"]
    assert "connection refused" in dry["comment"] and "`docker login`" in dry["comment"]
    said: list[str] = []
    # podman loses what a command says before it listens, or just before the command ends
    patiently(0.1, lambda seconds: said.extend(says(debian, seconds)), lambda: "outerr" in said)
    done = debian.results("sls", "functions", code=2)
    assert done["nowhere"]["comment"] == dry["comment"]
    assert done["web"]["changes"]["container"]["Networks"].keys() == {"n1", "n2"}
    commands = done["commands"]["changes"]
    assert done["commands"]["result"], done["commands"]
    assert commands["docker.run_all"]["retcode"] == 0
    assert commands["docker.restart"]["restarted"] is True
    assert json.loads(done["looks"]["comment"]) == [
        ["web"],
        ["web"],
        "running",
        False,
        True,
        "Podman Engine",
        True,
        "no luck\n",
        "bridge",
        {},
        1,
        0,
        1,
        True,
    ]
    assert "set force to True" in done["runs"]["comment"]
    assert done["stop"]["changes"]["web"]["state"] == {"old": "running", "new": "stopped"}
    assert done["n2"]["changes"] == {"removed": True}
    assert done["image"]["changes"]["Tags"] == ["localhost/box:1"]
    assert debian.read("podman ps -aq") == ""
