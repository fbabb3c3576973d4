# SPDX-License-Identifier: Apache-2.0
"""docker_compose with the real Compose, on Podman by its socket."""

from __future__ import annotations

from typing import Any

from debian import Debian

LAYER = "containers"
BOX = "image: 'localhost/box:1', stop_signal: SIGKILL"
SHOP = f"""podman.socket:
  service.running: []
/srv/shop/compose.yaml:
  file.managed:
    - makedirs: True
    - contents: |
        services:
          web: {{{BOX}, command: sleep 900, env_file: web.env, depends_on: [data], scale: 2}}
          data: {{{BOX}, command: sleep 900, volumes: ['kept:/data']}}
          once: {{{BOX}, command: echo done}}
        volumes: {{kept: {{}}}}
/srv/shop/web.env:
  file.managed:
    - contents: WORD={{{{ pillar.word }}}}
/srv/shop:
  docker_compose.up: []
"""
INLINE = f"""one:
  docker_compose.up:
    - wait: True
    - definition:
        services:
          a: {{{BOX}, command: sleep 900}}
    - watch: [test: event]
event:
  test.succeed_with_changes: []
"""
BAD = f"""late:
  docker_compose.up:
    - definition: {{services: {{a: {{{BOX}, command: sh -c 'echo no luck; exit 3'}}}}}}
ill:
  docker_compose.up:
    - wait: True
    - definition:
        services:
          a:
            image: localhost/box:1
            stop_signal: SIGKILL
            command: sleep 900
            healthcheck: {{test: [CMD, 'false'], interval: 1s, retries: 1}}
nowhere:
  docker_compose.up:
    - definition: {{services: {{a: {{image: 'localhost:1/none'}}}}}}
"""


def changes(machine: Debian, *words: str, code: int = 0) -> dict[str, Any]:
    results = machine.results("sls", *words, code=code)
    return {name: result["changes"] for name, result in results.items() if result["changes"]}


def test_a_project_is_brought_up_and_taken_down(debian: Debian) -> None:
    debian.run("systemctl start podman.socket")
    debian.tree(shop=SHOP, down="/srv/shop:\n  docker_compose.down:\n  - remove_volumes: True\n")
    first = ["shop", "--pillar", '{"word": "first"}']
    dry = changes(debian, *first, "--test")
    assert changes(debian, *first) == dry
    assert dry["/srv/shop"] == {
        "network shop_default": "created",
        "volume shop_kept": "created",
        "web": {"shop-web-1": "created", "shop-web-2": "created"},
        "data": {"shop-data-1": "created"},
        "once": {"shop-once-1": "created"},
    }
    shown = debian.read("podman exec shop-web-2 sh -c 'echo $WORD'")
    assert shown == "first"
    debian.run("podman wait shop-once-1")
    assert not changes(debian, *first)  # what has done its work is not started again
    # what a file of values says is no part of what `compose config --hash` counts
    second = ["shop", "--pillar", '{"word": "second"}']
    dry = changes(debian, *second, "--test")
    assert dry["/srv/shop"]["web"] == {"shop-web-1": "recreated", "shop-web-2": "recreated"}
    assert "data" not in dry["/srv/shop"]
    assert changes(debian, *second) == dry
    assert debian.read("podman exec shop-web-1 sh -c 'echo $WORD'") == "second"
    debian.run("podman kill shop-data-1; podman wait shop-data-1")
    dry = changes(debian, *second, "--test")
    assert dry["/srv/shop"]["data"] == {"shop-data-1": "started"}
    assert changes(debian, *second) == dry
    assert not changes(debian, *second)
    undone(debian)
    dry = changes(debian, "down", "--test")
    assert changes(debian, "down") == dry
    assert dry["/srv/shop"]["volume shop_kept"] == "removed"
    assert not debian.read("podman ps -aq; podman volume ls -q")
    assert not changes(debian, "down")


def undone(debian: Debian) -> None:
    """Undo of what was taken down, and of what was brought up; of what was lost it says so."""

    def running() -> str:
        return debian.read("podman ps --format '{{.Names}}' --filter name=shop | sort | xargs")

    def undo(code: int = 0) -> str:
        dry = debian.runner("undo", "--test", code=code).stdout
        real = debian.runner("undo", code=code).stdout
        assert dry.replace("Would restore", "Restored").replace("would be", "was") == real
        return real

    before = running()
    assert before == "shop-data-1 shop-web-1 shop-web-2"
    debian.tree(gently="/srv/shop:\n  docker_compose.down: []\n")
    changes(debian, "gently")
    assert not running()
    assert "compose project shop: made again" in undo()
    assert running() == before
    changes(debian, "gently")
    again = ["single", "docker_compose.up", "/srv/shop"]
    debian.runner(*again)
    assert running() == before
    said = undo()
    assert "compose project shop: removed\n    volumes that it has made stay" in said
    assert not running() and debian.read("podman volume ls -q") == "shop_kept"
    debian.runner(*again)
    third = ["shop", "--pillar", '{"word": "third"}']
    changes(debian, *third)
    assert "left out: its former containers are gone: `docker_compose.up` makes" in undo(2)


def test_a_definition_of_its_own_and_what_it_watches(debian: Debian) -> None:
    debian.run("systemctl start podman.socket")
    debian.tree(one=INLINE, down="one:\n  docker_compose.down: []\n")
    changes(debian, "one")
    began = debian.read("podman inspect -f '{{.State.StartedAt}}' one-a-1")
    assert changes(debian, "one")["one"] == {"a": "restarted"}
    assert debian.read("podman inspect -f '{{.State.StartedAt}}' one-a-1") != began
    assert changes(debian, "down")["one"]["a"] == {"one-a-1": "removed"}


def test_what_does_not_come_up_fails(debian: Debian) -> None:
    debian.run("systemctl start podman.socket")
    debian.tree(bad=BAD)
    assert "localhost:1" in debian.results("sls", "bad", "--test", code=2)["nowhere"]["comment"]
    answer = debian.runner("sls", "bad", "--out", "json", code=2).stdout
    assert "late-a-1 had started, and is dead at the end of the run\\na-1  | no luck" in answer
    assert "Compose failed to start ill: container ill-a-1 is unhealthy" in answer
    for name in ("late", "ill"):
        debian.runner("single", "docker_compose.down", name)
    debian.run("mv /usr/local/bin/docker-compose /root")
    try:
        (result,) = debian.results("single", "docker_compose.down", "late", code=2).values()
    finally:
        debian.run("mv /root/docker-compose /usr/local/bin")
    assert "Compose 2.18 or newer is needed (there is none)" in result["comment"]
