# SPDX-License-Identifier: Apache-2.0
"""How static grains are tried: the file `grains` of the scenario's own folder is the one beside the
configuration.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laws import Scenario, scenario


def beside(folder: Path) -> None:
    (folder / "grains").write_text("a: 1\nl: [x, y]\nd: {k: v, n: {m: [1]}}\n")


def on(function: str, name: str, **given: Any) -> Scenario:
    return scenario(f"grains.{function}", beside, name=name, **given)


FORCE = "Use 'force=True' to overwrite."
SCENARIOS = [
    on("exists", "d:n:m", plans=False),
    on("exists", "d/n", plans=False, delimiter="/"),
    on("exists", "nope", fails="Grain does not exist"),
    Scenario("grains.present", {"name": "new", "value": {"a": [1]}}),
    on("present", "a", plans=False, value=1),
    on("present", "a", value="two"),
    on("present", "d:k", value="w"),
    on("present", "d/q/r", value="w", delimiter="/"),
    on("present", "l", value=["x"], fails=FORCE),
    on("present", "l", value=["x"], force=True),
    on("present", "a", value={"b": 1}, fails=FORCE),
    on("present", "a:z", value=1, fails="which is different from the provided key 'z'"),
    on("present", "a:z", value=1, force=True),
    on("present", "a:1:b", value=1, fails="which is different"),
    on("present", "l:x:deep", value=1),
    on("present", "d:k:v:n", value=1),
    on("absent", "a"),
    on("absent", "a", destructive=True),
    on("absent", "nope", plans=False),
    on("absent", "d/n", fails=FORCE, delimiter="/"),
    on("absent", "d:n", force=True),
    on("absent", "d:k", destructive=True),
    on("absent", "l", destructive=True, fails=FORCE),
    on("absent", "l", destructive=True, force=True),
    on("absent", "os", destructive=True, fails="only static grains can be removed"),
    on("append", "l", value="z"),
    on("append", "l", plans=False, value="x"),
    on("append", "l", value=["p", "x"]),
    on("append", "a", value="x", fails="Grain a is not a valid list"),
    on("append", "a", value="x", convert=True),
    on("append", "nope", value="x", fails="Grain nope does not exist"),
    on("append", "d/n/m", value="x", delimiter="/"),
    on("list_present", "l", value="z"),
    on("list_present", "l", value=["x", "z"]),
    on("list_present", "l", plans=False, value=["x", "y"]),
    on("list_present", "d/n/m", value=2, delimiter="/"),
    on("list_present", "nope", value=["z"]),
    on("list_present", "a", value="z", fails="Grain a is not a valid list"),
    on("list_present", "l:q", value="z", fails="which is different from the provided key 'q'."),
    on("list_absent", "l", value="x"),
    on("list_absent", "l", value=["x", "q"]),
    on("list_absent", "l", plans=False, value="q"),
    on("list_absent", "d/n/m", value=1, delimiter="/"),
    on("list_absent", "a", value="q", fails="Grain a is not a valid list"),
    on("list_absent", "nope", plans=False, value="q"),
]
