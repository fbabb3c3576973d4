"""`--log-level` and `--log-file`: where the messages of templates, modules and grains go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.model.errors import UsageError

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


def set_up(raw: Mapping[str, Any], named: bool, silent: bool = False) -> int:
    """Send messages of the wanted level to stderr, and to a file when there is one: the lower of
    both levels.

    named: the command line names the file, which must be writable then. silent: stderr gets
    warnings and what is worse, whatever the configuration says. Raises UsageError.
    """
    level = _level(raw.get("log_level") or USUAL)
    path = raw.get("log_file")
    of_file = _level(raw.get("log_level_logfile") or level) if path else level
    if level == of_file == LEVELS[USUAL] and not path:
        return level
    import logging

    root = logging.getLogger()
    root.setLevel(min(level, of_file))
    _add(
        root,
        logging.StreamHandler(),
        "[%(levelname)-8s] %(message)s",
        max(level, LEVELS[USUAL]) if silent else level,
    )
    if path:
        try:
            file = _private(str(path))
        except OSError as problem:
            what = f"the log file {path} cannot be written: {problem.strerror}"
            if named:
                raise UsageError(what) from None
            root.warning(what)
            return level
        _add(root, file, "%(asctime)s [%(name)s][%(levelname)-8s] %(message)s", of_file)
    return min(level, of_file)


def _level(level: object) -> int:
    if isinstance(level, int):
        return level
    name = str(level).lower()
    if name not in LEVELS:
        raise UsageError(f"there is no log level {name!r}", hint="one of " + ", ".join(LEVELS))
    return LEVELS[name]


def _private(path: str) -> Any:
    """A handler for a file that only its owner may read when it is made."""
    import logging

    class Private(logging.FileHandler):
        def _open(self) -> Any:
            from runner.files.links import open_output

            return open(self.baseFilename, self.mode, encoding=self.encoding, opener=open_output)

    return Private(path, encoding="utf-8", delay=False)


def _add(root: Any, handler: Any, form: str, level: int) -> None:
    import logging

    from runner.api import here

    class Masked(logging.Formatter):
        """A line without the secrets of the run."""

        def format(self, record: logging.LogRecord) -> str:
            line = super().format(record)
            try:
                return here.masked(line)
            except LookupError:  # no run yet, and no secrets
                return line

    handler.setFormatter(Masked(form))
    handler.setLevel(level)
    root.addHandler(handler)
