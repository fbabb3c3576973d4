# SPDX-License-Identifier: Apache-2.0
"""Parameters of the kernel: the running value and the file that keeps it."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from modules import _paths, cmd, file
from modules._planned.overlay import planned_machine, tell_otherwise
from modules._texts.lines import LinesBy, encoded, once_a_line, one_line, split
from modules.file.differences import shown
from modules.service import systemd
from runner.api import (
    ABSENT,
    FormerState,
    StateFailed,
    Version,
    cached_look,
    changer,
    for_states,
    version,
)
from runner.api.offline import of_running, offline_as

# what may be digits by chance
TEXTS = ("kernel.hostname", "kernel.domainname", "kernel.core_pattern", "kernel.modprobe")
FOLDER = "/etc/sysctl.d"
# what systemd reads at the start: of files of one name the first one, all in the order of names
READ_AT_START = (FOLDER, "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d")
MOST_FILES = 256  # whose parameters are remembered
Parameters = Mapping[Hashable, Sequence[str]]


def default_config() -> str:
    """The file that parameters go to when nothing is said."""
    return f"{FOLDER}/99-salt.conf" if systemd.suits() else "/etc/sysctl.conf"


def _path(name: str) -> str:
    return "/proc/sys/" + "/".join(parts(name))


@for_states
def parts(name: str) -> list[str]:
    """The parts of a name. As for sysctl(8), what comes first separates them, a dot or a slash; the
    other one stands for a dot within a part, the name of an interface.
    """
    if not re.fullmatch(r"[\w./][\w./-]*", name) or ".." in name:
        raise StateFailed(f"{name!r} is not the name of a kernel parameter")
    if "." in name.partition("/")[0]:
        name = name.translate(str.maketrans("./", "/."))
    return name.split("/")


def get(name: str) -> str:
    """The running value; empty when there is no such parameter.

    {{ salt['sysctl.get']('net.ipv4.ip_forward') }}
    """
    return shown(_running(name))


def _running(name: str) -> str:
    """The running value with all its bytes, as arguments have them."""
    path = _path(name)
    if (planned := planned_machine().kernel_parameters.get(path)) is not None:
        return planned
    try:
        return " ".join(file.read_bytes(path).decode("utf-8", "surrogateescape").split())
    except StateFailed:
        return ""


@for_states
def is_value(name: str, value: str) -> bool:
    """Return whether the running value is this one, in whatever form the kernel shows it."""
    running = _running(name)
    if running == value:
        return True
    numbers = None if name in TEXTS else _numbers(running)
    return numbers is not None and numbers == _numbers(value)


def _numbers(text: str) -> list[list[tuple[int, int]]] | None:
    """A value as ranges of numbers: 0x10 is 16, and 5,1-4 is 1-5; None for what has others."""
    words: list[list[tuple[int, int]]] = []
    for word in text.split():
        ranges: list[tuple[int, int]] = []
        for part in word.split(","):
            match = re.fullmatch(r"(-?\w+?)(?:-(\d+))?", part)
            if match is None:
                return None
            try:
                ranges.append((_number(match[1]), _number(match[2] or match[1])))
            except ValueError:
                return None
        merged: list[tuple[int, int]] = []
        for first, last in sorted(ranges):
            if merged and first <= merged[-1][1] + 1:
                first, last = merged[-1][0], max(last, merged.pop()[1])
            merged.append((first, last))
        words.append(merged)
    return words


def _number(text: str) -> int:
    """A number as the kernel reads it: 010 is 8."""
    return int(text, 8 if re.fullmatch("0[0-7]+", text) else 0)


def show(config_file: str | None = None) -> dict[str, str]:
    """The parameters that a file keeps."""
    path = config_file or default_config()
    found = _by_name(file.text_to_edit(path)).values()
    return {(_parsed(lines[-1]) or ("",))[0]: shown(_value(lines)) for lines in found}


@for_states
def kept(name: str, config_file: str | None = None) -> str | None:
    """The value that a file keeps of a parameter; None where it keeps none."""
    path = config_file or default_config()
    lines = _by_name(file.text_to_edit(path)).get(_dotted(name))
    return None if lines is None else _value(lines)


@for_states
def lost_at_start(name: str, value: str, config_file: str | None = None) -> str:
    """Why the next start gives a parameter another value than this one, which a file keeps; empty
    where it does not, and without systemd.
    """
    if not systemd.suits():
        return ""
    path = config_file or default_config()
    later = _read_after(path)
    if later is None:
        return f"the start of the machine does not read {path}: it reads {FOLDER}/NAME.conf"
    wanted = _dotted(name)
    last = next((each for each in later if wanted in each[1]), None)
    if last is None or (told := _value(last[1][wanted])).split() == value.split():
        return ""
    return f"the next start sets it to {told}: {last[0]} is read after {path}"


@cached_look("sysctl", *READ_AT_START)
def _read_after(path: str) -> list[tuple[str, Parameters]] | None:
    """The files that are read after another one at the start, the last one first, each with the
    lines of the parameters in it; None where that other one is not read.
    """
    read: dict[str, str] = {}
    for folder in reversed(READ_AT_START):
        read |= {found.rpartition("/")[2]: found for found in _paths.glob(f"{folder}/*.conf")}
    folder, _, own = path.rpartition("/")
    if folder in READ_AT_START and path.endswith(".conf"):
        read.setdefault(own, path)
    if read.get(own) != path:
        real = _paths.realpath(path)
        same = [each for each in read if _paths.realpath(read[each]) == real]
        if not same:
            return None
        own = max(same)
    later = [read[each] for each in sorted(read, reverse=True) if each > own]
    return [(each, _kept_in(each, _version(each))) for each in later]


def _version(path: str) -> Version:
    return version(_paths.stat(path)) if _paths.exists(path) else ABSENT


@lru_cache(MOST_FILES)
def _kept_in(path: str, _: Version) -> Parameters:
    """The lines of the parameters in a version of a file."""
    return _by_name(file.text_to_edit(path))


def _value(lines: Sequence[str]) -> str:
    """The value that lines of one parameter give it."""
    return (_parsed(lines[-1]) or ("", ""))[1]


@once_a_line
def _parsed(line: str) -> tuple[str, str] | None:
    """The name and the value in a line; None where it has none."""
    name, sign, value = line.partition("=")
    return (name.strip(), value.strip()) if sign and name.lstrip()[:1] not in ("#", ";") else None


def _name(line: str) -> tuple[str, ...]:
    """The name in a line, if it has one, in the form that all have in common."""
    return tuple(map(_dotted, (_parsed(line) or ())[:1]))


def _dotted(name: str) -> str:
    """A name with dots between its parts, and slashes within them."""
    with suppress(StateFailed):
        return ".".join(part.replace(".", "/") for part in parts(name))
    return name


_by_name = LinesBy(_name)


@for_states
def is_write_only(name: str) -> bool:
    """Return whether a parameter only takes values, as net.ipv4.route.flush: it has none."""
    return _paths.exists(path := _path(name)) and not _paths.stat(path).st_mode & 0o444


def exists(name: str) -> bool:
    """Return whether the kernel has a parameter."""
    return _paths.exists(_path(name))


@for_states
def former_state(name: str, *_: object) -> FormerState:
    """A parameter of the kernel as undo restores it."""
    return FormerState("sysctl", name, {"value": get(name)} if exists(name) else {})


def _refuse_value(name: str, value: str) -> None:
    """Raise StateFailed for a word where the kernel has numbers."""
    if not exists(name):
        raise StateFailed(f"sysctl {name} does not exist")
    if not _paths.access(_path(name), os.W_OK):  # not even root may, on a read-only /proc/sys
        why = f'sysctl -w failed: sysctl: permission denied on key "{name}"'
        raise StateFailed(why, missing=("right", name) if os.geteuid() else ("mount", "/proc/sys"))
    numbers = all(re.fullmatch(r"-?\d+", word) for word in get(name).split() or [""])
    digits = r"\d|^[a-fA-F,]+$" if re.search("mask|bitmap", name) else r"\d"
    words = [word for word in value.split() if not re.search(digits, word)]
    if numbers and words and name not in TEXTS:
        raise StateFailed(
            f'sysctl -w failed: sysctl: setting key "{name}": {os.strerror(errno.EINVAL)}'
        )


def _plan(name: str, value: str) -> dict[str, str]:
    _refuse_value(name, value)
    planned_machine().kernel_parameters[_path(name)] = " ".join(value.split())
    tell_otherwise(name, _path(name))
    return {name: get(name)}


@of_running
@changer(before=former_state, planned=_plan, planned_touches=[])
def assign(name: str, value: str) -> dict[str, str]:
    """Set the running value. Raises StateFailed when the kernel refuses it."""
    if not exists(name):
        raise StateFailed(f"sysctl {name} does not exist")
    done = cmd.execute(["sysctl", "-w", "--", f"{name}={one_line(value, name)}"])
    if done.retcode:
        raise StateFailed(f"sysctl -w failed: {done.error_text}")
    return {name: get(name)}


def keep(name: str, value: str, config: str | None = None) -> str:
    """Keep a value in a file, from which the next start takes it."""
    value = one_line(value, f"the value of {name}")
    _path(name)
    path = config or default_config()
    old = file.text_to_edit(path) if file.is_file(path) else None
    lines = split(old if old is not None else "#\n# Kernel sysctl configuration\n#\n")
    wanted = _dotted(name)
    numbered = enumerate(lines) if wanted in _by_name(old or "") else ()
    at = [i for i, line in numbered if _name(line) == (wanted,)]
    if at:
        lines[at[-1]] = f"{name} = {value}"
    else:
        lines.append(f"{name} = {value}")
    if not file.is_dir(os.path.dirname(path)):
        file.makedirs(os.path.dirname(path), mode="0755")
    file.write(path, encoded(lines), mode="0644" if old is None else None)
    return "Updated"


@offline_as(keep)
def persist(name: str, value: str, config: str | None = None) -> str:
    """Set a value, and keep it in a file: one that the kernel refuses is not kept."""
    value = one_line(value, f"the value of {name}")
    if not is_value(name, value):
        assign(name, value)
    return keep(name, value, config)
