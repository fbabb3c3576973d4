# SPDX-License-Identifier: Apache-2.0
"""The command `rehearse`: the real run on a copy of this machine that is thrown away."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import print_text, write
from runner.cli.running.exit_codes import DONE, FAILED, INTERRUPTED, LOCKED, NOT_RUN
from runner.cli.running.options import (
    CHOOSING,
    DEFAULTS,
    READING,
    ROOTED,
    RUNNING,
    Common,
    loaded,
    with_common,
)
from runner.engine import interrupts
from runner.engine.rehearsal import image, kept, runs, sandbox
from runner.engine.rehearsal.holder import Spec
from runner.model import handed_over_pillar
from runner.model.errors import RunnerError, UsageError
from runner.output import rehearsal, text
from runner.output.formats import RUN
from runner.sources.config import load
from runner.tools.expectations import evaluation, reading

WHAT = ("highstate", "sls", "single")
OPTIONS = {**CHOOSING, "timeout": RUNNING["timeout"]}
# of the options, to the runs
NOT_REPEATED = ("out", "pillar", "pillar_stdin", "verbose", "quiet", "log_file")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@with_common(READING, ROOTED, OPTIONS, answer=RUN)
def rehearse(
    *,
    what: Annotated[
        str | None,
        argument(
            metavar="[highstate|sls|single]", help="The command to rehearse.", complete=(WHAT,)
        ),
    ] = None,
    names: Annotated[
        list[str], argument(metavar="[NAME...]", help="What it takes.", complete=("sls-list",))
    ] = [],  # noqa: B006 - never changed
    twice: Annotated[
        bool, option("--twice", help="Run it twice; fail if the second run changes anything.")
    ] = False,
    expect: Annotated[
        str | None,
        option("--expect", metavar="FILE", help="Check these expectations (YAML) after the run."),
    ] = None,
    network: Annotated[
        str, option("--network", metavar="none|host", help="The network of the copy: none.")
    ] = "none",
    size: Annotated[
        str | None,
        option("--size", metavar="SIZE", help="Memory for its changes, such as 2G (half of free)."),
    ] = None,
    keep: Annotated[
        bool, option("--keep", help="Keep the copy running, until the next rehearsal.")
    ] = False,
    shell: Annotated[
        bool, option("--shell", help="A shell in the copy afterwards; alone, in the one kept.")
    ] = False,
    common: Common,
) -> int:
    """Do the real run on a copy of this machine, and throw it away.

    Nothing reaches this machine. Packages install, services start and commands run in the copy;
    the report says what really changed, and where `--test` had said otherwise. With --root it is
    the image that is copied.

    Example: runner rehearse highstate --twice
    """
    options, _ = loaded(common, inside=False)
    root = _image(options.root)
    if what is None and shell:
        return _look_around(options.state_dir, root)
    _check(what, names, network)
    expectations = _expectations(expect)
    inner = _inner(what or "", names, common)
    if kept.discard(options.state_dir):
        _say("the copy of an earlier rehearsal is gone")
    try:
        with _copy(network, _bytes(size), keep, root) as box:
            code = _Course(common, options, inner, expectations, twice, root).run_in(box)
            box.keep = keep and box.alive and code not in (NOT_RUN, LOCKED)
            if shell and box.alive and code not in (NOT_RUN, LOCKED):
                _shell(box, inner.env, inner.cwd, root)
            if box.keep:
                kept.keep(options.state_dir, box)
                _say(
                    "the copy is kept until the next rehearsal: `runner rehearse --shell`;"
                    f" `kill {box.holder}` ends it"
                )
            return code
    except KeyboardInterrupt as interrupt:
        number, why = interrupts.number_of(interrupt)
        _say(f"{why}; the copy is gone, and this machine is as it was")
        return 128 + number


def _image(root: str) -> str:
    """The whole path of the image that is copied; empty for this machine. Raises RunnerError."""
    if root and os.geteuid():
        raise RunnerError("--root: the rehearsal of an image needs root", hint="run it with sudo")
    return image.checked(root) if root else ""


def _copy(network: str, size: int | None, keep: bool, root: str) -> sandbox.Sandbox:
    if not root:
        return sandbox.Sandbox(network=network, size=size, keep=keep)
    spec = Spec(network, size or sandbox.half_of_free_memory())  # without any init
    return sandbox.Sandbox(keep=keep, spec=spec)


def _say(text: str) -> None:
    print(f"runner: {text}", file=sys.stderr)


def _check(what: str | None, names: Sequence[str], network: str) -> None:
    if what not in WHAT:
        raise UsageError(
            f"rehearse {what}: there is no such run" if what else "nothing to rehearse",
            hint="runner rehearse highstate|sls NAME|single STATE.FUN key=value",
        )
    if what == "highstate" and names:
        raise UsageError(
            f"{names[0]!r} is one word too many", hint=f"runner rehearse sls {names[0]}"
        )
    if what != "highstate" and not names:
        raise UsageError("nothing is named", hint=f"runner rehearse {what} NAME")
    if network not in sandbox.NETWORKS:
        raise UsageError(f"--network {network}: there is no such network", hint="none or host")


def _bytes(size: str | None) -> int | None:
    """A size such as 512M in bytes. Raises UsageError."""
    if size is None:
        return None
    number, unit = (size[:-1], size[-1:].upper()) if size[-1:].isalpha() else (size, "")
    if not number.isdigit() or (unit and unit not in UNITS):
        raise UsageError(f"--size {size}: this is not a size", hint="such as 512M or 2G")
    wanted = int(number) * UNITS.get(unit, 1)
    if wanted < sandbox.SMALLEST:
        raise UsageError(f"--size {size}: that is too small", hint="64M or more")
    return wanted


def _expectations(path: str | None) -> Sequence[Any]:
    if path is None:
        return ()
    return reading.load(path)


def _inner(what: str, names: Sequence[str], common: Common) -> Any:
    """The command line of the runs in the copy: the same one, but for what the report takes."""
    reading = _repeated(READING | ROOTED, common)
    given = common.pillar
    if common.whole_pillar is not None:
        reading += ["--pillar-stdin"]
        given = f"{handed_over_pillar.line(common.whole_pillar)}\n{given or ''}"
    if common.pillar is not None:
        reading += ["--pillar", "-"]
    words = [what, *names, "--wait", "60", *_repeated(OPTIONS, common)]
    return runs.Inner(
        tuple(words), tuple(reading), given, runs.environment(os.environ), os.getcwd()
    )


def _repeated(options: Mapping[str, Any], common: Common) -> list[str]:
    """The words that say again what was said of some options."""
    words = []
    for name, declared in options.items():
        value = common.settings.get(name, getattr(common, name, None))
        if name in NOT_REPEATED or not value or value == getattr(DEFAULTS, name, None):
            continue
        flag = declared[1].names[0]
        values = value if isinstance(value, list) else [value]
        words += [flag if item is True else f"{flag}={item}" for item in values]
    return words


def _folder(box: Any, folder: str) -> str:
    """The current directory, where the copy has it."""
    return folder if box.path(folder).is_dir() else "/"


def _shell(box: Any, env: Mapping[str, str], folder: str, root: str) -> None:
    argv = image.argv_in(root, "os.execl('/bin/sh', 'sh')") if root else ()
    box.shell(env, _folder(box, folder), argv)


def _look_around(state_dir: str, root: str) -> int:
    box = kept.kept(state_dir)
    if box is None:
        raise RunnerError("no copy is kept", hint="runner rehearse highstate --keep")
    _shell(box, runs.environment(os.environ), os.getcwd(), root)
    return DONE


class _Course:
    """The runs of a rehearsal, and its report in the form that was asked for."""

    def __init__(
        self,
        common: Common,
        options: Any,
        inner: Any,
        expectations: Sequence[Any],
        twice: bool,
        root: str,
    ) -> None:
        self.common, self.options, self.inner = common, options, inner
        self.expectations, self.twice, self.root = expectations, twice, root

    def run_in(self, box: Any) -> int:
        common, options = self.common, self.options
        forms = ["--out", common.form.name]
        if common.for_people:
            self._announce(box)
            forms += ["-v"] * common.verbose + ["-q"] * common.quiet
        inner = self.inner._replace(cwd=_folder(box, self.inner.cwd))
        own: tuple[str, ...] = (options.state_dir, options.cachedir)
        if self.root:
            own = (*load.usual_folders({}), *own)
        rehearser = runs.Rehearser(box, inner, own, forms, common.for_people, self.root)
        sys.stdout.flush()
        dry = rehearser.dry_run()
        if dry[0].code not in (DONE, FAILED):
            return self._not_begun(dry[0])
        done = rehearser.real_runs(dry, self.twice)
        print(done.real.err, end="", file=sys.stderr)
        outcomes = self._evaluate(box, rehearser)
        self._report(box, done, outcomes)
        return self._code(box, done, outcomes)

    def _announce(self, box: Any) -> None:
        if self.common.quiet:
            return
        init = "systemd" if box.has_systemd else "no init: services do not run"
        what = self.root or "this machine"
        print(f"Rehearsal on a copy of {what} ({init}; network: {box.spec.network})")
        for warning in box.warnings:
            _say(warning)

    def _not_begun(self, dry: Any) -> int:
        """Return what kept the run from beginning, as it says it itself."""
        print_text(dry.out)
        print(dry.err, end="", file=sys.stderr)
        return NOT_RUN if dry.code not in (LOCKED, INTERRUPTED) else int(dry.code)

    def _evaluate(self, box: Any, rehearser: Any) -> list[Any]:
        if not self.expectations or not box.alive:
            return []
        outcomes = evaluation.evaluate(
            self.expectations, box.run, self.options.raw.get("conf_file"), root=self.root
        )
        shown = rehearser.masked([[item.expected, item.actual, item.problem] for item in outcomes])
        unknown = [[None, None, "its secrets could not be masked"]] * len(outcomes)
        return [
            item._replace(expected=expected, actual=actual, problem=item.problem and problem)
            for item, (expected, actual, problem) in zip(outcomes, shown or unknown, strict=True)
        ]

    def _report(self, box: Any, done: Any, outcomes: Sequence[Any]) -> None:
        common = self.common
        if common.form.report:
            print_text(rehearsal.junit(done, outcomes))
            return
        if not common.for_people:
            write(common, rehearsal.data(done, outcomes, box.warnings))
            return
        if common.quiet and self._code(box, done, outcomes) == DONE:
            return
        if not box.alive:
            _say("the copy ended with the run, which shut it down; what changed in it is lost")
            return
        colour = text.wants_colour(sys.stdout, os.environ)
        for line, shade in rehearsal.lines(done, outcomes, common.verbose):
            print(text.paint(text.safe(line, sys.stdout), shade, colour))
        if box.is_full:
            limit = box.spec.size >> 20
            _say(f"the {limit} MiB for the changes of the copy are full: --size gives it more")

    def _code(self, box: Any, done: Any, outcomes: Sequence[Any]) -> int:
        if done.real.code > 128:
            return int(done.real.code)
        failed = (
            done.real.code
            or (done.again and (done.again.code or done.again.changed))
            or any(outcome.ok is False for outcome in outcomes)
            or not box.alive
        )
        return FAILED if failed else DONE
