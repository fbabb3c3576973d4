# SPDX-License-Identifier: Apache-2.0
"""Messages of templates for the log (`--log-level`, `--log-file`), which hides secrets."""

from __future__ import annotations

import logging

_log = logging.getLogger("runner.template")


def debug(message: str) -> bool:
    """Log at level debug."""
    _log.debug(str(message))
    return True


def info(message: str) -> bool:
    """Log at level info."""
    _log.info(str(message))
    return True


def warning(message: str) -> bool:
    """Log at level warning."""
    _log.warning(str(message))
    return True


warn = warning


def error(message: str) -> bool:
    """Log at level error."""
    _log.error(str(message))
    return True


def critical(message: str) -> bool:
    """Log at level critical."""
    _log.critical(str(message))
    return True


def exception(message: str) -> bool:
    """Log at level error."""
    _log.error(str(message))
    return True
