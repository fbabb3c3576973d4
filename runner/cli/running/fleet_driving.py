# SPDX-License-Identifier: Apache-2.0
"""What `runner fleet` does: the machines that are meant, the playbook, the summary."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from runner.cli.running.answers import print_text, show_problems, write
from runner.cli.running.exit_codes import DONE, FAILED
from runner.cli.running.options import Common, options_of
from runner.cli.running.values import arguments_of
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError, UsageError
from runner.model.records import Record
from runner.output.text import can_redraw, counted, paint, safe, wants_colour
from runner.tools.fleet import ACTIONS, FORKS, forms, places, salt_export
from runner.tools.fleet import summary as fleet_summary
from runner.tools.fleet.inventory import check_names, inventory_of
from runner.tools.fleet.machines import Machines
from runner.tools.fleet.playbook import playbook
from runner.tools.fleet.playing import Played
from runner.tools.fleet.progress import Progress, ProgressLine
from runner.tools.fleet.records import Job, Limits
from runner.tools.fleet.selecting import Chosen

KINDS = ("ansible", "salt")
HOUR, DAY = 3_600, 86_400  # seconds
OLD = HOUR  # the age of grains from which on it is told


class FleetRequest(Record):
    """A command line of `fleet`. options: the configuration; inventory, limit: as typed."""

    options: Any
    common: Common
    job: Job
    target: str
    inventory: tuple[str, ...] = ()
    limit: str = ""
    forks: int = FORKS
    serial: str = ""
    max_fail: int = 0
    refresh: bool = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the configuration says below `fleet`."""
        settings: Mapping[str, Any] = self.options.raw.get("fleet") or {}
        return settings

    @property
    def pace(self) -> list[tuple[str, str]]:
        """The options that say how many machines may begin."""
        given = (("--serial", self.serial), ("--max-fail", str(self.max_fail or "")))
        return [(name, value) for name, value in given if value]


def driven(
    action: str,
    words: Sequence[str],
    inventory: Sequence[str],
    forks: int | None,
    serial: str | None,
    limit: str | None,
    max_fail: int | None,
    refresh: bool,
    common: Common,
) -> int:
    """Do what a command line of `fleet` says; its exit code. Raises UsageError and RunnerError."""
    if action not in ACTIONS:
        hint = f"one of {', '.join(ACTIONS)}"
        raise UsageError(f"runner fleet {action}: there is no such action", hint=hint)
    rest = tuple(words)
    _check_text((*rest, limit or ""))
    if action == "export":
        if rest[:1] not in (("ansible",), ("salt",)):
            raise UsageError("runner fleet export: what?", hint=f"one of {', '.join(KINDS)}")
        kind, target, *more = (*rest, "*")[: max(len(rest), 2)]
        job = _job(
            more[0] if more and kind == "ansible" else "highstate", tuple(more[1:]), common.test
        )
    else:
        kind, target = "", rest[0] if rest else "*"
        job = _job(action, rest[1:], common.test)
    options = options_of(common)
    configured = (options.raw.get("fleet") or {}).get("forks", FORKS)
    request = FleetRequest(
        options,
        common,
        job,
        target,
        tuple(inventory),
        limit or "",
        _number("--forks", forks if forks is not None else configured),
        _serial(serial),
        _number("--max-fail", max_fail) if max_fail is not None else 0,
        refresh,
    )
    if kind == "salt":
        return _export_salt(request, rest[1:])
    return _export_ansible(request) if kind else _run(request)


# ---------------------------------------------------------------- what the line says


def _job(function: str, words: tuple[str, ...], test: bool) -> Job:
    if function == "sls":
        if not words:
            raise UsageError("no SLS file is named", hint="runner fleet sls TARGET NAME")
        return Job("sls", name=",".join(words), test=test)
    if function == "call":
        if not words:
            raise UsageError("no function is named", hint="runner fleet call TARGET MODULE.FUN")
        positional, named = arguments_of(words[1:])
        return Job("call", words=words, test=test, positional=tuple(positional), named=named)
    if function != "highstate":
        raise UsageError(f"{function!r} is nothing to do", hint="one of highstate, sls, call")
    if words:
        hint = f"one target in quotes: runner fleet highstate 'L@...'; or: sls TARGET {words[0]}"
        raise UsageError(f"highstate takes a target only, not {words[0]!r}", hint=hint)
    return Job("highstate", test=test)


def _check_text(words: Sequence[str]) -> None:
    """Raises UsageError for words that no playbook can hold."""
    for word in words:
        if any(0xD800 <= ord(char) < 0xE000 for char in word):
            raise UsageError(f"{word!a} is not UTF-8")


def _number(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{name} {value}: expected a whole number from 1 on")
    return value


def _serial(text: str | None) -> str:
    if text is None:
        return ""
    number = text.removesuffix("%")
    if not number.isdecimal() or int(number) < 1 or (text != number and int(number) > 100):
        raise UsageError(f"--serial {text}: expected a number or a percentage", hint="--serial 10%")
    return text


def _batch(request: FleetRequest, total: int) -> int:
    """Return how many machines begin before the next ones may; 0: all."""
    if not request.serial:
        return request.forks if request.max_fail else 0
    number = int(request.serial.removesuffix("%"))
    return max(total * number // 100, 1) if request.serial.endswith("%") else number


# ---------------------------------------------------------------- export


def _export_salt(request: FleetRequest, words: Sequence[str]) -> int:
    """With the hosts of the inventory, where there is one."""
    if len(words) != 1:
        raise UsageError("runner fleet export salt: into which folder?", hint="... export salt DIR")
    variables: Mapping[str, Mapping[str, Any]] = {}
    if request.inventory or request.settings.get("inventory"):
        with _machines(request) as machines:
            variables = machines.listed().variables
    paths = salt_export.export(request.options, words[0], variables)
    show_problems(salt_export.left_out(request.options, variables))
    print(*paths, sep="\n")
    return 0


def _export_ansible(request: FleetRequest) -> int:
    hosts: str | tuple[str, ...] = "all"
    if request.target != "*" or request.limit:
        with _machines(request) as machines:
            chosen = _chosen(request, machines)
        if chosen.unclear:
            names = ", ".join(outcome.host for outcome in chosen.unclear)
            raise RunnerError(f"nobody knows whether {request.target!r} means {names}")
        check_names(chosen.hosts)
        hosts = chosen.hosts
    serial = request.serial or (str(request.forks) if request.max_fail else "")
    print_text(
        playbook(
            request.job,
            hosts,
            request.options.raw.get("conf_file"),
            int(serial) if serial.isdecimal() else serial,
            request.max_fail,
        )
    )
    return 0


# ---------------------------------------------------------------- run


@contextmanager
def _machines(request: FleetRequest) -> Iterator[Machines]:
    """The machines of the inventory; a folder that nobody else can read holds what they need."""
    options = request.options
    where = inventory_of(
        request.inventory, request.settings, str(options.raw["config_dir"]), os.environ
    )
    where = where._replace(limit=request.limit)
    with tempfile.TemporaryDirectory(prefix="runner-fleet-") as folder:
        yield Machines(options, where, dict(os.environ), folder)


def _chosen(request: FleetRequest, machines: Machines) -> Chosen:
    """The hosts that the target means. Raises RunnerError where it means none."""
    quiet = request.common.quiet

    def asking(count: int) -> Progress:
        if not quiet:
            print(f"asking {counted(count, 'machine')} for grains", file=sys.stderr)
        return _progress(request, count)

    chosen = machines.choose(request.target, request.forks, asking, request.refresh)
    if not quiet:
        show_problems(
            Diagnostic(text, code="inventory", severity="warning") for text in chosen.warnings
        )
    if chosen.age and chosen.age > OLD and not quiet:
        hours, days = chosen.age / HOUR, chosen.age / DAY
        age = f"{hours:.0f} hours" if days < 2 else f"{days:.0f} days"
        print(
            f"grains of earlier runs, up to {age} old, were used; --refresh asks again",
            file=sys.stderr,
        )
    return chosen


def _run(request: FleetRequest) -> int:
    began = time.monotonic()
    with _machines(request) as machines:
        chosen = _chosen(request, machines)
        batch, failed = _batch(request, len(chosen.hosts)), len(chosen.unclear)
        limits = Limits(request.forks, batch, request.max_fail, failed)
        played = machines.play(
            request.job, limits, chosen.hosts, _progress(request, len(chosen.hosts))
        )
    played = played._replace(outcomes=(*played.outcomes, *chosen.unclear))
    _show(request, played, time.monotonic() - began)
    if played.interruption:
        return 128 + played.interruption.number
    return DONE if all(outcome.went_well for outcome in played.outcomes) else FAILED


def _progress(request: FleetRequest, total: int) -> Progress:
    drawn = can_redraw(sys.stderr, os.environ) and wants_colour(sys.stderr, os.environ)
    if request.common.quiet or not drawn:
        return Progress()
    return ProgressLine(sys.stderr, total, shutil.get_terminal_size().columns)


def _show(request: FleetRequest, played: Played, seconds: float) -> None:
    common = request.common
    if common.form.name == "junit":
        print_text(forms.junit(played.outcomes) + "\n")
    elif not common.for_people:
        write(common, forms.data(played.outcomes))
    else:
        _show_summary(request, played, seconds)


def _show_summary(request: FleetRequest, played: Played, seconds: float) -> None:
    def command(hosts: Sequence[str], test: bool) -> str:
        return _command(request, request.job._replace(test=test), hosts)

    def check(hosts: Sequence[str]) -> str:
        return _command(request, Job("call", words=("test.ping",)), hosts)

    summary = fleet_summary.Summary(
        request.job,
        played,
        seconds,
        places.Places(request.options).of,
        command,
        check,
        request.common.verbose,
    )
    if request.common.quiet and not summary.worth_saying():
        return
    colour = wants_colour(sys.stdout, os.environ)
    for text, tint in summary.lines():
        print(paint(safe(text, sys.stdout), tint, colour))


def _command(request: FleetRequest, job: Job, hosts: Sequence[str]) -> str:
    """The command line of a job on some hosts, or on those of this request."""
    words = ["runner", "fleet", job.function]
    words.append(_list(hosts) if hosts else request.target)
    words += [job.name] if job.name else []
    words += job.words
    common = request.common
    options = [*(word for path in request.inventory for word in ("-i", path))]
    options += ["--config", common.config] if common.config else []
    options += ["--limit", request.limit] if request.limit and not hosts else []
    options += ["--test"] if job.test else []
    if job.function == request.job.function:
        options += [word for name, value in request.pace for word in (name, value)]
    return shlex.join([*words, *options])


def _list(hosts: Sequence[str]) -> str:
    return hosts[0] if len(hosts) == 1 else f"L@{','.join(hosts)}"
