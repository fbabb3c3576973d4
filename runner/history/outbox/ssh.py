# SPDX-License-Identifier: Apache-2.0
"""Delivery by the program ssh: it writes a file on the other side, which gets its name when it is
whole.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runner.history.outbox.sending import NotDelivered, Send
from runner.sources.config.report import Destination

UNREACHABLE = 255  # ssh's own exit code


@contextmanager
def opened(destination: Destination) -> Iterator[Send]:
    """Send each report by a connection of its own. Raises NotDelivered."""

    def send(name: str, data: bytes, report: dict[str, Any]) -> None:
        argv = [*_program(destination), command(destination.path, name, len(data))]
        try:
            done = subprocess.run(
                argv,
                input=data,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=destination.timeout,
                check=False,
            )
        except FileNotFoundError:
            hint = "install openssh-client"
            raise NotDelivered("the program ssh is not there", hint) from None
        except subprocess.TimeoutExpired:
            raise NotDelivered(f"{destination.address}: it does not answer in time") from None
        if done.returncode:
            raise NotDelivered(f"{destination.address}: {_last_line(done)}", _hint(done))

    yield send


def _program(destination: Destination) -> list[str]:
    seconds = max(1, round(destination.timeout))
    argv = ["ssh", "-T", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR"]
    argv += ["-o", "StrictHostKeyChecking=yes", "-o", f"ConnectTimeout={seconds}"]
    argv += ["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2"]
    argv += ["-o", "ForwardAgent=no", "-o", "ClearAllForwardings=yes"]
    if destination.known_hosts_file:
        argv += ["-o", f'UserKnownHostsFile="{destination.known_hosts_file}"']
    if destination.key_file:
        argv += ["-o", "IdentitiesOnly=yes", "-i", destination.key_file]
    if destination.port:
        argv += ["-p", str(destination.port)]
    if destination.user:
        argv += ["-l", destination.user]
    return [*argv, "--", destination.host]


def command(folder: str, name: str, size: int) -> str:
    """The shell commands that keep what they read as a file, if it comes whole."""
    place = folder if folder.startswith("/") else f"./{folder}"
    directory, beside = shlex.quote(place), shlex.quote(f".{name}.new")
    count = f'test "$(wc -c <{beside})" -eq {size}'
    return f"umask 027; cd {directory} && cat >{beside} && {count} && mv -f {beside} {name}"


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr[-4096:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"ssh ended with {done.returncode}"


def _hint(done: subprocess.CompletedProcess[bytes]) -> str | None:
    if b"Host key verification failed" in done.stderr:
        return "known_hosts_file has the keys of the hosts that are known (ssh-keyscan)"
    if b"Permission denied" in done.stderr and done.returncode == UNREACHABLE:
        return "key_file has a private key without a passphrase"
    return None
