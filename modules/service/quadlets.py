# SPDX-License-Identifier: Apache-2.0
"""Quadlets: files that Podman's generator turns into units of systemd when these are read anew."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from modules import _paths, cmd, file
from modules.service import _planned_units
from modules.service._planned import plan_enabled
from modules.service.user_units import account, systemctl
from runner.api import Record, StateFailed, changer, fetcher, here
from runner.api.offline import offline_as

KINDS = tuple(".container .pod .volume .network .kube .image .build".split())
FOLDER = "/etc/containers/systemd"
GENERATOR = "/usr/lib/systemd/{0}-generators/podman-{0}-generator"
HEAD = re.compile(r"^---(\S+)---\n", re.MULTILINE)  # of each unit that a dry run of it prints
SPEAKER, LOADING = re.compile(r"^quadlet-generator\[\d+\]: "), "Loading source "
QUADLET = re.compile(rf"(?<![^\s=\"'/])[\w.@-]+(?:{'|'.join(map(re.escape, KINDS))})(?![\w.])")


class Generated(Record):
    """What the generator makes of the quadlets that there are.

    service: the unit that it makes of the one in question. texts: all units that it makes, by name.
    warnings: what it says of this one. starts: whether this one starts with the machine.
    """

    service: str
    texts: Mapping[str, str]
    warnings: tuple[str, ...]
    starts: bool


def is_quadlet(name: str) -> bool:
    """Return whether a file of this name is a quadlet.

    >>> is_quadlet("web.container"), is_quadlet("web.service")
    (True, False)
    """
    return name.endswith(KINDS)


def named_in(contents: str) -> Iterator[str]:
    """The quadlets that the text of another one names.

    >>> list(named_in("[Container]\\nImage=box:1\\nVolume=data.volume:/data\\nPod=all.pod"))
    ['data.volume', 'all.pod']
    """
    yield from QUADLET.findall(contents)


def folder(user: str = "") -> str:
    """Where the quadlets of the machine, or of a user, are written."""
    return f"{account(user).home}/.config/containers/systemd" if user else FOLDER


def _folders(user: str) -> list[str]:
    """Where Podman looks for quadlets; the first of a name counts."""
    if not user:
        return ["/run/containers/systemd", FOLDER, "/usr/share/containers/systemd"]
    owner = account(user)
    by_root = f"{FOLDER}/users"
    runtime = f"{owner.runtime()}/containers/systemd"
    return [runtime, folder(user), f"{by_root}/{owner.uid}", by_root]


def _present(user: str) -> Iterator[str]:
    """The paths of the quadlets, and their drop-ins, that there are or will be."""
    of_user = f"(?!{account(user).uid}/)[0-9]+/" if user else ""
    of_others = re.compile(f"{FOLDER}/users/{of_user}")
    for top in _folders(user):
        for found, _, names in _paths.walk(top):
            for path in (f"{found}/{name}" for name in names):
                if _paths.isfile(path) and not of_others.match(path):
                    yield path


@fetcher
def generated(files: Mapping[str, str], quadlet: str, user: str = "") -> Generated:
    """Have Podman's generator make units of the quadlets that there are, and of some that are not
    written yet. Raises StateFailed with its words for one that it refuses.

    files: texts by their paths below folder(user). quadlet: the name of the one in question.
    """
    generator = GENERATOR.format("user" if user else "system")
    if not _paths.isfile(generator):
        raise StateFailed(
            f"{quadlet} needs {generator}: install podman, 4.4 or newer",
            missing=[("file", generator), ("pkg", "podman")],
        )
    copies = f"{here.scratch()}/quadlets"
    paths = {*_present(user), *files}
    if not any(path.endswith(f"/{quadlet}") for path in paths):
        raise StateFailed(
            f"There is no quadlet {quadlet}, and its contents are not given",
            missing=[("file", f"{folder(user)}/{quadlet}")],
        )
    for path in paths:
        os.makedirs(os.path.dirname(copies + path), exist_ok=True)
        if path in files:
            with open(copies + path, "w", encoding="utf-8") as stream:
                stream.write(files[path])
        else:
            _paths.copy_out(path, copies + path)
    tops = ":".join(copies + top for top in _folders(user))
    done = cmd.probe([generator, "--dryrun"], env={"QUADLET_UNIT_DIRS": tops})
    return _read(done.stdout.replace(copies, ""), done.stderr.replace(copies, ""), quadlet, user)


def _read(units: str, messages: str, quadlet: str, user: str) -> Generated:
    """What a dry run of the generator printed."""
    _, *parts = HEAD.split(units)
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    lines = [SPEAKER.sub("", line) for line in messages.splitlines() if LOADING not in line]
    own = re.compile(rf"(?<![\w.-]){re.escape(quadlet)}\b")
    concerned = tuple(line for line in lines if own.search(line))
    source = re.compile(rf"^SourcePath=.*/{re.escape(quadlet)}$", re.MULTILINE)
    for name, text in texts.items():
        if source.search(text):
            return Generated(name, texts, concerned, _planned_units.installs(text))
    # a file that it cannot read keeps it from reading those beside it
    words = "\n".join(concerned or lines)
    named = {name for name in QUADLET.findall(words) if name != quadlet}
    missing = [("file", f"{folder(user)}/{name}") for name in sorted(named)]
    raise StateFailed(f"Podman refuses {quadlet}:\n{words}", missing=missing)


def _plan(texts: Mapping[str, str], user: str = "") -> None:
    for name, text in texts.items():
        file.makedirs(_planned_units.generated(user))
        file.write(f"{_planned_units.generated(user)}/{name}", text.encode())
        plan_enabled(name, True, user)  # as systemd says of all that is generated


@changer(touches=["services"], before=lambda texts, user="": {}, planned=_plan)
@offline_as(lambda texts, user="": None)  # they are read when the system starts
def read_anew(texts: Mapping[str, str], user: str = "") -> None:
    """Have systemd read all units anew. texts: those that the generator makes, by name."""
    cmd.probe(systemctl(user, "daemon-reload"))
