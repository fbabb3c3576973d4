"""What `import salt` gives to a tree's Python code: two of Salt's modules, and a hint instead of the others."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from types import ModuleType

HINT = (
    "runner is not Salt: of Salt's own packages only salt.exceptions and salt.utils.stringio are there; "
    "use __salt__['module.function'], the standard library, or a module of the tree (_utils, __utils__)"
)


class _NoSalt(MetaPathFinder):
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.startswith("salt."):
            raise ModuleNotFoundError(f"No module named {name!r}; {HINT}", name=name)


def provide_salt() -> None:
    """Make `import salt.exceptions` and `salt.utils.stringio` work, and any other import of Salt fail with a hint."""
    if any(isinstance(finder, _NoSalt) for finder in sys.meta_path):
        return
    from runner import salt_exceptions, salt_stringio

    package, utils = (ModuleType(name, "What runner provides of Salt.") for name in ("salt", "salt.utils"))
    package.__path__ = utils.__path__ = []
    package.__dict__.update(exceptions=salt_exceptions, utils=utils)
    utils.__dict__["stringio"] = salt_stringio
    own = {"salt": package, "salt.exceptions": salt_exceptions, "salt.utils": utils}
    sys.modules.update({**own, "salt.utils.stringio": salt_stringio})
    sys.meta_path.insert(0, _NoSalt())
