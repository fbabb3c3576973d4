# SPDX-License-Identifier: Apache-2.0
"""The registry: built-in states/ and modules/ plus a tree's own _states/, _modules/, ...."""

from __future__ import annotations

import importlib
from contextlib import suppress
from functools import cached_property, partial, wraps
from types import ModuleType

from modules._planned import dry_run
from runner.engine.loader import sys_functions, tree_modules, unsupported
from runner.engine.loader.builtin import (
    HOOKS,
    UnavailableError,
    UnavailableFunction,
    declares,
    lacking,
    library,
    members,
    offered,
    plans,
    relationship_hooks,
)
from runner.language.arguments import schema
from runner.language.salt import object as salt_object
from runner.language.salt import package, style
from runner.model import diagnostics, other_tools
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.support.files.group_commit import GROUP_COMMIT
from runner.support.log import LOG
from runner.support.own_modules import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from runner.engine.loader.tree_modules import TreeModules

__all__ = ["Registry", "StateFunction", "UnavailableError"]

# our functions that answer from what the run knows: they look at nothing that states write
_OF_THE_RUN = frozenset(
    "config.get file.dirname file.join grains.filter_by grains.get grains.has_value"
    " pillar.filter_by pillar.get slsutil.merge slsutil.serialize".split()
)

_UNHEARD = frozenset(["log.debug", "log.info"])  # which do nothing where nobody reads the log


class StateFunction(Record):
    """A state function, ready to be bound and called."""

    name: str  # "file.managed"
    function: Callable[..., Any]
    classic: bool  # answers with Salt's dictionary instead of planning
    module: ModuleType
    non_idempotent: str = ""  # why it changes something in each run by its nature
    reaction: StateFunction | None = None  # the mod_watch of the module's name
    relationships: tuple[str, ...] = ()  # the hooks of its module that ask for automatic ones

    @property
    def mod_watch(self) -> Callable[..., Any] | None:
        return self.reaction.function if self.reaction else None

    @property
    def is_built_in(self) -> bool:
        """Return whether it is one of the library, not of the tree."""
        return self.module.__name__.startswith("states.")

    def hook(self, name: str) -> Any:
        """The value of a hook in the module itself; None where it has none.

        A module that loads its functions when they are asked for (`__getattr__`) is not asked: its
        hooks stand in the module.
        """
        return self.module.__dict__.get(name)


def _flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as an SLS calls it. Groups of arguments have defaults that are records; a call
    that sets nothing of them needs no schema.
    """
    inner: Any = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = inner.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    first = code.co_argcount - len(inner.__defaults__ or ())
    defaults = dict(zip(names[first:], inner.__defaults__ or (), strict=False))
    defaults |= inner.__kwdefaults__ or {}
    plain = {name for name in names if not isinstance(defaults.get(name), Record)}
    if len(plain) == len(names):
        return function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (function if plain.issuperset(kwargs) else schema.flat(function))(*args, **kwargs)

    found: Callable[..., Any] = inner.__dict__.setdefault("called", call)
    return found


class Registry:
    """Functions by their dotted names. Modules are imported when one of their functions is asked
    for.
    """

    def __init__(
        self,
        tree_folders: Mapping[str, list[str]],
        opts: Mapping[str, Any] | None = None,
        seen: Callable[[str], None] = lambda path: None,
    ) -> None:
        """tree_folders: kind (states, modules, grains, utils) -> folders. seen: is shown each file
        of the tree before it is loaded.
        """
        self.seen = seen
        self.opts = opts or {}
        self._folders = {kind: list(folders) for kind, folders in tree_folders.items()}
        self._libraries = {kind: library(kind) for kind in ("states", "modules")}
        self._trees: dict[str, TreeModules] = {}
        self._states: dict[str, StateFunction] = {}
        self._functions: dict[str, Callable[..., Any]] = {}
        self.looks = 0  # execution functions that were asked for and look at more than the run

    @cached_property
    def salt(self) -> salt_object.Salt:
        return salt_object.Salt(self)

    def refresh(self) -> None:
        """Forget what was loaded from the tree and what was not available (`reload_modules`)."""
        importlib.invalidate_caches()
        self._trees.clear()
        self._states.clear()
        self._functions.clear()

    @staticmethod
    def new_overlay() -> dry_run.PlannedOverlay:
        """Files of which nothing is planned yet, for a dry run."""
        return dry_run.PlannedOverlay()

    # -------------------------------------------------- states

    def state(self, name: str) -> StateFunction:
        """A state function ("file.managed"). Raises UnknownFunction, or UnavailableError when it
        cannot work (yet).
        """
        function = self._states.get(name)
        if function is None:
            function = self._states[name] = self._find_state(name)
        return function

    def _find_state(self, name: str) -> StateFunction:
        module_name, _, function_name = name.partition(".")
        for module in self._modules("states", module_name):
            function = offered(module, function_name)
            if function is not None:
                function = _flat(function)
                reason = module.__dict__.get("NON_IDEMPOTENT", {}).get(function_name, "")
                reaction = self._reaction(module_name)
                return StateFunction(
                    name,
                    function,
                    _is_classic(module, function),
                    module,
                    reason,
                    reaction,
                    relationships=relationship_hooks(module, function_name),
                )
        raise salt_object.UnknownFunction(
            f"State '{name}' is not available", hint=self._state_hint(name)
        )

    def _reaction(self, name: str) -> StateFunction | None:
        """The reaction of a module's states to a change of what they watch: the first that a module
        of the name has.
        """
        with suppress(UnavailableError):
            for module in self._modules("states", name):
                watch = offered(module, "mod_watch")
                if watch is not None:
                    watch = _flat(watch)
                    return StateFunction(
                        f"{name}.mod_watch", watch, _is_classic(module, watch), module
                    )
                if _replaces(module, name):
                    return None
        return None

    def _state_hint(self, name: str) -> str:
        """Hint at what to write for a state function that is not there."""
        module, _, function = name.partition(".")
        instead = unsupported.hint(name, name if self.has_state(module) else "")
        if instead and module not in self._tree("states").names():
            return instead
        here = module.lower() if self.has_state(module.lower()) else ""
        lowered = f"{here or other_tools.module_of(module.lower())}.{function.lower()}"
        theirs = other_tools.function_word(name, bool(here))
        exact = self._is_state(lowered)
        near = lowered if exact or theirs else self.suggest_state(lowered)
        meant = theirs.hint(name) if theirs and not exact else near and diagnostics.suggestion(near)
        if self.has_function(name):
            call = (
                f"{name} is an execution function: `module.run:` and below it `- {name}: [...]`"
                " calls it"
            )
            return f"{meant}{' ' if meant.endswith('?') else '; '}{call}" if meant else call
        if meant:
            return meant
        if self.has_state(module):
            return f"{module} has: {', '.join(self.state_functions(module))}"
        near = self._near_module(module)
        if near:
            functions = ", ".join(self.state_functions(near))
            return f"{diagnostics.suggestion(f'the module {near}')} It has: {functions}"
        lists = "`runner doc` lists all states"
        if other_tools.rows(module):
            lists = f"`runner doc {module}` finds what there is"
        return f"{lists}; one of your own belongs in _states/ of the tree"

    def _near_module(self, name: str) -> str | None:
        return diagnostics.nearest(name.lower(), self.state_modules(), 0.7)

    def _is_state(self, name: str) -> bool:
        module, _, function = name.partition(".")
        return self.has_state(module) and function in self.state_functions(module)

    def resources(self, module: str) -> Callable[[str | None], Iterable[Any]] | None:
        """The hook that tells what is there now; the library's own stand apart, so that runs do not
        load them: those of a family, and small ones, in one file by the names of their modules.
        """
        if module in self._tree("states").names():
            for source in self._modules("states", module):
                if "resources" in source.__dict__:
                    hook: Callable[[str | None], Iterable[Any]] = source.__dict__["resources"]
                    return hook
        if lies_at := self._libraries["states"].get(module):
            package, _, name = lies_at.rpartition(".")
            with suppress(ModuleNotFoundError):
                own: Callable[[str | None], Iterable[Any]] | None
                own = getattr(import_module(f"{package}._resources"), f"{name}_resources", None)
                own = own or import_module(f"{package}._resources.{name}").resources
                return own
        return None

    def resource_role(self, module: str) -> str:
        """Return what the resources of a module are about, which is the SLS file that they belong
        in: the ROLE beside the hook, else the name of the module.
        """
        return str(self._beside_hook(module, "ROLE") or module)

    def resource_needs(self, module: str) -> tuple[str, ...]:
        """The modules whose resources come before those of a module: the AFTER beside the hook."""
        return tuple(self._beside_hook(module, "AFTER") or ())

    def _beside_hook(self, module: str, name: str) -> Any:
        value = getattr(self.resources(module), "__globals__", {}).get(name)
        return value.get(module) if isinstance(value, dict) else value  # of several, by their names

    def has_state(self, module: str) -> bool:
        """Return whether there is a state module of this name."""
        return module in self._tree("states").names() or module in self._libraries["states"]

    def reacts(self, module: str) -> bool:
        """Return whether a state module has a mod_watch, so that a `watch` is more than a `require`
        to its states.
        """
        try:
            for source in self._tree("states").available(module):
                reacting = offered(source, "mod_watch") is not None
                if reacting or _replaces(source, module):
                    return reacting
        except UnavailableError:
            pass
        except RunnerError:
            return False
        own = self._libraries["states"].get(module)
        return own is not None and declares(own, "mod_watch")

    def rests(self, module: str) -> bool:
        """Return whether the mod_watch of a state module has nothing to do, as the system does not
        run.
        """
        watch = self._reaction(module)
        return watch is not None and watch.function.__dict__.get("rests", bool)()

    def state_modules(self) -> list[str]:
        """The names of all state modules."""
        return sorted({*self._libraries["states"], *self._tree("states").names()})

    def state_functions(self, module: str) -> list[str]:
        """The names of the functions of a state module."""
        return self._names("states", module, hidden=HOOKS)

    def suggest_state(self, name: str) -> str | None:
        """The nearest real state function."""
        return self._suggest(name, self.state_modules(), self.state_functions)

    # -------------------------------------------------- execution functions

    def function(self, name: str) -> Callable[..., Any]:
        """An execution function ("pkg.version"). Raises UnknownFunction or UnavailableError."""
        if not self.is_of_the_run(name):
            self.looks += 1
            if GROUP_COMMIT.is_collecting:
                GROUP_COMMIT.look_around()  # where the template of a file asks
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._find_function(name)
        return function

    def is_of_the_run(self, name: str) -> bool:
        """Return whether an execution function is ours and answers from what the run knows."""
        known = name in _OF_THE_RUN or (name in _UNHEARD and not LOG.on)
        return known and not self.is_of_the_tree(name)

    def is_of_the_tree(self, name: str) -> bool:
        """Return whether an execution function may be one of the tree's own."""
        return bool(self._tree("modules").paths(name.partition(".")[0]))

    def definition(self, name: str) -> Callable[..., Any]:
        """An execution function for its manual page: it may lack the program that it needs."""
        return self._find_function(name, ready=False)

    def _find_function(self, name: str, ready: bool = True) -> Callable[..., Any]:
        module_name, _, function_name = name.partition(".")
        unavailable: UnavailableError | None = None
        try:
            for module in self._modules("modules", module_name):
                function = offered(module, function_name)
                if function is None:
                    continue
                if ready and (program := lacking(module)):
                    hint = f"the program {program} is not installed (yet)"
                    error = UnavailableFunction(f"'{name}' is not available", hint=hint)
                    error.missing = (("command", program),)
                    raise error
                return schema.callable_flat(function)
        except UnavailableFunction:
            raise
        except UnavailableError as reason:
            unavailable = reason
        function = self._of_itself(name)
        if function is None:
            raise unavailable or salt_object.UnknownFunction(
                f"'{name}' is not available", hint=self.function_hint(name)
            )
        return function

    def _of_itself(self, name: str) -> Callable[..., Any] | None:
        """Salt's `sys.*`."""
        module, _, function = name.partition(".")
        if module != "sys" or function not in SYS:
            return None
        definition = getattr(sys_functions, function)
        bound = partial(definition, self)
        bound.__doc__ = definition.__doc__  # else the page would describe `partial`
        return bound

    def function_hint(self, name: str) -> str:
        """Hint at what to write for an execution function that is not there."""
        if self._is_state(name):
            return f"{name} is a state function: declare a state with it (`{name}:`)"
        instead = unsupported.within_a_run(name)
        if instead and name.partition(".")[0] not in self._tree("modules").names():
            return instead
        module, _, function = name.partition(".")
        here = module in self.modules()
        theirs = module if here else other_tools.module_of(module)
        if near := self.suggest_function(f"{theirs}.{function}"):
            return diagnostics.suggestion(near)
        if here:
            return f"{module} has: {', '.join(self.functions(module)) or 'nothing'}"
        return "`runner doc` lists all modules; one of your own belongs in _modules/ of the tree"

    def has_function(self, name: str) -> bool:
        """Return whether there is such an execution function, ready to work."""
        try:
            self.function(name)
        except RunnerError:
            return False
        return True

    def functions(self, module: str) -> list[str]:
        """The names of the execution functions of a module."""
        extra = SYS if module == "sys" else ()
        return sorted({*self._names("modules", module), *extra})

    def modules(self) -> list[str]:
        """The names of all execution modules."""
        return sorted({*self._libraries["modules"], *self._tree("modules").names(), "sys"})

    def has_module(self, name: str) -> bool:
        """Return whether there is an execution module of this name."""
        return name in self._libraries["modules"] or name in self.modules()

    def suggest_function(self, name: str) -> str | None:
        """The nearest real execution function."""
        return self._suggest(name, self.modules(), self.functions)

    def utility(self, name: str) -> Callable[..., Any]:
        """A function of the tree's `_utils`, else one of Salt's that runner has (`files.fopen`).
        Raises UnknownFunction when there is none.
        """
        module_name, _, function_name = name.partition(".")
        for module in self._tree("utils").available(module_name):
            function = offered(module, function_name)
            if function is not None:
                return function
        own = package.module_of(f"salt.utils.{module_name}")
        helper = style.UTILITIES.get(name) or getattr(own, function_name, None)
        if not callable(helper):
            raise salt_object.UnknownFunction(f"'{name}' is not available in __utils__")
        return helper

    def renderer(self, name: str) -> Callable[..., Any] | None:
        """The function render() of a module in the tree's `_renderers`. Raises UnavailableError."""
        module = self._tree("renderers").load(name)
        return offered(module, "render") if module else None

    def grain_functions(self) -> list[tuple[str, Callable[[], Any]]]:
        """The functions of the tree's `_grains`, with their names."""
        return [
            (f"{name}.{function_name}" if function_name else name, function)
            for name, module in self._tree("grains").all()
            for function_name, function in (
                members(module) if isinstance(module, ModuleType) else [("", module)]
            )
        ]

    # -------------------------------------------------- modules

    def sources(self, kind: str, name: str) -> list[str]:
        """The files of the tree's modules (states, modules, ...) of a name; they are not loaded for
        it.
        """
        return self._tree(kind).paths(name)

    def _tree(self, kind: str) -> TreeModules:
        tree = self._trees.get(kind)
        if tree is None:
            tree = self._trees[kind] = tree_modules.TreeModules(
                kind, self._folders.get(kind, []), self, self._folders.get("utils")
            )
        return tree

    def _modules(self, kind: str, name: str) -> Iterator[ModuleType]:
        """The modules of a name, each loaded when it is its turn: those of the tree, then the
        library's own.

        So the functions of a tree's module override equal ones and leave the others. Raises
        UnavailableError, after all others, when one is there that cannot work.
        """
        unavailable: UnavailableError | None = None
        try:
            if self._folders.get(kind):
                yield from self._tree(kind).available(name)
        except UnavailableError as reason:
            unavailable = reason
        if name in self._libraries[kind]:
            yield import_module(self._libraries[kind][name])
        if unavailable:
            raise unavailable

    def _names(self, kind: str, module: str, hidden: frozenset[str] = frozenset()) -> list[str]:
        names: set[str] = set()
        with suppress(UnavailableError):
            for source in self._modules(kind, module):
                names.update(name for name, _ in members(source) if name not in hidden)
        return sorted(names)

    def _suggest(
        self, name: str, modules: list[str], functions: Callable[[str], list[str]]
    ) -> str | None:
        module = name.partition(".")[0]
        near = [module] if module in modules else diagnostics.similar(module, modules, 3, 0.7)
        wanted = name.partition(".")[2]
        candidates = [  # the module alone makes no two names alike
            f"{near_module}.{function}"
            for near_module in near
            for function in functions(near_module)
            if diagnostics.likeness(wanted, function) >= 0.5
        ]
        return diagnostics.nearest(name, candidates)


def _is_classic(module: ModuleType, function: Callable[..., Any]) -> bool:
    return "__salt__" in module.__dict__ and not plans(function)


def _replaces(module: ModuleType, name: str) -> bool:
    """Return whether a module of a tree has the file name of a built-in one: Salt takes it for the
    whole of that one.
    """
    file = module.__file__ or ""
    return "__salt__" in module.__dict__ and file.endswith((f"/{name}.py", f"/{name}/__init__.py"))


SYS = (
    "argspec",
    "doc",
    "list_functions",
    "list_modules",
    "list_renderers",
    "list_state_functions",
) + (
    ("list_state_modules", "reload_modules", "state_argspec", "state_doc")  # of sys_functions.py
)
