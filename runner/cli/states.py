"""Commands that bring the machine to a state: highstate, sls, single."""

from __future__ import annotations

from typing import Annotated

from runner.cli.option_spec import argument
from runner.cli.options import CHANGING, READING, Common, finish, options_of, with_common
from runner.cli.values import arguments_of
from runner.model.errors import UsageError


@with_common(READING, CHANGING)
def highstate(*, common: Common) -> int:
    """Bring this machine to everything that the top file gives it.

    Example: runner highstate --test
    """
    from runner import pipeline

    options = options_of(common, running=True)
    return finish(common, options, lambda listeners: pipeline.highstate(options, listeners))


@with_common(READING, CHANGING)
def sls(
    *,
    names: Annotated[
        list[str], argument(metavar="NAME[,NAME...]", help="SLS files, as `include` names them.")
    ],
    common: Common,
) -> int:
    """Bring this machine to what some SLS files say.

    Example: runner sls nginx,users --test
    """
    from runner import pipeline

    options = options_of(common, running=True)
    wanted = [name for word in names for name in word.split(",") if name]
    if not wanted:
        raise UsageError("no SLS file is named", hint="runner sls NAME")
    for word in wanted:
        if "=" in word:
            _no_option(word)
    return finish(common, options, lambda listeners: pipeline.sls(options, wanted, listeners))


@with_common(READING, CHANGING)
def single(
    *,
    function: Annotated[
        str, argument(metavar="STATE.FUN", help="A state function, such as file.absent.")
    ],
    words: Annotated[
        list[str], argument(metavar="key=value", help="Its arguments: YAML, [lists] in brackets.")
    ],
    common: Common,
) -> int:
    """Run one state without writing an SLS file.

    Example: runner single file.managed name=/etc/motd contents=Hello
    """
    from runner import pipeline

    positional, named = arguments_of(words)
    if positional and "name" not in named:
        named = {"name": positional.pop(0), **named}
    if positional:
        raise UsageError(f"{positional[0]!r} is no argument", hint="write key=value")
    options = options_of(common)
    return finish(
        common, options, lambda listeners: pipeline.single(options, function, named, listeners)
    )


def _no_option(word: str) -> None:
    from runner.cli.usage import as_option

    if hint := as_option(word):
        raise UsageError(f"{word!r} is no SLS file", hint=hint)
