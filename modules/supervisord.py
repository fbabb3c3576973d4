# SPDX-License-Identifier: Apache-2.0
"""Processes of supervisor, by its client supervisorctl."""

from __future__ import annotations

import configparser
import os
import re
import time
from typing import Any

from modules import _paths, cmd
from modules._machine import processes
from modules._texts.lines import plain_name
from runner.api import CommandFailed, changer, for_states

PATIENCE = 5  # seconds that a supervisord that was just started gets until it listens
RUNNING = ("RUNNING", "STARTING")
_REFUSED = ("refused connection", "no such file", "SHUTDOWN_STATE", "error: <class")


def _is_starting() -> bool:
    """Return whether a supervisord runs, which may not listen yet."""
    for path in _paths.glob("/proc/[0-9]*/cmdline"):
        # by its script, or by what systemd calls it before it is started
        if re.search(r"(/|^)supervisord\0|^\(upervisord\)", _paths.text_of(path)):
            return True
    return False


def _argv(conf_file: str | None, bin_env: str | None) -> list[str]:
    program = "supervisorctl"
    if bin_env:
        program = f"{bin_env}/bin/supervisorctl" if _paths.isdir(bin_env) else bin_env
        if not _paths.access(program, os.X_OK):
            raise CommandFailed(f"{program} is no program", missing=("file", program))
    else:
        processes.needs(program, "supervisor")
    return [program, *(["-c", conf_file] if conf_file else [])]


def _ask(
    words: list[str], user: str | None, conf_file: str | None, bin_env: str | None
) -> cmd.Completed:
    names = [plain_name(word, "name") for word in words]
    argv = [*_argv(conf_file, bin_env), *names]
    for _ in range(PATIENCE * 5):
        done = cmd.complete(argv, runas=user, python_shell=False)
        answer = f"{done.stdout}\n{done.stderr}".strip()
        reached = not any(mark in answer for mark in _REFUSED) and (done.stdout or not done.retcode)
        if reached or not _is_starting():
            break
        time.sleep(0.2)
    if not reached:
        raise CommandFailed(
            f"supervisorctl does not reach supervisord: {answer}", missing=("service", "supervisor")
        )
    return done


def status_raw(
    name: str | None = None,
    user: str | None = None,
    conf_file: str | None = None,
    bin_env: str | None = None,
) -> str:
    """Return what `supervisorctl status` prints."""
    return _ask(["status", *([name] if name else [])], user, conf_file, bin_env).stdout


def status(
    name: str | None = None,
    user: str | None = None,
    conf_file: str | None = None,
    bin_env: str | None = None,
) -> dict[str, dict[str, str]]:
    """The processes, each with its state and the reason.

    {{ salt['supervisord.status']() }}
    """
    found = {}
    for line in status_raw(name, user, conf_file, bin_env).splitlines():
        words = line.split(None, 2)
        if len(words) > 1 and words[1].isupper():
            found[words[0]] = {"state": words[1], "reason": words[2] if len(words) > 2 else ""}
    return found


def status_bool(
    name: str,
    expected_state: str = "RUNNING",
    user: str | None = None,
    conf_file: str | None = None,
    bin_env: str | None = None,
) -> bool:
    """Return whether a process has a state."""
    present = status(name, user, conf_file, bin_env).get(name)
    return present is not None and present["state"] == expected_state


@changer
def _change(
    command: str, name: str | None, user: str | None, conf_file: str | None, bin_env: str | None
) -> str:
    done = _ask([command, *([name] if name else [])], user, conf_file, bin_env)
    errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
    if errors or done.retcode:
        raise CommandFailed("\n".join(errors) or done.stderr or done.stdout)
    return done.stdout


def start(
    name: str = "all",
    user: str | None = None,
    conf_file: str | None = None,
    bin_env: str | None = None,
) -> str:
    """Start a process, a group (`name:*`) or all."""
    return _change("start", name, user, conf_file, bin_env)


def stop(
    name: str = "all",
    user: str | None = None,
    conf_file: str | None = None,
    bin_env: str | None = None,
) -> str:
    """Stop a process, a group (`name:*`) or all."""
    return _change("stop", name, user, conf_file, bin_env)


def restart(
    name: str = "all",
    user: str | None = None,
    conf_file: str | None = None,
    bin_env: str | None = None,
) -> str:
    """Restart a process, a group (`name:*`) or all."""
    return _change("restart", name, user, conf_file, bin_env)


def add(
    name: str, user: str | None = None, conf_file: str | None = None, bin_env: str | None = None
) -> str:
    """Activate a process or group of the configuration."""
    return _change("add", name.removesuffix("*").removesuffix(":"), user, conf_file, bin_env)


def remove(
    name: str, user: str | None = None, conf_file: str | None = None, bin_env: str | None = None
) -> str:
    """Deactivate a process or group, which is stopped."""
    return _change("remove", name.removesuffix("*").removesuffix(":"), user, conf_file, bin_env)


def reread(
    user: str | None = None, conf_file: str | None = None, bin_env: str | None = None
) -> str:
    """Have supervisord read its configuration; nothing is started or stopped."""
    return _change("reread", None, user, conf_file, bin_env)


def update(
    user: str | None = None,
    conf_file: str | None = None,
    bin_env: str | None = None,
    name: str | None = None,
) -> str:
    """Have supervisord read its configuration, and restart what differs."""
    return _change("update", name, user, conf_file, bin_env)


@for_states
def matching(name: str, present: dict[str, dict[str, str]]) -> dict[str, str]:
    """The states of the processes that a name means: itself, or the group `name:` or `name:*`."""
    group = name.removesuffix("*")
    return {
        process: facts["state"]
        for process, facts in present.items()
        if process == name or (group.endswith(":") and process.startswith(group))
    }


def options(name: str, conf_file: str | None = None) -> dict[str, Any]:
    """The options of a process in supervisord's configuration."""
    path = conf_file or next(
        filter(_paths.isfile, ("/etc/supervisor/supervisord.conf", "/etc/supervisord.conf")), ""
    )
    parser = configparser.RawConfigParser(inline_comment_prefixes=(";",), strict=False)
    parser.read(path)
    for pattern in parser.get("include", "files", fallback="").split():
        parser.read(sorted(_paths.glob(os.path.join(os.path.dirname(path), pattern))))
    section = f"program:{name}"
    if section not in parser:
        raise CommandFailed(f"Process '{name}' not found")
    found: dict[str, Any] = {}
    for key, value in parser.items(section):
        small = value.lower()
        found[key] = small == "true" if small in ("true", "false") else value
        if value.isdigit():
            found[key] = int(value)
    return found
