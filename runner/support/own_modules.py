# SPDX-License-Identifier: Apache-2.0
"""runner's own modules: found with few calls, and executed when something of them is asked for.

`from runner.output import json_` at the top of a file costs a look for the file, which is executed
by the first `json_.dumped`; `from runner.output.json_ import dumped` executes it at once. So
imports stand at the top, and a run executes only what it needs. The same holds for packages, and
for `import json` at the top of one of these files, and whatever else comes with Python
(`LateModule`).

The search is what `importlib` does with a package of one folder, with the same checks of the
compiled file against its source, but without its many steps (four finders, seven endings of a
name, each in Python). Whatever is not as usual is left to it.
"""

from __future__ import annotations

import builtins
import io
import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from _thread import RLock  # threading imports more
from _thread import _count as _threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from types import CodeType, MethodType, ModuleType
    from typing import Any
else:  # importlib and types import more
    ModuleType = type(sys)
    MethodType = type(SourceFileLoader("", "").get_code)
    CodeType = type((lambda: None).__code__)

# folders of `states/` and `modules/` for what few machines need; SLS files do not know of them:
# `mysql_user` lies in `states/databases/`
FAMILIES = tuple(
    "certificates containers databases desktop firewalls formats languages messaging secrets"
    " security storage web".split()
)
_COMPILED = f".{sys.implementation.cache_tag}.pyc"
_USUAL = sys.pycache_prefix is None and not sys.flags.optimize  # compiled files lie where they do
_TOPS = ("runner", "states", "modules")
_ROOT = ""  # the folder of runner's packages
_FOLDERS: tuple[str, ...] = ()  # they themselves
_EXECUTING = RLock()  # one for all: no import goes in a circle, so none waits for who waits for it
_namespace: Any = vars(ModuleType)["__dict__"].__get__  # of a module, without executing it


class NotYet(ModuleType):
    """A module that is executed when somebody asks for what its place does not say."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        _execute(self)
        return self.__dict__

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        _execute(self)
        return self.__doc__

    def __getattr__(self, name: str) -> Any:
        namespace = _namespace(self)
        if name[:2] != "__":
            module = _submodule(self, name)
            if module is not None:
                return module
        elif "__found__" in namespace:
            _place(namespace)
            if name in namespace:
                return namespace[name]
        _execute(self)
        if name == "__path__":  # as `from x import y` asks: no package
            raise AttributeError(name)
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """A package gets its modules without being executed."""
        if not isinstance(value, ModuleType):
            _execute(self)
        ModuleType.__setattr__(self, name, value)


class LateModule(ModuleType):
    """A module that comes with Python, as a file of runner has it before it asks for something of
    it: then it is imported, and takes the place of this. Of a package this stays until all modules
    that the file names (`import urllib.parse`) were asked for, or others imported them.
    """

    def __init__(self, name: str, importer: dict[str, Any]) -> None:
        _namespace(self).update(__name__=name, __importer__=importer, __named__=set())

    def __getattr__(self, name: str) -> Any:
        return getattr(_imported(self, name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_imported(self), name, value)


def _imported(later: LateModule, asked: str = "") -> ModuleType:
    namespace = _namespace(later)
    name, importer, named = (namespace[key] for key in ("__name__", "__importer__", "__named__"))
    for each in [*named]:
        if each.split(".")[1] == asked:
            __import__(each)
    module = __import__(name)
    if importer.get(name) is later and named <= sys.modules.keys():
        importer[name] = module
    return module


def known_as(module: str) -> str:
    """The name of a module as users know it.

    >>> known_as("modules.databases.mysql"), known_as("modules.file")
    ('mysql', 'file')
    """
    _, _, name = module.partition(".")
    family, _, rest = name.partition(".")
    return rest if family in FAMILIES else name


def executed(name: str) -> ModuleType | None:
    """A module that was executed in this process; None for one that is only known, or not."""
    module = sys.modules.get(name)
    return module if type(module) is not NotYet else None


def revision_of(files: Iterable[str]) -> list[tuple[int, int]]:
    """When each of these files was written, in nanoseconds since 1970, and how long it is."""
    return [(status.st_mtime_ns, status.st_size) for status in map(os.stat, files)]


def is_own(files: Collection[str], revision: list[tuple[int, int]]) -> bool:
    """Return whether what was made by the code in these files, as of a revision, is what this
    program would make: another installation has its own. Raises OSError where one is gone.
    """
    return __file__ in files and revision_of(files) == revision


class _Executing(ModuleType):
    """A module that a thread executes: others wait until it is whole."""

    def __getattribute__(self, name: str) -> Any:
        with _EXECUTING:
            return ModuleType.__getattribute__(self, name)


def _execute(module: ModuleType) -> None:
    """Execute a module. One that fails is as before, so that it fails alike each time."""
    with _EXECUTING:
        if type(module) is not NotYet:
            return
        namespace = _namespace(module)
        if "__found__" in namespace:
            _place(namespace)
        before = dict(namespace)
        # without other threads there is nobody who could wait
        object.__setattr__(module, "__class__", _Executing if _threads() else ModuleType)
        if "__path__" in namespace:
            namespace["__getattr__"] = MethodType(_asked_of_package, module)
        namespace["__builtins__"] = _BUILTINS
        try:
            exec(namespace["__loader__"].get_code(namespace["__name__"]), namespace)
        except BaseException:
            namespace.clear()
            namespace.update(before)
            object.__setattr__(module, "__class__", NotYet)
            raise
        if type(module) is not ModuleType:
            object.__setattr__(module, "__class__", ModuleType)


def _import(
    name: str,
    globals: Any = None,  # as `__import__` has them
    locals: Any = None,
    fromlist: Sequence[str] | None = (),  # None only of the statement `import name`
    level: int = 0,
) -> ModuleType:
    """The `__import__` of runner's own modules: `from x import y` of one of them takes `importlib`
    ten times as long, even when it is there; what comes with Python waits until it is needed.
    """
    if fromlist and not level and name.startswith(_TOPS):
        module = sys.modules.get(name) or _registered(name)
        if module is not None:
            namespace = _namespace(module)
            if "__path__" in namespace:
                for each in fromlist:
                    if each not in namespace:
                        _submodule(module, each)
            elif type(module) is NotYet:
                _execute(module)
            return module
    at_top = fromlist is None and locals is globals
    if at_top:
        package, dot, _ = name.partition(".")
        late = globals.get(package)
        if type(late) is not LateModule:
            if name in sys.modules or package not in sys.stdlib_module_names:
                return __import__(name, globals, locals, (), level)
            late = LateModule(package, globals)
        if dot:
            _namespace(late)["__named__"].add(name)
        return late
    return __import__(name, globals, locals, fromlist or (), level)


_BUILTINS = {**vars(builtins), "__import__": _import}


def _registered(name: str) -> ModuleType | None:
    """A module of runner that is not there yet; None for what is left to `importlib`."""
    above, _, last = name.rpartition(".")
    if not above:
        return _new(name, _found(_ROOT, name)) if name in _TOPS else None
    package = sys.modules.get(above) or _registered(above)
    folders = _namespace(package).get("__path__") if package else ()
    return _submodule(package, last) if package and folders and _is_own(folders[0]) else None


def _asked_of_package(package: ModuleType, name: str) -> ModuleType:
    """The `__getattr__` of a package: `importlib` would take ten times as long."""
    module = _submodule(package, name)
    if module is None:
        raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}")
    return module


def _submodule(package: ModuleType, name: str) -> ModuleType | None:
    """A module of a package, which is no reason to execute either; None where it has none."""
    namespace = _namespace(package)
    if "__path__" not in namespace or name[:2] == "__":
        return None
    module = _new(f"{namespace['__name__']}.{name}", _found(namespace["__path__"][0], name))
    if module is not None:
        setattr(package, name, module)
    return module


def _new(name: str, found: tuple[str, str, os.stat_result] | None) -> ModuleType | None:
    """A module that is executed later; None for one that was not found."""
    if found is None:
        return None
    new = NotYet.__new__(NotYet)
    namespace = _namespace(new)
    namespace["__name__"] = name
    namespace["__found__"] = found
    if found[1] == "__init__":
        namespace["__path__"] = [found[0]]
    return sys.modules.setdefault(name, new)  # of two threads, one is the first


def _place(namespace: Any) -> None:
    """Put there what `importlib` puts there before it executes a module."""
    spec = _spec(namespace["__name__"], namespace["__found__"])
    namespace |= {
        "__doc__": None,
        "__package__": spec.parent,
        "__loader__": spec.loader,
        "__spec__": spec,
        "__file__": spec.origin,
        "__cached__": spec.cached,
    }
    namespace.pop("__found__", None)


class _CompiledLoader(SourceFileLoader):
    """Loads a module from a compiled file beside its source."""

    def __init__(self, name: str, path: str, compiled: str, source: os.stat_result) -> None:
        self.name, self.path = name, path
        self._compiled = compiled
        self._source = source

    def exec_module(self, module: ModuleType) -> None:
        """Have a module executed when it is asked for something."""
        module.__class__ = NotYet

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of a compiled file that is of its source, as that was when it was found; else
        what `importlib` makes of the source.
        """
        try:
            with io.open_code(self._compiled) as file:
                data = file.read()
        except OSError:
            return super().get_code(fullname)
        written = (int(self._source.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little")
        size = (self._source.st_size & 0xFFFFFFFF).to_bytes(4, "little")
        if data[:16] == MAGIC_NUMBER + bytes(4) + written + size and _USUAL:
            code = marshal.loads(memoryview(data)[16:])
            if isinstance(code, CodeType) and code.co_filename == self.path:
                return code
        return super().get_code(fullname)


def _found(folder: str, name: str) -> tuple[str, str, os.stat_result] | None:
    """The folder of a module, its file without the ending, and what that is like; None where there
    is no plain file.
    """
    try:
        return folder, name, os.stat(f"{folder}/{name}.py")
    except OSError:
        folder = f"{folder}/{name}"
    try:
        return folder, "__init__", os.stat(f"{folder}/__init__.py")
    except OSError:
        return None


def _spec(name: str, found: tuple[str, str, os.stat_result]) -> ModuleSpec:
    """What `importlib` has to know of a module."""
    folder, own, source = found
    file = f"{folder}/{own}.py"
    compiled = f"{folder}/__pycache__/{own}{_COMPILED}"
    loader = _CompiledLoader(name, file, compiled, source)
    spec = ModuleSpec(name, loader, origin=file, is_package=own == "__init__")
    spec.submodule_search_locations = [folder] if own == "__init__" else None
    spec.has_location = True
    spec.cached = compiled
    return spec


def _is_own(folder: str) -> bool:
    return f"{folder}/".startswith(_FOLDERS)


class OwnModules:
    """A finder of what lies in runner's packages."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is; None for one that is not runner's, or not a plain file."""
        if path is None or len(path) != 1 or not _is_own(path[0]):
            return None
        found = _found(path[0], name.rpartition(".")[2])
        return None if found is None else _spec(name, found)


def import_module(name: str) -> ModuleType:
    """`importlib.import_module` of one of our own modules."""
    return sys.modules.get(name) or _registered(name) or __import__(name, fromlist=("any",))


def find_own_modules(folder: str) -> None:
    """Find the modules of the packages in a folder like that from now on."""
    global _ROOT, _FOLDERS
    _ROOT = folder
    _FOLDERS = tuple(f"{folder}/{name}/" for name in _TOPS)
    if OwnModules not in sys.meta_path:
        os.register_at_fork(  # a child has no thread that would release it
            before=_EXECUTING.acquire,
            after_in_parent=_EXECUTING.release,
            after_in_child=_EXECUTING.release,
        )
        sys.meta_path.insert(0, OwnModules)


def move(folder: str) -> None:
    """Have all modules of this process, whoever's they are, where their files are from now on:
    below a folder, by the same paths.
    """

    def moved(path: Any) -> Any:
        return f"{folder}{path}" if isinstance(path, str) and path[:1] == "/" else path

    modules: list[object] = list(sys.modules.values())
    for module in modules:
        if not isinstance(module, ModuleType):
            continue
        namespace = _namespace(module)
        for name in ("__file__", "__cached__"):
            if name in namespace:
                namespace[name] = moved(namespace[name])
        if "__path__" in namespace:
            namespace["__path__"] = [moved(path) for path in namespace["__path__"]]
        if "__found__" in namespace:
            at, *rest = namespace["__found__"]
            namespace["__found__"] = (moved(at), *rest)
        spec = namespace.get("__spec__")
        if spec is None:
            continue
        spec.origin, spec.cached = moved(spec.origin), moved(spec.cached)
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations = namespace.get("__path__")
        for name in ("path", "_compiled"):
            if hasattr(spec.loader, name) and not isinstance(spec.loader, type):
                setattr(spec.loader, name, moved(getattr(spec.loader, name)))
