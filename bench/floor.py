# SPDX-License-Identifier: Apache-2.0
"""The least that a state runner written in Python has to do: the floor of bench/peers.py.

    python bench/floor.py FOLDER

Renders `load.sls` of a folder with Jinja, parses it with libyaml, sorts its states, compares files
with what they should be and writes whole those that differ, asks guards, reads the package list
once. No place of a line, no report, no history, no pending reactions, no errors in words.
"""

from __future__ import annotations

import graphlib
import os
import subprocess
import sys
from typing import Any

import jinja2
import yaml


def order(tree: dict[str, Any]) -> list[str]:
    """The IDs, each after those that it requires."""
    sorter: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter()
    for name, body in tree.items():
        (arguments,) = body.values()
        required = [
            reference
            for argument in arguments
            for requisite in argument.get("require", ())
            for reference in requisite.values()
        ]
        sorter.add(name, *required)
    return list(sorter.static_order())


def managed(path: str, contents: str) -> None:
    """Make a file what it should be, whole at any moment."""
    wanted = contents.encode()
    try:
        with open(path, "rb") as file:
            if file.read() == wanted:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.new", "wb") as file:
        file.write(wanted)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def apply(folder: str, environment: jinja2.Environment) -> None:
    with open(f"{folder}/load.sls") as file:
        text = environment.from_string(file.read()).render(grains={"id": "bench"})
    tree = yaml.load(text, yaml.CSafeLoader)
    packages = None
    for name in order(tree):
        ((function, listed),) = tree[name].items()
        arguments = {key: value for argument in listed for key, value in argument.items()}
        if function == "file.managed" and "source" in arguments:
            template = environment.get_template(arguments["source"].removeprefix("salt://"))
            managed(name, template.render(**arguments["context"]) + "\n")
        elif function == "file.managed":
            managed(name, arguments["contents"] + "\n")
        elif function == "cmd.run":
            subprocess.run(["/bin/sh", "-c", arguments["unless"]], check=True)
        elif function == "pkg.installed":
            if packages is None:
                with open("/var/lib/dpkg/status") as file:
                    packages = {line[9:-1] for line in file if line.startswith("Package: ")}
            if name not in packages:
                sys.exit(f"{name} is not installed")


if __name__ == "__main__":
    loader = jinja2.FileSystemLoader(sys.argv[1])
    apply(sys.argv[1], jinja2.Environment(loader=loader, autoescape=False))
