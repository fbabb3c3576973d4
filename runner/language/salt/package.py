# SPDX-License-Identifier: Apache-2.0
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

from runner.language.salt import exceptions as salt_exceptions
from runner.language.salt import more as salt_more
from runner.language.salt import six as salt_six
from runner.language.salt import stringio as salt_stringio
from runner.language.salt.utils import serializers

UTILS = tuple(
    """
    args atomicfile compat context data decorators dictdiffer dictupdate files functools hashutils
    http immutabletypes itertools jid json network odict path platform stringutils systemd templates
    url user validate versions yaml
    """.split()
)
# names that salt.utils itself had until 2019 -> the module that has them now
FORMER = {
    **dict.fromkeys(("fopen", "flopen", "mkstemp", "safe_rm"), "files"),
    **dict.fromkeys(("which", "which_bin"), "path"),
    **dict.fromkeys(("is_windows", "is_linux", "is_proxy", "is_darwin"), "platform"),
    **dict.fromkeys(("warn_until", "kwargs_warn_until", "version_cmp"), "versions"),
    **dict.fromkeys(("to_str", "to_num", "to_bytes"), "stringutils"),
    **dict.fromkeys(("clean_kwargs", "invalid_kwargs", "shlex_split"), "args"),
    **dict.fromkeys(("exactly_one", "is_true", "compare_dicts", "repack_dictlist"), "data"),
    **dict.fromkeys(("traverse_dict", "traverse_dict_and_list", "is_dictlist"), "data"),
    "namespaced_function": "functools",
    "memoize": "decorators",
    "gen_mac": "network",
}
# of these runner.language.salt.utils.NAME has the modules below them, too
_PACKAGES = {"salt.utils.validate": "validate", "salt.utils.decorators": "decorators"}
_PARENTS = (
    "salt.serializers",
    "salt.ext",
    "salt.ext.six",
    "salt.ext.six.moves",
    "salt.modules",
    "salt.ext.six.moves.urllib",
)
SERIALIZERS = ("configparser", "json", "toml", "tomlmod", "yaml", "yamlex")
HINT = (
    "runner is not Salt: of Salt's own packages there are salt.exceptions, salt.serializers,"
    " salt.modules (the execution modules that runner has), salt.ext.six and,"
    f" of salt.utils, {', '.join(sorted((*UTILS, 'stringio')))}; use __salt__['module.function'],"
    " the standard library, or a module of the tree (_utils, __utils__)"
)


def module_of(name: str) -> ModuleType | None:
    """The stand-in for a module of Salt; None for one that runner has not."""
    package, _, last = name.rpartition(".")
    if package == "salt.utils" and last in UTILS:
        return importlib.import_module(f"runner.language.salt.utils.{last}")
    if package in _PACKAGES:
        part = getattr(
            importlib.import_module(f"runner.language.salt.utils.{_PACKAGES[package]}"), last, None
        )
        return part if isinstance(part, ModuleType) else None
    if package == "salt.serializers" and last in SERIALIZERS:
        return serializers.of(last)
    if name == "salt.serializers":
        module = ModuleType(name, "Forms of data.")
        module.__dict__.update(
            SerializationError=serializers.SerializationError,
            DeserializationError=serializers.DeserializationError,
        )
        return module
    if name.startswith("salt.ext.six"):
        return _six(name.removeprefix("salt.ext.six").removeprefix("."))
    return salt_more.module_of(name)


def _six(part: str) -> ModuleType | None:
    if part in ("", "moves"):
        return salt_six.moves if part else salt_six
    return salt_six.moved(part.removeprefix("moves."))


# the names that each module has of its own
_OF_MODULES = frozenset(
    ("__name__", "__doc__", "__file__", "__loader__", "__package__", "__spec__", "__builtins__")
    + ("__cached__", "__path__")
)


class _SaltFinder(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith("salt."):
            return None
        if module_of(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}; {HINT}", name=name)
        return ModuleSpec(name, self, is_package=name in (*_PACKAGES, *_PARENTS))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        source = module_of(spec.name)
        assert source is not None
        module = ModuleType(spec.name, source.__doc__)
        module.__dict__.update(
            {key: value for key, value in vars(source).items() if key not in _OF_MODULES}
        )
        return module

    def exec_module(self, module: ModuleType) -> None:
        """All is there already."""


def provide_salt() -> None:
    """Make imports of what is there of Salt work, and any other import of Salt fail with a hint."""
    if any(isinstance(finder, _SaltFinder) for finder in sys.meta_path):
        return
    package, utils = (
        ModuleType(name, "What runner provides of Salt.") for name in ("salt", "salt.utils")
    )
    package.__path__ = utils.__path__ = []
    package.__dict__.update(exceptions=salt_exceptions, utils=utils)
    utils.__dict__.update(stringio=salt_stringio, __getattr__=_of_utils)
    own = {"salt": package, "salt.exceptions": salt_exceptions, "salt.utils": utils}
    sys.modules.update({**own, "salt.utils.stringio": salt_stringio})
    sys.meta_path.insert(0, _SaltFinder())


def _of_utils(name: str) -> Any:
    """`salt.utils.path` after no more than `import salt.utils`."""
    if name in FORMER:
        return getattr(importlib.import_module(f"salt.utils.{FORMER[name]}"), name)
    if name not in UTILS:
        raise AttributeError(f"module 'salt.utils' has no attribute {name!r}; {HINT}")
    return importlib.import_module(f"salt.utils.{name}")
