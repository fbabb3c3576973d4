# SPDX-License-Identifier: Apache-2.0
"""One execution function, outside of a run."""

from __future__ import annotations

from contextlib import nullcontext

from runner.api import ChangeNotAllowed, StateFailed, changes_allowed, running
from runner.engine import partial_changes
from runner.engine.context import Current
from runner.model.errors import RunnerError
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Session
from runner.pipeline.stages import warn
from runner.support.log import LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from runner.model.places import Value
    from runner.pipeline.session import Listeners
    from runner.sources.config.options import Options


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
        given = partial_changes.named_arguments(function, called, args, kwargs)
        called = getattr(called, "as_changer", called)
        secrets = session.run.secrets
        secrets.collect_call([list(args), given], session.options.secret_keys)
        direct = Current(session.run, called_directly=True)
        with running(direct), nullcontext() if options.test else changes_allowed():
            answer = answered(function, called, args, kwargs)
            for warning, _ in [*current.warnings, *direct.warnings]:
                warn(session, secrets.mask(warning))
            secrets.recall(options.state_dir)
            return secrets.mask(answer, former=True), session.run.took_failure()


def answered(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The answer of a function. Raises RunnerError where it fails, anything for a bug of ours."""
    try:
        return function(*args, **kwargs)
    except StateFailed as failure:
        raise RunnerError(f"{name}: {failure.message}") from None
    except RunnerError:
        raise
    except ChangeNotAllowed:
        hint = "without --test it does"
        raise RunnerError(
            f"{name} changes the machine: a dry run does not call it", hint=hint
        ) from None
    except Exception as error:
        raise partial_changes.of_call(name, function, args, kwargs, error) from error
