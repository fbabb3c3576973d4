# SPDX-License-Identifier: Apache-2.0
"""How projects of Compose are tried: on a stand-in for its program, beside that of the engine, that
tells what it does in the words of the real one; which is in tests/machine/test_compose.py.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from engine import start_engine
from laws import Scenario, scenario
from starting import SCRIPT

# what there is stands in a file beside it: containers, and the images that were pulled
PROGRAM = (
    SCRIPT
    + r"""
import json, pathlib, sys, yaml
path = pathlib.Path(__file__).with_name("state.json")
state = json.loads(path.read_text())
there, images = state["containers"], state["images"]
words = [word for word in sys.argv[1:] if word not in ("compose", "--ansi", "never")]
valued = {"-p": [], "-f": [], "--env-file": [], "--profile": [], "--project-directory": []}
dry = "--dry-run" in words
words = [word for word in words if word != "--dry-run"]
while words[0] in valued:
    valued[words.pop(0)].append(words.pop(0))
action, flags, (*_, chosen) = words[0], words, " ".join(words).partition(" -- ")
def fail(message):
    print(message, file=sys.stderr)
    sys.exit(1)
def tell(kind, name, *happened):
    for word in happened:
        print("DRY-RUN MODE - " * dry, f"{kind} {name}  {word}", file=sys.stderr)
if action == "version":
    print(state["version"])
    sys.exit()
name = "".join(valued["-p"]) or pathlib.Path("".join(valued["--project-directory"])).name
services = {}
for file in valued["-f"]:
    text = sys.stdin.read() if file == "-" else pathlib.Path(file).read_text()
    try:
        services |= yaml.safe_load(text)["services"]
    except yaml.YAMLError as error:
        fail(f"yaml: line {error.problem_mark.line + 1}: {error.problem}")
profiles = set(valued["--profile"])
services = {
    key: value for key, value in services.items() if not value.get("profiles")
    or profiles & set(value["profiles"])
}
definition = {key: json.dumps([value, valued["--env-file"]]) for key, value in services.items()}
names = {value.get("container_name", f"{name}-{key}-1"): key for key, value in services.items()}
if action == "config":
    print(json.dumps({"name": name, "services": services}))
elif action == "ps":
    for key, value in there.items():
        print(json.dumps({"Name": key, **value}))
elif action == "down":
    for key in [key for key, value in there.items() if value["Service"] in services or not services
                or "--remove-orphans" in flags]:
        tell("Container", key, "Stopping", "Stopped", "Removing", "Removed")
        del there[key]
    for image in [image for image in images if "--rmi=all" in flags]:
        tell("Image", image, "Removing", "Removed")
        images.remove(image)
    if "--volumes" in flags:
        tell("Volume", "gone", "Removing", "Removed")
elif action == "restart":
    for key, value in there.items():
        tell("Container", key, "Restarting", "Started")
elif action == "up":
    for word in chosen.split():
        word in services or fail(f"no such service: {word}")
    if "--remove-orphans" in flags:
        for key in [key for key in there if there[key]["Service"] not in services]:
            tell("Container", key, "Stopping", "Stopped", "Removing", "Removed")
            del there[key]
    for key, service in names.items():
        if chosen and service not in chosen.split():
            continue
        image = services[service]["image"]
        if image.startswith("nosuch"):
            print(f" {service} Pulling", file=sys.stderr)
            fail(f"{image}: not found")
        if image not in images:
            print("DRY-RUN MODE - " * dry, service, "Pulling", file=sys.stderr)
            images.append(image)
        is_other = key in there and there[key]["definition"] not in ("", definition[service])
        if key not in there or is_other:
            tell("Container", key, "Recreate" if is_other else "Creating", "Created")
        elif there[key]["State"] == "running":
            tell("Container", key, "Running")
            continue
        else:
            tell("Container", key, "Created")
        tell("Container", key, "Starting", "Started")
        if services[service].get("command") == "fail" and not dry:
            fail("Error response from daemon: no such command")
        if key not in there or is_other:
            there[key] = {"Service": service, "definition": definition[service], "ID": "new"}
        there[key]["State"] = "running"
elif action == "stop":
    for key in [key for key, value in there.items() if value["Service"] in words]:
        there[key]["State"] = "exited"
if action in ("up", "down", "stop") and not dry:
    path.write_text(json.dumps(state))
"""
)
WEB = {"image": "box:1"}
RUNS = {"Service": "web", "State": "running", "definition": ""}
SHOP = {"shop-web-1": RUNS, "shop-old-1": {**RUNS, "Service": "old"}}


def on(
    function: str,
    there: dict[str, Any] | None = None,
    version: str = "2.26.1",
    web: str = "services: {web: {image: 'box:1'}, more: {image: 'new:1', profiles: [all]}}",
    **given: Any,
) -> Scenario:
    """A scenario with a project in the folder shop, the image box:1, and these containers."""

    def setup(tmp: Path) -> None:
        start_engine(tmp / "engine.json").save()
        (tmp / "shop").mkdir()
        (tmp / "shop/compose.yaml").write_text(web)
        (tmp / "shop/values").write_text("A=1\n")
        (tmp / "bin").mkdir()
        (tmp / "bin/docker").write_text(PROGRAM)
        (tmp / "bin/docker").chmod(0o755)
        state = {"containers": there or {}, "images": ["box:1"], "version": version}
        (tmp / "bin/state.json").write_text(json.dumps(state))
        os.environ["PATH"] = f"{tmp}/bin:{os.environ['PATH']}"

    return scenario(f"docker_compose.{function}", setup, **{"name": "{tmp}/shop", **given})


SCENARIOS = [
    on("up"),
    on("up", SHOP, plans=False),
    on("up", SHOP, remove_orphans=True),
    on("up", {"shop-web-1": {**RUNS, "definition": "other"}}),
    on("up", {"shop-web-1": {**RUNS, "State": "exited", "ExitCode": 1}}),
    on("up", {"shop-web-1": {**RUNS, "State": "exited", "ExitCode": 0}}, plans=False),
    on("up", SHOP, profiles=["all"], wait=True, wait_timeout=9),
    on("up", SHOP, plans=False, profiles=["all"], services=["web"]),
    on("up", name="x", project_src="{tmp}/shop", project_name="y", env_files=["values"]),
    on("up", files=["compose.yaml", "{tmp}/shop/compose.yaml"]),
    on("up", name="inline", definition={"services": {"web": WEB}}),
    on(
        "up", {"one": RUNS}, plans=False, web="services: {w: {image: 'box:1', container_name: one}}"
    ),
    on("up", {"shop-web-1": {**RUNS, "Health": "unhealthy"}}, plans=False),
    on("up", {"shop-web-1": {**RUNS, "Health": "unhealthy"}}, wait=True, fails="is unhealthy"),
    on("up", web="services:\n  web: a: b\n", fails="compose.yaml: yaml: line 2: mapping values"),
    on("up", web="services: {web: {image: 'nosuch:1'}}", fails="nosuch:1: not found"),
    on("up", web="services: {web: {image: 'box:1', command: fail}}", breaks="no such command"),
    on("up", services=["nosuch"], fails="(its services: web): no such service: nosuch"),
    on("up", version="1.29.2", fails="2.18 or newer is needed (docker compose is 1.29"),
    on("up", project_src="{tmp}", fails="There is no Compose file in"),
    on("up", name="x", fails="x is no folder: name the project's folder by `project_src`"),
    on("up", definition={"services": {}}, fails="A definition needs a `project_name`"),
    on("up", definition={}, files=["x"], fails="Only one of 'definition' and 'files'"),
    on("down", SHOP),
    on("down", plans=False),
    on("down", SHOP, remove_orphans=True, remove_volumes=True, timeout=3),
    on("down", SHOP, remove_images="all", profiles=["all"]),
    on("down", SHOP, name="shop"),
    on("down", plans=False, name="shop", project_name="shop"),
    on("down", SHOP, name="x", definition={"services": {"web": WEB}}),
    on("down", SHOP, project_src="{tmp}/shop", files=["compose.yaml"], env_files=["values"]),
]
