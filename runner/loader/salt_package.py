"""Salt's package for a tree's Python code: those of Salt's modules that trees use, else a
hint.
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

UTILS = (
    *(
        "args",
        "data",
        "decorators",
        "dictupdate",
        "files",
        "hashutils",
        "json",
        "network",
        "odict",
        "path",
    ),
    *("platform", "stringutils", "templates", "user", "versions", "yaml"),
)
SERIALIZERS = ("configparser", "json", "toml", "tomlmod", "yaml", "yamlex")
HINT = (
    "runner is not Salt: of Salt's own packages there are salt.exceptions, salt.serializers and,"
    f" of salt.utils, {', '.join(sorted((*UTILS, 'stringio')))}; use __salt__['module.function'],"
    " the standard library, or a module of the tree (_utils, __utils__)"
)


def module_of(name: str) -> ModuleType | None:
    """The stand-in for a module of Salt; None for one that runner has not."""
    package, _, last = name.rpartition(".")
    if package == "salt.utils" and last in UTILS:
        return importlib.import_module(f"runner.loader.salt_utils.{last}")
    if package == "salt.serializers" and last in SERIALIZERS:
        from runner.loader.salt_utils import serializers

        return serializers.of(last)
    if name == "salt.serializers":
        from runner.loader.salt_utils import serializers

        module = ModuleType(name, "Forms of data.")
        module.__dict__.update(
            SerializationError=serializers.SerializationError,
            DeserializationError=serializers.DeserializationError,
        )
        return module
    return None


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith("salt."):
            return None
        if module_of(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}; {HINT}", name=name)
        return ModuleSpec(name, self, is_package=name == "salt.serializers")

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        source = module_of(spec.name)
        assert source is not None
        module = ModuleType(spec.name, source.__doc__)
        module.__dict__.update(
            {key: value for key, value in vars(source).items() if not key.startswith("__")}
        )
        return module

    def exec_module(self, module: ModuleType) -> None:
        """All is there already."""


def provide_salt() -> None:
    """Make imports of what is there of Salt work, and any other import of Salt fail with a hint."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    from runner.loader import salt_exceptions, salt_stringio

    package, utils = (
        ModuleType(name, "What runner provides of Salt.") for name in ("salt", "salt.utils")
    )
    package.__path__ = utils.__path__ = []
    package.__dict__.update(exceptions=salt_exceptions, utils=utils)
    utils.__dict__.update(stringio=salt_stringio, __getattr__=_of_utils)
    own = {"salt": package, "salt.exceptions": salt_exceptions, "salt.utils": utils}
    sys.modules.update({**own, "salt.utils.stringio": salt_stringio})
    sys.meta_path.insert(0, _Finder())


def _of_utils(name: str) -> Any:
    """`salt.utils.path` after no more than `import salt.utils`."""
    if name not in UTILS:
        raise AttributeError(f"module 'salt.utils' has no attribute {name!r}; {HINT}")
    return importlib.import_module(f"salt.utils.{name}")
