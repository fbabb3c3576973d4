"""The command `highstate`: everything that the top file gives this machine."""

from __future__ import annotations

from runner.cli.options import CHANGING, READING, Common, finish, options_of, with_common
from runner.output.formats import RUN


@with_common(READING, CHANGING, answer=RUN)
def highstate(*, common: Common) -> int:
    """Apply everything that the top file assigns to this machine.

    Example: runner highstate --test
    """
    from runner import pipeline

    options = options_of(common, running=True)
    return finish(common, options, lambda listeners: pipeline.highstate(options, listeners))
