# SPDX-License-Identifier: Apache-2.0
"""runner's own modules, found and read with few calls: a run imports two hundred of them.

It is what `importlib` does with a package of one folder, with the same checks of the compiled file
against its source, but without its search (four finders, seven endings of a name, each in Python).
Whatever is not as usual is left to it.
"""

from __future__ import annotations

import io
import marshal
import os
import sys
from collections.abc import Sequence
from importlib._bootstrap_external import MAGIC_NUMBER  # importlib.util imports more
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

_OWN = ("runner.", "states.", "modules.")
_COMPILED = f".{sys.implementation.cache_tag}.pyc"


class _CompiledLoader(SourceFileLoader):
    """Loads a module from a compiled file beside its source."""

    def __init__(self, name: str, path: str, compiled: str) -> None:
        super().__init__(name, path)
        self._compiled = compiled

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of a compiled file that is of its source, as that is now; else what
        `importlib` makes of the source.
        """
        try:
            with io.open_code(self._compiled) as file:
                data = file.read()
            source = os.stat(self.path)
        except OSError:
            return super().get_code(fullname)
        written = (int(source.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little")
        head = (
            MAGIC_NUMBER + bytes(4) + written + (source.st_size & 0xFFFFFFFF).to_bytes(4, "little")
        )
        if data[:16] == head:
            code = marshal.loads(memoryview(data)[16:])
            if isinstance(code, CodeType) and code.co_filename == self.path:
                return code
        return super().get_code(fullname)


class OwnModules:
    """A finder of what lies in a package of runner."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is; None for one that is not runner's, or not a plain file."""
        if path is None or len(path) != 1 or not name.startswith(_OWN):
            return None
        folder, own = path[0], name.rpartition(".")[2]
        below: list[str] | None = None
        if not os.path.exists(file := f"{folder}/{own}.py"):
            below, folder, own = [f"{folder}/{own}"], f"{folder}/{own}", "__init__"
            if not os.path.exists(file := f"{folder}/__init__.py"):
                return None
        compiled = f"{folder}/__pycache__/{own}{_COMPILED}"
        loader = _CompiledLoader(name, file, compiled)
        spec = ModuleSpec(name, loader, origin=file, is_package=below is not None)
        spec.submodule_search_locations = below
        spec.has_location = True
        spec.cached = compiled
        return spec


def find_quickly() -> None:
    """Find runner's modules like that from now on, unless compiled files lie elsewhere."""
    usual = sys.pycache_prefix is None and not sys.flags.optimize
    if usual and OwnModules not in sys.meta_path:
        sys.meta_path.insert(0, OwnModules)
