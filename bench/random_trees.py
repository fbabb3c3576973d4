"""Random state trees that use everything which orders states: for comparing with a real Salt.

python bench/random_trees.py SEED FOLDER     writes FOLDER/*.sls and FOLDER/top.sls
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import yaml

FUNCTIONS = (
    "nop",
    "succeed_with_changes",
    "succeed_without_changes",
    "fail_with_changes",
    "fail_without_changes",
)
KINDS = (
    "require",
    "watch",
    "onchanges",
    "onfail",
    "prereq",
    "listen",
    "require_any",
    "watch_any",
    "onchanges_any",
    "onfail_any",
    "onfail_all",
)
CARRIED = ("require_in", "watch_in", "onchanges_in", "onfail_in", "prereq_in", "listen_in")


class Tree:
    """One random tree: `files` maps paths to their data."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.backwards = self.random.random() < 0.3  # requisites in both directions make cycles
        self.count = self.random.randint(2, 14)
        self.ids = [f"s{number}" for number in range(self.count)]
        self.random.shuffle(self.ids)
        self.files = self._files()

    def _files(self) -> dict[str, dict[str, Any]]:
        names = ["main", *(["a"] if self.count > 4 else []), *(["b.c"] if self.count > 8 else [])]
        files: dict[str, dict[str, Any]] = {name: {} for name in names}
        if len(names) > 1:
            files["main"]["include"] = names[1:]
        for position, id_ in enumerate(self.ids):
            files[self.random.choice(names)][id_] = {f"test.{self._function()}": self._arguments(position)}
        if len(names) > 1 and self.random.random() < 0.2:
            inside = [id_ for id_ in files["a"] if id_ in self.ids]
            if inside:
                target = self.random.choice(inside)
                files["main"]["extend"] = {target: {"test": [{"order": self.random.randint(1, 20)}]}}
        return files

    def _function(self) -> str:
        return self.random.choices(FUNCTIONS, (3, 4, 3, 1, 1))[0]

    def _arguments(self, position: int) -> list[dict[str, Any]]:
        arguments: list[dict[str, Any]] = []
        if self.random.random() < 0.25:
            arguments.append({"order": self.random.choice([1, 2, 3, 5, 10, -1, -2, "first", "last", 10001])})
        if self.random.random() < 0.15:
            names: list[Any] = [f"{self.ids[position]}_n{number}" for number in range(self.random.randint(1, 3))]
            if self.random.random() < 0.3:
                names[0] = {names[0]: [{"order": self.random.randint(1, 5)}]}
            arguments.append({"names": names})
        elif self.random.random() < 0.2:
            arguments.append({"name": f"{self.ids[position]}_name"})
        chosen = self.random.sample(KINDS, self.random.choices((0, 1, 2), (4, 5, 2))[0])
        for kind in chosen:
            others = self._others(position)
            if others:
                arguments.append({kind: others})
        if self.random.random() < 0.2:
            others = self._others(position, carried=True)
            if others:
                arguments.append({self.random.choice(CARRIED): others})
        return arguments

    def _others(self, position: int, carried: bool = False) -> list[Any]:
        pool = self.ids if self.backwards else (self.ids[position + 1 :] if carried else self.ids[:position])
        pool = [id_ for id_ in pool if id_ != self.ids[position]]
        chosen = self.random.sample(pool, min(len(pool), self.random.choices((1, 2, 3), (5, 3, 1))[0]))
        return [self._reference(id_, carried) for id_ in chosen]

    def _reference(self, id_: str, carried: bool) -> Any:
        form = self.random.random()
        if form < 0.1 and not carried:
            return id_
        if form < 0.15 and not carried:
            return {"test": id_ + "*"}
        return {"test": id_}

    def write(self, folder: Path) -> None:
        """Write the tree with a top file."""
        for name, data in self.texts().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(data)

    def texts(self) -> dict[str, str]:
        """The files of the tree by their paths."""
        texts = {
            name.replace(".", "/") + ".sls": yaml.safe_dump(data, sort_keys=False) for name, data in self.files.items()
        }
        return texts | {"top.sls": "base:\n  '*':\n    - main\n"}


if __name__ == "__main__":
    Tree(int(sys.argv[1])).write(Path(sys.argv[2]))
