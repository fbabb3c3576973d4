# SPDX-License-Identifier: Apache-2.0
"""The law of `validate`: what it refuses never takes its place, in a dry run too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness import HarnessHere, apply, look

from runner.api import StateFailed
from runner.language.arguments.schema import known
from runner.model.events import ChangerCalled

REFUSING = "sh -c 'echo these are the words of the law; exit 1' -"
WRITERS = {"file.write", "file.copy", "file.apply_patch", "cron.write"}
# functions that write files and have no `validate`, with the reason
WITHOUT: Mapping[str, str] = {
    "cmd.script": "the script is a temporary file, which is run and removed",
    "dconf.*": "the values are typed, and dconf itself reads the file",
    "file.touch": "the file is empty",
    "font.*": "fontconfig passes over what is no font",
    "git.config_set": "git makes the file itself, in a copy",
    "git.config_unset": "git makes the file itself, in a copy",
    "gpg.*": "gpg makes the files itself, in a copy",
    "grains.*": "the file is runner's own, made anew from values each time",
    "iptables.*": "the file is what iptables-save prints of the kernel's rules",
    "ipset.*": "the file is what ipset prints of the sets",
    "mysql_query.*": "the file has the rows of a query",
    "nftables.*": "the file is what nft lists of the kernel's rules, and has read again",
    "pkg.*": "the marks of a package manager, which runner takes out or adds one by one",
    "pkgrepo.*": "a key lies beside the list, and no program reads both",
    "raid.*": "lines of mdadm.conf as mdadm prints them of an array that runs",
    "schedule.*": "the times of the entry are read first, systemd verifies its units",
    "system.reboot": "the unit is of runner's own words",
    "selinux.mode": "one of three words, as the kernel takes it",
    "service.*": "the file is an empty mark",
    "ssh_key.*": "ssh-keygen makes them",
    "sudo.*": "visudo reads it first",
    "ufw.*": "one of two words, as ufw writes it",
    "user.*": "the mark of who lingers is an empty file",
}


def takes_validate(function: Callable[..., Any]) -> bool:
    return "validate" in known(function)


def is_excepted(name: str) -> bool:
    return name in WITHOUT or f"{name.partition('.')[0]}.*" in WITHOUT


def wrote(current: HarnessHere) -> bool:
    """Return whether a state has written a file."""
    calls = (event for event in current.events if isinstance(event, ChangerCalled))
    return any(call.function in WRITERS for call in calls)


def refused(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    current: Callable[[bool], HarnessHere],
    state: Callable[[], object],
) -> bool:
    """Return whether `validate` is asked, and keeps everything as it is then. current: a run, dry
    or not. state: what must stay the same.
    """
    if not takes_validate(function):
        return False
    before = state()
    try:
        look(function, **arguments, validate=REFUSING, current=current(True))
    except StateFailed as failure:
        assert "\nthese are the words of the law" in failure.message, failure.message
        assert failure.changes == {}
    else:
        return False
    assert state() == before, "a dry run that is refused changes nothing"
    try:
        apply(function, **arguments, validate=REFUSING, current=current(False))
    except StateFailed as failure:
        assert "\nthese are the words of the law" in failure.message, failure.message
        assert failure.changes == {}
    else:
        raise AssertionError("what the dry run refused was written")
    assert state() == before, "what was refused changes nothing"
    return True
