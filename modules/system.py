# SPDX-License-Identifier: Apache-2.0
"""Halt this machine and start it again."""

from __future__ import annotations

from modules import cmd
from modules._lines import plain_name
from runner.api import CommandFailed, changer


def reboot(at_time: str | int | None = None) -> str:
    """Restart the machine. at_time: after so many minutes, at `23:30`, or now.

    reboot:
      module.run:
        - system.reboot:
          - at_time: 1
    """
    return _shutdown("-r", at_time)


def shutdown(at_time: str | int | None = None) -> str:
    """Shut the machine down. at_time: after so many minutes, at `23:30`, or now."""
    return _shutdown("-h", at_time)


def poweroff() -> str:
    """Shut the machine down and switch it off."""
    return _shutdown("-P", None)


def halt() -> str:
    """Stop the machine and leave it switched on."""
    return _shutdown("-H", None)


@changer
def _shutdown(how: str, when: str | int | None) -> str:
    text = "now" if when is None else plain_name(when, "the time")
    done = cmd.probe(["shutdown", how, f"+{text}" if text.isdigit() else text])
    if done.retcode:
        raise CommandFailed(done.stderr.strip() or f"shutdown failed with exit code {done.retcode}")
    return done.stdout.strip() or done.stderr.strip()
