# SPDX-License-Identifier: Apache-2.0
"""`--log-level`, `--log-file` and what the configuration says of the log: where the messages of
runner, templates, modules and grains go, and in which form.
"""

from __future__ import annotations

import logging
import sys

from runner.cli.running import log_targets
from runner.model.errors import UsageError
from runner.model.records import Record
from runner.model.said_in import key_folder
from runner.output import text as output_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LEVELS = {
    "all": 1,
    "garbage": 1,
    "trace": 5,
    "debug": 10,
    "profile": 15,
    "info": 20,
    "warning": 30,
    "error": 40,
}
LEVELS |= {"critical": 50, "quiet": 1000}
USUAL = "warning"  # what Python prints of itself to stderr
_handlers: list[Any] = []  # those of the configuration that was read last
ON_STDERR = "[%(levelname)-8s] %(message)s"
IN_FILE = "%(asctime)s [%(name)s][%(levelname)-8s] %(message)s"
ELSEWHERE = "[%(name)s][%(levelname)-8s] %(message)s"  # the journal and syslog note the time


class LogLevels(Record):
    """The levels of the log: of all targets together, and of stderr."""

    lowest: int
    stderr: int


def set_up(raw: Mapping[str, Any], named: bool, silent: bool = False) -> LogLevels:
    """Send messages of the wanted level to stderr, and to `log_file` when there is one.

    named: the command line names the file, which must be writable then. silent: stderr gets
    warnings and what is worse, whatever the configuration says. Raises UsageError.
    """
    level = level_of(raw.get("log_level") or USUAL)
    target = str(raw.get("log_file") or "")
    of_file = level_of(raw.get("log_level_logfile") or level) if target else level
    on_stderr = max(level, LEVELS[USUAL]) if silent else level
    if level == of_file == LEVELS[USUAL] and not target and not _has_forms(raw):
        return LogLevels(level, level)
    root = logging.getLogger()
    while _handlers:  # `runner pull` may read the configuration of one tree, and then of another
        root.removeHandler(_handlers[-1])
        _handlers.pop().close()
    root.setLevel(min(level, of_file))
    for name in ("trace", "profile"):
        logging.addLevelName(LEVELS[name], name.upper())
    for logger, its_level in (raw.get("log_granular_levels") or {}).items():
        logging.getLogger(str(logger)).setLevel(level_of(its_level))
    _add(root, logging.StreamHandler(), raw, "console", ON_STDERR, on_stderr)
    if target:
        folder = "" if named else key_folder(raw, "log_file")
        try:
            handler = log_targets.handler(target, folder)
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            what = f"the log file {target} cannot be written: {reason}"
            if named:
                raise UsageError(what) from None
            root.warning(what)
            return LogLevels(level, on_stderr)
        form = IN_FILE if log_targets.is_file(target) else ELSEWHERE
        _add(root, handler, raw, "logfile", form, of_file)
    return LogLevels(min(level, of_file), on_stderr)


def _has_forms(raw: Mapping[str, Any]) -> bool:
    keys = ("log_granular_levels", "log_fmt_console", "log_datefmt", "log_datefmt_console")
    return any(raw.get(key) for key in keys)


def level_of(level: object) -> int:
    if isinstance(level, int):
        return level
    name = str(level).lower()
    if name not in LEVELS:
        raise UsageError(f"there is no log level {name!r}", hint="one of " + ", ".join(LEVELS))
    return LEVELS[name]


def _add(root: Any, handler: Any, raw: Mapping[str, Any], kind: str, form: str, level: int) -> None:
    """Add a handler with its form. kind: console or logfile, as the keys of the configuration end.
    Raises UsageError for a form that cannot be used.
    """
    key = f"log_fmt_{kind}"
    form = str(raw.get(key) or form)
    times = raw.get(f"log_datefmt_{kind}") or raw.get("log_datefmt")
    formatter = _formatter(key, form, times and str(times), str(raw.get("id") or ""))
    handler.setFormatter(formatter)
    handler.setLevel(level)
    root.addHandler(handler)
    _handlers.append(handler)


def _formatter(key: str, form: str, times: str | None, machine: str) -> Any:
    class SafeLine(logging.Formatter):
        """A line that cannot steer a terminal, with the fields that Salt has beside Python's."""

        def format(self, record: logging.LogRecord) -> str:
            fields = {
                "level": f"[{record.levelname:<8}]",
                "name": f"[{record.name:<17}]",
                "process": f"[{record.process:>5}]",
            }
            for name, text in fields.items():
                record.__dict__[f"bracket{name}"] = record.__dict__[f"color{name}"] = text
            record.__dict__["colormsg"] = record.getMessage()
            return output_text.safe(super().format(record))

    try:
        made = SafeLine(form, times, defaults={"jid": "", "minion_id": machine})
        made.format(logging.LogRecord("", 0, "", 0, "", (), None))
    except (KeyError, TypeError, ValueError) as problem:
        what = f"no field {problem}" if isinstance(problem, KeyError) else str(problem)
        raise UsageError(f"{key}: {form!r} is no form of a line: {what}") from None
    return made


def stderr_has(levels: LogLevels) -> bool:
    """Return whether lines of the log stand between those of a report on a terminal."""
    return levels.stderr <= LEVELS["info"] and sys.stderr.isatty()
