# SPDX-License-Identifier: Apache-2.0
"""A run of states with the listeners that its output needs, and how it ends."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from contextlib import ExitStack, nullcontext, suppress
from functools import partial

from runner.cli.running import (
    answers,
    documents,
    html_report,
    image_build,
    metrics,
    reporting,
    rooted,
    scheduled_runs,
    tracing,
)
from runner.cli.running.exit_codes import DONE, code_of
from runner.cli.running.options import metrics_of_failed_start, wait_randomly
from runner.cli.running.streams import answer_alone
from runner.language.grains import reboot_required
from runner.model import paths
from runner.model.errors import UsageError
from runner.model.events import CycleFound, RunFinished, Warned
from runner.model.result import Report
from runner.output import cycle_pages, events, json_, log_listener, prometheus, text
from runner.sources.config.keys import NOTIFYING
from runner.sources.config.options import DISABLED
from runner.support.files import links
from runner.support.log import LOG
from runner.support.redaction import command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from runner.cli.running.options import Common
    from runner.model.errors import Diagnostic
    from runner.model.events import Event

    News = Callable[[Sequence[Diagnostic]], Sequence[Diagnostic]]


def notices(options: Any, news: News = list) -> Callable[[Event], None]:
    """A listener that prints warnings to stderr, and draws cycles in the cache folder.

    With `-q` warnings of the tree are held back until the run has changed something or failed.
    news: takes those of the tree that are shown, and returns those that are to be.
    """
    quiet = options.quiet
    held_back: list[Diagnostic] = []

    def listener(event: Event) -> None:
        nonlocal quiet
        if isinstance(event, Warned):
            if not event.of_tree:
                answers.show_problems(event.problems)
            elif quiet:
                held_back.extend(event.problems)
            else:
                answers.show_problems(news(event.problems))
        elif isinstance(event, RunFinished):
            if quiet and (event.report.changed or event.report.failed):
                quiet = False
                answers.show_problems(news(held_back))
        elif isinstance(event, CycleFound):
            cycle_pages.draw(event, options.cachedir)

    listener.events = (Warned, RunFinished, CycleFound)  # type: ignore[attr-defined]
    return listener


def finish(
    common: Common,
    options: Any,
    run: Callable[[tuple[Any, ...]], Report],
    shown: Callable[[Report], Any] | None = None,
    command: str | None = None,
    news: News = list,
) -> int:
    """Run states with the listeners that the output needs, and print what they do not. Raises
    BrokenPipeError when nobody reads the output any more.

    shown: what json and yaml show of the report. command: what does what a dry run shows (None: the
    same command line without `--test`). news: see `notices`.
    """
    wait_randomly(common)
    with metrics_of_failed_start(lambda: options.raw.get("prometheus_textfile"), common.test):
        stopped = os.path.lexists(os.path.join(options.state_dir, DISABLED))
        if stopped and scheduled_runs.ends_at_once(common, options):
            return DONE
    with ExitStack() as after, ExitStack() as opened:
        listeners = _listeners(common, options, command, news, after, opened)
        with (
            answer_alone(common.for_people or common.events == "-"),
            image_build.built(options) if options.image else nullcontext() as odd,
        ):
            report = run(tuple(listeners))
        opened.close()
        if odd:
            answers.show_problems(image_build.problems(odd, report))
        if options.root and not common.quiet:
            answers.show_problems(rooted.in_memory(report))
        with suppress(OSError):
            problems = (getattr(listener, "problem", "") for listener in listeners)
            for problem in filter(None, problems):
                print(f"warning: {problem}", file=sys.stderr)
        if any(getattr(listener, "closed", False) for listener in listeners):
            raise BrokenPipeError
        if report.changed and common.for_people and not (report.dry or options.root):
            _name_restart()
        if common.form.report:
            answers.print_text(common.form.report(report))
        elif options.image and common.for_people and not common.quiet:
            answers.print_text(image_build.first_boot(report))
        elif common.form.listener is None and common.form.data:
            usual = json_.report if common.more.get("as_salt") else json_.summarised
            answers.write(common, (shown or usual)(report))
        return code_of(report, common.detailed_exitcodes)


def _name_restart() -> None:
    """Say that what a run has changed takes a restart of this machine."""
    if why := reboot_required.why():
        print(f"This machine has to be restarted: {why}.", file=sys.stderr)


def _listeners(
    common: Common,
    options: Any,
    command: str | None,
    news: News,
    after: ExitStack,
    opened: ExitStack,
) -> list[Any]:
    """Return what listens to a run. opened: what they need until the run has ended; after: until
    its answer is printed.
    """
    listeners: list[Any] = [notices(options, news)]
    textfile = options.raw.get("prometheus_textfile")
    if options.raw.get("html_report"):
        listeners += after.enter_context(html_report.paged(options))
    if any(options.raw.get(key) for key in ("report", *NOTIFYING)):
        listeners += after.enter_context(reporting.reported(options, common.pulled))
    if common.form.listener:
        listeners.append(live_listener(common, options, command))
    if common.events:
        with metrics_of_failed_start(lambda: textfile, options.test):
            listeners.append(_events(common.events, opened))
    if LOG.on:
        listeners.append(log_listener.Logged())
    if textfile:
        facts = partial(metrics.facts, options)
        listeners.append(prometheus.Prometheus(textfile, facts, common.pulled))
    if common.form.document:
        listeners.append(opened.enter_context(documents.documented(common, options)))
    if "otel_endpoint" in options.raw or any(name.startswith("OTEL_") for name in os.environ):
        if tracing.wanted(options.raw, os.environ):
            listeners += opened.enter_context(tracing.traced(options))
    return listeners


def _events(where: str, opened: ExitStack) -> Any:
    if where == "-":
        return events.Events(sys.stdout)
    try:
        handle = links.open_output(
            paths.on_host(where), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        )
    except OSError as error:
        raise UsageError(f"--events {where}: {error.strerror}") from None
    listener = events.Events(os.fdopen(handle, "a", encoding="utf-8"))
    opened.callback(listener.close)
    return listener


def live_listener(common: Common, options: Any, command: str | None = None) -> Any:
    """A listener that shows the run as it goes on, as this terminal or pipe takes it.

    command: what does what a dry run shows; None: the same command line without `--test`.
    """
    assert common.form.listener is not None, "the form of people has one"
    if command is None:
        command = _real_command(sys.argv[1:], options) if common.test else ""
    return common.form.listener(
        sys.stdout,
        verbose=common.verbose,
        whole=common.diff,
        explain=common.explain,
        quiet=common.quiet,
        colour=text.wants_colour(sys.stdout, os.environ),
        width=text.terminal_width(),
        dry=common.test,
        wrap=sys.stdout.isatty(),
        live=not LOG.on_terminal and text.can_redraw(sys.stdout, os.environ),
        command=command,
        history=_history(options) if options else "",
    )


def _history(options: Any) -> str:
    """The command line that shows the run again; empty for one that leaves no history."""
    if options.image:
        return ""
    command = "runner history show last"
    if not options.root:
        return command
    return f"{command} --root {shlex.quote(options.root)}"


def _real_command(words: list[str], options: Any) -> str:
    """The command line that really does what a dry run has shown."""
    as_salt, words = bool(options.raw.get("as_salt")), command_line(words, options.secret_keys)
    program = "runner-salt-call" if as_salt else "runner"
    if os.path.basename(sys.argv[0]) == program and not shutil.which(program):
        program = sys.argv[0]  # `.venv/bin/runner`
    if as_salt or words[:1] == ["call"]:
        words = [word for word in words if not re.fullmatch(r"test=.*", word)]
    asked = ("--test", "--explain")
    return shlex.join([program, *(word for word in words if word not in asked)])
