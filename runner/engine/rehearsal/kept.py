# SPDX-License-Identifier: Apache-2.0
"""The copy that a rehearsal kept, to look around in: there is one, until the next rehearsal."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from runner.engine.rehearsal.file_systems import Changed
from runner.engine.rehearsal.holder import Spec
from runner.engine.rehearsal.namespaces import start_time
from runner.engine.rehearsal.sandbox import Sandbox
from runner.model.errors import RunnerError
from runner.support.files.trusted_folder import trusted_folder

NAME = "rehearsal.json"


def keep(state_dir: str, box: Sandbox) -> None:
    """Remember a copy. Raises RunnerError."""
    record = {
        "machine_start": _boot(),
        "started": start_time(box.holder),
        "holder": box.holder,
        "pid": box.pid,
        "cgroup": box.cgroup,
        "changes": [item._asdict() for item in box.changes],
        "spec": box.spec.dump(),
    }
    try:
        trusted_folder(state_dir).write(NAME, json.dumps(record).encode())
    except OSError as error:
        raise RunnerError(f"the copy cannot be kept: {state_dir}: {error.strerror}") from None


def kept(state_dir: str) -> Sandbox | None:
    """The copy that was kept; None where there is none, or no more. Raises RunnerError."""
    try:
        record = json.loads(trusted_folder(state_dir, make=False).read(NAME))
        holder = int(record["holder"])
        if record["machine_start"] != _boot() or record["started"] != start_time(holder):
            return None
        box = Sandbox(spec=Spec.load(record["spec"]), keep=True)
        box.holder, box.pid, box.cgroup = holder, int(record["pid"]), record["cgroup"]
        box.changes = tuple(Changed(**item) for item in record["changes"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return box


def discard(state_dir: str) -> bool:
    """End the copy that was kept; whether there was one. Raises RunnerError."""
    box = kept(state_dir)
    if box:
        box.close()
    with suppress(OSError):
        trusted_folder(state_dir, make=False).remove(NAME)
    return box is not None


def _boot() -> str:
    """Return what tells one start of this machine from another."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
