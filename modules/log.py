"""Messages of templates for the log."""

from __future__ import annotations

import logging

_log = logging.getLogger("runner.template")


def debug(message: str) -> bool:
    """Log at level debug."""
    _log.debug(message)
    return True


def info(message: str) -> bool:
    """Log at level info."""
    _log.info(message)
    return True


def warning(message: str) -> bool:
    """Log at level warning."""
    _log.warning(message)
    return True


warn = warning


def error(message: str) -> bool:
    """Log at level error."""
    _log.error(message)
    return True


def critical(message: str) -> bool:
    """Log at level critical."""
    _log.critical(message)
    return True


def exception(message: str) -> bool:
    """Log at level error."""
    _log.error(message)
    return True
