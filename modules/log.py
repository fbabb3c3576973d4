# SPDX-License-Identifier: Apache-2.0
"""Messages of templates for the log (`--log-level`, `--log-file`)."""

from __future__ import annotations

import logging

from runner.api import here

_log = logging.getLogger("runner.template")


def debug(message: str) -> bool:
    """Log at level debug."""
    _log.debug(here.masked(str(message)))
    return True


def info(message: str) -> bool:
    """Log at level info."""
    _log.info(here.masked(str(message)))
    return True


def warning(message: str) -> bool:
    """Log at level warning."""
    _log.warning(here.masked(str(message)))
    return True


warn = warning


def error(message: str) -> bool:
    """Log at level error."""
    _log.error(here.masked(str(message)))
    return True


def critical(message: str) -> bool:
    """Log at level critical."""
    _log.critical(here.masked(str(message)))
    return True


def exception(message: str) -> bool:
    """Log at level error."""
    _log.error(here.masked(str(message)))
    return True
