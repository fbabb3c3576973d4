"""Random state trees that use everything which orders states: for comparing with a real Salt.

python bench/random_trees.py SEED FOLDER [--rich | --dry]     writes FOLDER/*.sls and FOLDER/top.sls

--rich adds what a state may say beside its order and requisites: guards, retry, failhard, use, extend, exclude,
requisites on whole SLS files. --dry leaves away what a dry run cannot know.
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

    BACKWARDS = 0.3  # how many have requisites in both directions, which make cycles

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.backwards = self.random.random() < self.BACKWARDS
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


GUARDS: tuple[Any, ...] = ("true", "false", ["true", "false"], ["true", "true"])


class RichTree(Tree):
    """A random tree with everything else that decides what a state does and reports."""

    BACKWARDS = 0.05

    def __init__(self, seed: int, dry: bool = False) -> None:
        self.dry = dry
        super().__init__(seed)

    def _files(self) -> dict[str, dict[str, Any]]:
        files = super()._files()
        if self.random.random() < 0.25 and len(files) > 1:
            self._extend(files)
        self._whole_files(files)
        if self.random.random() < 0.1:
            what = {"id": self.random.choice(self.ids)} if self.random.random() < 0.7 else {"sls": list(files)[-1]}
            files["main"]["exclude"] = [what]
        return files

    def _whole_files(self, files: dict[str, dict[str, Any]]) -> None:
        """Requisites on whole files, of states in `main`."""
        holders = [id_ for id_ in files["main"] if id_ in self.ids]
        if holders and len(files) > 1 and self.random.random() < 0.3:
            kind = self.random.choice([each for each in (*KINDS, "require_in", "onchanges_in") if each != "listen"])
            for arguments in files["main"][self.random.choice(holders)].values():
                if not any(kind in argument for argument in arguments):
                    arguments.append({kind: [{"sls": self.random.choice(["a", "a", "b.c", "b*"][: len(files)])}]})

    def _extend(self, files: dict[str, dict[str, Any]]) -> None:
        """An extend of a state of another file, with a requisite in one of its forms."""
        inside = [id_ for name in files if name != "main" for id_ in files[name] if id_ in self.ids]
        if not inside:
            return
        target = self.random.choice(inside)
        (state,) = (body.partition(".")[0] for name in files for body in files[name].get(target, ()))
        others = self._others(self.ids.index(target))
        if others:
            kind = self.random.choice([*KINDS, *CARRIED])
            named = [each for each in others if isinstance(each, dict) and "*" not in str(each)]
            files["main"]["extend"] = {target: {state: [{kind: named or others[:1]}]}}

    def _function(self) -> str:
        self.body: list[dict[str, Any]] = []
        roll = self.random.random()
        if roll < 0.2:
            self.body = [{"result": self.random.choice([True, True, True, False])}]
            return "configurable_test_state"
        if roll < 0.25:
            self.body = [{"text": "said"}]
            return "show_notification"
        return super()._function()

    def _arguments(self, position: int) -> list[dict[str, Any]]:
        arguments = super()._arguments(position)
        for argument in arguments:
            if "listen" in argument:  # Salt takes no globs here
                argument["listen"] = [each for each in argument["listen"] if "*" not in str(each)]
        arguments = [each for each in arguments if each.get("listen") != []]
        given = {key for argument in arguments for key in argument}
        say, choose = (lambda chance: self.random.random() < chance), self.random.choice
        extra: list[dict[str, Any]] = list(self.body)
        if say(0.12):
            extra.append({choose(["onlyif", "unless"]): choose(GUARDS)})
        if say(0.04):
            extra.append({"creates": choose(["/", "/nowhere", ["/", "/nowhere"]])})
        if say(0.06) and not self.dry and not extra:
            extra.append({"check_cmd": [choose(["true", "false"])]})
        if say(0.06):
            extra.append({"retry": {"attempts": 2, "interval": 0, "until": choose([True, True, False])}})
        if say(0.03):
            extra.append({"failhard": True})
        if say(0.05):
            extra.append({"reload_modules": True})
        if say(0.08) and "names" not in given:
            extra.append({choose(["use", "use_in"]): self._others(position, carried=True)})
        if "names" in given and say(0.5):
            self._name_arguments(arguments, position)
        return [*arguments, *(each for each in extra if next(iter(each.values())) != [])]

    def _name_arguments(self, arguments: list[dict[str, Any]], position: int) -> None:
        """Arguments of one of the names alone."""
        names = next(argument["names"] for argument in arguments if "names" in argument)
        others = self._others(position)
        if isinstance(names[-1], str) and others:
            names[-1] = {names[-1]: [{self.random.choice(KINDS): others}, {"check_cmd": ["true"]}]}


if __name__ == "__main__":
    kind = sys.argv[3] if len(sys.argv) > 3 else ""
    seed = int(sys.argv[1])
    (RichTree(seed, kind == "--dry") if kind else Tree(seed)).write(Path(sys.argv[2]))
