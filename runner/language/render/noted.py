# SPDX-License-Identifier: Apache-2.0
"""What one rendering asks execution functions for, so that a later run can ask the same again and
compare what they answer.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from contextlib import suppress

from runner.language.render.value_digests import digest
from runner.language.salt.object import Salt
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Protocol

    from runner.language.salt.object import Functions

    class Registry(Functions, Protocol):
        """The registry. looks: how many functions were asked for that look at more than the run."""

        looks: int

        def is_of_the_run(self, name: str) -> bool: ...
        def is_of_the_tree(self, name: str) -> bool: ...


_OF_JINJA = ("_loop_vars", "_block_vars")  # arguments that the code of a template gives to `call`


class Answered(Record):
    """A call of a function that looks at more than the run. arguments: as bytes. result: the digest
    of what it answered; nothing where that is no plain data. error: what it raised instead.
    """

    function: str
    arguments: bytes
    result: bytes
    answer: Any
    error: Exception | None = None


class Notes:
    """What one rendering asks for, and whether all of that is known: the registry for its `salt`.

    imports, grains: the names of templates and grains. of_the_run, looks: the functions that answer
    from what the run knows, and the calls of others.
    """

    def __init__(
        self,
        registry: Registry,
        before: list[Answered],
        shared: Callable[[], tuple[bytes | None, ...]],
        grain: Callable[[str], Any],
    ) -> None:
        """before: looks of a moment ago. As far as the rendering begins with the same, it gets
        their answers. shared: digests of what the template shares with others. grain: (name) ->
        what it is.
        """
        self._registry, self._shared, self._grain = registry, shared, grain
        self._before = before
        self._as_it_was: tuple[bytes | None, ...] = ()
        self._grains_as_they_were: dict[str, bytes | None] = {}
        self._given: dict[int, tuple[str, Callable[..., Any]]] = {}  # functions, with their names
        self._called: set[int] = set()
        self._modules: set[str] = set()  # `salt.a`
        self._is_searched = False
        self.may_have_altered = False
        self.imports: set[str] = set()
        self.grains: set[str] = set()
        self.of_the_run: set[str] = set()
        self.looks: list[Answered] = []

    @property
    def salt(self) -> Salt:
        return Salt(self)

    def before_altering(self) -> None:
        """Remember what is shared as it is: what is called now may alter it."""
        if not self.may_have_altered:
            self.may_have_altered, self._as_it_was = True, self._shared()
        for name in self.grains - self._grains_as_they_were.keys():
            self._grains_as_they_were[name] = digest(self._grain(name))

    def are_whole(self) -> bool:
        """Return whether nothing but this was asked of `salt`, and what others see is as it was."""
        answers = {(look.result, id(look.answer)): look.answer for look in self.looks}
        modules = {self._given[function][0].partition(".")[0] for function in self._called}
        before = self._grains_as_they_were
        return (
            not self._is_searched
            and self._given.keys() == self._called
            and self._modules <= modules | {name.partition(".")[0] for name in self.of_the_run}
            and (not self.may_have_altered or self._as_it_was == self._shared())
            and None not in self._as_it_was
            and all(digest(self._grain(name)) == value for name, value in before.items())
            and all(digest(answer) == result for (result, _), answer in answers.items())
        )

    def texts(self) -> Iterator[str]:
        """What stands in the looks, which may be secret."""
        for look in self.looks:
            yield from _texts((marshal.loads(look.arguments), look.answer))

    # -------------------------------------------------- what the template asks for

    def function(self, name: str) -> Callable[..., Any]:
        searched, self._is_searched = self._is_searched, True  # where there is none
        looks = self._registry.looks
        function = self._registry.function(name)
        self._is_searched = searched
        if self._registry.is_of_the_run(name):
            self.of_the_run.add(name)
        else:
            self._registry.looks = looks
            self._given[id(function)] = name, function
        return function

    def call(
        self, call: Callable[..., Any], context: Any, function: Any, args: Any, named: Any
    ) -> Any:
        """Return what a function answers. call: calls it, as the sandbox does."""
        name, _ = self._given.get(id(function), ("", None))
        if not name:
            return call(context, function, *args, **named)
        self._called.add(id(function))
        arguments = _as_bytes(args, named)
        if self._before and self._before[0][:2] == (name, arguments):
            look = self._before.pop(0)
            if look.error:
                raise look.error
            self.looks.append(look)
            return look.answer
        self._before = []
        self.before_altering()
        looks = self._registry.looks
        answer = call(context, function, *args, **named)
        self._registry.looks = looks  # what it asks for itself is part of its answer
        result = digest(answer)
        same = arguments == _as_bytes(args, named)
        same = same and not hasattr(function, "jinja_pass_arg")  # it gets the variables, too
        if arguments is None or result is None or not same:
            self._is_searched = True
        else:
            self.looks.append(Answered(name, arguments, result, answer))
        return answer

    def has_function(self, name: str) -> bool:
        self._is_searched = True
        return self._registry.has_function(name)

    def functions(self, module: str) -> list[str]:
        self._is_searched = True
        return self._registry.functions(module)

    def modules(self) -> list[str]:
        self._is_searched = True
        return self._registry.modules()

    def has_module(self, name: str) -> bool:
        found = self._registry.has_module(name)
        self._is_searched = self._is_searched or not found
        self._modules.add(name)  # which is asked for a function, or whether it is there
        return found

    def function_hint(self, name: str) -> str:
        return self._registry.function_hint(name)


def ask_again(
    looks: Iterable[tuple[str, bytes, bytes]], registry: Registry
) -> tuple[list[Answered], bool]:
    """Return what functions answer now, up to the first that answers otherwise, and whether none
    does.
    """
    made: list[Answered] = []
    counted = registry.looks
    for name, arguments, before in looks:
        args, named = marshal.loads(arguments)
        try:
            answer = registry.function(name)(*args, **named)
        except Exception as error:  # rendering tells of it
            made.append(Answered(name, arguments, b"", None, error))
            return made, False
        registry.looks = counted  # who asks here knows of it
        result = digest(answer) or b""
        if _as_bytes(args, named) != arguments:
            return made, False
        made.append(Answered(name, arguments, result, answer))
        if result != before:
            return made, False
    return made, True


def _texts(value: Any) -> Iterator[str]:
    value = [*value.items()] if isinstance(value, Mapping) else value
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    else:
        yield str(value)


def _as_bytes(args: Any, named: Any) -> bytes | None:
    """The arguments of a call as bytes; None for what is no plain data."""
    own = {name: value for name, value in named.items() if name not in _OF_JINJA}
    with suppress(ValueError):
        return marshal.dumps((args, own), 0)
    return None
