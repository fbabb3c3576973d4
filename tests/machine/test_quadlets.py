# SPDX-License-Identifier: Apache-2.0
"""systemd.unit with quadlets: Podman's own generator and a real systemd."""

from __future__ import annotations

import json
from typing import Any

import pytest
from both_runs import unlike
from debian import Debian
from units import agreed, sls

LAYER = "containers"
FOLDER = "/etc/containers/systemd"
GENERATOR = "/usr/lib/systemd/system-generators/podman-system-generator"
BOX = "[Container]\nImage=localhost/box:1\nStopSignal=SIGKILL\n"
WEB = f"{BOX}Exec=sleep {{}}\nVolume=data.volume:/data\n"
INSTALL = "[Install]\nWantedBy=multi-user.target\n"
# the generator is of a later Podman, whose `volume create` knows --ignore, and whose `rm` removes
# the file with the ID
PODMAN = """mv /usr/bin/podman /usr/bin/podman4
cat >/usr/bin/podman <<'X'
#!/bin/sh
case "$1 $2 $3" in
"volume create --ignore") podman4 volume inspect "$4" || exec podman4 volume create "$4" ;;
*)
    for word; do test "$1" = run && case $word in --cidfile=*) rm -f "${word#*=}" ;; esac; done
    exec podman4 "$@" ;;
esac
X
chmod 755 /usr/bin/podman"""


@pytest.fixture(autouse=True)
def podman(debian: Debian) -> None:
    debian.run(PODMAN)


def test_a_quadlet_is_written_and_its_service_runs(debian: Debian) -> None:
    web = {"contents": WEB.format(1000) + INSTALL, "enable": True, "running": True}
    data = {"contents": "[Volume]\nVolumeName=data\n", "running": True}
    # the container is named first, and comes after the volume that its text names
    real = agreed(debian, {"web.container": web, "data.volume": data})
    assert real["web.container"]["changes"] == {
        f"{FOLDER}/web.container": "New file",
        "running": {"old": False, "new": True},
    }
    assert debian.read("systemctl is-active web data-volume") == "active\nactive"
    assert debian.read("podman ps --format '{{.Names}} {{.Command}}'") == "systemd-web sleep 1000"
    assert debian.read("podman volume ls -q") == "data"
    changed = web | {"contents": WEB.format(2000) + INSTALL}
    nice = {"drop_ins": {"env": "[Container]\nEnvironment=A=b"}}
    real = agreed(debian, {"web.container": changed | nice, "data.volume": data})
    assert real["web.container"]["changes"]["restarted"] is True
    assert not real["data.volume"]["changes"]
    assert debian.read("podman ps --format '{{.Command}}'") == "sleep 2000"
    assert debian.read("podman exec systemd-web sh -c 'echo $A'") == "b"
    watching = changed | nice | {"watch": [{"test": "event"}]}
    event = {"event": {"test.succeed_with_changes": []}}
    debian.tree(watch=json.dumps(json.loads(sls({"web.container": watching})) | event))
    result = debian.results("sls", "watch")["web.container"]
    assert result["comment"] == "Unit web.service was restarted"
    agreed(debian, {"web.container": {"running": False}})
    assert debian.run("systemctl is-active web", code=3)


def test_what_podman_refuses_fails_in_the_dry_run(debian: Debian) -> None:
    debian.tree(
        bad=sls(
            {
                "key.container": {"contents": f"{BOX}Imag=x\n"},
                "none.kube": {"contents": "[Kube]\n"},
                "net.container": {"contents": f"{BOX}Network=nosuch.network\n"},
                "lazy.container": {"contents": BOX, "enable": True},
                "early.container": {"contents": BOX + INSTALL, "enable": False},
                "nosuch.volume": {"running": True},
                "../up.container": {"contents": BOX},
                "odd.container": {"contents": BOX + "[Service]\nType=nosuch\nNosuchKey=1\n"},
            }
        ),
        broken=sls({"broken.container": {"contents": f"{BOX}no equals\n"}}),
    )
    for words in (["--test"], []):
        said = {
            name: result["comment"]
            for name, result in debian.results("sls", "bad", *words, code=2).items()
        }
        refused = (
            "Podman refuses key.container:\nconverting \"key.container\": unsupported key 'Imag'"
        )
        assert said["key.container"].startswith(refused)
        assert said["key.container"].endswith(f"in {FOLDER}/key.container")
        assert "no Yaml key specified" in said["none.kube"]
        assert "nosuch.network was not found" in said["net.container"]
        assert "write `[Install]` with `WantedBy=" in said["lazy.container"]
        assert "leave `[Install]` out of its contents" in said["early.container"]
        assert said["nosuch.volume"].startswith("There is no quadlet nosuch.volume, and")
        assert said["../up.container"] == "'../up.container' is not the name of a unit"
        assert "Podman refuses odd.container" in said["odd.container"]
        (comment,) = [
            r["comment"] for r in debian.results("sls", "broken", *words, code=2).values()
        ]
        assert "broken.container" in comment and "line 4" in comment
    assert debian.run(f"ls {FOLDER}/*.kube {FOLDER}/*.image", code=2)


def test_without_the_generator_it_says_what_to_install(debian: Debian) -> None:
    debian.tree(volume=sls({"a.volume": {"contents": "[Volume]"}}))
    debian.run(f"mv {GENERATOR} /root")
    try:
        (result,) = debian.results("sls", "volume", code=2).values()
    finally:
        debian.run(f"mv /root/podman-system-generator {GENERATOR}")
    assert result["comment"] == f"a.volume needs {GENERATOR}: install podman, 4.4 or newer"


def test_states_that_follow_see_the_planned_services(debian: Debian) -> None:
    timer = "[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n"
    part = f"{BOX}Pod=late.pod\nVolume=late.volume:/data\n"
    units: dict[str, dict[str, Any]] = {
        "part.container": {"contents": part, "timer": timer, "enable": True, "running": True},
        "late.pod": {"contents": "[Pod]\n"},
        "late.volume": {"contents": "[Volume]\nVolumeName=late\n"},
    }
    tree = json.loads(sls(units)) | {
        "late-pod": {"service.enabled": []},
        "late-volume": {"service.running": [{"enable": True}]},
    }
    debian.tree(late=json.dumps(tree))
    dry = debian.results("sls", "late", "--test")
    assert {name: result["changes"] for name, result in dry.items()} == {
        "part.container": {
            f"{FOLDER}/part.container": "New file",
            "/etc/systemd/system/part.timer": "New file",
            "enabled": {"old": False, "new": True},
            "running": {"old": False, "new": True},
        },
        "late.pod": {f"{FOLDER}/late.pod": "New file"},
        "late.volume": {f"{FOLDER}/late.volume": "New file"},
        "late-pod": {},
        "late-volume": {"late-volume": True},
    }
    assert list(dry)[:3] == ["late.pod", "late.volume", "part.container"]
    real = debian.results("sls", "late")
    assert unlike(dry, real) == {}
    assert debian.read("systemctl is-active part.timer late-volume") == "active\nactive"
    debian.runner("undo")
    assert debian.run("systemctl is-active part.timer late-volume", code=3)
    debian.run(f"ls {FOLDER}/late.pod {FOLDER}/late.volume", code=2)


def test_a_quadlet_of_a_user(debian: Debian) -> None:
    debian.run("useradd -m yves")
    volume = {"contents": "[Volume]\nVolumeName=own\n", "user": "yves"}
    tree = {"yves": {"user.present": [{"linger": True}]}, **json.loads(sls({"own.volume": volume}))}
    debian.tree(own=json.dumps(tree))
    debian.results("sls", "own")
    path = "/home/yves/.config/containers/systemd/own.volume"
    assert debian.read(f"stat -c %U {path}") == "yves"
    asked = "systemctl --user -M yves@ show -p SourcePath --value own-volume"
    assert debian.read(asked) == path
    again = debian.results("sls", "own", "--test")
    assert not any(result["changes"] for result in again.values())
