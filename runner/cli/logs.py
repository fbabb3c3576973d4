"""`--log-level` and `--log-file`: where the messages of templates, modules and grains go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.errors import UsageError

LEVELS = {"all": 1, "garbage": 1, "trace": 5, "debug": 10, "profile": 15, "info": 20, "warning": 30, "error": 40}
LEVELS |= {"critical": 50, "quiet": 1000}
USUAL = "warning"  # what Python prints of itself to stderr


def set_up(raw: Mapping[str, Any], named: bool) -> None:
    """Send messages of the wanted level to stderr, and to a file when there is one. Raises UsageError.

    named: the command line names the file, which must be writable then.
    """
    level = str(raw.get("log_level") or USUAL).lower()
    if level not in LEVELS:
        raise UsageError(f"there is no log level {level!r}", hint="one of " + ", ".join(LEVELS))
    path = raw.get("log_file")
    if level == USUAL and not path:
        return
    import logging

    root = logging.getLogger()
    root.setLevel(LEVELS[level])
    _add(root, logging.StreamHandler(), "[%(levelname)-8s] %(message)s")
    if path:
        try:
            file = logging.FileHandler(str(path), encoding="utf-8", delay=False)
        except OSError as problem:
            what = f"the log file {path} cannot be written: {problem.strerror}"
            if named:
                raise UsageError(what) from None
            root.warning(what)
            return
        _add(root, file, "%(asctime)s [%(name)s][%(levelname)-8s] %(message)s")


def _add(root: Any, handler: Any, form: str) -> None:
    import logging

    handler.setFormatter(logging.Formatter(form))
    root.addHandler(handler)
