# SPDX-License-Identifier: Apache-2.0
"""One execution function, outside of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from runner.api import ChangeNotAllowed, StateFailed, changes_allowed, running
from runner.engine.context import Current
from runner.model.errors import RunnerError
from runner.model.places import Source, Value
from runner.pipeline.gathering import read_pillar
from runner.pipeline.session import Listeners, Session
from runner.pipeline.stages import warn
from runner.sources.config.options import Options
from runner.support.log import LOG


def call(
    options: Options,
    function: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    listeners: Listeners = (),
) -> tuple[Any, int]:
    """The answer of one execution function, and the exit code of a command of its that failed.
    Raises RunnerError when the function fails, or would change the machine in a dry run.
    """
    session = Session(options, tuple(listeners))
    current = session.current()
    with session.opened(), running(current):
        read_pillar(session)
        LOG.arguments = True
        called = session.registry.function(function)
        given = _named_arguments(function, called, args, kwargs)
        called = getattr(called, "as_changer", called)
        secrets = session.run.secrets
        secrets.collect_call([list(args), given], session.options.secret_keys)
        direct = Current(session.run, called_directly=True)
        with running(direct), nullcontext() if options.test else changes_allowed():
            try:
                answer = called(*args, **kwargs)
                for warning, _ in [*current.warnings, *direct.warnings]:
                    warn(session, secrets.mask(warning))
                secrets.recall(options.state_dir)
                return secrets.mask(answer, former=True), session.run.took_failure()
            except StateFailed as failure:
                raise RunnerError(f"{function}: {failure.message}") from None
            except RunnerError:
                raise
            except ChangeNotAllowed:
                hint = "without --test it does"
                raise RunnerError(
                    f"{function} changes the machine: a dry run does not call it", hint=hint
                ) from None
            except Exception as error:
                raise _attribute_error(function, called, error) from error


def _attribute_error(name: str, function: Callable[..., Any], error: Exception) -> Exception:
    """An exception of a function of the tree as a mistake of its author, of one of ours as what was
    given, or a bug.
    """
    import inspect
    import traceback

    code = getattr(inspect.unwrap(function), "__code__", None)
    lines = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if code and frame.filename == code.co_filename
    ]
    message = f"{name}: {type(error).__name__}: {error}"
    if lines and getattr(function, "__module__", "").startswith("runner_tree_"):
        return RunnerError(message, Source(lines[-1].filename, lines[-1].lineno or 0))
    # of what was given
    if isinstance(error, TypeError | ValueError | LookupError | AttributeError):
        return RunnerError(
            message, hint=f"look at the values; `runner doc {name}` shows what it takes"
        )
    return error


def _named_arguments(
    name: str, function: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of an execution function by their names, those that are given by their places
    too. Raises RunnerError for what it does not take.
    """
    import inspect

    signature = inspect.signature(function)
    try:
        return {**signature.bind(*args, **kwargs).arguments, **kwargs}
    except TypeError as error:
        shown = ", ".join(
            str(parameter).partition(":")[0] for parameter in signature.parameters.values()
        )
        raise RunnerError(
            f"Passed invalid arguments to {name}: {error}", hint=f"it takes: {name}({shown})"
        ) from None
